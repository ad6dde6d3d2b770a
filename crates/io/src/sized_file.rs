//! A Parquet file whose length is known.
//!
//! The library takes a file for an empty one if the system does not say how long it is, and reports damage.

use std::fs::File;
use std::io::{self, BufReader};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// An open file, and its length.
#[derive(Debug)]
#[doc(hidden)]
pub struct SizedFile {
    file: File,
    len: u64,
}

impl SizedFile {
    /// # Errors
    /// That of the system if it does not say how long the file is.
    #[doc(hidden)]
    pub fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(SizedFile { file, len })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(SizedFile {
            file: self.file.try_clone()?,
            len: self.len,
        })
    }
}

impl Length for SizedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for SizedFile {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.file.get_bytes(start, length)
    }
}
