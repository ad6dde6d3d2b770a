//! What is cut out of documents, on disk: in streams while it is decided, and in a file that is read by rows.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::cuts::Cuts;
use super::super::removal::{RemovalReason, RemovedDocument};
use super::super::rewrite::CutsOfRows;
use simgpu::error::{Error, Result};
use simgpu::store::spill::{Spill, Stored, StreamFile, Streams};
use simgpu::store::unnamed_file;

/// Bytes of a cut.
const CUT: u64 = 8;

/// Takes what is cut out of documents, in order.
pub(super) struct CutStreams {
    spill: Arc<Spill>,
    /// The row, and bytes of the text.
    cuts: Streams,
    removed: Streams,
}

/// A document that is not kept as it was.
pub(super) enum ChangedDocument<'a> {
    /// What is cut out of the document of a row.
    Cut(usize, &'a [[u32; 2]]),
    Removed(RemovedDocument),
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a text has less than 4 GiB, and there are fewer documents than 2^32"
)]
fn word(number: usize) -> u32 {
    number as u32
}

impl CutStreams {
    /// None yet, or those of the last checkpoint.
    pub(super) fn new(spill: &Arc<Spill>, files: usize) -> Self {
        CutStreams {
            spill: Arc::clone(spill),
            cuts: Streams::new(spill, "cuts", 1, files),
            removed: Streams::new(spill, "removed-documents", 1, files),
        }
    }

    pub(super) fn push(&mut self, row: usize, cuts: &[[u32; 2]]) -> Result<()> {
        cuts.iter().try_for_each(|[start, end]| {
            let record = [word(row), *start, *end];
            self.cuts.push(0, bytemuck::cast_slice(&record))
        })
    }

    pub(super) fn push_removed(&mut self, removed: &RemovedDocument) -> Result<()> {
        let why = match removed.why {
            RemovalReason::MaxCovered => 0,
            RemovalReason::MinLeft => 1,
        };
        let [row, covered, bytes] = [removed.row, removed.covered_bytes, removed.bytes].map(word);
        self.removed
            .push(0, bytemuck::cast_slice(&[row, why, covered, bytes]))
    }

    /// Writes everything pushed so far, for a checkpoint.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.cuts.flush()?;
        self.removed.flush()
    }

    /// Calls `each` with what is done with documents, in order but for those that are removed, which come last. Makes the file
    /// of the cuts of so many rows.
    ///
    /// # Errors
    /// Those of reading, of writing and of `each`.
    pub(super) fn finish(
        self,
        rows: usize,
        mut each: impl FnMut(ChangedDocument<'_>) -> Result<()>,
    ) -> Result<CutFile> {
        let folder = self.spill.folder().to_owned();
        let file = unnamed_file(&folder).map_err(Error::io("create a file in", &folder))?;
        let failed = |error| Error::io("write a temporary file in", &folder)(error);
        let mut file = BufWriter::new(file);
        let (mut ends, mut count) = (Vec::new(), 0);
        // The cuts of the row that is read.
        let (mut current, mut row_cuts) = (0, Vec::new());
        for_each(&self.cuts.finish_one()?, |[row, start, end]| {
            let row = row as usize;
            if row != current {
                each_cut(&mut row_cuts, current, &mut each)?;
                current = row;
            }
            // Rows without cuts end where the one before them does.
            ends.resize(row, count);
            row_cuts.push([start, end]);
            count += 1;
            let written = file.write_all(bytemuck::cast_slice(&[start, end]));
            written.map_err(failed)
        })?;
        each_cut(&mut row_cuts, current, &mut each)?;
        ends.resize(rows, count);
        let mut is_removed = vec![false; rows];
        for_each(&self.removed.finish_one()?, |[row, why, covered, bytes]| {
            let [row, covered_bytes, bytes] = [row, covered, bytes].map(|word| word as usize);
            let why = match why {
                0 => RemovalReason::MaxCovered,
                _ => RemovalReason::MinLeft,
            };
            is_removed[row] = true;
            each(ChangedDocument::Removed(RemovedDocument {
                row,
                why,
                bytes,
                covered_bytes,
            }))
        })?;
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        Ok(CutFile {
            file: Mutex::new(file),
            path: folder,
            ends,
            is_removed,
        })
    }
}

/// Calls `each` with the records of a stream.
fn for_each<const N: usize>(
    file: &StreamFile,
    mut each: impl FnMut([u32; N]) -> Result<()>,
) -> Result<()> {
    file.for_each_block(|block| {
        let mut records = block.records(Stored::words);
        records.try_for_each(|record| each(record?))
    })
}

/// Passes on the cuts of a row, if there are some.
fn each_cut(
    cuts: &mut Vec<[u32; 2]>,
    row: usize,
    each: &mut impl FnMut(ChangedDocument<'_>) -> Result<()>,
) -> Result<()> {
    if !cuts.is_empty() {
        each(ChangedDocument::Cut(row, cuts))?;
        cuts.clear();
    }
    Ok(())
}

/// The cuts of documents. In memory it has 9 bytes for each document.
pub(super) struct CutFile {
    file: Mutex<File>,
    path: PathBuf,
    /// The number of cuts up to each document.
    ends: Vec<u64>,
    is_removed: Vec<bool>,
}

impl CutFile {
    fn end(&self, rows: usize) -> u64 {
        rows.checked_sub(1).map_or(0, |last| self.ends[last])
    }

    fn read(&self, cuts: Range<u64>) -> std::io::Result<Vec<[u32; 2]>> {
        let count = usize::try_from(cuts.end - cuts.start).map_err(std::io::Error::other)?;
        let mut read = vec![[0_u32; 2]; count];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(cuts.start * CUT))?;
        file.read_exact(bytemuck::cast_slice_mut(&mut read))?;
        Ok(read)
    }
}

impl CutsOfRows for CutFile {
    fn rows(&self, rows: Range<usize>) -> Result<(Cow<'_, Cuts>, usize)> {
        // The cuts of rows that follow each other are read at once.
        let start = self.end(rows.start);
        let read = self.read(start..self.end(rows.end));
        let read = read.map_err(Error::io("read a temporary file in", &self.path))?;
        let mut cuts = Cuts::default();
        let mut rest = &read[..];
        for row in rows.clone() {
            let count = self.ends[row] - self.end(row);
            let (own, behind) = rest.split_at(usize::try_from(count).unwrap_or(rest.len()));
            rest = behind;
            if self.is_removed[row] {
                cuts.push_dropped()
            } else {
                cuts.push(
                    own.iter()
                        .map(|[start, end]| *start as usize..*end as usize),
                )
            }
        }
        Ok((Cow::Owned(cuts), rows.start))
    }
}
