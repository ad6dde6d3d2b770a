//! Errors of the library as Python exceptions.
//!
//! The classes are Python's own, in `simgpu/errors.py`: each is a subclass of `simgpu.Error` and of the built-in
//! exception that fits.

use std::io;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use simgpu::Error;
use simgpu::error::spell;

/// Turns an error of the library into the Python exception that fits.
pub(crate) fn to_python(py: Python<'_>, error: Error) -> PyErr {
    let message = spelled(&error.to_string());
    match error {
        Error::Io { path, cause, .. } => of_system(&path, &cause, message),
        Error::BadRecord(record) => raise(py, "InputError", message, |exception| {
            exception.setattr("path", record.file)?;
            exception.setattr("row", record.row)?;
            exception.setattr("line", record.line)?;
            exception.setattr("problem", record.problem)
        }),
        Error::Input { path, problem, .. } => raise(py, "InputError", message, |exception| {
            exception.setattr("path", path)?;
            exception.setattr("problem", problem)
        }),
        Error::InputChanged { path } => raise(py, "InputError", message, |exception| {
            exception.setattr("path", path)
        }),
        Error::RepeatedId { .. } | Error::TooManyDocuments => {
            raise(py, "InputError", message, |_| Ok(()))
        }
        Error::Output { path, problem, .. } => raise(py, "OutputError", message, |exception| {
            exception.setattr("path", path)?;
            exception.setattr("problem", problem)
        }),
        Error::Unsupported(_) => raise(py, "UnsupportedError", message, |_| Ok(())),
        Error::Stopped => raise(py, "StoppedError", message, |_| Ok(())),
        Error::Disagreement(_) | Error::Defect(_) | Error::Accounting { .. } => {
            raise(py, "DefectError", message, |_| Ok(()))
        }
        _ => raise(py, "ParameterError", message, |_| Ok(())),
    }
}

/// A `ParameterError` with this message.
pub(crate) fn parameter_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, "ParameterError", message.into(), |_| Ok(()))
}

/// An `InputError` about the document at `row`.
pub(crate) fn input_error(py: Python<'_>, row: usize, problem: &str, remedy: &str) -> PyErr {
    let message = format!("row {row}: {problem}; {remedy}");
    raise(py, "InputError", message, |exception| {
        exception.setattr("row", row)?;
        exception.setattr("problem", problem)
    })
}

/// An `UnsupportedError` with this message.
pub(crate) fn unsupported_error(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "UnsupportedError", message.to_owned(), |_| Ok(()))
}

/// A `DefectError` for a panic of the library.
pub(crate) fn of_panic(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        (None, None) => "a computation failed",
    };
    let message = format!("{text}; this is a bug in simgpu, please report it");
    raise(py, "DefectError", message, |_| Ok(()))
}

/// Messages name parameters as Python spells them: `on_bad_record="skip"`.
pub(crate) fn spelled(message: &str) -> String {
    spell(message, |name, value| match value {
        None => name.to_owned(),
        Some(value) => format!("{name}={value:?}"),
    })
}

/// An exception of a class in `simgpu.errors`, with attributes.
fn raise(
    py: Python<'_>,
    class: &str,
    message: String,
    set: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
) -> PyErr {
    let made = || {
        let exception = py
            .import("simgpu.errors")?
            .getattr(class)?
            .call1((message,))?;
        set(&exception)?;
        Ok::<_, PyErr>(PyErr::from_value(exception))
    };
    made().unwrap_or_else(|error| error)
}

/// The subclass of `OSError` that fits the error number, with the file name.
fn of_system(path: &std::path::Path, cause: &io::Error, message: String) -> PyErr {
    let number = cause.raw_os_error().or(match cause.kind() {
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::AlreadyExists => Some(17),
        _ => None,
    });
    match number {
        Some(number) => PyOSError::new_err((number, message, path.to_owned())),
        None => PyOSError::new_err(message),
    }
}

/// Attaches the errors of the library to Python: `engine.sign(..).or_raise(py)?`.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for simgpu::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| to_python(py, error))
    }
}
