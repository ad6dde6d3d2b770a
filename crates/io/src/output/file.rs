//! A single output file, which has a temporary name until it is complete.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::folder::PARTIAL;
use super::moves::Moves;
use super::paths::{folder_of, read_json, remove_if_there, with_suffix};
use simgpu::error::{Error, Result};
use simgpu::progress::Progress;
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
    /// Whether the temporary file stays if it does not get its final name.
    stays: bool,
    /// Locked until the run ends.
    _lock: Option<Locked>,
}

/// Follows the name of an earlier file while new ones get their names.
const EARLIER: &str = ".earlier.partial";

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
            stays: false,
            _lock: lock,
        };
        Ok((output, file))
    }

    /// All names that writing the file may use: the final name and the temporary ones of the file, and of the
    /// file beside it whose name ends in `beside`.
    #[doc(hidden)]
    pub fn names(path: &Path, beside: &str) -> Vec<PathBuf> {
        let files = [path.to_owned(), with_suffix(path, beside)];
        let names = files.iter().flat_map(|file| {
            let suffixes = ["", PARTIAL, EARLIER];
            suffixes.map(|suffix| with_suffix(file, suffix))
        });
        names.collect()
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

    /// The temporary file stays if it does not get its final name.
    #[doc(hidden)]
    pub fn keep_partial(&mut self) {
        self.stays = true;
    }

    /// Gives the files of a run their final names, once their contents are on disk, the last one after all others. Files of an
    /// earlier run make way; so do those of `stale`, which the run does not write.
    ///
    /// After an error, the earlier files have their names again. If the program is killed, no new file is next to an earlier one.
    #[doc(hidden)]
    pub fn commit_all(files: Vec<Self>, stale: &[PathBuf], progress: &dyn Progress) -> Result<()> {
        Self::commit_all_with(&OnDisk, files, stale, progress)
    }

    pub(super) fn commit_all_with(
        disk: &impl Disk,
        files: Vec<Self>,
        stale: &[PathBuf],
        progress: &dyn Progress,
    ) -> Result<()> {
        for file in &files {
            sync_file(disk, &file.partial)?;
        }
        let replaced = stale
            .iter()
            .chain(files.iter().rev().map(|file| &file.path));
        let mut earlier = Vec::new();
        for path in replaced {
            let kept = with_suffix(path, EARLIER);
            discard_interrupted(&kept)?;
            if metadata_of_name(path)?.is_some_and(|found| found.is_file()) {
                earlier.push((path, kept));
            }
        }
        let mut moves = Moves {
            disk,
            done: Vec::new(),
        };
        let renamed = Self::rename_all(&mut moves, &files, &earlier);
        if renamed.is_err() {
            moves.undo();
        }
        renamed?;
        for (_, kept) in &earlier {
            if remove_if_there(kept).is_err() {
                progress.warn(&format!(
                    "the output is complete, and {}, which it replaces, could not be removed; remove it",
                    kept.display()
                ));
            }
        }
        Ok(())
    }

    fn rename_all<D: Disk>(
        moves: &mut Moves<'_, D>,
        files: &[Self],
        earlier: &[(&PathBuf, PathBuf)],
    ) -> Result<()> {
        for (path, kept) in earlier {
            moves.rename(path, kept)?;
        }
        let Some((last, others)) = files.split_last() else {
            return Ok(());
        };
        for file in others {
            moves.rename(&file.partial, &file.path)?;
        }
        if !others.is_empty() {
            sync_folder(moves.disk, folder_of(&last.path))?;
        }
        moves.rename(&last.partial, &last.path)?;
        sync_folder(moves.disk, folder_of(&last.path))
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
        if !self.stays {
            // After a commit this file no longer exists.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
