//! How many more records a run reads.
//!
//! The limit cuts in the reader, so that neither pass reads further; the checksum covers what was read. Files are then
//! read one after the other.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::chunk::Contents;

/// The number of records that may still be read; `None` if there is no limit.
#[derive(Debug)]
pub(super) struct Limit(Mutex<Option<u64>>);

impl Limit {
    pub(super) fn new(records: Option<u64>) -> Self {
        Limit(Mutex::new(records))
    }

    fn lock(&self) -> MutexGuard<'_, Option<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all records that the limit allows were read.
    pub(super) fn is_reached(&self) -> bool {
        *self.lock() == Some(0)
    }

    /// Whether there is a limit at all.
    pub(super) fn is_set(&self) -> bool {
        self.lock().is_some()
    }

    /// Counts the next records. Returns those that the limit allows.
    pub(super) fn first_of(&self, contents: Contents) -> Contents {
        match &mut *self.lock() {
            None => contents,
            Some(left) => {
                let records = contents.records();
                let allowed = usize::try_from(*left).map_or(records, |left| left.min(records));
                *left -= allowed as u64;
                contents.first(allowed)
            }
        }
    }
}
