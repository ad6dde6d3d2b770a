//! What is cut out of documents, in a file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::super::cuts::Cuts;
use super::super::write::CutsOfRows;
use crate::error::{Error, Result};
use crate::store::unnamed_file;

/// Bytes of a cut.
const CUT: u64 = 8;

/// Takes the cuts of documents in order.
pub(super) struct CutWriter {
    file: BufWriter<File>,
    path: PathBuf,
    /// The number of cuts up to each document.
    ends: Vec<u64>,
    is_removed: Vec<bool>,
    cuts: u64,
}

/// The cuts of documents. In memory it has 9 bytes for each document.
pub(super) struct CutFile {
    file: Mutex<File>,
    path: PathBuf,
    ends: Vec<u64>,
    is_removed: Vec<bool>,
}

impl CutWriter {
    /// A file in a folder.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be created.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let file = unnamed_file(folder).map_err(Error::io("create a file in", folder))?;
        Ok(CutWriter {
            file: BufWriter::new(file),
            path: folder.to_owned(),
            ends: Vec::new(),
            is_removed: Vec::new(),
            cuts: 0,
        })
    }

    /// Adds the cuts of the next documents.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub(super) fn push(&mut self, cuts: &Cuts) -> Result<()> {
        for document in 0..cuts.len() {
            let of = cuts.of(document);
            let written = self.file.write_all(bytemuck::cast_slice(of));
            written.map_err(Error::io("write a temporary file in", &self.path))?;
            self.cuts += of.len() as u64;
            self.ends.push(self.cuts);
            self.is_removed.push(cuts.is_removed(document));
        }
        Ok(())
    }

    /// Ends the writing.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub(super) fn finish(self) -> Result<CutFile> {
        let file = self.file.into_inner().map_err(|error| error.into_error());
        let file = file.map_err(Error::io("write a temporary file in", &self.path))?;
        Ok(CutFile {
            file: Mutex::new(file),
            path: self.path,
            ends: self.ends,
            is_removed: self.is_removed,
        })
    }
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
        let start = self.end(rows.start);
        let read = self.read(start..self.end(rows.end));
        let read = read.map_err(Error::io("read a temporary file in", &self.path))?;
        let mut cuts = Cuts::default();
        let mut rest = &read[..];
        for row in rows.clone() {
            let count = self.ends[row] - self.end(row);
            let (of, behind) = rest.split_at(usize::try_from(count).unwrap_or(rest.len()));
            rest = behind;
            match self.is_removed[row] {
                true => cuts.push_removed(super::super::cuts::Removal::MaxCovered),
                false => cuts.push(of.iter().map(|[start, end]| *start as usize..*end as usize)),
            }
        }
        Ok((Cow::Owned(cuts), rows.start))
    }
}
