//! The signing kernels: one loop, and per family the value of a shingle under a vector of permutations.
//!
//! N vectors of permutations at a time stay in registers while the shingles stream past, so that no minimum
//! leaves its register before the end of a tile. Permutations are padded with some whose values are dropped.
//! Between tiles a slot holds its minimum *raw*, in the form that is cheapest in the loop;
//! [`Family32::finish`] turns it into a slot. A raw minimum starts at the greatest number, so the first shingle
//! replaces it.
//!
//! Each kernel runs within a tenth of what the ports of the CPU allow (results/). For long sets, families whose values are
//! dear to compute go another way: `chunks`.

use super::chunks::{self, ByChunks};
use super::coefficients::{Coefficients, PADDING, Pair};
use super::isa::{ByIsa, Isa};
use super::kernel::Kernel;
use super::keys::{Keyed, Keys, Range};
use super::lanes::Lanes;
use crate::scheme::{P31, P61, fmix32, fmix64, mersenne61, mersenne61_wide};

/// Shingles per tile: a tile stays in the first-level cache while all permutations pass.
const TILE: usize = 512;

/// A kernel's form of a family that permutes 32-bit shingle hashes.
#[doc(hidden)]
pub trait Family32: Send + Sync + Sized {
    /// The constants of one vector of permutations, kept in registers.
    type Constants<L: Lanes>: Copy;

    /// Registers per vector of permutations in the loop, its minimum included.
    const REGISTERS: usize;

    /// Whether `fmix32` mixes the shingles first.
    const IS_MIXED: bool;

    /// The coefficients in the kernel's form.
    fn coefficients(&self) -> &Coefficients;

    /// The constants of the vector that begins at permutation `first`.
    fn constants<L: Lanes>(lanes: L, by: &Coefficients, first: usize) -> Self::Constants<L>;

    fn value<L: Lanes>(lanes: L, by: &Self::Constants<L>, x: L::U32) -> L::U32;

    /// Computes the raw minima of a set that is not empty.
    #[inline]
    fn lower(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        lower32(isa, self, set, row);
    }

    /// Turns the raw minima of a set that is not empty into slots.
    fn finish(&self, set: &[u32], row: &mut [u32]);
}

/// Signs one set that is not empty: writes the minimum of each permutation to its slot.
#[inline]
pub(crate) fn sign32<F: Family32>(isa: Isa, family: &F, set: &[u32], row: &mut [u32]) {
    family.lower(isa, set, row);
    family.finish(set, row);
}

/// The raw minima of a set.
#[inline]
pub(super) fn lower32<F: Family32>(isa: Isa, family: &F, set: &[u32], row: &mut [u32]) {
    row.fill(u32::MAX);
    isa.run(Lower { family, set, row });
}

struct Lower<'a, F> {
    family: &'a F,
    set: &'a [u32],
    row: &'a mut [u32],
}

impl<F: Family32> Kernel for Lower<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut mixed = [0; TILE];
        for tile in self.set.chunks(TILE) {
            let tile = if F::IS_MIXED {
                mix(lanes, tile, &mut mixed);
                &mixed[..tile.len()]
            } else {
                tile
            };
            // As many vectors of permutations at a time as fit the registers.
            match L::REGISTERS / F::REGISTERS {
                0..4 => lower_blocks::<L, F, 2>(lanes, self.family.coefficients(), tile, self.row),
                4..8 => lower_blocks::<L, F, 4>(lanes, self.family.coefficients(), tile, self.row),
                _ => lower_blocks::<L, F, 8>(lanes, self.family.coefficients(), tile, self.row),
            }
        }
    }
}

/// Lowers each raw minimum of `row` by the shingles of a tile: blocks of N vectors, then single ones.
#[inline(always)]
fn lower_blocks<L: Lanes, F: Family32, const N: usize>(
    lanes: L,
    by: &Coefficients,
    tile: &[u32],
    row: &mut [u32],
) {
    let whole = row.len() - row.len() % (N * L::COUNT);
    let (blocks, rest) = row.split_at_mut(whole);
    for (i, row) in blocks.chunks_exact_mut(N * L::COUNT).enumerate() {
        let by = constants::<L, F, N>(lanes, by, i * N * L::COUNT);
        lower_block::<L, F, N>(lanes, by, tile, row);
    }
    for (i, row) in rest.chunks_mut(L::COUNT).enumerate() {
        let by = constants::<L, F, 1>(lanes, by, whole + i * L::COUNT);
        if row.len() == L::COUNT {
            lower_block::<L, F, 1>(lanes, by, tile, row);
        } else {
            let mut padded = [u32::MAX; PADDING];
            padded[..row.len()].copy_from_slice(row);
            lower_block::<L, F, 1>(lanes, by, tile, &mut padded);
            row.copy_from_slice(&padded[..row.len()]);
        }
    }
}

/// The constants of N vectors of permutations from permutation `first` on.
#[inline(always)]
fn constants<L: Lanes, F: Family32, const N: usize>(
    lanes: L,
    by: &Coefficients,
    first: usize,
) -> [F::Constants<L>; N] {
    // No closure here: one that is not inlined is compiled for the baseline.
    let mut constants = [F::constants(lanes, by, first); N];
    for (i, constants) in constants.iter_mut().enumerate() {
        *constants = F::constants(lanes, by, first + i * L::COUNT);
    }
    constants
}

#[inline(always)]
pub(super) fn lower_block<L: Lanes, F: Family32, const N: usize>(
    lanes: L,
    by: [F::Constants<L>; N],
    tile: &[u32],
    row: &mut [u32],
) {
    let mut low = [lanes.load(row); N];
    for i in 1..N {
        low[i] = lanes.load(&row[i * L::COUNT..]);
    }
    for x in tile {
        let x = lanes.splat(*x);
        for i in 0..N {
            low[i] = lanes.min(low[i], F::value(lanes, &by[i], x));
        }
    }
    for i in 0..N {
        lanes.store(low[i], &mut row[i * L::COUNT..]);
    }
}

/// `fmix32` in every lane.
#[inline(always)]
pub(super) fn fmix32_lanes<L: Lanes>(lanes: L, h: L::U32) -> L::U32 {
    let (first, second) = (lanes.splat(0x85EB_CA6B), lanes.splat(0xC2B2_AE35));
    let h = lanes.mul(lanes.xor(h, lanes.shift_right(h, 16)), first);
    let h = lanes.mul(lanes.xor(h, lanes.shift_right(h, 13)), second);
    lanes.xor(h, lanes.shift_right(h, 16))
}

/// `fmix32` of each shingle.
#[inline(always)]
pub(super) fn mix<L: Lanes>(lanes: L, tile: &[u32], mixed: &mut [u32]) {
    let whole = tile.len() - tile.len() % L::COUNT;
    for i in (0..whole).step_by(L::COUNT) {
        lanes.store(fmix32_lanes(lanes, lanes.load(&tile[i..])), &mut mixed[i..]);
    }
    for i in whole..tile.len() {
        mixed[i] = fmix32(tile[i]);
    }
}

/// `affine32` and, unmixed, `affine32-even`: a product, a sum, a minimum.
pub(crate) struct Affine32<const IS_MIXED: bool>(Coefficients);

impl<const IS_MIXED: bool> Affine32<IS_MIXED> {
    pub(crate) fn new(a: &[u64], b: &[u64]) -> Self {
        Affine32(Coefficients::new(a.iter().copied(), b.iter().copied()))
    }
}

impl<const IS_MIXED: bool> Family32 for Affine32<IS_MIXED> {
    type Constants<L: Lanes> = (L::U32, L::U32);

    const REGISTERS: usize = 3;
    const IS_MIXED: bool = IS_MIXED;

    fn coefficients(&self) -> &Coefficients {
        &self.0
    }

    #[inline(always)]
    fn constants<L: Lanes>(lanes: L, by: &Coefficients, first: usize) -> (L::U32, L::U32) {
        (
            lanes.load(&by.a_low[first..]),
            lanes.load(&by.b_low[first..]),
        )
    }

    #[inline(always)]
    fn value<L: Lanes>(lanes: L, by: &Self::Constants<L>, x: L::U32) -> L::U32 {
        lanes.add(lanes.mul(by.0, x), by.1)
    }

    fn finish(&self, _: &[u32], _: &mut [u32]) {}
}

/// `mersenne31` at the cost of multiply-shift.
///
/// With `A = ceil(2^64 a / p)` and `B = ceil(2^64 b / p)`, the high half f of `A*x + B mod 2^64` is within 1 of
/// `2^32 v / p`, where v is the value `(a*x + b) mod p`. A step of v changes that by more than 2, so the least f
/// belongs to the least v, and v is `f*p / 2^32` rounded. x need not be reduced.
#[doc(hidden)]
#[derive(Debug)]
pub struct Mersenne31 {
    scaled: Coefficients,
    keys: Keys,
}

impl Mersenne31 {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "c < p, so it is below 2^64"
    )]
    #[doc(hidden)]
    pub fn new(a: &[u64], b: &[u64]) -> Self {
        let scale = |c: &u64| (u128::from(*c) << 64).div_ceil(u128::from(P31)) as u64;
        Mersenne31 {
            scaled: Coefficients::new(a.iter().map(scale), b.iter().map(scale)),
            keys: Keys::new::<Self>(Range::P31, a, b, true),
        }
    }
}

impl Family32 for Mersenne31 {
    type Constants<L: Lanes> = L::Affine;

    const REGISTERS: usize = 6;
    const IS_MIXED: bool = false;

    fn coefficients(&self) -> &Coefficients {
        &self.scaled
    }

    #[inline(always)]
    fn constants<L: Lanes>(lanes: L, by: &Coefficients, first: usize) -> L::Affine {
        by.affine(lanes, first)
    }

    #[inline(always)]
    fn value<L: Lanes>(lanes: L, by: &L::Affine, x: L::U32) -> L::U32 {
        lanes.mul_add(by, x).1
    }

    #[inline]
    fn lower(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        chunks::lower_or(isa, self, set, row, lower32);
    }

    #[allow(clippy::cast_possible_truncation, reason = "values are below 2^31")]
    fn finish(&self, _: &[u32], row: &mut [u32]) {
        for slot in row {
            *slot = ((u64::from(*slot) * P31 + (1 << 31)) >> 32) as u32;
        }
    }
}

/// The place of a value v is `2^16 v / p`, the fraction of `(a*x + b) / p`, and the factor of a key is `2^48 a / p` rounded
/// down. Left out are two fractions, a product that is less than one unit, and what was rounded off, times x, which is less
/// than one unit, too.
impl Keyed for Mersenne31 {
    type Number = u32;

    const HALVES: usize = 3;
    const REACH: u16 = 4;

    fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl ByChunks for Mersenne31 {
    const FROM: ByIsa = ByIsa {
        portable: 32,
        avx2: 136,
        avx512: 208,
        avx512vnni: 208,
        neon: 100,
    };

    fn pairs(&self) -> &[Pair] {
        &self.scaled.pairs
    }

    #[inline(always)]
    fn least<L: Lanes, const C: usize>(lanes: L, by: &Pair, chunk: &[u32; C]) -> L::U32 {
        let mut least = lanes.splat(u32::MAX);
        for i in (0..C).step_by(L::COUNT) {
            let (_, high) = lanes.mul_add_each(by.a, by.b, lanes.load(&chunk[i..]));
            least = lanes.min(least, high);
        }
        least
    }
}

/// `mersenne61`, without masking or comparing in the loop.
///
/// With `s = a*x + b mod 2^64`, `q = s >> 61` and `r = s mod 2^61`, the value is the low word of `r + q`, minus p
/// where that reaches p. The kernel uses b + 1 and computes only the low word of `r + q`. That is the value plus
/// one, except where `r + q` reaches p or a value of 2^32 - 1 wraps; there it is at most 7. So a minimum of at
/// most 7 is computed again by the definition, and every other minimum is lowered by 1.
#[doc(hidden)]
#[derive(Debug)]
pub struct Mersenne61 {
    plus_one: Coefficients,
    keys: Keys,
}

impl Mersenne61 {
    #[doc(hidden)]
    pub fn new(a: &[u64], b: &[u64]) -> Self {
        let plus_one = b.iter().map(|b| b.wrapping_add(1));
        Mersenne61 {
            plus_one: Coefficients::new(a.iter().copied(), plus_one),
            keys: Keys::new::<Self>(Range::Bits(32), a, b, false),
        }
    }

    /// Slot k of a set by the definition.
    #[cold]
    pub(super) fn value_of_set(&self, k: usize, set: &[u32]) -> u32 {
        let values = set.iter().map(|x| self.value_of(k, *x));
        values.fold(u32::MAX, u32::min)
    }

    /// The value of a shingle under permutation k, by the definition.
    pub(super) fn value_of(&self, k: usize, x: u32) -> u32 {
        mersenne61(self.plus_one.a[k], self.plus_one.b[k].wrapping_sub(1), x)
    }
}

/// A raw minimum below this may differ from the value plus one.
const CERTAIN: u32 = 8;

impl Family32 for Mersenne61 {
    type Constants<L: Lanes> = L::Affine;

    const REGISTERS: usize = 6;
    const IS_MIXED: bool = false;

    fn coefficients(&self) -> &Coefficients {
        &self.plus_one
    }

    #[inline(always)]
    fn constants<L: Lanes>(lanes: L, by: &Coefficients, first: usize) -> L::Affine {
        by.affine(lanes, first)
    }

    #[inline(always)]
    fn value<L: Lanes>(lanes: L, by: &L::Affine, x: L::U32) -> L::U32 {
        let (low, high) = lanes.mul_add(by, x);
        lanes.add(low, lanes.shift_right(high, 29))
    }

    #[inline]
    fn lower(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        chunks::lower_or(isa, self, set, row, lower32);
    }

    fn finish(&self, set: &[u32], row: &mut [u32]) {
        for (k, slot) in row.iter_mut().enumerate() {
            if *slot >= CERTAIN {
                *slot -= 1;
            } else {
                *slot = self.value_of_set(k, set);
            }
        }
    }
}

/// With `L = a*x + b mod 2^32` the value is `L + t mod 2^32`, t from 0 to 8, so its place is that of L and up to 2^-13 more.
/// Left out are one fraction, of at most 1 - 2^-16, and t: less than 1 + 2^-13 units.
impl Keyed for Mersenne61 {
    type Number = u32;

    const HALVES: usize = 2;
    const REACH: u16 = 2;

    fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl ByChunks for Mersenne61 {
    const FROM: ByIsa = ByIsa {
        portable: 32,
        avx2: 64,
        avx512: 104,
        avx512vnni: 104,
        neon: 48,
    };

    fn pairs(&self) -> &[Pair] {
        &self.plus_one.pairs
    }

    #[inline(always)]
    fn least<L: Lanes, const C: usize>(lanes: L, by: &Pair, chunk: &[u32; C]) -> L::U32 {
        let mut least = lanes.splat(u32::MAX);
        for i in (0..C).step_by(L::COUNT) {
            let (low, high) = lanes.mul_add_each(by.a, by.b, lanes.load(&chunk[i..]));
            least = lanes.min(least, lanes.add(low, lanes.shift_right(high, 29)));
        }
        least
    }
}

/// A kernel's form of a family that permutes 64-bit shingle hashes: like [`Family32`].
#[doc(hidden)]
pub trait Family64: Send + Sync + Sized {
    /// Whether `fmix64` mixes the shingles first.
    const IS_MIXED: bool;

    fn coefficients(&self) -> &Coefficients;

    /// The value of a sum `a*x + b`.
    fn value<L: Lanes>(lanes: L, sum: L::U64) -> L::U64;

    /// Computes the raw minima of a set that is not empty.
    #[inline]
    fn lower(&self, isa: Isa, set: &[u64], row: &mut [u64]) {
        lower64(isa, self, set, row);
    }

    fn finish(&self, set: &[u64], row: &mut [u64]);
}

/// Signs one set that is not empty: like [`sign32`].
#[inline]
pub(crate) fn sign64<F: Family64>(isa: Isa, family: &F, set: &[u64], row: &mut [u64]) {
    family.lower(isa, set, row);
    family.finish(set, row);
}

/// The raw minima of a set.
#[inline]
pub(super) fn lower64<F: Family64>(isa: Isa, family: &F, set: &[u64], row: &mut [u64]) {
    row.fill(u64::MAX);
    isa.run(Lower64 { family, set, row });
}

struct Lower64<'a, F> {
    family: &'a F,
    set: &'a [u64],
    row: &'a mut [u64],
}

/// Vectors of permutations at a time. Four minima hide the latency of a product; with their coefficients
/// they fill the registers of AVX2.
const N64: usize = 4;

/// Permutations in a block.
pub(super) const fn block64<L: Lanes>() -> usize {
    N64 * L::COUNT / 2
}

impl<F: Family64> Kernel for Lower64<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let by = self.family.coefficients();
        const { assert!(block64::<L>() <= 2 * PADDING && PADDING.is_multiple_of(L::COUNT)) }
        let block = block64::<L>();
        let mut mixed = [0; TILE / 2];
        for tile in self.set.chunks(TILE / 2) {
            let tile = if F::IS_MIXED {
                for (mixed, x) in mixed.iter_mut().zip(tile) {
                    *mixed = fmix64(*x);
                }
                &mixed[..tile.len()]
            } else {
                tile
            };
            for (i, row) in self.row.chunks_mut(block).enumerate() {
                let (a, b) = (&by.a[i * block..], &by.b[i * block..]);
                if row.len() == block {
                    lower_block64::<L, F>(lanes, a, b, tile, row);
                } else {
                    let mut padded = [u64::MAX; 2 * PADDING];
                    padded[..row.len()].copy_from_slice(row);
                    lower_block64::<L, F>(lanes, a, b, tile, &mut padded);
                    row.copy_from_slice(&padded[..row.len()]);
                }
            }
        }
    }
}

#[inline(always)]
pub(super) fn lower_block64<L: Lanes, F: Family64>(
    lanes: L,
    a: &[u64],
    b: &[u64],
    tile: &[u64],
    row: &mut [u64],
) {
    let count = L::COUNT / 2;
    let zero = lanes.splat64(0);
    let mut constants = [(zero, zero); N64];
    let mut low = [zero; N64];
    for i in 0..N64 {
        if i * count < a.len() {
            constants[i] = (lanes.load64(&a[i * count..]), lanes.load64(&b[i * count..]));
        }
        low[i] = lanes.load64(&row[i * count..]);
    }
    for x in tile {
        let x = lanes.splat64(*x);
        for i in 0..N64 {
            let (a, b) = constants[i];
            let sum = lanes.add64(lanes.mul64(a, x), b);
            low[i] = lanes.min64(low[i], F::value(lanes, sum));
        }
    }
    for i in 0..N64 {
        lanes.store64(low[i], &mut row[i * count..]);
    }
}

/// `affine64`, and unmixed the permutations that R-MinHash falls back to.
pub(crate) struct Affine64<const IS_MIXED: bool = true> {
    coefficients: Coefficients,
    keys: Keys,
}

impl Affine64 {
    pub(crate) fn new(a: &[u64], b: &[u64]) -> Self {
        Affine64 {
            coefficients: Coefficients::new(a.iter().copied(), b.iter().copied()),
            keys: Keys::new::<Self>(Range::Bits(64), a, b, true),
        }
    }
}

impl<const IS_MIXED: bool> Family64 for Affine64<IS_MIXED> {
    const IS_MIXED: bool = IS_MIXED;

    fn coefficients(&self) -> &Coefficients {
        &self.coefficients
    }

    #[inline(always)]
    fn value<L: Lanes>(_: L, sum: L::U64) -> L::U64 {
        sum
    }

    #[inline]
    fn lower(&self, isa: Isa, set: &[u64], row: &mut [u64]) {
        chunks::lower_or(isa, self, set, row, lower64);
    }

    fn finish(&self, _: &[u64], _: &mut [u64]) {}
}

/// The place of a value is its upper 16 bits, with a fraction. Left out is what [`Mersenne61Wide`] leaves out.
impl<const IS_MIXED: bool> Keyed for Affine64<IS_MIXED> {
    type Number = u64;

    const HALVES: usize = 4;
    const REACH: u16 = 5;

    fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl<const IS_MIXED: bool> ByChunks for Affine64<IS_MIXED> {
    const FROM: ByIsa = ByIsa {
        portable: 104,
        avx2: 40,
        avx512: 500,
        avx512vnni: 216,
        neon: 64,
    };

    #[inline(always)]
    fn mixed<'a>(shingles: &'a [u64], room: &'a mut Vec<u64>) -> &'a [u64] {
        if !IS_MIXED {
            return shingles;
        }
        room.clear();
        room.extend(shingles.iter().map(|x| fmix64(*x)));
        room
    }

    fn pairs(&self) -> &[Pair] {
        &self.coefficients.pairs
    }

    #[inline(always)]
    fn least<L: Lanes, const C: usize>(lanes: L, by: &Pair, chunk: &[u64; C]) -> L::U64 {
        least64::<L, Self, C>(lanes, by, chunk)
    }
}

/// `mersenne61-wide`: `(s + (s >> 61)) mod 2^61`, with b + 1 like [`Mersenne61`].
#[doc(hidden)]
#[derive(Debug)]
pub struct Mersenne61Wide {
    plus_one: Coefficients,
    keys: Keys,
}

impl Mersenne61Wide {
    #[doc(hidden)]
    pub fn new(a: &[u64], b: &[u64]) -> Self {
        let plus_one = b.iter().map(|b| b.wrapping_add(1));
        Mersenne61Wide {
            plus_one: Coefficients::new(a.iter().copied(), plus_one),
            keys: Keys::new::<Self>(Range::Bits(61), a, b, true),
        }
    }

    /// Slot k by the definition.
    #[cold]
    fn value_of_set(&self, k: usize, set: &[u64]) -> u64 {
        let (a, b) = (self.plus_one.a[k], self.plus_one.b[k].wrapping_sub(1));
        let values = set.iter().map(|x| mersenne61_wide(a, b, *x));
        values.fold(u64::MAX, u64::min)
    }
}

impl Family64 for Mersenne61Wide {
    const IS_MIXED: bool = false;

    fn coefficients(&self) -> &Coefficients {
        &self.plus_one
    }

    #[inline(always)]
    fn value<L: Lanes>(lanes: L, sum: L::U64) -> L::U64 {
        let folded = lanes.add64(sum, lanes.shift_right64(sum, 61));
        lanes.and64(folded, lanes.splat64(P61))
    }

    #[inline]
    fn lower(&self, isa: Isa, set: &[u64], row: &mut [u64]) {
        chunks::lower_or(isa, self, set, row, lower64);
    }

    fn finish(&self, set: &[u64], row: &mut [u64]) {
        for (k, slot) in row.iter_mut().enumerate() {
            if *slot >= u64::from(CERTAIN) {
                *slot -= 1;
            } else {
                *slot = self.value_of_set(k, set);
            }
        }
    }
}

/// With `s = a*x + b mod 2^64` the value is `s mod 2^61` plus at most 7, modulo p, so its place is the upper 16 bits of `8*s`,
/// with a fraction, and up to 2^-42 more. Left out are three fractions of products, of at most 1 - 2^-16 each, two products
/// that are at most (1 - 2^-16)^2 units each, one that is less than 2^-16, and those 2^-42: less than 5 units.
impl Keyed for Mersenne61Wide {
    type Number = u64;

    const HALVES: usize = 4;
    const REACH: u16 = 5;

    fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl ByChunks for Mersenne61Wide {
    const FROM: ByIsa = ByIsa {
        portable: 48,
        avx2: 40,
        avx512: 96,
        avx512vnni: 72,
        neon: 48,
    };

    fn pairs(&self) -> &[Pair] {
        &self.plus_one.pairs
    }

    #[inline(always)]
    fn least<L: Lanes, const C: usize>(lanes: L, by: &Pair, chunk: &[u64; C]) -> L::U64 {
        least64::<L, Self, C>(lanes, by, chunk)
    }
}

/// The least raw values of a chunk, in each lane that of some shingles.
#[inline(always)]
fn least64<L: Lanes, F: Family64, const C: usize>(lanes: L, by: &Pair, chunk: &[u64; C]) -> L::U64 {
    let a = u64::from(by.a[1]) << 32 | u64::from(by.a[0]);
    let (a, b) = (lanes.splat64(a), lanes.splat64(by.b));
    let mut least = lanes.splat64(u64::MAX);
    for i in (0..C).step_by(L::COUNT / 2) {
        let sum = lanes.add64(lanes.mul64(a, lanes.load64(&chunk[i..])), b);
        least = lanes.min64(least, F::value(lanes, sum));
    }
    least
}
