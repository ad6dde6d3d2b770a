//! An output folder and the temporary folder in it, where a run writes its files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::paths::{files_in, remove};
use simgpu::error::{Error, Result};
use simgpu::store::disk::for_all;
use simgpu::store::{Locked, spill};

/// Folder for files until the run is complete, and suffix of a single file until it is complete.
pub(super) const PARTIAL: &str = ".partial";

/// The file in [`PARTIAL`] that a run locks to claim the folder.
pub(super) const LOCK: &str = ".lock";

/// The folder in [`PARTIAL`] for the results of an earlier run, once the new ones replace them.
pub(super) const EARLIER: &str = ".earlier";

/// The folder of the kept records. It may be empty.
pub(super) const KEPT: &str = "kept";

/// Lists the files of a run. It is renamed first, so that no file of a run is ever without it.
#[doc(hidden)]
pub const RUN_RECORD: &str = "run.json";

/// Marks a complete run. It is renamed last.
#[doc(hidden)]
pub const REPORT: &str = "report.json";

/// The name of the page that shows a report.
const PAGE: &str = "report.html";

/// A folder of results. A run writes into its `.partial` and renames the entries when they are complete.
#[derive(Debug)]
#[doc(hidden)]
pub struct OutputFolder {
    pub(super) folder: PathBuf,
    /// Whether it did not exist before the run.
    pub(super) is_new: bool,
    /// Locked until the run ends.
    pub(super) lock: Option<Locked>,
    /// The files of this run.
    pub(super) created: Mutex<BTreeSet<String>>,
    /// Those that are on disk.
    pub(super) on_disk: Mutex<BTreeSet<String>>,
    /// Whether a stopped run goes on with them.
    pub(super) is_resumable: AtomicBool,
}

/// What becomes of the files of an interrupted run in an output folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Leftovers {
    /// They are removed.
    Remove,
    /// They stay until [`OutputFolder::take_over`] says which of them the run resumes with.
    Keep,
}

impl OutputFolder {
    /// The folder.
    #[doc(hidden)]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The folder for files until the run is complete.
    #[doc(hidden)]
    pub fn partial(&self) -> PathBuf {
        OutputFolder::partial_of(&self.folder)
    }

    /// The folder for files until the run is complete, of a folder of results.
    #[doc(hidden)]
    pub fn partial_of(folder: &Path) -> PathBuf {
        folder.join(PARTIAL)
    }

    /// Creates a file in `.partial`, and its parent folders. `name` separates folders with `/`.
    #[doc(hidden)]
    pub fn create(&self, name: &str) -> Result<(File, PathBuf)> {
        let path = self.partial().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        let file = File::create_new(&path).map_err(Error::io("create", &path))?;
        if let Ok(mut created) = self.created.lock() {
            created.insert(name.to_owned());
        }
        Ok((file, path))
    }

    /// Writes the page that shows the report.
    #[doc(hidden)]
    pub fn write_page(&self, page: &str) -> Result<()> {
        let (mut file, path) = self.create(PAGE)?;
        file.write_all(page.as_bytes())
            .map_err(Error::io("write", path))
    }

    /// The names of all files created so far, in order.
    #[doc(hidden)]
    pub fn files(&self) -> BTreeSet<String> {
        let created = self.created.lock();
        created.map(|created| created.clone()).unwrap_or_default()
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        // Only the holder of the lock may clean up. The next run discards what could not be removed.
        if let Some(_lock) = self.lock.take() {
            let partial = self.partial();
            let mut entries = fs::read_dir(&partial).into_iter().flatten().flatten();
            if self.is_resumable.load(Ordering::Relaxed)
                || entries.any(|entry| spill::is_unfinished(&entry.path()))
            {
                return;
            }
            let _ = for_all(&files_in(&partial.join(EARLIER)), |path| remove(path));
            let _ = fs::remove_dir_all(partial);
            if self.is_new {
                // This removes an empty folder alone: after a commit it holds the results.
                let _ = fs::remove_dir(&self.folder);
            }
        }
    }
}
