//! Symbolic links that lead to no file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::DirEntry;

use simgpu::error::{Error, Result};

/// What is wrong with a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokenLink {
    /// It leads to no file.
    Dangling,
    /// It leads back to a folder above it, or to links that lead back to it.
    Cyclic,
}

impl BrokenLink {
    /// What is wrong with this path; `None` if it is no link, or leads to a file or folder.
    pub(crate) fn find(path: &Path) -> Option<Self> {
        /// The operating system's code for links in a circle, for which `ErrorKind` has no stable name.
        const LINKS_IN_CIRCLE: i32 = if cfg!(windows) {
            1921
        } else if cfg!(target_os = "linux") {
            40
        } else {
            62
        };
        if !path.is_symlink() {
            return None;
        }
        let error = path.metadata().err()?;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Some(BrokenLink::Dangling),
            _ => (error.raw_os_error() == Some(LINKS_IN_CIRCLE)).then_some(BrokenLink::Cyclic),
        }
    }
}

/// Where the link of a walk leads; `None` if it is none, or the root of the walk.
pub(super) fn target_of_link(entry: &DirEntry) -> Result<Option<PathBuf>> {
    let is_link = entry.depth() > 0 && entry.path_is_symlink();
    let target = is_link.then(|| entry.path().canonicalize()).transpose();
    target.map_err(Error::io("follow the link", entry.path()))
}

/// What is wrong with the link on which a walk failed, or the error of something else.
pub(super) fn broken_link(path: &Path, error: &walkdir::Error) -> Result<BrokenLink> {
    let broken = match error.loop_ancestor() {
        Some(_) => Some(BrokenLink::Cyclic),
        None => BrokenLink::find(path),
    };
    broken.ok_or_else(|| unreadable(path, error))
}

/// The error for a file or folder that cannot be looked at.
fn unreadable(path: &Path, error: &walkdir::Error) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: match error.io_error() {
            Some(io) => io.to_string(),
            None => error.to_string(),
        },
        remedy: "make it readable, or give its files one by one".to_owned(),
    }
}
