//! The log of a run on disk, by which it is resumed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use simgpu::error::Result;
use simgpu::store::spill::{JsonLines, Spill};
use simgpu_io::{FieldValues, Fingerprint, Skipped};

/// Notes on disk. Memory holds them, too, but for the values: the others are read only after the run was stopped.
#[derive(Debug)]
#[doc(hidden)]
pub struct Log {
    /// Bad records and ends of files.
    pub(super) entries: JsonLines,
    /// The values of the field of [`Run::keep_by`](crate::Run::keep_by).
    pub(super) values: JsonLines,
    /// The values of the field of [`Run::source_field`](crate::Run::source_field).
    pub(super) sources: JsonLines,
}

/// An entry of the log.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Entry {
    Bad {
        file: usize,
        row: u64,
        line: Option<u64>,
        problem: String,
    },
    End {
        file: usize,
        first_row: u32,
        records: u64,
        fingerprint: Fingerprint,
    },
}

impl Log {
    pub(super) fn new(spill: &Arc<Spill>) -> Self {
        Log {
            entries: JsonLines::new(spill, "log"),
            values: JsonLines::new(spill, "values"),
            sources: JsonLines::new(spill, "sources"),
        }
    }

    pub(super) fn push(&mut self, entry: &Entry) -> Result<()> {
        self.entries.push(entry)
    }

    pub(super) fn push_values(&mut self, values: &FieldValues) -> Result<()> {
        let mut values = values.iter();
        values.try_for_each(|value| self.values.push(&value))
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        self.entries.flush()?;
        self.values.flush()?;
        self.sources.flush()
    }

    /// The values of the field of [`Run::keep_by`](crate::Run::keep_by), by row.
    pub(crate) fn values(&self) -> impl Iterator<Item = Result<String>> {
        self.values.iter()
    }
}

impl Entry {
    pub(super) fn from_skipped(skipped: &Skipped) -> Self {
        let Skipped { file, record } = skipped;
        Entry::Bad {
            file: *file,
            row: record.row,
            line: record.line,
            problem: record.problem.clone(),
        }
    }
}
