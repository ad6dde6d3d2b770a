//! Arguments of calls, and what messages say of those that are refused: the name, what was given, and what to give.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::parameter_error;

/// The numbers of threads that are accepted.
pub(crate) const THREADS: &str = "a number, at least 1";

/// The value of an argument. `expected` says which ones are accepted.
pub(crate) fn argument<'py, T>(value: &Bound<'py, PyAny>, name: &str, expected: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let extracted = value.extract::<T>();
    extracted.map_err(|error| refused(value, name, expected, error.into()))
}

/// The value of an argument that may be left out.
pub(crate) fn optional_argument<'py, T>(
    value: Option<&Bound<'py, PyAny>>,
    name: &str,
    expected: &str,
) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    value
        .map(|value| argument(value, name, expected))
        .transpose()
}

/// The most characters of a value in a message.
const SHOWN: usize = 80;

/// What is wrong with a value: its type, or the value.
pub(crate) fn refused(value: &Bound<'_, PyAny>, name: &str, expected: &str, error: PyErr) -> PyErr {
    let py = value.py();
    let Ok(shown) = value.repr() else {
        return error;
    };
    let shown = shown.to_string_lossy();
    let message = if shown.chars().nth(SHOWN).is_some() || shown.contains('\n') {
        format!("{name} is of type {}; give {expected}", type_of(value))
    } else {
        format!("{name} is {shown}; give {expected}")
    };
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(message);
    }
    parameter_error(py, message)
}

/// Refuses an open file where paths or words are meant: it would be read as a list of its lines.
pub(crate) fn refuse_open_file(value: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    if !value.hasattr("read")? || !value.hasattr("close")? {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "{name} is an open file; give its path, such as file.name"
    )))
}

/// The name of the type of an object.
pub(crate) fn type_of(object: &Bound<'_, PyAny>) -> String {
    let kind = object.get_type().name();
    kind.map_or_else(|_| "unknown".to_owned(), |kind| kind.to_string())
}
