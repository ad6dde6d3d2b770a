//! Chunks of files: their records are parsed by many threads, and copied when they are kept.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;

use super::absent_field::of_element;
use super::csv::Header;
use super::fields::{FieldPath, Fields};
use super::format::{BYTE_ORDER_MARK, other_encoding};
use super::ids::Id;
use super::jsonl::newlines;
use super::{columns, jsonl};
use simgpu::documents::DocumentBatch;
use simgpu_base::encoding::{looks_like, other_unicode};

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

/// Rows of a table in memory that a thread parses at a time.
const ROWS: usize = 1 << 16;

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
    fn bytes(&self) -> &[u8] {
        match self {
            Contents::Lines { bytes, .. } | Contents::Text(bytes) => bytes,
            Contents::Records(records) => &records.bytes,
            Contents::Rows { .. } => &[],
        }
    }

    /// The number of records, good and bad.
    pub(super) fn records(&self) -> usize {
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
    pub(super) fn first(self, records: usize) -> Self {
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
            Contents::Records(mut of_chunk) => {
                of_chunk.spans.truncate(records);
                Contents::Records(of_chunk)
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
    pub(super) bytes: Vec<u8>,
    /// Where each record is in `bytes`.
    pub(super) spans: Vec<Range<usize>>,
    /// The number of the first line, from 1.
    pub(super) first_line: u64,
    /// The header of a CSV file; `None` for a JSON array.
    pub(super) header: Option<Arc<Header>>,
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
    fn from_id(parsed: Result<Id, String>, line: Option<u64>) -> Self {
        match parsed {
            Ok(id) => Record::Document(id),
            Err(problem) => Record::Bad { line, problem },
        }
    }
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

    /// Copies the records that `keeps` marks, byte for byte. It has one entry per record. Lines and records of CSV end
    /// with a newline.
    ///
    /// # Errors
    /// Why rows cannot be copied.
    #[doc(hidden)]
    pub fn kept(self: &Arc<Self>, keeps: Vec<bool>) -> Result<Kept, ArrowError> {
        Ok(match &self.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                let lines = keeps.into_iter().zip(jsonl::lines(bytes, *first_number));
                let kept = lines.filter(|(keeps, _)| *keeps);
                let spans = runs(bytes, kept.map(|(_, line)| line.whole));
                let kept_bytes: usize = spans.iter().map(Range::len).sum();
                let is_ended = |last: &Range<usize>| ends_line(&bytes[last.clone()]);
                if spans.last().is_none_or(is_ended) && 2 * kept_bytes >= bytes.len() {
                    Kept::Lent(Arc::clone(self), spans)
                } else {
                    let lines = spans.into_iter().map(|span| &bytes[span]);
                    Kept::Lines(self.joined(lines, None))
                }
            }
            Contents::Records(RecordSpans {
                bytes,
                spans,
                header,
                ..
            }) => {
                let kept = keeps.into_iter().zip(spans).filter(|(keeps, _)| *keeps);
                let kept = kept.map(|(_, span)| &bytes[span.clone()]);
                match header {
                    Some(header) => Kept::Csv(self.joined(kept, None), Arc::clone(header)),
                    None => Kept::Elements(self.joined(kept, Some(BETWEEN_ELEMENTS))),
                }
            }
            Contents::Rows { rows, group, .. } => {
                Kept::Rows(filter_record_batch(rows, &keeps.into())?, *group)
            }
            Contents::Text(bytes) => Kept::Text(match keeps.first() {
                Some(true) => bytes.clone(),
                _ => Vec::new(),
            }),
        })
    }

    /// Joins records by a separator; `None` ends each with a newline, if it has none.
    fn joined<'a>(
        &self,
        records: impl Iterator<Item = &'a [u8]>,
        separator: Option<&[u8]>,
    ) -> Vec<u8> {
        let mut joined = Vec::new();
        for record in records {
            match separator {
                _ if joined.capacity() == 0 => joined.reserve_exact(self.bytes() + 1),
                Some(separator) => joined.extend_from_slice(separator),
                None => {}
            }
            joined.extend_from_slice(record);
            if separator.is_none() {
                end_line(&mut joined);
            }
        }
        joined
    }
}

/// Where parts of `bytes` are that follow each other in it. Those without bytes between them are one.
fn runs<'a>(bytes: &[u8], parts: impl Iterator<Item = &'a [u8]>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for part in parts {
        let start = part.as_ptr().addr() - bytes.as_ptr().addr();
        let end = start + part.len();
        match runs.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => runs.push(start..end),
        }
    }
    runs
}

fn ends_line(bytes: &[u8]) -> bool {
    matches!(bytes.last(), Some(b'\n' | b'\r'))
}

/// Ends the last line with a newline, if it has none.
pub(super) fn end_line(bytes: &mut Vec<u8>) {
    if !ends_line(bytes) {
        bytes.push(b'\n');
    }
}

/// The bytes between two elements of a kept JSON array.
pub(super) const BETWEEN_ELEMENTS: &[u8] = b",\n";

/// The kept records of a chunk.
#[doc(hidden)]
#[derive(Debug)]
pub enum Kept {
    /// Most lines of a chunk, where they are in it.
    Lent(Arc<Chunk>, Vec<Range<usize>>),
    Lines(Vec<u8>),
    Csv(Vec<u8>, Arc<Header>),
    /// Elements of a JSON array.
    Elements(Vec<u8>),
    Text(Vec<u8>),
    /// Rows, and the number of their row group or record batch in the input.
    Rows(RecordBatch, usize),
}

impl Kept {
    /// The bytes, one part after the other; none for rows.
    #[doc(hidden)]
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let (copied, lent) = match self {
            Kept::Lent(chunk, spans) => (None, Some((chunk, spans))),
            Kept::Lines(bytes)
            | Kept::Csv(bytes, _)
            | Kept::Elements(bytes)
            | Kept::Text(bytes) => (Some(&**bytes), None),
            Kept::Rows(..) => (None, None),
        };
        let lent = lent.into_iter().flat_map(|(chunk, spans)| {
            let bytes = chunk.contents.bytes();
            spans.iter().map(move |span| &bytes[span.clone()])
        });
        copied.into_iter().chain(lent)
    }

    /// Bytes of memory used.
    #[doc(hidden)]
    pub fn size(&self) -> usize {
        match self {
            Kept::Lent(chunk, _) => chunk.bytes(),
            Kept::Rows(rows, _) => rows.get_array_memory_size(),
            copied => copied.parts().map(<[u8]>::len).sum(),
        }
    }

    /// The bytes before the first kept record of a file, between those of two chunks, and after the last one.
    pub(crate) fn around(&self) -> [&[u8]; 3] {
        match self {
            Kept::Elements(_) => [b"[\n", BETWEEN_ELEMENTS, b"\n]\n"],
            Kept::Csv(_, header) => [&header.bytes, b"", b""],
            Kept::Lent(..) | Kept::Lines(_) | Kept::Text(_) | Kept::Rows(..) => [b"", b"", b""],
        }
    }
}

impl RecordSpans {
    /// The text of one field of each record, with the record's number in the chunk; `None` if it is absent. An error
    /// has the line of its record.
    pub(super) fn texts_of_field(
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

    fn parse(
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
                    .map_err(|problem| of_element(&problem)),
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
pub(super) fn on_line(problem: String, line: u64) -> String {
    let place = problem.rsplit_once(" at line ");
    let moved = place.and_then(|(before, place)| {
        let (number, column) = place.split_once(" column ")?;
        let number = line + number.parse::<u64>().ok()?.checked_sub(1)?;
        Some(format!("{before} at line {number} column {column}"))
    });
    moved.unwrap_or(problem)
}

fn parse_rows(
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

fn parse_text(bytes: &[u8], documents: &mut DocumentBatch) -> Result<Id, String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::documents::Documents;

    fn chunk(contents: Contents) -> Chunk {
        Chunk {
            file: 0,
            number: 0,
            contents,
        }
    }

    fn lines(text: &str, first_number: u64) -> Contents {
        Contents::Lines {
            bytes: text.as_bytes().to_vec(),
            first_number,
        }
    }

    /// The elements of a JSON array, one per line from this line on.
    fn elements(texts: &[&str], first_line: u64) -> Contents {
        let mut bytes = Vec::new();
        let mut spans = Vec::new();
        for text in texts {
            let start = bytes.len();
            bytes.extend_from_slice(text.as_bytes());
            spans.push(start..bytes.len());
            bytes.extend_from_slice(b",\n");
        }
        Contents::Records(RecordSpans {
            bytes,
            spans,
            first_line,
            header: None,
        })
    }

    const LINES: &str = "{\"text\": \"a\", \"id\": 1}\n\n{\"id\": 2}\n{\"text\": \"c\"}";

    #[test]
    fn the_first_records_are_left() {
        for (records, expected) in [
            (0, ""),
            (1, "{\"text\": \"a\", \"id\": 1}\n\n"),
            (3, LINES),
            (9, LINES),
        ] {
            let Contents::Lines { bytes, .. } = lines(LINES, 1).first(records) else {
                panic!("no lines");
            };
            assert_eq!(
                String::from_utf8(bytes).unwrap().trim_end(),
                expected.trim_end()
            );
            assert_eq!(lines(LINES, 1).first(records).records(), records.min(3));
            let of_array = elements(&["1", "2", "3"], 1).first(records);
            assert_eq!(of_array.records(), records.min(3));
        }
    }

    #[test]
    fn records_are_good_or_bad_by_line() {
        let fields = Fields::default();
        let mut documents = fields.empty_batch();
        let of = |contents, documents: &mut DocumentBatch, wanted: &dyn Fn(u64) -> bool| {
            let records = chunk(contents).parse(&fields, wanted, documents);
            let shown = records.into_iter().map(|record| match record {
                Record::Document(Id::Json(id)) => id,
                Record::Document(other) => format!("{other:?}"),
                Record::Bad { line, problem } => format!("{line:?} {}", problem.len() > 5),
            });
            shown.collect::<Vec<_>>()
        };
        let all = of(lines(LINES, 7), &mut documents, &|_| true);
        assert_eq!(all, ["1", "Some(9) true", "None"]);
        assert_eq!(documents.len(), 2);
        assert_eq!(of(lines(LINES, 7), &mut documents, &|i| i == 2), ["None"]);
        assert_eq!(Documents::len(&documents), 1);
        let array = || elements(&["{\"text\": \"a\"}", "{\n}", "{\"text\": 5}"], 3);
        let all = of(array(), &mut documents, &|_| true);
        assert_eq!(all, ["None", "Some(4) true", "Some(6) true"]);
    }

    #[test]
    fn kept_records_are_whole() {
        let kept = |contents, keeps: &[bool]| {
            let kept = Arc::new(chunk(contents)).kept(keeps.to_vec()).unwrap();
            let parts: Vec<&[u8]> = kept.parts().collect();
            String::from_utf8(parts.concat()).unwrap()
        };
        // The last line gets its newline.
        assert_eq!(
            kept(lines(LINES, 1), &[false, false, true]),
            "{\"text\": \"c\"}\n"
        );
        let first = "{\"text\": \"a\", \"id\": 1}\n";
        assert_eq!(kept(lines(LINES, 1), &[true, false, false]), first);
        let array = || elements(&["1", "[2,\n3]", "4"], 1);
        assert_eq!(kept(array(), &[true, true, false]), "1,\n[2,\n3]");
        assert_eq!(kept(array(), &[false, false, true]), "4");
        let text = || Contents::Text(b"a text".to_vec());
        assert_eq!(
            (kept(text(), &[true]), kept(text(), &[false])),
            ("a text".to_owned(), String::new())
        );
    }

    #[test]
    fn lines_in_messages_are_those_of_the_file() {
        let moved = |problem: &str| on_line(problem.to_owned(), 10);
        assert_eq!(
            moved("wrong at line 1 column 4"),
            "wrong at line 10 column 4"
        );
        assert_eq!(
            moved("wrong at line 3 column 4"),
            "wrong at line 12 column 4"
        );
        for unchanged in [
            "wrong",
            "wrong at line 0 column 2",
            "wrong at line x column 2",
        ] {
            assert_eq!(moved(unchanged), unchanged);
        }
    }
}
