//! The clusters that removed documents form.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::pipeline::{Clusters, Loss, Removal};
use crate::progress::Counts;

/// Adds the pairs of clusters to the counts of a run.
pub(crate) fn count_clusters(counts: &mut Counts, found: &Clusters) {
    counts.candidate_pairs += found.compared;
    counts.similar_pairs += found.similar;
    counts.omitted_pairs += found.omitted.pairs;
    counts.large_buckets += found.omitted.buckets;
}

/// Adds what removed documents lose to the counts of a run.
pub(super) fn count_losses(counts: &mut Counts, removed: &[Removal]) {
    for loss in removed.iter().map(Removal::loss) {
        let Loss { lost, shingles } = loss.unwrap_or_default();
        for (count, of_document) in [
            (&mut counts.lost_shingles, lost.into()),
            (&mut counts.removed_shingles, shingles.into()),
            (&mut counts.unknown_losses, u64::from(loss.is_none())),
        ] {
            *count = count.map(|count| count.saturating_add(of_document));
        }
    }
}

/// The sizes of clusters of two or more documents.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct ClusterSizes {
    /// The number of clusters of each size.
    pub(crate) histogram: BTreeMap<u64, u64>,
    /// The size and the kept row of the largest clusters, by size and then by row.
    pub(crate) listed: Vec<(u64, u32)>,
    /// The number of clusters whose kept document is of a reference.
    pub(crate) of_reference: u64,
    /// The most documents that are removed for one of a reference, and the row of that one; of several, the first.
    pub(crate) most_for_reference: Option<(u64, u32)>,
}

impl ClusterSizes {
    /// The largest clusters that are listed.
    const LISTED: usize = 10;

    /// Adds clusters, all of whose removed documents are given. `row_of` returns the rows of kept documents; those below
    /// `reference` are of a reference.
    pub(super) fn add(&mut self, removed: &[Removal], row_of: impl Fn(u32) -> u32, reference: u32) {
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        for removed in removed {
            *sizes.entry(removed.kept).or_insert(1) += 1;
        }
        for size in sizes.values() {
            *self.histogram.entry(*size).or_insert(0) += 1;
        }
        let sizes = sizes.into_iter().map(|(kept, size)| (size, row_of(kept)));
        let sizes: Vec<(u64, u32)> = sizes.collect();
        for (size, row) in sizes.iter().filter(|(_, row)| *row < reference) {
            self.of_reference += 1;
            let found = (size - 1, *row);
            let order = |(removed, row): (u64, u32)| (removed, Reverse(row));
            if self
                .most_for_reference
                .is_none_or(|most| order(found) > order(most))
            {
                self.most_for_reference = Some(found);
            }
        }
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
            let of_part: &[Removal] = match part {
                5 => &[removed(1, 0), removed(2, 0)],
                _ => &[removed(1, 0)],
            };
            sizes.add(of_part, |row| row + 10 * part, 0);
        }
        let rows: Vec<u32> = sizes.listed.iter().map(|(_, row)| *row).collect();
        assert_eq!(rows, [50, 0, 10, 20, 30, 40, 60, 70, 80, 90]);
        assert_eq!(sizes.clusters(), 12);
    }
}
