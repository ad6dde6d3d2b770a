//! Patterns: pairs whose fields are on the same levels are one pattern with a count.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use rayon::prelude::*;

use super::kinds::Kind;
use super::levels::{CLOSE, EQUAL, Levels, NEAR, NONE};
use super::rates::Rates;
use super::values::{Field, number};
use simgpu::pipeline::Mixed;
use simgpu::scheme::fmix64;

/// Fields of a pattern, at most: a level has five bits.
pub(crate) const MOST_FIELDS: usize = 25;

/// Pairs that a thread takes at a time. Counts are added up by chunks, so that they do not depend on threads.
const CHUNK: usize = 1 << 15;

#[derive(Clone, Copy, PartialEq, Eq)]
struct PatternKey(u128);

impl Hash for PatternKey {
    #[allow(clippy::cast_possible_truncation, reason = "both halves of the key")]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(fmix64(self.0 as u64) ^ (self.0 >> 64) as u64);
    }
}

type Numbers = HashMap<PatternKey, u32, BuildHasherDefault<Mixed>>;

/// The pairs that are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightedPairs<'a> {
    /// The records of each pair.
    pub(crate) records: &'a [[u32; 2]],
    /// How many pairs each stands for.
    pub(crate) weights: &'a [f64],
    /// The levels of its fields.
    pub(crate) levels: &'a Levels,
}

/// The patterns of all pairs.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    /// The levels of each pattern, one column per field.
    levels: Vec<u8>,
    fields: usize,
    /// The pattern of each pair.
    pub(crate) numbers: Vec<u32>,
    /// How many pairs each pattern stands for.
    pub(crate) counts: Vec<f64>,
    /// Whether all pairs of a pattern are candidates, as far as is known: chance is only counted there.
    pub(crate) is_covered: Vec<bool>,
}

impl Patterns {
    /// Groups the pairs. The rarity of equal values is that of `rates`.
    pub(crate) fn group(fields: &[Field], rates: &[Rates], pairs: WeightedPairs<'_>) -> Self {
        let columns = fields.len();
        let key = |row: &[u8], record: u32| {
            let mut key = 0_u128;
            for ((level, field), rates) in row.iter().zip(fields).zip(rates) {
                let level = match *level {
                    EQUAL => rates.levels[field.codes[record as usize] as usize],
                    level => level,
                };
                key = key << 5 | u128::from(level);
            }
            PatternKey(key)
        };
        let chunks = pairs.levels.levels.par_chunks(CHUNK * columns.max(1));
        let chunks = chunks
            .zip(pairs.records.par_chunks(CHUNK))
            .zip(pairs.weights.par_chunks(CHUNK));
        let parts: Vec<ChunkPatterns> = chunks
            .map(|((rows, records), weights)| {
                let mut part = ChunkPatterns::default();
                let rows = rows.chunks_exact(columns.max(1)).zip(records).zip(weights);
                rows.for_each(|((row, [a, _]), weight)| part.add(key(row, *a), *weight));
                part
            })
            .collect();
        let mut all = ChunkPatterns::default();
        let mut numbers = Vec::with_capacity(pairs.records.len());
        for part in parts {
            // Parts come in order, so that patterns have the same numbers whatever the threads did.
            let counted = part.keys.iter().zip(&part.counts);
            let renumbered: Vec<u32> = counted
                .map(|(key, count)| all.number(*key, *count))
                .collect();
            let patterns = part.patterns.iter();
            numbers.extend(patterns.map(|pattern| renumbered[*pattern as usize]));
        }
        let mut patterns = Patterns {
            fields: columns,
            numbers,
            counts: all.counts,
            ..Patterns::default()
        };
        for PatternKey(key) in all.keys {
            let places = (0..columns).rev();
            #[allow(clippy::cast_possible_truncation, reason = "five bits")]
            let row: Vec<u8> = places
                .map(|place| (key >> (5 * place)) as u8 & 31)
                .collect();
            patterns.is_covered.push(is_covered(&row, fields, rates));
            patterns.levels.extend(row);
        }
        patterns
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The levels of a pattern.
    pub(crate) fn levels(&self, pattern: usize) -> &[u8] {
        &self.levels[pattern * self.fields..(pattern + 1) * self.fields]
    }
}

/// The patterns of a chunk.
#[derive(Default)]
struct ChunkPatterns {
    numbers: Numbers,
    keys: Vec<PatternKey>,
    counts: Vec<f64>,
    /// The pattern of each pair.
    patterns: Vec<u32>,
}

impl ChunkPatterns {
    fn add(&mut self, key: PatternKey, weight: f64) {
        let pattern = self.number(key, weight);
        self.patterns.push(pattern);
    }

    /// The number of a pattern, to which so many pairs are added.
    fn number(&mut self, key: PatternKey, weight: f64) -> u32 {
        let next = number(self.keys.len());
        let pattern = *self.numbers.entry(key).or_insert(next);
        if pattern == next {
            self.keys.push(key);
            self.counts.push(0.0);
        }
        self.counts[pattern as usize] += weight;
        pattern
    }
}

/// Whether pairs with these levels are candidates for sure: an equal value that is rare, two equal values, or a text that is
/// close or near.
fn is_covered(row: &[u8], fields: &[Field], rates: &[Rates]) -> bool {
    let mut equal = 0;
    for ((level, field), rates) in row.iter().zip(fields).zip(rates) {
        let is_equal = (NONE + 1..CLOSE).contains(level);
        equal += u32::from(is_equal);
        let is_sure = is_equal && rates.is_sure[usize::from(*level)];
        if is_sure || field.kind == Kind::Text && (CLOSE..=NEAR).contains(level) {
            return true;
        }
    }
    equal >= 2
}
