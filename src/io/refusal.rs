//! Why an input is refused: what is wrong with it, and what to do.

use std::path::Path;

use crate::error::Error;

/// A reason to refuse an input, found where its name is not known.
#[derive(Debug)]
pub(super) struct Refusal {
    problem: String,
    remedy: String,
}

impl Refusal {
    pub(super) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Refusal {
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The error for the file of this name.
    pub(super) fn of(self, path: &Path) -> Error {
        Error::Input {
            path: path.to_owned(),
            problem: self.problem,
            remedy: self.remedy,
        }
    }
}
