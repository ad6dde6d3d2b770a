//! The file, record number and id of each document.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::value::RawValue;

use super::chunk::Chunk;
use super::jsonl::json_string;
use super::read::Fingerprint;
use super::report::{FirstRow, MissingIds, SkippedRecord};
use crate::error::{BadRecord, Error, Result};

/// The file, record number and id of each document, by row.
///
/// Rows ascend by file and record. So only bad records, which have no row, need an entry.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The input files, in order.
    pub(crate) files: Vec<SourceFile>,
    /// The bad records, in order.
    pub(crate) skipped: Vec<Skipped>,
    /// The ids of the documents; `None` if a document has no id.
    pub(crate) ids: Option<Ids>,
    /// The documents without an id.
    pub(crate) without_id: Option<WithoutId>,
    /// The numbers of the files without records.
    pub(crate) empty_files: Vec<usize>,
    /// The number of documents that repeat an earlier id.
    pub(crate) repeated_ids: u64,
    /// All chunks, if they are held in memory for the second pass.
    pub(crate) held: Option<Vec<Arc<Chunk>>>,
}

/// An input file.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// The name in reports.
    pub(crate) relative: String,
    pub(crate) first_row: u32,
    pub(crate) records: u64,
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// A bad record and the number of its file.
#[derive(Clone, Debug)]
pub(crate) struct Skipped {
    pub(crate) file: usize,
    pub(crate) record: BadRecord,
}

/// The documents without an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithoutId {
    pub(crate) documents: u64,
    /// The first one.
    pub(crate) row: u32,
}

/// Ids as JSON, concatenated.
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
        reason = "the ends are lengths of a string in memory"
    )]
    pub(super) fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.json[start as usize..self.ends[row] as usize]
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory used.
    pub(super) fn bytes(&self) -> u64 {
        self.json.len() as u64 + 8 * self.ends.len() as u64
    }
}

impl Places {
    /// The number of records, including bad ones.
    pub(crate) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }

    /// The name of a document's file, and its record number in that file, from 0.
    pub(crate) fn place(&self, row: u32) -> (&str, u64) {
        let file = self.files.partition_point(|file| file.first_row <= row) - 1;
        // Files without documents share their first row with the next file. The last of these files holds the row.
        let nth = u64::from(row - self.files[file].first_row);
        let skipped = self.skipped_in(file);
        // The i-th bad record follows record.row - i good ones. These numbers ascend, so search by bisection.
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

    /// The id of a document as JSON; `file:row` if any document has no id.
    pub(crate) fn id(&self, row: u32) -> Cow<'_, str> {
        match &self.ids {
            Some(ids) => ids.get(row as usize).into(),
            None => {
                let (file, record) = self.place(row);
                json_string(&format!("{file}:{record}")).into()
            }
        }
    }

    /// The id of a document as a JSON value.
    pub(crate) fn raw_id(&self, row: u32) -> Box<RawValue> {
        let id = RawValue::from_string(self.id(row).into_owned());
        // Ids come from a JSON parser or serializer, so they are valid.
        id.unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    /// Bytes of memory used by ids and by held chunks.
    pub(crate) fn held_bytes(&self) -> u64 {
        let chunks = self.held.iter().flatten();
        let held: usize = chunks.map(|chunk| chunk.bytes()).sum();
        held as u64 + self.ids.as_ref().map_or(0, Ids::bytes)
    }

    /// The first row of each file, in order.
    pub(crate) fn first_rows(&self) -> Vec<FirstRow> {
        let first_row = |file: &SourceFile| FirstRow {
            file: file.relative.clone(),
            first_row: file.first_row,
        };
        self.files.iter().map(first_row).collect()
    }

    /// The documents without an id, if some among `documents` have one.
    pub(crate) fn missing_ids(&self, documents: u64) -> Option<MissingIds> {
        let without_id = self.without_id?;
        (without_id.documents < documents).then(|| {
            let (file, row) = self.place(without_id.row);
            MissingIds {
                documents: without_id.documents,
                file: file.to_owned(),
                row,
            }
        })
    }

    /// The names of the files without records.
    pub(crate) fn empty_files(&self) -> Vec<String> {
        let name = |file: &usize| self.files[*file].relative.clone();
        self.empty_files.iter().map(name).collect()
    }

    /// The bad records, for the report.
    pub(crate) fn skipped_records(&self) -> Vec<SkippedRecord> {
        let listed = |skipped: &Skipped| SkippedRecord {
            file: self.files[skipped.file].relative.clone(),
            row: skipped.record.row,
            line: skipped.record.line,
            problem: skipped.record.problem.clone(),
        };
        self.skipped.iter().map(listed).collect()
    }

    /// Sets the first row of files without records to that of the next file.
    pub(crate) fn fill_first_rows(&mut self, rows: u32) {
        let mut next = rows;
        for file in self.files.iter_mut().rev() {
            if file.records == 0 {
                file.first_row = next;
            }
            next = file.first_row;
        }
    }

    /// Counts the documents that repeat an earlier id, or refuses them if ids must be unique.
    pub(crate) fn count_repeated_ids(&mut self, unique_ids: bool) -> Result<()> {
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
