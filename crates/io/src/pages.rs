//! The headers of the pages of Parquet columns.
//!
//! **How large a page is, before it is decompressed**: the library's reader allocates what the header of a page states, without
//! a way to ask it first. The sizes in the metadata of the file are of whole columns, and nothing checks that they are true.
//!
//! **Checksums**: the library's writer states none.
//!
//! Format: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>, in the compact protocol of Thrift.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

/// The sizes of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageSize {
    /// Bytes of the page when it is decompressed.
    pub(super) bytes: u64,
    /// Bytes of the page in the file, after its header.
    stored: u64,
    /// The values of the page.
    pub(super) values: u64,
}

/// The sizes of the pages of a part of a column, its dictionary included. Ends early where a header cannot be read: the reader of the
/// pages reports that.
pub(super) fn page_sizes(file: &File, column: &ColumnChunkMetaData) -> io::Result<Vec<PageSize>> {
    /// Most headers are shorter.
    const HEADER: usize = 1 << 9;
    let (mut at, len) = column.byte_range();
    let end = at.saturating_add(len);
    let mut source = BufReader::with_capacity(HEADER, file.try_clone()?);
    let mut sizes = Vec::new();
    while at < end {
        source.seek(SeekFrom::Start(at))?;
        let mut header = HeaderReader {
            source: source.by_ref().take(end - at),
            read: 0,
        };
        let Ok(size) = header.page() else {
            break;
        };
        at = at.saturating_add(header.read).saturating_add(size.stored);
        sizes.push(size);
    }
    Ok(sizes)
}

/// The header of a page that is written.
#[derive(Debug)]
pub(super) struct PageHeader {
    pub(super) bytes: Bytes,
    /// How many of its bytes the writer does not know of.
    pub(super) added: usize,
    /// Whether the page is the dictionary of its column.
    pub(super) is_dictionary: bool,
}

/// The header of a page with the checksum (CRC-32) of its data, unless it has one.
pub(super) fn with_checksum(header: &Bytes, checksum: u32) -> Result<PageHeader, ParquetError> {
    // The numbers of fields in `PageHeader`, and a value of the first.
    const TYPE: i16 = 1;
    const COMPRESSED: i16 = 3;
    const CHECKSUM: i16 = 4;
    const DICTIONARY: i64 = 2;
    let unknown = |_| ParquetError::General("the header of a page is unknown".to_owned());
    let mut reader = HeaderReader {
        source: &**header,
        read: 0,
    };
    let mut find = || {
        let (mut is_dictionary, mut before) = (false, 0);
        loop {
            let at = usize::try_from(reader.read).map_err(|_| invalid())?;
            let next = reader.field(before)?;
            match next {
                Some((CHECKSUM, _)) => return Ok((is_dictionary, None)),
                _ if before == COMPRESSED => return Ok((is_dictionary, Some(at))),
                None => return Err(invalid()),
                Some((TYPE, _)) => is_dictionary = reader.zigzag()? == DICTIONARY,
                Some((_, kind)) => reader.skip(kind, DEEPEST)?,
            }
            before = next.map_or(0, |(number, _)| number);
        }
    };
    let (is_dictionary, place) = find().map_err(unknown)?;
    let Some(at) = place else {
        return Ok(PageHeader {
            bytes: header.clone(),
            added: 0,
            is_dictionary,
        });
    };
    let (before, after) = header.split_at(at);
    let mut bytes = before.to_vec();
    bytes.push(0x10 | kind::I32);
    // The bits as a signed number, in zigzag form.
    let signed = i64::from(checksum.cast_signed());
    let mut rest = ((signed << 1) ^ (signed >> 63)).cast_unsigned();
    while rest >= 0x80 {
        bytes.push((rest & 0x7F | 0x80).to_le_bytes()[0]);
        rest >>= 7;
    }
    bytes.push(rest.to_le_bytes()[0]);
    // The next field states its number as the step from the one before, which was 3, and now is 4.
    let next = after[0];
    let has_step = next != kind::STOP && next >> 4 != 0;
    bytes.push(if has_step { next - 0x10 } else { next });
    bytes.extend_from_slice(&after[1..]);
    Ok(PageHeader {
        added: bytes.len() - header.len(),
        bytes: bytes.into(),
        is_dictionary,
    })
}

/// A header that is read.
struct HeaderReader<R> {
    source: R,
    read: u64,
}

/// Types of the compact protocol.
mod kind {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const STRUCT: u8 = 12;
}

/// Structures in each other, at most. Those of a page are three deep.
const DEEPEST: u8 = 8;

impl<R: Read> HeaderReader<R> {
    fn page(&mut self) -> io::Result<PageSize> {
        // The numbers of the fields in `PageHeader`.
        const UNCOMPRESSED: i16 = 2;
        const COMPRESSED: i16 = 3;
        /// Headers of pages of values, of dictionaries, and of the second form of pages. Each begins with the number of values.
        const OF_VALUES: [i16; 3] = [5, 7, 8];
        let (mut bytes, mut stored, mut values) = (None, None, 0);
        let mut field = 0;
        while let Some((number, kind)) = self.field(field)? {
            field = number;
            match number {
                UNCOMPRESSED => bytes = Some(self.size()?),
                COMPRESSED => stored = Some(self.size()?),
                _ if OF_VALUES.contains(&number) && kind == kind::STRUCT => {
                    let mut inner = 0;
                    while let Some((number, kind)) = self.field(inner)? {
                        inner = number;
                        if number == 1 {
                            values = self.size()?;
                        } else {
                            self.skip(kind, DEEPEST)?;
                        }
                    }
                }
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        match (bytes, stored) {
            (Some(bytes), Some(stored)) => Ok(PageSize {
                bytes,
                stored,
                values,
            }),
            _ => Err(invalid()),
        }
    }

    /// The number and type of the next field; `None` at the end of the structure.
    fn field(&mut self, before: i16) -> io::Result<Option<(i16, u8)>> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 0xF);
        if kind == kind::STOP {
            return Ok(None);
        }
        let number = match step {
            0 => i16::try_from(self.zigzag()?).map_err(|_| invalid())?,
            step => before.checked_add(step.into()).ok_or_else(invalid)?,
        };
        Ok(Some((number, kind)))
    }

    fn skip(&mut self, kind: u8, depth: u8) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(invalid)?;
        match kind {
            kind::TRUE | kind::FALSE => Ok(()),
            kind::BYTE => self.skip_bytes(1),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.skip_bytes(8),
            kind::BINARY => {
                let len = self.varint()?;
                self.skip_bytes(len)
            }
            kind::LIST | kind::SET => {
                let byte = self.byte()?;
                let len = match byte >> 4 {
                    15 => self.varint()?,
                    short => short.into(),
                };
                // Each element takes a byte or more, so the end of the part ends this.
                (0..len).try_for_each(|_| match byte & 0xF {
                    kind::TRUE | kind::FALSE => self.skip_bytes(1),
                    kind => self.skip(kind, depth),
                })
            }
            kind::STRUCT => {
                let mut field = 0;
                while let Some((number, kind)) = self.field(field)? {
                    field = number;
                    self.skip(kind, depth)?;
                }
                Ok(())
            }
            _ => Err(invalid()),
        }
    }

    /// A number of bytes or values.
    fn size(&mut self) -> io::Result<u64> {
        u64::try_from(self.zigzag()?).map_err(|_| invalid())
    }

    fn zigzag(&mut self) -> io::Result<i64> {
        let bits = self.varint()?;
        let magnitude = i64::try_from(bits >> 1).map_err(|_| invalid())?;
        Ok(if bits & 1 == 0 { magnitude } else { !magnitude })
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut bits = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            bits |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(bits);
            }
        }
        Err(invalid())
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.source.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    fn skip_bytes(&mut self, len: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.source.by_ref().take(len), &mut io::sink())?;
        self.read += skipped;
        if skipped == len {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

fn invalid() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    #[test]
    fn sizes_are_those_of_the_pages_that_the_reader_decompresses() {
        let texts = (0..3_000).map(|i| "word ".repeat(i % 50) + &i.to_string());
        let columns: [(&str, ArrayRef); 2] = [
            ("text", Arc::new(StringArray::from_iter_values(texts))),
            ("number", Arc::new(Int32Array::from_iter(0..3_000))),
        ];
        let rows = RecordBatch::try_from_iter(columns).unwrap();
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for has_dictionary in [false, true] {
                let properties = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_dictionary_enabled(has_dictionary)
                    .set_data_page_row_count_limit(700)
                    .set_write_batch_size(100)
                    .set_statistics_enabled(EnabledStatistics::Page)
                    .set_write_page_header_statistics(true)
                    .set_max_row_group_row_count(Some(2_000))
                    .build();
                let file = tempfile::tempfile().unwrap();
                let target = file.try_clone().unwrap();
                let mut writer = ArrowWriter::try_new(target, rows.schema(), Some(properties));
                let writer = writer.as_mut().unwrap();
                writer.write(&rows).unwrap();
                writer.finish().unwrap();
                let reader = SerializedFileReader::new(file.try_clone().unwrap()).unwrap();
                for group in 0..reader.num_row_groups() {
                    let group = reader.get_row_group(group).unwrap();
                    for column in 0..2 {
                        let mut pages = group.get_column_page_reader(column).unwrap();
                        let mut expected = Vec::new();
                        while let Some(page) = pages.get_next_page().unwrap() {
                            expected
                                .push((page.buffer().len() as u64, u64::from(page.num_values())));
                        }
                        let found = page_sizes(&file, group.metadata().column(column)).unwrap();
                        let found: Vec<_> =
                            found.iter().map(|page| (page.bytes, page.values)).collect();
                        assert_eq!(found, expected);
                        assert!(found.len() > 1);
                    }
                }
            }
        }
    }

    #[test]
    fn a_damaged_header_ends_the_pages() {
        for bytes in [
            &b""[..],
            &[0],
            &[
                0x15, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            ],
            &[0x1C; 100],
            &[0x19, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x15],
            &[0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x15],
        ] {
            let mut header = HeaderReader {
                source: bytes,
                read: 0,
            };
            assert!(header.page().is_err(), "{bytes:?}");
        }
    }
}
