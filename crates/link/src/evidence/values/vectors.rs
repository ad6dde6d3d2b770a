//! The parts of values as vectors, each part weighted by its rarity.

use std::borrow::Cow;
use std::collections::HashMap;

use super::codes::MISSING;
use crate::evidence::kinds::Parts;

/// The parts of the values of a field, such as words, as vectors of length 1, each part weighted by its rarity.
#[derive(Debug, Default)]
pub(crate) struct WordVectors {
    /// Words and their weights, one value after the other, by ascending word.
    entries: Vec<(u32, f32)>,
    ends: Vec<usize>,
}

impl WordVectors {
    /// The vector of a value.
    pub(crate) fn vector(&self, value: u32) -> &[(u32, f32)] {
        let value = value as usize;
        let start = if value == 0 { 0 } else { self.ends[value - 1] };
        &self.entries[start..self.ends[value]]
    }

    /// The cosine of two values, from 0 to 1.
    pub(crate) fn cosine(&self, a: u32, b: u32) -> f64 {
        let (mut a, mut b) = (self.vector(a), self.vector(b));
        let mut sum = 0.0;
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            if x.0 == y.0 {
                sum += f64::from(x.1) * f64::from(y.1);
            }
            if x.0 <= y.0 {
                a = rest_a;
            }
            if y.0 <= x.0 {
                b = rest_b;
            }
        }
        sum
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "weights need no more digits"
    )]
    pub(super) fn from_values(values: &[String], codes: &[u32], parts: Parts) -> Self {
        let mut numbers: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut words: Vec<Vec<u32>> = Vec::with_capacity(values.len());
        for value in values {
            let numbered = parts(value).into_iter().map(|word| {
                let next = numbers.len() as u32;
                *numbers.entry(word).or_insert(next)
            });
            let mut numbered: Vec<u32> = numbered.collect();
            numbered.sort_unstable();
            numbered.dedup();
            words.push(numbered);
        }
        let mut records = vec![0_u32; numbers.len()];
        for code in codes.iter().filter(|code| **code != MISSING) {
            for word in &words[*code as usize] {
                records[*word as usize] += 1;
            }
        }
        let all = codes.len() as f64;
        let weight = |word: u32| (1.0 + all / f64::from(records[word as usize].max(1))).ln();
        let mut vectors = WordVectors::default();
        for words in &words {
            let square: f64 = words.iter().map(|word| weight(*word).powi(2)).sum();
            let length = square.sqrt().max(1e-9);
            let entries = words.iter();
            let entries = entries.map(|word| (*word, (weight(*word) / length) as f32));
            vectors.entries.extend(entries);
            vectors.ends.push(vectors.entries.len());
        }
        vectors
    }
}
