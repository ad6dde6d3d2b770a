//! Which pairs of records are links, and the numbers of pairs by score.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Nearby;
use super::scorer::Scorer;
use crate::candidates::RecordPair;
use crate::matching::Joined;
use crate::threshold::Estimate;

/// A bin of the histogram of scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ScoreBin {
    /// Pairs that are accepted if the threshold is left out. In one file, candidate pairs within an entity.
    pub accepted: u64,
    /// Pairs that would be accepted without those. In one file, candidate pairs of two entities.
    pub runners_up: u64,
}

/// The numbers of pairs by score.
#[derive(Debug)]
pub(crate) struct Bins {
    pub(super) bins: BTreeMap<i64, ScoreBin>,
    /// The scores of a bin, a multiple of which it begins at.
    pub(super) width: f64,
}

impl Bins {
    pub(crate) fn new(scorer: &Scorer) -> Self {
        let width = match scorer {
            Scorer::Text => 0.02,
            Scorer::Points(_) | Scorer::Evidence(_) => 1.0,
            Scorer::Textbook(_) => 10.0,
        };
        let bins = BTreeMap::new();
        Bins { bins, width }
    }

    /// The bin of a score.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates, and scores are small"
    )]
    pub(crate) fn at(&mut self, score: f64) -> &mut ScoreBin {
        let bin = (score / self.width).floor() as i64;
        self.bins.entry(bin).or_default()
    }
}

/// Which pairs of records are links.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// The links, in the order of acceptance.
    pub(crate) joined: Vec<Joined>,
    /// In one file: for each record, the first record of its entity.
    pub(crate) entities: Option<Vec<u32>>,
    pub(crate) estimate: Estimate,
    /// The numbers of pairs by score.
    pub(crate) bins: Bins,
    /// What a lower threshold would change, and a higher one.
    pub(crate) nearby: Vec<Nearby>,
}

impl Accepted {
    /// Links in any order.
    pub(crate) fn new(
        mut joined: Vec<Joined>,
        entities: Option<Vec<u32>>,
        estimate: Estimate,
        bins: Bins,
    ) -> Self {
        joined.par_sort_unstable_by(|x, y| x.pair.before(&y.pair));
        Accepted {
            joined,
            entities,
            estimate,
            bins,
            nearby: Vec::new(),
        }
    }

    /// The same with what other thresholds would change.
    pub(crate) fn with_nearby(self, nearby: Vec<Nearby>) -> Self {
        Accepted { nearby, ..self }
    }
}

/// For each row, the places of the first two pairs that have it.
pub(crate) fn best_two(pairs: &[RecordPair], rows: usize) -> Vec<[Option<usize>; 2]> {
    let mut best = vec![[None; 2]; rows];
    for (place, pair) in pairs.iter().enumerate() {
        for row in pair.rows {
            let places: &mut [Option<usize>; 2] = &mut best[row as usize];
            if let Some(free) = places.iter_mut().find(|place| place.is_none()) {
                *free = Some(place);
            }
        }
    }
    best
}
