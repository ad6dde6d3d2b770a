//! What a reading of all documents finds.

use std::collections::{BTreeMap, BTreeSet};

use crate::changed::Changed;
use crate::phrases::Spread;
use crate::report::{FoundAt, Tally};
use crate::shown::Examples;
use simgpu::error::Result;
use simgpu::store::spill;
use simgpu_io::{Places, raw_json};

/// What is found in all documents.
pub(super) struct Found<'t> {
    pub(super) places: Places,
    pub(super) tally: Tally<'t>,
    pub(super) spread: Spread,
    pub(super) examples: Examples,
    /// The hits of documents that have some, with their rows.
    pub(super) hits: spill::JsonLines,
    pub(super) changed: Changed,
}

/// The places of these rows.
pub(super) fn found_at(
    places: &Places,
    rows: impl Iterator<Item = u32>,
) -> Result<BTreeMap<u32, FoundAt>> {
    let rows: BTreeSet<u32> = rows.collect();
    let mut ids: BTreeMap<u32, _> = places.ids_of(&rows)?;
    let at = |row: u32| {
        let (file, row_in_file) = places.place(row);
        let id = ids.remove(&row);
        let at = FoundAt {
            id: id.unwrap_or_else(|| raw_json("null".into())),
            file: file.to_owned(),
            row: row_in_file,
        };
        (row, at)
    };
    Ok(rows.iter().copied().map(at).collect())
}
