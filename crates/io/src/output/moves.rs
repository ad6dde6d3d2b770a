//! Renames that can be undone.

use std::path::{Path, PathBuf};

use simgpu::error::{Error, Result};
use simgpu::store::disk::Disk;

/// Renamed entries, to undo the renaming if it fails halfway.
pub(super) struct Moves<'a, D> {
    pub(super) disk: &'a D,
    pub(super) done: Vec<(PathBuf, PathBuf)>,
}

impl<D: Disk> Moves<'_, D> {
    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        self.disk
            .rename(from, to)
            .map_err(Error::io("rename to", to))?;
        self.done.push((from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// Undoes as much as possible; the error that led here is the one to report.
    pub(super) fn undo(&self) {
        for (from, to) in self.done.iter().rev() {
            let _ = self.disk.rename(to, from);
        }
    }
}
