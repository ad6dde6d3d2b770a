//! Indexes of sketches: `MinHashLSH` and `MinHashLSHForest` of `simgpu.datasketch`, and what its
//! `MinHashLSHEnsemble` computes.

mod forest;

mod keys;

mod lsh;

mod rows;

mod sketch;

mod tables;

mod tuning;

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

pub(crate) use forest::MinHashLshForest;
pub(crate) use lsh::MinHashLsh;

use keys::{Found, Keys, Sought};
use rows::{MAX_ROWS, Rows};
use sketch::Layout;

/// The bands and rows with the least weighted error at a threshold of the Jaccard similarity.
#[pyfunction]
#[pyo3(signature = (threshold, num_perm, false_positive_weight, false_negative_weight, /))]
pub(crate) fn optimal_bands(
    threshold: f64,
    num_perm: usize,
    false_positive_weight: f64,
    false_negative_weight: f64,
) -> (usize, usize) {
    let weights = (false_positive_weight, false_negative_weight);
    tuning::for_similarity(threshold, num_perm, weights)
}

/// The bands and rows, at most `max_rows`, with the least weighted error at a threshold of the containment, where an
/// indexed set has `ratio` times the size of the query.
#[pyfunction]
#[pyo3(signature = (threshold, num_perm, max_rows, ratio, weights, /))]
pub(crate) fn optimal_containment_bands(
    threshold: f64,
    num_perm: usize,
    max_rows: usize,
    ratio: f64,
    weights: (f64, f64),
) -> (usize, usize) {
    tuning::for_containment(threshold, num_perm, max_rows, ratio, weights)
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
    if sizes.len() != counts.len() || !(1..=sizes.len()).contains(&num_part) {
        return Err(PyValueError::new_err(
            "sizes, counts and num_part do not fit together; give as many counts as sizes, and at most as many parts",
        ));
    }
    Ok(tuning::partitions(&sizes, &counts, num_part))
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
            Found::Number(number) => return Ok((guard, Some(number))),
            Found::Absent => return Ok((guard, None)),
            Found::Compare(other) => other,
        };
        drop(guard);
        sought.compare(other)?;
    }
}

/// Refuses a row beyond the numbers that there are.
fn check_room(rows: &Rows) -> PyResult<()> {
    if rows.next_number() < MAX_ROWS {
        return Ok(());
    }
    Err(PyOverflowError::new_err(format!(
        "the index holds {MAX_ROWS} sketches, the most that it can; use several indexes"
    )))
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
fn check_layout(known: Layout, given: Layout) -> PyResult<()> {
    if known == given {
        return Ok(());
    }
    let described = |layout: Layout| {
        let Layout {
            value_bytes,
            values_per_slot,
        } = layout;
        format!("{values_per_slot} value(s) of {value_bytes} bytes per slot")
    };
    Err(PyValueError::new_err(format!(
        "the sketch has {}, those of the index {}; give sketches of one kind",
        described(given),
        described(known)
    )))
}

/// The bytes that datasketch makes of values: each with its bytes in reverse order.
fn swapped_bytes(values: impl Iterator<Item = u64>, layout: Layout) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.size_hint().0 * layout.value_bytes);
    for value in values {
        match layout.value_bytes {
            #[allow(clippy::cast_possible_truncation, reason = "a value of four bytes")]
            4 => bytes.extend((value as u32).swap_bytes().to_ne_bytes()),
            _ => bytes.extend(value.swap_bytes().to_ne_bytes()),
        }
    }
    bytes
}

/// The values that [`swapped_bytes`] wrote; `None` if it cannot have written these bytes.
fn values_of_bytes(bytes: &[u8], layout: Layout) -> Option<Vec<u64>> {
    if layout.value_bytes == 4 {
        let (values, rest) = bytes.as_chunks::<4>();
        let values = values
            .iter()
            .map(|value| u64::from(u32::from_ne_bytes(*value).swap_bytes()));
        return rest.is_empty().then(|| values.collect());
    }
    let (values, rest) = bytes.as_chunks::<8>();
    let values = values
        .iter()
        .map(|value| u64::from_ne_bytes(*value).swap_bytes());
    rest.is_empty().then(|| values.collect())
}

/// Bytes objects of the bands of a row.
fn band_bytes<'py>(
    py: Python<'py>,
    bands: impl Iterator<Item = Vec<u8>>,
) -> Vec<Bound<'py, PyBytes>> {
    bands.map(|bytes| PyBytes::new(py, &bytes)).collect()
}
