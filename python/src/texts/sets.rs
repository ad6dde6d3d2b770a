//! Columns of sets of hashes.

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simgpu::scheme::Hashes;

use super::tokens::{lists_of, refuse_nulls};

/// Consecutive sets of hashes, borrowed: set i is `offsets[i]..offsets[i + 1]` of `hashes`.
pub(crate) struct Sets<'a> {
    pub(crate) hashes: Hashes<'a>,
    pub(crate) offsets: Vec<usize>,
}

impl Sets<'_> {
    /// Number of sets.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of hashes in all sets.
    pub(crate) fn hash_count(&self) -> usize {
        self.offsets[self.len()] - self.offsets[0]
    }
}

/// Appends the sets of an Arrow array of lists of hashes.
pub(super) fn push_sets<'a>(array: &'a ArrayRef, sets: &mut Vec<Sets<'a>>) -> PyResult<()> {
    let wrong = || {
        PyTypeError::new_err(format!(
            "documents have the Arrow type {}; give lists of uint32 or uint64",
            array.data_type()
        ))
    };
    let (rows, values) = lists_of(array).ok_or_else(wrong)?;
    let hashes = match values.data_type() {
        DataType::UInt32 => Hashes::U32(values.as_primitive::<UInt32Type>().values()),
        DataType::UInt64 => Hashes::U64(values.as_primitive::<UInt64Type>().values()),
        _ => return Err(wrong()),
    };
    let first = sets.iter().map(Sets::len).sum();
    refuse_nulls(&rows, values, first, "a hash that is null")?;
    let mut offsets: Vec<usize> = Vec::with_capacity(rows.len() + 1);
    for row in rows {
        match offsets.last() {
            Some(end) if *end == row.start => {}
            // Values that no row has, as those of a null may be, end a run of sets.
            Some(_) => {
                let offsets = std::mem::replace(&mut offsets, vec![row.start]);
                sets.push(Sets { hashes, offsets });
            }
            None => offsets.push(row.start),
        }
        offsets.push(row.end);
    }
    if !offsets.is_empty() {
        sets.push(Sets { hashes, offsets });
    }
    Ok(())
}
