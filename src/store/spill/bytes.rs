//! Bytes that were read back from a temporary file.

use std::ops::Deref;
use std::path::Path;

use crate::error::{Error, Result};

/// Bytes from a temporary file, which are taken from the front. Bytes that are not there are an error that names the
/// file: no record reads as zeros.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Stored<'a> {
    bytes: &'a [u8],
    path: &'a Path,
}

impl Deref for Stored<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl<'a> Stored<'a> {
    pub(crate) fn new(bytes: &'a [u8], path: &'a Path) -> Self {
        Stored { bytes, path }
    }

    /// The error of a file that is not as it was written.
    #[doc(hidden)]
    pub fn damaged(&self) -> Error {
        Error::DamagedSpill {
            path: self.path.to_owned(),
        }
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    /// [`Error::DamagedSpill`] if there are fewer.
    #[doc(hidden)]
    pub fn take(&mut self, bytes: u64) -> Result<&'a [u8]> {
        let bytes = usize::try_from(bytes).ok();
        let (taken, rest) = bytes
            .and_then(|bytes| self.bytes.split_at_checked(bytes))
            .ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Takes `N` words.
    ///
    /// # Errors
    /// [`Error::DamagedSpill`] if there are fewer.
    #[doc(hidden)]
    pub fn words<const N: usize>(&mut self) -> Result<[u32; N]> {
        let words = self.take(size_of::<[u32; N]>() as u64)?;
        Ok(bytemuck::pod_read_unaligned(words))
    }

    /// The bytes that were taken since there were `self`, up to `rest`.
    pub(crate) fn until(&self, rest: &Stored<'a>) -> &'a [u8] {
        &self.bytes[..self.bytes.len() - rest.bytes.len()]
    }

    /// All records, each of which `read` takes. A damaged one is the last.
    #[doc(hidden)]
    pub fn records<T>(
        mut self,
        mut read: impl FnMut(&mut Stored<'a>) -> Result<T>,
    ) -> impl Iterator<Item = Result<T>> {
        std::iter::from_fn(move || {
            if self.bytes.is_empty() {
                return None;
            }
            let record = read(&mut self);
            if record.is_err() {
                self.bytes = &[];
            }
            Some(record)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_cut_off_is_an_error() {
        let bytes: Vec<u8> = (0..16).collect();
        let path = Path::new("counts-0");
        let read = |length: usize| {
            let stored = Stored::new(&bytes[..length], path);
            stored.records(Stored::words::<2>).collect::<Vec<_>>()
        };
        let word = |at: u8| u32::from_ne_bytes([at, at + 1, at + 2, at + 3]);
        assert!(read(0).is_empty());
        for length in 0..=16 {
            let records = read(length);
            assert_eq!(records.len(), length.div_ceil(8), "{length}");
            let last = records.into_iter().next_back();
            match (last, length % 8) {
                (None, _) => assert_eq!(length, 0),
                (Some(Ok(words)), 0) if length == 8 => assert_eq!(words, [word(0), word(4)]),
                (Some(Ok(words)), 0) => assert_eq!(words, [word(8), word(12)]),
                (Some(Err(Error::DamagedSpill { path: named })), 1..) => assert_eq!(named, path),
                (Some(other), _) => panic!("{length}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        let mut stored = Stored::new(&[1, 2, 3], Path::new("sets-0"));
        let whole = stored;
        assert_eq!(stored.take(2).unwrap(), [1, 2]);
        assert_eq!(whole.until(&stored), [1, 2]);
        for bytes in [2, 1 << 40, u64::MAX] {
            let error = stored.take(bytes).unwrap_err().to_string();
            assert!(error.starts_with("sets-0 is damaged"), "{error}");
        }
        assert_eq!(stored.take(1).unwrap(), [3]);
    }
}
