//! A single output file, which has a temporary name until it is complete.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::folder::PARTIAL;
use super::paths::{folder_of, read_json, remove_if_there, with_suffix};
use simgpu::error::{Error, Result};
use simgpu::store::Locked;
use simgpu::store::disk::{
    Disk, OnDisk, is_folder, metadata, metadata_of_name, sync_file, sync_folder,
};

/// An output file, written under a temporary name beside its final one.
#[derive(Debug)]
#[doc(hidden)]
pub struct OutputFile {
    pub(super) path: PathBuf,
    pub(super) partial: PathBuf,
    /// Locked until the run ends.
    _lock: Option<Locked>,
}

impl OutputFile {
    /// Creates the file under a name that ends in `.partial`, and replaces the one of an interrupted run.
    ///
    /// Refuses to replace anything but a regular file, and a regular file unless `overwrite` is set.
    #[doc(hidden)]
    pub fn create(path: &Path, overwrite: bool) -> Result<(Self, File)> {
        let refuse = |problem: String, remedy: &str| {
            Err(Error::Output {
                path: path.to_owned(),
                problem,
                remedy: remedy.to_owned(),
            })
        };
        let folder = folder_of(path);
        // A folder that cannot be looked at is another matter than one that is not there.
        if metadata(folder)?.is_none() {
            return refuse(
                format!("there is no folder {}", folder.display()),
                "create it, or choose another",
            );
        }
        // The link itself counts, not its target: it is what the last rename would replace.
        if let Some(existing) = metadata_of_name(path)? {
            if is_folder(path)? {
                return refuse("it is a folder".to_owned(), "name a file");
            }
            if !existing.is_file() {
                let what = if existing.is_symlink() {
                    "a link"
                } else {
                    "not a regular file"
                };
                return refuse(format!("it is {what}"), "name a file");
            }
            if !overwrite {
                return refuse(
                    "the file exists".to_owned(),
                    "choose another name, or pass `overwrite` to replace it",
                );
            }
        }
        let partial = with_suffix(path, PARTIAL);
        discard_interrupted(&partial)?;
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&partial)
            .map_err(Error::io("create", &partial))?;
        // Where files cannot be locked, a second run with the same output fails to create the file, or later.
        let copy = file.try_clone().ok();
        let lock = copy.and_then(|copy| Locked::try_new(copy).ok());
        let output = OutputFile {
            partial,
            path: path.to_owned(),
            _lock: lock,
        };
        Ok((output, file))
    }

    /// All names that writing the file may use: the final and the temporary name of the file, and of the
    /// file beside it whose name ends in `beside`.
    #[doc(hidden)]
    pub fn names(path: &Path, beside: &str) -> Vec<PathBuf> {
        let beside = with_suffix(path, beside);
        vec![
            path.to_owned(),
            with_suffix(path, PARTIAL),
            with_suffix(&beside, PARTIAL),
            beside,
        ]
    }

    /// The temporary name.
    #[doc(hidden)]
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Removes the file `path` if a run was interrupted after it got its name and before the one that describes it, whose name
    /// ends in `beside`, got its own. `describes` tells from the description, under its temporary name, whether it is of that
    /// file. Any other file stays.
    #[doc(hidden)]
    pub fn discard_undescribed<T: for<'de> Deserialize<'de>>(
        path: &Path,
        beside: &str,
        describes: impl FnOnce(&T, &File) -> io::Result<bool>,
    ) -> Result<()> {
        let beside = with_suffix(path, beside);
        let partial = with_suffix(&beside, PARTIAL);
        if metadata_of_name(&beside)?.is_some()
            || !metadata_of_name(path)?.is_some_and(|found| found.is_file())
        {
            return Ok(());
        }
        let Some(description) = read_json::<T>(&partial)? else {
            return Ok(());
        };
        let file = File::open(path).map_err(Error::io("open", path))?;
        if !describes(&description, &file).map_err(Error::io("read", path))? {
            return Ok(());
        }
        match claim_interrupted(&partial)? {
            Some(_lock) => remove_if_there(path),
            None => Ok(()),
        }
    }

    /// Waits until the contents are on disk. The file keeps its temporary name.
    #[doc(hidden)]
    pub fn sync(&self) -> Result<()> {
        sync_file(&OnDisk, &self.partial)
    }

    /// Removes an earlier file of the final name.
    #[doc(hidden)]
    pub fn remove_earlier(&self) -> Result<()> {
        remove_if_there(&self.path)
    }

    /// Gives the file its final name, once its contents are on disk.
    #[doc(hidden)]
    pub fn commit(self) -> Result<()> {
        self.commit_with(&OnDisk)
    }

    pub(super) fn commit_with(self, disk: &impl Disk) -> Result<()> {
        sync_file(disk, &self.partial)?;
        disk.rename(&self.partial, &self.path)
            .map_err(Error::io("rename to", &self.path))?;
        let synced = sync_folder(disk, folder_of(&self.path));
        if synced.is_err() {
            // After an error there is no new file, so that the run can be repeated.
            let _ = remove_if_there(&self.path);
        }
        synced
    }
}

/// Removes the temporary file of an interrupted run. Refuses that of another run, and what is not a file.
fn discard_interrupted(partial: &Path) -> Result<()> {
    match claim_interrupted(partial)? {
        Some(_lock) => remove_if_there(partial),
        None => Ok(()),
    }
}

/// Locks the temporary file of an interrupted run, if there is one and files can be locked. Refuses that of another run, and
/// what is not a file.
fn claim_interrupted(partial: &Path) -> Result<Option<Option<Locked>>> {
    let refuse = |problem: &str, remedy: &str| {
        Err(Error::Output {
            path: partial.to_owned(),
            problem: problem.to_owned(),
            remedy: remedy.to_owned(),
        })
    };
    let Some(found) = metadata_of_name(partial)? else {
        return Ok(None);
    };
    if !found.is_file() {
        return refuse(
            "it is not a regular file",
            "move it elsewhere, or choose another output",
        );
    }
    let file = File::options()
        .write(true)
        .open(partial)
        .map_err(Error::io("open", partial))?;
    match Locked::try_new(file) {
        Err(TryLockError::WouldBlock) => refuse(
            "another run is writing it",
            "wait until it ends, or choose another output",
        ),
        locked => Ok(Some(locked.ok())),
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // After a commit this file no longer exists.
        let _ = fs::remove_file(&self.partial);
    }
}
