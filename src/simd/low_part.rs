//! `mersenne61` of long sets, at nearly the cost of `affine32`.
//!
//! With `s = a*x + b mod 2^64` the value is `L + t mod 2^32`, where `L = a_low*x + b_low mod 2^32` is the low
//! word of s, and t, from 0 to 8, depends on the rest. L costs a product of words and a sum. If the least L of a
//! set is m, the least value belongs to a shingle with L in m..m + 8: every other value is at least m + 8, unless
//! L is one of the last eight numbers, where the sum wraps. The kernel therefore minimises L + 8, which moves
//! those eight to the front, where they are noticed at once.
//!
//! Inverting `a_low*x + b_low` yields the shingles with a given L. A bit map of hashed shingles tells which of
//! them the set may hold; it errs to one side only, and its hits are looked up in the set.

use std::cell::RefCell;

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::Lanes;
use super::sign::{Affine32, Mersenne61, lower32, sign32};

/// With more trailing zeros in a factor, too many shingles share one L.
const MAX_ZEROS: u32 = 8;

/// The number added to L.
const SHIFT: u32 = 8;

/// Least bits of the map per shingle: one probe in this many errs.
const BITS_PER_SHINGLE: usize = 64;

/// `mersenne61` with both forms.
pub(crate) struct Mersenne61LowPart {
    direct: Mersenne61,
    /// `a_low*x + b_low + SHIFT`.
    shifted: Affine32<false>,
    /// The way back from L to x, for each permutation.
    inverses: Vec<Inverse>,
}

/// The inverse of `x -> a*x + b mod 2^32`.
#[derive(Clone, Copy)]
struct Inverse {
    b: u32,
    /// Trailing zeros of a; 32 if it is 0.
    zeros: u32,
    /// Inverse of the rest of a, which is odd.
    odd: u32,
}

impl Inverse {
    fn new(a: u32, b: u32) -> Self {
        let zeros = a.trailing_zeros();
        let odd = a.unbounded_shr(zeros);
        // Newton's iteration: each step doubles the number of correct bits, which is 3 at first.
        let step =
            |inverse: u32, _| inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
        Inverse {
            b,
            zeros,
            odd: (0..4).fold(odd, step),
        }
    }

    /// All x with `a*x + b = image`, for a that is not 0.
    #[inline]
    fn preimages(self, image: u32) -> impl Iterator<Item = u32> {
        let product = image.wrapping_sub(self.b);
        let is_multiple = product.trailing_zeros() >= self.zeros;
        let count = if is_multiple { 1 << self.zeros } else { 0 };
        let kept = u32::MAX >> self.zeros;
        let first = (product >> self.zeros).wrapping_mul(self.odd) & kept;
        (0..count).map(move |i: u32| first | i.unbounded_shl(32 - self.zeros))
    }
}

impl Mersenne61LowPart {
    #[allow(clippy::cast_possible_truncation, reason = "the low words are meant")]
    pub(crate) fn new(a: &[u64], b: &[u64]) -> Self {
        let shifted: Vec<u64> = b.iter().map(|b| b.wrapping_add(SHIFT.into())).collect();
        let inverse = |(a, b): (&u64, &u64)| Inverse::new(*a as u32, *b as u32);
        Mersenne61LowPart {
            direct: Mersenne61::new(a, b),
            shifted: Affine32::new(a, &shifted),
            inverses: a.iter().zip(b).map(inverse).collect(),
        }
    }

    /// Signs one set that is not empty, by the faster form for its length.
    #[inline]
    pub(crate) fn sign(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        if set.len() < from(isa) {
            sign32(isa, &self.direct, set, row);
        } else {
            self.sign_by_low_part(isa, set, row);
        }
    }

    fn sign_by_low_part(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        thread_local! {
            static BITS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
        }
        lower32(isa, &self.shifted, set, row);
        BITS.with_borrow_mut(|bits| {
            let held = Held::new(isa, set, bits);
            for (k, slot) in row.iter_mut().enumerate() {
                *slot = self.resolve(k, *slot, &held);
            }
        });
    }

    /// The value of slot k, from the least L + SHIFT.
    #[inline]
    fn resolve(&self, k: usize, shifted: u32, held: &Held<'_>) -> u32 {
        let inverse = self.inverses[k];
        if shifted < SHIFT || inverse.zeros > MAX_ZEROS {
            return self.direct.value_of_set(k, held.set);
        }
        let least = shifted - SHIFT;
        let mut value = u32::MAX;
        // The set holds one of these, whose L is the least. So if only one may be held, it is.
        let mut maybe = inverse.preimages(least).filter(|x| held.may_hold(*x));
        if let (Some(first), None) = (maybe.next(), maybe.next()) {
            value = self.direct.value_of(k, first);
        } else {
            for x in inverse.preimages(least).filter(|x| held.holds(*x)) {
                value = value.min(self.direct.value_of(k, x));
            }
        }
        for low in least.saturating_add(1)..least.saturating_add(SHIFT) {
            for x in inverse.preimages(low).filter(|x| held.holds(*x)) {
                value = value.min(self.direct.value_of(k, x));
            }
        }
        value
    }
}

/// Tells which shingles a set holds.
struct Held<'a> {
    isa: Isa,
    set: &'a [u32],
    bits: &'a [u64],
    shift: u32,
}

impl<'a> Held<'a> {
    fn new(isa: Isa, set: &'a [u32], bits: &'a mut Vec<u64>) -> Self {
        // The position of a bit has at most 31 bits, enough for sets that are signed in pieces.
        let bits_wanted = set.len().saturating_mul(BITS_PER_SHINGLE);
        let words = bits_wanted
            .div_ceil(64)
            .next_power_of_two()
            .clamp(1, 1 << 25);
        bits.clear();
        bits.resize(words, 0);
        let shift = 32 - (64 * words).trailing_zeros();
        for x in set {
            let at = place(*x, shift);
            bits[at / 64] |= 1 << (at % 64);
        }
        Held {
            isa,
            set,
            bits,
            shift,
        }
    }

    /// False only if the set does not hold x.
    #[inline]
    fn may_hold(&self, x: u32) -> bool {
        let at = place(x, self.shift);
        self.bits[at / 64] >> (at % 64) & 1 == 1
    }

    #[inline]
    fn holds(&self, x: u32) -> bool {
        self.may_hold(x) && self.isa.run(Contains { set: self.set, x })
    }
}

/// The position of the bit of x, among 2^(32 - shift).
#[inline]
fn place(x: u32, shift: u32) -> usize {
    (x.wrapping_mul(0x9E37_79B1) >> shift) as usize
}

/// The length of a set from which the low part is faster.
pub(super) fn from(isa: Isa) -> usize {
    isa.run(LowPartFrom)
}

struct LowPartFrom;

impl Kernel for LowPartFrom {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> usize {
        L::LOW_PART_FROM
    }
}

struct Contains<'a> {
    set: &'a [u32],
    x: u32,
}

impl Kernel for Contains<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> bool {
        // The compiler vectorises the loop, since it does not stop early.
        self.set
            .iter()
            .fold(false, |found, y| found | (*y == self.x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{Draws, Family, Permutations, fmix32, mersenne61};

    /// 64 permutations whose factors have 0 to 32 trailing zeros in their low words.
    #[allow(clippy::cast_possible_truncation, reason = "k is below 64")]
    fn permutations() -> (Vec<u64>, Vec<u64>) {
        let drawn = Permutations::draw(Family::Mersenne61, Draws::AllAThenAllB, 5, 64);
        let with_zeros = |(k, a): (usize, &u64)| {
            let zeros = (k % 34).min(32) as u32;
            let low = ((a | 1) << zeros) & u64::from(u32::MAX);
            (a >> 32 << 32) | (1 << 40) | low
        };
        let a = drawn.a().iter().enumerate().map(with_zeros).collect();
        (a, drawn.b().to_vec())
    }

    /// Shingles whose L under one permutation is `least` or little more, and others with a greater L.
    fn shingles_from(inverse: Inverse, a: u32, least: u32) -> Vec<u32> {
        let near = (0..24).map(|d| least.wrapping_add(d));
        let mut set: Vec<u32> = match inverse.zeros {
            0..=20 => near
                .flat_map(|low| inverse.preimages(low).take(3))
                .collect(),
            _ => near.collect(),
        };
        let low = |x: u32| a.wrapping_mul(x).wrapping_add(inverse.b);
        set.extend((0..500u32).map(fmix32).filter(|x| low(*x) > least));
        set
    }

    /// Random shingles never reach the hard cases of the low part, so shingles are made from a wanted L: close to
    /// each other, in the last eight numbers, around both ends, under factors with any number of trailing zeros.
    #[allow(clippy::cast_possible_truncation, reason = "the low word is meant")]
    #[test]
    fn hard_cases_equal_the_definition() {
        const LEAST: [u32; 10] = [0, 1, 7, 8, 9, 1000, 1 << 31, !0 - 16, !0 - 7, !0];
        let (a, b) = permutations();
        let by = Mersenne61LowPart::new(&a, &b);
        for (k, least) in (0..64).flat_map(|k| LEAST.map(|least| (k, least))) {
            let set = shingles_from(by.inverses[k], a[k] as u32, least);
            if set.is_empty() {
                continue;
            }
            let value = |(a, b): (&u64, &u64)| set.iter().map(|x| mersenne61(*a, *b, *x)).min();
            let expected: Vec<u32> = a.iter().zip(&b).filter_map(value).collect();
            for isa in Isa::available() {
                let mut row = [0; 64];
                by.sign_by_low_part(*isa, &set, &mut row);
                assert_eq!(row.as_slice(), expected, "low part, {isa}, {k}, {least}");
                sign32(*isa, &by.direct, &set, &mut row);
                assert_eq!(row.as_slice(), expected, "direct, {isa}, {k}, {least}");
            }
        }
    }

    #[test]
    fn preimages_are_complete() {
        for a in [1u32, 3, 0xFFFF_FFFF, 2, 12, 0x9E37_79B1 << 5, 1 << 8] {
            let inverse = Inverse::new(a, 77);
            for x in (0..2000u32).map(fmix32) {
                let image = a.wrapping_mul(x).wrapping_add(77);
                let all: Vec<u32> = inverse.preimages(image).collect();
                assert!(all.contains(&x));
                assert_eq!(all.len(), 1 << a.trailing_zeros());
                assert!(
                    all.iter()
                        .all(|x| a.wrapping_mul(*x).wrapping_add(77) == image)
                );
            }
        }
    }
}
