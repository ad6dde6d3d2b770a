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

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(row: u32, kept: u32) -> Removed {
        Removed {
            row,
            kept,
            similarity: Some(1.0),
            found_by: FoundBy::Identical,
            via: None,
        }
    }

    #[test]
    fn a_cluster_has_its_kept_document_and_the_removed_ones() {
        let mut sizes = ClusterSizes::default();
        assert_eq!((sizes.clusters(), sizes.largest()), (0, 0));
        let first = [removed(1, 0), removed(2, 0), removed(4, 3), removed(7, 6)];
        sizes.add(&first, |row| row);
        // Another part, whose rows are others.
        sizes.add(&[removed(1, 0), removed(2, 0), removed(3, 0)], |row| {
            row + 100
        });
        assert_eq!(sizes.histogram, BTreeMap::from([(2, 2), (3, 1), (4, 1)]));
        assert_eq!(sizes.listed, [(4, 100), (3, 0), (2, 3), (2, 6)]);
        assert_eq!((sizes.clusters(), sizes.largest()), (4, 4));
    }

    #[test]
    fn only_the_largest_clusters_are_listed() {
        let mut sizes = ClusterSizes::default();
        for part in (0..12).rev() {
            // Part 5 has a cluster of three, the others of two.
            let of_part: &[Removed] = match part {
                5 => &[removed(1, 0), removed(2, 0)],
                _ => &[removed(1, 0)],
            };
            sizes.add(of_part, |row| row + 10 * part);
        }
        let rows: Vec<u32> = sizes.listed.iter().map(|(_, row)| *row).collect();
        assert_eq!(rows, [50, 0, 10, 20, 30, 40, 60, 70, 80, 90]);
        assert_eq!(sizes.clusters(), 12);
    }

    #[test]
    fn equal_shingles_are_known_of_exact_similarities_alone() {
        let of = |found_by, similarity| {
            let removed = Removed {
                similarity,
                found_by,
                ..removed(1, 0)
            };
            removed.has_equal_shingles()
        };
        let exact = FoundBy::Search(Verification::Exact);
        assert!(of(exact, Some(1.0)));
        assert!(!of(exact, Some(0.99)) && !of(exact, None));
        assert!(!of(FoundBy::Identical, Some(1.0)));
        assert!(!of(FoundBy::Search(Verification::Signature), Some(1.0)));
    }
}
