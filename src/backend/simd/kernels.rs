//! The kernels: one body a family, over [`Lanes`].
//!
//! All have one shape. N vectors of permutations at a time stay in registers while the shingles
//! stream past them, so that no minimum leaves its register before the end of a tile. The number of
//! permutations is padded with some whose values are dropped.
//!
//! The bodies are safe code, compiled once for the lanes of `wide` and once, over plain numbers that
//! the compiler vectorises, for each set of instructions.

use super::lanes::Lanes;
use crate::scheme::{P31, P61, fmix32, fmix64};

/// Shingles mapped at a time, on the stack: they stay in the first-level cache while all
/// permutations pass.
const TILE: usize = 1024;

/// Coefficients are padded to a multiple of this, which every block of lanes divides.
const PADDING: usize = 64;

/// The coefficients of K permutations as a kernel takes them.
#[derive(Clone, Debug)]
pub(super) struct Coefficients<T> {
    a: Vec<T>,
    b: Vec<T>,
}

impl<T: Copy + Default> Coefficients<T> {
    pub(super) fn new(a: &[u64], b: &[u64], map: impl Fn(u64) -> T) -> Self {
        let padded = |coefficients: &[u64]| {
            let mut padded: Vec<T> = coefficients.iter().map(|c| map(*c)).collect();
            padded.resize(padded.len().next_multiple_of(PADDING), T::default());
            padded
        };
        Coefficients {
            a: padded(a),
            b: padded(b),
        }
    }

    /// Lowers each slot of `row` to the least value of the set: `steps.map` is done to each shingle,
    /// `steps.reduce` to each `a*x + b`, and between `steps.widen` and `steps.narrow` a slot is in a
    /// lane.
    #[inline(always)]
    fn lower<L, const N: usize, H, S: Copy>(
        &self,
        set: &[H],
        row: &mut [S],
        steps: Steps<impl Fn(&H) -> T, impl Fn(L) -> L, impl Fn(S) -> T, impl Fn(T) -> S>,
    ) where
        L: Lanes<Number = T>,
    {
        let block = N * L::COUNT;
        let lanes = |numbers: &[T]| -> [L; N] {
            std::array::from_fn(|i| L::load(&numbers[i * L::COUNT..(i + 1) * L::COUNT]))
        };
        let mut mapped = [T::default(); TILE];
        for tile in set.chunks(TILE) {
            for (mapped, x) in mapped.iter_mut().zip(tile) {
                *mapped = (steps.map)(x);
            }
            let coefficients = self.a.chunks(block).zip(self.b.chunks(block));
            for ((a, b), row) in coefficients.zip(row.chunks_mut(block)) {
                let (a, b) = (lanes(a), lanes(b));
                let mut slots = [T::default(); PADDING];
                for (wide, slot) in slots.iter_mut().zip(&*row) {
                    *wide = (steps.widen)(*slot);
                }
                let mut low = lanes(&slots);
                for x in &mapped[..tile.len()] {
                    let x = L::splat(*x);
                    for i in 0..N {
                        low[i] = low[i].min((steps.reduce)(a[i].mul(x).add(b[i])));
                    }
                }
                for (i, low) in low.into_iter().enumerate() {
                    low.store(&mut slots[i * L::COUNT..(i + 1) * L::COUNT]);
                }
                for (slot, wide) in row.iter_mut().zip(slots) {
                    *slot = (steps.narrow)(wide);
                }
            }
        }
    }
}

/// What a family does to a shingle, to a sum and to a slot.
struct Steps<Map, Reduce, Widen, Narrow> {
    map: Map,
    reduce: Reduce,
    widen: Widen,
    narrow: Narrow,
}

/// `affine32`: a product, a sum, a minimum.
#[inline(always)]
pub(super) fn affine32<L: Lanes<Number = u32>, const N: usize>(
    by: &Coefficients<u32>,
    set: &[u32],
    row: &mut [u32],
) {
    let steps = Steps {
        map: |x: &u32| fmix32(*x),
        reduce: |sum: L| sum,
        widen: |slot| slot,
        narrow: |low| low,
    };
    by.lower::<L, N, _, _>(set, row, steps);
}

/// `affine64`.
#[inline(always)]
pub(super) fn affine64<L: Lanes<Number = u64>, const N: usize>(
    by: &Coefficients<u64>,
    set: &[u64],
    row: &mut [u64],
) {
    let steps = Steps {
        map: |x: &u64| fmix64(*x),
        reduce: |sum: L| sum,
        widen: |slot| slot,
        narrow: |low| low,
    };
    by.lower::<L, N, _, _>(set, row, steps);
}

/// `ceil(2^64 c / p)`: the form in which [`mersenne31`] takes a coefficient.
#[allow(
    clippy::cast_possible_truncation,
    reason = "c < p, so it is below 2^64"
)]
pub(super) fn scaled_by_p31(c: u64) -> u64 {
    (u128::from(c) << 64).div_ceil(u128::from(P31)) as u64
}

/// `mersenne31` at the cost of multiply-shift.
///
/// With `A = ceil(2^64 a / p)` and `B = ceil(2^64 b / p)`, the high half f of `A*x + B mod 2^64` is
/// `2^32 v / p` plus less than 2, where v is the value `(a*x + b) mod p`; steps of v move it by more
/// than 2, so the least f belongs to the least v, and v is `f*p / 2^32` rounded. x need not be
/// reduced, and an f that was never lowered from 2^32 - 1 becomes p, the value of the empty set.
#[allow(clippy::cast_possible_truncation, reason = "values are below 2^31")]
#[inline(always)]
pub(super) fn mersenne31<L: Lanes<Number = u64>, const N: usize>(
    by: &Coefficients<u64>,
    set: &[u32],
    row: &mut [u32],
) {
    let steps = Steps {
        map: |x: &u32| u64::from(*x),
        reduce: |sum: L| sum.shift_right(32),
        widen: |slot: u32| Ord::min((u64::from(slot) << 32) / P31, u64::from(u32::MAX)),
        narrow: |f: u64| ((f * P31 + (1 << 31)) >> 32) as u32,
    };
    by.lower::<L, N, _, _>(set, row, steps);
}

/// `mersenne61`: the low half of the remainder.
#[allow(clippy::cast_possible_truncation, reason = "the low half is the value")]
#[inline(always)]
pub(super) fn mersenne61<L: Lanes<Number = u64>, const N: usize>(
    by: &Coefficients<u64>,
    set: &[u32],
    row: &mut [u32],
) {
    let steps = Steps {
        map: |x: &u32| u64::from(*x),
        reduce: |sum: L| remainder61(sum).and(u64::from(u32::MAX)),
        widen: u64::from,
        narrow: |low: u64| low as u32,
    };
    by.lower::<L, N, _, _>(set, row, steps);
}

/// `mersenne61-wide`.
#[inline(always)]
pub(super) fn mersenne61_wide<L: Lanes<Number = u64>, const N: usize>(
    by: &Coefficients<u64>,
    set: &[u64],
    row: &mut [u64],
) {
    let steps = Steps {
        map: |x: &u64| *x,
        reduce: |sum: L| remainder61(sum),
        widen: |slot| slot,
        narrow: |low| low,
    };
    by.lower::<L, N, _, _>(set, row, steps);
}

/// `s mod (2^61 - 1)` without division: 2^61 is 1, so the top three bits are added to the rest. The
/// sum reaches p at most once; adding 1 carries into bit 61 exactly then, and the carry is added
/// while bit 61 is masked off, which takes p away.
#[inline(always)]
fn remainder61<L: Lanes<Number = u64>>(s: L) -> L {
    let folded = s.and(P61).add(s.shift_right(61));
    let reaches_p = folded.add(L::splat(1)).shift_right(61);
    folded.add(reaches_p).and(P61)
}

/// Compiles every kernel over certain lanes: `$n32` vectors of 32-bit numbers, `$n64` of 64-bit ones,
/// with the instructions of `$features` if there are any.
macro_rules! compile {
    ($isa:ident, $lanes32:ty, $n32:literal, $lanes64:ty, $n64:literal $(, $features:literal)?) => {
        pub(super) mod $isa {
            use super::Coefficients;

            $(#[target_feature(enable = $features)])?
            pub(in super::super) fn affine32(by: &Coefficients<u32>, set: &[u32], row: &mut [u32]) {
                super::affine32::<$lanes32, $n32>(by, set, row);
            }

            $(#[target_feature(enable = $features)])?
            pub(in super::super) fn affine64(by: &Coefficients<u64>, set: &[u64], row: &mut [u64]) {
                super::affine64::<$lanes64, $n64>(by, set, row);
            }

            $(#[target_feature(enable = $features)])?
            pub(in super::super) fn mersenne31(
                by: &Coefficients<u64>,
                set: &[u32],
                row: &mut [u32],
            ) {
                super::mersenne31::<$lanes64, $n64>(by, set, row);
            }

            $(#[target_feature(enable = $features)])?
            pub(in super::super) fn mersenne61(
                by: &Coefficients<u64>,
                set: &[u32],
                row: &mut [u32],
            ) {
                super::mersenne61::<$lanes64, $n64>(by, set, row);
            }

            $(#[target_feature(enable = $features)])?
            pub(in super::super) fn mersenne61_wide(
                by: &Coefficients<u64>,
                set: &[u64],
                row: &mut [u64],
            ) {
                super::mersenne61_wide::<$lanes64, $n64>(by, set, row);
            }
        }
    };
}

compile!(portable, wide::u32x8, 2, wide::u64x4, 2);

#[cfg(target_arch = "x86_64")]
compile!(avx2, u32, 32, u64, 16, "avx2");

#[cfg(target_arch = "x86_64")]
compile!(
    avx512,
    u32,
    64,
    u64,
    32,
    "avx512f,avx512dq,avx512bw,avx512vl"
);
