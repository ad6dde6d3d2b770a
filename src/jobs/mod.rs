//! Complete runs: deduplicate documents, find their similar pairs, or sign them.
//!
//! [`dedup`] and [`pairs`] take documents in memory. A [`Run`] (feature `io`) reads and writes files. Both run
//! the same stages and find the same pairs.
#![cfg_attr(not(feature = "io"), doc = "\n[`Run`]: crate#features")]

mod verification;

mod banded;

mod corpus;

#[cfg(feature = "io")]
mod spilled;

mod numbered;

mod copies;

mod removed;

mod first_pass;

mod source;

mod observed;

mod rarity;

mod few;

mod search;

mod candidates;

mod searched;

mod signed_rows;

mod dedup;

mod pairs;

#[cfg(feature = "records")]
mod linked;

#[cfg(feature = "records")]
mod link;

#[cfg(feature = "io")]
pub mod divided;

#[cfg(feature = "io")]
mod ratings;

#[cfg(feature = "io")]
mod files;

pub use dedup::{Dedup, Deduplication, dedup, dedup_by_class};
pub use few::few_shingles_warning;
#[cfg(feature = "io")]
pub use files::{
    DedupOutput, FileReport, HistogramBin, LinkFound, LinkInMemory, LinkOutcome, LinkParameters,
    LinkReport, LinkRun, NamesFile, Outcome, PairsOutput, RatingsOutcome, RatingsRun, Run,
    SignatureFile, SignatureRun, keep_classes,
};
#[cfg(feature = "records")]
pub use link::{Link, link};
#[cfg(feature = "records")]
pub use linked::{Explanation, LinkCounts, Linked, RecordLink, RunnerUp, ScoreBin};
pub use pairs::{DocumentPair, Identical, Pairs, PairsFound, pairs};
#[cfg(feature = "io")]
pub use ratings::{
    HitRates, RatingsCounts, RatingsInMemory, RatingsParameters, RatingsReport, RatingsTask,
    Recommendees,
};
pub use removed::{FoundBy, Removed};
pub use search::{CandidateMethod, Search};
pub use signed_rows::SignaturesInMemory;
pub use verification::Verification;

#[cfg(feature = "internals")]
#[cfg(feature = "io")]
pub(crate) use files::machine;
