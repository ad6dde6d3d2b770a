//! Temporary folders for files that need names, such as the inputs and outputs of a run that only measures.
//!
//! A folder that a killed program left is removed by the next one that makes such a folder beside it. So its name says what it
//! is, and a lock says whether somebody works in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::lock::Locked;
use super::spill::is_own;
use crate::error::{Error, Result};

/// The start of the name of each.
const PREFIX: &str = "simgpu-work-";

/// The file in it that is locked while somebody works there.
const LOCK: &str = ".lock";

/// A temporary folder, removed on drop.
#[derive(Debug)]
#[doc(hidden)]
pub struct WorkFolder {
    path: PathBuf,
    lock: Option<Locked>,
}

impl WorkFolder {
    /// Makes one in `parent`, and removes those that killed programs of this user left there.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be made.
    pub fn new(parent: &Path) -> Result<Self> {
        remove_left(parent);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let path = made
            .map_err(Error::io("create a folder in", parent))?
            .keep();
        let mut folder = WorkFolder { path, lock: None };
        let lock = folder.path.join(LOCK);
        let file = File::create(&lock).map_err(Error::io("create", &lock))?;
        folder.lock = Locked::try_new(file).ok();
        Ok(folder)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it.
    ///
    /// # Errors
    /// [`Error::Io`] if it stays. The next program that makes such a folder removes it.
    pub fn close(mut self) -> Result<()> {
        self.remove().map_err(Error::io("remove", &self.path))
    }

    fn remove(&mut self) -> io::Result<()> {
        // Some systems remove no file that is locked.
        self.lock = None;
        // What failed once may not fail again.
        remove_folder(&self.path).or_else(|_| remove_folder(&self.path))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}

/// Removes the folders that killed programs of this user left.
fn remove_left(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let left = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for folder in left.map(|entry| entry.path()) {
        // One without the file is about to be used.
        let lock = File::open(folder.join(LOCK));
        if is_own(&folder) && lock.is_ok_and(|lock| Locked::try_new(lock).is_ok()) {
            let _ = remove_folder(&folder);
        }
    }
}

/// Removes a folder. The file that is locked goes last: without it, nobody would remove the rest.
fn remove_folder(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name() != LOCK {
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
    }
    fs::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_program_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join("simgpu-work-killed");
        fs::create_dir_all(left.join("results")).unwrap();
        fs::write(left.join("results/kept.jsonl"), "x").unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        // Not made by this program, or about to be used.
        fs::create_dir(parent.path().join("simgpu-work-new")).unwrap();
        fs::write(parent.path().join("simgpu-work-file"), "x").unwrap();
        let used = WorkFolder::new(parent.path()).unwrap();
        fs::write(used.path().join("in.jsonl"), "x").unwrap();
        assert!(!left.exists());
        let other = WorkFolder::new(parent.path()).unwrap();
        assert!(used.path().join("in.jsonl").exists());
        other.close().unwrap();
        drop(used);
        assert_eq!(
            names(parent.path()),
            ["simgpu-work-file", "simgpu-work-new"]
        );
    }
}
