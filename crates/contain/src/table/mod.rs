//! The exact table of the items' n-grams.
//!
//! A part is a distinct question or a distinct passage; parts that only lead to an item, questions with their options, come last. The table holds, per n-gram of words, the parts that have it. N-grams
//! are numbered in the order of their first places. The key of an n-gram is a 64-bit hash of its words: n-grams with one key
//! are told apart by their words, those of items when the table is built and that of a document when it counts.
//!
//! **A bucket per four n-grams.** The key tells the bucket. A filter of 64 bits per bucket, where each n-gram sets three
//! bits, answers first: it has 2 bytes per n-gram and stays in the cache longer than the rest. Filters are asked for before
//! they are needed: the search would wait for most of them. A bucket has five slots, and its n-grams lie from its first slot
//! on up to an empty one: those that find no room lie in slots of the next buckets. 16 bits of the key tell them apart.
//!
//! The table is built from keys and places in the order of keys, a range of keys at a time: so building takes little memory
//! beside the table. Slots are filled in their order.

mod places;

use rayon::prelude::*;

use self::places::{LastParts, PlaceSet};
use crate::part::{Kind, Part};
use crate::vocabulary::{UNREAD, Vocabulary};
use crate::word_hashes::WordHashes;
use crate::words::is_word;
use simgpu::clock::in_parallel;
use simgpu::simd::words::hash_shingles;
use simgpu::simd::{Isa, prefetch};

/// N-grams per bucket, on average.
const PER_BUCKET: usize = 4;

/// Slots of a bucket.
const SLOTS: usize = 5;

/// The tag of an empty slot.
const EMPTY: u16 = 0;

/// Keys between the one whose filter is asked and the one whose filter is asked for.
const AHEAD: usize = 32;

/// Places that are sorted at a time, on average.
const AT_A_TIME: usize = 1 << 23;

/// The n-grams of all parts.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Words of an n-gram.
    size: usize,
    filters: Vec<u64>,
    /// By slot, up to the last one that is not empty.
    tags: Vec<u16>,
    /// By slot; of an empty one, the next number.
    numbers: Vec<u32>,
    /// The first place of each n-gram, as a word among those of all parts.
    first: Vec<u32>,
    /// Where the words of each part begin among those of all parts.
    starts: Vec<u32>,
    /// Where the parts of each n-gram end in `parts`.
    parts_ends: Vec<u32>,
    parts: Vec<u32>,
    /// The number of the first part that only leads to an item, behind all others.
    first_options: u32,
}

/// Memory of a search, which is used again from document to document.
#[derive(Debug, Default)]
pub(crate) struct TableSearch {
    pub(crate) words: WordHashes,
    /// The number of each word that was compared with those of items, or [`UNREAD`]; empty where no n-gram may be one of
    /// items.
    pub(crate) numbers: Vec<u32>,
    keys: Vec<u64>,
    passed: Vec<u32>,
    /// The n-grams of the table: their first words and numbers.
    pub(crate) found: Vec<(usize, u32)>,
}

impl Table {
    /// The table of these parts, which learn their n-grams. They have fewer than 2^32 words.
    pub(crate) fn new(parts: &mut [Part], vocabulary: &Vocabulary, size: usize) -> Self {
        let is_other = |part: &Part| part.kind != Kind::Options;
        let first_options = parts.partition_point(is_other);
        let mut words = 0;
        let starts = parts.iter().map(|part| {
            words += part.numbers.len();
            number(words - part.numbers.len())
        });
        let mut table = Table {
            size,
            starts: starts.collect(),
            first_options: number(first_options),
            ..Table::default()
        };
        let places = parts.iter().map(|part| part.places(size)).sum();
        let mut first_of = vec![0; words];
        table.add_distinct(parts, vocabulary, places, &mut first_of);
        let firsts = PlaceSet::new(&table.numbers, words);
        let rank = |place: &mut u32| *place = firsts.rank(*place);
        in_parallel(|| {
            table.numbers.par_iter_mut().for_each(rank);
            first_of.par_iter_mut().for_each(rank);
        });
        table.first = firsts.list();
        let numbered = parts.par_iter_mut().zip(&table.starts);
        let learn = |(part, start): (&mut Part, &u32)| {
            let start = *start as usize;
            part.grams = first_of[start..start + part.places(size)].to_vec();
        };
        in_parallel(|| numbered.for_each(learn));
        drop(first_of);
        table.add_parts(parts);
        table
    }

    /// Adds each distinct n-gram with its first place in the place of its number, and finds the first place for each place.
    fn add_distinct(
        &mut self,
        parts: &[Part],
        vocabulary: &Vocabulary,
        places: usize,
        first_of: &mut [u32],
    ) {
        let buckets = places / PER_BUCKET + 1;
        self.filters = vec![0; buckets];
        self.tags.reserve_exact(buckets * SLOTS);
        self.numbers.reserve_exact(buckets * SLOTS);
        let ranges = places.div_ceil(AT_A_TIME);
        for range in 0..ranges {
            let keys_in_range = |(part, start): (&Part, &u32)| {
                let keys = keys(part, vocabulary, self.size);
                let keyed = keys.into_iter().zip(*start..);
                keyed.filter(move |(key, _)| share(*key, ranges) == range)
            };
            let all = parts.par_iter().zip(&self.starts);
            let keyed = in_parallel(|| {
                let mut keyed: Vec<(u64, u32)> = all.flat_map_iter(keys_in_range).collect();
                keyed.par_sort_unstable();
                keyed
            });
            for same in keyed.chunk_by(|a, b| a.0 == b.0) {
                let first_of_key = self.numbers.len();
                for (key, place) in same {
                    let words = || self.words(*place, parts);
                    let mut known = self.numbers[first_of_key..].iter();
                    let first = known.find(|first| self.words(**first, parts) == words());
                    let first = first.copied().unwrap_or(*place);
                    if first == *place {
                        self.add(*key, first);
                    }
                    first_of[*place as usize] = first;
                }
            }
        }
    }

    /// Adds an n-gram behind those of lower keys.
    fn add(&mut self, key: u64, first: u32) {
        let bucket = self.bucket(key);
        self.filters[bucket] |= filter_bits(key);
        let slot = self.tags.len().max(bucket * SLOTS);
        self.tags.resize(slot, EMPTY);
        self.tags.push(tag(key));
        self.numbers.resize(slot + 1, first);
    }

    /// Lists the parts of each n-gram.
    fn add_parts(&mut self, parts: &[Part]) {
        let mut ends = vec![0u32; self.first.len()];
        let mut last_parts = LastParts::new(self.first.len());
        for (number, part) in (0u32..).zip(parts) {
            for gram in &part.grams {
                ends[*gram as usize] += u32::from(last_parts.changes(*gram, number));
            }
        }
        let mut all = 0;
        for end in &mut ends {
            // Where the n-gram's begin, until they are filled in.
            let count = std::mem::replace(end, all);
            all += count;
        }
        self.parts = vec![0; all as usize];
        last_parts = LastParts::new(self.first.len());
        for (number, part) in (0u32..).zip(parts) {
            for gram in &part.grams {
                if last_parts.changes(*gram, number) {
                    let end = &mut ends[*gram as usize];
                    self.parts[*end as usize] = number;
                    *end += 1;
                }
            }
        }
        self.parts_ends = ends;
    }

    fn bucket(&self, key: u64) -> usize {
        share(key, self.filters.len())
    }

    /// The words of an n-gram, by number.
    fn first_words<'a>(&self, number: u32, parts: &'a [Part]) -> &'a [u32] {
        // Places ascend with parts: the first place is in the first part.
        let part = self.all_parts(number)[0] as usize;
        let at = (self.first[number as usize] - self.starts[part]) as usize;
        &parts[part].numbers[at..at + self.size]
    }

    /// The words of the n-gram at a place, by number.
    fn words<'a>(&self, place: u32, parts: &'a [Part]) -> &'a [u32] {
        let part = self.starts.partition_point(|start| *start <= place) - 1;
        let at = (place - self.starts[part]) as usize;
        &parts[part].numbers[at..at + self.size]
    }

    /// Words of an n-gram.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The number of n-grams.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// The questions and passages that have an n-gram, in order.
    pub(crate) fn parts(&self, number: u32) -> &[u32] {
        self.parts_and_options(number).0
    }

    /// The questions and passages that have an n-gram, and the questions with options, both in order.
    pub(crate) fn parts_and_options(&self, number: u32) -> (&[u32], &[u32]) {
        let all = self.all_parts(number);
        if all.last().is_none_or(|last| *last < self.first_options) {
            return (all, &[]);
        }
        all.split_at(all.partition_point(|part| *part < self.first_options))
    }

    /// All parts that have an n-gram, in order.
    fn all_parts(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = number
            .checked_sub(1)
            .map_or(0, |before| self.parts_ends[before]);
        &self.parts[start as usize..self.parts_ends[number] as usize]
    }

    /// Finds the n-grams of a text without escapes: their first words and numbers.
    pub(crate) fn find(
        &self,
        plain: &str,
        parts: &[Part],
        vocabulary: &Vocabulary,
        search: &mut TableSearch,
    ) {
        let isa = Isa::best();
        let TableSearch {
            words,
            numbers,
            keys,
            passed,
            found,
        } = search;
        words.clear();
        found.clear();
        let mut end = 0;
        while end < plain.len() {
            let first = words.hashes.len().saturating_sub(self.size - 1);
            end = words.add_piece(isa, plain, end);
            let hashes = &words.hashes[first..];
            if hashes.len() < self.size {
                continue;
            }
            keys.clear();
            hash_shingles(isa, hashes, self.size, keys);
            self.pass(keys, passed);
            for at in passed.iter().map(|at| *at as usize) {
                let same = self.numbers(keys[at]);
                found.extend(same.map(|number| (first + at, number)));
            }
        }
        numbers.clear();
        if !found.is_empty() {
            numbers.resize(words.starts.len(), UNREAD);
        }
        found.retain(|(at, number)| {
            let places = *at..at + self.size;
            let mut words_of_item = self.first_words(*number, parts).iter().zip(places);
            words_of_item.all(|(word, at)| {
                if numbers[at] == UNREAD && is_word(plain, words.starts[at], vocabulary.word(*word))
                {
                    numbers[at] = *word;
                }
                numbers[at] == *word
            })
        });
    }

    /// Lists the keys that the filters let through, and asks for their slots.
    fn pass(&self, keys: &[u64], passed: &mut Vec<u32>) {
        let ask_for = |key: &u64| prefetch(&self.filters, self.bucket(*key));
        keys.iter().take(AHEAD).for_each(ask_for);
        passed.clear();
        for (at, key) in (0u32..).zip(keys) {
            keys.get(at as usize + AHEAD).into_iter().for_each(ask_for);
            let (bucket, bits) = (self.bucket(*key), filter_bits(*key));
            if self.filters[bucket] & bits == bits {
                prefetch(&self.tags, bucket * SLOTS);
                passed.push(at);
            }
        }
    }

    /// The numbers of the n-grams that may have a key.
    fn numbers(&self, key: u64) -> impl Iterator<Item = u32> {
        let first = self.bucket(key) * SLOTS;
        let tags = self.tags.get(first..).unwrap_or_default().iter();
        let tags = tags.take_while(|tag| **tag != EMPTY).zip(first..);
        let same = tags.filter(move |(known, _)| **known == tag(key));
        same.map(|(_, slot)| self.numbers[slot])
    }
}

/// The keys of the n-grams of a part.
fn keys(part: &Part, vocabulary: &Vocabulary, size: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    if part.places(size) > 0 {
        let hashes: Vec<u64> = part
            .numbers
            .iter()
            .map(|number| vocabulary.hash(*number))
            .collect();
        hash_shingles(Isa::best(), &hashes, size, &mut keys);
    }
    keys
}

/// Which of so many equal ranges a key lies in.
#[expect(
    clippy::cast_possible_truncation,
    reason = "below the number of ranges"
)]
fn share(key: u64, ranges: usize) -> usize {
    ((u128::from(key) * ranges as u128) >> 64) as usize
}

/// The bits that an n-gram sets in the filter of its bucket.
fn filter_bits(key: u64) -> u64 {
    1 << (key & 63) | 1 << (key >> 6 & 63) | 1 << (key >> 12 & 63)
}

/// What tells the n-grams of a bucket apart: no [`EMPTY`].
#[expect(clippy::cast_possible_truncation, reason = "16 bits")]
fn tag(key: u64) -> u16 {
    ((key >> 18) as u16).max(1)
}

/// A number of words, of which the items have fewer than 2^32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "fewer words than bytes of text, which are below 4 GiB"
)]
fn number(words: usize) -> u32 {
    words as u32
}
