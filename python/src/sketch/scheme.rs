//! datasketch's permutation schemes, as Python names them, and the exceptions of what the schemes' crate refuses.

use pyo3::exceptions::{PyOverflowError, PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use simgpu_twins::datasketch::{FloatError, PermutationScheme, UnknownCode};

/// Reads the argument `scheme`.
pub(crate) fn read_scheme(scheme: &Bound<'_, PyAny>) -> PyResult<PermutationScheme> {
    let name = scheme.extract::<&str>().ok();
    let known = name.and_then(PermutationScheme::from_name);
    let Some(known) = known else {
        let message = format!(
            "scheme must be one of affine32, affine64, legacy, got {}",
            scheme.repr()?
        );
        return Err(PyValueError::new_err(message));
    };
    Ok(known)
}

/// The affine scheme of a number in a byte format.
pub(crate) fn scheme_from_code(code: u8) -> PyResult<PermutationScheme> {
    PermutationScheme::from_code(code).map_err(unknown_code)
}

/// The exception for a number that stands for no scheme.
pub(crate) fn unknown_code(UnknownCode(code): UnknownCode) -> PyErr {
    PyValueError::new_err(format!("Unknown permutation scheme code: {code}"))
}

/// The numpy type of hash values.
pub(crate) fn dtype_name(scheme: PermutationScheme) -> &'static str {
    match scheme {
        PermutationScheme::Affine32 => "uint32",
        PermutationScheme::Legacy | PermutationScheme::Affine64 => "uint64",
    }
}

/// The exception that Python's own floats would raise.
pub(crate) fn float_error(error: FloatError) -> PyErr {
    match error {
        FloatError::DivisionByZero => PyZeroDivisionError::new_err("float division by zero"),
        FloatError::OutOfRange => PyOverflowError::new_err((34, "Numerical result out of range")),
    }
}
