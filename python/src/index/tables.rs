//! Hash tables of bands: which rows have these values in this band.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::rows::Rows;

/// An open-addressing table per band, all of one capacity.
///
/// An entry is empty, or stands for the rows with one value of the band: for a single row its number, for several
/// rows a chain of cells. Beside a flag and the number, an entry has as many bits of the value's hash as fit into
/// 32 bits. Those decide whether to compare the true values, so that no collision of hashes changes a result. Entries
/// of removed rows stay until the tables are rebuilt.
pub(crate) struct Tables {
    values_per_band: usize,
    /// Differs from index to index, so that nobody can prepare colliding sketches.
    seed: u64,
    capacity: usize,
    number_bits: u32,
    entries: Vec<u32>,
    bands: Vec<Chains>,
}

/// Of one band: how many entries are taken, and the chains.
#[derive(Default)]
struct Chains {
    taken: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    number: u32,
    next: u32,
}

/// Where the search for the values of a band begins, and the entry there.
#[derive(Clone, Copy)]
struct Probe {
    place: usize,
    tag: u32,
    entry: u32,
}

/// No entry, no further cell.
const NONE: u32 = u32::MAX;

impl Tables {
    pub(crate) fn new(bands: usize, values_per_band: usize) -> Self {
        let mut tables = Tables {
            values_per_band,
            seed: RandomState::new().hash_one(0),
            capacity: 0,
            number_bits: 0,
            entries: Vec::new(),
            bands: std::iter::repeat_with(Chains::default)
                .take(bands)
                .collect(),
        };
        tables.clear(0, 0);
        tables
    }

    pub(crate) fn bands(&self) -> usize {
        self.bands.len()
    }

    /// Where the values of a band are in a row.
    pub(crate) fn range(&self, band: usize) -> Range<usize> {
        band * self.values_per_band..(band + 1) * self.values_per_band
    }

    /// Enters the row `number`, whose values are `row`. It must be in `rows`, as its last.
    pub(crate) fn insert(&mut self, rows: &Rows, number: u32, row: &[u64]) {
        if self.taken() >= self.limit() || (number + 1) >> self.number_bits != 0 {
            return self.rebuild(rows);
        }
        let probes = self.probes(row, self.bands());
        for (band, probe) in probes.into_iter().enumerate() {
            self.enter(rows, number, band, probe);
        }
    }

    /// Enters all rows anew, with room for more.
    pub(crate) fn rebuild(&mut self, rows: &Rows) {
        let expected = self.taken().min(rows.live()) + 1;
        if !self.enter_all(rows, expected) {
            // The tables were empty, or fewer values were distinct before.
            self.enter_all(rows, rows.live());
        }
    }

    /// Enters all rows. False if a band has many more distinct values than `expected`, for which there is no room.
    ///
    /// Blocks of rows are hashed row by row and entered band by band, so that both rows and tables come through the
    /// caches in few pieces.
    fn enter_all(&mut self, rows: &Rows, expected: usize) -> bool {
        const BLOCK: usize = 1024;
        self.clear(expected, rows.next_number());
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
                    if self.bands[band].taken >= self.limit() {
                        return false;
                    }
                    self.enter(rows, *number, band, self.probe(band, *hash));
                }
            }
        }
        true
    }

    /// Adds to `found` the rows that agree with `row` in one of the first `bands` bands, which may be removed ones.
    pub(crate) fn find(&self, rows: &Rows, row: &[u64], bands: usize, found: &mut Vec<u32>) {
        let probes = self.probes(row, bands.min(self.bands()));
        for (band, probe) in probes.into_iter().enumerate() {
            self.find_probed(rows, band, &row[self.range(band)], probe, found);
        }
    }

    /// Adds to `found` the rows that have `values` in `band`, which may be removed ones.
    pub(crate) fn find_in_band(
        &self,
        rows: &Rows,
        band: usize,
        values: &[u64],
        found: &mut Vec<u32>,
    ) {
        let probe = self.probe(band, hash(self.seed, values));
        self.find_probed(rows, band, values, probe, found);
    }

    fn find_probed(
        &self,
        rows: &Rows,
        band: usize,
        values: &[u64],
        probe: Probe,
        found: &mut Vec<u32>,
    ) {
        let Ok(place) = self.search(band, probe, |other| self.has(rows, other, band, values))
        else {
            return;
        };
        let entry = self.entries[place];
        if !self.is_chain(entry) {
            return found.push(self.number(entry));
        }
        let mut next = self.number(entry);
        while next != NONE {
            let cell = self.bands[band].cells[next as usize];
            found.push(cell.number);
            next = cell.next;
        }
    }

    /// The most entries to take in a table.
    fn limit(&self) -> usize {
        self.capacity / 16 * 13
    }

    /// Entries taken in the fullest table.
    fn taken(&self) -> usize {
        self.bands.iter().map(|band| band.taken).max().unwrap_or(0)
    }

    /// Empties the tables, with room for `values` distinct values per band and two fifths more, and for twice
    /// `numbers`.
    fn clear(&mut self, values: usize, numbers: usize) {
        self.capacity = 16 + values + values / 4 * 3;
        self.number_bits = (2 * numbers + 32).ilog2().clamp(5, 29) + 1;
        // Frees the old tables before it allocates.
        self.entries = Vec::new();
        self.entries = vec![NONE; self.capacity * self.bands.len()];
        self.bands
            .iter_mut()
            .for_each(|band| *band = Chains::default());
    }

    /// Enters a row in a band, where its search begins at `probe`.
    fn enter(&mut self, rows: &Rows, number: u32, band: usize, probe: Probe) {
        let values = |number| rows.values(number, self.range(band));
        match self.search(band, probe, |other| values(other).eq(values(number))) {
            Err(place) => {
                self.entries[place] = probe.tag << (self.number_bits + 1) | number;
                self.bands[band].taken += 1;
            }
            Ok(place) => self.chain(band, place, number),
        }
    }

    /// Puts a row at the head of the rows of an entry.
    fn chain(&mut self, band: usize, place: usize, number: u32) {
        let entry = self.entries[place];
        let (is_chain, first) = (self.is_chain(entry), self.number(entry));
        let cells = &mut self.bands[band].cells;
        let next = match is_chain {
            true => first,
            false => push_cell(cells, first, NONE),
        };
        let head = push_cell(cells, number, next);
        let tag = entry >> self.number_bits >> 1;
        self.entries[place] = (tag << 1 | 1) << self.number_bits | head;
    }

    /// Where the searches of the first `bands` bands begin. The tables are larger than the caches: reading all first
    /// entries before following any of them lets the processor wait for memory once.
    fn probes(&self, row: &[u64], bands: usize) -> Vec<Probe> {
        let values = row.chunks(self.values_per_band).take(bands).enumerate();
        values
            .map(|(band, values)| self.probe(band, hash(self.seed, values)))
            .collect()
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the low bits of the hash; a place is below the capacity"
    )]
    fn probe(&self, band: usize, hash: u64) -> Probe {
        let place = (((hash >> 32) * self.capacity as u64) >> 32) as usize;
        Probe {
            place,
            tag: hash as u32 & (u32::MAX >> self.number_bits >> 1),
            entry: self.entries[band * self.capacity + place],
        }
    }

    /// The place of the entry whose rows have the values sought, as `is_equal` tells of one of them, or else the place
    /// where it belongs.
    fn search(
        &self,
        band: usize,
        probe: Probe,
        is_equal: impl Fn(u32) -> bool,
    ) -> Result<usize, usize> {
        let Probe {
            mut place,
            tag,
            mut entry,
        } = probe;
        let start = band * self.capacity;
        let table = &self.entries[start..start + self.capacity];
        loop {
            if entry == NONE {
                return Err(start + place);
            }
            if entry >> self.number_bits >> 1 == tag && is_equal(self.row_of(band, entry)) {
                return Ok(start + place);
            }
            place += 1;
            if place == self.capacity {
                place = 0;
            }
            entry = table[place];
        }
    }

    /// Whether a row has these values in a band.
    fn has(&self, rows: &Rows, number: u32, band: usize, values: &[u64]) -> bool {
        rows.values(number, self.range(band))
            .eq(values.iter().copied())
    }

    /// One of the rows of an entry.
    fn row_of(&self, band: usize, entry: u32) -> u32 {
        match self.is_chain(entry) {
            true => self.bands[band].cells[self.number(entry) as usize].number,
            false => self.number(entry),
        }
    }

    fn is_chain(&self, entry: u32) -> bool {
        entry >> self.number_bits & 1 == 1
    }

    /// The number of the row of an entry, or of the first cell of its chain.
    fn number(&self, entry: u32) -> u32 {
        entry & ((1 << self.number_bits) - 1)
    }
}

/// Adds a cell and returns its index. A row has at most one cell per band, so that there are fewer cells than rows.
fn push_cell(cells: &mut Vec<Cell>, number: u32, next: u32) -> u32 {
    cells.push(Cell { number, next });
    u32::try_from(cells.len() - 1).unwrap_or(NONE)
}

/// A hash of a few values: products of 64 bits folded, as in wyhash. Pairs of values of 32 bits stay whole.
fn hash(seed: u64, values: &[u64]) -> u64 {
    let pairs = values.chunks(2).map(|pair| match *pair {
        [first, second] => first ^ second.rotate_left(32),
        _ => pair[0],
    });
    let mixed = pairs.fold(seed, |hash, pair| fold(pair ^ hash, 0xa076_1d64_78bd_642f));
    fold(mixed ^ 0xe703_7ed1_a0b4_28db, seed | 1)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "takes the halves of the product"
)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
