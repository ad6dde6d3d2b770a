//! PackedRows of slots, each packed to the bits of its largest value.
//!
//! Slots are minima: those of a set of 100 members have about 7 bits less than its hashes, and those of datasketch's
//! legacy scheme are 32-bit numbers in 64 bits. PackedRows are numbered as they come, from 0; removed rows leave a gap until
//! [`PackedRows::compact`].

use std::ops::Range;

use simgpu::error::{Error, Result};
use simgpu::scheme::Width;

/// The most rows, so that a number fits into an entry of a hash table beside a flag and a bit of its hash.
const MAX_ROWS: usize = (1 << 30) - 2;

/// The signatures of an index as bytes, for files.
///
/// Row i is `ceil(n * widths[i] / 64)` words of 64 bits, little-endian, in `words`, where n is the number of slots in
/// bands. Slot k is bits `k * widths[i] .. (k + 1) * widths[i]` of the row, counted from the least significant bit of its
/// first word. Unused bits of the last word are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowBytes {
    /// Of each row, the bits of its largest slot, at least 1.
    pub widths: Vec<u8>,
    /// The words of all rows.
    pub words: Vec<u8>,
}

/// Packed rows of equally many values.
#[derive(Clone, Debug)]
pub(super) struct PackedRows {
    values_per_row: usize,
    places: Vec<RowPlace>,
    /// The bits of all rows, each from a new word, and one word that ends them, so that any value is in two words.
    words: Vec<u64>,
    live: usize,
}

/// Where a row begins, in words, above eight bits: a flag of removed rows, and the bits of each value.
#[derive(Clone, Copy, Debug)]
struct RowPlace(u64);

const REMOVED: u64 = 0x80;

impl RowPlace {
    fn new(start: usize, width: u32) -> Self {
        RowPlace((start as u64) << 8 | u64::from(width))
    }

    #[allow(clippy::cast_possible_truncation, reason = "it was a usize")]
    fn start(self) -> usize {
        (self.0 >> 8) as usize
    }

    fn width(self) -> usize {
        usize::from(self.0.to_le_bytes()[0] & 0x7f)
    }

    fn is_removed(self) -> bool {
        self.0 & REMOVED != 0
    }
}

impl PackedRows {
    pub(super) fn new(values_per_row: usize) -> Self {
        PackedRows {
            values_per_row,
            places: Vec::new(),
            words: vec![0],
            live: 0,
        }
    }

    /// The number that the next row gets, of so many more.
    ///
    /// # Errors
    /// [`Error::FullIndex`] if there are more rows than numbers then.
    pub(super) fn next_number(&self, more: usize) -> Result<u32> {
        next_number(self.places.len(), more)
    }

    /// PackedRows that are not removed.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// Whether so many rows are removed that their room is worth a pass over all rows.
    pub(super) fn wants_compaction(&self) -> bool {
        let removed = self.places.len() - self.live;
        removed > self.live.max(64)
    }

    /// Whether there is a row with this number that is not removed.
    pub(super) fn is_live(&self, number: u32) -> bool {
        let place = self.places.get(number as usize);
        place.is_some_and(|place| !place.is_removed())
    }

    /// The numbers of the rows that are not removed.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        let places = (0..).zip(&self.places);
        places.filter_map(|(number, place)| (!place.is_removed()).then_some(number))
    }

    /// Adds a row and returns its number.
    ///
    /// # Errors
    /// [`Error::FullIndex`] if there is no number for it.
    pub(super) fn push(&mut self, row: &[u64]) -> Result<u32> {
        debug_assert_eq!(row.len(), self.values_per_row);
        let number = self.next_number(1)?;
        let width = 64 - (row.iter().fold(1, |all, value| all | value)).leading_zeros();
        let start = self.words.len() - 1;
        push_tightly(&mut self.places, RowPlace::new(start, width));
        let words = words_of(self.values_per_row, width as usize);
        reserve_tightly(&mut self.words, words);
        self.words.truncate(start);
        let (mut word, mut filled) = (0, 0);
        for value in row {
            word |= value << filled;
            filled += width;
            if filled >= 64 {
                self.words.push(word);
                filled -= 64;
                word = value >> 1 >> (width - filled - 1);
            }
        }
        self.words.extend((filled > 0).then_some(word));
        self.words.push(0);
        self.live += 1;
        Ok(number)
    }

    /// Removes a row; false if there is none with this number.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        let is_live = self.is_live(number);
        if is_live {
            self.places[number as usize].0 |= REMOVED;
            self.live -= 1;
        }
        is_live
    }

    /// The values of a row in `range`, of a removed row, too.
    pub(super) fn values(
        &self,
        number: u32,
        range: Range<usize>,
    ) -> impl ExactSizeIterator<Item = u64> + '_ {
        let place = self.places[number as usize];
        let (start, width) = (place.start() * 64, place.width());
        let mask = u64::MAX >> (64 - width);
        range.map(move |index| {
            let bit = start + index * width;
            let (word, shift) = (bit / 64, bit % 64);
            (self.words[word] >> shift | low_part(self.words[word + 1], shift)) & mask
        })
    }

    /// Whether a row, which may be removed, has these values from the index `first` on.
    pub(super) fn has(&self, number: u32, first: usize, values: &[u64]) -> bool {
        let found = self.values(number, first..first + values.len());
        // Without a branch per value.
        let differences = found.zip(values).map(|(found, value)| found ^ value);
        differences.fold(0, |all, difference| all | difference) == 0
    }

    /// Replaces the content of `row` by all values of a row.
    pub(super) fn copy_to(&self, number: u32, row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.values(number, 0..self.values_per_row));
    }

    /// Forgets the removed rows: the others move up in order.
    pub(super) fn compact(&mut self) {
        let mut end = 0;
        self.places.retain_mut(|place| {
            if place.is_removed() {
                return false;
            }
            let words = words_of(self.values_per_row, place.width());
            self.words
                .copy_within(place.start()..place.start() + words, end);
            *place = RowPlace((end as u64) << 8 | place.width() as u64);
            end += words;
            true
        });
        self.words.truncate(end);
        self.words.push(0);
        self.places.shrink_to_fit();
        self.words.shrink_to_fit();
    }

    /// The rows that are not removed.
    pub(super) fn to_bytes(&self) -> RowBytes {
        let live = || self.places.iter().filter(|place| !place.is_removed());
        let words = live().flat_map(|place| {
            let words = words_of(self.values_per_row, place.width());
            &self.words[place.start()..place.start() + words]
        });
        RowBytes {
            widths: live().map(|place| place.0.to_le_bytes()[0]).collect(),
            words: words.flat_map(|word| word.to_le_bytes()).collect(),
        }
    }

    /// The rows that [`to_bytes`](PackedRows::to_bytes) wrote, of values of this width; `None` if the bytes do not fit together.
    pub(super) fn from_bytes(
        values_per_row: usize,
        width: Width,
        bytes: &RowBytes,
    ) -> Option<Self> {
        let (words, rest) = bytes.words.as_chunks::<8>();
        let widths = &bytes.widths;
        if widths.len() > MAX_ROWS || !rest.is_empty() {
            return None;
        }
        let mut rows = PackedRows::new(values_per_row);
        rows.places.reserve_exact(widths.len());
        let mut start = 0usize;
        for bits in widths {
            if !(1..=8 * width.bytes()).contains(&usize::from(*bits)) {
                return None;
            }
            rows.places.push(RowPlace::new(start, u32::from(*bits)));
            start = start.checked_add(words_of(values_per_row, usize::from(*bits)))?;
        }
        if start != words.len() {
            return None;
        }
        rows.words.clear();
        rows.words.reserve_exact(words.len() + 1);
        rows.words
            .extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        rows.words.push(0);
        rows.live = widths.len();
        Some(rows)
    }
}

/// The number of a row behind `rows` rows, of `more` that follow.
fn next_number(rows: usize, more: usize) -> Result<u32> {
    let number = u32::try_from(rows).ok();
    let fits = rows.saturating_add(more) <= MAX_ROWS;
    let number = number.filter(|_| fits);
    number.ok_or(Error::FullIndex { limit: MAX_ROWS })
}

/// Words of a row.
fn words_of(values: usize, width: usize) -> usize {
    values.saturating_mul(width).div_ceil(64)
}

/// What the next word adds to `word >> shift`.
fn low_part(next: u64, shift: usize) -> u64 {
    next << 1 << (63 - shift)
}

/// Pushes without doubling: large vectors grow by a sixteenth, which the allocator does in place.
pub(super) fn push_tightly<T>(vec: &mut Vec<T>, value: T) {
    reserve_tightly(vec, 1);
    vec.push(value);
}

fn reserve_tightly<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more + 64 + vec.len() / 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::scheme::fmix64;

    /// PackedRows of `values` values with 1 to 64 bits, in turn.
    fn examples(values: usize) -> Vec<Vec<u64>> {
        let row = |number: u64| {
            let value = |place: u64| fmix64(number << 32 | place) >> (63 - number % 64);
            (0..values as u64).map(value).collect()
        };
        (0..200).map(row).collect()
    }

    fn packed(examples: &[Vec<u64>]) -> PackedRows {
        let mut rows = PackedRows::new(examples[0].len());
        for (number, row) in examples.iter().enumerate() {
            assert_eq!(rows.push(row).unwrap() as usize, number);
        }
        rows
    }

    fn contents(rows: &PackedRows) -> Vec<Vec<u64>> {
        let row = |number| rows.values(number, 0..rows.values_per_row).collect();
        rows.numbers().map(row).collect()
    }

    #[test]
    fn rows_come_back() {
        for values in [1, 2, 3, 7, 64, 65] {
            let examples = examples(values);
            let rows = packed(&examples);
            assert_eq!(contents(&rows), examples);
            assert_eq!(rows.live(), examples.len());
            let mut copy = vec![5; 3];
            rows.copy_to(77, &mut copy);
            assert_eq!(copy, examples[77]);
            for first in 0..values {
                let expected = &examples[60][first..];
                assert!(rows.values(60, first..values).eq(expected.iter().copied()));
                assert!(rows.has(60, first, expected));
                let mut other = expected.to_vec();
                *other.last_mut().unwrap() ^= 1;
                assert!(!rows.has(60, first, &other));
            }
        }
    }

    #[test]
    fn rows_take_the_bits_of_their_largest_value() {
        let mut rows = PackedRows::new(64);
        for row in [[0; 64], [1; 64], [u64::MAX; 64]] {
            rows.push(&row).unwrap();
        }
        // A word each for bits, 64 for whole values, and the one that ends them.
        assert_eq!(rows.words.len(), 1 + 1 + 64 + 1);
        assert_eq!(rows.to_bytes().widths, [1, 1, 64]);
    }

    #[test]
    fn removed_rows_leave_gaps_until_compaction() {
        let examples = examples(3);
        let mut rows = packed(&examples);
        let kept: Vec<_> = (0..200).filter(|number| number % 3 == 1).collect();
        for number in (0..200).filter(|number| number % 3 != 1) {
            assert!(rows.remove(number) && !rows.remove(number));
        }
        assert!(!rows.remove(200) && !rows.is_live(200) && !rows.is_live(0) && rows.is_live(1));
        assert_eq!(rows.live(), kept.len());
        assert!(rows.numbers().eq(kept.iter().copied()));
        assert!(rows.values(0, 0..3).eq(examples[0].iter().copied()));
        let expected: Vec<_> = kept.iter().map(|n| examples[*n as usize].clone()).collect();
        let bytes = rows.to_bytes();
        rows.compact();
        assert!(
            rows.numbers()
                .map(|number| number as usize)
                .eq(0..kept.len())
        );
        assert_eq!(contents(&rows), expected);
        assert_eq!(rows.to_bytes(), bytes);
        assert_eq!(rows.push(&examples[5]).unwrap() as usize, kept.len());
        assert_eq!(contents(&rows).last(), Some(&examples[5]));
    }

    #[test]
    fn compaction_pays_when_more_rows_are_removed_than_left() {
        let mut rows = packed(&examples(1));
        for number in 0..100 {
            rows.remove(number);
        }
        assert!(!rows.wants_compaction());
        rows.remove(100);
        assert!(rows.wants_compaction());
        rows.compact();
        assert!(!rows.wants_compaction());
        let mut few = packed(&examples(1)[..64]);
        (0..64).for_each(|number| assert!(few.remove(number)));
        assert!(!few.wants_compaction());
        few.push(&[1]).unwrap();
        few.remove(64);
        assert!(few.wants_compaction());
    }

    #[test]
    fn bytes_hold_the_rows() {
        for values in [1, 5, 64] {
            let examples = examples(values);
            let bytes = packed(&examples).to_bytes();
            let rows = PackedRows::from_bytes(values, Width::U64, &bytes).unwrap();
            assert_eq!(contents(&rows), examples);
            assert_eq!((rows.live(), rows.to_bytes()), (200, bytes));
        }
        let none = PackedRows::from_bytes(3, Width::U64, &RowBytes::default()).unwrap();
        assert_eq!((none.live(), none.words.len()), (0, 1));
    }

    #[test]
    fn bytes_that_do_not_fit_are_refused() {
        let bytes = packed(&[vec![5, 1], vec![1 << 40, 2]]).to_bytes();
        assert_eq!((&*bytes.widths, bytes.words.len()), (&[3, 41][..], 24));
        assert!(PackedRows::from_bytes(2, Width::U64, &bytes).is_some());
        assert!(PackedRows::from_bytes(2, Width::U32, &bytes).is_none());
        assert!(PackedRows::from_bytes(44, Width::U64, &bytes).is_none());
        let narrow = packed(&[vec![u64::from(u32::MAX)]]).to_bytes();
        assert!(PackedRows::from_bytes(1, Width::U32, &narrow).is_some());
        for length in [0, 8, 16, 23, 25, 32] {
            let mut bytes = bytes.clone();
            bytes.words.resize(length, 0);
            assert!(
                PackedRows::from_bytes(2, Width::U64, &bytes).is_none(),
                "{length}"
            );
        }
        for width in [0, 65, 128 + 3] {
            let mut bytes = bytes.clone();
            bytes.widths[0] = width;
            assert!(
                PackedRows::from_bytes(2, Width::U64, &bytes).is_none(),
                "{width}"
            );
        }
        let empty = RowBytes {
            widths: vec![0],
            words: Vec::new(),
        };
        assert!(PackedRows::from_bytes(2, Width::U64, &empty).is_none());
        let huge = RowBytes {
            widths: vec![64; 3],
            words: Vec::new(),
        };
        assert!(PackedRows::from_bytes(usize::MAX, Width::U64, &huge).is_none());
    }

    #[test]
    fn numbers_end() {
        assert_eq!(next_number(MAX_ROWS - 1, 1).unwrap() as usize, MAX_ROWS - 1);
        assert_eq!(next_number(5, MAX_ROWS - 5).unwrap(), 5);
        for (rows, more) in [(MAX_ROWS, 1), (5, MAX_ROWS - 4), (5, usize::MAX)] {
            let error = next_number(rows, more).unwrap_err();
            assert!(matches!(error, Error::FullIndex { .. }), "{error}");
        }
    }
}
