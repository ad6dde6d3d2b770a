//! How often values agree by chance: u of each level, and the rarity of equal values, with each value counted once per entity.

use rayon::prelude::*;

use super::kinds::Kind;
use super::levels::{CLOSE, CROSSWISE, LEVELS, Levels};
use super::values::{Field, MISSING};

/// Bits of rarity that one level of equal values spans.
const BITS_PER_LEVEL: f64 = 2.0;

/// Pairs added to each level of values that differ, so that none is impossible.
const UNSEEN: f64 = 0.5;

/// Which records are one thing, as far as is known.
#[derive(Debug)]
pub(crate) struct Things<'a> {
    /// For each record, the first one of its entity.
    pub(crate) entity: &'a [u32],
    /// For each record, as how many things its copies count.
    pub(crate) times: &'a [u32],
}

/// A field in random pairs of records.
#[derive(Debug)]
pub(crate) struct FieldSample<'a> {
    /// The levels of all fields of the pairs.
    pub(crate) levels: &'a Levels,
    /// The column of the field.
    pub(crate) column: usize,
    /// For each pair, whether it is of two things.
    pub(crate) different: &'a [bool],
    /// Whether values of the field may stand crosswise, so that it has that level.
    pub(crate) is_crossed: bool,
}

/// The rates of a field among pairs of different things.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    /// The share of the pairs that have the field on each level.
    pub(crate) u: [f64; LEVELS],
    /// The share of the things whose value is on each level of rarity: how m of equal values is split.
    pub(crate) rarity_shares: [f64; LEVELS],
    /// The level of each value where it is equal.
    pub(crate) levels: Vec<u8>,
    /// The share of the pairs of which a record lacks the field.
    pub(crate) missing: f64,
    /// What equality says, in bits; of texts, equality or closeness.
    pub(crate) bits: f64,
    /// For each level of equal values, whether pairs on it are candidates for sure.
    pub(crate) is_sure: [bool; CLOSE as usize],
}

impl Rates {
    /// Counts a field. Values of more than `largest` records made no block.
    pub(crate) fn count(
        field: &Field,
        things: &Things<'_>,
        sample: &FieldSample<'_>,
        largest: usize,
    ) -> Self {
        let counts = once_per_entity(field, things);
        let all: f64 = counts.iter().sum();
        let share = |value: usize| counts[value] / all.max(1.0);
        let mut rates = Rates {
            u: [0.0; LEVELS],
            rarity_shares: [0.0; LEVELS],
            levels: (0..counts.len())
                .map(|value| rarity(share(value)))
                .collect(),
            missing: 1.0 - (1.0 - field.missing).powi(2),
            bits: 0.0,
            is_sure: [true; CLOSE as usize],
        };
        for (value, level) in rates.levels.iter().enumerate() {
            let (level, share) = (usize::from(*level), share(value));
            rates.u[level] += share * share;
            rates.rarity_shares[level] += share;
            rates.is_sure[level] &= field.records[value] as usize <= largest;
        }
        let equal: f64 = rates.u.iter().sum();
        let mut unequal = [0.0; LEVELS - CLOSE as usize];
        let rows = sample.levels.rows().zip(sample.different);
        for (row, _) in rows.filter(|(_, is_different)| **is_different) {
            if let Some(level) = row[sample.column].checked_sub(CLOSE) {
                unequal[usize::from(level)] += 1.0;
            }
        }
        let is_possible =
            |level: usize| level != usize::from(CROSSWISE - CLOSE) || sample.is_crossed;
        let unequal = unequal.iter().enumerate();
        let unequal =
            unequal.map(|(level, pairs)| pairs + if is_possible(level) { UNSEEN } else { 0.0 });
        let unequal: Vec<f64> = unequal.collect();
        let all_unequal: f64 = unequal.iter().sum();
        for (u, pairs) in rates.u[usize::from(CLOSE)..].iter_mut().zip(&unequal) {
            *u = pairs / all_unequal * (1.0 - equal);
        }
        let close = match field.kind {
            Kind::Text => rates.u[usize::from(CLOSE)],
            _ => 0.0,
        };
        rates.bits = -(equal + close).max(1e-12).log2();
        rates
    }

    /// How much the field can say, of all pairs: its bits, where it is there.
    pub(crate) fn worth(&self, field: &Field) -> f64 {
        self.bits * (1.0 - field.missing)
    }

    /// The share of pairs on levels of equal values.
    pub(crate) fn equal(&self) -> f64 {
        self.u[1..usize::from(CLOSE)].iter().sum()
    }
}

/// The level of equal values that this share of the things has.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and is bounded"
)]
fn rarity(share: f64) -> u8 {
    if share <= 0.0 {
        return 1;
    }
    let level = -share.log2() / BITS_PER_LEVEL;
    1 + (level as u8).min(CLOSE - 3)
}

/// For each value, the number of things that have it.
fn once_per_entity(field: &Field, things: &Things<'_>) -> Vec<f64> {
    let rows = field.codes.iter().enumerate();
    let present = rows.filter(|(_, code)| **code != MISSING);
    let mut keyed: Vec<(u32, u32, u32)> = present
        .map(|(row, code)| (*code, things.entity[row], things.times[row]))
        .collect();
    keyed.par_sort_unstable();
    let mut counts = vec![0.0; field.values.len()];
    for records in keyed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        // Of a thing with copies, those of the record with the most count.
        let times = records.iter().map(|(_, _, times)| *times).max();
        counts[records[0].0 as usize] += f64::from(times.unwrap_or(1));
    }
    counts
}
