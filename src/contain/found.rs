//! What a reading of all documents finds.

use super::class::Class;
use super::report::Tally;
use crate::io::Places;
use crate::store::spill;

/// What is found in all documents.
pub(super) struct Found<'t> {
    pub(super) places: Places,
    pub(super) tally: Tally<'t>,
    /// The hits of documents that have some, with their rows.
    pub(super) hits: spill::JsonLines,
    /// The rows of documents to remove, ascending, and the first class of each.
    pub(super) removed: Vec<(u32, Class)>,
    /// Documents written and left out.
    pub(super) written: (Option<u64>, Option<u64>),
}

impl Found<'_> {
    pub(super) fn is_removed(&self, row: u32) -> bool {
        self.removed
            .binary_search_by_key(&row, |(row, _)| *row)
            .is_ok()
    }
}
