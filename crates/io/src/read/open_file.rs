//! An open file, which is cut into chunks.

use std::collections::VecDeque;
use std::io::{Chain, Cursor, Read};

use arrow_array::RecordBatch;

use super::errors::{broken, unread_table};
use super::fingerprint::Fingerprint;
use super::streams::{Hashed, fill};
use crate::arrow;
use crate::chunk::{CHUNK, Contents};
use crate::cut::Cutter;
use crate::input::InputFile;
use crate::longest::LongestRecord;
use crate::refusal::Refusal;
use crate::table::Groups;
use simgpu::error::{Error, Result};

/// An open file, with what is left of it.
pub(super) enum OpenFile<'a> {
    Records(Box<RecordsReader<'a>>),
    /// A text file, which is one chunk; `None` if it was read.
    Text(Option<Vec<u8>>),
    Parquet(Box<Groups>),
    Arrow(ArrowReader),
}

/// An Arrow file.
pub(super) struct ArrowReader {
    pub(super) batches: arrow::Batches,
    /// The chunks of the current batch that are left, and their bytes.
    pub(super) chunks: VecDeque<(RecordBatch, usize)>,
    /// The number of batches so far.
    pub(super) batches_read: usize,
}

/// A stream of records, which is cut.
pub(super) struct RecordsReader<'a> {
    pub(super) longest: LongestRecord,
    pub(super) stream: Chain<Cursor<Vec<u8>>, Hashed<Box<dyn Read + Send + 'a>>>,
    pub(super) cutter: Box<dyn Cutter + Send + 'a>,
    /// The start of the next chunk. Of its bytes, the first `scanned` were read and scanned.
    pub(super) bytes: Vec<u8>,
    pub(super) scanned: usize,
    pub(super) is_at_end: bool,
}

impl OpenFile<'_> {
    /// The contents of the next chunk. Counts the bytes of tables in `read`.
    pub(super) fn next(
        &mut self,
        input: &InputFile,
        read: &mut Fingerprint,
    ) -> Result<Option<Contents>> {
        let (rows, bytes, group) = match self {
            OpenFile::Records(records) => return records.next(input),
            OpenFile::Text(text) => return Ok(text.take().map(Contents::Text)),
            OpenFile::Parquet(batches) => match batches.next() {
                None => return Ok(None),
                Some(rows) => {
                    let (group, rows) = rows.map_err(|error| unread_table(input, error))?;
                    let bytes = arrow::bytes_of_rows(&rows);
                    (rows, bytes, group)
                }
            },
            OpenFile::Arrow(arrow) => loop {
                if let Some((rows, bytes)) = arrow.chunks.pop_front() {
                    break (rows, bytes, arrow.batches_read);
                }
                match arrow.batches.next() {
                    None => return Ok(None),
                    Some(batch) => {
                        let batch = batch.map_err(|error| unread_table(input, error.into()))?;
                        arrow.chunks.extend(arrow::chunks(&batch));
                        arrow.batches_read += 1;
                    }
                }
            },
        };
        read.bytes += bytes as u64;
        Ok(Some(Contents::Rows { rows, bytes, group }))
    }
}

impl RecordsReader<'_> {
    /// Cuts off the next chunk of about [`CHUNK`] bytes, after a record.
    pub(super) fn next(&mut self, input: &InputFile) -> Result<Option<Contents>> {
        let wrong = |refusal: Refusal| refusal.for_file(&input.named);
        while !self.is_at_end {
            let Self { bytes, scanned, .. } = self;
            let read = fill(&mut self.stream, &mut bytes[*scanned..]);
            let len = *scanned + read.map_err(|error| broken(input, &error))?;
            self.is_at_end = len < bytes.len();
            let mut cut = self.cutter.scan(&bytes[..len], *scanned).map_err(wrong)?;
            if self.is_at_end {
                self.cutter.end(&bytes[..len]).map_err(wrong)?;
                cut = Some(len);
            }
            *scanned = len;
            let Some(cut) = cut else {
                if len as u64 > self.longest.bytes() {
                    return Err(self.too_long(input, len)?);
                }
                bytes.resize(self.longest.room_after(len), 0);
                continue;
            };
            *scanned = len - cut;
            let mut next = Vec::new();
            if !self.is_at_end {
                next = vec![0; CHUNK.max(self.longest.room_after(*scanned))];
                next[..*scanned].copy_from_slice(&bytes[cut..len]);
            }
            bytes.truncate(cut);
            let mut chunk = std::mem::replace(bytes, next);
            if self.is_at_end {
                // Shrink, so that a small file does not take the memory of a whole chunk.
                chunk.shrink_to_fit();
            }
            if let Some(contents) = self.cutter.contents(chunk).map_err(wrong)? {
                return Ok(Some(contents));
            }
        }
        Ok(None)
    }

    /// The error for a record that is too long. `len` bytes of it were read. Reads its rest to learn its length, so that the
    /// error names a number that is enough.
    fn too_long(&mut self, input: &InputFile, len: usize) -> Result<Error> {
        const STEP: usize = 1 << 16;
        let Self {
            bytes,
            cutter,
            stream,
            ..
        } = self;
        let line = cutter.forget(&bytes[..len]);
        bytes.truncate(STEP);
        let mut all = len as u64;
        while !LongestRecord::is_beyond_measure(all) {
            let read = fill(stream, bytes).map_err(|error| broken(input, &error))?;
            all += read as u64;
            let bytes = &bytes[..read];
            // The record was to end before text that cannot be cut.
            if !matches!(cutter.scan(bytes, 0), Ok(None)) {
                break;
            }
            cutter.forget(bytes);
            if read < STEP {
                // Perhaps it is this long because a quote was never closed.
                cutter
                    .end(&[])
                    .map_err(|refusal| refusal.for_file(&input.named))?;
                break;
            }
        }
        let record = format!("the record that starts on line {line}");
        Ok(self.longest.refusal(&record, all).for_file(&input.named))
    }
}
