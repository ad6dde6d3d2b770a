//! The contents of a chunk, by format, and its records.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::absent_field::element_problem;
use crate::columns;
use crate::csv::Header;
use crate::encoding::looks_like;
use crate::fields::{FieldPath, Fields};
use crate::format::{BYTE_ORDER_MARK, other_encoding};
use crate::ids::Id;
use crate::jsonl::{self, newlines};
use simgpu::documents::DocumentBatch;
use simgpu_base::encoding::other_unicode;

/// Rows of a table in memory that a thread parses at a time.
pub(super) const ROWS: usize = 1 << 16;

/// The contents of a chunk.
#[derive(Debug)]
pub(crate) enum Contents {
    /// Whole lines.
    Lines { bytes: Vec<u8>, first_number: u64 },
    /// Whole records of a CSV file or of a JSON array.
    Records(RecordSpans),
    /// Rows of a table, their bytes of memory, and the number of the row group or record batch that they are of.
    Rows {
        rows: RecordBatch,
        bytes: usize,
        group: usize,
    },
    /// A text file, which is one document.
    Text(Vec<u8>),
}

impl Contents {
    /// The bytes as the file has them; none of a table.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Contents::Lines { bytes, .. } | Contents::Text(bytes) => bytes,
            Contents::Records(records) => &records.bytes,
            Contents::Rows { .. } => &[],
        }
    }

    /// The number of records, good and bad.
    pub(crate) fn records(&self) -> usize {
        match self {
            Contents::Lines {
                bytes,
                first_number,
            } => jsonl::lines(bytes, *first_number).count(),
            Contents::Records(records) => records.spans.len(),
            Contents::Rows { rows, .. } => rows.num_rows(),
            Contents::Text(_) => 1,
        }
    }

    /// The first records. A text is one record, so it stays whole.
    pub(crate) fn first(self, records: usize) -> Self {
        match self {
            Contents::Lines {
                mut bytes,
                first_number,
            } => {
                let next = jsonl::lines(&bytes, first_number).nth(records);
                let end = next.map(|line| line.whole.as_ptr().addr() - bytes.as_ptr().addr());
                bytes.truncate(end.unwrap_or(bytes.len()));
                Contents::Lines {
                    bytes,
                    first_number,
                }
            }
            Contents::Records(mut chunk) => {
                chunk.spans.truncate(records);
                Contents::Records(chunk)
            }
            Contents::Rows { rows, bytes, group } => Contents::Rows {
                rows: rows.slice(0, records.min(rows.num_rows())),
                bytes,
                group,
            },
            text @ Contents::Text(_) => text,
        }
    }
}

/// Records at known places.
#[derive(Debug)]
pub(crate) struct RecordSpans {
    pub(crate) bytes: Vec<u8>,
    /// Where each record is in `bytes`.
    pub(crate) spans: Vec<Range<usize>>,
    /// The number of the first line, from 1.
    pub(crate) first_line: u64,
    /// The header of a CSV file; `None` for a JSON array.
    pub(crate) header: Option<Arc<Header>>,
}

/// A parsed record.
#[derive(Debug)]
#[doc(hidden)]
pub enum Record {
    /// A good record, with its id.
    Document(Id),
    /// A bad record, with its line number in formats of lines.
    Bad { line: Option<u64>, problem: String },
}

impl Record {
    pub(super) fn from_id(parsed: Result<Id, String>, line: Option<u64>) -> Self {
        match parsed {
            Ok(id) => Record::Document(id),
            Err(problem) => Record::Bad { line, problem },
        }
    }
}

impl RecordSpans {
    /// The text of one field of each record, with the record's number in the chunk; `None` if it is absent. An error
    /// has the line of its record.
    pub(crate) fn texts_of_field(
        &self,
        field: &FieldPath,
    ) -> impl Iterator<Item = (usize, Result<Option<String>, (u64, String)>)> {
        let mut parser = self.header.as_ref().map(|header| header.parser());
        self.spans.iter().enumerate().map(move |(i, span)| {
            let record = &self.bytes[span.clone()];
            let text = match (&self.header, &mut parser) {
                (Some(header), Some(parser)) => header.text_of_field(record, field, parser),
                _ => jsonl::text_of_field(record, field),
            };
            let line = || self.first_line + newlines(&self.bytes[..span.start]);
            (i, text.map_err(|problem| (line(), problem)))
        })
    }

    pub(super) fn parse(
        &self,
        fields: &Fields,
        wanted: impl Fn(u64) -> bool,
        documents: &mut DocumentBatch,
    ) -> Vec<Record> {
        let mut parser = self.header.as_ref().map(|header| header.parser());
        let (mut line, mut counted) = (self.first_line, 0);
        let mut records = Vec::new();
        for (i, span) in (0..).zip(&self.spans) {
            if !wanted(i) {
                continue;
            }
            let record = &self.bytes[span.clone()];
            let parsed = match (&self.header, &mut parser) {
                (Some(header), Some(parser)) => header.parse(record, fields, parser, documents),
                _ => jsonl::parse(record, "element", fields, documents)
                    .map_err(|problem| element_problem(&problem)),
            };
            let parsed = parsed.map_err(|problem| {
                line += newlines(&self.bytes[counted..span.start]);
                counted = span.start;
                on_line(problem, line)
            });
            records.push(Record::from_id(parsed, Some(line)));
        }
        records
    }
}

/// What is wrong with a record that starts on `line`: a line that it names counts from that one.
pub(crate) fn on_line(problem: String, line: u64) -> String {
    let place = problem.rsplit_once(" at line ");
    let moved = place.and_then(|(before, place)| {
        let (number, column) = place.split_once(" column ")?;
        let number = line + number.parse::<u64>().ok()?.checked_sub(1)?;
        Some(format!("{before} at line {number} column {column}"))
    });
    moved.unwrap_or(problem)
}

pub(super) fn parse_rows(
    rows: &RecordBatch,
    fields: &Fields,
    wanted: impl Fn(u64) -> bool,
    documents: &mut DocumentBatch,
) -> Vec<Record> {
    let is_wanted: Vec<bool> = (0..rows.num_rows() as u64).map(wanted).collect();
    columns::parse(rows, fields, &is_wanted, documents)
        .into_iter()
        .map(|parsed| Record::from_id(parsed, None))
        .collect()
}

pub(super) fn parse_text(bytes: &[u8], documents: &mut DocumentBatch) -> Result<Id, String> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match (std::str::from_utf8(bytes), documents) {
        (Ok(text), DocumentBatch::Texts(texts)) => {
            texts.push(text);
            Ok(Id::None)
        }
        (Ok(_), DocumentBatch::Tokens(_) | DocumentBatch::Weighted(_)) => {
            Err("a text file holds no tokens".to_owned())
        }
        (Err(error), _) => Err(match other_encoding(bytes) {
            Some(encoding) => other_unicode("the text", encoding),
            None => format!(
                "invalid UTF-8 at byte {}{}",
                error.valid_up_to(),
                looks_like(bytes)
            ),
        }),
    }
}
