//! Points: how much each field says for a pair, learned without labelled pairs (Fellegi and Sunter, 1969).
//!
//! The book gives each field 100 points (MMDS 3.8.2). Here the pairs themselves say what a field is worth. The similarity
//! of a field falls into levels, and level l of a field is worth log2(m / u): m is the share of the pairs of the same thing
//! that are on the level, u that of the other candidates. A record that lacks the field says nothing: 0 points. The points
//! of a pair are the sum over its fields, and over one field more: the whole record, whose similarity knows how rare the
//! shared symbols are, wherever they stand.
//!
//! Expectation-maximisation finds m and u. It begins with what the score of texts says. With two files, a record has one
//! partner or none, so the odds of its candidates share one probability. In one file a record may have any number of
//! partners: there the number of pairs stays that of the score of texts, since else "similar" drifts until it means "of the
//! same kind": with a free number, some 5,000 of 380,000 candidate pairs of CDs were as good as certain, and 300 are right.
//!
//! Without the field of the whole record, the best one-to-one F1 by points fell from 0.938 to 0.915 on Abt-Buy, from
//! 0.717 to 0.693 on Amazon-Google and from 0.71 to 0.67 on Walmart-Amazon. With it, points count twice, so
//! probabilities are too near to 0 and 1: the thresholds of two files come from runners-up, as those of texts do, and
//! a pair of one file needs a probability of 0.99.

mod levels;

mod isotonic;

mod expectation;

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use self::isotonic::{points_of, shares};
pub(crate) use self::levels::SimilarityLevels;
use self::levels::{LEVELS, least_of, level};
use crate::candidates::RecordPair;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};

/// Rounds of expectation-maximisation: it moves little after ten.
const ROUNDS: u64 = 20;

/// The fewest pairs to learn from.
const LEAST_PAIRS: f64 = 10.0;

/// The least difference, in points, that the similarity of the whole record must make.
const LEAST_RISE: f64 = 1.0;

/// What the levels of a field say for a pair of records.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FieldPoints {
    /// The place of the field among the compared ones; `None` for the whole record.
    pub field: Option<usize>,
    /// The levels of similarity, from the least to the greatest.
    pub levels: Vec<LevelPoints>,
}

/// What a level of similarity says for a pair of records.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LevelPoints {
    /// The least similarity of the level, from 0 to 1; `None` for pairs of which a record lacks the field.
    pub least: Option<f64>,
    /// The share of the pairs of the same thing that are on this level (m).
    pub of_same: f64,
    /// The share of the candidate pairs of different things that are on this level (u).
    pub of_different: f64,
    /// log2(m / u), made to rise with the similarity; 0 where a record lacks the field.
    pub points: f64,
}

/// What is known of the pairs before points are learned.
pub(crate) enum Start {
    /// Two files: the places of the pairs that would be accepted by their similarity. Each record of the first file is in
    /// one of them, and each of the second one too if that has one partner at most.
    OnePartner { accepted: Vec<usize>, both: bool },
    /// One file: the number of pairs, from the first on, that are of the same thing.
    FirstPairs(usize),
}

/// The points of all levels.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// By column and level.
    points: Vec<[f64; LEVELS]>,
    same: Vec<[f64; LEVELS]>,
    different: Vec<[f64; LEVELS]>,
    /// The score at which a pair is of the same thing as likely as not.
    even: f64,
    /// The expected number of pairs of the same thing.
    pub(crate) expected: f64,
}

impl Points {
    /// Learns the points from candidate pairs, which are in the order of acceptance by their similarities.
    pub(crate) fn learn(
        levels: &SimilarityLevels,
        pairs: &[RecordPair],
        records: usize,
        start: &Start,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut likely = vec![0.0; pairs.len()];
        match start {
            Start::OnePartner { accepted, .. } => accepted
                .iter()
                .for_each(|place| likely[*place] = pairs[*place].similarity.clamp(0.02, 0.98)),
            Start::FirstPairs(count) => likely[..*count].fill(1.0),
        }
        let begun: f64 = likely.iter().sum();
        if begun < LEAST_PAIRS {
            return Err(Error::CannotLearn(format!(
                "some {begun:.0} candidate pairs look like pairs of the same thing, and {LEAST_PAIRS} are the fewest to learn from"
            )));
        }
        let all = levels.counts(&vec![1.0; pairs.len()]);
        let mut points = Points::from_likely(levels, &likely, &all, 0.0);
        progress.begin("learn", ROUNDS);
        for round in 0..ROUNDS {
            let (likely, even) = match start {
                Start::OnePartner { both, .. } => {
                    let sides = if *both { &[0, 1][..] } else { &[0] };
                    points.expect_one_partner(levels, pairs, records, sides)
                }
                Start::FirstPairs(count) => points.expect_pairs(levels, *count as f64),
            };
            points = Points::from_likely(levels, &likely, &all, even);
            advance(progress, round + 1, 0, 0)?;
        }
        let left = points.expected;
        if left < LEAST_PAIRS {
            return Err(Error::CannotLearn(format!(
                "of some {begun:.0} pairs that look alike {left:.0} remained as their fields were compared"
            )));
        }
        let whole = &points.points[levels.columns - 1][1..];
        let rise = whole[whole.len() - 1] - whole[0];
        if rise < LEAST_RISE {
            return Err(Error::CannotLearn(
                "points do not rise with the similarity of the records".to_owned(),
            ));
        }
        Ok(points)
    }

    /// The score of a pair that is of the same thing with a probability of 0.99. Fields repeat each other, and then points
    /// count twice: probabilities are too near to 0 and 1, so that those between say little.
    pub(crate) fn threshold(&self) -> f64 {
        self.even + 99_f64.log2()
    }

    /// The points that follow from the probabilities of the pairs. `all` counts all pairs by column and level, and `even` is
    /// the score at which a pair had the probability 1/2.
    fn from_likely(
        levels: &SimilarityLevels,
        likely: &[f64],
        all: &[[f64; LEVELS]],
        even: f64,
    ) -> Self {
        let same = levels.counts(likely);
        let different: Vec<[f64; LEVELS]> = all
            .iter()
            .zip(&same)
            .map(|(all, same)| std::array::from_fn(|level| (all[level] - same[level]).max(0.0)))
            .collect();
        let counts = same.iter().zip(&different);
        Points {
            points: counts
                .map(|(same, different)| points_of(same, different))
                .collect(),
            same: shares(same),
            different: shares(different),
            even,
            expected: likely.iter().sum(),
        }
    }

    /// The points of a pair by the levels of its columns.
    fn sum(&self, row: &[u8]) -> f64 {
        self.columns(row).sum()
    }

    fn columns<'a>(&'a self, row: &'a [u8]) -> impl Iterator<Item = f64> + 'a {
        let columns = self.points.iter().zip(row);
        columns.map(|(points, level)| points[usize::from(*level)])
    }

    /// The points of every pair.
    pub(crate) fn score_pairs(&self, levels: &SimilarityLevels) -> Vec<f64> {
        let mut sums = vec![0.0; levels.rows.len() / levels.columns];
        sums.par_iter_mut()
            .zip(levels.rows.par_chunks_exact(levels.columns))
            .for_each(|(sum, row)| *sum = self.sum(row));
        sums
    }

    /// The points of a pair of records by its similarities: one per field, and that of the whole record.
    pub(crate) fn points_of(&self, similarities: &[Option<f64>]) -> Vec<f64> {
        let row: Vec<u8> = similarities
            .iter()
            .map(|similarity| level(*similarity))
            .collect();
        self.columns(&row).collect()
    }

    /// The table of all levels.
    pub(crate) fn table(&self) -> Vec<FieldPoints> {
        let columns = self.points.len();
        let field_points = |column: usize| FieldPoints {
            field: (column + 1 < columns).then_some(column),
            levels: (0..LEVELS)
                .map(|level| LevelPoints {
                    least: least_of(level),
                    of_same: self.same[column][level],
                    of_different: self.different[column][level],
                    points: self.points[column][level],
                })
                .collect(),
        };
        (0..columns).map(field_points).collect()
    }
}
