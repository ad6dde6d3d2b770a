//! The hash table of one band.

/// Buckets of entries; an entry stands for the rows with one value of the band. It lies in the bucket that the first
/// bits of the value's hash name, or, if that is full, in the next bucket with room.
///
/// An entry is `EMPTY`, or has, from its high bits: whether several rows form a chain of cells, whether it is displaced
/// from its bucket, the tag, perhaps a spare bit, and the number of the row or of the first cell. The tag is the bits of
/// the hash after those that name the bucket. It decides whether to compare the true values, so that no collision of
/// hashes changes a result. When the table doubles, the first bit of the tag says which half of its bucket an entry goes
/// to; displaced entries alone are hashed again. Entries of removed rows stay until the tables are rebuilt.
#[derive(Clone, Debug)]
pub(super) struct BandTable {
    /// Buckets before any doubling.
    least_buckets: u32,
    doublings: u32,
    tag_bits: u32,
    pub(super) number_bits: u32,
    pub(super) buckets: Vec<Bucket>,
    pub(super) taken: usize,
    cells: Vec<Cell>,
}

/// A cache line of entries, the empty ones last.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Bucket([u32; BUCKET]);

#[derive(Clone, Copy, Debug)]
struct Cell {
    number: u32,
    next: u32,
}

/// Where the search for a value begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    bucket: usize,
    /// At its place in an entry.
    tag: u32,
    /// The first entry of the bucket.
    pub(super) first: u32,
}

/// The place of an entry in its table.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPlace {
    bucket: usize,
    /// The number of the entry in its bucket.
    entry: usize,
}

const BUCKET: usize = 16;
/// The most entries per bucket, on average. About one in twenty is displaced then.
pub(super) const LIMIT: usize = 14;

const EMPTY: u32 = u32::MAX;
const CHAIN: u32 = 1 << 31;
const DISPLACED: u32 = 1 << 30;
/// Bits for tag and number.
const PAYLOAD_BITS: u32 = 30;

/// No further cell.
const NONE: u32 = u32::MAX;

impl BandTable {
    pub(super) fn new(band: usize) -> Self {
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
    pub(super) fn probe(&self, hash: u32) -> Probe {
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
    pub(super) fn search(
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
    pub(super) fn enter(
        &mut self,
        number: u32,
        probe: Probe,
        found: Result<EntryPlace, EntryPlace>,
    ) {
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
    pub(super) fn rows_of(&self, place: EntryPlace, found: &mut Vec<u32>) {
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
    pub(super) fn double(&mut self, mut hash_of: impl FnMut(u32) -> u32) {
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
    pub(super) fn lengthen_numbers(&mut self) {
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
    pub(super) fn number_mask(&self) -> u32 {
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
pub(super) fn hash(seed: u64, values: &[u64]) -> u32 {
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
