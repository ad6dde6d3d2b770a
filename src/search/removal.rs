//! Removed documents, and the clusters that they form.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::verification::Verification;
#[cfg(doc)]
use crate::pipeline::Clustering;
use crate::pipeline::Clusters;
use crate::progress::Counts;

/// A removed document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removed {
    /// The row of the removed document: its number among all documents, from 0.
    pub row: u32,
    /// The row of the document kept in its place.
    pub kept: u32,
    /// The similarity of the two; `None` if not computed ([`Verification::None`]).
    pub similarity: Option<f64>,
    /// How the duplicate was found.
    pub found_by: FoundBy,
    /// With [`Clustering::Connected`]: the row of the next document on a chain of similar pairs that leads to the
    /// kept one, and the similarity of the removed document to that next document, if computed. `None` for other
    /// clusterings, and if `found_by` is [`FoundBy::Identical`].
    pub via: Option<(u32, Option<f64>)>,
}

impl Removed {
    /// Whether its shingles are known to equal those of the kept document, although it was not found as identical.
    pub(crate) fn has_equal_shingles(&self) -> bool {
        self.found_by == FoundBy::Search(Verification::Exact) && self.similarity == Some(1.0)
    }
}

/// The way in which a duplicate was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// It has the same normalised text, or the same list of tokens, as the kept document.
    Identical,
    /// It shares a bucket with another document, and the pair passed this verification.
    Search(Verification),
}

impl FoundBy {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            FoundBy::Identical => "identical",
            FoundBy::Search(verification) => verification.name(),
        }
    }
}

/// Adds the pairs of clusters to the counts of a run.
pub(crate) fn count_clusters(counts: &mut Counts, found: &Clusters) {
    counts.candidate_pairs += found.compared;
    counts.similar_pairs += found.similar;
    counts.omitted_pairs += found.omitted.pairs;
    counts.large_buckets += found.omitted.buckets;
}

/// The sizes of clusters of two or more documents.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct ClusterSizes {
    /// The number of clusters of each size.
    pub(crate) histogram: BTreeMap<u64, u64>,
    /// The size and the kept row of the largest clusters, by size and then by row.
    pub(crate) listed: Vec<(u64, u32)>,
}

impl ClusterSizes {
    /// The largest clusters that are listed.
    const LISTED: usize = 10;

    /// Adds clusters, all of whose removed documents are given. `row_of` returns the rows of kept documents.
    pub(super) fn add(&mut self, removed: &[Removed], row_of: impl Fn(u32) -> u32) {
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        for removed in removed {
            *sizes.entry(removed.kept).or_insert(1) += 1;
        }
        for size in sizes.values() {
            *self.histogram.entry(*size).or_insert(0) += 1;
        }
        let sizes = sizes.into_iter().map(|(kept, size)| (size, row_of(kept)));
        self.listed.extend(sizes);
        self.listed
            .sort_unstable_by_key(|(size, row)| (Reverse(*size), *row));
        self.listed.truncate(ClusterSizes::LISTED);
    }

    /// The number of clusters.
    pub(super) fn clusters(&self) -> u64 {
        self.histogram.values().sum()
    }

    /// The size of the largest cluster; 0 without clusters.
    pub(super) fn largest(&self) -> u64 {
        self.histogram.keys().next_back().copied().unwrap_or(0)
    }
}
