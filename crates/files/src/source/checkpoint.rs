//! The state of the first pass at a checkpoint.

use serde::{Deserialize, Serialize};

use crate::log::{Noted, RecordsRead};
use simgpu::error::Result;
use simgpu::search::{FirstPass, NumbersRead};

/// The state of the stage `read` at a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReadState {
    pub(super) numbers: NumbersRead,
    pub(super) records: RecordsRead,
}

impl ReadState {
    /// Writes everything read so far, and says where that is.
    pub(super) fn checkpoint(pass: &mut FirstPass<'_>, noted: &mut Noted<'_>) -> Result<Self> {
        Ok(ReadState {
            numbers: pass.save()?,
            records: noted.save()?,
        })
    }
}

/// The name of the stage, for checkpoints.
pub(super) const READ: &str = "read";

/// The name of the search for repeated ids, for checkpoints.
pub(super) const IDS: &str = "ids";

/// Makes a checkpoint between two chunks.
pub(super) fn record(pass: &mut FirstPass<'_>, noted: &mut Noted<'_>) -> Result<()> {
    match pass.on_disk() {
        Some(spill) => spill.checkpoint(READ, &ReadState::checkpoint(pass, noted)?),
        None => Ok(()),
    }
}
