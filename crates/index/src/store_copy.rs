//! Copies of a store: one to keep, or one that a process reads in place of a store that it may not write.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use tempfile::TempDir;

use super::filter::FILTER;
use super::journals;
use super::store_names::{CURRENT, STORE, STORE_LOCK, TABLES, sync_file_or_folder};
use simgpu::error::{Error, Result};

/// What becomes of the files of a store that never change: those of tables, and the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unchanging {
    /// They are linked, and take their space once. Both stores keep them. The copy is on disk in the end.
    Kept,
    /// Symbolic links lead to them, for as long as the store has them. Hard links to files of another user, or of a read-only file system,
    /// cannot be made.
    Named,
}

/// Copies the files of a store, which another process may have open, to another folder. False if it changed in a way that the
/// copy cannot follow.
///
/// Why the copy is whole: files of tables never change, and a file says which of them count. Every batch is in a journal before
/// it is in a table, and a journal goes, or is emptied, only once all of its batches are in tables. The journals are copied last;
/// none that was there at first is gone, and after that all tables are as they were when they were copied. So the journals have
/// every batch that the copied tables lack. The process that opens the copy reads them, up to the last batch that is whole.
pub(super) fn copy_files(folder: &Path, copy: &Path) -> Result<bool> {
    let (from, to) = (folder.join(STORE), copy.join(STORE));
    match copied(&from, &to, Unchanging::Kept) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        copied => copied.map_err(Error::io("copy", &from)),
    }
}

/// A temporary folder with a copy of a store that nobody writes meanwhile. It takes the space of the journals.
pub(super) fn view_of(store: &Path) -> Result<TempDir> {
    let parent = std::env::temp_dir();
    let made = tempfile::Builder::new()
        .prefix("simgpu-view-")
        .tempdir_in(&parent);
    let made = made.map_err(Error::io("create a folder in", &parent))?;
    // The names lead there from the other folder.
    let from = store.canonicalize().map_err(Error::io("open", store))?;
    copied(&from, made.path(), Unchanging::Named).map_err(Error::io("copy", store))?;
    Ok(made)
}

fn copied(from: &Path, to: &Path, unchanging: Unchanging) -> io::Result<bool> {
    let before = journals::names(from)?;
    fs::create_dir_all(to.join(TABLES))?;
    let mut tables = Vec::new();
    for table in fs::read_dir(from.join(TABLES))? {
        let table = table?;
        let path = table.path();
        let current = fs::read(path.join(CURRENT))?;
        unchanging.copy_table(&path, &to.join(TABLES).join(table.file_name()))?;
        tables.push((path, current));
    }
    unchanging.sync(&to.join(TABLES))?;
    let copied = unchanging.copy_entries(from, to)?;
    for (path, current) in tables {
        if fs::read(path.join(CURRENT))? != current {
            return Ok(false);
        }
    }
    Ok(before.is_subset(&copied))
}

impl Unchanging {
    /// Copies the files in a folder, except what one process locks. Returns their names.
    fn copy_entries(self, from: &Path, to: &Path) -> io::Result<BTreeSet<OsString>> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            if entry.file_type()?.is_file() && entry.file_name() != STORE_LOCK {
                let target = to.join(entry.file_name());
                if entry.file_name() == FILTER {
                    self.link(&entry.path(), &target)?;
                } else {
                    self.copy_file(&entry.path(), &target)?;
                }
                names.insert(entry.file_name());
            }
        }
        // The process that opens the copy locks it.
        if from.join(STORE_LOCK).try_exists()? {
            File::create(to.join(STORE_LOCK))?;
        }
        self.sync(to)?;
        Ok(names)
    }

    /// Links the files of a table, and copies the one that says which of them count.
    fn copy_table(self, from: &Path, to: &Path) -> io::Result<()> {
        fs::create_dir_all(to)?;
        self.copy_entries(from, to)?;
        for folder in fs::read_dir(from)? {
            let folder = folder?;
            if !folder.file_type()?.is_dir() {
                continue;
            }
            let into = to.join(folder.file_name());
            fs::create_dir_all(&into)?;
            for file in fs::read_dir(folder.path())? {
                let file = file?;
                let target = into.join(file.file_name());
                self.link(&file.path(), &target)?;
            }
            self.sync(&into)?;
        }
        self.sync(to)
    }

    /// Links a file that never changes, or copies it where that cannot be done.
    fn link(self, from: &Path, to: &Path) -> io::Result<()> {
        let linked = match self {
            Unchanging::Kept => fs::hard_link(from, to),
            #[cfg(unix)]
            Unchanging::Named => std::os::unix::fs::symlink(from, to),
            #[cfg(not(unix))]
            Unchanging::Named => fs::hard_link(from, to),
        };
        linked.or_else(|_| self.copy_file(from, to))
    }

    fn copy_file(self, from: &Path, to: &Path) -> io::Result<()> {
        copy_bytes(from, to)?;
        self.sync(to)
    }

    fn sync(self, path: &Path) -> io::Result<()> {
        match self {
            Unchanging::Kept => sync_file_or_folder(path),
            Unchanging::Named => Ok(()),
        }
    }
}

/// Copies the bytes of a file. The copy may be written, although the file may not.
pub(super) fn copy_bytes(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut File::open(from)?, &mut File::create(to)?)?;
    Ok(())
}
