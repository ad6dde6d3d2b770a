//! Records on disk, for runs larger than memory: written in any order, read back in order, in bounded memory.
//!
//! [`Streams`] hold records of any length in the order in which they were written. [`Partitions`] distribute records
//! of fixed length by their first word, and [`KeyedRecords`] records of any length by a key; each part is then sorted in
//! memory. All are read from beginning to end: nothing is read at random.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::progress::DiskUse;

mod keyed;
mod partitions;
mod streams;

pub(crate) use keyed::{KeyedRecords, SortedRecords};
pub(crate) use partitions::{Partitions, Sorted};
pub(crate) use streams::{BlockReader, StreamFile, Streams};

/// The beginning of the name of a folder of temporary files.
const PREFIX: &str = "simgpu-spill-";

/// The file in such a folder that its run locks.
const LOCK: &str = ".lock";

/// Removes the folders of runs that were killed: those whose lock nobody holds. A folder that cannot be removed stays.
fn remove_abandoned(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_runs = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for entry in of_runs {
        // A folder without this file is about to be used.
        if let Ok(lock) = File::open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder of temporary files, and the memory to work in.
#[derive(Debug)]
pub(crate) struct Spill {
    folder: tempfile::TempDir,
    /// Locked as long as the run lasts, so that others see that the folder is in use.
    _lock: File,
    memory: usize,
    written: AtomicU64,
    read: AtomicU64,
}

/// Bytes of memory for a run, and the folder for what does not fit.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    pub(crate) memory: usize,
    pub(crate) folder: PathBuf,
}

impl Budget {
    /// Bytes that a run holds while it reads: the stages after it need more.
    pub(crate) fn held(&self) -> usize {
        self.memory / 2
    }
}

/// The share of memory for the buffers of everything written at one time.
const BUFFERS: usize = 8;

impl Spill {
    /// Makes a folder in `folder` that only its owner may open, and that is removed at the end. Removes those of runs
    /// that were killed.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be created.
    pub(crate) fn new(folder: &Path, memory: usize) -> Result<Arc<Self>> {
        remove_abandoned(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let created = builder.tempdir_in(folder);
        let created = created.map_err(Error::io("create a folder in", folder))?;
        let lock = created.path().join(LOCK);
        let locked = File::create(&lock).and_then(|lock| {
            lock.lock()?;
            Ok(lock)
        });
        Ok(Arc::new(Spill {
            folder: created,
            _lock: locked.map_err(Error::io("lock", lock))?,
            memory,
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
        }))
    }

    /// Bytes of memory to work in.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The path of a file.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Bytes of a block, if this many files are written at a time.
    fn block_bytes(&self, files: usize) -> usize {
        const LEAST: usize = 4 << 10;
        const MOST: usize = 256 << 10;
        (self.memory / BUFFERS / files.max(1)).clamp(LEAST, MOST)
    }

    /// Bytes read and written since the last call.
    pub(crate) fn take_use(&self, parts: usize) -> DiskUse {
        DiskUse {
            parts: parts as u64,
            read_bytes: self.read.swap(0, Ordering::Relaxed),
            written_bytes: self.written.swap(0, Ordering::Relaxed),
        }
    }
}

/// Parts of at most this size are never divided: it would save no memory worth the files.
const MOST_AT_ONCE: u64 = 64 << 10;

/// The first words of the records of part `part` of `count`, if those of all parts are `range`.
fn range_of_part(range: &Range<u64>, part: u64, count: u64) -> Range<u64> {
    let width = range.end - range.start;
    // The number of a record's part is rounded down.
    let start = |part: u64| {
        let least = (u128::from(part) * u128::from(width)).div_ceil(u128::from(count));
        range.start + u64::try_from(least).unwrap_or(u64::MAX)
    };
    start(part)..start(part + 1)
}

/// The words at the beginning of a record; `None` at the end of a block.
pub(crate) fn words_at<const N: usize>(record: &[u8]) -> Option<[u32; N]> {
    let words = record.get(..size_of::<[u32; N]>())?;
    Some(bytemuck::pod_read_unaligned(words))
}
