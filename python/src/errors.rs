//! Errors of the library as Python exceptions.
//!
//! The classes are Python's own, in `simgpu/errors.py`: each is a subclass of `simgpu.Error` and of the built-in
//! exception that fits.

use std::io;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use simgpu::Error;
use simgpu::error::spell;
use simgpu_cli::Usage;

/// Turns an error of the library into the Python exception that fits.
pub(crate) fn to_python(py: Python<'_>, error: Error) -> PyErr {
    let message = spelled(&error.to_string());
    with_message(py, error, message)
}

/// The same, with another message.
fn with_message(py: Python<'_>, error: Error, message: String) -> PyErr {
    match error {
        Error::Io { path, cause, .. } => system_error(&path, &cause, message),
        Error::BadRecord(record) | Error::NoGoodRecord(record) => {
            raise(py, "InputError", message, |exception| {
                exception.setattr("path", record.file.as_os_str())?;
                exception.setattr("row", record.row)?;
                exception.setattr("line", record.line)?;
                exception.setattr("problem", record.problem)
            })
        }
        Error::Input { path, .. } if !path.exists() => numbered_error(NOT_FOUND, &path, message),
        Error::Input { path, problem, .. } => raise(py, "InputError", message, |exception| {
            exception.setattr("path", path.as_os_str())?;
            exception.setattr("problem", problem)
        }),
        Error::InputChanged { path } => raise(py, "InputError", message, |exception| {
            exception.setattr("path", path.as_os_str())
        }),
        Error::RepeatedId { .. } | Error::TooManyDocuments | Error::TooManyShingles { .. } => {
            raise(py, "InputError", message, |_| Ok(()))
        }
        // Only what exists can be replaced.
        Error::Output { path, remedy, .. } if remedy.contains("`overwrite`") => {
            numbered_error(EXISTS, &path, message)
        }
        Error::Output { path, problem, .. } => raise(py, "OutputError", message, |exception| {
            exception.setattr("path", path.as_os_str())?;
            exception.setattr("problem", problem)
        }),
        Error::Unsupported(_) => raise(py, "UnsupportedError", message, |_| Ok(())),
        Error::Stopped => raise(py, "StoppedError", message, |_| Ok(())),
        Error::Resumable { error, .. } => with_message(py, *error, message),
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
pub(crate) fn input_error(py: Python<'_>, row: u64, problem: &str, remedy: &str) -> PyErr {
    input_error_at(py, &format!("row {row}"), row, problem, remedy)
}

/// An `InputError` about a row, which its message calls `place`.
pub(crate) fn input_error_at(
    py: Python<'_>,
    place: &str,
    row: u64,
    problem: &str,
    remedy: &str,
) -> PyErr {
    let message = format!("{place}: {problem}; {remedy}");
    raise(py, "InputError", message, |exception| {
        exception.setattr("row", row)?;
        exception.setattr("problem", problem)
    })
}

/// An `UnsupportedError` with this message.
pub(crate) fn unsupported_error(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "UnsupportedError", message.to_owned(), |_| Ok(()))
}

/// A `DefectError` with this message.
pub(crate) fn defect_error(py: Python<'_>, message: String) -> PyErr {
    raise(py, "DefectError", message, |_| Ok(()))
}

/// A `DefectError` for a panic of the library.
pub(crate) fn panic_error(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        (None, None) => "a computation failed",
    };
    defect_error(
        py,
        format!("{text}; this is a bug in simgpu, please report it"),
    )
}

/// The exception for an error of a run that the command shares.
pub(crate) fn run_error(py: Python<'_>, error: anyhow::Error) -> PyErr {
    let error = match error.downcast::<Error>() {
        Ok(error) => return to_python(py, error),
        Err(error) => error,
    };
    match error.downcast_ref::<Usage>() {
        Some(usage) => parameter_error(py, spelled(usage.message())),
        None => defect_error(py, format!("{error:#}")),
    }
}

/// Parameters that are true or false.
const SWITCHES: [&str; 8] = [
    "count",
    "dry_run",
    "hidden",
    "keep_whitespace",
    "lowercase",
    "overwrite",
    "strip_punctuation",
    "unique_ids",
];

/// Messages name parameters as Python spells them: `on_bad_record="skip"`, `overwrite=True`.
pub(crate) fn spelled(message: &str) -> String {
    let message = with_functions(message);
    spell(&message, |name, value| match value {
        None if name == "selftest" => "simgpu.selftest()".to_owned(),
        None if name == "restart" => "resume=False".to_owned(),
        None if name == "as" => "as_".to_owned(),
        None if SWITCHES.contains(&name) => format!("{name}=True"),
        None => name.to_owned(),
        Some(value) if name == "as" => format!("as_={value:?}"),
        Some(number) if number.parse::<f64>().is_ok() => format!("{name}={number}"),
        Some(value) => format!("{name}={value:?}"),
    })
}

/// Commands that messages name, and the functions of Python that do the same.
const FUNCTIONS: [(&str, &str); 11] = [
    ("index add", "Index.add_many"),
    ("index build", "Index.create"),
    ("index compact", "Index.compact"),
    ("index delete", "Index.delete"),
    ("index export", "Index.export"),
    ("index query", "Index.check_many"),
    ("index snapshot", "Index.snapshot"),
    ("index stats", "Index.stats"),
    ("index verify", "Index.verify"),
    ("devices", "simgpu.devices()"),
    ("selftest", "simgpu.selftest()"),
];

/// A message with the names of functions in place of those of commands.
fn with_functions(message: &str) -> String {
    let mut named = message.to_owned();
    for (command, function) in FUNCTIONS {
        named = named.replace(&format!("`simgpu {command}`"), function);
    }
    named
}

/// Gives out a warning of the library at the caller's line.
pub(crate) fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let class = py.import("simgpu.errors")?.getattr("SimgpuWarning")?;
    warn_as(py, &spelled(message), &class)
}

/// The same, with another class of warnings.
pub(crate) fn warn_as(py: Python<'_>, message: &str, class: &Bound<'_, PyAny>) -> PyResult<()> {
    let caller = py.import("simgpu._caller")?;
    caller.call_method1("warn", (message, class))?;
    Ok(())
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

// Error numbers that are the same on all systems.
const NOT_FOUND: i32 = 2;
const DENIED: i32 = 13;
const EXISTS: i32 = 17;

/// A `FileExistsError`.
pub(crate) fn exists(path: &std::path::Path, message: String) -> PyErr {
    numbered_error(EXISTS, path, message)
}

/// The subclass of `OSError` that Python has for an error number.
fn numbered_error(number: i32, path: &std::path::Path, message: String) -> PyErr {
    // As a str: a path would import pathlib, which can fail.
    PyOSError::new_err((number, message, path.as_os_str().to_owned()))
}

/// The subclass of `OSError` that fits the error of the system, with the file name.
fn system_error(path: &std::path::Path, cause: &io::Error, message: String) -> PyErr {
    let number = cause.raw_os_error().or(match cause.kind() {
        io::ErrorKind::NotFound => Some(NOT_FOUND),
        io::ErrorKind::PermissionDenied => Some(DENIED),
        io::ErrorKind::AlreadyExists => Some(EXISTS),
        _ => None,
    });
    match number {
        Some(number) => numbered_error(number, path, message),
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
