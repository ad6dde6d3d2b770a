//! Tokens as Python gives them: snapshots of lists, the bytes of a token, and integers as tokens.

use std::fmt::{Display, Write as _};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString, PyTuple};

use crate::objects::{is_missing, no_text, snapshot};

/// What the tokens of a list may be.
pub(crate) const TOKENS: &str = "tokens that are all str or bytes, or all int";

/// A snapshot of a list of tokens. Appends the weights of a dict to `weights`.
fn list_of_tokens<'py>(
    tokens: Borrowed<'_, 'py, PyAny>,
    row: usize,
    weights: &mut Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyTuple>> {
    if is_missing(tokens) {
        return Ok(PyTuple::empty(tokens.py()));
    }
    if tokens.is_instance_of::<PyString>() || tokens.is_instance_of::<PyBytes>() {
        let kind = tokens.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "row {row} is of type {kind}; give a list of tokens, such as text.split()"
        )));
    }
    if let Ok(tokens) = tokens.cast::<PyDict>() {
        let keys = tokens.keys().to_tuple();
        let weights = weights.get_or_insert_default();
        for weight in tokens.values() {
            weights.push(weight.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "row {row} has a weight that is no number; give a float"
                ))
            })?);
        }
        return Ok(keys);
    }
    snapshot("tokens", &tokens.to_owned()).map_err(|_| {
        let message =
            format!("row {row} is no list of tokens; give a list of str, of bytes or of integers");
        PyTypeError::new_err(message)
    })
}

/// The bytes of a token.
pub(crate) fn token_of<'a>(token: Borrowed<'a, '_, PyAny>, row: usize) -> PyResult<&'a [u8]> {
    // To compare with a type is faster than to ask whether it is derived from one, which is a call.
    if !token.is_exact_instance_of::<PyString>() && token.is_instance_of::<PyBytes>() {
        return Ok(token.extract::<&[u8]>()?);
    }
    let text = token.extract::<&str>();
    text.map(str::as_bytes)
        .map_err(|error| no_text(token, row, &error, TOKENS))
}

/// A snapshot of a list of tokens.
pub(crate) enum TokenList<'py> {
    /// Of `str` or `bytes`, which are borrowed.
    Objects(Bound<'py, PyTuple>),
    /// Of integers.
    Digits(Digits),
}

impl<'py> TokenList<'py> {
    /// Takes a snapshot of a row. Appends the weights of a dict to `weights`.
    pub(crate) fn new(
        tokens: Borrowed<'_, 'py, PyAny>,
        row: usize,
        weights: &mut Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let tokens = list_of_tokens(tokens, row, weights)?;
        match tokens.iter_borrowed().next() {
            Some(first) if is_number(first)? => {
                Digits::from_numbers(&tokens, row).map(TokenList::Digits)
            }
            _ => Ok(TokenList::Objects(tokens)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            TokenList::Objects(tokens) => tokens.len(),
            TokenList::Digits(digits) => digits.ends.len(),
        }
    }

    /// Appends the bytes of the tokens.
    pub(crate) fn push_to<'a>(&'a self, row: usize, slices: &mut Vec<&'a [u8]>) -> PyResult<()> {
        match self {
            TokenList::Objects(tokens) => {
                for token in tokens.iter_borrowed() {
                    slices.push(token_of(token, row)?);
                }
            }
            TokenList::Digits(digits) => slices.extend(digits.iter()),
        }
        Ok(())
    }
}

/// The decimal digits of integers.
#[derive(Default)]
pub(crate) struct Digits {
    text: String,
    /// Where the digits of each integer end.
    ends: Vec<usize>,
}

impl Digits {
    fn push(&mut self, number: impl Display) {
        // Writing to a string never fails.
        let _ = write!(self.text, "{number}");
        self.ends.push(self.text.len());
    }

    /// Those of Python's integers, of any size, or of numpy's.
    fn from_numbers(numbers: &Bound<'_, PyTuple>, row: usize) -> PyResult<Self> {
        let mut digits = Digits::default();
        for number in numbers.iter_borrowed() {
            if !is_number(number)? {
                let kind = number.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "row {row} has integers and a token of type {kind}; give tokens that are all str or bytes, or all int"
                )));
            }
            match number.extract::<i64>() {
                Ok(number) => digits.push(number),
                Err(_) => digits.push(number.str()?.to_str()?),
            }
        }
        Ok(digits)
    }

    /// Those of an Arrow array; `None` if it has no integers.
    pub(crate) fn from_array(array: &ArrayRef) -> Option<Self> {
        let mut digits = Digits::default();
        macro_rules! push {
            ($type:ty) => {{
                let values = array.as_primitive::<$type>().values();
                values.iter().for_each(|number| digits.push(number));
            }};
        }
        match array.data_type() {
            DataType::Int8 => push!(Int8Type),
            DataType::Int16 => push!(Int16Type),
            DataType::Int32 => push!(Int32Type),
            DataType::Int64 => push!(Int64Type),
            DataType::UInt8 => push!(UInt8Type),
            DataType::UInt16 => push!(UInt16Type),
            DataType::UInt32 => push!(UInt32Type),
            DataType::UInt64 => push!(UInt64Type),
            _ => return None,
        }
        Some(digits)
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let start = match index {
            0 => 0,
            _ => self.ends[index - 1],
        };
        &self.text.as_bytes()[start..self.ends[index]]
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| self.get(index))
    }
}

/// Whether a token is a `str` or `bytes`, and of no class derived from them.
pub(crate) fn is_string(token: Borrowed<'_, '_, PyAny>) -> bool {
    token.is_exact_instance_of::<PyString>() || token.is_exact_instance_of::<PyBytes>()
}

/// Whether a token is an integer, of Python or of numpy. A truth value is none.
fn is_number(token: Borrowed<'_, '_, PyAny>) -> PyResult<bool> {
    if is_string(token) {
        return Ok(false);
    }
    Ok(token.cast_exact::<PyInt>().is_ok()
        || !token.is_instance_of::<PyBool>() && token.hasattr(intern!(token.py(), "__index__"))?)
}
