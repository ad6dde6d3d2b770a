//! What a deduplication is asked for, and what it returns.

use super::parameters::{CandidateMethod, Search};
use super::removal::Removed;
#[cfg(doc)]
use super::verification::Verification;
use crate::pipeline::{Clustering, KeepPolicy};
use crate::progress::{Counts, Timings};

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
        }
    }
}

/// The result of a deduplication.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deduplication {
    /// The removed documents, by ascending row. All other documents are kept.
    pub removed: Vec<Removed>,
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
        let mut removed = self.removed.iter().map(|removed| removed.row).peekable();
        let rows = (0..self.counts.documents).zip(0..).map(|(_, row)| row);
        rows.filter(move |row| removed.next_if_eq(row).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::removal::FoundBy;

    #[test]
    fn all_other_documents_are_kept() {
        let removed = |row| Removed {
            row,
            kept: 1,
            similarity: None,
            found_by: FoundBy::Identical,
            via: None,
        };
        let found = |documents, rows: &[u32]| Deduplication {
            removed: rows.iter().copied().map(removed).collect(),
            counts: Counts {
                documents,
                ..Counts::default()
            },
            candidates: CandidateMethod::Lsh,
            recall_at_threshold: 1.0,
            expected_precision: None,
            timings: Timings::default(),
        };
        let kept = |documents, rows: &[u32]| found(documents, rows).kept().collect::<Vec<_>>();
        assert_eq!(kept(6, &[0, 3, 5]), [1, 2, 4]);
        assert_eq!(kept(3, &[]), [0, 1, 2]);
        assert!(kept(0, &[]).is_empty());
    }
}
