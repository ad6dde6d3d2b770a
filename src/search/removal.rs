//! The clusters that removed documents form.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::pipeline::{Clusters, Loss, Removal};
use crate::progress::Counts;
use crate::threads::{collect_blocks, map_blocks, sort};

/// Adds the pairs of clusters to the counts of a run.
#[doc(hidden)]
pub fn count_clusters(counts: &mut Counts, found: &Clusters) {
    counts.candidate_pairs += found.compared;
    counts.similar_pairs += found.similar;
    counts.omitted_pairs += found.omitted.pairs;
    counts.large_buckets += found.omitted.buckets;
}

/// Removed documents that are worth a job, 10 µs or more.
const JOB: usize = 1 << 12;

/// Adds what removed documents lose to the counts of a run.
pub(super) fn count_losses(counts: &mut Counts, removed: &[Removal]) {
    // What is lost, of how many shingles, and of how many documents it is unknown.
    let loss = |removal: &Removal| match removal.loss() {
        Some(Loss { lost, shingles }) => [lost.into(), shingles.into(), 0],
        None => [0, 0, 1],
    };
    let add = |a: [u64; 3], b: [u64; 3]| std::array::from_fn(|i| a[i].saturating_add(b[i]));
    let losses = map_blocks(removed.len(), JOB, |range| {
        removed[range].iter().map(loss).fold([0; 3], add)
    });
    let [lost, shingles, unknown] = losses.into_iter().fold([0; 3], add);
    for (count, more) in [
        (&mut counts.lost_shingles, lost),
        (&mut counts.removed_shingles, shingles),
        (&mut counts.unknown_losses, unknown),
    ] {
        *count = count.map(|count| count.saturating_add(more));
    }
}

/// The sizes of clusters of two or more documents.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[doc(hidden)]
pub struct ClusterSizes {
    /// The number of clusters of each size.
    #[doc(hidden)]
    pub histogram: BTreeMap<u64, u64>,
    /// The size and the kept row of the largest clusters, by size and then by row.
    #[doc(hidden)]
    pub listed: Vec<(u64, u32)>,
    /// The number of clusters whose kept document is of a reference.
    #[doc(hidden)]
    pub of_reference: u64,
    /// The most documents that are removed for one of a reference, and the row of that one; of several, the first.
    #[doc(hidden)]
    pub most_for_reference: Option<(u64, u32)>,
}

impl ClusterSizes {
    /// The largest clusters that are listed.
    const LISTED: usize = 10;

    /// Adds clusters, all of whose removed documents are given. `row_of` returns the rows of kept documents; those below
    /// `reference` are of a reference.
    pub(super) fn add(
        &mut self,
        removed: &[Removal],
        row_of: impl Fn(u32) -> u32 + Sync,
        reference: u32,
    ) {
        let mut kept = collect_blocks(removed.len(), JOB, |range| {
            let removed = removed[range].iter();
            removed.map(|removed| removed.kept).collect::<Vec<u32>>()
        });
        sort(&mut kept);
        let clusters: Vec<&[u32]> = kept.chunk_by(|a, b| a == b).collect();
        let found = map_blocks(clusters.len(), JOB, |range| {
            let mut sizes = ClusterSizes::default();
            for removed in &clusters[range] {
                sizes.add_cluster(removed.len() as u64, row_of(removed[0]), reference);
            }
            sizes
        });
        found.into_iter().for_each(|found| self.add_all(found));
    }

    /// Adds the cluster of so many removed documents and the kept one at this row.
    fn add_cluster(&mut self, removed: u64, kept: u32, reference: u32) {
        let size = removed + 1;
        *self.histogram.entry(size).or_insert(0) += 1;
        if kept < reference {
            self.of_reference += 1;
            self.most_for_reference = more_removed(self.most_for_reference, Some((removed, kept)));
        }
        self.list(size, kept);
    }

    fn add_all(&mut self, more: ClusterSizes) {
        for (size, clusters) in more.histogram {
            *self.histogram.entry(size).or_insert(0) += clusters;
        }
        let listed = more.listed.into_iter();
        listed.for_each(|(size, kept)| self.list(size, kept));
        self.of_reference += more.of_reference;
        self.most_for_reference = more_removed(self.most_for_reference, more.most_for_reference);
    }

    /// Lists a cluster if it is among the largest.
    fn list(&mut self, size: u64, kept: u32) {
        let order = |(size, kept): &(u64, u32)| (Reverse(*size), *kept);
        let cluster = (size, kept);
        let before = |other: &(u64, u32)| order(other) < order(&cluster);
        let at = self.listed.partition_point(before);
        if at < ClusterSizes::LISTED {
            self.listed.insert(at, cluster);
            self.listed.truncate(ClusterSizes::LISTED);
        }
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

/// The one of two documents for which more are removed; of equal ones the first.
fn more_removed(a: Option<(u64, u32)>, b: Option<(u64, u32)>) -> Option<(u64, u32)> {
    let order = |(removed, row): &(u64, u32)| (*removed, Reverse(*row));
    a.into_iter().chain(b).max_by_key(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(document: u32, kept: u32) -> Removal {
        Removal {
            document,
            kept,
            is_identical: true,
            similarity: Some(1.0),
            overlap: None,
            via: None,
        }
    }

    #[test]
    fn a_cluster_has_its_kept_document_and_the_removed_ones() {
        let mut sizes = ClusterSizes::default();
        assert_eq!((sizes.clusters(), sizes.largest()), (0, 0));
        let first = [removed(1, 0), removed(2, 0), removed(4, 3), removed(7, 6)];
        sizes.add(&first, |row| row, 0);
        // Another part, whose rows are others.
        let second = [removed(1, 0), removed(2, 0), removed(3, 0)];
        sizes.add(&second, |row| row + 100, 101);
        let sizes_before = sizes.clone();
        assert_eq!(sizes.of_reference, 1);
        assert_eq!(sizes.most_for_reference, Some((3, 100)));
        // The first of those that are as large.
        sizes.add(
            &[1, 2, 3].map(|document| removed(document, 0)),
            |row| row + 90,
            91,
        );
        sizes.add(&[removed(1, 0)], |row| row, 91);
        assert_eq!(sizes.most_for_reference, Some((3, 90)));
        sizes = sizes_before;
        assert_eq!(sizes.histogram, BTreeMap::from([(2, 2), (3, 1), (4, 1)]));
        assert_eq!(sizes.listed, [(4, 100), (3, 0), (2, 3), (2, 6)]);
        assert_eq!((sizes.clusters(), sizes.largest()), (4, 4));
    }

    #[test]
    fn only_the_largest_clusters_are_listed() {
        let mut sizes = ClusterSizes::default();
        for part in (0..12).rev() {
            // Part 5 has a cluster of three, the others of two.
            let removals: &[Removal] = match part {
                5 => &[removed(1, 0), removed(2, 0)],
                _ => &[removed(1, 0)],
            };
            sizes.add(removals, |row| row + 10 * part, 0);
        }
        let rows: Vec<u32> = sizes.listed.iter().map(|(_, row)| *row).collect();
        assert_eq!(rows, [50, 0, 10, 20, 30, 40, 60, 70, 80, 90]);
        assert_eq!(sizes.clusters(), 12);
    }
}
