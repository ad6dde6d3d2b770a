//! The symbols of records, by rarity: words, windows of three characters of each word between blanks, and whole values.
//!
//! Words and windows are a set, which knows no order, sign or separator: `Kim Lee` and `Lee Kim` have the same ones. So the
//! whole value of a field is one symbol more. It weighs little, so that it decides between values of equal words, and hardly
//! between others.
//!
//! As a symbol like others, the whole value needs no second look at a pair, and decides also between pairs that differ
//! in another field.
//!
//! **Sums run from the rarest symbol on everywhere**, in the search and where two lists are merged. So equal pairs
//! have equal bits, whichever way they were scored; ties are broken by rows.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

use crate::tables::RecordTables;
use crate::words::{Equivalents, Words};
use simgpu::error::{Result, row_number};
use simgpu::pipeline::Mixed;
use simgpu::progress::{Progress, advance};

/// Records that a thread takes at a time.
const CHUNK: usize = 256;

/// Records between two calls of [`Progress::advance`].
const BLOCK: usize = 1 << 15;

/// Tables of counts, each filled by one thread at a time.
const SHARDS: usize = 16;

/// The bit that tells a window of characters from other symbols.
const WINDOW: u64 = 1 << 63;

/// The bit that tells a whole value from a word.
const VALUE: u64 = 1 << 62;

/// The square of the weight of a value, as a share of that of a word as rare.
const VALUE_SHARE: f64 = 1.0 / 16.0;

/// The least cosine that differs from 1 by more than rounding.
const NEARLY_ONE: f64 = 1.0 - 1e-10;

/// A symbol as 64 bits: the hash of a word or of a value, or the three characters of a window.
pub(crate) type SymbolKey = u64;

/// The key of a word.
fn word_key(word: &str) -> SymbolKey {
    xxh3_64(word.as_bytes()) >> 2
}

/// The key of the value of a field, by the place of the field: swapped fields differ.
fn value_key(value: &str, field: usize) -> SymbolKey {
    xxh3_64_with_seed(value.as_bytes(), field as u64) >> 2 | VALUE
}

/// Calls `each` for all words and windows of the words, repeats included, with their text.
pub(crate) fn for_each_symbol<'w>(
    words: &'w Words,
    mut each: impl FnMut(SymbolKey, SymbolText<'w>),
) {
    for word in words.iter() {
        each(word_key(word), SymbolText::Word(word));
        let mut window = [' '; 3];
        let mut seen = 1;
        for letter in word.chars().chain([' ']) {
            window = [window[1], window[2], letter];
            seen += 1;
            if seen >= 3 {
                let bits = window
                    .iter()
                    .fold(0, |bits, letter| bits << 21 | u64::from(u32::from(*letter)));
                each(bits | WINDOW, SymbolText::Window(window));
            }
        }
    }
}

/// The text of a symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SymbolText<'w> {
    /// A word.
    Word(&'w str),
    /// Three characters of a word; a blank is its beginning or its end.
    Window([char; 3]),
}

impl std::fmt::Display for SymbolText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SymbolText::Word(word) => f.write_str(word),
            SymbolText::Window(window) => window
                .iter()
                .map(|letter| if *letter == ' ' { '_' } else { *letter })
                .try_for_each(|letter| write!(f, "{letter}")),
        }
    }
}

/// What is known of a symbol.
#[derive(Clone, Copy, Debug, Default)]
struct SymbolCount {
    /// The records of the first and of the second file that have it.
    records_by_file: [u32; 2],
    /// Its number, if two records have it.
    number: Option<u32>,
}

impl SymbolCount {
    fn records(&self) -> u32 {
        self.records_by_file[0] + self.records_by_file[1]
    }
}

type CountShard = HashMap<SymbolKey, SymbolCount, BuildHasherDefault<Mixed>>;

/// How rare each symbol of one or two files is.
///
/// A symbol that d of n distinct records have weighs ln((n + 1) / d): more than 0 even if all records have it, so that two
/// files of one record each can be compared.
#[derive(Debug)]
pub(crate) struct Symbols {
    shards: Vec<CountShard>,
    records: u32,
    /// The square of the weight of each numbered symbol. Rare symbols come first.
    squares: Vec<f64>,
}

/// Memory of a thread that reads records.
#[derive(Debug, Default)]
pub(crate) struct SymbolScratch {
    pub(crate) words: Words,
    keys: Vec<SymbolKey>,
}

impl SymbolScratch {
    /// The distinct symbols of some fields of a record, each with its place, in ascending order.
    fn keys<'f>(
        &mut self,
        fields: impl Iterator<Item = (usize, &'f [u8])>,
        equivalents: &Equivalents,
    ) -> &[SymbolKey] {
        self.keys.clear();
        for (place, field) in fields {
            self.words
                .read(&String::from_utf8_lossy(field), equivalents);
            let keys = &mut self.keys;
            for_each_symbol(&self.words, |key, _| keys.push(key));
            if self.words.iter().len() > 0 {
                keys.push(value_key(self.words.value(), place));
            }
        }
        self.keys.sort_unstable();
        self.keys.dedup();
        &self.keys
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the shift leaves the bits of a shard's number"
)]
fn shard_of(key: SymbolKey) -> usize {
    (simgpu::scheme::fmix64(key) >> 60) as usize % SHARDS
}

impl Symbols {
    /// Counts the symbols of all records, and numbers those that two records share, whichever files these are of.
    pub(crate) fn count(
        tables: &RecordTables<'_>,
        equivalents: &Equivalents,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut shards = counted(tables, equivalents, progress)?;
        let records = row_number(tables.rows())?;
        let mut shared: Vec<(u32, SymbolKey)> = shards
            .par_iter()
            .flat_map_iter(|shard| {
                let counts = shard.iter().filter(|(_, count)| count.records() > 1);
                counts.map(|(key, count)| (count.records(), *key))
            })
            .collect();
        shared.par_sort_unstable();
        shards.par_iter_mut().enumerate().for_each(|(i, shard)| {
            let numbered = (0..).zip(&shared);
            for (number, (_, key)) in numbered.filter(|(_, (_, key))| shard_of(*key) == i) {
                if let Some(count) = shard.get_mut(key) {
                    count.number = Some(number);
                }
            }
        });
        let square = |(documents, key): &(u32, SymbolKey)| square_of(*key, *documents, records);
        Ok(Symbols {
            squares: shared.par_iter().map(square).collect(),
            shards,
            records,
        })
    }

    /// How many symbols two records can share.
    pub(crate) fn len(&self) -> usize {
        self.squares.len()
    }

    /// The square of the weight of each numbered symbol.
    pub(crate) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// The number and the square of the weight of a symbol.
    pub(crate) fn find(&self, key: SymbolKey) -> (Option<u32>, f64) {
        let count = self.shards[shard_of(key)].get(&key).copied();
        let count = count.unwrap_or_default();
        (count.number, square_of(key, count.records(), self.records))
    }

    /// How differently the records of two files use symbols: the mean of chi-squared over the symbols of at least `least` records,
    /// each with one degree of freedom. Random parts of one file have 1; `None` without such symbols.
    pub(crate) fn dispersion(&self, first_records: usize, least: u32) -> Option<f64> {
        let all = f64::from(self.records);
        let share = first_records as f64 / all;
        let counts = self.shards.iter().flat_map(HashMap::values);
        // A symbol of all records is in both files in any case.
        let frequent = counts.filter(|count| (least..self.records).contains(&count.records()));
        // The variance of draws without replacement.
        let chi_squared = |count: &SymbolCount| {
            let records = f64::from(count.records());
            let variance = records * share * (1.0 - share) * (all - records) / (all - 1.0);
            (f64::from(count.records_by_file[0]) - share * records).powi(2) / variance
        };
        // In one order, so that the sum has the same bits in every run.
        let mut values: Vec<f64> = frequent.map(chi_squared).collect();
        values.par_sort_unstable_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        mean.is_finite().then_some(mean)
    }

    /// How many records have a symbol.
    pub(crate) fn records_with(&self, key: SymbolKey) -> u32 {
        let count = self.shards[shard_of(key)].get(&key).copied();
        count.map_or(0, |count| count.records())
    }

    /// The symbols of some fields of a record, each with its place.
    pub(crate) fn list<'f>(
        &self,
        fields: impl Iterator<Item = (usize, &'f [u8])>,
        equivalents: &Equivalents,
        scratch: &mut SymbolScratch,
    ) -> List {
        let mut list = List::default();
        for key in scratch.keys(fields, equivalents) {
            let (number, square) = self.find(*key);
            list.norm += square;
            list.numbers.extend(number);
        }
        list.norm = list.norm.sqrt();
        list.numbers.sort_unstable();
        list
    }
}

/// The numbers of records that have each symbol.
fn counted(
    tables: &RecordTables<'_>,
    equivalents: &Equivalents,
    progress: &dyn Progress,
) -> Result<Vec<CountShard>> {
    let rows = tables.rows();
    progress.begin("count", rows as u64);
    let mut shards: Vec<CountShard> = vec![CountShard::default(); SHARDS];
    for block in (0..rows).step_by(BLOCK) {
        let end = (block + BLOCK).min(rows);
        let chunks: Vec<usize> = (block..end).step_by(CHUNK).collect();
        let lists: Vec<Vec<Vec<(SymbolKey, u8)>>> = chunks
            .into_par_iter()
            .map_init(SymbolScratch::default, |scratch, start| {
                let mut lists = vec![Vec::new(); SHARDS];
                for row in start..(start + CHUNK).min(end) {
                    let side = u8::from(tables.is_second(row));
                    for key in scratch.keys(tables.fields(row).enumerate(), equivalents) {
                        lists[shard_of(*key)].push((*key, side));
                    }
                }
                lists
            })
            .collect();
        shards.par_iter_mut().enumerate().for_each(|(i, shard)| {
            for (key, side) in lists.iter().flat_map(|shard_lists| &shard_lists[i]) {
                shard.entry(*key).or_default().records_by_file[usize::from(*side)] += 1;
            }
        });
        advance(progress, end as u64, end as u64, 0)?;
    }
    Ok(shards)
}

/// The square of the weight of a symbol that so many of the records have.
fn square_of(key: SymbolKey, documents: u32, records: u32) -> f64 {
    let weight = ((f64::from(records) + 1.0) / f64::from(documents.max(1))).ln();
    let is_value = key & WINDOW == 0 && key & VALUE != 0;
    let share = if is_value { VALUE_SHARE } else { 1.0 };
    share * weight * weight
}

/// The symbols of a record, or of one of its fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// The numbered ones, in ascending order: rare symbols come first.
    pub(crate) numbers: Vec<u32>,
    /// The length of the vector of the weights of all symbols.
    pub(crate) norm: f64,
}

impl List {
    /// The cosine of the angle between the vectors of the weights of two lists; 0 if either is empty.
    pub(crate) fn cosine(&self, other: &List, squares: &[f64]) -> f64 {
        self.vector().cosine(other.vector(), squares)
    }

    fn vector(&self) -> SymbolVector<'_> {
        SymbolVector {
            numbers: &self.numbers,
            norm: self.norm,
        }
    }
}

/// The weights of a list's symbols, as a vector.
#[derive(Clone, Copy)]
struct SymbolVector<'a> {
    /// The numbered symbols, in ascending order.
    numbers: &'a [u32],
    /// The length of the vector.
    norm: f64,
}

impl SymbolVector<'_> {
    /// The cosine of two vectors. Sums from the rarest symbol on.
    fn cosine(self, other: SymbolVector<'_>, squares: &[f64]) -> f64 {
        let mut dot = 0.0;
        for_each_shared(self.numbers, other.numbers, |number| {
            dot += squares[number as usize];
        });
        quotient(dot, self.norm, other.norm)
    }
}

/// The cosine for a sum of squares of shared weights. It is 1 for equal values, and for no others: a value alone makes a
/// greater difference than rounding.
pub(crate) fn quotient(dot: f64, a: f64, b: f64) -> f64 {
    match dot / (a * b) {
        nearly if nearly >= NEARLY_ONE => 1.0,
        cosine if dot > 0.0 => cosine,
        _ => 0.0,
    }
}

/// Calls `each` with the symbols in both lists, in ascending order.
pub(crate) fn for_each_shared(a: &[u32], b: &[u32], mut each: impl FnMut(u32)) {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            each(*x);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}

/// The symbols of many records, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    numbers: Vec<u32>,
    ends: Vec<usize>,
    norms: Vec<f64>,
}

impl Lists {
    /// The symbols of all records.
    pub(crate) fn from_records(
        tables: &RecordTables<'_>,
        symbols: &Symbols,
        equivalents: &Equivalents,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let fields = |row| tables.fields(row).enumerate();
        Lists::from_fields(tables.rows(), fields, symbols, equivalents, progress)
    }

    /// As many lists, each of the symbols of some fields with their places.
    fn from_fields<'f, F: Iterator<Item = (usize, &'f [u8])>>(
        count: usize,
        fields: impl Fn(usize) -> F + Sync,
        symbols: &Symbols,
        equivalents: &Equivalents,
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("weigh", count as u64);
        let mut lists = Lists::default();
        for block in (0..count).step_by(BLOCK) {
            let end = (block + BLOCK).min(count);
            let chunks: Vec<usize> = (block..end).step_by(CHUNK).collect();
            let chunk_lists: Vec<Lists> = chunks
                .into_par_iter()
                .map_init(SymbolScratch::default, |scratch, start| {
                    let mut lists = Lists::default();
                    for place in start..(start + CHUNK).min(end) {
                        lists.push(&symbols.list(fields(place), equivalents, scratch));
                    }
                    lists
                })
                .collect();
            chunk_lists.iter().for_each(|chunk| lists.append(chunk));
            advance(progress, end as u64, end as u64, 0)?;
        }
        Ok(lists)
    }

    fn append(&mut self, other: &Lists) {
        let before = self.numbers.len();
        self.numbers.extend_from_slice(&other.numbers);
        self.ends.extend(other.ends.iter().map(|end| before + end));
        self.norms.extend_from_slice(&other.norms);
    }

    pub(crate) fn push(&mut self, list: &List) {
        self.numbers.extend_from_slice(&list.numbers);
        self.ends.push(self.numbers.len());
        self.norms.push(list.norm);
    }

    /// The numbered symbols of a record.
    pub(crate) fn numbers(&self, row: usize) -> &[u32] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.numbers[start..self.ends[row]]
    }

    /// The length of the vector of a record's weights.
    pub(crate) fn norm(&self, row: usize) -> f64 {
        self.norms[row]
    }

    /// The cosine of two records.
    pub(crate) fn cosine(&self, a: usize, b: usize, squares: &[f64]) -> f64 {
        self.vector(a).cosine(self.vector(b), squares)
    }

    fn vector(&self, row: usize) -> SymbolVector<'_> {
        SymbolVector {
            numbers: self.numbers(row),
            norm: self.norm(row),
        }
    }
}

/// The symbols of many records, with the square of the weight of each symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightedLists<'a> {
    pub(crate) lists: &'a Lists,
    /// By the number of the symbol.
    pub(crate) squares: &'a [f64],
}

/// The symbols of the distinct values of a field: records share most values, and each is weighed once. Values need no order
/// of rows and no lists of them, as [`Distinct`](super::Distinct) has, which are made on one thread.
#[derive(Debug)]
pub(crate) struct FieldValues {
    /// The value of each record, by its number.
    value_of_record: Vec<u32>,
    /// By value.
    lists: Lists,
}

impl FieldValues {
    /// The values of a field of all records.
    pub(crate) fn from_field(
        tables: &RecordTables<'_>,
        field: usize,
        symbols: &Symbols,
        equivalents: &Equivalents,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let value = |row| tables.fields(row).enumerate().skip(field).take(1);
        let digest = |row| value(row).next().map(|(_, value)| xxh3_128(value));
        let rows = row_number(tables.rows())?;
        let digests = (0..rows).into_par_iter();
        let mut records: Vec<(Option<u128>, u32)> =
            digests.map(|row| (digest(row as usize), row)).collect();
        records.par_sort_unstable();
        let mut value_of_record = vec![0; records.len()];
        let mut first_records = Vec::new();
        for (number, equal) in (0..).zip(records.chunk_by(|a, b| a.0 == b.0)) {
            for (_, row) in equal {
                value_of_record[*row as usize] = number;
            }
            first_records.push(equal[0].1 as usize);
        }
        drop(records);
        let first = |number: usize| value(first_records[number]);
        let lists = Lists::from_fields(first_records.len(), first, symbols, equivalents, progress)?;
        Ok(FieldValues {
            value_of_record,
            lists,
        })
    }

    /// The cosine of the values of two records; `None` where one has no word.
    pub(crate) fn similarity(&self, records: [usize; 2], squares: &[f64]) -> Option<f64> {
        let [a, b] = records.map(|record| self.value_of_record[record] as usize);
        let has_words = self.lists.norm(a) > 0.0 && self.lists.norm(b) > 0.0;
        has_words.then(|| {
            if a == b {
                1.0
            } else {
                self.lists.cosine(a, b, squares)
            }
        })
    }
}
