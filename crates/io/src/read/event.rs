//! What a reader of a file passes on, and places between chunks.

use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use crate::arrow::ArrowForm;
use crate::chunk::Chunk;
use crate::kept_table::ParquetForm;

/// An event of reading a file. `C` is a chunk, or what was made of it.
#[derive(Debug)]
#[doc(hidden)]
pub enum Event<C = Chunk> {
    /// A Parquet or Arrow file begins.
    Table(TableForm),
    Chunk(C),
    /// A file ends.
    End {
        file: usize,
        fingerprint: Fingerprint,
    },
}

/// The form of a table, which its kept rows get, too.
#[derive(Debug)]
#[doc(hidden)]
pub enum TableForm {
    Parquet(ParquetForm),
    Arrow(ArrowForm),
}

impl TableForm {
    /// The form with a column of marks of this name.
    ///
    /// # Errors
    /// Why it gets none.
    #[doc(hidden)]
    pub fn with_marks(self, name: &str) -> std::result::Result<Self, String> {
        Ok(match self {
            TableForm::Parquet(form) => TableForm::Parquet(form.with_marks(name)?),
            TableForm::Arrow(form) => TableForm::Arrow(form.with_marks(name)?),
        })
    }
}

/// A place between two chunks of the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Position {
    /// The number of the file.
    #[doc(hidden)]
    pub file: usize,
    /// The number of the chunk in the file.
    #[doc(hidden)]
    pub chunk: u64,
    /// The number of records in the files before it, but for those of a reference.
    #[doc(hidden)]
    pub records: u64,
}

impl Position {
    /// Whether a chunk lies before this place.
    #[doc(hidden)]
    pub fn is_after(&self, chunk: &Chunk) -> bool {
        (chunk.file, chunk.number) < (self.file, self.chunk)
    }
}
