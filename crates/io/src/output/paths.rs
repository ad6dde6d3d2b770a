//! Names of output files and of the temporary files beside them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use walkdir::{DirEntry, WalkDir};

use simgpu::error::{Error, Result};
use simgpu::store::disk::metadata_of_name;

/// The error of a folder that a run cannot write its results to.
pub(super) fn refused(folder: &Path, problem: String, remedy: &str) -> Error {
    Error::Output {
        path: folder.to_owned(),
        problem,
        remedy: remedy.to_owned(),
    }
}

/// All files in a folder and in the folders below it.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder)
        .into_iter()
        .filter_map(|entry| entry.ok());
    let files = entries.filter(|entry| !entry.file_type().is_dir());
    files.map(DirEntry::into_path).collect()
}

/// The contents of a JSON file; `None` if it is missing or not as expected.
///
/// # Errors
/// [`Error::Io`] if it is there and cannot be read.
#[doc(hidden)]
pub fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>> {
    if !metadata_of_name(path)?.is_some_and(|found| found.is_file()) {
        return Ok(None);
    }
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Removes a file, if there is one.
#[doc(hidden)]
pub fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// The name of a file in a folder, with `/`.
pub(super) fn name_in(folder: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).components();
    let parts: Vec<_> = parts
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}

/// The folder of a file.
#[doc(hidden)]
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The path with a suffix at the end of its name.
#[doc(hidden)]
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn remove(path: &Path) -> Result<()> {
    let removed = match metadata_of_name(path)? {
        None => return Ok(()),
        Some(found) if found.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
    };
    removed.map_err(Error::io("remove", path))
}
