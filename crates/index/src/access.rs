//! Who may use the folder of an index: one process that writes it, or any number that read it.
//!
//! A file in the folder is locked as long as an index is open. A process that may write the index locks it for itself alone. One that
//! may not shares the lock with others of its kind.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::journals;
use super::store_names::{ACKNOWLEDGED, CURRENT, STORE, STORE_LOCK, TABLES};
use simgpu::error::{Error, Result};
use simgpu::store::Locked;

/// The name of the file that is locked as long as an index is open.
pub(super) const LOCK: &str = "lock";

/// A lock of the folder of an index.
pub(super) struct Access {
    /// What may not be written, and why; `None` if everything may.
    pub(super) read_only: Option<Unwritable>,
    _lock: Locked,
}

/// A file or folder of an index that may not be written.
#[derive(Clone, Debug)]
pub(super) struct Unwritable {
    path: PathBuf,
    reason: String,
}

impl Unwritable {
    /// The error of a change of the index in this folder.
    pub(super) fn error(&self, folder: &Path) -> Error {
        Error::Input {
            path: folder.to_owned(),
            problem: format!(
                "the index may be read, but not changed: {}: {}",
                self.path.display(),
                self.reason
            ),
            remedy: "run as a user who may write there, or change a copy, which `simgpu index snapshot` makes"
                .to_owned(),
        }
    }
}

impl Access {
    /// Locks a folder to write an index there.
    pub(super) fn to_write(folder: &Path) -> Result<Self> {
        Ok(Access {
            read_only: None,
            _lock: lock(folder)?,
        })
    }

    /// Locks the folder of an index to write it, or to read it if it may not be written.
    pub(super) fn to(folder: &Path) -> Result<Self> {
        let Some(unwritable) = unwritable(folder) else {
            return Access::to_write(folder);
        };
        let path = folder.join(LOCK);
        let file = File::open(&path).map_err(|error| match error.kind() {
            // A process that may write there makes the file.
            ErrorKind::NotFound => unwritable.error(folder),
            _ => Error::io("open", &path)(error),
        })?;
        let mut own = file.try_clone().map_err(Error::io("open", &path))?;
        let lock = Locked::try_shared(file).map_err(|error| refused(folder, error, &mut own))?;
        Ok(Access {
            read_only: Some(unwritable),
            _lock: lock,
        })
    }
}

/// Locks the folder of an index, and notes which process did.
fn lock(folder: &Path) -> Result<Locked> {
    let path = folder.join(LOCK);
    let file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path);
    let file = file.map_err(Error::io("open", &path))?;
    let mut own = file.try_clone().map_err(Error::io("open", &path))?;
    let locked = Locked::try_new(file).map_err(|error| refused(folder, error, &mut own))?;
    let mut note = || {
        own.set_len(0)?;
        own.rewind()?;
        write!(own, "{}", std::process::id())
    };
    note().map_err(Error::io("write", &path))?;
    Ok(locked)
}

/// The error of a folder that cannot be locked.
fn refused(folder: &Path, error: TryLockError, file: &mut File) -> Error {
    let (problem, remedy) = match error {
        TryLockError::WouldBlock => (
            format!("process {} has the index open", holder(file)),
            "wait until it ends, or read a copy, which `simgpu index snapshot` makes meanwhile",
        ),
        TryLockError::Error(cause) => (
            format!("the index cannot be locked: {cause}"),
            "put it on a file system that has locks, such as one on a local disk",
        ),
    };
    Error::Input {
        path: folder.to_owned(),
        problem,
        remedy: remedy.to_owned(),
    }
}

/// The process that has locked a file, as the file says. Those that may only read the file cannot say so.
fn holder(file: &mut File) -> String {
    let is_shared = match file.try_lock_shared() {
        Ok(()) => file.unlock().is_ok(),
        Err(_) => false,
    };
    if is_shared {
        return "another that only reads it".to_owned();
    }
    let mut holder = String::new();
    let read = file.take(20).read_to_string(&mut holder);
    let is_number = !holder.is_empty() && holder.bytes().all(|byte| byte.is_ascii_digit());
    match read {
        Ok(_) if is_number => holder,
        _ => "another".to_owned(),
    }
}

/// The first file or folder of an index that its changes would write and that this process may not write.
fn unwritable(folder: &Path) -> Option<Unwritable> {
    let store = folder.join(STORE);
    let mut paths = vec![
        folder.to_owned(),
        folder.join(LOCK),
        folder.join(ACKNOWLEDGED),
        store.join(TABLES),
        store.join(STORE_LOCK),
    ];
    let journals = journals::names(&store).unwrap_or_default();
    paths.extend(journals.into_iter().map(|name| store.join(name)));
    let in_folder = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    for table in in_folder(&store.join(TABLES)) {
        paths.extend(in_folder(&table).into_iter().filter(|path| path.is_dir()));
        paths.extend([table.join(CURRENT), table]);
    }
    paths.push(store);
    paths.into_iter().find_map(|path| {
        let reason = may_write(&path).err()?.to_string();
        Some(Unwritable { path, reason })
    })
}

/// An error if this process may not write a file or folder. One that is missing is made.
#[cfg(unix)]
fn may_write(path: &Path) -> io::Result<()> {
    let error = match rustix::fs::access(path, rustix::fs::Access::WRITE_OK) {
        Ok(()) => return Ok(()),
        Err(error) => io::Error::from(error),
    };
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn may_write(path: &Path) -> io::Result<()> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.permissions().readonly() => {
            Err(ErrorKind::PermissionDenied.into())
        }
        _ => Ok(()),
    }
}
