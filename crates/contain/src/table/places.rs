//! Sets of places of n-grams, and the parts that have them.

/// The last part that had each n-gram, while parts are visited in order: a part may have an n-gram several times.
pub(super) struct LastParts(Vec<u32>);

impl LastParts {
    /// Of so many n-grams, before the first part.
    pub(super) fn new(grams: usize) -> Self {
        LastParts(vec![u32::MAX; grams])
    }

    /// Notes that a part has an n-gram. Returns whether it was another part before.
    pub(super) fn changes(&mut self, gram: u32, part: u32) -> bool {
        std::mem::replace(&mut self.0[gram as usize], part) != part
    }
}

/// A set of places, which tells how many of them are before a place.
pub(super) struct PlaceSet {
    bits: Vec<u64>,
    /// How many are before the bits of each word.
    before: Vec<u32>,
}

impl PlaceSet {
    /// These places, of so many.
    pub(super) fn new(places: &[u32], all: usize) -> Self {
        let mut bits = vec![0u64; all.div_ceil(64)];
        for place in places {
            bits[*place as usize / 64] |= 1 << (place % 64);
        }
        let mut count = 0;
        let before = bits.iter().map(|bits| {
            count += bits.count_ones();
            count - bits.count_ones()
        });
        PlaceSet {
            before: before.collect(),
            bits,
        }
    }

    pub(super) fn rank(&self, place: u32) -> u32 {
        let word = place as usize / 64;
        let below = self.bits[word] & ((1 << (place % 64)) - 1);
        self.before[word] + below.count_ones()
    }

    /// The places, ascending.
    pub(super) fn list(&self) -> Vec<u32> {
        let mut places = Vec::new();
        for (word, bits) in (0u32..).zip(&self.bits) {
            let mut rest = *bits;
            while rest != 0 {
                places.push(64 * word + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        places
    }
}
