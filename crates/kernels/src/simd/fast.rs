//! The kernel of the sketches that put a shingle into one slot per round: [`fast`](crate::scheme::fast) and
//! [R-MinHash](crate::scheme::rminhash).
//!
//! A round computes the slots and values of some shingles in lanes, and lowers those slots one by one: slots are
//! unpredictable, and scattering vectors with conflicts is no faster. Shingles whose value is not below the
//! greatest slot cannot lower any and are filtered out first: nearly all shingles of a long document.
//!
//! To lower a slot takes two to three cycles. So a vector of shingles is dropped if all its values exceed the greatest
//! slot. In one round, a value can lower only one slot: to test it against that slot instead was a fifth slower. To
//! test in later rounds whether that slot is still empty, with a bit map in registers, was up to a fifth faster with
//! 256 slots or more but a tenth slower with fewer; it was rejected.

use std::cell::RefCell;

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::Lanes;
use super::sign::{Affine32, Affine64, block64, fmix32_lanes, lower_block, lower_block64, mix};
use crate::scheme::{fast, rminhash};

/// Shingles that are placed at a time; a multiple of every vector's lanes.
const CHUNK: usize = 64;

/// The slots and values of the shingles of a chunk, aligned to lines of the cache.
#[repr(align(64))]
struct Placed {
    slots: [u32; CHUNK],
    values: [u32; CHUNK],
}

/// Shingles per tile that enter the slots that rounds left empty.
const TILE: usize = 256;

/// What differs between the sketches.
trait Sketch: Sync {
    type Hash: Copy + Default + Sync;

    /// Random rounds.
    const ROUNDS: usize;

    /// The least value of a round.
    fn above(round: usize) -> u32;

    /// Places the first `len` shingles of a chunk, and more up to a whole vector.
    fn place<L: Lanes>(
        &self,
        lanes: L,
        round: usize,
        slots: usize,
        chunk: &[Self::Hash; CHUNK],
        len: usize,
        placed: &mut Placed,
    );

    /// Mixes shingles for the permutations that fill the slots that rounds leave empty.
    fn mix<L: Lanes>(&self, lanes: L, tile: &[Self::Hash], mixed: &mut [Self::Hash; TILE]);

    /// The coefficients of the slots' own permutations.
    fn permutations(&self) -> (&[Self::Hash], &[Self::Hash]);

    /// Permutations in a block.
    fn block<L: Lanes>() -> usize;

    /// The least values of mixed shingles in a block of slots. Only the first `count` are valid.
    fn least<L: Lanes>(
        lanes: L,
        block: &Block<Self::Hash>,
        count: usize,
        mixed: &[Self::Hash],
    ) -> [u32; BLOCK];
}

/// Coefficients of some permutations.
struct Block<H> {
    a: [H; BLOCK],
    b: [H; BLOCK],
}

/// Most permutations of a block, with the widest vectors.
const BLOCK: usize = 64;

/// Signs one set that is not empty.
fn sign<S: Sketch>(isa: Isa, sketch: &S, set: &[S::Hash], row: &mut [u32]) {
    thread_local! {
        /// The slots that rounds left empty.
        static EMPTY: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }
    row.fill(u32::MAX);
    EMPTY.with_borrow_mut(|empty| {
        isa.run(Rounds {
            sketch,
            set,
            row,
            empty,
        });
    });
}

struct Rounds<'a, S: Sketch> {
    sketch: &'a S,
    set: &'a [S::Hash],
    row: &'a mut [u32],
    empty: &'a mut Vec<u32>,
}

impl<S: Sketch> Kernel for Rounds<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Rounds {
            sketch,
            set,
            row,
            empty,
        } = self;
        const { assert!(CHUNK.is_multiple_of(L::COUNT)) }
        place_all(lanes, sketch, set, row);
        list_empty(row, empty);
        if !empty.is_empty() {
            fill(lanes, sketch, set, row, empty);
        }
    }
}

/// Fills the empty slots with the least values of their permutations.
#[inline(always)]
fn fill<L: Lanes, S: Sketch>(
    lanes: L,
    sketch: &S,
    set: &[S::Hash],
    row: &mut [u32],
    empty: &[u32],
) {
    const { assert!(BLOCK.is_multiple_of(L::COUNT)) }
    let (a, b) = sketch.permutations();
    let zero = S::Hash::default();
    let mut mixed = [zero; TILE];
    for tile in set.chunks(TILE) {
        sketch.mix(lanes, tile, &mut mixed);
        let mixed = &mixed[..tile.len()];
        let mut block = Block {
            a: [zero; BLOCK],
            b: [zero; BLOCK],
        };
        if empty.len() > row.len() / 8 * 7 {
            // Gathering this many costs more than lowering the other slots too, which does not change them.
            for (i, slots) in row.chunks_mut(S::block::<L>()).enumerate() {
                let (first, count) = (i * S::block::<L>(), slots.len());
                block.a[..count].copy_from_slice(&a[first..first + count]);
                block.b[..count].copy_from_slice(&b[first..first + count]);
                let least = S::least(lanes, &block, count, mixed);
                for (slot, least) in slots.iter_mut().zip(least) {
                    *slot = (*slot).min(least);
                }
            }
        } else {
            for slots in empty.chunks(S::block::<L>()) {
                for (i, slot) in slots.iter().enumerate() {
                    block.a[i] = a[*slot as usize];
                    block.b[i] = b[*slot as usize];
                }
                let least = S::least(lanes, &block, slots.len(), mixed);
                for (slot, least) in slots.iter().zip(least) {
                    let slot = &mut row[*slot as usize];
                    *slot = (*slot).min(least);
                }
            }
        }
    }
}

/// Runs the rounds until none can lower a slot.
#[inline(always)]
fn place_all<L: Lanes, S: Sketch>(lanes: L, sketch: &S, set: &[S::Hash], row: &mut [u32]) {
    let (chunks, rest) = set.as_chunks::<CHUNK>();
    let mut last = [set[0]; CHUNK];
    last[..rest.len()].copy_from_slice(rest);
    let placed = &mut Placed {
        slots: [0; CHUNK],
        values: [u32::MAX; CHUNK],
    };
    let half_a_round = S::above(1) / 2;
    // Searches the greatest slot after as many shingles as slots, since fewer cannot have filled them, and then
    // after every quarter more: it sinks as their number grows.
    let (mut bound, mut passed, mut next) = (u32::MAX, 0, row.len());
    for round in 0..S::ROUNDS {
        for i in 0..=chunks.len() {
            let (chunk, len) = match chunks.get(i) {
                Some(chunk) => (chunk, CHUNK),
                None => (&last, rest.len()),
            };
            if passed >= next {
                (bound, next) = (greatest(row), passed + (passed / 4).max(row.len()));
            }
            if bound < S::above(round) {
                return;
            }
            passed += len;
            sketch.place(lanes, round, row.len(), chunk, len, placed);
            // Testing each shingle first was slower.
            if bound - S::above(round) > half_a_round {
                // Eight at a time: those after the last one were placed before, and lower nothing.
                let eights = placed.slots.as_chunks::<8>().0.iter();
                let eights = eights.zip(placed.values.as_chunks::<8>().0);
                for (slots, values) in eights.take(len.div_ceil(8)) {
                    for (slot, value) in slots.iter().zip(values) {
                        let slot = &mut row[*slot as usize];
                        *slot = (*slot).min(*value);
                    }
                }
                continue;
            }
            let mut below = 0;
            for i in (0..len).step_by(L::COUNT) {
                let values = lanes.load(&placed.values[i..]);
                below |= lanes.below_mask(values, lanes.splat(bound)) << i;
            }
            if len < CHUNK {
                below &= (1 << len) - 1;
            }
            let mut places = [0; CHUNK];
            let count = lanes.places(below, 0, &mut places);
            for place in &places[..count] {
                let place = *place as usize % CHUNK;
                let slot = &mut row[placed.slots[place] as usize];
                *slot = (*slot).min(placed.values[place]);
            }
        }
    }
}

#[inline(always)]
fn greatest(row: &[u32]) -> u32 {
    let mut greatest = 0;
    for slot in row {
        greatest = greatest.max(*slot);
    }
    greatest
}

/// Lists the empty slots, without an unpredictable branch.
#[allow(clippy::cast_possible_truncation, reason = "slots fit 32 bits")]
#[inline(always)]
fn list_empty(row: &[u32], empty: &mut Vec<u32>) {
    empty.resize(row.len(), 0);
    let mut count = 0;
    for (k, slot) in row.iter().enumerate() {
        empty[count] = k as u32;
        count += usize::from(*slot == u32::MAX);
    }
    empty.truncate(count);
}

/// `fast`: the coefficients of the rounds, then those of the slots, as 32-bit words.
pub(crate) struct Fast {
    a: Vec<u32>,
    b: Vec<u32>,
}

impl Fast {
    #[allow(clippy::cast_possible_truncation, reason = "coefficients fit 32 bits")]
    pub(crate) fn new(a: &[u64], b: &[u64]) -> Self {
        let narrow = |wide: &[u64]| wide.iter().map(|c| *c as u32).collect();
        Fast {
            a: narrow(a),
            b: narrow(b),
        }
    }

    /// Signs one set that is not empty.
    pub(crate) fn sign(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        sign(isa, self, set, row);
    }
}

/// Vectors of permutations at a time.
const N: usize = 4;

impl Sketch for Fast {
    type Hash = u32;

    const ROUNDS: usize = fast::ROUNDS;

    fn above(round: usize) -> u32 {
        fast::above(round)
    }

    #[allow(clippy::cast_possible_truncation, reason = "slots fit 32 bits")]
    #[inline(always)]
    fn place<L: Lanes>(
        &self,
        lanes: L,
        round: usize,
        slots: usize,
        chunk: &[u32; CHUNK],
        len: usize,
        placed: &mut Placed,
    ) {
        let (a, b) = (lanes.splat(self.a[round]), lanes.splat(self.b[round]));
        let (factor, above) = (lanes.splat(slots as u32), lanes.splat(fast::above(round)));
        let bits = slots.trailing_zeros();
        let is_power = slots.is_power_of_two() && slots > 1;
        for i in (0..len).step_by(L::COUNT) {
            let m = lanes.add(lanes.mul(a, lanes.load(&chunk[i..])), b);
            let m = fmix32_lanes(lanes, m);
            let (u, slot) = if is_power {
                (lanes.shift_left(m, bits), lanes.shift_right(m, 32 - bits))
            } else {
                lanes.mul_wide(m, factor)
            };
            let value = lanes.xor(above, lanes.shift_right(u, 32 - fast::SHIFT));
            lanes.store(slot, &mut placed.slots[i..]);
            lanes.store(value, &mut placed.values[i..]);
        }
    }

    #[inline(always)]
    fn mix<L: Lanes>(&self, lanes: L, tile: &[u32], mixed: &mut [u32; TILE]) {
        mix(lanes, tile, mixed);
    }

    fn permutations(&self) -> (&[u32], &[u32]) {
        (&self.a[fast::ROUNDS..], &self.b[fast::ROUNDS..])
    }

    fn block<L: Lanes>() -> usize {
        N * L::COUNT
    }

    #[inline(always)]
    fn least<L: Lanes>(lanes: L, block: &Block<u32>, count: usize, mixed: &[u32]) -> [u32; BLOCK] {
        const { assert!(N * L::COUNT <= BLOCK) }
        let mut low = [u32::MAX; BLOCK];
        let zero = lanes.splat(0);
        let mut by = [(zero, zero); N];
        for (i, by) in by.iter_mut().enumerate() {
            *by = (
                lanes.load(&block.a[i * L::COUNT..]),
                lanes.load(&block.b[i * L::COUNT..]),
            );
        }
        if count <= L::COUNT {
            lower_block::<L, Affine32<false>, 1>(lanes, [by[0]], mixed, &mut low);
        } else {
            lower_block::<L, Affine32<false>, N>(lanes, by, mixed, &mut low);
        }
        for low in &mut low {
            *low = fast::above(fast::ROUNDS) | *low >> (32 - fast::SHIFT);
        }
        low
    }
}

/// R-MinHash.
pub(crate) struct RMinHash {
    a: Vec<u64>,
    b: Vec<u64>,
}

impl RMinHash {
    pub(crate) fn new(a: &[u64], b: &[u64]) -> Self {
        RMinHash {
            a: a.to_vec(),
            b: b.to_vec(),
        }
    }

    /// Signs one set that is not empty.
    pub(crate) fn sign(&self, isa: Isa, set: &[u64], row: &mut [u32]) {
        sign(isa, self, set, row);
    }
}

impl Sketch for RMinHash {
    type Hash = u64;

    const ROUNDS: usize = rminhash::ROUNDS;

    fn above(round: usize) -> u32 {
        rminhash::above(round)
    }

    #[inline(always)]
    fn place<L: Lanes>(
        &self,
        lanes: L,
        round: usize,
        slots: usize,
        chunk: &[u64; CHUNK],
        len: usize,
        placed: &mut Placed,
    ) {
        let key = rminhash::round_key(self.b[0], round);
        let keys = lanes.splat64(key);
        let above = lanes.splat64(u64::from(rminhash::above(round)) << 32);
        let (factor, low) = (lanes.splat64(slots as u64), lanes.splat64(u32::MAX.into()));
        let mut least = low;
        for i in (0..len).step_by(L::COUNT / 2) {
            let m = splitmix64_lanes(lanes, lanes.xor64(keys, lanes.load64(&chunk[i..])));
            let product = lanes.mul_low_words(m, factor);
            least = lanes.min64(least, lanes.and64(product, low));
            let value = lanes.xor64(above, lanes.shift_right64(m, 2));
            lanes.store_high(product, &mut placed.slots[i..]);
            lanes.store_high(value, &mut placed.values[i..]);
        }
        let rejected = rminhash::rejected_below(slots as u64);
        if rejected == 0 {
            return;
        }
        // A slot may have to be drawn again, once in millions of shingles.
        let mut lows = [u64::MAX; CHUNK];
        lanes.store64(least, &mut lows);
        if lows.iter().any(|low| *low < rejected) {
            redraw(key, round, slots, chunk, placed);
        }
    }

    #[inline(always)]
    fn mix<L: Lanes>(&self, lanes: L, tile: &[u64], mixed: &mut [u64; TILE]) {
        let key = rminhash::fallback_key(self.a[0]);
        let count = L::COUNT / 2;
        let whole = tile.len() - tile.len() % count;
        for i in (0..whole).step_by(count) {
            let x = lanes.xor64(lanes.splat64(key), lanes.load64(&tile[i..]));
            lanes.store64(splitmix64_lanes(lanes, x), &mut mixed[i..]);
        }
        for i in whole..tile.len() {
            mixed[i] = rminhash::mix(tile[i] ^ key);
        }
    }

    fn permutations(&self) -> (&[u64], &[u64]) {
        (&self.a, &self.b)
    }

    fn block<L: Lanes>() -> usize {
        block64::<L>()
    }

    #[allow(clippy::cast_possible_truncation, reason = "30 bits are left")]
    #[inline(always)]
    fn least<L: Lanes>(lanes: L, block: &Block<u64>, _: usize, mixed: &[u64]) -> [u32; BLOCK] {
        const { assert!(block64::<L>() <= BLOCK) }
        let mut low = [u64::MAX; BLOCK];
        lower_block64::<L, Affine64<false>>(lanes, &block.a, &block.b, mixed, &mut low);
        let mut least = [0; BLOCK];
        for (least, low) in least.iter_mut().zip(low) {
            *least = rminhash::above(rminhash::ROUNDS) | (low >> 34) as u32;
        }
        least
    }
}

/// [`rminhash::mix`] in every lane.
#[inline(always)]
fn splitmix64_lanes<L: Lanes>(lanes: L, x: L::U64) -> L::U64 {
    let z = lanes.add64(x, lanes.splat64(rminhash::INCREMENT));
    let z = lanes.xor64(z, lanes.shift_right64(z, 30));
    let z = lanes.mul64(z, lanes.splat64(rminhash::FIRST));
    let z = lanes.xor64(z, lanes.shift_right64(z, 27));
    let z = lanes.mul64(z, lanes.splat64(rminhash::SECOND));
    lanes.xor64(z, lanes.shift_right64(z, 31))
}

#[allow(clippy::cast_possible_truncation, reason = "slots fit 32 bits")]
#[cold]
fn redraw(key: u64, round: usize, slots: usize, chunk: &[u64; CHUNK], placed: &mut Placed) {
    for (i, x) in chunk.iter().enumerate() {
        let (slot, value) = rminhash::slot_and_value(rminhash::mix(x ^ key), round, slots);
        (placed.slots[i], placed.values[i]) = (slot as u32, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inverse of [`rminhash::mix`].
    fn unmix(mixed: u64) -> u64 {
        let unshift = |z: u64, bits: u32| (0..64 / bits).fold(z, |x, _| z ^ x >> bits);
        let inverse = |factor: u64| {
            let step = |x: u64, _| x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x)));
            (0..5).fold(factor, step)
        };
        let z = unshift(mixed, 31).wrapping_mul(inverse(rminhash::SECOND));
        let z = unshift(z, 27).wrapping_mul(inverse(rminhash::FIRST));
        unshift(z, 30).wrapping_sub(rminhash::INCREMENT)
    }

    /// Shingles whose slot must be drawn again, which random ones never are.
    #[test]
    fn redrawn_slots_match_the_definition() {
        let (a, b) = rminhash::draw(5, 100);
        let key = rminhash::round_key(b[0], 0);
        assert_eq!(unmix(rminhash::mix(77)), 77);
        // The low halves of their products with 100 are 0, 100 and 4. Those below 2^32 mod 100 = 96 are rejected.
        let mixed = [3 << 32, 4 << 32 | 1, 5 << 32 | 42_949_673];
        let set = mixed.map(|m| unmix(m) ^ key);
        let mut expected = vec![u32::MAX; 100];
        rminhash::lower(&a, &b, &set, &mut expected);
        for isa in Isa::available() {
            let mut row = vec![0; 100];
            RMinHash::new(&a, &b).sign(*isa, &set, &mut row);
            assert_eq!(row, expected, "{isa}");
        }
    }
}
