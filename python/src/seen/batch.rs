//! The documents of a batch, and parts of them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu_index::DocumentId;

use crate::beside::Ids;
use crate::options::Options;
use crate::texts::Column;

use super::ids::ids_of_column;

/// Text that is compared or stored at a time, in bytes.
pub(super) const PART_BYTES: usize = 1 << 20;

/// Documents of a call, with their ids.
pub(super) struct DocumentBatch<'py> {
    column: Column<'py>,
    pub(super) ids: Option<Ids>,
    /// Where progress is shown; `None` shows nothing.
    pub(super) progress: Option<Bound<'py, PyAny>>,
    takes_tokens: bool,
}

impl<'py> DocumentBatch<'py> {
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
        Ok(DocumentBatch {
            column,
            ids: beside.ids,
            progress: None,
            takes_tokens: engine.takes_tokens(),
        })
    }

    /// Shows progress as the argument `progress` says.
    pub(super) fn with_progress(mut self, progress: Option<&Bound<'py, PyAny>>) -> Self {
        self.progress = progress.filter(|progress| !progress.is_none()).cloned();
        self
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
        if self.takes_tokens {
            work(&self.column.tokens(&mut Vec::new())?)
        } else {
            work(&self.column.texts()?)
        }
    }
}
