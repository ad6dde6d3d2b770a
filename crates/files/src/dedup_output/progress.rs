//! Files of kept records that are being written.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::written::Written;
use simgpu::error::Result;
use simgpu_io::{Kept, KeptFile, TableForm};

/// The kept records of a file that were not passed to its writer.
#[derive(Default)]
pub(super) struct StartOfFile {
    pub(super) file: usize,
    pub(super) form: Option<TableForm>,
    pub(super) kept: Vec<Kept>,
    /// Bytes of all of its kept records so far.
    pub(super) bytes: usize,
    /// The number of all of its kept records so far.
    pub(super) records: u64,
}

impl StartOfFile {
    /// Nothing yet of this file.
    pub(super) fn new(file: usize) -> Self {
        StartOfFile {
            file,
            ..StartOfFile::default()
        }
    }

    pub(super) fn write_to(&mut self, target: &mut KeptFile) -> Result<()> {
        self.kept.drain(..).try_for_each(|kept| target.write(kept))
    }
}

/// A file of more than a frame.
pub(super) struct LargeFile {
    pub(super) input: usize,
    pub(super) name: String,
    pub(super) parts: Mutex<LargeFileParts>,
}

/// What is left to do for a large file.
#[derive(Default)]
pub(super) struct LargeFileParts {
    /// The next parts, in order.
    pub(super) waiting: Vec<Kept>,
    /// The number of its records, once all parts are here.
    pub(super) records: Option<u64>,
    /// Whether a job writes parts.
    pub(super) is_in_progress: bool,
    /// The file, while no job has it; `None` after an error, and at the end.
    pub(super) file: Option<KeptFile>,
    /// Bytes after which it is written to disk the next time.
    pub(super) until_back: usize,
}

impl LargeFile {
    pub(super) fn parts(&self) -> MutexGuard<'_, LargeFileParts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is written so far. Files may be complete in any order.
pub(super) struct Done {
    /// Up to the first input that is not complete.
    pub(super) written: Written,
    /// The inputs after that one: the number of kept records of each, and its file.
    pub(super) later: BTreeMap<usize, (u64, Option<String>)>,
}

impl Done {
    /// Adds an input whose kept records are written: their number, and the name of their file.
    pub(super) fn add(&mut self, input: usize, records: u64, name: Option<String>) {
        self.later.insert(input, (records, name));
        let written = &mut self.written;
        while let Some((records, name)) = self.later.remove(&written.inputs) {
            written.inputs += 1;
            written.records += records;
            written.names.extend(name);
        }
    }
}
