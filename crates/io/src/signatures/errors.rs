//! Errors about signature files.

use std::path::Path;

use super::format::description_of;
use simgpu::error::Error;

pub(super) fn input_error(path: &Path, problem: impl Into<String>, remedy: &str) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: problem.into(),
        remedy: remedy.to_owned(),
    }
}

/// The error for a damaged file of signatures.
#[doc(hidden)]
pub fn damaged(path: &Path, problem: &str) -> Error {
    input_error(path, problem, "sign the documents again")
}

/// The error for a description that does not match the signatures.
#[doc(hidden)]
pub fn misdescribed(path: &Path, is_matrix: bool, problem: &str) -> Error {
    if !is_matrix {
        return damaged(path, problem);
    }
    input_error(
        &description_of(path),
        format!("it does not describe {}: {problem}", path.display()),
        RESTORE,
    )
}

pub(super) const RESTORE: &str =
    "restore the file that sign wrote beside the matrix, or sign the documents again";
