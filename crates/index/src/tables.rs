//! Hash tables of bands: which rows have these values in this band.
//!
//! An entry holds the next bits of its hash, so that a table doubles without reading its rows. To rebuild all tables from
//! the rows whenever they had grown by two fifths took more than half of the time of `MinHashLSH.insert`.

mod band_table;

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::rows::PackedRows;
use band_table::{BandTable, LIMIT, Probe, hash};

/// A hash table per band.
///
/// A full table doubles. Tables have four smallest sizes, so that they do not double all at once, and the memory of an
/// index grows evenly.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    values_per_band: usize,
    /// Differs from index to index, so that nobody can prepare colliding sketches.
    seed: u64,
    tables: Vec<BandTable>,
}

impl Tables {
    pub(super) fn new(bands: usize, values_per_band: usize) -> Self {
        Tables {
            values_per_band,
            seed: RandomState::new().hash_one(0),
            tables: (0..bands).map(BandTable::new).collect(),
        }
    }

    pub(super) fn bands(&self) -> usize {
        self.tables.len()
    }

    /// Where the values of a band are in a row.
    pub(super) fn range(&self, band: usize) -> Range<usize> {
        band * self.values_per_band..(band + 1) * self.values_per_band
    }

    /// Enters the row `number`, whose values are `row`. It must be in `rows`, as its last.
    pub(super) fn insert(&mut self, rows: &PackedRows, number: u32, row: &[u64]) {
        for band in 0..self.bands() {
            self.make_room(rows, number, band);
        }
        for (band, probe) in self.probes(row, self.bands()).into_iter().enumerate() {
            let values = &row[self.range(band)];
            let is_equal = |other| rows.has(other, self.range(band).start, values);
            let found = self.tables[band].search(probe, is_equal);
            self.tables[band].enter(number, probe, found);
        }
    }

    /// Enters all rows anew.
    ///
    /// Blocks of rows are hashed row by row and entered band by band, so that both rows and tables come through the
    /// caches in few pieces.
    pub(super) fn rebuild(&mut self, rows: &PackedRows) {
        const BLOCK: usize = 1024;
        self.tables = (0..self.bands()).map(BandTable::new).collect();
        let mut numbers = rows.numbers().peekable();
        let mut block = Vec::with_capacity(BLOCK);
        let mut hashes = Vec::with_capacity(BLOCK * self.bands());
        let mut row = Vec::new();
        while numbers.peek().is_some() {
            block.clear();
            block.extend(numbers.by_ref().take(BLOCK));
            hashes.clear();
            for number in &block {
                rows.copy_to(*number, &mut row);
                let values = row.chunks(self.values_per_band);
                hashes.extend(values.map(|values| hash(self.seed, values)));
            }
            for band in 0..self.bands() {
                let hashes = hashes.iter().skip(band).step_by(self.bands());
                for (number, hash) in block.iter().zip(hashes) {
                    self.make_room(rows, *number, band);
                    let probe = self.tables[band].probe(*hash);
                    let values = |number| rows.values(number, self.range(band));
                    let is_equal = |other| values(other).eq(values(*number));
                    let found = self.tables[band].search(probe, is_equal);
                    self.tables[band].enter(*number, probe, found);
                }
            }
        }
    }

    /// Adds to `found` the rows that agree with `row` in one of the first `bands` bands, which may be removed ones.
    pub(super) fn find(&self, rows: &PackedRows, row: &[u64], bands: usize, found: &mut Vec<u32>) {
        let probes = self.probes(row, bands.min(self.bands()));
        for (band, probe) in probes.into_iter().enumerate() {
            self.find_probed(rows, band, &row[self.range(band)], probe, found);
        }
    }

    /// Adds to `found` the rows that have `values` in `band`, which may be removed ones.
    pub(super) fn find_in_band(
        &self,
        rows: &PackedRows,
        band: usize,
        values: &[u64],
        found: &mut Vec<u32>,
    ) {
        let probe = self.tables[band].probe(hash(self.seed, values));
        self.find_probed(rows, band, values, probe, found);
    }

    fn find_probed(
        &self,
        rows: &PackedRows,
        band: usize,
        values: &[u64],
        probe: Probe,
        found: &mut Vec<u32>,
    ) {
        let is_equal = |other| rows.has(other, self.range(band).start, values);
        if let Ok(place) = self.tables[band].search(probe, is_equal) {
            self.tables[band].rows_of(place, found);
        }
    }

    /// Makes room in a table for one more row.
    fn make_room(&mut self, rows: &PackedRows, number: u32, band: usize) {
        let (seed, range) = (self.seed, self.range(band));
        let table = &mut self.tables[band];
        if table.taken >= table.buckets.len() * LIMIT {
            let mut values = Vec::with_capacity(range.len());
            table.double(|number| {
                values.clear();
                values.extend(rows.values(number, range.clone()));
                hash(seed, &values)
            });
        }
        while (number + 1) >> table.number_bits != 0 {
            table.lengthen_numbers();
        }
    }

    /// Where the searches of the first `bands` bands begin. The tables are larger than the caches: reading from all
    /// buckets before searching any of them lets the processor wait for memory once.
    fn probes(&self, row: &[u64], bands: usize) -> Vec<Probe> {
        let values = row.chunks(self.values_per_band).take(bands);
        let hashes: Vec<u32> = values.map(|values| hash(self.seed, values)).collect();
        let tables = self.tables.iter().zip(hashes);
        tables.map(|(table, hash)| table.probe(hash)).collect()
    }
}

#[cfg(test)]
mod tests;
