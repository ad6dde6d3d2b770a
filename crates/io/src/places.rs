//! The file, record number and id of each document.

mod ids;

mod reports;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chunk::{Chunk, Record};
use super::delimiters::OtherDelimiter;
use super::fields::{OnBadRecord, for_reference};
use super::ids::{DocumentIds, Id};
use super::not_read::NotRead;
use super::read::{Fingerprint, Position};
use simgpu::error::{BadRecord, Error, Result};

pub use ids::raw_json;

/// The file, record number and id of each document, by row.
///
/// Rows ascend by file and record. So only bad records, which have no row, need an entry.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Places {
    /// The input files, in order: first those of a reference.
    #[doc(hidden)]
    pub files: Vec<SourceFile>,
    /// The number of files of a reference.
    #[doc(hidden)]
    pub reference_files: usize,
    /// What is known of the documents of indexes, which are the first files of the reference.
    #[doc(hidden)]
    pub indexes: Vec<IndexPlaces>,
    /// The bad records, in order.
    #[doc(hidden)]
    pub skipped: Vec<Skipped>,
    /// The ids of the documents; `None` if a document has no id.
    #[doc(hidden)]
    pub ids: Option<DocumentIds>,
    /// The documents without an id.
    #[doc(hidden)]
    pub without_id: Option<WithoutId>,
    /// The numbers of the files without records.
    #[doc(hidden)]
    pub empty_files: Vec<usize>,
    /// The number of documents that repeat an earlier id.
    #[doc(hidden)]
    pub repeated_ids: u64,
    /// What the names of the inputs lead to and is not read.
    #[doc(hidden)]
    pub not_read: NotRead,
    /// The files that are read with another delimiter than the stated one.
    #[doc(hidden)]
    pub other_delimiters: Vec<OtherDelimiter>,
    /// All chunks, if they are held in memory for the second pass.
    #[doc(hidden)]
    pub held: Option<Vec<Arc<Chunk>>>,
}

/// An input file.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct SourceFile {
    /// The name in reports.
    #[doc(hidden)]
    pub relative: String,
    #[doc(hidden)]
    pub first_row: u32,
    #[doc(hidden)]
    pub records: u64,
    #[doc(hidden)]
    pub fingerprint: Option<Fingerprint>,
}

/// Documents of an index, in order.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct IndexPlaces {
    #[doc(hidden)]
    pub rows: Range<u32>,
    /// Their numbers in the index.
    #[doc(hidden)]
    pub numbers: Vec<u32>,
    /// Their ids, as JSON.
    #[doc(hidden)]
    pub ids: Vec<Box<str>>,
}

/// A bad record and the number of its file.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Skipped {
    #[doc(hidden)]
    pub file: usize,
    #[doc(hidden)]
    pub record: BadRecord,
}

/// The documents without an id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[doc(hidden)]
pub struct WithoutId {
    pub(crate) documents: u64,
    /// The first one.
    pub(crate) row: u32,
    /// The first one that has a value for its id which identifies nothing, and what that is.
    pub(crate) unusable: Option<(u32, String)>,
}

impl Places {
    /// Notes the next record of a file, whose name in errors is `named`: its id, or that it has none, or what is wrong with it.
    /// A good record gets this row. Returns what is noted of a bad one.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for a bad record, unless those are skipped.
    #[doc(hidden)]
    pub fn note(
        &mut self,
        file: usize,
        named: &Path,
        record: Record,
        row: u32,
        on_bad_record: OnBadRecord,
    ) -> Result<Option<&Skipped>> {
        let entry = &mut self.files[file];
        let number = entry.records;
        entry.records += 1;
        match record {
            Record::Document(Id::Json(id)) => {
                if let Some(ids) = &mut self.ids {
                    ids.push(&id)?;
                }
            }
            Record::Document(without) => {
                self.ids = None;
                let known = self.without_id.get_or_insert(WithoutId {
                    documents: 0,
                    row,
                    unusable: None,
                });
                known.documents += 1;
                if let Id::Unusable(what) = without {
                    known.unusable.get_or_insert((row, what));
                }
            }
            Record::Bad { line, problem } => {
                let record = BadRecord {
                    file: named.to_owned(),
                    row: number,
                    line,
                    problem: if file < self.reference_files {
                        for_reference(&problem)
                    } else {
                        problem
                    },
                };
                if on_bad_record == OnBadRecord::Fail {
                    return Err(Error::BadRecord(record));
                }
                self.skipped.push(Skipped { file, record });
                return Ok(self.skipped.last());
            }
        }
        Ok(None)
    }

    /// The number of records, including bad ones, without those of a reference.
    #[doc(hidden)]
    pub fn records(&self) -> u64 {
        let inputs = &self.files[self.reference_files..];
        inputs.iter().map(|file| file.records).sum()
    }

    /// The row of the first document that is not of a reference.
    #[doc(hidden)]
    pub fn first_input(&self) -> u32 {
        let first = self.files.get(self.reference_files);
        first
            .filter(|_| self.reference_files > 0)
            .map_or(0, |file| file.first_row)
    }

    /// The row of the first document that is not of an index.
    #[doc(hidden)]
    pub fn first_of_files(&self) -> u32 {
        self.indexes.last().map_or(0, |index| index.rows.end)
    }

    /// Whether a document is one of an index.
    #[doc(hidden)]
    pub fn is_in_index(&self, row: u32) -> bool {
        row < self.first_of_files()
    }

    /// Where a kept document is: `input`, `reference` or `index`; `None` in a run without a reference.
    #[doc(hidden)]
    pub fn kept_in(&self, row: u32) -> Option<&'static str> {
        (self.reference_files > 0).then_some(match row {
            row if self.is_in_index(row) => "index",
            row if row < self.first_input() => "reference",
            _ => "input",
        })
    }

    /// The name of a document's file, and its record number in that file, from 0. Of an index: the folder, and the number of
    /// the document in it, by the order in which they were added.
    #[doc(hidden)]
    pub fn place(&self, row: u32) -> (&str, u64) {
        let file = self.file_of(row);
        if let Some((_, number)) = self.in_index(row) {
            return (&self.files[file].relative, number.into());
        }
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

    /// The id of a document of an index, as JSON, and its number there; `None` if it is of a file.
    fn in_index(&self, row: u32) -> Option<(&str, u32)> {
        let mut indexes = self.indexes.iter();
        let index = indexes.find(|index| index.rows.contains(&row))?;
        let nth = (row - index.rows.start) as usize;
        Some((index.ids.get(nth)?, *index.numbers.get(nth)?))
    }

    /// The number of a document's file among the inputs.
    #[doc(hidden)]
    pub fn file_of(&self, row: u32) -> usize {
        // Files without documents share their first row with the next file. The last of these files holds the row.
        self.files.partition_point(|file| file.first_row <= row) - 1
    }

    /// The number of documents of each file, without bad records.
    #[doc(hidden)]
    pub fn documents_of_files(&self) -> Vec<u64> {
        let bad = |file| self.skipped_in(file).len() as u64;
        let files = self.files.iter().enumerate();
        files
            .map(|(number, file)| file.records - bad(number))
            .collect()
    }

    /// The place before the first chunk of a file.
    #[doc(hidden)]
    pub fn start_of_file(&self, file: usize) -> Position {
        Position {
            file,
            chunk: 0,
            records: self.records_before(file),
        }
    }

    /// The number of records in the files before one, but for those of a reference.
    pub(crate) fn records_before(&self, file: usize) -> u64 {
        let before = self.files.iter().take(file).skip(self.reference_files);
        before.map(|file| file.records).sum()
    }

    /// The bad records of a file.
    #[doc(hidden)]
    pub fn skipped_in(&self, file: usize) -> &[Skipped] {
        let start = self.skipped.partition_point(|skipped| skipped.file < file);
        let end = self.skipped.partition_point(|skipped| skipped.file <= file);
        &self.skipped[start..end]
    }

    /// Bytes of memory used by ids and by held chunks.
    #[doc(hidden)]
    pub fn held_bytes(&self) -> u64 {
        let chunks = self.held.iter().flatten();
        let held: usize = chunks.map(|chunk| chunk.bytes()).sum();
        held as u64 + self.ids.as_ref().map_or(0, DocumentIds::bytes)
    }

    /// The row of the document at a record of a file; `None` if there is no such record, or if it is a bad one.
    #[doc(hidden)]
    pub fn row_of(&self, file: usize, record: u64) -> Option<u32> {
        let entry = self.files.get(file)?;
        let skipped = self.skipped_in(file);
        let before = skipped.partition_point(|skipped| skipped.record.row < record);
        let is_bad = |skipped: &Skipped| skipped.record.row == record;
        if record >= entry.records || skipped.get(before).is_some_and(is_bad) {
            return None;
        }
        let nth = u32::try_from(record - before as u64).ok()?;
        entry.first_row.checked_add(nth)
    }

    /// Sets the first row of files without records to that of the next file.
    #[doc(hidden)]
    pub fn fill_first_rows(&mut self, rows: u32) {
        let mut next = rows;
        for file in self.files.iter_mut().rev() {
            if file.records == 0 {
                file.first_row = next;
            }
            next = file.first_row;
        }
    }
}

#[cfg(test)]
mod tests;
