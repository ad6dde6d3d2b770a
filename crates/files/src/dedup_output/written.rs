//! What is written of the kept records, and how they are passed on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::second_pass::FileEvent;
use simgpu::error::Result;
use simgpu_io::Kept;

/// What is written of the kept records at a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Written {
    /// The number of inputs whose kept records are written.
    pub(super) inputs: usize,
    /// The number of kept records.
    pub(super) records: u64,
    /// The files with these records.
    pub(crate) names: BTreeSet<String>,
}

impl Written {
    /// Nothing is written yet, and nothing will be of the first files, a reference.
    #[doc(hidden)]
    pub fn after_reference(files: usize) -> Self {
        Written {
            inputs: files,
            ..Written::default()
        }
    }
}

/// The kept records of a chunk of a file.
#[doc(hidden)]
#[derive(Debug)]
pub struct KeptOfChunk {
    #[doc(hidden)]
    pub records: u64,
    #[doc(hidden)]
    pub kept: Kept,
}

/// Makes a checkpoint of what is written, if one is due.
pub(crate) type Checkpoint<'a> = dyn Fn(&dyn Fn() -> Written) -> Result<()> + Sync + 'a;

/// Is told the parts of files with their kept records.
pub(crate) type EachKept<'a> = dyn FnMut(FileEvent<KeptOfChunk>) -> Result<()> + 'a;
