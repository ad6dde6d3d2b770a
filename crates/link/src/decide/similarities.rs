//! The pairs of one file by their similarity, and pairs by a threshold.

use rayon::prelude::*;

use crate::candidates::RecordPair;
use crate::distinct::Distinct;
use crate::links::Scorer;
use crate::threshold::{Estimate, estimate_entities};

/// How much lower and higher a threshold is, to show how much depends on it.
const NEARBY: [f64; 2] = [-0.1, 0.1];

/// The most pairs of copies that a pair of distinct records counts for: so one record with many copies outweighs no others.
const MOST_COPIES: u64 = 64;

/// The similarities of the candidate pairs of one file, in descending order. Nothing else shows how many pairs are of the
/// same thing, whatever their score.
pub(super) struct Similarities {
    /// With each similarity, how many pairs of copies it counts for, each copy in one pair.
    similarities: Vec<(f64, u64)>,
    /// How many pairs equal records count for.
    equal: u64,
    floor: f64,
}

impl Similarities {
    pub(super) fn new(pairs: &[RecordPair], distinct: &Distinct, floor: f64) -> Self {
        let counted = |pair: &RecordPair| {
            let [a, b] = pair.rows.map(|row| distinct.copies(row as usize));
            (pair.similarity, a.min(b).min(MOST_COPIES))
        };
        let mut similarities: Vec<(f64, u64)> = pairs.iter().map(counted).collect();
        similarities.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let copies = (0..distinct.len()).map(|record| distinct.copies(record));
        Similarities {
            similarities,
            equal: copies.map(|copies| (copies / 2).min(MOST_COPIES)).sum(),
            floor,
        }
    }

    pub(super) fn estimate(&self, threshold: Option<f64>) -> Estimate {
        estimate_entities(&self.similarities, self.equal, self.floor, threshold)
    }

    /// The number of pairs that reach a similarity.
    pub(super) fn reaching(&self, similarity: f64) -> usize {
        self.similarities
            .partition_point(|(known, _)| *known >= similarity)
    }

    /// The estimate for a threshold that so many pairs reach: that of the similarity that as many pairs reach.
    pub(super) fn estimate_for_count(&self, threshold: f64, pairs: usize) -> Estimate {
        let as_similar = self.similarities.get(pairs.saturating_sub(1));
        Estimate {
            threshold,
            ..self.estimate(Some(as_similar.map_or(1.0, |(similarity, _)| *similarity)))
        }
    }
}

/// The pairs that reach a threshold; they are in the order of acceptance.
pub(super) fn reaching(pairs: &[RecordPair], threshold: f64) -> &[RecordPair] {
    &pairs[..pairs.partition_point(|pair| pair.score >= threshold)]
}

/// A lower threshold and a higher one.
pub(super) fn nearby(threshold: f64, scorer: &Scorer) -> [f64; 2] {
    let most = match scorer {
        Scorer::Text => 1.0,
        Scorer::Points(_) | Scorer::Textbook(_) | Scorer::Evidence(_) => f64::MAX,
    };
    NEARBY.map(|part| (threshold + part * threshold.abs()).min(most))
}
