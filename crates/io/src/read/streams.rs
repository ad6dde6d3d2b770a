//! Streams that count, hash or keep errors.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::Xxh3Default;

use crate::format::BYTE_ORDER_MARK;
use crate::longest::LongestRecord;

/// The first bytes of a stream, up to the first character that is not white space, or as many as a record may have.
pub(super) fn start_of(stream: &mut impl Read, longest: LongestRecord) -> io::Result<Vec<u8>> {
    const STEP: usize = 64;
    let mut start = Vec::new();
    loop {
        let before = start.len();
        let read = stream.by_ref().take(STEP as u64).read_to_end(&mut start)?;
        let new = &start[before..];
        let marked = new.strip_prefix(BYTE_ORDER_MARK);
        let new = marked.filter(|_| before == 0).unwrap_or(new);
        let is_blank = new.trim_ascii_start().is_empty();
        if read < STEP || !is_blank || start.len() as u64 > longest.bytes() {
            return Ok(start);
        }
    }
}

/// Reads until the buffer is full or the stream ends; returns the number of bytes read.
pub(super) fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A file that keeps the error of a write, to tell it from those of what is copied there.
pub(super) struct Writing<'a> {
    pub(super) target: &'a mut File,
    pub(super) failed: Option<io::Error>,
}

impl Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.write(bytes).map_err(|error| {
            let told = io::Error::from(error.kind());
            self.failed = (error.kind() != io::ErrorKind::Interrupted).then_some(error);
            told
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// A file that counts the bytes read from it.
pub(super) struct CountedFile<'a> {
    pub(super) file: File,
    pub(super) consumed: &'a AtomicU64,
}

impl Read for CountedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.consumed.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A stream that hashes and counts the bytes read from it.
pub(super) struct Hashed<R> {
    pub(super) stream: R,
    pub(super) hasher: Xxh3Default,
    pub(super) bytes: u64,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}
