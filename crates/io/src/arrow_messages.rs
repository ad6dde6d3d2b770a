//! The messages of Arrow files and streams, read for what the readers of `arrow_ipc` do not tell or check: the
//! codec, the order of bytes, and the stated sizes of compressed buffers. A wrong size would end the process, which cannot allocate it.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{
    Buffer, CompressionType, Endianness, Message, RecordBatch, root_as_footer, root_as_message,
};
use arrow_schema::ArrowError;

/// What the messages of a file say of its batches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BatchFacts {
    /// The codec of the first compressed batch; `None` if there is none.
    pub(super) codec: Option<CompressionType>,
    /// Bytes of the largest batch as stored, or of the largest column of a batch when it is decompressed.
    pub(super) largest: u64,
}

/// Reads all messages. What is not as it should be is left for the reader to report.
///
/// # Errors
/// If the system does not read the file. Without its facts, records too large for memory would be read, and kept ones written
/// in another form.
pub(super) fn facts_of_batches(mut file: File, is_file: bool) -> Result<BatchFacts, ArrowError> {
    let mut facts = BatchFacts::default();
    let mut blocks = if is_file {
        let Some(blocks) = blocks(&mut file)? else {
            return Ok(facts);
        };
        Some(blocks.into_iter())
    } else {
        None
    };
    loop {
        if let Some(blocks) = &mut blocks {
            let Some(start) = blocks.next() else {
                return Ok(facts);
            };
            if there(file.seek(SeekFrom::Start(start)))?.is_none() {
                return Ok(facts);
            }
        }
        let Some((bytes, body)) = next_message(&mut file)? else {
            return Ok(facts);
        };
        let Ok(message) = root_as_message(&bytes) else {
            return Ok(facts);
        };
        if let Some(batch) = batch_of(&message)
            && let Some(compression) = batch.compression()
        {
            facts.codec = facts.codec.or(Some(compression.codec()));
            for buffer in batch.buffers().iter().flatten() {
                let size = check_size(&mut file, body, buffer, compression.codec())?;
                facts.largest = facts.largest.max(size);
            }
        }
        let length = u64::try_from(message.bodyLength()).ok();
        facts.largest = facts.largest.max(length.unwrap_or(0));
        let Some(end) = length.and_then(|length| body.checked_add(length)) else {
            return Ok(facts);
        };
        if there(file.seek(SeekFrom::Start(end)))?.is_none() {
            return Ok(facts);
        }
    }
}

/// What was read; `None` if the file has no such place, or ends before.
fn there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) => match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::InvalidInput => Ok(None),
            _ => Err(error),
        },
    }
}

fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    let dictionary = message.header_as_dictionary_batch();
    let dictionary_rows = || dictionary.and_then(|dictionary| dictionary.data());
    message.header_as_record_batch().or_else(dictionary_rows)
}

/// Whether the numbers of a file or stream have their greatest byte first. What is not as it should be is left for the reader
/// to report.
pub(super) fn is_big_endian(mut file: File, is_file: bool) -> io::Result<bool> {
    let endianness = if is_file {
        directory(&mut file)?
            .and_then(|bytes| Some(root_as_footer(&bytes).ok()?.schema()?.endianness()))
    } else {
        next_message(&mut file)?.and_then(|(bytes, _)| {
            let message = root_as_message(&bytes).ok()?;
            Some(message.header_as_schema()?.endianness())
        })
    };
    Ok(endianness == Some(Endianness::Big))
}

/// The places of the dictionaries and batches of an Arrow file, by the directory at its end.
fn blocks(file: &mut File) -> io::Result<Option<Vec<u64>>> {
    let Some(directory) = directory(file)? else {
        return Ok(None);
    };
    let Ok(footer) = root_as_footer(&directory) else {
        return Ok(None);
    };
    let blocks = footer.dictionaries().into_iter().flatten();
    let blocks = blocks.chain(footer.recordBatches().into_iter().flatten());
    Ok(blocks
        .map(|block| u64::try_from(block.offset()).ok())
        .collect())
}

/// The directory at the end of an Arrow file.
fn directory(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    /// The length of the directory, and the magic bytes.
    const END: usize = 10;
    let mut end = [0; END];
    if there(file.seek(SeekFrom::End(-(END as i64))))?.is_none() {
        return Ok(None);
    }
    if there(file.read_exact(&mut end))?.is_none() {
        return Ok(None);
    }
    let Ok(len) = read_footer_length(end) else {
        return Ok(None);
    };
    let Ok(start) = i64::try_from(len + END) else {
        return Ok(None);
    };
    if there(file.seek(SeekFrom::End(-start)))?.is_none() {
        return Ok(None);
    }
    let mut directory = Vec::new();
    file.take(len as u64).read_to_end(&mut directory)?;
    Ok(Some(directory))
}

/// The next message, and the place of its body; `None` at the end.
fn next_message(file: &mut File) -> io::Result<Option<(Vec<u8>, u64)>> {
    const CONTINUES: [u8; 4] = [0xFF; 4];
    let mut len = [0; 4];
    if there(file.read_exact(&mut len))?.is_none() {
        return Ok(None);
    }
    if len == CONTINUES && there(file.read_exact(&mut len))?.is_none() {
        return Ok(None);
    }
    let Ok(len) = u64::try_from(i32::from_le_bytes(len)) else {
        return Ok(None);
    };
    let mut message = Vec::new();
    file.take(len).read_to_end(&mut message)?;
    Ok(Some((message, file.stream_position()?)))
}

/// The size that a compressed buffer states; refuses one that its codec cannot reach.
fn check_size(
    file: &mut File,
    body: u64,
    buffer: &Buffer,
    codec: CompressionType,
) -> Result<u64, ArrowError> {
    /// A byte of LZ4 stands for at most 255 bytes.
    const LZ4_RATIO: u64 = 255;
    /// Four bytes of zstd stand for at most a block of 128 KiB. A stated size is exact.
    const ZSTD_RATIO: u64 = 1 << 15;
    /// The stated size, and the longest header of a zstd frame.
    const START: u64 = 8 + 18;
    let place = u64::try_from(buffer.offset()).ok();
    let place = place.and_then(|offset| body.checked_add(offset));
    let length = u64::try_from(buffer.length()).unwrap_or(0);
    let mut start = Vec::new();
    if let Some(place) = place {
        file.seek(SeekFrom::Start(place))?;
        file.take(START.min(length)).read_to_end(&mut start)?;
    }
    let Some((size, frame)) = start.split_first_chunk() else {
        return Ok(0);
    };
    let stored = length - 8;
    let most = match (i64::from_le_bytes(*size), codec) {
        // Not compressed.
        (-1, _) => return Ok(stored),
        (_, CompressionType::ZSTD) => match zstd::zstd_safe::get_frame_content_size(frame) {
            Ok(Some(size)) => size.min(stored.saturating_mul(ZSTD_RATIO)),
            _ => stored.saturating_mul(ZSTD_RATIO),
        },
        (_, _) => stored.saturating_mul(LZ4_RATIO),
    };
    match u64::try_from(i64::from_le_bytes(*size)) {
        Ok(size) if size <= most => Ok(size),
        _ => Err(ArrowError::IpcError(
            "a compressed buffer states a wrong size".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_told_from_what_is_not_read() {
        let read = |kind: ErrorKind| there::<()>(Err(kind.into()));
        assert!(read(ErrorKind::UnexpectedEof).unwrap().is_none());
        // A place before the start of the file.
        assert!(read(ErrorKind::InvalidInput).unwrap().is_none());
        assert!(read(ErrorKind::PermissionDenied).is_err());
    }
}
