//! Decompression while reading, and compression in independent frames while writing.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

/// The level of written zstd frames. Level 1 is a fifth to a third faster and its files
/// an eighth larger.
const ZSTD_LEVEL: i32 = 3;

/// The largest window of a frame that is read: all of them (`--long=31`).
const ZSTD_WINDOW_LOG_MAX: u32 = 31;

impl Compression {
    /// Tells by the first bytes of a file, which do not lie as names do.
    pub(crate) fn sniff(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let mut start = Vec::new();
        file.take(4)
            .read_to_end(&mut start)
            .map_err(Error::io("read", path))?;
        Ok(Compression::of_start(&start))
    }

    pub(crate) fn of_start(start: &[u8]) -> Self {
        match start {
            [0x1F, 0x8B, ..] => Compression::Gzip,
            // A frame, or a skippable frame before it.
            [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    pub(crate) fn ending(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
        }
    }

    /// A file name without its ending for compression.
    pub(crate) fn strip_ending(name: &str) -> &str {
        [".gz", ".gzip", ".zst", ".zstd"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(name)
    }

    /// Reads a file's decompressed bytes: all members of a gzip file, all frames of a zstd file.
    pub(crate) fn reader<'a>(self, file: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        let file = BufReader::with_capacity(1 << 18, file);
        Ok(match self {
            Compression::None => Box::new(file),
            Compression::Gzip => Box::new(MultiGzDecoder::new(file)),
            Compression::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(file)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }

    fn compress(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Compression::None => Ok(bytes.to_vec()),
            Compression::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            Compression::Zstd => zstd::bulk::compress(bytes, ZSTD_LEVEL),
        }
    }
}

/// Bytes of a frame before compression: large enough to compress well, small enough to share out.
const FRAME: usize = 8 << 20;

/// Frames that wait to be compressed or written, at most: for each thread one, and one more.
fn frames_in_flight() -> usize {
    const AT_MOST: usize = 16;
    (rayon::current_num_threads() + 1).min(AT_MOST)
}

/// Writes bytes in independent frames (zstd), members (gzip) or as they are. Frames are cut after a
/// fixed number of bytes and compressed at a fixed level, so that the file does not depend on the
/// number of threads that compress them, which they do while the next frame is filled.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    file: File,
    compression: Compression,
    filling: Vec<u8>,
    in_flight: VecDeque<Arc<OnceLock<io::Result<Vec<u8>>>>>,
    is_empty: bool,
}

impl FrameWriter {
    pub(crate) fn new(file: File, compression: Compression) -> Self {
        FrameWriter {
            file,
            compression,
            filling: Vec::new(),
            in_flight: VecDeque::new(),
            is_empty: true,
        }
    }

    /// Compresses and writes what is left; without this the file is incomplete.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        // No bytes at all are one empty frame, so that the file is what its name says.
        if self.is_empty || !self.filling.is_empty() {
            self.send_frame()?;
        }
        while !self.in_flight.is_empty() {
            self.write_first_in_flight()?;
        }
        Ok(())
    }

    /// Hands the frame that has been filled to the threads.
    fn send_frame(&mut self) -> io::Result<()> {
        let frame = std::mem::take(&mut self.filling);
        self.is_empty = false;
        if self.compression == Compression::None {
            return self.file.write_all(&frame);
        }
        let compression = self.compression;
        let compressed = Arc::new(OnceLock::new());
        self.in_flight.push_back(Arc::clone(&compressed));
        rayon::spawn(move || {
            // It is set once, here.
            let _ = compressed.set(compression.compress(&frame));
        });
        while self.in_flight.len() > frames_in_flight() {
            self.write_first_in_flight()?;
        }
        Ok(())
    }

    fn write_first_in_flight(&mut self) -> io::Result<()> {
        let Some(mut first) = self.in_flight.pop_front() else {
            return Ok(());
        };
        loop {
            match Arc::try_unwrap(first).map(OnceLock::into_inner) {
                Ok(Some(compressed)) => return self.file.write_all(&compressed?),
                Ok(None) => return Err(io::Error::other("a frame was not compressed")),
                Err(still_shared) => first = still_shared,
            }
            // A thread of the pool helps instead of waiting, for it may be the only one.
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::yield_now();
            }
        }
    }
}

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.filling.len() == FRAME {
            self.send_frame()?;
        }
        if self.filling.capacity() == 0 {
            self.filling.reserve_exact(FRAME);
        }
        let taken = bytes.len().min(FRAME - self.filling.len());
        self.filling.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_whatever_the_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3 * FRAME + 5)
            .map(|i| (i / 7).to_le_bytes()[0])
            .collect();
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let write = |threads: usize, bytes: &[u8]| {
                let path = folder.path().join(format!("{threads}"));
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(|| {
                    let file = File::create(&path).unwrap();
                    let mut writer = FrameWriter::new(file, compression);
                    bytes
                        .chunks(999_983)
                        .for_each(|c| writer.write_all(c).unwrap());
                    writer.finish().unwrap();
                });
                let mut back = Vec::new();
                let file = File::open(&path).unwrap();
                compression
                    .reader(file)
                    .unwrap()
                    .read_to_end(&mut back)
                    .unwrap();
                assert!(back == bytes, "{compression:?}");
                std::fs::read(&path).unwrap()
            };
            assert!(write(1, &bytes) == write(3, &bytes), "{compression:?}");
            write(1, &bytes[..FRAME]);
            write(2, &[]);
        }
    }
}
