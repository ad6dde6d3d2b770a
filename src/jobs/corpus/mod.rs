//! What is known of all documents between the two passes over them.

mod first_pass;

mod second_pass;

mod signed;

pub(crate) use first_pass::{Banded, SignatureSink};
pub(crate) use second_pass::Again;
pub use signed::SignatureFile;

use std::sync::Arc;

use rayon::prelude::*;
use serde_json::value::RawValue;

use crate::error::{BadRecord, Error, Result};
use crate::io::{Chunk, Fields, Fingerprint, Inputs, OnBadRecord, json_string};
use crate::pipeline::Shingler;
use crate::pipeline::Signer;
use crate::progress::Progress;

/// Where documents come from and how they are signed.
#[allow(missing_debug_implementations, reason = "a signer has nothing to show")]
pub struct Source<'a> {
    /// The files.
    pub inputs: &'a Inputs,
    /// Where a record holds text and id.
    pub fields: &'a Fields,
    /// What happens to a record that cannot be read.
    pub on_bad_record: OnBadRecord,
    /// Whether two documents with one id are an error.
    pub unique_ids: bool,
    /// Bytes of text that are worked on at a time.
    pub batch_bytes: usize,
    /// How documents become sets.
    pub shingler: &'a Shingler,
    /// What signs them.
    pub signer: &'a dyn Signer,
    /// Who is told how far it has come.
    pub progress: &'a dyn Progress,
}

/// What is kept of the documents: where each one lies, its id, which ones are identical.
///
/// A document is known by its row, its number among all documents. The distinct documents that have
/// shingles are known by their position among those, too: signatures and band keys exist for them
/// alone.
#[derive(Debug, Default)]
pub struct Corpus {
    /// For each file its first row, its records and by what it is known again.
    files: Vec<SourceFile>,
    rows: u32,
    /// Bad records, in order.
    pub(crate) skipped: Vec<Skipped>,
    ids: Option<Ids>,
    /// Files without a record.
    pub(crate) empty_files: Vec<usize>,
    /// Documents whose id another one has.
    pub(crate) repeated_ids: u64,
    /// The row of each position, ascending.
    distinct: Vec<u32>,
    /// The row of each further document with the units of another, ascending, and the other's position.
    repeats: Vec<(u32, u32)>,
    /// Rows without a shingle, ascending.
    pub(crate) without_shingles: Vec<u32>,
    /// Bytes of the text of each row.
    lengths: Vec<u32>,
    /// Decompressed bytes of all files.
    pub(crate) bytes: u64,
    /// All files, if they are few bytes and wanted again.
    held: Option<Vec<Arc<Chunk>>>,
}

#[derive(Clone, Debug)]
struct SourceFile {
    /// As it is named in reports.
    relative: String,
    first_row: u32,
    records: u64,
    fingerprint: Option<Fingerprint>,
}

/// A bad record, with the number of its file.
#[derive(Clone, Debug)]
pub(crate) struct Skipped {
    pub(crate) file: usize,
    pub(crate) record: BadRecord,
}

/// Ids as JSON, back to back.
#[derive(Debug, Default)]
struct Ids {
    json: String,
    ends: Vec<u64>,
}

impl Ids {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "they are lengths of a string in memory"
    )]
    fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.json[start as usize..self.ends[row] as usize]
    }
}

impl Corpus {
    /// Number of documents.
    pub fn documents(&self) -> u64 {
        u64::from(self.rows)
    }

    /// Number of records, bad ones included.
    pub(crate) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }

    /// Number of distinct documents that have shingles.
    pub(crate) fn positions(&self) -> usize {
        self.distinct.len()
    }

    /// The row of each position, ascending.
    pub(crate) fn distinct(&self) -> &[u32] {
        &self.distinct
    }

    /// Rows of further documents with the units of the one at a position, ascending by row.
    pub(crate) fn repeats(&self) -> &[(u32, u32)] {
        &self.repeats
    }

    /// Bytes of the text of a document.
    pub(crate) fn length(&self, row: u32) -> u32 {
        self.lengths[row as usize]
    }

    /// The name of a document's file, relative to the inputs' common parent, and the number of its
    /// record there, from 0.
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

    fn skipped_in(&self, file: usize) -> &[Skipped] {
        let start = self.skipped.partition_point(|skipped| skipped.file < file);
        let end = self.skipped.partition_point(|skipped| skipped.file <= file);
        &self.skipped[start..end]
    }

    /// A document's id as JSON: its own, or `file:row` if some document has none.
    pub(crate) fn id(&self, row: u32) -> std::borrow::Cow<'_, str> {
        match &self.ids {
            Some(ids) => ids.get(row as usize).into(),
            None => {
                let (file, record) = self.place(row);
                json_string(&format!("{file}:{record}")).into()
            }
        }
    }

    /// A document's id as a JSON value, to be written as it stands.
    pub(crate) fn raw_id(&self, row: u32) -> Result<Box<RawValue>> {
        let id = RawValue::from_string(self.id(row).into_owned());
        id.map_err(|error| Error::Conflict(error.to_string()))
    }

    /// Bytes that the ids take.
    pub(crate) fn id_bytes(&self) -> u64 {
        let bytes = |ids: &Ids| ids.json.len() as u64 + 8 * self.documents();
        self.ids.as_ref().map_or(0, bytes)
    }

    /// The files in order: name, first row.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, u32)> {
        let files = self.files.iter();
        files.map(|file| (file.relative.as_str(), file.first_row))
    }

    /// Counts repeated ids, or refuses them.
    fn settle_ids(&mut self, source: &Source<'_>) -> Result<()> {
        let Some(ids) = &self.ids else {
            return Ok(());
        };
        let mut hashed: Vec<(u64, u32)> = (0..self.rows)
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
        self.repeated_ids = repeated;
        match first_repeat {
            Some((first, second)) if source.unique_ids => {
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
            _ => Ok(()),
        }
    }
}
