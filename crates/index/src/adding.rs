//! Notes that a deduplication adds its kept documents to an index.
//!
//! By then its results are complete. If it is interrupted, some kept documents are in the index and others are not, and a run that
//! asked the index as it is would remove the former ones. So the same run asks the index as it was before: it has the same results, and
//! adds what is missing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::persistent::State;
use simgpu::error::{Error, Result};
use simgpu::search::AddingRun;
use simgpu::store::disk::{OnDisk, sync_folder};
use simgpu::store::spill::{read_checked, write_checked};
use simgpu_io::remove_if_there;

/// A run that adds, and the index before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Adding {
    pub(super) run: AddingRun,
    /// The digest of its report.
    pub(super) report: String,
    pub(super) before: State,
}

impl Adding {
    /// The file for a run with this output, in the folder of an index.
    pub(super) fn path(folder: &Path, output: &str) -> PathBuf {
        folder.join(Adding::name(output))
    }

    fn name(output: &str) -> String {
        format!("adding-{:016x}.json", xxh3_64(output.as_bytes()))
    }

    /// Reads the note of a run with this output; `None` if there is none.
    pub(super) fn read(folder: &Path, output: &str) -> Result<Option<Self>> {
        read_checked(&Adding::path(folder, output)).map_err(|error| match error {
            Error::DamagedSpill { path } => Error::Input {
                path,
                problem: "it notes a run that adds to the index, and is damaged".to_owned(),
                remedy: "delete it, and add what that run kept with `simgpu index add` and `on_known_id=skip`"
                    .to_owned(),
            },
            error => error,
        })
    }

    /// Writes the note, and is done when it is on disk.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        write_checked(folder, &Adding::name(&self.run.output), self)
    }

    /// Removes the note of a run with this output.
    pub(super) fn remove(folder: &Path, output: &str) -> Result<()> {
        remove_if_there(&Adding::path(folder, output))?;
        sync_folder(&OnDisk, folder)
    }
}
