//! The recall that is expected of the pairs within entities: what may be missed.
//!
//! The number of pairs that the mixture learned is no help: it is too low where errors come together (1,869 of the 2,031 of
//! splink's 1,000 made-up people), so that nothing would seem to be missed. Two other counts are, and the greater one is
//! taken:
//!
//! - the probabilities of all candidate pairs of two entities, by their own odds;
//! - how often a pair of the same thing has odds below 1, if levels are drawn from what was learned of each field.
//!
//! To that come half of the pairs that agree in at least half of the strong fields and differ in two or more: related things,
//! or the same thing with several errors, such as two exchanged fields. Where these are more than a tenth of the pairs of the
//! same thing, nothing is stated. Of 25 sets that are left, from splink's and FEBRL's tables, with fields taken out or added,
//! and from made-up people, each was within 0.05 of the truth, and the range held it.

use super::levels::{LEVELS, NONE};
use super::mixture::{Mixture, Weights};
use super::rates::Rates;
use super::values::{Field, number};
use simgpu::scheme::fmix64;

/// Pairs that are drawn.
const DRAWN: u64 = 20_000;

/// The range is that of odds of missed pairs that are this much lower, or higher.
const FACTORS: [f64; 3] = [1.0 / 3.0, 1.0, 10.0];

/// If nearly equal things are more than this share of the pairs of the same thing, they could hide too many.
const MOST_NEARLY: f64 = 0.1;

/// What may be missed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Missed {
    /// Pairs of the same thing among the candidates of two entities: with odds three times lower, as they are, and ten times
    /// higher.
    pub(crate) between: [f64; 3],
    /// The share of the pairs of the same thing that have odds above 1.
    pub(crate) found_alone: f64,
    /// Pairs that share at least half of the strong fields, and differ in two or more.
    pub(crate) nearly: f64,
    /// Pairs of the same thing, as far as they were learned.
    pub(crate) same: f64,
}

impl Missed {
    /// Adds the candidate pairs of two entities, with their log odds, and how many pairs of copies each stands for.
    pub(crate) fn add_between(&mut self, pairs: impl Iterator<Item = (f64, f64)>) {
        for (log_odds, copies) in pairs {
            for (sum, factor) in self.between.iter_mut().zip(FACTORS) {
                *sum += copies / (1.0 + (-log_odds).exp() / factor);
            }
        }
    }

    /// Whether too many pairs are nearly the same thing to state a recall.
    pub(crate) fn hides_too_many(&self) -> bool {
        self.nearly > MOST_NEARLY * self.same
    }

    /// The expected recall: least, expected, most. `right` pairs within entities are expected to be right.
    pub(crate) fn recall(&self, right: f64) -> [f64; 3] {
        let alone = if self.found_alone > 0.0 {
            right * (1.0 / self.found_alone - 1.0)
        } else {
            f64::INFINITY
        };
        let [fewest, likely, most] = self.between;
        let most = most.max(alone) + self.nearly;
        // Two standard errors of a count, as if one pair more were missed.
        let most = most + 2.0 * (most + 1.0).sqrt();
        let likely = likely.max(alone) + self.nearly / 2.0;
        [most, likely, fewest.min(alone)].map(|missed| right / (right + missed).max(1.0))
    }
}

/// The share of the pairs of the same thing that have odds above 1, by levels that are drawn for each field on its own.
pub(crate) fn found_alone(
    mixture: &Mixture,
    weights: &Weights,
    fields: &[Field],
    rates: &[Rates],
) -> f64 {
    let drawing: Vec<Drawing> = (0..fields.len())
        .map(|field| Drawing {
            missing: 1.0 - (1.0 - fields[field].missing).powi(2),
            levels: mixture.same_by_level(field, &rates[field]),
        })
        .collect();
    let mut likelihoods = vec![0.0; mixture.classes()];
    let mut levels = vec![NONE; fields.len()];
    let mut found = 0;
    for pair in 0..DRAWN {
        for ((level, drawing), field) in levels.iter_mut().zip(&drawing).zip(0..) {
            *level = drawing.level(fmix64(pair << 8 | field));
        }
        let log_odds = weights.log_odds(mixture, &levels, &mut likelihoods);
        found += u64::from(log_odds > 0.0);
    }
    found as f64 / DRAWN as f64
}

/// How often a field is on each level in pairs of the same thing.
struct Drawing {
    /// The share of pairs of which a record lacks the field.
    missing: f64,
    levels: [f64; LEVELS],
}

impl Drawing {
    /// A level by a random number.
    fn level(&self, random: u64) -> u8 {
        let unit = |bits: u64| (bits & 0xffff_ffff) as f64 / 2_f64.powi(32);
        if unit(random) < self.missing {
            return NONE;
        }
        let all: f64 = self.levels.iter().sum();
        let mut rest = unit(random >> 32) * all;
        for (level, share) in self.levels.iter().enumerate() {
            rest -= share;
            if rest < 0.0 {
                return number(level).to_le_bytes()[0];
            }
        }
        NONE
    }
}

/// The pairs of the classes that share at least half of the strong fields that are not doubted, and are not the same thing.
pub(crate) fn nearly(mixture: &Mixture, doubted: &[bool]) -> f64 {
    let strong: Vec<usize> = (0..mixture.lattice.len())
        .filter(|place| mixture.strong[*place] && !doubted[mixture.lattice[*place]])
        .collect();
    let is_nearly = |class: &usize| {
        let shared = strong.iter().filter(|place| class >> **place & 1 == 1);
        2 * shared.count() >= strong.len()
    };
    let classes = (1..mixture.same()).filter(is_nearly);
    classes
        .map(|class| mixture.shares[class] * mixture.all_pairs)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_count_of_missed_pairs_is_taken() {
        let mut missed = Missed {
            found_alone: 0.9,
            nearly: 0.0,
            same: 1000.0,
            ..Missed::default()
        };
        // Odds of one: half of ten pairs.
        missed.add_between([(0.0, 10.0)].into_iter());
        assert!((missed.between[0] - 2.5).abs() < 1e-12 && (missed.between[1] - 5.0).abs() < 1e-12);
        let [least, right, most] = missed.recall(900.0);
        assert!((right - 0.9).abs() < 1e-12, "{right}");
        assert!(least < right && right < most && most < 1.0);
        missed.found_alone = 1.0;
        let [_, right, most] = missed.recall(900.0);
        assert!((right - 900.0 / 905.0).abs() < 1e-12);
        assert_eq!(most, 1.0);
        // Half of what is nearly the same thing counts, and with more than a tenth nothing does.
        missed.nearly = 90.0;
        assert!((missed.recall(900.0)[1] - 900.0 / 950.0).abs() < 1e-12);
        assert!(!missed.hides_too_many());
        missed.nearly = 101.0;
        assert!(missed.hides_too_many());
        let none = Missed::default().recall(0.0);
        assert!(none.iter().all(|share| *share == 0.0), "{none:?}");
    }

    #[test]
    fn levels_are_drawn_by_their_shares() {
        let mut levels = [0.0; LEVELS];
        (levels[3], levels[20]) = (0.6, 0.2);
        let drawing = Drawing {
            missing: 0.25,
            levels,
        };
        let mut counts = [0_u32; LEVELS];
        for seed in 0..40_000 {
            counts[usize::from(drawing.level(fmix64(seed)))] += 1;
        }
        for (level, share) in [(0, 0.25), (3, 0.75 * 0.75), (20, 0.75 * 0.25)] {
            let seen = f64::from(counts[level]) / 40_000.0;
            assert!((seen - share).abs() < 0.01, "{level}: {seen}");
        }
    }
}
