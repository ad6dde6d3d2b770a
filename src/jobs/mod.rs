//! Whole runs: documents in; the documents to keep, or the similar pairs, out.
//!
//! [`dedup`] and [`pairs`] take documents in memory. With the feature `io`, a [`Run`] reads files and writes
//! files, through the same stages.

mod corpus;

mod first_pass;

mod source;

mod search;

mod dedup;

mod pairs;

#[cfg(feature = "io")]
mod files;

pub use dedup::{Dedup, Deduplication, FoundBy, Removed, dedup};
#[cfg(feature = "io")]
pub use files::{Outcome, PairsOutput, Run, SignatureFile, SignatureRun};
pub use pairs::{DocumentPair, PairsFound, pairs};
pub use search::{Search, Verification};

#[cfg(feature = "internals")]
#[cfg(feature = "io")]
pub(crate) use files::machine;
