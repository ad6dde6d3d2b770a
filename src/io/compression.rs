//! Decompression while reading, and compression in independent frames while writing.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use crate::error::{Error, Result};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

/// The level of written zstd frames: at level 3 a third of the bytes of level 1 saved costs twice its time.
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

/// Frames compressed at a time, at most.
const FRAMES_AT_ONCE: usize = 16;

/// Writes bytes in independent frames (zstd), members (gzip) or as they are. Frames are cut after a
/// fixed number of bytes and compressed at a fixed level, so that the file does not depend on the
/// number of threads that compress them.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    file: File,
    compression: Compression,
    frames: Vec<Vec<u8>>,
    written: u64,
}

impl FrameWriter {
    pub(crate) fn new(file: File, compression: Compression) -> Self {
        FrameWriter {
            file,
            compression,
            frames: vec![Vec::new()],
            written: 0,
        }
    }

    /// Compresses and writes what is left; without this the file is incomplete.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        // No bytes at all are one empty frame, so that the file is what its name says.
        if self.written > 0 && self.frames.last().is_some_and(Vec::is_empty) {
            self.frames.pop();
        }
        self.write_frames()
    }

    fn write_frames(&mut self) -> io::Result<()> {
        let compression = self.compression;
        if compression == Compression::None {
            for frame in &mut self.frames {
                self.file.write_all(frame)?;
                frame.clear();
            }
            self.frames.truncate(1);
            return Ok(());
        }
        let frames: Vec<io::Result<Vec<u8>>> = self
            .frames
            .par_iter()
            .map(|frame| compression.compress(frame))
            .collect();
        for frame in frames {
            self.file.write_all(&frame?)?;
        }
        self.frames.truncate(1);
        self.frames[0].clear();
        Ok(())
    }
}

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.frames.last().is_none_or(|frame| frame.len() == FRAME) {
            if self.frames.len() >= rayon::current_num_threads().min(FRAMES_AT_ONCE) {
                self.write_frames()?;
            }
            if self.frames.last().is_none_or(|frame| !frame.is_empty()) {
                self.frames.push(Vec::with_capacity(FRAME));
            }
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(0);
        };
        let taken = bytes.len().min(FRAME - frame.len());
        frame.extend_from_slice(&bytes[..taken]);
        self.written += taken as u64;
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
