//! The documents of a batch, and parts of them.

use std::ops::Range;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::documents::{Document, Documents};
use simgpu::engine::Engine;
use simgpu::index::DocumentId;

use crate::beside::Ids;
use crate::options::Options;
use crate::texts::Column;

use super::ids::ids_of_column;

/// Text that is compared or stored at a time, in bytes.
const PART_BYTES: usize = 1 << 20;

/// With less text than this, one document is worth no other thread.
pub(super) const INLINE_BYTES: usize = 64 << 10;

/// Documents of a call, with their ids.
pub(super) struct Batch<'py> {
    column: Column<'py>,
    pub(super) ids: Option<Ids>,
    takes_tokens: bool,
}

impl<'py> Batch<'py> {
    pub(super) fn new(
        data: &Bound<'py, PyAny>,
        column: Option<&Bound<'py, PyAny>>,
        id: Option<&Bound<'py, PyAny>>,
        engine: &Engine,
    ) -> PyResult<Self> {
        let options = PyDict::new(data.py());
        options.set_item("column", column)?;
        options.set_item("id", id)?;
        let (column, beside) = Options(options).documents(data)?;
        Ok(Batch {
            column,
            ids: beside.ids,
            takes_tokens: engine.takes_tokens(),
        })
    }

    /// The ids, of which each document has one.
    pub(super) fn required_ids(&self) -> PyResult<Vec<DocumentId>> {
        let ids = self.ids.as_ref().map(ids_of_column);
        ids.ok_or_else(|| {
            PyTypeError::new_err("id is missing; give a column of ids, or a sequence of int or str")
        })
    }

    /// Works with the documents.
    pub(super) fn with_documents<T>(
        &self,
        work: impl FnOnce(&dyn Documents) -> PyResult<T>,
    ) -> PyResult<T> {
        match self.takes_tokens {
            true => work(&self.column.tokens(&mut Vec::new())?),
            false => work(&self.column.texts()?),
        }
    }
}

/// Consecutive documents of a batch.
pub(super) struct Part<'a> {
    documents: &'a dyn Documents,
    pub(super) rows: Range<usize>,
}

impl<'a> Part<'a> {
    /// The documents from a row on, as many as are handled at a time.
    pub(super) fn from(documents: &'a dyn Documents, first: usize) -> Self {
        let (mut end, mut bytes) = (first, 0);
        while end < documents.len() && bytes < PART_BYTES {
            bytes += documents.get(end).bytes();
            end += 1;
        }
        Part {
            documents,
            rows: first..end,
        }
    }
}

impl Documents for Part<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        self.documents.get(self.rows.start + row)
    }

    fn first_row(&self) -> usize {
        self.documents.first_row() + self.rows.start
    }
}
