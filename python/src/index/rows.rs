//! Rows of slots, each packed to the bits of its largest value.
//!
//! Slots are minima: those of a set of 100 members have about 7 bits less than its hashes, and those of datasketch's
//! legacy scheme are 32-bit numbers in 64 bits. Rows are numbered as they come, from 0; removed rows leave a gap until
//! [`Rows::compact`].

/// The most rows, so that a number fits into an entry of a hash table beside a flag and a bit of its hash.
pub(crate) const MAX_ROWS: usize = (1 << 30) - 2;

/// Packed rows of equally many values.
pub(crate) struct Rows {
    values_per_row: usize,
    places: Vec<Place>,
    /// The bits of all rows, each from a new word, and one word that ends them, so that any value is in two words.
    words: Vec<u64>,
    live: usize,
}

/// Where a row begins, in words, above eight bits: a flag of removed rows, and the bits of each value.
#[derive(Clone, Copy)]
struct Place(u64);

const REMOVED: u64 = 0x80;

impl Place {
    fn new(start: usize, width: u32) -> Self {
        Place((start as u64) << 8 | u64::from(width))
    }

    fn start(self) -> usize {
        usize::try_from(self.0 >> 8).unwrap_or(usize::MAX)
    }

    fn width(self) -> usize {
        usize::from(self.0.to_le_bytes()[0] & 0x7f)
    }

    fn is_removed(self) -> bool {
        self.0 & REMOVED != 0
    }
}

impl Rows {
    pub(crate) fn new(values_per_row: usize) -> Self {
        Rows {
            values_per_row,
            places: Vec::new(),
            words: vec![0],
            live: 0,
        }
    }

    /// The number that the next row gets.
    pub(crate) fn next_number(&self) -> usize {
        self.places.len()
    }

    /// Rows that are not removed.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// Whether so many rows are removed that their room is worth a pass over all rows.
    pub(crate) fn wants_compaction(&self) -> bool {
        let removed = self.places.len() - self.live;
        removed > self.live.max(64)
    }

    pub(crate) fn is_live(&self, number: u32) -> bool {
        !self.places[number as usize].is_removed()
    }

    /// The numbers of the rows that are not removed.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        let count = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        (0..count).filter(|number| self.is_live(*number))
    }

    pub(crate) fn push(&mut self, row: &[u64]) -> u32 {
        debug_assert_eq!(row.len(), self.values_per_row);
        let width = 64 - (row.iter().fold(1, |all, value| all | value)).leading_zeros();
        let start = self.words.len() - 1;
        push_tightly(&mut self.places, Place::new(start, width));
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
        u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn remove(&mut self, number: u32) {
        let place = &mut self.places[number as usize];
        self.live -= usize::from(!place.is_removed());
        place.0 |= REMOVED;
    }

    /// The values of a row in `range`, of a removed row, too.
    pub(crate) fn values(
        &self,
        number: u32,
        range: std::ops::Range<usize>,
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
    pub(crate) fn has(&self, number: u32, first: usize, values: &[u64]) -> bool {
        let found = self.values(number, first..first + values.len());
        // Without a branch per value.
        let differences = found.zip(values).map(|(found, value)| found ^ value);
        differences.fold(0, |all, difference| all | difference) == 0
    }

    /// Replaces the content of `row` by all values of a row.
    pub(crate) fn copy_to(&self, number: u32, row: &mut Vec<u64>) {
        row.clear();
        row.extend(self.values(number, 0..self.values_per_row));
    }

    /// Forgets the removed rows: the others move up in order.
    pub(crate) fn compact(&mut self) {
        let mut end = 0;
        self.places.retain_mut(|place| {
            if place.is_removed() {
                return false;
            }
            let words = words_of(self.values_per_row, place.width());
            self.words
                .copy_within(place.start()..place.start() + words, end);
            *place = Place((end as u64) << 8 | place.width() as u64);
            end += words;
            true
        });
        self.words.truncate(end);
        self.words.push(0);
        self.places.shrink_to_fit();
        self.words.shrink_to_fit();
    }

    /// The widths and the words of all rows, little-endian. Removed rows must have been compacted away.
    pub(crate) fn to_bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let widths = self.places.iter().map(|place| place.0.to_le_bytes()[0]);
        let words = &self.words[..self.words.len() - 1];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        (widths.collect(), words.collect())
    }

    /// The rows that [`to_bytes`](Rows::to_bytes) wrote; `None` if the bytes do not fit together.
    pub(crate) fn from_bytes(values_per_row: usize, widths: &[u8], words: &[u8]) -> Option<Self> {
        let (words, rest) = words.as_chunks::<8>();
        if widths.len() > MAX_ROWS || !rest.is_empty() {
            return None;
        }
        let mut rows = Rows::new(values_per_row);
        let mut start = 0usize;
        for &width in widths {
            if !(1..=64).contains(&width) {
                return None;
            }
            rows.places.push(Place::new(start, u32::from(width)));
            start = start.checked_add(words_of(values_per_row, usize::from(width)))?;
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

/// Words of a row.
fn words_of(values: usize, width: usize) -> usize {
    values.saturating_mul(width).div_ceil(64)
}

/// What the next word adds to `word >> shift`.
fn low_part(next: u64, shift: usize) -> u64 {
    next << 1 << (63 - shift)
}

/// Pushes without doubling: large vectors grow by a sixteenth, which the allocator does in place.
pub(crate) fn push_tightly<T>(vec: &mut Vec<T>, value: T) {
    reserve_tightly(vec, 1);
    vec.push(value);
}

fn reserve_tightly<T>(vec: &mut Vec<T>, more: usize) {
    if vec.capacity() - vec.len() < more {
        vec.reserve_exact(more + 64 + vec.len() / 16);
    }
}
