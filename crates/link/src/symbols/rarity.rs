//! How rare each symbol is: counted in all records, and numbered where two records share it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use rayon::prelude::*;

use super::keys::{SymbolKey, SymbolScratch, is_value};
use super::list::List;
use super::{BLOCK, CHUNK};
use crate::tables::RecordTables;
use crate::words::Equivalents;
use simgpu::error::{Result, row_number};
use simgpu::pipeline::Mixed;
use simgpu::progress::{Progress, advance};

/// Tables of counts, each filled by one thread at a time.
const SHARDS: usize = 16;

/// The square of the weight of a value, as a share of that of a word as rare.
const VALUE_SHARE: f64 = 1.0 / 16.0;

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
        // Sorted by rarity, then by key: numbers depend neither on threads nor on the order of a hash table.
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
    let share = if is_value(key) { VALUE_SHARE } else { 1.0 };
    share * weight * weight
}
