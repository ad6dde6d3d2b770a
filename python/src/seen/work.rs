//! Works on an open index: on this thread, or on the pool.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use simgpu::documents::{DocumentRange, Documents};
use simgpu::progress::advance;
use simgpu_index::{Index, Verdict};

use super::PyIndex;
use crate::arguments::refused;
use crate::errors::{OrRaise, parameter_error};
use crate::pool;
use crate::progress::Display;
use crate::seen::batch::{DocumentBatch, PART_BYTES};
use crate::seen::opened::Opened;
use crate::seen::settings::{Durability, Settings};
use crate::texts::{Column, part_from};

impl PyIndex {
    pub(super) fn of(settings: Settings, opened: Opened) -> Self {
        PyIndex {
            path: settings.path,
            durability: settings.durability,
            threads: settings.threads,
            opened: Mutex::new(Some(opened)),
        }
    }

    pub(super) fn opened(&self) -> MutexGuard<'_, Option<Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index, which stays open meanwhile.
    pub(super) fn open(&self, py: Python<'_>) -> PyResult<Opened> {
        let opened = self.opened().clone();
        opened.ok_or_else(|| {
            let path = self.path.display();
            parameter_error(py, format!("the index {path} is closed; open it again"))
        })
    }

    /// Waits for the disk if each call does.
    pub(super) fn keep(&self, index: &Index) -> simgpu::Result<()> {
        match self.durability {
            Durability::Call => index.sync(),
            Durability::Sync => Ok(()),
        }
    }

    /// Adds the documents of a batch, some at a time, while no other batch is written. Waits for the disk if each call does, also
    /// for the parts before an error.
    pub(super) fn write_many(
        &self,
        py: Python<'_>,
        opened: &Opened,
        batch: &DocumentBatch<'_>,
        work: impl Fn(&dyn Documents, Range<usize>) -> simgpu::Result<Vec<Verdict>> + Sync,
    ) -> PyResult<Vec<Verdict>> {
        let index = opened.index(py)?;
        let writing = opened.write(py)?;
        let done = self.with_many(py, batch, work);
        drop(writing);
        let kept = py.detach(|| self.keep(index));
        let done = done?;
        kept.or_raise(py)?;
        Ok(done)
    }

    /// Works on the index alone, on this thread.
    pub(super) fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Index) -> simgpu::Result<T> + Send,
    ) -> PyResult<T> {
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        py.detach(|| work(index)).or_raise(py)
    }

    /// Works with one document: on this thread, unless it is long. `writer` is the index if it is written to.
    pub(super) fn with_one<T: Send>(
        &self,
        text: &Bound<'_, PyAny>,
        index: &Index,
        writer: Option<&Opened>,
        work: impl FnOnce(&dyn Documents) -> simgpu::Result<T> + Send,
    ) -> PyResult<T> {
        let py = text.py();
        let run = |document: &dyn Documents| {
            if document.get(0).bytes() < pool::INLINE_BYTES {
                return py.detach(|| work(document)).or_raise(py);
            }
            // Two writers in one pool would wait for each other for ever.
            let _turn = writer.map(|opened| opened.write(py)).transpose()?;
            pool::run(py, self.threads, &mut Display::default(), |_| {
                work(document)
            })
        };
        if !index.engine().takes_tokens() {
            let given = text.extract::<&str>();
            let text = given.map_err(|error| refused(text, "text", "a str", error))?;
            return run(&[text]);
        }
        let column = Column::Objects(PyTuple::new(py, [text])?);
        let mut lists = Vec::new();
        run(&column.tokens(&mut lists)?)
    }

    /// Works with the documents of a batch, some at a time, on the pool.
    pub(super) fn with_many<T: Send>(
        &self,
        py: Python<'_>,
        batch: &DocumentBatch<'_>,
        work: impl Fn(&dyn Documents, Range<usize>) -> simgpu::Result<Vec<T>> + Sync,
    ) -> PyResult<Vec<T>> {
        let mut display = Display::new(batch.progress.clone())?;
        batch.with_documents(|documents| {
            pool::run(py, self.threads, &mut display, |progress| {
                let mut done = Vec::with_capacity(documents.len());
                progress.begin("index", documents.len() as u64);
                while done.len() < documents.len() {
                    let rows = part_from(documents, done.len(), PART_BYTES);
                    let part = DocumentRange::new(documents, rows.clone());
                    done.extend(work(&part, rows)?);
                    advance(progress, done.len() as u64, done.len() as u64, 0)?;
                }
                Ok(done)
            })
        })
    }
}
