//! Arguments of `MinHash`.

use std::sync::Arc;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use simgpu_twins::datasketch::PermutationScheme;

use super::arrays::read_coefficients;
use super::permutations::SharedPermutations;

/// The most permutations: their coefficients take 256 MiB.
const MOST_PERMUTATIONS: usize = 1 << 24;

/// Permutations given as a pair of rows.
pub(crate) fn read_permutations(
    kind: PermutationScheme,
    seed: i64,
    count: usize,
    given: &Bound<'_, PyAny>,
) -> PyResult<Arc<SharedPermutations>> {
    let py = given.py();
    if let Ok(seed) = u32::try_from(seed) {
        let drawn = SharedPermutations::drawn(py, kind, seed, count)?;
        if drawn.is_array(given) {
            return Ok(drawn);
        }
    }
    let a = read_coefficients(kind, &given.get_item(0)?)?;
    let b = read_coefficients(kind, &given.get_item(1)?)?;
    if kind != PermutationScheme::Legacy && a.iter().any(|a| a % 2 == 0) {
        let message = format!(
            "all `a` permutation parameters must be odd for scheme '{}'",
            kind.name()
        );
        return Err(PyValueError::new_err(message));
    }
    if a.len() != count || b.len() != count {
        return Err(mismatch());
    }
    SharedPermutations::given(py, kind, seed, a, b)
}

pub(crate) fn mismatch() -> PyErr {
    PyValueError::new_err("Numbers of hash values and permutations mismatch")
}

/// A seed that numpy's `RandomState` takes.
pub(crate) fn drawable(seed: i64) -> PyResult<u32> {
    let drawable = u32::try_from(seed);
    drawable.map_err(|_| PyValueError::new_err("Seed must be between 0 and 2**32 - 1"))
}

/// The argument `num_perm`.
pub(crate) fn read_count(count: &Bound<'_, PyAny>) -> PyResult<usize> {
    let count = count.extract::<i64>().or_else(|error| {
        // What overflows is as far out of range as this.
        if error.is_instance_of::<PyOverflowError>(count.py()) {
            Ok(if count.lt(0)? { i64::MIN } else { i64::MAX })
        } else {
            Err(error)
        }
    })?;
    check_count(usize::try_from(count).unwrap_or(0))
}

pub(crate) fn check_count(count: usize) -> PyResult<usize> {
    match count {
        0 => Err(PyValueError::new_err("num_perm must be positive")),
        1..=MOST_PERMUTATIONS => Ok(count),
        _ => Err(PyValueError::new_err(format!(
            "Cannot have more than {MOST_PERMUTATIONS} number of permutation functions"
        ))),
    }
}

/// The strings of an iterable.
pub(crate) fn read_strings<'py>(texts: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyString>>> {
    if texts.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "texts is a str; give a list of strings",
        ));
    }
    let strings = texts
        .try_iter()?
        .map(|text| match text?.cast_into::<PyString>() {
            Ok(text) => Ok(text),
            Err(error) => {
                let kind = error.into_inner().get_type().name()?;
                Err(PyTypeError::new_err(format!(
                    "a text is of type {kind}; give strings"
                )))
            }
        });
    strings.collect()
}
