//! Which record of which file a document is, and its id.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::value::RawValue;

use super::jsonl::json_string;
use super::read::{Chunk, Fingerprint};
use super::report::{FirstRow, SkippedRecord};
use crate::error::{BadRecord, Error, Result};

/// Where each document of a run over files lies, by its row.
///
/// Rows ascend by file and record, so that a place costs no memory: only bad records, which have no row, are
/// listed.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// For each file its first row, its records and its fingerprint.
    pub(crate) files: Vec<SourceFile>,
    /// Bad records, in order.
    pub(crate) skipped: Vec<Skipped>,
    /// The documents' own ids; `None` if some document has none.
    pub(crate) ids: Option<Ids>,
    /// Files without a record.
    pub(crate) empty_files: Vec<usize>,
    /// Documents whose id another one has.
    pub(crate) repeated_ids: u64,
    /// All chunks, if they are few bytes and read again.
    pub(crate) held: Option<Vec<Arc<Chunk>>>,
}

/// A file of the input.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// Its name in reports.
    pub(crate) relative: String,
    pub(crate) first_row: u32,
    pub(crate) records: u64,
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// A bad record, with the number of its file.
#[derive(Clone, Debug)]
pub(crate) struct Skipped {
    pub(crate) file: usize,
    pub(crate) record: BadRecord,
}

/// Ids as JSON, back to back.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    json: String,
    ends: Vec<u64>,
}

impl Ids {
    /// Appends the id of the next document.
    pub(crate) fn push(&mut self, id: &str) {
        self.json.push_str(id);
        self.ends.push(self.json.len() as u64);
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "they are lengths of a string in memory"
    )]
    fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.json[start as usize..self.ends[row] as usize]
    }
}

impl Places {
    /// Number of records, bad ones included.
    pub(crate) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }

    /// The name of a document's file, and the number of its record there, from 0.
    pub(crate) fn place(&self, row: u32) -> (&str, u64) {
        let file = self.files.partition_point(|file| file.first_row <= row) - 1;
        // Files without documents share their first row with the next; the last one has it.
        let nth = u64::from(row - self.files[file].first_row);
        let skipped = self.skipped_in(file);
        // The i-th bad record has record.row - i good ones before it, and that never falls.
        let (mut before, mut end) = (0, skipped.len());
        while before < end {
            let middle = before.midpoint(end);
            if skipped[middle].record.row - middle as u64 <= nth {
                before = middle + 1;
            } else {
                end = middle;
            }
        }
        (&self.files[file].relative, nth + before as u64)
    }

    /// The bad records of a file.
    pub(crate) fn skipped_in(&self, file: usize) -> &[Skipped] {
        let start = self.skipped.partition_point(|skipped| skipped.file < file);
        let end = self.skipped.partition_point(|skipped| skipped.file <= file);
        &self.skipped[start..end]
    }

    /// A document's id as JSON: its own, or `file:row` if some document has none.
    pub(crate) fn id(&self, row: u32) -> Cow<'_, str> {
        match &self.ids {
            Some(ids) => ids.get(row as usize).into(),
            None => {
                let (file, record) = self.place(row);
                json_string(&format!("{file}:{record}")).into()
            }
        }
    }

    /// A document's id as a JSON value, to be written as it stands.
    pub(crate) fn raw_id(&self, row: u32) -> Box<RawValue> {
        let id = RawValue::from_string(self.id(row).into_owned());
        // Ids come from a parser of JSON, or are made by one.
        id.unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    /// Bytes that the ids take in memory.
    pub(crate) fn id_bytes(&self) -> u64 {
        let bytes = |ids: &Ids| ids.json.len() as u64 + 8 * ids.ends.len() as u64;
        self.ids.as_ref().map_or(0, bytes)
    }

    /// The files in order, with their first rows.
    pub(crate) fn first_rows(&self) -> Vec<FirstRow> {
        let first_row = |file: &SourceFile| FirstRow {
            file: file.relative.clone(),
            first_row: file.first_row,
        };
        self.files.iter().map(first_row).collect()
    }

    /// The names of the files without a record.
    pub(crate) fn empty_files(&self) -> Vec<String> {
        let name = |file: &usize| self.files[*file].relative.clone();
        self.empty_files.iter().map(name).collect()
    }

    /// The bad records, as reports list them.
    pub(crate) fn skipped_records(&self) -> Vec<SkippedRecord> {
        let listed = |skipped: &Skipped| SkippedRecord {
            file: self.files[skipped.file].relative.clone(),
            row: skipped.record.row,
            line: skipped.record.line,
            problem: skipped.record.problem.clone(),
        };
        self.skipped.iter().map(listed).collect()
    }

    /// Gives files without a record the first row of the next file.
    pub(crate) fn settle_first_rows(&mut self, rows: u32) {
        let mut next = rows;
        for file in self.files.iter_mut().rev() {
            if file.records == 0 {
                file.first_row = next;
            }
            next = file.first_row;
        }
    }

    /// Counts the documents whose id another one has, or refuses them if ids must be unique.
    pub(crate) fn settle_ids(&mut self, unique_ids: bool) -> Result<()> {
        let Some(ids) = &self.ids else {
            return Ok(());
        };
        let rows = u32::try_from(ids.ends.len()).unwrap_or(u32::MAX);
        let mut hashed: Vec<(u64, u32)> = (0..rows)
            .into_par_iter()
            .map(|row| {
                (
                    xxhash_rust::xxh3::xxh3_64(ids.get(row as usize).as_bytes()),
                    row,
                )
            })
            .collect();
        hashed.par_sort_unstable();
        let mut repeated = 0;
        let mut first_repeat: Option<(u32, u32)> = None;
        for run in hashed
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|run| run.len() > 1)
        {
            let mut rows: Vec<u32> = run.iter().map(|(_, row)| *row).collect();
            rows.sort_by_key(|row| (ids.get(*row as usize), *row));
            for same in rows.chunk_by(|a, b| ids.get(*a as usize) == ids.get(*b as usize)) {
                repeated += same.len() as u64 - 1;
                if same.len() > 1 && first_repeat.is_none_or(|(_, second)| same[1] < second) {
                    first_repeat = Some((same[0], same[1]));
                }
            }
        }
        match first_repeat {
            Some((first, second)) if unique_ids => {
                let place = |row| {
                    let (file, record) = self.place(row);
                    format!("{file}, row {record}")
                };
                Err(Error::RepeatedId {
                    id: ids.get(first as usize).to_owned(),
                    first: place(first),
                    second: place(second),
                })
            }
            _ => {
                self.repeated_ids = repeated;
                Ok(())
            }
        }
    }
}
