//! Rows of signatures, and what is computed from them.

use std::sync::Arc;

use arrow_array::{Array, FixedSizeListArray};
use arrow_schema::Field;
use numpy::PyArray2;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use simgpu::error::Conflict;
use simgpu::pipeline::{Banding, band_key};
use simgpu::scheme::{Scheme, SlotVec, Slots, SlotsMut};
use simgpu::search::SignaturesInMemory;

use super::PySignatures;
use super::arrays::matrix_of_values;
use super::slots::SlotBuffer;
use crate::arguments::argument;
use crate::arrow::arrow_error;
use crate::errors::parameter_error;
use crate::scheme::PyScheme;

impl PySignatures {
    /// The band keys, of shape (documents, bands).
    pub(crate) fn keys_of<'py>(
        &self,
        py: Python<'py>,
        banding: Banding,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let (slots, num_perm) = (self.view(), self.scheme.num_perm());
        let row_keys = |row: usize| {
            (0..).zip(0..banding.bands()).map(move |(band, first)| {
                let start = row * num_perm + first * banding.rows();
                band_key(band, slots.range(start..start + banding.rows()))
            })
        };
        let keys: Vec<u64> = py.detach(|| (0..self.rows()).flat_map(row_keys).collect());
        matrix_of_values(py, [self.rows(), banding.bands()], keys)
    }

    /// Signatures of whole rows.
    pub(crate) fn new(scheme: Scheme, slots: SlotBuffer) -> Self {
        PySignatures { scheme, slots }
    }

    pub(super) fn checked(scheme: Scheme, slots: SlotBuffer) -> PyResult<Self> {
        let width = scheme.family().slot_width();
        if slots.0.width() != width {
            let bits = 8 * width.bytes();
            return Err(PyTypeError::new_err(format!(
                "slots are not as wide as those of {scheme}; give an array of uint{bits}"
            )));
        }
        Ok(PySignatures { scheme, slots })
    }

    pub(super) fn with(&self, slots: SlotBuffer) -> Self {
        PySignatures::new(self.scheme.clone(), slots)
    }

    pub(crate) fn rows(&self) -> usize {
        self.slots.0.len() / self.scheme.num_perm()
    }

    /// All slots, row by row.
    pub(crate) fn view(&self) -> Slots<'_> {
        self.slots.view()
    }

    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// What the library searches.
    pub(crate) fn in_memory(&self) -> SignaturesInMemory<'_> {
        SignaturesInMemory {
            slots: self.view(),
            scheme: &self.scheme,
        }
    }

    pub(super) fn at(&self, row: usize) -> Slots<'_> {
        let num_perm = self.scheme.num_perm();
        self.view().range(row * num_perm..(row + 1) * num_perm)
    }

    /// The slots of a row; negative ones count from the end.
    pub(super) fn row(&self, name: &str, row: &Bound<'_, PyAny>) -> PyResult<Slots<'_>> {
        let row: isize = argument(row, name, "a row number")?;
        let rows = self.rows();
        let index = match usize::try_from(row) {
            Ok(index) => Some(index),
            Err(_) => rows.checked_sub(row.unsigned_abs()),
        };
        let index = index.filter(|index| *index < rows);
        let index = index.ok_or_else(|| {
            PyIndexError::new_err(format!("row {row} is out of range; there are {rows} rows"))
        })?;
        Ok(self.at(index))
    }

    pub(super) fn check_scheme(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if self.scheme == other.scheme {
            return Ok(());
        }
        let [left, right] = [self, other].map(|all| PyScheme(all.scheme.clone()).__repr__());
        let message = format!(
            "cannot combine signatures of {left} and of {right}; sign all documents with one scheme"
        );
        Err(parameter_error(py, message))
    }

    /// The least of both for each slot.
    pub(super) fn merged(&self, other: &Self) -> simgpu::Result<SlotVec> {
        let mut merged = match self.view() {
            Slots::U32(slots) => SlotVec::U32(slots.to_vec()),
            Slots::U64(slots) => SlotVec::U64(slots.to_vec()),
        };
        let mut slots = match &mut merged {
            SlotVec::U32(slots) => SlotsMut::U32(slots),
            SlotVec::U64(slots) => SlotsMut::U64(slots),
        };
        let empty = self.scheme.empty_slot();
        if empty != 0 {
            slots.merge(other.view())?;
            return Ok(merged);
        }
        // The slots of the empty set are less than all others here, so that the minimum would be wrong.
        let num_perm = self.scheme.num_perm();
        for row in 0..self.rows() {
            let range = row * num_perm..(row + 1) * num_perm;
            let new = other.at(row);
            match (&mut merged, new) {
                (SlotVec::U32(slots), Slots::U32(new)) => {
                    lower_unless_empty(&mut slots[range], new)
                }
                (SlotVec::U64(slots), Slots::U64(new)) => {
                    lower_unless_empty(&mut slots[range], new)
                }
                _ => return Err(Conflict::SlotWidths.into()),
            }
        }
        Ok(merged)
    }

    pub(super) fn list_array(&self) -> PyResult<FixedSizeListArray> {
        let values = self.slots.array();
        let item = Arc::new(Field::new("item", values.data_type().clone(), false));
        let num_perm = i32::try_from(self.scheme.num_perm())?;
        FixedSizeListArray::try_new(item, num_perm, values, None).map_err(arrow_error)
    }
}

/// Merges the signature of another set, where all slots of an empty set are 0.
fn lower_unless_empty<S: Copy + Ord + Default>(slots: &mut [S], other: &[S]) {
    let is_empty = |slots: &[S]| slots.iter().all(|slot| *slot == S::default());
    if is_empty(other) {
        return;
    }
    if is_empty(slots) {
        slots.copy_from_slice(other);
        return;
    }
    for (slot, other) in slots.iter_mut().zip(other) {
        *slot = (*slot).min(*other);
    }
}
