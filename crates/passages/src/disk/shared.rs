//! Records that all threads add to.

use std::sync::{Arc, Mutex, PoisonError};

use simgpu::error::Result;
use simgpu::store::spill::{Partitions, Sorted, Spill};

/// Files that records are distributed to.
pub(super) const PARTS: usize = 32;

/// Records that all threads add to.
pub(super) struct SharedPartitions<const N: usize>(Mutex<Partitions<N>>);

impl<const N: usize> SharedPartitions<N> {
    pub(super) fn new(spill: &Arc<Spill>, name: &str, end: u64) -> Self {
        SharedPartitions(Mutex::new(Partitions::new(
            spill,
            name,
            PARTS,
            end,
            4 * PARTS,
        )))
    }

    pub(super) fn push_all(&self, records: &[[u32; N]]) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.iter().try_for_each(|record| all.push(record))
    }

    /// Writes everything pushed so far, for a checkpoint.
    pub(super) fn flush(&self) -> Result<()> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.flush()
    }

    pub(super) fn finish(self) -> Result<Sorted<N>> {
        self.0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .finish()
    }
}
