//! Output files that get their final names only when they are complete.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Folder for files until the run is complete, and suffix of a single file until it is complete.
const PARTIAL: &str = ".partial";

/// The entries of a folder of results, in the order of renaming. The last one marks a complete run.
/// A run may lack some of them.
const ENTRIES: [&str; 6] = [
    "kept",
    "removed.jsonl",
    "removed.parquet",
    "clusters.parquet",
    "run.json",
    "report.json",
];

/// The file in [`PARTIAL`] that a run locks to claim the folder.
const LOCK: &str = ".lock";

/// A folder of results. A run writes into its `.partial` and renames the entries when they are complete.
#[derive(Debug)]
pub(crate) struct OutputFolder {
    folder: PathBuf,
    /// Whether it did not exist before the run.
    is_new: bool,
    /// Locked until the run ends.
    lock: Option<File>,
}

impl OutputFolder {
    /// Prepares the folder and discards the files of an interrupted run.
    ///
    /// Refuses a folder that another run is writing, one with the results of a complete run unless
    /// `overwrite` is set, and one with any other file: this program deletes only its own files.
    pub(crate) fn open(folder: &Path, overwrite: bool) -> Result<Self> {
        let is_new = !folder.exists();
        fs::create_dir_all(folder).map_err(Error::io("create the output folder", folder))?;
        let refuse = |problem: String, remedy: &str| {
            Err(Error::Output {
                path: folder.to_owned(),
                problem,
                remedy: remedy.to_owned(),
            })
        };
        for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
            let name = entry.map_err(Error::io("read", folder))?.file_name();
            if name != PARTIAL && ENTRIES.iter().all(|ours| name != *ours) {
                let name = name.to_string_lossy();
                return refuse(
                    format!("the output folder is not empty: simgpu did not write {name}"),
                    "choose an empty folder",
                );
            }
        }
        let mut output = OutputFolder {
            folder: folder.to_owned(),
            is_new,
            lock: None,
        };
        let was_interrupted = output.partial().exists();
        fs::create_dir_all(output.partial()).map_err(Error::io("create", output.partial()))?;
        let (lock, lock_path) = output.create(LOCK)?;
        match lock.try_lock() {
            Ok(()) => output.lock = Some(lock),
            Err(TryLockError::WouldBlock) => {
                return refuse(
                    "another run is writing to the output folder".to_owned(),
                    "wait until it ends, or choose another folder",
                );
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", lock_path)(error)),
        }
        // An interrupted run leaves an unlocked `.partial`, and perhaps results without a report.
        let holds = |entry: &str| folder.join(entry).exists();
        let is_interrupted = was_interrupted && !holds("report.json");
        if ENTRIES.into_iter().any(holds) && !is_interrupted && !overwrite {
            return refuse(
                "the output folder is not empty: it holds the results of a run".to_owned(),
                "choose another folder, or pass `overwrite` to replace them",
            );
        }
        output.discard_partial()?;
        if is_interrupted {
            for entry in ENTRIES {
                remove(&folder.join(entry))?;
            }
        }
        Ok(output)
    }

    /// Removes everything in `.partial` except the lock.
    fn discard_partial(&self) -> Result<()> {
        let partial = self.partial();
        for entry in fs::read_dir(&partial).map_err(Error::io("read", &partial))? {
            let entry = entry.map_err(Error::io("read", &partial))?;
            if entry.file_name() != LOCK {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// The folder for files until the run is complete.
    pub(crate) fn partial(&self) -> PathBuf {
        self.folder.join(PARTIAL)
    }

    /// Creates a file in `.partial`, and its parent folders. `name` separates folders with `/`.
    pub(crate) fn create(&self, name: &str) -> Result<(File, PathBuf)> {
        let path = self.partial().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        Ok((file, path))
    }

    /// Removes the results of an earlier run and gives all entries their final names.
    pub(crate) fn commit(self) -> Result<()> {
        // The report marks a complete run, so remove it first and rename it last.
        for entry in ENTRIES.iter().rev() {
            remove(&self.folder.join(entry))?;
        }
        for entry in ENTRIES {
            let (from, to) = (self.partial().join(entry), self.folder.join(entry));
            if !from.exists() {
                continue;
            }
            fs::rename(&from, &to).map_err(Error::io("rename to", &to))?;
        }
        Ok(())
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        // Only the holder of the lock may clean up. The next run discards what could not be removed.
        if let Some(_lock) = self.lock.take() {
            let _ = fs::remove_dir_all(self.partial());
            if self.is_new {
                // This removes an empty folder alone: after a commit it holds the results.
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }
}

/// An output file, written under a temporary name beside its final one.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    partial: PathBuf,
}

impl OutputFile {
    /// Creates the file under a name that ends in `.partial`.
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<(Self, File)> {
        let folder = folder_of(path);
        if !folder.exists() {
            return Err(Error::Output {
                path: path.to_owned(),
                problem: format!("there is no folder {}", folder.display()),
                remedy: "create it, or choose another".to_owned(),
            });
        }
        if path.is_dir() {
            return Err(Error::Output {
                path: path.to_owned(),
                problem: "it is a folder".to_owned(),
                remedy: "name a file".to_owned(),
            });
        }
        if path.exists() && !overwrite {
            return Err(Error::Output {
                path: path.to_owned(),
                problem: "the file exists".to_owned(),
                remedy: "choose another name, or pass `overwrite` to replace it".to_owned(),
            });
        }
        let output = OutputFile {
            partial: with_suffix(path, PARTIAL),
            path: path.to_owned(),
        };
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&output.partial)
            .map_err(Error::io("create", &output.partial))?;
        Ok((output, file))
    }

    /// All names that writing the file may use: the final and the temporary name of the file, and of the
    /// file beside it whose name ends in `beside`.
    pub(crate) fn names(path: &Path, beside: &str) -> Vec<PathBuf> {
        let beside = with_suffix(path, beside);
        vec![
            path.to_owned(),
            with_suffix(path, PARTIAL),
            with_suffix(&beside, PARTIAL),
            beside,
        ]
    }

    /// The temporary name.
    pub(crate) fn partial(&self) -> &Path {
        &self.partial
    }

    /// Removes an earlier file of the final name.
    pub(crate) fn remove_earlier(&self) -> Result<()> {
        remove(&self.path)
    }

    /// Gives the file its final name.
    pub(crate) fn commit(self) -> Result<()> {
        fs::rename(&self.partial, &self.path).map_err(Error::io("rename to", &self.path))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // After a commit this file no longer exists.
        let _ = fs::remove_file(&self.partial);
    }
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The path with a suffix at the end of its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn remove(path: &Path) -> Result<()> {
    let removed = match path.symlink_metadata() {
        Err(_) => return Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.map_err(Error::io("remove", path))
}
