//! The symbols of many records, one list after the other.

use rayon::prelude::*;

use super::keys::SymbolScratch;
use super::list::{List, SymbolVector};
use super::rarity::Symbols;
use super::{BLOCK, CHUNK};
use crate::tables::RecordTables;
use crate::words::Equivalents;
use simgpu::error::Result;
use simgpu::progress::{Progress, advance};

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
    pub(super) fn from_fields<'f, F: Iterator<Item = (usize, &'f [u8])>>(
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

    fn push(&mut self, list: &List) {
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

impl<'a> WeightedLists<'a> {
    pub(crate) fn new(lists: &'a Lists, symbols: &'a Symbols) -> Self {
        WeightedLists {
            lists,
            squares: symbols.squares(),
        }
    }
}
