//! The kept records of a chunk, as they are written.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;

use super::Chunk;
use super::contents::{Contents, RecordSpans};
use crate::csv::Header;
use crate::jsonl;

impl Chunk {
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
pub(crate) fn end_line(bytes: &mut Vec<u8>) {
    if !ends_line(bytes) {
        bytes.push(b'\n');
    }
}

/// The bytes between two elements of a kept JSON array.
pub(crate) const BETWEEN_ELEMENTS: &[u8] = b",\n";

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
