//! What a deduplication is asked for, and what it returns.

use super::parameters::{CandidateMethod, Search};
use super::short::ShortDocuments;
use super::verification::Verification;
use crate::error::{Conflict, Result};
use crate::pipeline::{
    ClusterTask, Clustering, Dropped, KeepPolicy, Measure, Pairing, Removal, Similarity,
};
use crate::progress::{Counts, Progress, Timings, grouped};

/// The parameters of a deduplication. [`Dedup::new`] supplies defaults; change fields as needed.
#[derive(Clone, Debug)]
pub struct Dedup {
    /// The search for similar pairs.
    pub search: Search,
    /// How similar pairs form clusters; default [`Clustering::Greedy`].
    pub clustering: Clustering,
    /// Which document of a cluster is kept; default [`KeepPolicy::First`].
    pub keep: KeepPolicy,
    /// The limit on comparisons in one bucket: a document is compared with at most this many other documents of the
    /// bucket; default 4096. What this leaves out is counted in [`Counts::omitted_pairs`].
    pub max_bucket: usize,
    /// What happens to documents of few shingles; by default nothing.
    pub short: ShortDocuments,
}

/// The default of [`Dedup::max_bucket`].
const MAX_BUCKET: usize = 4096;

impl Dedup {
    /// A deduplication with greedy clustering that keeps the first document of each cluster.
    pub fn new(search: Search) -> Self {
        Dedup {
            search,
            clustering: Clustering::default(),
            keep: KeepPolicy::default(),
            max_bucket: MAX_BUCKET,
            short: ShortDocuments::default(),
        }
    }

    /// What is compared if there is a reference.
    #[doc(hidden)]
    pub fn pairing(&self) -> Pairing {
        match self.clustering {
            Clustering::Greedy => Pairing::Distinct,
            Clustering::Connected => Pairing::Input,
        }
    }

    /// What clusters documents that `similarity` compares, in the order of positions. A join compares all of its
    /// candidates.
    #[doc(hidden)]
    pub fn clusters_of<'a>(
        &self,
        similarity: &'a dyn Similarity,
        candidates: CandidateMethod,
    ) -> ClusterTask<'a> {
        let task = ClusterTask::new(similarity, self.search.threshold);
        match candidates {
            CandidateMethod::Join => task,
            CandidateMethod::Lsh | CandidateMethod::Auto => task.bounded(self.max_bucket),
        }
    }

    /// Refuses a search by containment that would keep another document than one with the most shingles. `option` names
    /// what else chooses the document to keep, beside [`Dedup::keep`].
    #[doc(hidden)]
    pub fn check_measure(&self, option: Option<&'static str>) -> Result<()> {
        let keep = match self.keep {
            KeepPolicy::First => None,
            KeepPolicy::Longest => Some("`keep=longest`"),
        };
        match (self.search.measure, self.clustering, keep.or(option)) {
            (Measure::Jaccard, ..) | (Measure::Contained, Clustering::Greedy, None) => Ok(()),
            (Measure::Contained, Clustering::Connected, _) => {
                Err(Conflict::ContainedNotGreedy.into())
            }
            (Measure::Contained, Clustering::Greedy, Some(option)) => {
                Err(Conflict::ContainedKeep { option }.into())
            }
        }
    }

    /// Warns of pairs that [`Dedup::max_bucket`] left out.
    pub(super) fn warn_of_omitted(progress: &dyn Progress, counts: &Counts) {
        let (pairs, buckets) = (counts.omitted_pairs, counts.large_buckets);
        if pairs == 0 {
            return;
        }
        let (were, pairs_end) = if pairs == 1 {
            ("was", "")
        } else {
            ("were", "s")
        };
        let buckets_end = if buckets == 1 { "" } else { "s" };
        progress.warn(&format!(
            "up to {} pair{pairs_end} {were} not compared, in {} bucket{buckets_end} of more than `max_bucket` documents; raise `max_bucket` to compare more",
            grouped(pairs),
            grouped(buckets)
        ));
    }
}

/// The result of a deduplication.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deduplication {
    /// The documents removed for others, named by their rows, ascending.
    pub removed: Vec<Removal>,
    /// The rows removed for no other, as [`Dedup::short`] asks, ascending. All further documents are kept.
    pub dropped: Vec<(u32, Dropped)>,
    /// The number of documents of the reference of [`dedup_against`](super::dedup_against): they have the first rows, and
    /// are neither kept nor removed. 0 without one.
    pub reference: u32,
    /// The verification of the search, which found the removed documents that are not identical to a kept one.
    pub verification: Verification,
    /// The counts of documents and pairs.
    pub counts: Counts,
    /// The method that found candidate pairs: [`CandidateMethod::Lsh`] or [`CandidateMethod::Join`].
    pub candidates: CandidateMethod,
    /// The probability that the run finds a pair with a similarity equal to the threshold; 1 with
    /// [`CandidateMethod::Join`].
    pub recall_at_threshold: f64,
    /// The share of truly similar pairs to expect among the pairs that count as similar: 1 with
    /// [`Verification::Exact`]; with [`Verification::Signature`], estimated from the estimates of all compared pairs,
    /// or `None` without similar pairs, or if the estimates do not tell it within 0.05; `None` with
    /// [`Verification::None`].
    pub expected_precision: Option<f64>,
    /// The elapsed times of the stages.
    pub timings: Timings,
}

impl Deduplication {
    /// The rows of the kept documents, ascending.
    pub fn kept(&self) -> impl Iterator<Item = u32> {
        let mut removed = self
            .removed
            .iter()
            .map(|removed| removed.document)
            .peekable();
        let mut dropped = self.dropped.iter().map(|(row, _)| *row).peekable();
        let rows = (0..self.counts.documents).zip(self.reference..);
        let rows = rows.map(|(_, row)| row);
        rows.filter(move |row| {
            removed.next_if_eq(row).is_none() && dropped.next_if_eq(row).is_none()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_other_documents_are_kept() {
        let removed = |document| Removal {
            document,
            kept: 1,
            is_identical: true,
            similarity: None,
            overlap: None,
            via: None,
        };
        let found = |documents, rows: &[u32]| Deduplication {
            removed: rows.iter().copied().map(removed).collect(),
            dropped: vec![(7, Dropped::Empty)],
            reference: 0,
            counts: Counts {
                documents,
                ..Counts::default()
            },
            candidates: CandidateMethod::Lsh,
            recall_at_threshold: 1.0,
            verification: Verification::Exact,
            expected_precision: None,
            timings: Timings::default(),
        };
        let kept = |documents, rows: &[u32]| found(documents, rows).kept().collect::<Vec<_>>();
        assert_eq!(kept(6, &[0, 3, 5]), [1, 2, 4]);
        assert_eq!(kept(3, &[]), [0, 1, 2]);
        assert!(kept(0, &[]).is_empty());
        assert_eq!(kept(9, &[2]), [0, 1, 3, 4, 5, 6, 8]);
    }
}
