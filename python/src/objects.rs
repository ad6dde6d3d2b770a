//! Objects of Python in the rows of a column: snapshots, missing values, and what is no text.

use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyTuple};

use crate::arguments::type_of;
use crate::errors::input_error;

/// Whether the class of an object is from this package.
pub(crate) fn is_from(data: &Bound<'_, PyAny>, package: &str) -> bool {
    let module = data.get_type().module();
    module.is_ok_and(|module| {
        let name = module.to_string_lossy();
        name.split('.').next() == Some(package)
    })
}

/// The items of a sequence or an iterator.
pub(crate) fn snapshot<'py>(
    called: &str,
    data: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyTuple>> {
    if let Ok(items) = data.cast::<PyTuple>() {
        return Ok(items.clone());
    }
    if let Ok(items) = data.cast::<PyList>() {
        return Ok(items.to_tuple());
    }
    let py = data.py();
    let items = if is_from(data, "pandas") && data.hasattr("to_numpy")? {
        // Whatever stands for a missing value becomes None.
        let options = PyDict::new(py);
        options.set_item("dtype", "object")?;
        options.set_item("na_value", py.None())?;
        let objects = data.call_method("to_numpy", (), Some(&options))?;
        objects.call_method0("tolist")?
    } else if is_from(data, "numpy") && data.hasattr("tolist")? {
        data.call_method0("tolist")?
    } else {
        data.clone()
    };
    let items = items.try_iter().map_err(|_| {
        let kind = type_of(data);
        PyTypeError::new_err(format!(
            "{called} are of type {kind}; give a list, a Series, an Arrow array, or a table and column="
        ))
    })?;
    let items: Vec<_> = items.collect::<PyResult<_>>()?;
    PyTuple::new(py, items)
}

/// Whether an object stands for a missing value: None, or NaN.
pub(crate) fn is_missing(object: Borrowed<'_, '_, PyAny>) -> bool {
    object.is_none() || object.cast::<PyFloat>().is_ok_and(|x| x.value().is_nan())
}

/// The error of an object that is no text.
pub(crate) fn no_text(
    object: Borrowed<'_, '_, PyAny>,
    row: usize,
    error: &PyErr,
    wanted: &str,
) -> PyErr {
    let py = object.py();
    if error.is_instance_of::<PyUnicodeEncodeError>(py) {
        let remedy = "replace it, for example by text.encode(errors=\"replace\").decode()";
        return input_error(
            py,
            row as u64,
            "half of a surrogate pair, which UTF-8 cannot hold",
            remedy,
        );
    }
    let kind = type_of(&object);
    PyTypeError::new_err(format!("row {row} is of type {kind}; give {wanted}"))
}
