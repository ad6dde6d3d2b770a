//! What the library serialises, as objects of Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// The object that JSON stands for.
pub(crate) fn parsed<'py>(py: Python<'py>, json: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json,))
}

/// A value as dicts, lists and numbers.
pub(crate) fn of<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_vec(value);
    parsed(
        py,
        &json.map_err(|error| PyValueError::new_err(error.to_string()))?,
    )
}
