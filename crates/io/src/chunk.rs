//! Chunks of files: their records are parsed by many threads, and copied when they are kept.

mod kept;

mod contents;

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use super::fields::{FieldPath, Fields};
use super::{columns, jsonl};
use contents::{ROWS, parse_rows, parse_text};
use simgpu::documents::DocumentBatch;

pub use contents::Record;
pub(super) use contents::on_line;
pub(crate) use contents::{Contents, RecordSpans};
pub use kept::Kept;
pub(super) use kept::{BETWEEN_ELEMENTS, end_line};

/// A part of a file.
#[derive(Debug)]
#[doc(hidden)]
pub struct Chunk {
    /// The number of the file among the inputs.
    #[doc(hidden)]
    pub file: usize,
    /// The number of the chunk in the file.
    #[doc(hidden)]
    pub number: u64,
    pub(crate) contents: Contents,
}

/// Target size of a chunk of lines, in bytes. One thread parses one chunk at a time.
pub(super) const CHUNK: usize = 1 << 20;

/// The rows of tables in memory, in chunks.
#[doc(hidden)]
pub fn chunks_of_rows(rows: &[RecordBatch]) -> impl Iterator<Item = Chunk> {
    let starts = |rows: &RecordBatch| (0..rows.num_rows()).step_by(ROWS);
    let slices = rows.iter().flat_map(move |rows| {
        starts(rows).map(|start| rows.slice(start, ROWS.min(rows.num_rows() - start)))
    });
    (0..).zip(slices).map(|(number, rows)| Chunk {
        file: 0,
        number,
        contents: Contents::Rows {
            rows,
            bytes: 0,
            group: 0,
        },
    })
}

impl Chunk {
    /// The size of the chunk in memory, in bytes.
    #[doc(hidden)]
    pub fn bytes(&self) -> usize {
        match &self.contents {
            Contents::Rows { bytes, .. } => *bytes,
            contents => contents.bytes().len(),
        }
    }

    /// How many chunks of the usual size have this size.
    #[doc(hidden)]
    pub fn weight(&self) -> usize {
        self.bytes().div_ceil(CHUNK)
    }

    /// Whether the chunk holds all bytes of its part of the file. Rows of a table may lack columns.
    #[doc(hidden)]
    pub fn is_whole(&self) -> bool {
        !matches!(self.contents, Contents::Rows { .. })
    }

    /// The number of records, good and bad.
    #[doc(hidden)]
    pub fn records(&self) -> u64 {
        self.contents.records() as u64
    }

    /// The number of the line of a record, in formats of lines.
    #[doc(hidden)]
    pub fn line(&self, record: usize) -> Option<u64> {
        let Contents::Lines {
            bytes,
            first_number,
        } = &self.contents
        else {
            return None;
        };
        let line = jsonl::lines(bytes, *first_number).nth(record);
        line.map(|line| line.number)
    }

    /// Parses the records whose number in the chunk `wanted` accepts, and returns them in order. Replaces
    /// `documents` with the documents of the good ones.
    #[doc(hidden)]
    pub fn parse(
        &self,
        fields: &Fields,
        wanted: impl Fn(u64) -> bool,
        documents: &mut DocumentBatch,
    ) -> Vec<Record> {
        // A text is at most as long as its record.
        documents.restart(self.bytes());
        match &self.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                let lines = (0..).zip(jsonl::lines(bytes, *first_number));
                let wanted = lines.filter(|(i, _)| wanted(*i));
                let parse = |(_, line): (u64, jsonl::Line<'_>)| {
                    let parsed = jsonl::parse(line.record, "line", fields, documents);
                    Record::from_id(parsed, Some(line.number))
                };
                wanted.map(parse).collect()
            }
            Contents::Records(records) => records.parse(fields, wanted, documents),
            Contents::Rows { rows, .. } => parse_rows(rows, fields, wanted, documents),
            Contents::Text(bytes) if wanted(0) => {
                vec![Record::from_id(parse_text(bytes, documents), None)]
            }
            Contents::Text(_) => Vec::new(),
        }
    }

    /// Parses all records, like [`Chunk::parse`]. A row of a table is a bad record, too, if its value in one of the `further`
    /// columns is a string that is not UTF-8.
    #[doc(hidden)]
    pub fn parse_with<'f>(
        &self,
        fields: &Fields,
        further: impl Iterator<Item = &'f FieldPath>,
        documents: &mut DocumentBatch,
    ) -> Vec<Record> {
        let Contents::Rows { rows, .. } = &self.contents else {
            return self.parse(fields, |_| true, documents);
        };
        let mut problems = BTreeMap::new();
        for path in further {
            problems.extend(columns::not_utf_8(rows, path));
        }
        let mut good = self
            .parse(fields, |row| !problems.contains_key(&row), documents)
            .into_iter();
        let records = (0..rows.num_rows() as u64).map(|row| match problems.remove(&row) {
            Some(problem) => Some(Record::Bad {
                line: None,
                problem,
            }),
            None => good.next(),
        });
        records.flatten().collect()
    }
}

#[cfg(test)]
mod tests;
