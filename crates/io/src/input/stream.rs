//! Streams: a text, or a copy of a stream of records, which is read twice.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{InputFile, Place};
use super::naming::{Naming, separators_of};
use crate::broken_stream;
use crate::compression::{Compression, FrameWriter};
use crate::encoding::looks_like;
use crate::format::{BYTE_ORDER_MARK, Format, START, check_start, other_encoding, unknown_start};
use crate::longest::LongestRecord;
use crate::refusal::Refusal;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu::store::unnamed_file;
use simgpu_base::encoding::other_unicode;

/// Reads one text from a stream, which may be compressed, without a byte order mark at its start. Error messages call the
/// stream `name`.
///
/// # Errors
/// [`Error::Io`] if the stream cannot be read; [`Error::Input`] if it is damaged, not UTF-8, or longer than 64 MiB.
pub fn read_text(mut stream: impl Read, name: &Path) -> Result<String> {
    let longest = LongestRecord::fixed();
    let most = longest.bytes() + 1;
    let check = |bytes: &[u8]| {
        if bytes.len() as u64 == most {
            Err(longest.refusal("the text", most).for_file(name))
        } else {
            Ok(())
        }
    };
    let mut stored = Vec::new();
    let read = stream.by_ref().take(most).read_to_end(&mut stored);
    read.map_err(Error::io("read", name))?;
    check(&stored)?;
    let broken = |problem: String, remedy: &str| Refusal::new(problem, remedy).for_file(name);
    let mut bytes = Vec::new();
    let compression = Compression::from_start(&stored);
    let stream = compression.reader(&*stored);
    let read = stream.and_then(|stream| stream.take(most).read_to_end(&mut bytes));
    check(&bytes)?;
    match read {
        Err(error) if compression == Compression::None => {
            return Err(Error::io("read", name)(error));
        }
        Err(error) => {
            let refusal = broken_stream::refusal(compression, &error, Cursor::new(&stored));
            return Err(refusal.for_file(name));
        }
        Ok(_) => {
            let size = stored.len() as u64;
            if let Some(problem) = Compression::problem_of_size(&name.to_string_lossy(), size) {
                return Err(broken(problem, "get the file again from its source"));
            }
        }
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| match other_encoding(error.as_bytes()) {
        Some(encoding) => broken(other_unicode("the text", encoding), "convert it to UTF-8"),
        None => {
            let at = error.utf8_error().valid_up_to();
            let looks_like = looks_like(error.as_bytes());
            let problem = format!("invalid UTF-8 at byte {at}{looks_like}");
            broken(problem, "give a text file, or convert it to UTF-8")
        }
    })
}

/// A stream that reports each read; the progress may stop the run.
pub(super) struct Stoppable<'a> {
    pub(super) stream: Box<dyn Read + Send>,
    pub(super) progress: &'a dyn Progress,
    pub(super) bytes: u64,
    /// Whether the stream could not be read.
    pub(super) has_failed: bool,
}

/// Wraps the error that stopped a run, to pass it through the `Read` interface.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Stop(Error);

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.stream.read(buffer);
            self.bytes += read.as_ref().map_or(0, |read| *read as u64);
            let advanced = advance(self.progress, self.bytes, 0, self.bytes);
            advanced.map_err(|error| io::Error::other(Stop(error)))?;
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => {
                    let is_error = |error: &io::Error| error.kind() != io::ErrorKind::Interrupted;
                    self.has_failed = read.as_ref().is_err_and(is_error);
                    return read;
                }
            }
        }
    }
}

/// Copies a stream to an unnamed temporary file. Compresses the copy, unless the stream is already compressed
/// or is a table, whose reader needs random access.
pub(super) fn copy_stream(
    stream: &mut Stoppable<'_>,
    naming: &Naming,
    folder: &Path,
) -> Result<InputFile> {
    let named = PathBuf::from("stdin");
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| match error.downcast::<Stop>() {
            Ok(Stop(stopped)) => stopped,
            Err(error) => Error::io(action, path)(error),
        }
    };
    let mut start = Vec::new();
    stream
        .take(START as u64)
        .read_to_end(&mut start)
        .map_err(failed("read", &named))?;
    check_start(&named, &start)?;
    let original_compression = Compression::from_start(&start);
    let is_plain = original_compression == Compression::None;
    let known = match naming.format {
        None if is_plain => Some(Format::from_start(&start).ok_or_else(|| unknown_start(&named))?),
        given => given,
    };
    let mut all = start.as_slice().chain(&mut *stream);
    let mut file = unnamed_file(folder).map_err(Error::io("create a temporary file in", folder))?;
    let compression = if is_plain && !known.is_some_and(Format::is_table) {
        Compression::Zstd
    } else {
        original_compression
    };
    let copied = if compression == original_compression {
        io::copy(&mut all, &mut file).map(drop)
    } else {
        let target = file.try_clone();
        target.and_then(|target| {
            let mut writer = FrameWriter::new(target, compression, None);
            io::copy(&mut all, &mut writer).and_then(|_| writer.finish())
        })
    };
    copied.map_err(|error| {
        if stream.has_failed {
            failed("read", &named)(error)
        } else {
            failed("copy stdin to a temporary file in", folder)(error)
        }
    })?;
    let format = match known {
        Some(format) => format,
        None => format_in(&file, compression)
            .map_err(Error::io("read the copy of stdin in", folder))?
            .ok_or_else(|| unknown_start(&named))?,
    };
    Ok(InputFile {
        place: Place::Copy(Arc::new(file)),
        named,
        relative: format!("stdin{}{}", format.ending(), original_compression.ending()),
        format,
        separators: separators_of(format, naming),
        compression,
        original_compression,
    })
}

/// The format of a compressed copy, by its first bytes. The run reports damage when it reads the copy.
fn format_in(file: &File, compression: Compression) -> io::Result<Option<Format>> {
    const START: u64 = 4096;
    let mut copy = file.try_clone()?;
    copy.rewind()?;
    let mut start = Vec::new();
    let read = compression
        .reader(copy)
        .and_then(|stream| stream.take(START).read_to_end(&mut start));
    match read {
        // An error of the system is no damage of the stream.
        Err(error) if error.raw_os_error().is_some() => Err(error),
        Err(_) => Ok(Format::from_start(&[])),
        Ok(_) => Ok(Format::from_start(&start)),
    }
}
