//! Deduplicates, and finds similar pairs of, what is in memory. `simgpu/_dedup.py` gives the results their shape.

mod reference;

mod parts;

mod corpus;

mod prepared;

mod dedup;

mod pairs;

pub(crate) use dedup::{PyFound, dedup_in_memory};
pub(crate) use pairs::pairs_in_memory;
pub(crate) use prepared::Prepared;
pub(crate) use reference::ReferenceDocuments;
