//! The search for duplicates and similar pairs, in memory or larger than memory.
//!
//! [`dedup`] and [`pairs`] take documents in memory. A run of the crate `simgpu-files` reads and writes files. Both
//! run the same stages and find the same pairs.
//!
//! A *row* is the number of a document among all documents. Documents that are identical share one *position*: one
//! signature and one set of band keys stand for all of them, and at the end each position is expanded into its
//! documents. Documents without shingles have positions behind all others, where copies are found by their digests,
//! and no stage looks for keys.
//!
//! Between the passes, a run holds for each document its id as JSON and the length of its text, and for each distinct
//! document its row, its digest (128 bits), its band keys (8 bytes per band; entry i of a column is that of position
//! i, so that no key needs a number beside it), and its signature if verification needs it. The file and record number
//! of a document need no memory: rows ascend by file, and only bad records, which have no row, are listed.
//!
//! **A run has up to two passes**, and one before them if shingles are counted (`rarity`): the first reads, shingles,
//! signs and bands, and drops the text; the second reads what exact verification and writing need.

mod verification;

mod keys;

mod corpus;

mod disk;

mod digests;

mod numbering;

mod copies;

mod removal;

mod shingled;

mod short;

mod known;

mod known_index;

mod first_pass;

mod source;

mod observations;

mod signed_sets;

mod rarity;

mod few;

mod parameters;

mod part;

mod blocks;

mod context;

mod candidates;

mod stages;

#[doc(hidden)]
pub mod sign;

mod signature_rows;

mod deduplication;

mod clusters;

mod removals;

mod listed;

mod pairs;

mod against;

#[cfg(test)]
mod tests;

pub use against::{dedup_against, pairs_against};
#[doc(hidden)]
pub use blocks::{Block, KeptDocuments};
#[doc(hidden)]
pub use context::Context;
#[doc(hidden)]
pub use corpus::Corpus;
pub use deduplication::{Dedup, Deduplication};
pub use few::few_shingles_warning;
#[doc(hidden)]
pub use few::warn_of_few_shingles;
#[doc(hidden)]
pub use first_pass::{
    FirstPass, Notes, NumbersRead, Parsed, Pieces, SignedBatch, SignedForm, Sink, Wanted,
};
#[doc(hidden)]
pub use known::KnownDocument;
#[doc(hidden)]
pub use known_index::{AddingRun, InterruptedRun, KnownIndex};
#[doc(hidden)]
pub use listed::{ListedSearch, find_listed_removals, read_digests};
#[doc(hidden)]
pub use observations::Observations;
pub use pairs::{DocumentPair, Identical, Pairs, PairsFound, pairs};
#[doc(hidden)]
pub use pairs::{PairSearch, Streamed};
pub use parameters::{CandidateMethod, Search};
#[doc(hidden)]
pub use part::{BucketsOf, Observed, PartRecords, PartShape};
#[doc(hidden)]
pub use removal::{ClusterSizes, count_clusters};
#[doc(hidden)]
pub use removals::{FoundRemovals, Removals, find_removals};
pub use removals::{dedup, dedup_by_class};
#[doc(hidden)]
pub use short::DroppedRows;
pub use short::ShortDocuments;
pub use signature_rows::SignaturesInMemory;
#[doc(hidden)]
pub use signature_rows::{SignedRows, check_search};
#[doc(hidden)]
pub use source::{Classify, LinesOfIds, NextPreference, SetsByRow, Source};
#[doc(hidden)]
pub use stages::Searched;
pub use verification::Verification;
