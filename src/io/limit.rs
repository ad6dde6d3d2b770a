//! How many more records a run reads.

use std::cell::Cell;

/// The number of records that may still be read; `None` if there is no limit.
#[derive(Debug)]
pub(super) struct Limit(Cell<Option<u64>>);

impl Limit {
    pub(super) fn new(records: Option<u64>) -> Self {
        Limit(Cell::new(records))
    }

    /// Whether all records that the limit allows were read.
    pub(super) fn is_reached(&self) -> bool {
        self.0.get() == Some(0)
    }

    /// Whether there is a limit at all.
    pub(super) fn is_set(&self) -> bool {
        self.0.get().is_some()
    }

    /// Counts the next records. Returns how many of them the limit allows.
    pub(super) fn take(&self, records: u64) -> u64 {
        let Some(left) = self.0.get() else {
            return records;
        };
        let allowed = records.min(left);
        self.0.set(Some(left - allowed));
        allowed
    }
}
