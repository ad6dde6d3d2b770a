//! Says what is wrong with a compressed file that cannot be read.
//!
//! The file is read again, stream by stream. A bad record of a compressed file is reported only if its stream is
//! whole, since damage may decompress to anything.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use super::compression::{Compression, skip_zeros};
use super::refusal::Refusal;

/// Why a compressed file cannot be read.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    /// Its last stream has no end.
    CutOff,
    /// A stream is not as it was written, and how that shows.
    Damaged(String),
    /// Other bytes follow its last stream.
    Followed,
    /// A stream was compressed with the dictionary of this number.
    Dictionary(u32),
}

/// The reason to refuse a file that [`Compression::reader`] cannot read, which is read again to find it.
pub(super) fn refusal(
    compression: Compression,
    error: &io::Error,
    file: impl Read + Seek,
) -> Refusal {
    let kind = compression.name();
    let again = "get the file again from its source";
    let fault = match error.raw_os_error() {
        None => fault_of(compression, file).unwrap_or(None),
        Some(_) => None,
    };
    match fault {
        None => Refusal::new(format!("the {kind} stream cannot be read ({error})"), again),
        Some(Fault::CutOff) => Refusal::new(format!("the {kind} stream is cut off"), again),
        Some(Fault::Damaged(how)) => {
            Refusal::new(format!("the {kind} stream is damaged ({how})"), again)
        }
        Some(Fault::Followed) => Refusal::new(
            format!("bytes that are not {kind} follow the {kind} stream"),
            format!(
                "get the file again from its source, or give what precedes them, decompressed: `{kind} -dc FILE > NEW`"
            ),
        ),
        Some(Fault::Dictionary(id)) => Refusal::new(
            format!("the {kind} stream needs dictionary {id}, with which it was compressed"),
            format!("decompress it with {kind} -d -D and that dictionary, and give the result"),
        ),
    }
}

/// Reads the streams of a file one by one, up to the first fault.
fn fault_of(compression: Compression, file: impl Read + Seek) -> io::Result<Option<Fault>> {
    let mut file = BufReader::with_capacity(1 << 18, file);
    loop {
        let zeros = match compression {
            Compression::Gzip | Compression::Xz => skip_zeros(&mut file)?,
            _ => 0,
        };
        let start = peek(&mut file)?;
        let is_padded = compression != Compression::Xz || zeros % 4 == 0;
        if start.is_empty() && is_padded {
            return Ok(None);
        }
        if !is_padded || Compression::from_start(&start) != compression {
            return Ok(Some(if compression.may_begin(&start) {
                Fault::CutOff
            } else {
                Fault::Followed
            }));
        }
        if let (Compression::Zstd, Some(id)) =
            (compression, zstd::zstd_safe::get_dict_id_from_frame(&start))
        {
            return Ok(Some(Fault::Dictionary(id.get())));
        }
        let mut counted = ByteCount(0);
        let read = compression
            .one_stream(&mut file)
            .and_then(|mut stream| io::copy(&mut stream, &mut counted));
        match read {
            Ok(_) => {}
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let has_end = has_end(compression, &mut file, counted.0)?;
                return Ok(Some(if has_end {
                    Fault::Damaged("it does not end where it should".to_owned())
                } else {
                    Fault::CutOff
                }));
            }
            Err(error) => return Ok(Some(Fault::Damaged(error.to_string()))),
        }
    }
}

/// The first bytes of what follows, without reading past them.
fn peek<R: Read + Seek>(file: &mut BufReader<R>) -> io::Result<Vec<u8>> {
    /// The longest header of a zstd frame.
    const HEADER: usize = 18;
    let mut start = Vec::new();
    let read = file.by_ref().take(HEADER as u64).read_to_end(&mut start)?;
    file.seek_relative(-i64::try_from(read).unwrap_or(0))?;
    Ok(start)
}

/// Whether a file has the end of a stream of which so many bytes were decompressed, so that it is not cut off. A stream of
/// zstd has nothing at its end.
fn has_end<R: Read + Seek>(
    compression: Compression,
    file: &mut BufReader<R>,
    decompressed: u64,
) -> io::Result<bool> {
    /// The mark that ends a bzip2 stream, before four bytes. Both begin at any bit.
    const BZIP2_END: u128 = 0x1772_4538_5090;
    const END: usize = 11;
    let len = file.seek(SeekFrom::End(0))?;
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(len.saturating_sub(END as u64)))?;
    file.read_to_end(&mut end)?;
    Ok(match compression {
        Compression::Xz => {
            let zeros = end.iter().rev().take_while(|byte| **byte == 0).count();
            end[..end.len() - zeros].ends_with(b"YZ")
        }
        Compression::Bzip2 => {
            let bits = end
                .iter()
                .fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
            (0..8).any(|pad| bits >> (32 + pad) & 0xFFFF_FFFF_FFFF == BZIP2_END)
        }
        // It ends with its size. Damage changes how much is decompressed, but seldom by much.
        Compression::Gzip => match end.last_chunk() {
            Some(size) => {
                let size = u32::from_le_bytes(*size);
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "the size is stated modulo 2^32"
                )]
                let off = size.abs_diff(decompressed as u32);
                u64::from(off) <= (decompressed / 64).clamp(256, 1 << 20)
            }
            None => false,
        },
        Compression::None | Compression::Zstd => false,
    })
}

/// Counts what is written to it.
struct ByteCount(u64);

impl Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
