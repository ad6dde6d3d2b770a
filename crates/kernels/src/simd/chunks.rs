//! Signing by chunks: a cheap key per shingle and permutation, and the exact values of the chunks that can hold the least.
//!
//! The exact value of a shingle costs 9 to 16 instructions for 16 lanes, and a minimum needs it of one shingle only. So the
//! loop over all shingles computes *keys* of 16 bits, and keeps the least key of each chunk of shingles. Then the chunk of
//! the least key is evaluated exactly, shingles in lanes, and so is each other chunk that can hold the least value.
//!
//! Keys have nearly the order of values ([`super::keys`] says how): a key is the value's place plus an error between 0 and
//! `reach + 1`, and errors under one permutation differ by less than `reach`.
//!
//! 1. If value v is at most value w and neither key wraps, key of v < key of w + reach.
//! 2. A key wraps where the place is in the last `reach + 1` units, and what it wraps to is at most `reach`. So a key that is at
//!    most `reach` says nothing, and a chunk whose least key is greater has no key that wrapped.
//! 3. Let m be the least key of the chunks of the second kind. The least value is in one of them with a key less than `m + reach`,
//!    or in a chunk whose least key says nothing. All of these are evaluated.
//! 4. Evaluated are *raw* values. Some are their value plus one except where they are below 8; a least raw value below 8 is computed
//!    anew from the whole set. Else all raw values that were evaluated are in the order of values, the least one among them.
//!
//! **Repeats.** Shingles that are in several chunks make the least key of several, each evaluated. Where that would be more than
//! 2.5 chunks a permutation, as in the lines of one phrase, the set's distinct shingles are found first.
//!
//! **affine32 is not signed by chunks.** Its key is that of mersenne61, 3.5 instructions for 16 lanes, and its value costs 4. On a
//! Xeon with AVX2 or AVX-512, chunks were .86 times as fast at 200 shingles and at most 1.07 times at any length. (The portable
//! form, without a multiplication of 32 bits, was 2.4 times as fast at 1,000 shingles; every CPU with AVX2 has that.)

#![allow(
    clippy::needless_range_loop,
    reason = "an index is that of a vector in several arrays of registers"
)]

use std::cell::RefCell;
use std::marker::PhantomData;

use super::coefficients::Pair;
use super::isa::{ByIsa, Isa};
use super::kernel::Kernel;
use super::keys::{Keyed, Number, Prepared, lower_keys};
use super::lanes::Lanes;

/// Chunks in a piece of a set. Longer sets are signed in pieces, whose keys stay in the first-level cache.
const CHUNKS: usize = 64;

/// Permutations in the largest block.
const BLOCK: usize = 128;

/// Numbers of 32 or 64 bits, and vectors of them.
pub(crate) trait Lane: Number {
    type Vector<L: Lanes>: Copy;

    const MAX: Self;

    /// Numbers in a vector.
    fn count<L: Lanes>() -> usize;

    fn splat<L: Lanes>(lanes: L, number: Self) -> Self::Vector<L>;

    fn least<L: Lanes>(lanes: L, vector: Self::Vector<L>) -> Self;

    /// The least number of each vector.
    fn least_each<L: Lanes>(lanes: L, vectors: &[Self::Vector<L>; 8]) -> [Self; 8];

    /// A number whose upper bits differ between different numbers.
    fn hash(self) -> u64;

    /// Lends the memory of this thread. What older sets left there is overwritten.
    fn with_scratch(run: impl FnOnce(&mut Scratch<Self>));
}

macro_rules! lane {
    ($number:ty, $vector:ident, $splat:ident, $least:ident, $least_each:ident) => {
        impl Lane for $number {
            type Vector<L: Lanes> = L::$vector;

            const MAX: $number = <$number>::MAX;

            #[inline(always)]
            fn count<L: Lanes>() -> usize {
                L::COUNT * 4 / size_of::<Self>()
            }

            #[inline(always)]
            fn splat<L: Lanes>(lanes: L, number: $number) -> L::$vector {
                lanes.$splat(number)
            }

            #[inline(always)]
            fn least<L: Lanes>(lanes: L, vector: L::$vector) -> $number {
                lanes.$least(vector)
            }

            #[inline(always)]
            fn least_each<L: Lanes>(lanes: L, vectors: &[L::$vector; 8]) -> [$number; 8] {
                lanes.$least_each(vectors)
            }

            fn hash(self) -> u64 {
                u64::from(self).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            }

            fn with_scratch(run: impl FnOnce(&mut Scratch<Self>)) {
                thread_local! {
                    static SCRATCH: RefCell<Scratch<$number>> = RefCell::new(Scratch::new());
                }
                SCRATCH.with_borrow_mut(run);
            }
        }
    };
}

lane!(u32, U32, splat, least, least_each);
lane!(u64, U64, splat64, least64, least_each64);

/// Memory for a piece of a set and a block of permutations.
pub(crate) struct Scratch<N: Number> {
    prepared: Prepared<N>,
    /// The least key of each chunk: a row per chunk.
    keys: Vec<u16>,
    /// The chunk that holds the least key of each permutation.
    chunks: [u16; BLOCK],
    /// Greater keys do not belong to the least value.
    limits: [u16; BLOCK],
    numbers: Vec<N>,
    distinct: Vec<N>,
}

impl<N: Number> Scratch<N> {
    fn new() -> Self {
        Scratch {
            prepared: Prepared::new(),
            keys: vec![0; CHUNKS * BLOCK],
            chunks: [0; BLOCK],
            limits: [0; BLOCK],
            numbers: Vec::new(),
            distinct: Vec::new(),
        }
    }
}

/// A family whose least values can be found by chunks.
pub(crate) trait ByChunks: Keyed<Number: Lane> + Send + Sync {
    /// Lengths of sets from which chunks are faster, also where a set holds each shingle twice or few distinct ones, on a
    /// Xeon of 3.9 GHz with 40 and 128 permutations: `benches/thresholds.rs` measures them. NEON's are guesses.
    const FROM: ByIsa;

    /// The shingles as the permutations take them.
    #[inline(always)]
    fn mixed<'a>(shingles: &'a [Self::Number], _: &'a mut Vec<Self::Number>) -> &'a [Self::Number] {
        shingles
    }

    /// The coefficients of raw values, padded.
    fn pairs(&self) -> &[Pair];

    /// The least raw values of a chunk under a permutation, in each lane that of some shingles. C is a multiple of the lanes.
    fn least<L: Lanes, const C: usize>(
        lanes: L,
        by: &Pair,
        chunk: &[Self::Number; C],
    ) -> <Self::Number as Lane>::Vector<L>;
}

/// Sets of this length and more are signed by chunks of 16 shingles rather than of 8, where these fill whole vectors.
const MIDDLE: usize = 320;

/// Sets of this length and more are signed by chunks of 32 shingles.
const LONG: usize = 1025;

/// Whether a set is signed faster by chunks. Keys of fewer permutations than two vectors leave lanes empty, so that they take
/// longer sets to win.
pub(super) fn pays_off<F: ByChunks>(isa: Isa, shingles: usize, permutations: usize) -> bool {
    let lanes = isa.run(Count);
    let from = match permutations {
        few if few < 4 * lanes => 4 * isa.choose(F::FROM),
        _ => isa.choose(F::FROM),
    };
    shingles >= from && permutations > lanes
}

/// The 32-bit lanes of a vector: so many permutations or fewer fill at most half a vector of keys.
struct Count;

impl Kernel for Count {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> usize {
        L::COUNT
    }
}

/// Computes the raw minima of a set that is not empty, by chunks or by a loop that evaluates all shingles, as is faster.
#[inline]
pub(super) fn lower_or<F: ByChunks>(
    isa: Isa,
    family: &F,
    set: &[F::Number],
    row: &mut [F::Number],
    evaluate_all: impl FnOnce(Isa, &F, &[F::Number], &mut [F::Number]),
) {
    if pays_off::<F>(isa, set.len(), row.len()) {
        lower(isa, family, set, row);
    } else {
        evaluate_all(isa, family, set, row);
    }
}

/// Computes the raw minima of a set of at least 16 shingles.
pub(super) fn lower<F: ByChunks>(isa: Isa, family: &F, set: &[F::Number], row: &mut [F::Number]) {
    row.fill(F::Number::MAX);
    F::Number::with_scratch(|scratch| {
        isa.run(LowerRow {
            family,
            set,
            row,
            scratch,
        });
    });
}

struct LowerRow<'a, F: ByChunks> {
    family: &'a F,
    set: &'a [F::Number],
    row: &'a mut [F::Number],
    scratch: &'a mut Scratch<F::Number>,
}

impl<F: ByChunks> Kernel for LowerRow<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        match chunk_length::<L, F>(self.set.len()) {
            8 => self.run_chunks::<L, 8>(lanes),
            16 => self.run_chunks::<L, 16>(lanes),
            _ => self.run_chunks::<L, 32>(lanes),
        }
    }
}

#[inline(always)]
fn chunk_length<L: Lanes, F: ByChunks>(shingles: usize) -> usize {
    match shingles {
        ..MIDDLE if F::Number::count::<L>() <= 8 => 8,
        ..LONG => 16,
        _ => 32,
    }
}

/// The share of shingles in the chunk of a piece that is always evaluated; `None` if a set is not signed by chunks.
pub(super) fn evaluated<F: ByChunks>(
    isa: Isa,
    shingles: usize,
    permutations: usize,
) -> Option<f64> {
    pays_off::<F>(isa, shingles, permutations).then(|| {
        let chunk = isa.run(ChunkLength::<F>(shingles, PhantomData));
        chunk as f64 / shingles.min(CHUNKS * chunk) as f64
    })
}

struct ChunkLength<F>(usize, PhantomData<F>);

impl<F: ByChunks> Kernel for ChunkLength<F> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> usize {
        chunk_length::<L, F>(self.0)
    }
}

impl<F: ByChunks> LowerRow<'_, F> {
    #[inline(always)]
    fn run_chunks<L: Lanes, const C: usize>(self, lanes: L) {
        let LowerRow {
            family,
            set,
            row,
            scratch,
        } = self;
        let (mut numbers, mut kept) = (
            std::mem::take(&mut scratch.numbers),
            std::mem::take(&mut scratch.distinct),
        );
        let mut rest = set;
        let mut has_repeats = false;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(piece_of(rest.len(), C));
            rest = after;
            let piece = F::mixed(piece, &mut numbers);
            let mut may_stop = !has_repeats;
            // One call of `lower_piece`, which is inlined with all that it calls: a second one is a second copy of it.
            loop {
                has_repeats = !may_stop && find_distinct(piece, C, &mut kept);
                let piece = if has_repeats { &kept } else { piece };
                if lower_piece::<L, F, C>(lanes, family, piece, row, scratch, may_stop) {
                    break;
                }
                may_stop = false;
            }
        }
        (scratch.numbers, scratch.distinct) = (numbers, kept);
    }
}

/// The length of the next piece of `rest` shingles: no piece is shorter than a chunk.
fn piece_of(rest: usize, chunk: usize) -> usize {
    let most = CHUNKS * chunk;
    match rest.saturating_sub(most) {
        0 => rest,
        left if left < chunk => most - chunk,
        _ => most,
    }
}

/// Lowers a row by a piece of a set. If `may_stop`, it stops and returns false where many chunks would be evaluated.
#[inline(always)]
fn lower_piece<L: Lanes, F: ByChunks, const C: usize>(
    lanes: L,
    family: &F,
    piece: &[F::Number],
    row: &mut [F::Number],
    scratch: &mut Scratch<F::Number>,
    may_stop: bool,
) -> bool {
    scratch.prepared.prepare::<L>(family.keys(), piece);
    let lanes16 = 2 * L::COUNT;
    let mut first = 0;
    while first < row.len() {
        let vectors = (row.len() - first).div_ceil(lanes16);
        // As many vectors of permutations at a time as fit the registers.
        let count = match vectors {
            4.. if L::REGISTERS > 8 => 4,
            2.. if L::REGISTERS > 8 => 2,
            _ => 1,
        };
        let end = row.len().min(first + count * lanes16);
        let row = &mut row[first..end];
        let block = PermutationBlock::<F> {
            family,
            first,
            piece,
            may_stop,
        };
        let is_done = match count {
            4 => block.lower::<L, C, 4>(lanes, row, scratch),
            2 => block.lower::<L, C, 2>(lanes, row, scratch),
            _ => block.lower::<L, C, 1>(lanes, row, scratch),
        };
        if !is_done {
            return false;
        }
        first = end;
    }
    true
}

/// A block of permutations, from `first` on, of a piece of a set.
struct PermutationBlock<'a, F: ByChunks> {
    family: &'a F,
    first: usize,
    piece: &'a [F::Number],
    may_stop: bool,
}

impl<F: ByChunks> PermutationBlock<'_, F> {
    /// Lowers a row, by N vectors of permutations at a time.
    #[inline(always)]
    fn lower<L: Lanes, const C: usize, const N: usize>(
        &self,
        lanes: L,
        row: &mut [F::Number],
        scratch: &mut Scratch<F::Number>,
    ) -> bool {
        let width = N * 2 * L::COUNT;
        let Scratch {
            prepared,
            keys,
            chunks,
            limits,
            ..
        } = scratch;
        let keys = &mut keys[..self.piece.len().div_ceil(C) * width];
        let by = self.family.keys();
        lower_keys::<L, F, C, N>(lanes, by, self.first, prepared, keys);
        let flagged = select::<L, N>(lanes, by.reach::<L, F>(), keys, row.len(), chunks, limits);

        if self.may_stop && has_many_near::<L, N>(lanes, keys, limits, flagged, row.len()) {
            return false;
        }

        // The last slots may be fewer than eight: all go by way of a copy, so that there is one call to inline.
        for (i, row) in row.chunks_mut(8).enumerate() {
            let mut slots = [F::Number::MAX; 8];
            slots[..row.len()].copy_from_slice(row);
            self.lower_slots::<L, C>(lanes, 8 * i, chunks, &mut slots);
            row.copy_from_slice(&slots[..row.len()]);
        }

        let pairs = self.family.pairs();
        for i in 0..N {
            if flagged[i] == 0 {
                continue;
            }
            let at = i * 2 * L::COUNT;
            let limit = lanes.load16(&limits[at..]);
            for (number, keys) in keys.chunks_exact(width).enumerate() {
                let far = lanes.below_mask16(limit, lanes.load16(&keys[at..]));
                let mut near = !far & flagged[i];
                while near != 0 {
                    let k = at + near.trailing_zeros() as usize;
                    near &= near - 1;
                    if usize::from(chunks[k]) != number {
                        let chunk = self.chunk::<C>(number);
                        let least = F::least(lanes, &pairs[self.first + k], chunk);
                        row[k] = row[k].min(F::Number::least(lanes, least));
                    }
                }
            }
        }
        true
    }

    /// Lowers the slots of eight permutations by the chunks of their least keys.
    #[inline(always)]
    fn lower_slots<L: Lanes, const C: usize>(
        &self,
        lanes: L,
        from: usize,
        chunks: &[u16; BLOCK],
        slots: &mut [F::Number; 8],
    ) {
        let pairs = &self.family.pairs()[self.first + from..][..8];
        let chunks = &chunks[from..from + 8];
        // All chunks first: checks of bounds among the loads would keep the compiler from broadcasting as it loads.
        let mut of = [self.chunk::<C>(0); 8];
        for j in 0..8 {
            of[j] = self.chunk(usize::from(chunks[j]));
        }
        let mut least = [F::Number::splat(lanes, F::Number::MAX); 8];
        for j in 0..8 {
            least[j] = F::least(lanes, &pairs[j], of[j]);
        }
        let least = F::Number::least_each(lanes, &least);
        for j in 0..8 {
            slots[j] = slots[j].min(least[j]);
        }
    }

    /// The last chunk begins where it is whole.
    #[inline(always)]
    fn chunk<const C: usize>(&self, number: usize) -> &[F::Number; C] {
        let start = (number * C).min(self.piece.len() - C);
        self.piece[start..]
            .first_chunk()
            .unwrap_or_else(|| unreachable!())
    }
}

/// Finds for each permutation the chunk of the least key, and how far other keys matter. Returns one bit for each
/// permutation, of the first `count`, of which another chunk matters.
#[allow(clippy::cast_possible_truncation, reason = "a piece has few chunks")]
#[inline(always)]
fn select<L: Lanes, const N: usize>(
    lanes: L,
    reach: u16,
    keys: &[u16],
    count: usize,
    chunks: &mut [u16; BLOCK],
    limits: &mut [u16; BLOCK],
) -> [u64; N] {
    // A key that is at most `reach` says nothing. Less by one more than that, it is among the greatest numbers.
    let silent = reach + 1;
    let (minus, silent_keys) = (
        lanes.splat16(0u16.wrapping_sub(silent)),
        lanes.splat16(silent),
    );
    let most = lanes.splat16(u16::MAX);
    let mut flagged = [0; N];
    for i in 0..N {
        let at = i * 2 * L::COUNT;
        let (mut least, mut second, mut lowest) = (most, most, most);
        let mut chunk = lanes.splat16(0);
        for (number, keys) in keys.chunks_exact(N * 2 * L::COUNT).enumerate() {
            let key = lanes.load16(&keys[at..]);
            let past = lanes.add16(key, minus);
            let now = lanes.splat16(number as u16);
            chunk = lanes.where_below16(past, least, now, chunk);
            second = lanes.min16(second, lanes.max16(past, least));
            least = lanes.min16(least, past);
            lowest = lanes.min16(lowest, key);
        }
        // No sum wraps: beyond the greatest key there is none.
        let farthest = reach - 1;
        let least = lanes.min16(least, lanes.splat16(u16::MAX - silent - farthest));
        let to = lanes.add16(least, lanes.splat16(farthest));
        let limit = lanes.add16(to, lanes.splat16(silent));
        flagged[i] = !lanes.below_mask16(to, second) | lanes.below_mask16(lowest, silent_keys);
        let valid = count.saturating_sub(at).min(2 * L::COUNT);
        flagged[i] &= (1 << valid) - 1;
        lanes.store16(chunk, &mut chunks[at..]);
        lanes.store16(limit, &mut limits[at..]);
    }
    flagged
}

/// Whether more than 2.5 chunks a permutation would be evaluated.
#[inline(always)]
fn has_many_near<L: Lanes, const N: usize>(
    lanes: L,
    keys: &[u16],
    limits: &[u16; BLOCK],
    flagged: [u64; N],
    count: usize,
) -> bool {
    let several: u32 = flagged.iter().map(|bits| bits.count_ones()).sum();
    if 2 * several as usize <= count {
        return false;
    }
    let mut near = 0;
    for keys in keys.chunks_exact(N * 2 * L::COUNT) {
        for i in 0..N {
            let at = i * 2 * L::COUNT;
            let limit = lanes.load16(&limits[at..]);
            let far = lanes.below_mask16(limit, lanes.load16(&keys[at..]));
            near += (!far & flagged[i]).count_ones() as usize;
        }
    }
    2 * near > 5 * count
}

/// Finds the distinct shingles of a piece, and repeats one until there are `least`. Returns whether that is worth it: whether
/// they are less than three quarters.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a piece has less than 2^16 shingles"
)]
#[cold]
#[inline(never)]
fn find_distinct<N: Lane>(piece: &[N], least: usize, distinct: &mut Vec<N>) -> bool {
    let bits = (2 * piece.len()).next_power_of_two().trailing_zeros();
    // Places in `distinct`, plus one.
    let mut places = vec![0u16; 1 << bits];
    distinct.clear();
    for number in piece {
        let mut at = (number.hash() >> (64 - bits)) as usize;
        loop {
            match places[at] {
                0 => {
                    distinct.push(*number);
                    places[at] = distinct.len() as u16;
                    break;
                }
                place if distinct[usize::from(place) - 1] == *number => break,
                _ => at = (at + 1) % places.len(),
            }
        }
    }
    let is_worth_it = 4 * distinct.len() < 3 * piece.len();
    while distinct.len() < least {
        distinct.push(piece[0]);
    }
    is_worth_it
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "parts of numbers are meant"
)]
mod tests {
    use super::super::sign::{
        Affine64, Family32, Family64, Mersenne31, Mersenne61, Mersenne61Wide,
    };
    use super::*;
    use crate::scheme::{Draws, Family, P31, P61, Permutations, fmix64, mersenne61_wide};

    fn random(count: usize, seed: u64) -> Vec<u64> {
        (0..count as u64).map(|i| fmix64(seed << 40 | i)).collect()
    }

    /// Signs a set by chunks, whatever its length, and by the definition.
    fn compare(permutations: &Permutations, set: &[u64], what: &str) {
        let (a, b) = (permutations.a(), permutations.b());
        let narrow: Vec<u32> = set.iter().map(|x| *x as u32).collect();
        let is_narrow = matches!(
            permutations.family(),
            Family::Mersenne31 | Family::Mersenne61
        );
        let least = |k: usize| {
            if is_narrow {
                narrow
                    .iter()
                    .map(|x| permutations.value(k, (*x).into()))
                    .min()
            } else {
                set.iter().map(|x| permutations.value(k, *x)).min()
            }
        };
        let expected: Vec<u64> = (0..a.len()).filter_map(least).collect();
        for isa in Isa::available() {
            let mut row32 = vec![0; a.len()];
            let mut row64 = vec![0; a.len()];
            macro_rules! sign {
                ($family:expr, $set:expr, $row:expr) => {{
                    let family = $family;
                    lower(*isa, &family, $set, $row);
                    family.finish($set, $row);
                }};
            }
            match permutations.family() {
                Family::Mersenne31 => sign!(Mersenne31::new(a, b), &narrow, &mut row32),
                Family::Mersenne61 => sign!(Mersenne61::new(a, b), &narrow, &mut row32),
                Family::Affine64 => sign!(Affine64::new(a, b), set, &mut row64),
                _ => sign!(Mersenne61Wide::new(a, b), set, &mut row64),
            }
            if is_narrow {
                row64 = row32.iter().map(|slot| u64::from(*slot)).collect();
            }
            assert_eq!(row64, expected, "{:?} {isa} {what}", permutations.family());
        }
    }

    const FAMILIES: [Family; 4] = [
        Family::Mersenne31,
        Family::Mersenne61,
        Family::Mersenne61Wide,
        Family::Affine64,
    ];

    /// At the borders of chunks and of pieces, with rows that fill vectors of keys and do not.
    #[test]
    fn sets_of_any_length_equal_the_definition() {
        for family in FAMILIES {
            for num_perm in [1, 17, 33, 131] {
                let drawn = Permutations::draw(family, Draws::AllAThenAllB, 5, num_perm);
                for len in [
                    16, 17, 23, 24, 25, 63, 64, 65, 319, 320, 511, 512, 513, 520, 1023, 1024, 1025,
                    2047, 2048, 2049, 2079, 2080, 2081, 4100,
                ] {
                    compare(&drawn, &random(len, 7), &format!("{num_perm} {len}"));
                }
            }
        }
    }

    /// Shingles once in each chunk, so that all chunks have the same keys; few shingles; one; each twice.
    #[test]
    fn repeated_shingles_equal_the_definition() {
        for family in FAMILIES {
            let drawn = Permutations::draw(family, Draws::AllAThenAllB, 6, 70);
            for len in [16usize, 40, 100, 500, 1100, 3000] {
                for distinct in [1, 2, 8, 15, 16, 32, len.div_ceil(2)] {
                    let shingles = random(distinct, 8);
                    let set: Vec<u64> = shingles.iter().copied().cycle().take(len).collect();
                    compare(&drawn, &set, &format!("{distinct} in {len}"));
                }
            }
        }
    }

    /// Factors without lower bits give many shingles the same key.
    #[test]
    fn equal_keys_equal_the_definition() {
        for family in FAMILIES {
            let top = match family {
                Family::Mersenne31 => 30,
                Family::Affine64 => 63,
                _ => 60,
            };
            let factors: Vec<u64> = (0..=top)
                .map(|bit| 1 << bit | u64::from(family == Family::Affine64))
                .chain([0])
                .collect();
            let addends: Vec<u64> = random(factors.len(), 2)
                .iter()
                .map(|b| b >> (64 - top))
                .collect();
            let given = Permutations::from_coefficients(family, &factors, &addends).unwrap();
            for len in [16, 100, 1500] {
                compare(&given, &random(len, 3), &format!("random, {len}"));
                let ascending: Vec<u64> = (0..len as u64).collect();
                compare(&given, &ascending, &format!("ascending, {len}"));
            }
        }
    }

    /// Sets of two shingles, both among the greatest values: their keys wrap, or are the greatest keys that do not.
    #[test]
    fn sets_of_the_greatest_values_equal_the_definition() {
        for (family, range) in [
            (Family::Mersenne31, u128::from(P31)),
            (Family::Mersenne61, 1 << 32),
            (Family::Mersenne61Wide, 1 << 61),
            (Family::Affine64, 1 << 64),
        ] {
            let greatest = (range - 1) as u64;
            let a = (0x0234_5678_9ABC_DEF1 % greatest) | 1;
            for addend in [0, greatest / 3, greatest - 2] {
                let given =
                    Permutations::from_coefficients(family, &[a; 17], &[addend; 17]).unwrap();
                let place = |x: u64| (u128::from(given.value(0, x)) << 16) / range;
                let shingles: Vec<u64> = random(2_000_000, 1)
                    .into_iter()
                    .filter(|x| place(*x) >= 65_522)
                    .take(60)
                    .collect();
                assert!(shingles.len() > 50, "{}", shingles.len());
                for (i, x) in shingles.iter().enumerate() {
                    for y in &shingles[..i] {
                        let mut set = [*x; 48];
                        set[20..].fill(*y);
                        compare(&given, &set, &format!("{addend} {x} {y}"));
                    }
                }
            }
        }
    }

    /// The least value in another chunk than the least key, whose key is as much greater as the proof allows: of the one
    /// shingle nothing is left out, of the other one nearly five units. Random shingles are never so far apart.
    #[test]
    fn corners_of_the_proof_equal_the_definition() {
        let number = |halves: [u64; 4]| {
            halves
                .iter()
                .rev()
                .fold(0, |number, half| number << 16 | half)
        };
        let a = number([0xFFF8, 0xFF01, 0x1234, 0x5678]) / 8;
        let mut found = 0;
        for addend in [0, 1, (1 << 44) + 5, P61 - 1, P61 - (1 << 45)] {
            let value = |x: u64| mersenne61_wide(a, addend, x);
            let place = |x: u64| value(x) >> 45;
            // The upper half of x moves places by multiples of eight units, the one below by odd numbers of units.
            let at = |lower: u64, from: u64| {
                let all = (0..1u64 << 16).map(|upper| upper << 48 | lower);
                all.into_iter()
                    .find(|x| (from..from + 8).contains(&place(*x)))
            };
            let fillers = random(2_000, 1).into_iter();
            let fillers: Vec<u64> = fillers
                .filter(|x| (9_000..60_000).contains(&place(*x)))
                .collect();
            for start in [20, 500, 2_000] {
                let least = at(0, start).unwrap();
                for third in 1..=16 {
                    let other = at(number([0xFFFF, 0xFEFF, third, 0]), place(least) / 8 * 8);
                    let other = other.filter(|x| place(*x) == place(least)).into_iter();
                    for other in other.filter(|x| value(*x) > value(least)) {
                        let mut set = fillers[..200].to_vec();
                        (set[3], set[150]) = (other, least);
                        let given = Permutations::from_coefficients(
                            Family::Mersenne61Wide,
                            &[a; 33],
                            &[addend; 33],
                        );
                        compare(&given.unwrap(), &set, &format!("{addend} {start} {third}"));
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 10, "{found}");
    }
}
