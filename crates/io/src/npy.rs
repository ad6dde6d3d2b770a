//! The NumPy format: a header with type and shape, then a matrix of integers.

use std::borrow::Cow;
use std::io::{self, Read};

use simgpu::scheme::Width;
use simgpu::scheme::{Slots, SlotsMut};

/// Bytes of a written header: a multiple of 64, large enough for any shape.
#[doc(hidden)]
pub const HEADER: u64 = 128;

/// The most bytes of a header that is read.
const MAX_HEADER: usize = 1 << 16;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The header of a matrix of slots, version 1.0.
#[doc(hidden)]
pub fn header(documents: u64, num_perm: usize, width: Width) -> Vec<u8> {
    let bytes = width.bytes();
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(b"\x01\x00");
    header.extend_from_slice(&118u16.to_le_bytes());
    let dict = format!(
        "{{'descr': '<u{bytes}', 'fortran_order': False, 'shape': ({documents}, {num_perm}), }}"
    );
    header.extend_from_slice(dict.as_bytes());
    header.resize(127, b' ');
    header.push(b'\n');
    header
}

/// The header of a matrix of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    pub(crate) rows: u64,
    pub(crate) columns: usize,
    pub(crate) width: Width,
    /// Bytes before the values.
    pub(crate) start: u64,
}

impl Matrix {
    /// Reads a header of version 1, 2 or 3, or says what is wrong with it.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn read_header(file: &mut impl Read) -> io::Result<Result<Self, String>> {
        let mut bytes = HeaderBytes { file, error: None };
        let header = Matrix::parse_header(&mut bytes);
        bytes.error.map_or(Ok(header), Err)
    }

    fn parse_header(file: &mut HeaderBytes<'_, impl Read>) -> Result<Self, String> {
        let cut_off = |_| "the file is cut off in its header".to_owned();
        let mut start = [0; 8];
        file.read_exact(&mut start).map_err(cut_off)?;
        if start[..6] != *MAGIC {
            return Err("it is not a NumPy file".to_owned());
        }
        let (bytes_of_length, len) = match start[6] {
            1 => {
                let mut len = [0; 2];
                file.read_exact(&mut len).map_err(cut_off)?;
                (2, usize::from(u16::from_le_bytes(len)))
            }
            2 | 3 => {
                let mut len = [0; 4];
                file.read_exact(&mut len).map_err(cut_off)?;
                (4, u32::from_le_bytes(len) as usize)
            }
            version => return Err(format!("version {version} of the NumPy format is unknown")),
        };
        if len > MAX_HEADER {
            return Err(format!(
                "its header claims {len} bytes, more than {MAX_HEADER}"
            ));
        }
        let mut dict = vec![0; len];
        file.read_exact(&mut dict).map_err(cut_off)?;
        let dict = std::str::from_utf8(&dict).map_err(|_| "its header is not UTF-8".to_owned())?;
        let (rows, columns, width) = parse_dict(dict.trim())?;
        Ok(Matrix {
            rows,
            columns,
            width,
            start: (8 + bytes_of_length + len) as u64,
        })
    }

    /// The size of the file in bytes; `None` if it exceeds 64 bits.
    pub(crate) fn file_bytes(&self) -> Option<u64> {
        let row = u64::try_from(self.columns.checked_mul(self.width.bytes())?).ok()?;
        self.rows.checked_mul(row)?.checked_add(self.start)
    }
}

/// The bytes of a header, and why no more of them could be read, unless the file ends.
struct HeaderBytes<'a, R> {
    file: &'a mut R,
    error: Option<io::Error>,
}

impl<R: Read> HeaderBytes<'_, R> {
    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<(), ()> {
        self.file.read_exact(bytes).map_err(|error| {
            if error.kind() != io::ErrorKind::UnexpectedEof {
                self.error = Some(error);
            }
        })
    }
}

/// Parses `{'descr': '<u4', 'fortran_order': False, 'shape': (3, 128), }`, in any order.
fn parse_dict(dict: &str) -> Result<(u64, usize, Width), String> {
    let after = |name: &str| {
        let keys = [format!("'{name}'"), format!("\"{name}\"")];
        let rest = keys.iter().find_map(|key| dict.split_once(&**key))?.1;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    };
    let missing = |name: &str| format!("its header lacks the {name}");
    let descr = after("descr").ok_or_else(|| missing("type"))?;
    let width = match descr.get(..5) {
        Some("'<u4'" | "\"<u4\"") => Width::U32,
        Some("'<u8'" | "\"<u8\"") => Width::U64,
        _ => {
            let end = descr.find(", '").unwrap_or(descr.len());
            let descr = &descr[..end];
            return Err(format!("its values have type {descr}, not '<u4' or '<u8'"));
        }
    };
    let order = after("fortran_order").ok_or_else(|| missing("order"))?;
    if !order.starts_with("False") {
        return Err("it is stored column by column (fortran_order), not row by row".to_owned());
    }
    let shape = after("shape").ok_or_else(|| missing("shape"))?;
    let inner = shape
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'));
    let inner = inner.ok_or_else(|| missing("shape"))?.0;
    let numbers: Vec<&str> = inner.split(',').map(str::trim).collect();
    let numbers = match numbers.as_slice() {
        [rows, columns] | [rows, columns, ""] => (rows.parse().ok(), columns.parse().ok()),
        _ => (None, None),
    };
    match numbers {
        (Some(rows), Some(columns)) => Ok((rows, columns, width)),
        _ => Err(format!("its shape is ({inner}), not (documents, num_perm)")),
    }
}

/// The bytes of slots as stored, little-endian.
pub(crate) fn bytes_of(slots: Slots<'_>) -> Cow<'_, [u8]> {
    match slots {
        _ if cfg!(target_endian = "little") => Cow::Borrowed(match slots {
            Slots::U32(slots) => bytemuck::cast_slice(slots),
            Slots::U64(slots) => bytemuck::cast_slice(slots),
        }),
        Slots::U32(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
        Slots::U64(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
    }
}

/// Reads stored slots.
pub(crate) fn read_slots(file: &mut impl Read, slots: SlotsMut<'_>) -> io::Result<()> {
    match slots {
        SlotsMut::U32(slots) => {
            file.read_exact(bytemuck::cast_slice_mut(slots))?;
            let slots = slots.iter_mut();
            slots.for_each(|slot| *slot = u32::from_le(*slot));
        }
        SlotsMut::U64(slots) => {
            file.read_exact(bytemuck::cast_slice_mut(slots))?;
            let slots = slots.iter_mut();
            slots.for_each(|slot| *slot = u64::from_le(*slot));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_header_reads_back() {
        for (rows, columns, width) in [
            (1_000_000_000_000, 1 << 20, Width::U64),
            (0, 1, Width::U32),
            (3, 128, Width::U32),
        ] {
            let header = header(rows, columns, width);
            assert_eq!(header.len() as u64, HEADER);
            let stated = usize::from(u16::from_le_bytes([header[8], header[9]]));
            assert_eq!(stated + 10, header.len());
            let expected = Matrix {
                rows,
                columns,
                width,
                start: HEADER,
            };
            assert_eq!(
                Matrix::read_header(&mut &*header).unwrap().unwrap(),
                expected
            );
            for len in 0..header.len() {
                assert!(Matrix::read_header(&mut &header[..len]).unwrap().is_err());
            }
        }
    }

    #[test]
    fn a_header_that_the_system_does_not_read_is_not_damaged() {
        struct Failing;

        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::PermissionDenied.into())
            }
        }

        let whole = header(3, 128, Width::U32);
        for len in 0..whole.len() {
            let read = Matrix::read_header(&mut (&whole[..len]).chain(Failing));
            assert_eq!(read.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        }
    }

    #[test]
    fn headers_of_other_writers_are_parsed() {
        let parse = |dict: &str| parse_dict(dict);
        let matrix = Ok((5, 7, Width::U64));
        let dict = "{'descr': '<u8', 'fortran_order': False, 'shape': (5, 7), }";
        assert_eq!(parse(dict), matrix);
        let dict = "{\"shape\":(5,7,),\"fortran_order\":False,\"descr\":\"<u8\"}";
        assert_eq!(parse(dict), matrix);
        for (dict, problem) in [
            ("", "lacks the type"),
            (
                "{'descr': '>u4', 'fortran_order': False, 'shape': (5, 7), }",
                "type '>u4'",
            ),
            (
                "{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (5, 7), }",
                "type [('a'",
            ),
            (
                "{'descr': '<u4', 'fortran_order': True, 'shape': (5, 7), }",
                "column by column",
            ),
            (
                "{'descr': '<u4', 'fortran_order': False, 'shape': (5,), }",
                "(5,)",
            ),
            (
                "{'descr': '<u4', 'fortran_order': False, 'shape': (-5, 7), }",
                "(-5, 7)",
            ),
            (
                "{'descr': '<u4', 'fortran_order': False}",
                "lacks the shape",
            ),
            ("{'descr': 'é", "type"),
        ] {
            let error = parse(dict).unwrap_err();
            assert!(error.contains(problem), "{dict}: {error}");
        }
    }
}
