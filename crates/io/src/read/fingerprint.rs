//! What shows, on a second read, whether a file has changed.

use std::fs::Metadata;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::input::InputFile;
use simgpu::error::{Error, Result};
use simgpu::store::disk::is_absent;

/// What shows, on a second read, whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Fingerprint {
    size: u64,
    modified: Option<SystemTime>,
    /// XXH3 of the decompressed bytes; 0 for Parquet and Arrow, which are not read from end to
    /// end.
    pub(super) checksum: u64,
    /// Bytes read, decompressed.
    pub(crate) bytes: u64,
}

impl Fingerprint {
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        Fingerprint {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            checksum: 0,
            bytes: 0,
        }
    }

    /// The size of the file, compressed.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// XXH3 of the decompressed bytes that were read; `None` for Parquet and Arrow.
    pub(crate) fn checksum(&self) -> Option<u64> {
        Some(self.checksum).filter(|checksum| *checksum != 0)
    }

    /// Whether the file is gone by now, or has another size or time.
    ///
    /// # Errors
    /// [`Error::Io`] if that cannot be told.
    #[doc(hidden)]
    pub fn is_outdated(&self, input: &InputFile) -> Result<bool> {
        match input.metadata() {
            Err(error) if is_absent(&error) => Ok(true),
            Err(error) => Err(Error::io("read", &input.named)(error)),
            Ok(now) => Ok((self.size, self.modified) != (now.len(), now.modified().ok())),
        }
    }

    /// Whether the file is unchanged. Ignores the number of bytes read, because two reads of a table may read
    /// different columns.
    #[doc(hidden)]
    pub fn is_of_same_file(&self, other: &Fingerprint) -> bool {
        let stamp = |f: &Fingerprint| (f.size, f.modified, f.checksum);
        stamp(self) == stamp(other)
    }
}
