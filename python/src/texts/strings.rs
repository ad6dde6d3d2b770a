//! Columns of texts.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::tokens::{Bytes, keys_of, lists_of};
use crate::errors::input_error;
use crate::objects::{is_missing, no_text};

/// What to give instead of a list.
const TEXT_OR_TOKENS: &str = "texts, or shingling=\"tokens\" for lists of tokens";

/// The text of an object.
pub(super) fn text_of<'a>(object: Borrowed<'a, '_, PyAny>, row: usize) -> PyResult<&'a str> {
    match object.extract::<&str>() {
        Ok(text) => Ok(text),
        Err(_) if is_missing(object) => Ok(""),
        Err(error) => {
            let is_list = !object.is_instance_of::<PyBytes>() && object.hasattr("__len__")?;
            let wanted = if is_list { TEXT_OR_TOKENS } else { "a str" };
            Err(no_text(object, row, &error, wanted))
        }
    }
}

/// Appends the texts of an Arrow array.
pub(super) fn push_texts<'a>(array: &'a ArrayRef, texts: &mut Vec<&'a str>) -> PyResult<()> {
    let first = texts.len();
    match array.data_type() {
        DataType::Null => texts.resize(first + array.len(), ""),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut values = Vec::with_capacity(dictionary.values().len());
            push_texts(dictionary.values(), &mut values)?;
            let keys = keys_of(dictionary);
            let row_texts = keys
                .iter()
                .enumerate()
                .map(|(row, key)| if array.is_null(row) { "" } else { values[*key] });
            texts.extend(row_texts);
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>().iter();
            texts.extend(values.map(Option::unwrap_or_default));
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>().iter();
            texts.extend(values.map(Option::unwrap_or_default));
        }
        DataType::Utf8View => {
            let values = array.as_string_view().iter();
            texts.extend(values.map(Option::unwrap_or_default));
        }
        data_type => {
            let Some(bytes) = Bytes::of(array) else {
                let wanted = match lists_of(array) {
                    Some(_) => TEXT_OR_TOKENS,
                    None => "strings",
                };
                return Err(PyTypeError::new_err(format!(
                    "documents have the Arrow type {data_type}; give {wanted}"
                )));
            };
            for row in 0..array.len() {
                let bytes: &[u8] = if array.is_null(row) {
                    b""
                } else {
                    bytes.value(row)
                };
                let text = std::str::from_utf8(bytes);
                texts.push(text.map_err(|_| not_utf8(first + row))?);
            }
        }
    }
    Ok(())
}

/// The error of a row that is no text.
fn not_utf8(row: usize) -> PyErr {
    let (problem, remedy) = ("binary data that is not UTF-8", "give valid UTF-8");
    Python::attach(|py| input_error(py, row as u64, problem, remedy))
}
