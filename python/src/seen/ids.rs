//! Ids of documents: strings or whole numbers in Python, JSON in an index.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};
use simgpu_index::DocumentId;

use crate::arguments::refused;
use crate::beside::Ids;
use crate::json;

/// What ids are accepted.
const ID: &str = "a str or an int";

/// The id that an object is.
pub(crate) fn id_of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<DocumentId> {
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str();
        return match text {
            Ok(text) => Ok(DocumentId::from(text)),
            Err(error) => Err(refused(object, name, "a str that UTF-8 can hold", error)),
        };
    }
    let wrong = || {
        let error = pyo3::exceptions::PyTypeError::new_err("");
        refused(object, name, ID, error)
    };
    // True is an int, and no id. NumPy's integers are none, but have an index.
    if object.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    let number = if object.is_instance_of::<PyInt>() {
        object.clone()
    } else {
        let operator = object.py().import("operator")?;
        let index = operator.call_method1("index", (object,));
        index.map_err(|_| wrong())?
    };
    DocumentId::from_json(&number.str()?.to_string_lossy()).ok_or_else(wrong)
}

/// One id, or several.
pub(crate) fn ids_of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<DocumentId>> {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyInt>() {
        return Ok(vec![id_of(object, name)?]);
    }
    let expected = "an id, or several, each a str or an int";
    let several = object.try_iter();
    let several = several.map_err(|error| refused(object, name, expected, error))?;
    several.map(|id| id_of(&id?, name)).collect()
}

/// The ids of a column.
pub(crate) fn ids_of_column(ids: &Ids) -> Vec<DocumentId> {
    match ids {
        Ids::Numbers(numbers) => {
            let json = numbers.iter().map(i64::to_string);
            json.filter_map(|json| DocumentId::from_json(&json))
                .collect()
        }
        Ids::Strings(texts) => texts.iter().map(|text| DocumentId::from(&**text)).collect(),
    }
}

/// An id as an object: a str, or a number.
pub(crate) fn object_of<'py>(py: Python<'py>, id: &DocumentId) -> PyResult<Bound<'py, PyAny>> {
    json::parsed(py, id.as_json().as_bytes())
}

/// Ids as a column: of int64 if all are such numbers, else of strings.
pub(crate) fn column_of<'a>(ids: impl Iterator<Item = &'a DocumentId> + Clone) -> ArrayRef {
    let numbers: Option<Vec<i64>> = ids.clone().map(|id| id.as_json().parse().ok()).collect();
    match numbers {
        Some(numbers) => Arc::new(Int64Array::from(numbers)),
        None => Arc::new(StringArray::from_iter_values(
            ids.map(DocumentId::to_string),
        )),
    }
}
