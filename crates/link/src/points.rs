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

use rayon::prelude::*;

use crate::candidates::RecordPair;
use crate::symbols::{FieldValues, Symbols};
use crate::tables::RecordTables;
use crate::words::Equivalents;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};

/// The levels of a field: missing, ten tenths of its similarity, equal.
pub(crate) const LEVELS: usize = 12;

/// The level of pairs of which a record lacks the field.
const MISSING: usize = 0;

/// The level of equal fields.
const EQUAL: usize = LEVELS - 1;

/// Rounds of expectation-maximisation: it moves little after ten.
const ROUNDS: u64 = 20;

/// Pairs of either kind added to each level, so that none is impossible.
const UNSEEN: f64 = 0.5;

/// The fewest pairs to learn from.
const LEAST_PAIRS: f64 = 10.0;

/// The least difference, in points, that the similarity of the whole record must make.
const LEAST_RISE: f64 = 1.0;

/// Odds of one to two to this power are none.
const LEAST_LIKELY: f64 = 40.0;

/// Pairs that a thread takes at a time. Sums are added up by chunks, so that they do not depend on threads.
const CHUNK: usize = 1 << 14;

/// Pairs between two calls of [`Progress::advance`].
const BLOCK: usize = 1 << 18;

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

/// The level of a similarity.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a similarity is between 0 and 1"
)]
fn level(similarity: Option<f64>) -> u8 {
    match similarity {
        None => MISSING as u8,
        Some(similarity) if similarity >= 1.0 => EQUAL as u8,
        Some(similarity) => 1 + (similarity * 10.0).min(9.0) as u8,
    }
}

/// The least similarity of a level.
fn least_of(level: usize) -> Option<f64> {
    match level {
        MISSING => None,
        EQUAL => Some(1.0),
        _ => Some((level - 1) as f64 / 10.0),
    }
}

/// The levels of candidate pairs: one row per pair, with a column per field and one for the whole record.
#[derive(Debug)]
pub(crate) struct SimilarityLevels {
    rows: Vec<u8>,
    columns: usize,
}

impl SimilarityLevels {
    /// Compares the fields of all pairs.
    pub(crate) fn compare(
        tables: &RecordTables<'_>,
        symbols: &Symbols,
        equivalents: &Equivalents,
        pairs: &[RecordPair],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let fields = tables.field_count();
        let columns = fields + 1;
        let mut rows = vec![0; pairs.len() * columns];
        // One field at a time, since the lists of its values take as much memory as the values.
        for field in 0..fields {
            let values = FieldValues::from_field(tables, field, symbols, equivalents, progress)?;
            progress.begin("score", pairs.len() as u64);
            let mut done = 0;
            let blocks = rows.chunks_mut(BLOCK * columns);
            for (rows, pairs) in blocks.zip(pairs.chunks(BLOCK)) {
                rows.par_chunks_mut(columns)
                    .zip(pairs)
                    .with_min_len(CHUNK)
                    .for_each(|(row, pair)| {
                        let records = pair.rows.map(|row| row as usize);
                        row[field] = level(values.similarity(records, symbols.squares()));
                    });
                done += pairs.len() as u64;
                advance(progress, done, 0, 0)?;
            }
        }
        rows.par_chunks_mut(columns)
            .zip(pairs)
            .with_min_len(CHUNK)
            .for_each(|(row, pair)| row[fields] = level(Some(pair.similarity)));
        Ok(SimilarityLevels { rows, columns })
    }

    /// The sums of the weights of all pairs by column and level.
    fn counts(&self, weights: &[f64]) -> Vec<[f64; LEVELS]> {
        let columns = self.columns;
        let zero = || vec![[0.0; LEVELS]; columns];
        let parts: Vec<Vec<[f64; LEVELS]>> = self
            .rows
            .par_chunks(CHUNK * columns)
            .zip(weights.par_chunks(CHUNK))
            .map(|(rows, weights)| {
                let mut sums = zero();
                let rows = rows.chunks_exact(columns).zip(weights);
                // Most pairs are hardly likely.
                for (row, weight) in rows.filter(|(_, weight)| **weight > 0.0) {
                    for (sums, level) in sums.iter_mut().zip(row) {
                        sums[usize::from(*level)] += weight;
                    }
                }
                sums
            })
            .collect();
        let mut sums = zero();
        parts.iter().for_each(|part| add(&mut sums, part));
        sums
    }
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

    /// The probability of every pair, if records on these sides have at most one partner, and the score that has even odds.
    fn expect_one_partner(
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
    fn expect_pairs(&self, levels: &SimilarityLevels, count: f64) -> (Vec<f64>, f64) {
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

/// The shares of each column's levels.
fn shares(mut counts: Vec<[f64; LEVELS]>) -> Vec<[f64; LEVELS]> {
    for column in &mut counts {
        let all: f64 = column.iter().sum();
        column.iter_mut().for_each(|count| *count /= all.max(1.0));
    }
    counts
}

fn add(sums: &mut [[f64; LEVELS]], counts: &[[f64; LEVELS]]) {
    for (sums, counts) in sums.iter_mut().zip(counts) {
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
    }
}

/// The points of the levels of a field by the numbers of pairs of the same thing and of others on each. Points never fall
/// as the similarity grows: where the counts say so, neighbouring levels get their mean (isotonic regression). A level
/// without pairs is worth as much as the next lower one that has some.
fn points_of(same: &[f64; LEVELS], different: &[f64; LEVELS]) -> [f64; LEVELS] {
    let [all_same, all_different] = [same, different].map(|counts| {
        let added = UNSEEN * (LEVELS - 1) as f64;
        counts[1..].iter().sum::<f64>() + added
    });
    // Means of neighbouring levels: points, weight, the first level.
    let mut means: Vec<(f64, f64, usize)> = Vec::with_capacity(LEVELS);
    for level in 1..LEVELS {
        let pairs = same[level] + different[level];
        if pairs == 0.0 {
            continue;
        }
        let [of_same, of_different] = [
            (same[level] + UNSEEN) / all_same,
            (different[level] + UNSEEN) / all_different,
        ];
        means.push(((of_same / of_different).log2(), pairs + 1.0, level));
        while let [.., before, last] = means[..] {
            if before.0 <= last.0 {
                break;
            }
            let weight = before.1 + last.1;
            let mean = (before.0 * before.1 + last.0 * last.1) / weight;
            means.pop();
            let place = means.len() - 1;
            means[place] = (mean, weight, before.2);
        }
    }
    let points_at = |level: usize| {
        let lower = means.iter().rfind(|mean| mean.2 <= level);
        lower.or(means.first()).map_or(0.0, |mean| mean.0)
    };
    std::array::from_fn(|level| {
        if level == MISSING {
            0.0
        } else {
            points_at(level)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::Distinct;
    use crate::matching::{Matching, Rounds};
    use simgpu::progress::Silent;
    use simgpu::scheme::fmix64;

    const COLUMNS: usize = 3;

    /// Candidate pairs of 60 and 60 records, or of 120 of one file: one in six is of the same thing, and its fields are more
    /// often equal.
    fn made_up(seed: u64) -> (SimilarityLevels, Vec<RecordPair>) {
        let mut rows = Vec::new();
        let mut pairs = Vec::new();
        for a in 0..60_u32 {
            for b in 60..120_u32 {
                let random = |i: u64| fmix64(seed << 40 | u64::from(a * 200 + b) << 8 | i);
                let is_same = b == a + 60 && a % 6 != 0;
                if !is_same && !random(0).is_multiple_of(7) {
                    continue;
                }
                let mut row = [0; COLUMNS];
                for (column, level) in row.iter_mut().enumerate() {
                    let random = random(1 + column as u64);
                    let up_to = if is_same { 12 } else { 7 };
                    let least = if is_same { random >> 20 & 7 } else { 0 };
                    *level = u8::try_from((random % up_to).max(least)).unwrap();
                }
                row[COLUMNS - 1] = row[COLUMNS - 1].max(1);
                let similarity = f64::from(row[COLUMNS - 1]) / 12.0 + f64::from(a + b) * 1e-9;
                rows.push(row);
                pairs.push(RecordPair {
                    rows: [a, b],
                    score: similarity,
                    similarity,
                });
            }
        }
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by(|x, y| pairs[*x].before(&pairs[*y]));
        let levels = SimilarityLevels {
            rows: order.iter().flat_map(|i| rows[*i]).collect(),
            columns: COLUMNS,
        };
        (levels, order.into_iter().map(|i| pairs[i]).collect())
    }

    /// Isotonic regression by its formula: the greatest of all means that end here of the least that begin here.
    fn slow_isotonic(values: &[(f64, f64)]) -> Vec<f64> {
        let mean = |from: usize, to: usize| {
            let weight: f64 = values[from..=to].iter().map(|value| value.1).sum();
            values[from..=to]
                .iter()
                .map(|value| value.0 * value.1)
                .sum::<f64>()
                / weight
        };
        let mean_at = |i: usize| {
            let least = |from: usize| (i..values.len()).map(move |to| mean(from, to));
            (0..=i)
                .map(|from| least(from).fold(f64::INFINITY, f64::min))
                .fold(f64::NEG_INFINITY, f64::max)
        };
        (0..values.len()).map(mean_at).collect()
    }

    /// Points by the formulas at the top of this file, pair by pair.
    fn slow_points(levels: &SimilarityLevels, likely: &[f64]) -> Vec<[f64; LEVELS]> {
        (0..COLUMNS)
            .map(|column| {
                let count = |level: usize, weight: &dyn Fn(f64) -> f64| -> f64 {
                    let rows = levels.rows.chunks(COLUMNS).zip(likely);
                    let on_level = rows.filter(|(row, _)| usize::from(row[column]) == level);
                    on_level.map(|(_, likely)| weight(*likely)).sum()
                };
                let added = UNSEEN * (LEVELS - 1) as f64;
                let sums = [
                    (1..LEVELS).map(|level| count(level, &|p| p)).sum::<f64>() + added,
                    (1..LEVELS)
                        .map(|level| count(level, &|p| 1.0 - p))
                        .sum::<f64>()
                        + added,
                ];
                let seen: Vec<usize> = (1..LEVELS)
                    .filter(|level| count(*level, &|_| 1.0) > 0.0)
                    .collect();
                let raw: Vec<(f64, f64)> = seen
                    .iter()
                    .map(|level| {
                        let (m, u) = (count(*level, &|p| p), count(*level, &|p| 1.0 - p));
                        let ratio = ((m + UNSEEN) / sums[0]) / ((u + UNSEEN) / sums[1]);
                        (ratio.log2(), m + u + 1.0)
                    })
                    .collect();
                let means = slow_isotonic(&raw);
                let points_at = |level: usize| {
                    let place = seen.iter().rposition(|seen| *seen <= level).unwrap_or(0);
                    means[place]
                };
                std::array::from_fn(|level| if level == 0 { 0.0 } else { points_at(level) })
            })
            .collect()
    }

    fn sum(points: &[[f64; LEVELS]], row: &[u8]) -> f64 {
        points
            .iter()
            .zip(row)
            .map(|(points, level)| points[usize::from(*level)])
            .sum()
    }

    #[test]
    fn learned_points_agree_with_a_slow_reference() {
        for seed in 0..4 {
            let (levels, pairs) = made_up(seed);
            let distinct = Distinct::from_keys(&[None; 120], 60);
            let [accepted, ..] = Rounds::accept(&pairs, &distinct, Matching::OneToOne).places;
            let count = accepted.len() / 2;
            for both in [Some(true), Some(false), None] {
                let start = match both {
                    Some(both) => Start::OnePartner {
                        accepted: accepted.clone(),
                        both,
                    },
                    None => Start::FirstPairs(count),
                };
                let learned = Points::learn(&levels, &pairs, 120, &start, &Silent).unwrap();
                let mut likely = vec![0.0; pairs.len()];
                match both {
                    Some(_) => accepted.iter().for_each(|place| {
                        likely[*place] = pairs[*place].similarity.clamp(0.02, 0.98)
                    }),
                    None => likely[..count].fill(1.0),
                }
                let mut points = slow_points(&levels, &likely);
                for _ in 0..ROUNDS {
                    let rows: Vec<&[u8]> = levels.rows.chunks(COLUMNS).collect();
                    let prior = likely.iter().sum::<f64>() / likely.len() as f64;
                    let odds: Vec<f64> = rows
                        .iter()
                        .map(|row| sum(&points, row).exp2() * prior / (1.0 - prior))
                        .collect();
                    likely = match both {
                        Some(both) => (0..pairs.len())
                            .map(|i| {
                                let [a, b] = pairs[i].rows;
                                let rivals = (0..pairs.len()).filter(|j| {
                                    let [c, d] = pairs[*j].rows;
                                    *j != i && (a == c || both && b == d)
                                });
                                odds[i] / (1.0 + odds[i] + rivals.map(|j| odds[j]).sum::<f64>())
                            })
                            .collect(),
                        None => {
                            let likely_at = |even: f64| -> Vec<f64> {
                                let p =
                                    |row: &&[u8]| 1.0 / (1.0 + (even - sum(&points, row)).exp2());
                                rows.iter().map(p).collect()
                            };
                            let (mut low, mut high) = (-100.0_f64, 100.0);
                            for _ in 0..80 {
                                let middle = f64::midpoint(low, high);
                                if likely_at(middle).iter().sum::<f64>() > count as f64 {
                                    low = middle
                                } else {
                                    high = middle
                                }
                            }
                            likely_at(low)
                        }
                    };
                    points = slow_points(&levels, &likely);
                }
                for (row, score) in levels
                    .rows
                    .chunks(COLUMNS)
                    .zip(learned.score_pairs(&levels))
                {
                    let expected = sum(&points, row);
                    assert!(
                        (score - expected).abs() < 1e-6,
                        "{seed} {both:?}: {score} {expected}"
                    );
                }
                assert!((learned.expected - likely.iter().sum::<f64>()).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn what_cannot_be_learned_is_refused() {
        let (levels, pairs) = made_up(9);
        let few = Start::FirstPairs(3);
        let error = Points::learn(&levels, &pairs, 120, &few, &Silent)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("3 candidate pairs") && error.contains("`score=text`"),
            "{error}"
        );
        let equal = SimilarityLevels {
            rows: vec![5; levels.rows.len()],
            columns: COLUMNS,
        };
        let error =
            Points::learn(&equal, &pairs, 120, &Start::FirstPairs(50), &Silent).unwrap_err();
        assert!(error.to_string().contains("do not rise"), "{error}");
    }
}
