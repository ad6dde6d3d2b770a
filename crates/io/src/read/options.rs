//! Options of reading.

use std::path::Path;

use crate::fields::{FieldPath, Wanted};
use crate::longest::LongestRecord;

/// Bytes of chunks that may wait for earlier ones, by default.
const WAITING: usize = 16 << 20;

/// Options of reading.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Reading<'a> {
    #[doc(hidden)]
    pub wanted: Wanted<'a>,
    #[doc(hidden)]
    pub columns: Columns,
    /// Bytes of chunks that may wait for earlier ones, beside one chunk per thread.
    #[doc(hidden)]
    pub batch_bytes: usize,
    /// The folder for decompressed copies of Parquet and Arrow files; `None` is the system's.
    #[doc(hidden)]
    pub temporary: Option<&'a Path>,
    /// Fields that are read beside the wanted ones, if any.
    #[doc(hidden)]
    pub beside: [Option<&'a FieldPath>; 2],
    /// The most records to read from all files together, but for those of a reference.
    #[doc(hidden)]
    pub limit: Option<u64>,
    /// The number of first files that are a reference, and what is wanted of them. Its documents have no preference.
    #[doc(hidden)]
    pub reference: Option<(usize, Wanted<'a>)>,
    #[doc(hidden)]
    pub longest: LongestRecord,
}

impl<'a> Reading<'a> {
    /// Reads the wanted columns of all records, of any length that the memory of a run allows.
    #[doc(hidden)]
    pub fn new(wanted: Wanted<'a>) -> Self {
        Reading {
            wanted,
            columns: Columns::Needed,
            batch_bytes: WAITING,
            temporary: None,
            beside: [None; 2],
            limit: None,
            reference: None,
            longest: LongestRecord::within(None),
        }
    }

    pub(super) fn is_reference(&self, file: usize) -> bool {
        self.reference.is_some_and(|(files, _)| file < files)
    }

    pub(super) fn wanted_of(&self, file: usize) -> Wanted<'a> {
        let reference = self.reference.filter(|(files, _)| file < *files);
        reference.map_or(self.wanted, |(_, wanted)| wanted)
    }
}

/// The columns to read from tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Columns {
    /// Those that are wanted.
    Needed,
    All,
}
