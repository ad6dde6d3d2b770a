//! A copy of an index, while another process may have it open.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::header::{HEADER, Header};
use super::persistent::Index;
use super::store::{acknowledge, acknowledged};
use super::store_copy::{copy_bytes, copy_files};
use super::store_names::sync_file_or_folder;
use crate::error::{Error, Result};
use crate::store::disk::{OnDisk, sync_folder};

/// How often a copy is begun, if the index changes too much meanwhile.
const TRIALS: u32 = 20;

impl Index {
    /// Copies the index in `folder` to the folder `copy`, which must not exist, also while another process has it open. The
    /// copy has all batches that were on disk before, whole, and perhaps later ones. Files that never change are linked if
    /// both folders are on the same file system, so that they take no space as long as the index has them, too. Returns the
    /// number of its documents.
    ///
    /// # Errors
    /// [`Error::Input`] if the folder holds no index, a damaged one, or one that changes too fast; [`Error::Output`] if there
    /// is something at `copy`; [`Error::Io`].
    pub fn snapshot(folder: &Path, copy: &Path) -> Result<u64> {
        Header::read(folder)?.resolve(folder)?;
        if fs::symlink_metadata(copy).is_ok() {
            return Err(Error::Output {
                path: copy.to_owned(),
                problem: "it exists".to_owned(),
                remedy: "name a new folder".to_owned(),
            });
        }
        let parent = match copy.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut problem = None;
        for trial in 0..TRIALS {
            thread::sleep(Duration::from_millis(10) * trial);
            let mut made = tempfile::Builder::new();
            // As others are made: the umask decides.
            #[cfg(unix)]
            made.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
            let made = made.prefix(".tmp").tempdir_in(parent);
            let made = made.map_err(Error::io("create a folder in", parent))?;
            let before = acknowledged(folder)?;
            if !copy_files(folder, made.path())? {
                continue;
            }
            let (from, to) = (folder.join(HEADER), made.path().join(HEADER));
            let copied = copy_bytes(&from, &to).and_then(|()| sync_file_or_folder(&to));
            copied.map_err(Error::io("copy", &from))?;
            match checked(made.path(), before) {
                Ok(documents) => {
                    sync_folder(&OnDisk, made.path())?;
                    fs::rename(made.path(), copy).map_err(Error::io("create", copy))?;
                    // Its name is gone, and nothing is left to remove.
                    let _ = made.keep();
                    sync_folder(&OnDisk, parent)?;
                    return Ok(documents);
                }
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| Error::Input {
            path: folder.to_owned(),
            problem: "the index changes faster than it can be copied".to_owned(),
            remedy: "copy it when less is written to it".to_owned(),
        }))
    }
}

/// Opens a copy, which must have at least so many batches, and writes what its journal has into tables. Returns the number of
/// documents.
fn checked(copy: &Path, least: u64) -> Result<u64> {
    acknowledge(copy, least)?;
    let index = Index::open(copy)?;
    index.sync()?;
    Ok(index.stats().documents)
}
