//! The clusters that removed documents form.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::pipeline::{Clusters, Removal};
use crate::progress::Counts;

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
    pub(super) fn add(&mut self, removed: &[Removal], row_of: impl Fn(u32) -> u32) {
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
