//! Hash tables of bands: which rows have these values in this band.
//!
//! An entry holds the next bits of its hash, so that a table doubles without reading its rows. To rebuild all tables from
//! the rows whenever they had grown by two fifths took more than half of the time of `MinHashLSH.insert`.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::rows::PackedRows;

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

/// Buckets of entries; an entry stands for the rows with one value of the band. It lies in the bucket that the first
/// bits of the value's hash name, or, if that is full, in the next bucket with room.
///
/// An entry is `EMPTY`, or has, from its high bits: whether several rows form a chain of cells, whether it is displaced
/// from its bucket, the tag, perhaps a spare bit, and the number of the row or of the first cell. The tag is the bits of
/// the hash after those that name the bucket. It decides whether to compare the true values, so that no collision of
/// hashes changes a result. When the table doubles, the first bit of the tag says which half of its bucket an entry goes
/// to; displaced entries alone are hashed again. Entries of removed rows stay until the tables are rebuilt.
#[derive(Clone, Debug)]
struct BandTable {
    /// Buckets before any doubling.
    least_buckets: u32,
    doublings: u32,
    tag_bits: u32,
    number_bits: u32,
    buckets: Vec<Bucket>,
    taken: usize,
    cells: Vec<Cell>,
}

/// A cache line of entries, the empty ones last.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket([u32; BUCKET]);

#[derive(Clone, Copy, Debug)]
struct Cell {
    number: u32,
    next: u32,
}

/// Where the search for a value begins.
#[derive(Clone, Copy, Debug)]
struct Probe {
    bucket: usize,
    /// At its place in an entry.
    tag: u32,
    /// The first entry of the bucket.
    first: u32,
}

/// The place of an entry in its table.
#[derive(Clone, Copy, Debug)]
struct EntryPlace {
    bucket: usize,
    /// The number of the entry in its bucket.
    entry: usize,
}

const BUCKET: usize = 16;
/// The most entries per bucket, on average. About one in twenty is displaced then.
const LIMIT: usize = 14;

const EMPTY: u32 = u32::MAX;
const CHAIN: u32 = 1 << 31;
const DISPLACED: u32 = 1 << 30;
/// Bits for tag and number.
const PAYLOAD_BITS: u32 = 30;

/// No further cell.
const NONE: u32 = u32::MAX;

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

impl BandTable {
    fn new(band: usize) -> Self {
        const LEAST_BUCKETS: [u32; 4] = [4, 6, 5, 7];
        let least_buckets = LEAST_BUCKETS[band % LEAST_BUCKETS.len()];
        let number_bits = 6;
        BandTable {
            least_buckets,
            doublings: 0,
            tag_bits: PAYLOAD_BITS - number_bits,
            number_bits,
            buckets: vec![Bucket([EMPTY; BUCKET]); least_buckets as usize],
            taken: 0,
            cells: Vec::new(),
        }
    }

    /// Where the search for a value with this hash begins.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a bucket is below their number; the tag is below those bits"
    )]
    fn probe(&self, hash: u32) -> Probe {
        let scaled = u64::from(hash) * u64::from(self.least_buckets);
        let bucket = (scaled >> (32 - self.doublings)) as usize;
        let rest = (scaled << self.doublings) as u32;
        Probe {
            bucket,
            tag: rest >> (32 - PAYLOAD_BITS) & self.tag_mask(),
            first: self.buckets[bucket].0[0],
        }
    }

    /// The place of the entry whose rows have the value sought, as `is_equal` tells of one of them, or else the place
    /// where it belongs.
    fn search(
        &self,
        probe: Probe,
        is_equal: impl Fn(u32) -> bool,
    ) -> Result<EntryPlace, EntryPlace> {
        if probe.first == EMPTY {
            return Err(EntryPlace {
                bucket: probe.bucket,
                entry: 0,
            });
        }
        let tag_mask = self.tag_mask();
        let mut bucket = probe.bucket;
        loop {
            let Bucket(entries) = &self.buckets[bucket];
            // A bit per entry, without branches, so that the compiler compares a whole bucket at once.
            let (mut equal, mut empty) = (0u32, 0u32);
            for (place, entry) in entries.iter().enumerate() {
                equal |= u32::from(entry & tag_mask == probe.tag) << place;
                empty |= u32::from(*entry == EMPTY) << place;
            }
            // `EMPTY` has all bits set, which may equal a tag.
            equal &= !empty;
            while equal != 0 {
                let entry = equal.trailing_zeros() as usize;
                if is_equal(self.row_of(entries[entry])) {
                    return Ok(EntryPlace { bucket, entry });
                }
                // Clears the lowest bit.
                equal &= equal - 1;
            }
            // An entry is displaced only from a full bucket, so the search ends at the first one with room.
            if empty != 0 {
                let entry = empty.trailing_zeros() as usize;
                return Err(EntryPlace { bucket, entry });
            }
            bucket = (bucket + 1) % self.buckets.len();
        }
    }

    /// Enters a row where the search for its value led.
    fn enter(&mut self, number: u32, probe: Probe, found: Result<EntryPlace, EntryPlace>) {
        match found {
            Err(place) => self.put(number, probe, place),
            Ok(place) => self.chain(number, place),
        }
    }

    /// Puts an entry with this number, and perhaps `CHAIN`, at an empty place.
    fn put(&mut self, number: u32, probe: Probe, place: EntryPlace) {
        let EntryPlace { bucket, entry } = place;
        let is_displaced = if bucket == probe.bucket { 0 } else { DISPLACED };
        self.buckets[bucket].0[entry] = probe.tag | is_displaced | number;
        self.taken += 1;
    }

    /// Puts a row at the head of the rows of an entry.
    fn chain(&mut self, number: u32, place: EntryPlace) {
        let number_mask = self.number_mask();
        let entry = &mut self.buckets[place.bucket].0[place.entry];
        let next = match *entry & CHAIN {
            0 => push_cell(&mut self.cells, *entry & number_mask, NONE),
            _ => *entry & number_mask,
        };
        let head = push_cell(&mut self.cells, number, next);
        *entry = CHAIN | *entry & !number_mask | head;
    }

    /// Adds the rows of an entry to `found`.
    fn rows_of(&self, place: EntryPlace, found: &mut Vec<u32>) {
        let entry = self.buckets[place.bucket].0[place.entry];
        let mut next = entry & self.number_mask();
        if entry & CHAIN == 0 {
            return found.push(next);
        }
        while next != NONE {
            let cell = self.cells[next as usize];
            found.push(cell.number);
            next = cell.next;
        }
    }

    /// One of the rows of an entry.
    fn row_of(&self, entry: u32) -> u32 {
        let number = entry & self.number_mask();
        match entry & CHAIN {
            0 => number,
            _ => self.cells[number as usize].number,
        }
    }

    /// Doubles the buckets.
    ///
    /// This takes a bit from the tags, which longer numbers take over. If more bits are spare, or none of a tag is left,
    /// all entries are hashed again.
    fn double(&mut self, mut hash_of: impl FnMut(u32) -> u32) {
        let spare_bits = PAYLOAD_BITS - self.number_bits - self.tag_bits;
        let hash_all = self.tag_bits == 0 || spare_bits > 2;
        let doubled = vec![Bucket([EMPTY; BUCKET]); 2 * self.buckets.len()];
        let old = std::mem::replace(&mut self.buckets, doubled);
        self.doublings += 1;
        self.tag_bits = if hash_all {
            PAYLOAD_BITS - self.number_bits
        } else {
            self.tag_bits - 1
        };
        let (tag_mask, kept) = (self.tag_mask(), CHAIN | self.number_mask());
        let mut strays = Vec::new();
        for (bucket, halves) in old.iter().zip(self.buckets.as_chunks_mut::<2>().0) {
            let mut ends = [0; 2];
            for &entry in bucket.0.iter().take_while(|entry| **entry != EMPTY) {
                if hash_all || entry & DISPLACED != 0 {
                    strays.push(entry & kept);
                    continue;
                }
                let half = (entry >> (PAYLOAD_BITS - 1) & 1) as usize;
                halves[half].0[ends[half]] = entry & kept | entry << 1 & tag_mask;
                ends[half] += 1;
            }
        }
        self.taken -= strays.len();
        for entry in strays {
            let probe = self.probe(hash_of(self.row_of(entry)));
            let place = self.search(probe, |_| false).unwrap_or_else(|place| place);
            self.put(entry, probe, place);
        }
    }

    /// Adds a bit to the numbers of entries, a spare one or the last one of the tag.
    fn lengthen_numbers(&mut self) {
        if self.tag_bits + self.number_bits == PAYLOAD_BITS {
            self.tag_bits -= 1;
            let last = 1 << self.number_bits;
            let entries = self.buckets.iter_mut().flat_map(|bucket| &mut bucket.0);
            entries
                .filter(|entry| **entry != EMPTY)
                .for_each(|entry| *entry &= !last);
        }
        self.number_bits += 1;
    }

    /// The bits of an entry in which the tag lies.
    fn tag_mask(&self) -> u32 {
        ((1 << self.tag_bits) - 1) << (PAYLOAD_BITS - self.tag_bits)
    }

    /// The bits of an entry in which the number lies.
    fn number_mask(&self) -> u32 {
        (1 << self.number_bits) - 1
    }
}

/// Adds a cell and returns its index. A row has at most one cell per band, so that there are fewer cells than rows.
fn push_cell(cells: &mut Vec<Cell>, number: u32, next: u32) -> u32 {
    cells.push(Cell { number, next });
    u32::try_from(cells.len() - 1).unwrap_or(NONE)
}

/// A hash of a few values: products of 64 bits folded, as in wyhash, but summed up, so that none waits for another.
/// Pairs of values of 32 bits stay whole.
#[allow(clippy::cast_possible_truncation, reason = "takes the upper half")]
fn hash(seed: u64, values: &[u64]) -> u32 {
    const STEP: u64 = 0xa076_1d64_78bd_642f;
    let (fours, rest) = values.as_chunks::<4>();
    let (mut key, mut sum) = (seed, 0u64);
    for [a, b, c, d] in fours {
        let (first, second) = (a ^ b.rotate_left(32), c ^ d.rotate_left(32));
        sum = sum.wrapping_add(fold(first ^ key, second ^ !key.rotate_left(32)));
        key = key.wrapping_add(STEP);
    }
    for value in rest {
        sum = sum.wrapping_add(fold(value ^ key, STEP));
        key = key.wrapping_add(STEP);
    }
    (fold(sum ^ 0xe703_7ed1_a0b4_28db, seed | 1) >> 32) as u32
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "takes the halves of the product"
)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use simgpu::scheme::fmix64;

    /// PackedRows of values below `distinct`, different ones in each place.
    fn rows_of(count: u64, values: u64, distinct: u64) -> Vec<Vec<u64>> {
        let value = |row: u64, place: u64| fmix64(row << 20 | place) % distinct * 1000 + place;
        let row = |row| (0..values).map(|place| value(row, place)).collect();
        (0..count).map(row).collect()
    }

    fn filled(examples: &[Vec<u64>], bands: usize, values_per_band: usize) -> (PackedRows, Tables) {
        let mut rows = PackedRows::new(bands * values_per_band);
        let mut tables = Tables::new(bands, values_per_band);
        for row in examples {
            let number = rows.push(row).unwrap();
            tables.insert(&rows, number, row);
        }
        (rows, tables)
    }

    /// Compares each bucket of each band with a map that a sorted tree holds.
    fn assert_all_found(rows: &PackedRows, tables: &Tables, examples: &[Vec<u64>]) {
        for band in 0..tables.bands() {
            let mut expected: BTreeMap<&[u64], Vec<u32>> = BTreeMap::new();
            for number in rows.numbers() {
                let values = &examples[number as usize][tables.range(band)];
                expected.entry(values).or_default().push(number);
            }
            for (values, numbers) in expected {
                let mut found = Vec::new();
                tables.find_in_band(rows, band, values, &mut found);
                found.sort_unstable();
                assert_eq!(found, numbers, "band {band}");
            }
        }
    }

    #[test]
    fn tables_find_what_a_map_finds() {
        for (count, bands, values_per_band, distinct) in [
            (1, 1, 1, 1),
            (40, 3, 1, 2),
            (65, 2, 2, 3),
            (2000, 5, 3, 4),
            (2000, 3, 9, 1 << 40),
            (3000, 4, 1, 40),
            (20_000, 1, 1, 1 << 40),
        ] {
            let values = (bands * values_per_band) as u64;
            let examples = rows_of(count, values, distinct);
            let (rows, mut tables) = filled(&examples, bands, values_per_band);
            assert_all_found(&rows, &tables, &examples);
            tables.rebuild(&rows);
            assert_all_found(&rows, &tables, &examples);
        }
    }

    #[test]
    fn absent_values_are_not_found() {
        let examples = rows_of(20_000, 2, 1 << 40);
        let (rows, tables) = filled(&examples, 2, 1);
        let mut found = Vec::new();
        for row in rows_of(1000, 2, 1 << 30) {
            let other = [row[0] + 500, row[1] + 500];
            tables.find(&rows, &other, 2, &mut found);
            // What one band holds is not in the other.
            let [first, second] = [examples[0][0], examples[0][1]];
            tables.find(&rows, &[second, first], 2, &mut found);
        }
        assert!(found.is_empty());
    }

    #[test]
    fn the_first_bands_alone_are_searched() {
        let (rows, tables) = filled(&[vec![1, 2, 3], vec![4, 2, 3], vec![5, 6, 3]], 3, 1);
        for (bands, expected) in [
            (0, &[][..]),
            (1, &[0]),
            (2, &[0, 0, 1]),
            (3, &[0, 0, 0, 1, 1, 2]),
            (9, &[0, 0, 0, 1, 1, 2]),
        ] {
            let mut found = Vec::new();
            tables.find(&rows, &[1, 2, 3], bands, &mut found);
            found.sort_unstable();
            assert_eq!(found, expected, "{bands} bands");
        }
    }

    #[test]
    fn rebuilt_tables_hold_the_rows_that_are_left() {
        let mut examples = rows_of(3000, 4, 20);
        let (mut rows, mut tables) = filled(&examples, 2, 2);
        for number in (0..3000).filter(|number| number % 4 != 0) {
            rows.remove(number);
        }
        tables.rebuild(&rows);
        assert_all_found(&rows, &tables, &examples);
        rows.compact();
        tables.rebuild(&rows);
        let mut number = 0;
        examples.retain(|_| {
            number += 1;
            (number - 1) % 4 == 0
        });
        assert_all_found(&rows, &tables, &examples);
        for row in rows_of(500, 4, 25) {
            let number = rows.push(&row).unwrap();
            tables.insert(&rows, number, &row);
            examples.push(row);
        }
        assert_all_found(&rows, &tables, &examples);
    }

    /// A table of four buckets doubles when its 56 entries are taken.
    #[test]
    fn full_tables_double() {
        let examples = rows_of(57, 1, 1 << 40);
        let (_, tables) = filled(&examples[..56], 1, 1);
        assert_eq!(
            (tables.tables[0].taken, tables.tables[0].buckets.len()),
            (56, 4)
        );
        let (_, tables) = filled(&examples, 1, 1);
        assert_eq!(
            (tables.tables[0].taken, tables.tables[0].buckets.len()),
            (57, 8)
        );
        let (_, tables) = filled(&vec![vec![5]; 300], 1, 1);
        assert_eq!(
            (tables.tables[0].taken, tables.tables[0].buckets.len()),
            (1, 4)
        );
    }

    /// An entry of ones is an empty one, so no number has all of its bits set.
    #[test]
    fn numbers_leave_a_bit_unset() {
        let examples = rows_of(300, 1, 1 << 40);
        let mut rows = PackedRows::new(1);
        let mut tables = Tables::new(1, 1);
        for row in &examples {
            let number = rows.push(row).unwrap();
            tables.insert(&rows, number, row);
            assert!(number < tables.tables[0].number_mask());
        }
    }

    /// Seed, places and order of values decide about the hash; pairs of values of 32 bits stay whole.
    #[test]
    fn hashes_spread() {
        let [seed, other_seed] = [7, 8].map(fmix64);
        for length in 1..=9u64 {
            let row: Vec<u64> = (0..length).collect();
            let flipped = |place: usize, bit: u32| {
                let mut other = row.clone();
                other[place] ^= 1 << bit;
                hash(seed, &other)
            };
            let mut hashes = vec![hash(seed, &row), hash(other_seed, &row)];
            for place in 0..row.len() {
                hashes.extend([0, 31].map(|bit| flipped(place, bit)));
                assert!(
                    [32, 63]
                        .iter()
                        .all(|bit| !hashes[..2].contains(&flipped(place, *bit)))
                );
            }
            let reversed: Vec<u64> = row.iter().rev().copied().collect();
            hashes.extend((length > 1).then(|| hash(seed, &reversed)));
            let count = hashes.len();
            hashes.sort_unstable();
            hashes.dedup();
            assert_eq!(hashes.len(), count, "{length} values");
        }
    }
}
