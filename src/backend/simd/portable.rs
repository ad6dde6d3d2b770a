//! The kernels over the lanes of the `wide` crate, whose instructions are chosen when the crate is
//! compiled: SSE2 for a default x86-64 build, AVX2 or AVX-512 with `-C target-cpu=native`, NEON on
//! AArch64.
//!
//! All have one shape: a few vectors of permutations stay in registers while the shingles stream
//! past them, so that one pass over the shingles serves them all and no minimum leaves its register
//! before the end. The number of permutations is padded with one whose values are dropped.

use wide::{u32x8, u64x4};

use crate::scheme::{P31, P61, fmix32, fmix64};

/// Shingles mixed at a time, on the stack: they stay in the first-level cache while all
/// permutations pass.
const TILE: usize = 1024;

/// Vectors of permutations held in registers at a time.
const GROUP: usize = 2;

type Lanes32 = [u32x8; GROUP];
type Lanes64 = [u64x4; GROUP];

/// Permutations that pass over the shingles together.
const BLOCK32: usize = GROUP * 8;
const BLOCK64: usize = GROUP * 4;

/// `affine32`: two operations and a minimum.
pub(super) struct Affine32 {
    blocks: Vec<(Lanes32, Lanes32)>,
}

impl Affine32 {
    pub(super) fn new(a: &[u64], b: &[u64]) -> Self {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the coefficients fit 32 bits"
        )]
        let lanes = |of: &[u64]| {
            let mut block = [0; BLOCK32];
            for (lane, coefficient) in block.iter_mut().zip(of) {
                *lane = *coefficient as u32;
            }
            lanes32(&block)
        };
        let blocks = a.chunks(BLOCK32).zip(b.chunks(BLOCK32));
        Affine32 {
            blocks: blocks.map(|(a, b)| (lanes(a), lanes(b))).collect(),
        }
    }

    pub(super) fn update(&self, set: &[u32], row: &mut [u32]) {
        let mut mixed = [0; TILE];
        for tile in set.chunks(TILE) {
            for (mixed, x) in mixed.iter_mut().zip(tile) {
                *mixed = fmix32(*x);
            }
            for ((a, b), row) in self.blocks.iter().zip(row.chunks_mut(BLOCK32)) {
                let mut low = load32(row);
                for h in &mixed[..tile.len()] {
                    let h = u32x8::splat(*h);
                    for g in 0..GROUP {
                        low[g] = low[g].min(a[g] * h + b[g]);
                    }
                }
                store32(&low, row);
            }
        }
    }
}

/// The coefficients of a family that computes in 64-bit lanes.
struct Blocks64 {
    blocks: Vec<(Lanes64, Lanes64)>,
}

impl Blocks64 {
    fn new(a: impl Iterator<Item = u64>, b: impl Iterator<Item = u64>) -> Self {
        let lanes = |coefficients: Vec<u64>| {
            let blocks = coefficients.chunks(BLOCK64);
            blocks.map(load64).collect::<Vec<_>>()
        };
        let (a, b) = (lanes(a.collect()), lanes(b.collect()));
        Blocks64 {
            blocks: a.into_iter().zip(b).collect(),
        }
    }

    /// Lowers each slot of `row` to the least `value(a*x + b mod 2^64)`.
    ///
    /// Slots are widened and narrowed at the two ends by `widen` and `narrow`.
    #[inline(always)]
    fn update<S: Copy>(
        &self,
        set: &[u64],
        row: &mut [S],
        value: impl Fn(u64x4) -> u64x4,
        widen: impl Fn(S) -> u64,
        narrow: impl Fn(u64) -> S,
    ) {
        for ((a, b), row) in self.blocks.iter().zip(row.chunks_mut(BLOCK64)) {
            let mut slots = [0; BLOCK64];
            for (wide, slot) in slots.iter_mut().zip(&*row) {
                *wide = widen(*slot);
            }
            let mut low = load64(&slots);
            for x in set {
                let x = u64x4::splat(*x);
                for g in 0..GROUP {
                    low[g] = low[g].min(value(a[g] * x + b[g]));
                }
            }
            let low = low.iter().flat_map(|lanes| lanes.to_array());
            for (slot, wide) in row.iter_mut().zip(low) {
                *slot = narrow(wide);
            }
        }
    }
}

/// `affine64`.
pub(super) struct Affine64(Blocks64);

impl Affine64 {
    pub(super) fn new(a: &[u64], b: &[u64]) -> Self {
        Affine64(Blocks64::new(a.iter().copied(), b.iter().copied()))
    }

    pub(super) fn update(&self, set: &[u64], row: &mut [u64]) {
        for_each_tile(
            set,
            |x| fmix64(*x),
            |tile| {
                self.0.update(tile, row, |sum| sum, |slot| slot, |low| low);
            },
        );
    }
}

/// `mersenne31` at the cost of multiply-shift.
///
/// With `A = ceil(2^64 a / p)` and `B = ceil(2^64 b / p)`, the high half f of `A*x + B mod 2^64` is
/// `2^32 v / p` plus less than 2, where v is the value `(a*x + b) mod p`; steps of v move it by more
/// than 2, so the least f belongs to the least v, and v is `f*p / 2^32` rounded. x need not be
/// reduced, and an f that was never lowered from 2^32 - 1 becomes p, the value of the empty set.
pub(super) struct Mersenne31(Blocks64);

impl Mersenne31 {
    pub(super) fn new(a: &[u64], b: &[u64]) -> Self {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "c < p, so it is below 2^64"
        )]
        let scaled = |c: &u64| (u128::from(*c) << 64).div_ceil(u128::from(P31)) as u64;
        Mersenne31(Blocks64::new(a.iter().map(scaled), b.iter().map(scaled)))
    }

    #[allow(clippy::cast_possible_truncation, reason = "values are below 2^31")]
    pub(super) fn update(&self, set: &[u32], row: &mut [u32]) {
        for_each_tile(
            set,
            |x| u64::from(*x),
            |tile| {
                self.0.update(
                    tile,
                    row,
                    |sum| sum >> 32,
                    |slot| ((u64::from(slot) << 32) / P31).min(u64::from(u32::MAX)),
                    |f| ((f * P31 + (1 << 31)) >> 32) as u32,
                );
            },
        );
    }
}

/// `mersenne61`: only the low half of the remainder is needed, so the reduction needs no product.
pub(super) struct Mersenne61(Blocks64);

impl Mersenne61 {
    pub(super) fn new(a: &[u64], b: &[u64]) -> Self {
        Mersenne61(Blocks64::new(a.iter().copied(), b.iter().copied()))
    }

    #[allow(clippy::cast_possible_truncation, reason = "the low half is the value")]
    pub(super) fn update(&self, set: &[u32], row: &mut [u32]) {
        let low_half = u64x4::splat(u64::from(u32::MAX));
        for_each_tile(
            set,
            |x| u64::from(*x),
            |tile| {
                self.0.update(
                    tile,
                    row,
                    |sum| remainder61(sum) & low_half,
                    u64::from,
                    |low| low as u32,
                );
            },
        );
    }
}

/// `mersenne61-wide`.
pub(super) struct Mersenne61Wide(Blocks64);

impl Mersenne61Wide {
    pub(super) fn new(a: &[u64], b: &[u64]) -> Self {
        Mersenne61Wide(Blocks64::new(a.iter().copied(), b.iter().copied()))
    }

    pub(super) fn update(&self, set: &[u64], row: &mut [u64]) {
        for_each_tile(
            set,
            |x| *x,
            |tile| {
                self.0
                    .update(tile, row, remainder61, |slot| slot, |low| low);
            },
        );
    }
}

/// `s mod (2^61 - 1)` without division: 2^61 is 1, so the top three bits are added to the rest. The
/// sum reaches p when s is p, or just below a multiple of 2^61; adding 1 carries into bit 61 exactly
/// then, and the carry is taken off as p.
#[inline(always)]
fn remainder61(s: u64x4) -> u64x4 {
    let p = u64x4::splat(P61);
    let folded = (s & p) + (s >> 61);
    let reaches_p = (folded + u64x4::splat(1)) >> 61;
    (folded + reaches_p) & p
}

#[inline(always)]
fn for_each_tile<H>(set: &[H], map: impl Fn(&H) -> u64, mut pass: impl FnMut(&[u64])) {
    let mut mapped = [0; TILE];
    for tile in set.chunks(TILE) {
        for (mapped, x) in mapped.iter_mut().zip(tile) {
            *mapped = map(x);
        }
        pass(&mapped[..tile.len()]);
    }
}

fn lanes32(block: &[u32; BLOCK32]) -> Lanes32 {
    let (vectors, _) = block.as_chunks::<8>();
    std::array::from_fn(|g| u32x8::new(vectors[g]))
}

/// A block of slots, padded where the row ends.
fn load32(row: &[u32]) -> Lanes32 {
    let mut block = [0; BLOCK32];
    block[..row.len()].copy_from_slice(row);
    lanes32(&block)
}

fn store32(low: &Lanes32, row: &mut [u32]) {
    let low = low.iter().flat_map(|lanes| lanes.to_array());
    for (slot, low) in row.iter_mut().zip(low) {
        *slot = low;
    }
}

/// Up to a block of 64-bit values, padded with zeros.
fn load64(values: &[u64]) -> Lanes64 {
    let mut block = [0; BLOCK64];
    block[..values.len()].copy_from_slice(values);
    let (vectors, _) = block.as_chunks::<4>();
    std::array::from_fn(|g| u64x4::new(vectors[g]))
}
