//! Indexes of sketches: `MinHashLSH` and `MinHashLSHForest` of `simgpu.datasketch`, and what its
//! `MinHashLSHEnsemble` computes. [`simgpu_index`] computes them; here are keys, which are Python's objects, arguments and
//! errors.

mod forest;

mod keys;

mod lsh;

mod sketch;

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use simgpu::Error;
use simgpu::pipeline::{Banding, ErrorWeights};
use simgpu_index::{Containment, optimal_partitions as ends_of};
use simgpu_twins::datasketch::bands::SlotLayout;

use crate::errors::OrRaise;

pub(crate) use forest::MinHashLshForest;
pub(crate) use lsh::MinHashLsh;

use keys::{Keys, Lookup, Sought};

/// The bands and rows with the least weighted error at a threshold of the Jaccard similarity.
#[pyfunction]
#[pyo3(signature = (threshold, num_perm, false_positive_weight, false_negative_weight, /))]
pub(crate) fn optimal_bands(
    py: Python<'_>,
    threshold: f64,
    num_perm: usize,
    false_positive_weight: f64,
    false_negative_weight: f64,
) -> PyResult<(usize, usize)> {
    let weights = ErrorWeights {
        false_positive: false_positive_weight,
        false_negative: false_negative_weight,
    };
    // datasketch takes a threshold of 0, too: the limit of small ones.
    let threshold = threshold.max(f64::MIN_POSITIVE);
    let banding = Banding::for_threshold(threshold, num_perm, weights).or_raise(py)?;
    Ok((banding.bands(), banding.rows()))
}

/// The bands and rows, at most `max_rows`, with the least weighted error at a threshold of the containment, where an
/// indexed set has `ratio` times the size of the query.
#[pyfunction]
#[pyo3(signature = (threshold, num_perm, max_rows, ratio, weights, /))]
pub(crate) fn optimal_containment_bands(
    py: Python<'_>,
    threshold: f64,
    num_perm: usize,
    max_rows: usize,
    ratio: f64,
    weights: (f64, f64),
) -> PyResult<(usize, usize)> {
    let containment = Containment {
        threshold,
        max_rows,
        weights: ErrorWeights {
            false_positive: weights.0,
            false_negative: weights.1,
        },
    };
    let banding = containment.banding(num_perm, ratio).or_raise(py)?;
    Ok((banding.bands(), banding.rows()))
}

/// Cuts ascending set sizes with their counts into intervals with the fewest expected false positives: the index of
/// the last size of each.
#[pyfunction]
#[pyo3(signature = (sizes, counts, num_part, /))]
pub(crate) fn optimal_partitions(
    sizes: Vec<f64>,
    counts: Vec<f64>,
    num_part: usize,
) -> PyResult<Vec<usize>> {
    ends_of(&sizes, &counts, num_part).map_err(|_| {
        PyValueError::new_err(
            "sizes, counts and num_part do not fit together; give as many counts as sizes, and at most as many parts",
        )
    })
}

/// What an index keeps behind its lock, seen from its keys.
trait Keyed {
    fn keys(&self) -> &Keys;
}

/// Locks an index. Whoever holds the lock runs no Python code and does not release the GIL, so a forked child never
/// inherits it locked.
fn lock<'a, T>(py: Python<'_>, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    mutex
        .lock_py_attached(py)
        .unwrap_or_else(PoisonError::into_inner)
}

/// Locks an index and looks for a key, whose `==` runs while the index is unlocked. The number holds as long as the
/// lock.
fn locate<'a, T: Keyed>(
    py: Python<'_>,
    mutex: &'a Mutex<T>,
    sought: &mut Sought<'_>,
) -> PyResult<(MutexGuard<'a, T>, Option<u32>)> {
    loop {
        let guard = lock(py, mutex);
        let other = match guard.keys().find(sought) {
            Lookup::Number(number) => return Ok((guard, Some(number))),
            Lookup::Absent => return Ok((guard, None)),
            Lookup::Compare(other) => other,
        };
        drop(guard);
        sought.compare(other)?;
    }
}

/// The exception for a sketch that an index does not take. Making it runs no Python code.
fn refusal(error: Error) -> PyErr {
    match error {
        Error::FullIndex { limit } => PyOverflowError::new_err(format!(
            "the index holds {limit} sketches, the most that it can; use several indexes"
        )),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Refuses a sketch whose scheme is not that of the index.
fn check_scheme(known: Option<&str>, given: Option<&str>) -> PyResult<()> {
    match (known, given) {
        (Some(known), Some(given)) if known != given => Err(PyValueError::new_err(format!(
            "MinHash scheme '{given}' does not match scheme '{known}' of the MinHash previously given to this index; \
             sign all sketches of an index with one scheme"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a sketch whose slots are not like those of the index.
fn check_layout(known: SlotLayout, given: SlotLayout) -> PyResult<()> {
    if known == given {
        return Ok(());
    }
    let described = |layout: SlotLayout| {
        let (value_bytes, values_per_slot) = layout.pair();
        format!("{values_per_slot} value(s) of {value_bytes} bytes per slot")
    };
    Err(PyValueError::new_err(format!(
        "the sketch has {}, those of the index {}; give sketches of one kind",
        described(given),
        described(known)
    )))
}

/// Bytes objects of the bands of a row.
fn band_bytes<'py>(
    py: Python<'py>,
    bands: impl Iterator<Item = Vec<u8>>,
) -> Vec<Bound<'py, PyBytes>> {
    bands.map(|bytes| PyBytes::new(py, &bytes)).collect()
}
