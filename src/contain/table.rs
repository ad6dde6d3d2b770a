//! The exact table of the items' n-grams.
//!
//! A part is a distinct question or a distinct passage. The table holds, per n-gram of words, the parts that have it. The
//! key is a 64-bit hash of the words; a table is built with the first seed for which no two n-grams of the parts have one
//! key, so that a key is an n-gram. A document's n-gram with the same key is compared word by word before it counts.
//!
//! A bit map of 16 bits per n-gram, which stays in the cache longer than the table, answers first.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::part::Part;
use super::words::Words;
use crate::pipeline::Mixed;
use crate::scheme::fmix64;

/// The multiplier of the polynomial over the hashes of words.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hashes n-grams of words.
#[derive(Clone, Copy, Debug)]
struct Grams {
    size: usize,
    seed: u64,
    /// The multiplier of the word that leaves.
    leaving: u64,
}

impl Grams {
    fn new(size: usize, seed: u64) -> Self {
        let leaving = (1..size).fold(1u64, |power, _| power.wrapping_mul(MULTIPLIER));
        Grams {
            size,
            seed,
            leaving,
        }
    }

    /// Calls `each` with the number of the first word and the key of every n-gram. `hashes` is memory for the words'.
    fn for_each(self, words: &Words, hashes: &mut Vec<u64>, mut each: impl FnMut(usize, u64)) {
        hashes.clear();
        let mut sum = 0u64;
        for (i, word) in words.iter().enumerate() {
            let hash = xxh3_64_with_seed(word.as_bytes(), self.seed);
            hashes.push(hash);
            if i >= self.size {
                sum = sum.wrapping_sub(hashes[i - self.size].wrapping_mul(self.leaving));
            }
            sum = sum.wrapping_mul(MULTIPLIER).wrapping_add(hash);
            if i + 1 >= self.size {
                each(i + 1 - self.size, fmix64(sum));
            }
        }
    }
}

/// The n-grams of all parts.
#[derive(Debug)]
pub(super) struct Table {
    grams: Grams,
    bits: Vec<u64>,
    /// The number of the n-gram of each key.
    numbers: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    /// The first part that has an n-gram, and its first word there.
    pub(super) first: Vec<(u32, u32)>,
    /// Where the parts of each n-gram end in `parts`.
    ends: Vec<usize>,
    parts: Vec<u32>,
}

impl Table {
    /// The table of these parts, which learn their n-grams.
    pub(super) fn of(parts: &mut [Part], size: usize) -> Self {
        (0..)
            .find_map(|seed| Table::with_seed(parts, Grams::new(size, seed)))
            .unwrap_or_else(|| unreachable!("some seed tells all n-grams apart"))
    }

    /// `None` if two n-grams have one key.
    fn with_seed(parts: &mut [Part], grams: Grams) -> Option<Self> {
        let mut numbers: HashMap<u64, u32, _> = HashMap::default();
        let mut first: Vec<(u32, u32)> = Vec::new();
        let mut postings: Vec<(u32, u32)> = Vec::new();
        let mut hashes = Vec::new();
        for number in 0..parts.len() {
            let mut of_part = Vec::new();
            grams.for_each(&parts[number].words, &mut hashes, |at, key| {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "fewer than bytes of text, which are below 4 GiB"
                )]
                let (part, place, next) = (number as u32, at as u32, first.len() as u32);
                let gram = *numbers.entry(key).or_insert(next);
                if gram == next {
                    first.push((part, place));
                }
                postings.push((gram, part));
                of_part.push(gram);
            });
            let is_same = |(at, gram): (usize, &u32)| {
                let (part, place) = first[*gram as usize];
                let place = place as usize;
                let other = &parts[part as usize].numbers[place..place + grams.size];
                other == &parts[number].numbers[at..at + grams.size]
            };
            if !of_part.iter().enumerate().all(is_same) {
                return None;
            }
            parts[number].grams = of_part;
        }
        postings.sort_unstable();
        postings.dedup();
        let mut ends = vec![0; first.len()];
        for (at, (gram, _)) in postings.iter().enumerate() {
            ends[*gram as usize] = at + 1;
        }
        let mut table = Table {
            grams,
            bits: vec![0; (first.len() / 4 + 1).next_power_of_two()],
            ends,
            parts: postings.into_iter().map(|(_, part)| part).collect(),
            first,
            numbers: HashMap::default(),
        };
        for key in numbers.keys() {
            let (word, bit) = table.bit(*key);
            table.bits[word] |= bit;
        }
        table.numbers = numbers;
        Some(table)
    }

    /// The place of a key in the bit map.
    fn bit(&self, key: u64) -> (usize, u64) {
        let word = (key >> 6) as usize & (self.bits.len() - 1);
        (word, 1 << (key & 63))
    }

    /// Words of an n-gram.
    pub(super) fn size(&self) -> usize {
        self.grams.size
    }

    /// The number of n-grams.
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    /// The parts that have an n-gram, in order.
    pub(super) fn parts(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.parts[start..self.ends[number]]
    }

    /// Finds the n-grams of a document: their first words and numbers. Equal keys count, equal words are not checked.
    pub(super) fn find(&self, words: &Words, hashes: &mut Vec<u64>, found: &mut Vec<(usize, u32)>) {
        found.clear();
        self.grams.for_each(words, hashes, |at, key| {
            let (word, bit) = self.bit(key);
            if self.bits[word] & bit != 0
                && let Some(number) = self.numbers.get(&key)
            {
                found.push((at, *number));
            }
        });
    }
}
