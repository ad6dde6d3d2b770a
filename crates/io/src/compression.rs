//! Decompresses streams, and compresses in independent frames.
//!
//! **xz is read and written by liblzma**, which knows every filter; it is C, as zstd is. bzip2 is pure Rust.
//!
//! **Compressed kept files are written in frames of 8 MiB**, which threads compress while the next one fills. A file
//! whose last frames are being compressed does not keep the next one from beginning.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::sync::{Arc, OnceLock};

use bzip2::bufread::{BzDecoder, MultiBzDecoder};
use bzip2::write::BzEncoder;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use liblzma::bufread::XzDecoder;
use liblzma::write::XzEncoder;
use zstd::bulk::Compressor;

use simgpu::error::{Error, Result};
use simgpu_base::threads::help;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

/// The default level of written zstd frames. Level 1 is a fifth to a third faster; its files are an
/// eighth larger.
const ZSTD_LEVEL: i32 = 3;

/// The level of written xz streams: the default of `xz`.
const XZ_LEVEL: u32 = 6;

/// The largest accepted zstd window: the largest possible (`--long=31`).
const ZSTD_WINDOW_LOG_MAX: u32 = 31;

impl Compression {
    /// The endings of names of compressed files.
    pub(crate) const ENDINGS: [(&str, Compression); 6] = [
        (".gz", Compression::Gzip),
        (".gzip", Compression::Gzip),
        (".zst", Compression::Zstd),
        (".zstd", Compression::Zstd),
        (".xz", Compression::Xz),
        (".bz2", Compression::Bzip2),
    ];

    /// Detects the compression by the first bytes of a file. Names may be wrong.
    pub(crate) fn from_start(start: &[u8]) -> Self {
        match start {
            [0x1F, 0x8B, ..] => Compression::Gzip,
            // A frame, or a skippable frame.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Compression::Zstd,
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            // A block, or the end of a stream without blocks. A text could begin with the letters alone.
            [b'B', b'Z', b'h', b'1'..=b'9', block @ ..]
                if block.starts_with(b"\x31\x41\x59\x26\x53\x59")
                    || block.starts_with(b"\x17\x72\x45\x38\x50\x90") =>
            {
                Compression::Bzip2
            }
            _ => Compression::None,
        }
    }

    /// The name of the compression, for messages.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Xz => "xz",
            Compression::Bzip2 => "bzip2",
        }
    }

    pub(crate) fn ending(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
            Compression::Xz => ".xz",
            Compression::Bzip2 => ".bz2",
        }
    }

    /// A file name without the extension of its compression, and that compression.
    pub(crate) fn split_ending(name: &str) -> (&str, Self) {
        let split = |(ending, compression): &(&str, Compression)| {
            let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
            end.eq_ignore_ascii_case(ending)
                .then_some((stem, *compression))
        };
        let split = Compression::ENDINGS.iter().find_map(split);
        split.unwrap_or((name, Compression::None))
    }

    /// What is wrong with a file of this size, if its name says that it is compressed: no compressed stream is empty.
    pub(crate) fn problem_of_size(name: &str, bytes: u64) -> Option<String> {
        let (_, compression) = Compression::split_ending(name);
        (bytes == 0 && compression != Compression::None)
            .then(|| format!("the {} stream is cut off: it is empty", compression.name()))
    }

    /// Whether a stream may begin with these few bytes, if more followed.
    pub(super) fn may_begin(self, start: &[u8]) -> bool {
        let magic: &[&[u8]] = match self {
            Compression::None => &[],
            Compression::Gzip => &[b"\x1F\x8B"],
            Compression::Zstd => &[b"\x28\xB5\x2F\xFD", b"\x50\x2A\x4D\x18"],
            Compression::Xz => &[b"\xFD7zXZ\0"],
            Compression::Bzip2 => &[
                b"BZh9\x31\x41\x59\x26\x53\x59",
                b"BZh9\x17\x72\x45\x38\x50\x90",
            ],
        };
        !start.is_empty()
            && magic
                .iter()
                .any(|magic| start.len() < magic.len() && magic.starts_with(start))
    }

    /// Decompresses a stream: all members of a gzip file, all frames of a zstd file, all streams of an xz or
    /// bzip2 file.
    pub(crate) fn reader<'a>(
        self,
        file: impl Read + Send + 'a,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        let file = BufReader::with_capacity(1 << 18, file);
        Ok(match self {
            Compression::None => Box::new(file),
            Compression::Gzip => Box::new(GzipMembers(Some(GzDecoder::new(file)))),
            Compression::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(file)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
            Compression::Xz => Box::new(XzDecoder::new_multi_decoder(file)),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(file)),
        })
    }

    /// Decompresses one member, frame or stream.
    pub(super) fn one_stream<'a>(self, file: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Compression::None => Box::new(file),
            Compression::Gzip => Box::new(GzDecoder::new(file)),
            Compression::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(file)?.single_frame();
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
            Compression::Xz => Box::new(XzDecoder::new(file)),
            Compression::Bzip2 => Box::new(BzDecoder::new(file)),
        })
    }

    /// Refuses a level that the compression does not have.
    #[doc(hidden)]
    pub fn check_level(self, level: u32) -> Result<()> {
        let (levels, expected) = match self {
            Compression::None => return Ok(()),
            Compression::Gzip => (0..=9, "0 to 9 for gzip"),
            Compression::Zstd => (1..=22, "1 to 22 for zstd"),
            Compression::Xz => (0..=9, "0 to 9 for xz"),
            Compression::Bzip2 => (1..=9, "1 to 9 for bzip2"),
        };
        if levels.contains(&level) {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "`compression_level`",
            value: level.to_string(),
            expected: expected.to_owned(),
        })
    }

    fn compress(self, bytes: &[u8], level: Option<u32>) -> io::Result<Vec<u8>> {
        match self {
            Compression::None => Ok(bytes.to_vec()),
            Compression::Gzip => {
                let level =
                    level.map_or_else(flate2::Compression::default, flate2::Compression::new);
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            Compression::Zstd => {
                let level = level.and_then(|level| i32::try_from(level).ok());
                let level = level.unwrap_or(ZSTD_LEVEL);
                COMPRESSOR.with_borrow_mut(|compressor| match compressor {
                    Some(compressor) => {
                        compressor.set_compression_level(level)?;
                        compressor.compress(bytes)
                    }
                    None => compressor.insert(Compressor::new(level)?).compress(bytes),
                })
            }
            Compression::Xz => {
                let mut encoder = XzEncoder::new(Vec::new(), level.unwrap_or(XZ_LEVEL));
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            Compression::Bzip2 => {
                let level = level.map_or_else(bzip2::Compression::best, bzip2::Compression::new);
                let mut encoder = BzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes)?;
                encoder.finish()
            }
        }
    }
}

/// Reads the zeros that come next. Returns their number.
pub(super) fn skip_zeros(file: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let available = file.fill_buf()?;
        let zeros = available.iter().take_while(|byte| **byte == 0).count();
        let is_end = available.is_empty() || zeros < available.len();
        file.consume(zeros);
        skipped += zeros as u64;
        if is_end {
            return Ok(skipped);
        }
    }
}

/// The members of a gzip file. Zeros between and after them are skipped, as `gzip` does: tapes and disk images are padded
/// with zeros.
struct GzipMembers<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(mut file) = self.0.take().map(GzDecoder::into_inner) else {
                break;
            };
            skip_zeros(&mut file)?;
            self.0 = if file.fill_buf()?.is_empty() {
                None
            } else {
                Some(GzDecoder::new(file))
            };
        }
        Ok(0)
    }
}

thread_local! {
    /// Reused, because for a small file making one takes a sixth of the time of compressing it.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Bytes of a frame before compression: large enough to compress well, small enough to spread over threads.
#[doc(hidden)]
pub const FRAME: usize = 8 << 20;

/// The most frames that wait to be compressed or written: one per thread, plus one.
#[doc(hidden)]
pub fn frames_in_flight() -> usize {
    const AT_MOST: usize = 16;
    (rayon::current_num_threads() + 1).min(AT_MOST)
}

/// Bytes of small writes to an uncompressed file that are written together. Larger ones go straight to the file.
const BUFFER: usize = 1 << 17;

/// Writes a file that is compressed or not.
#[derive(Debug)]
#[doc(hidden)]
pub enum FrameWriter {
    /// Bytes are written as they come: to copy them to frames first took as long as to read them.
    Plain(BufWriter<File>),
    Compressed(Frames),
}

impl FrameWriter {
    /// Compresses at this level ([`Compression::check_level`]); `None` is the default level.
    #[doc(hidden)]
    pub fn new(file: File, compression: Compression, level: Option<u32>) -> Self {
        match compression {
            Compression::None => FrameWriter::Plain(BufWriter::with_capacity(BUFFER, file)),
            _ => FrameWriter::Compressed(Frames {
                file,
                compression,
                level,
                filling: Vec::new(),
                in_flight: VecDeque::new(),
                is_empty: true,
            }),
        }
    }

    /// Compresses and writes the remaining bytes, those of the last frame on this thread. Without this call the file is
    /// incomplete.
    #[doc(hidden)]
    pub fn finish(self) -> io::Result<()> {
        match self {
            FrameWriter::Plain(mut file) => file.flush(),
            FrameWriter::Compressed(frames) => frames.finish(),
        }
    }
}

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            FrameWriter::Plain(file) => file.write(bytes),
            FrameWriter::Compressed(frames) => frames.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            FrameWriter::Plain(file) => file.flush(),
            FrameWriter::Compressed(frames) => frames.flush(),
        }
    }
}

/// Writes bytes as independent frames: zstd frames, gzip members, xz or bzip2 streams. Threads compress frames while the
/// next one fills. Frames have a fixed size and level, so the file does not depend on the number of threads.
#[derive(Debug)]
#[doc(hidden)]
pub struct Frames {
    file: File,
    compression: Compression,
    level: Option<u32>,
    filling: Vec<u8>,
    in_flight: VecDeque<Arc<OnceLock<io::Result<Vec<u8>>>>>,
    is_empty: bool,
}

impl Frames {
    fn finish(mut self) -> io::Result<()> {
        // An empty file gets one empty frame, so that its format matches its name.
        if self.in_flight.is_empty() && (self.is_empty || !self.filling.is_empty()) {
            let frame = self.compression.compress(&self.filling, self.level)?;
            return self.file.write_all(&frame);
        }
        if !self.filling.is_empty() {
            self.send_frame()?;
        }
        while !self.in_flight.is_empty() {
            self.write_first_in_flight()?;
        }
        Ok(())
    }

    /// Gives the full frame to the threads.
    fn send_frame(&mut self) -> io::Result<()> {
        let frame = std::mem::take(&mut self.filling);
        self.is_empty = false;
        let (compression, level) = (self.compression, self.level);
        let compressed = Arc::new(OnceLock::new());
        self.in_flight.push_back(Arc::clone(&compressed));
        rayon::spawn(move || {
            // This is the only place that sets it.
            let _ = compressed.set(compression.compress(&frame, level));
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
            // Work on other tasks of the pool instead of blocking: this may be its only thread.
            if !help() {
                std::thread::yield_now();
            }
        }
    }
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.filling.len() == FRAME {
            self.send_frame()?;
        }
        if self.filling.capacity() < FRAME {
            self.filling.reserve_exact(FRAME - self.filling.len());
        }
        let written = bytes.len().min(FRAME - self.filling.len());
        self.filling.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
