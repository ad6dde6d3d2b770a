//! The outcome of a run with an index.

use serde::{Deserialize, Serialize};

use simgpu::progress::Timings;

/// What a run over an index counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IndexCounts {
    /// Records read, bad ones included.
    pub documents: u64,
    /// Bad records that were left out.
    pub skipped: u64,
    /// Documents that were added.
    pub added: u64,
    /// Documents that were left out, as the index has their ids.
    pub known_ids: u64,
    /// Documents that are similar to one of the index.
    pub seen: u64,
    /// Pairs of a document and a similar one of the index.
    pub hits: u64,
}

/// What a run over an index returns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexOutcome {
    /// What it counted.
    pub counts: IndexCounts,
    /// The times of its stages.
    pub timings: Timings,
    /// Seconds that it took.
    pub elapsed_s: f64,
}

impl IndexOutcome {
    /// The counts as JSON, with a line break at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!(
            "{:#}\n",
            serde_json::to_value(self.counts).unwrap_or_default()
        )
    }
}
