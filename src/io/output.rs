//! Output that appears under its final name only when it is complete.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Where everything is written until the run is complete.
const PARTIAL: &str = ".partial";

/// What a run leaves in its folder, the last one last: its presence marks a complete run.
const ENTRIES: [&str; 4] = ["kept", "removed.jsonl", "run.json", "report.json"];

/// The file by which a run claims a folder, in [`PARTIAL`].
const LOCK: &str = ".lock";

/// A folder of output. Everything is written in its `.partial`, and renamed when complete.
#[derive(Debug)]
pub(crate) struct OutputFolder {
    folder: PathBuf,
    /// Whether it did not exist before the run.
    is_new: bool,
    /// Held until the run is over.
    lock: Option<File>,
}

impl OutputFolder {
    /// Prepares the folder; what an interrupted run left is discarded.
    ///
    /// A folder that holds the results of a complete run needs `overwrite`, and one that holds
    /// anything else is refused, so that nothing is ever deleted that this program did not write.
    ///
    /// # Errors
    /// [`Error::Output`] when the folder is refused, or another run is writing into it; [`Error::Io`]
    /// when it cannot be written.
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
                    format!(
                        "the output folder is not empty; it holds {name}, which is not this program's"
                    ),
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
                    "another run is writing into the output folder".to_owned(),
                    "wait for it, or choose another folder",
                );
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", lock_path)(error)),
        }
        // Results without a report, beside a `.partial` that nobody holds, are an interrupted run's.
        let holds = |entry: &str| folder.join(entry).exists();
        let is_interrupted = was_interrupted && !holds("report.json");
        if ENTRIES.into_iter().any(holds) && !is_interrupted && !overwrite {
            return refuse(
                "the output folder is not empty; it holds the results of a run".to_owned(),
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

    /// Removes what lies in `.partial`, but for the lock.
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

    /// The folder in which files are written.
    pub(crate) fn partial(&self) -> PathBuf {
        self.folder.join(PARTIAL)
    }

    /// Creates a file, and the folders on the way to it; `name` has `/` between them.
    pub(crate) fn create(&self, name: &str) -> Result<(File, PathBuf)> {
        let path = self.partial().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        Ok((file, path))
    }

    /// Gives everything its final name, after the results of an earlier run have gone.
    pub(crate) fn commit(self) -> Result<()> {
        // The mark of completeness goes first and comes last.
        for entry in ENTRIES.iter().rev() {
            remove(&self.folder.join(entry))?;
        }
        for entry in ENTRIES {
            let (from, to) = (self.partial().join(entry), self.folder.join(entry));
            fs::rename(&from, &to).map_err(Error::io("rename to", &to))?;
        }
        Ok(())
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        // Only who holds the lock may tidy up. What cannot be removed is discarded by the next run.
        if let Some(_lock) = self.lock.take() {
            let _ = fs::remove_dir_all(self.partial());
            if self.is_new {
                // Only an empty folder goes: after a commit it is not.
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }
}

/// One file of output, written beside its final name.
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
                remedy: "create it, or name another".to_owned(),
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

    /// All names that writing the file takes: its own, the one until it is complete, and the same of the
    /// description beside a matrix.
    pub(crate) fn names(path: &Path) -> Vec<PathBuf> {
        let description = with_suffix(path, ".json");
        vec![
            path.to_owned(),
            with_suffix(path, PARTIAL),
            with_suffix(&description, PARTIAL),
            description,
        ]
    }

    /// Where the file is written.
    pub(crate) fn partial(&self) -> &Path {
        &self.partial
    }

    /// Gives the file its final name.
    pub(crate) fn commit(self) -> Result<()> {
        fs::rename(&self.partial, &self.path).map_err(Error::io("rename to", &self.path))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // After a commit there is nothing left to remove; after a failure, nothing to keep.
        let _ = fs::remove_file(&self.partial);
    }
}

/// The folder that a file lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
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
