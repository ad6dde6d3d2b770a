//! Output that appears under its final name only when it is complete.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Where everything is written until the run is complete.
const PARTIAL: &str = ".partial";

/// What a run leaves in its folder, the last one last: its presence marks a complete run.
const ENTRIES: [&str; 4] = ["kept", "removed.jsonl", "run.json", "report.json"];

/// A folder of output. Everything is written in its `.partial`, and renamed when complete.
#[derive(Debug)]
pub(crate) struct OutputFolder {
    folder: PathBuf,
}

impl OutputFolder {
    /// Prepares the folder; what an interrupted run left is discarded.
    ///
    /// A folder that holds the results of a complete run needs `overwrite`, and one that holds
    /// anything else is refused, so that nothing is ever deleted that this program did not write.
    pub(crate) fn open(folder: &Path, overwrite: bool) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::io("create the output folder", folder))?;
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
            entries.push(entry.map_err(Error::io("read", folder))?.file_name());
        }
        let refuse = |problem: String, remedy: &str| {
            Err(Error::Output {
                path: folder.to_owned(),
                problem,
                remedy: remedy.to_owned(),
            })
        };
        let is_ours = |name: &OsStr| name == PARTIAL || ENTRIES.iter().any(|entry| name == *entry);
        if let Some(foreign) = entries.iter().find(|name| !is_ours(name)) {
            let foreign = foreign.to_string_lossy();
            return refuse(
                format!(
                    "the output folder is not empty; it holds {foreign}, which is not this program's"
                ),
                "choose an empty folder",
            );
        }
        let holds = |name: &str| entries.iter().any(|entry| entry == name);
        let is_complete =
            ENTRIES.iter().any(|entry| holds(entry)) && (holds("report.json") || !holds(PARTIAL));
        if is_complete && !overwrite {
            return refuse(
                "the output folder is not empty; it holds the results of a run".to_owned(),
                "choose another folder, or pass --overwrite to replace them",
            );
        }
        let output = OutputFolder {
            folder: folder.to_owned(),
        };
        remove(&output.partial())?;
        fs::create_dir(output.partial()).map_err(Error::io("create", output.partial()))?;
        Ok(output)
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
            if from.exists() {
                fs::rename(&from, &to).map_err(Error::io("rename to", &to))?;
            }
        }
        remove(&self.partial())
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
                remedy: "choose another name, or pass --overwrite to replace it".to_owned(),
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

    /// A name for a file that lives as long as the run.
    pub(crate) fn beside(path: &Path, what: &str) -> PathBuf {
        with_suffix(path, &format!(".{what}{PARTIAL}"))
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
