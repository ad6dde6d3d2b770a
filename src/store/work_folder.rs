//! Temporary folders for files that need names, such as the inputs and outputs of a run that only measures.
//!
//! A folder that a killed program left is removed by the next one that makes such a folder in the same parent. So its name
//! says what it is, and a lock says whether somebody works in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::Locked;
use super::spill::{LOCK, folders_named, is_own, lock, locked_folder};
use crate::error::Result;

/// The start of the name of each.
const PREFIX: &str = "simgpu-work-";

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
        let (folder, lock) = locked_folder(PREFIX, parent)?;
        Ok(WorkFolder {
            path: folder.keep(),
            lock: Some(lock),
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Some systems remove no file that is locked.
        self.lock = None;
        // What failed once may not fail again. The next program that makes such a folder removes what stays.
        let _ = remove_folder(&self.path).or_else(|_| remove_folder(&self.path));
    }
}

/// Removes the folders that killed programs of this user left.
fn remove_left(parent: &Path) {
    for folder in folders_named(PREFIX, parent) {
        if !is_own(&folder) {
            continue;
        }
        // Empty, if the program was killed before it locked the folder. One that is about to lock it makes another.
        if fs::remove_dir(&folder).is_err()
            && let Some(_lock) = lock(&folder)
        {
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
        let empty = parent.path().join("simgpu-work-empty");
        fs::create_dir(&empty).unwrap();
        // Not made by this program.
        let foreign = parent.path().join("simgpu-work-foreign");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("x"), "x").unwrap();
        fs::write(parent.path().join("simgpu-work-file"), "x").unwrap();
        let used = WorkFolder::new(parent.path()).unwrap();
        fs::write(used.path().join("in.jsonl"), "x").unwrap();
        assert!(!left.exists() && !empty.exists());
        let other = WorkFolder::new(parent.path()).unwrap();
        assert!(used.path().join("in.jsonl").exists());
        drop(other);
        drop(used);
        assert_eq!(
            names(parent.path()),
            ["simgpu-work-file", "simgpu-work-foreign"]
        );
    }
}
