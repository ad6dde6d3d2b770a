//! The expectation step: how likely each pair is of the same thing, by its points.

use rayon::prelude::*;

use super::Points;
use super::levels::{CHUNK, SimilarityLevels};
use crate::candidates::RecordPair;

/// Odds of one to two to this power are none.
const LEAST_LIKELY: f64 = 40.0;

impl Points {
    /// The probability of every pair, if records on these sides have at most one partner, and the score that has even odds.
    pub(super) fn expect_one_partner(
        &self,
        levels: &SimilarityLevels,
        pairs: &[RecordPair],
        records: usize,
        sides: &[usize],
    ) -> (Vec<f64>, f64) {
        let prior = self.expected / pairs.len() as f64;
        let even = ((1.0 - prior) / prior).max(f64::MIN_POSITIVE).log2();
        let mut odds_of = self.score_pairs(levels);
        odds_of.par_iter_mut().for_each(|points| {
            let log = *points - even;
            *points = if log < -LEAST_LIKELY {
                0.0
            } else {
                log.min(80.0).exp2()
            };
        });
        // A record has one partner or none: the odds of its candidates, and 1 for none, share its probability.
        let mut sums = vec![0.0; records];
        for (odds, pair) in odds_of.iter().zip(pairs) {
            if *odds > 0.0 {
                for side in sides {
                    sums[pair.rows[*side] as usize] += odds;
                }
            }
        }
        odds_of.par_iter_mut().zip(pairs).for_each(|(odds, pair)| {
            if *odds > 0.0 {
                let rivals = sides
                    .iter()
                    .map(|side| sums[pair.rows[*side] as usize] - *odds);
                let all = 1.0 + *odds + rivals.sum::<f64>();
                *odds /= all;
            }
        });
        (odds_of, even)
    }

    /// The probability of every pair, if so many of them are of the same thing, and the score that has even odds.
    pub(super) fn expect_pairs(&self, levels: &SimilarityLevels, count: f64) -> (Vec<f64>, f64) {
        let points = self.score_pairs(levels);
        let probability = |points: f64, even: f64| match points - even {
            log if log < -LEAST_LIKELY => 0.0,
            log => 1.0 / (1.0 + (-log).exp2()),
        };
        let expected = |even: f64| -> f64 {
            let parts = points.par_chunks(CHUNK).map(|points| {
                let sum = points.iter().map(|points| probability(*points, even));
                sum.sum::<f64>()
            });
            parts.collect::<Vec<f64>>().iter().sum()
        };
        // The expected number of pairs falls as the even score rises, so that halving the interval finds the score.
        let (mut low, mut high) = (-200.0_f64, 200.0_f64);
        for _ in 0..44 {
            let middle = f64::midpoint(low, high);
            if expected(middle) > count {
                low = middle
            } else {
                high = middle
            }
        }
        let even = f64::midpoint(low, high);
        let likely = points.iter().map(|points| probability(*points, even));
        (likely.collect(), even)
    }
}
