//! Errors of the key-value store.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fjall::LsmError;

use super::table::Table;
use crate::filter::Filter;
use crate::store_files::damaged;
use crate::store_files::{self, Extent};
use crate::store_names::STORE;
use simgpu::error::{Error, Result, Unsupported};

/// What went wrong in the store.
pub(super) enum Wrong {
    Error(fjall::Error),
    /// It panicked, which it does on some damaged files.
    Panic,
}

impl Wrong {
    pub(super) fn error(self, action: &'static str, folder: &Path) -> Error {
        match self {
            // So it fails to start a thread.
            Wrong::Error(fjall::Error::Io(cause)) if cause.kind() == io::ErrorKind::WouldBlock => {
                Error::Unsupported(Unsupported::Threads {
                    threads: 1,
                    reason: cause.to_string(),
                })
            }
            Wrong::Error(fjall::Error::Io(cause) | fjall::Error::Storage(LsmError::Io(cause)))
                if cause.kind() != io::ErrorKind::UnexpectedEof =>
            {
                Error::io(action, folder)(cause)
            }
            Wrong::Error(fjall::Error::Locked) => Error::Input {
                path: folder.to_owned(),
                problem: "another program has the store of the index open".to_owned(),
                remedy: "wait until it ends".to_owned(),
            },
            Wrong::Error(fjall::Error::Poisoned) => Error::Input {
                path: folder.to_owned(),
                problem: "an earlier write to the index failed".to_owned(),
                remedy: "check the disk, and open the index again".to_owned(),
            },
            Wrong::Error(_) | Wrong::Panic => damaged_store(folder),
        }
    }
}

/// Reads all files of the tables of an index, and compares them with their checksums.
///
/// # Errors
/// [`Error::Input`] that names the first damaged file; [`Error::Io`].
pub(crate) fn check_files(folder: &Path) -> Result<()> {
    let store = folder.join(STORE);
    store_files::check(&store, Table::ALL.len(), Extent::Files)?;
    Filter::open(&store)?.map_or(Ok(()), |filter| filter.check())
}

/// The error of a store that cannot be read. It reads all files, to name the one that is damaged.
pub(super) fn damaged_store(folder: &Path) -> Error {
    check_files(folder)
        .err()
        .unwrap_or_else(|| damaged(folder, "its store cannot be read"))
}

/// Calls the store, which may panic if a file is damaged.
pub(super) fn guarded<T>(call: impl FnOnce() -> fjall::Result<T>) -> std::result::Result<T, Wrong> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(Wrong::Error),
        Err(_) => Err(Wrong::Panic),
    }
}
