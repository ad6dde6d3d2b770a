//! Keys of 16 bits, in the order of values but for a small window: see [`super::chunks`].
//!
//! The *place* of a value is its share of the range of all values, in units of 2^-16: of `(A*x + B) mod 2^64`, say, it is the
//! upper 16 bits, with a fraction. A key is the place plus an error, modulo 2^16. With the family's `reach`
//!
//! ```text
//! 0 < error < reach + 1, and the errors under one permutation differ by less than reach.
//! ```
//!
//! Two forms of keys have that.
//!
//! **Words.** A, B and x in halves of 16 bits, A from its lowest half `A[0]` to its highest one, `A[n - 1]`:
//!
//! ```text
//! key = sum of low(A[i] * x[j]), i + j = n - 1, + sum of high(A[i] * x[j]), i + j = n - 2, + addend    mod 2^16
//! ```
//!
//! Products with a greater i + j are multiples of 2^16. Left out are the fractions of the second kind of products, products with
//! a smaller i + j, and what else a value is more than `A*x + B`: together at least 0 and less than `reach` units, as each family
//! shows. The addend is B's place rounded up, plus `reach`. So the error is that rounding, the same for all x, plus `reach` less
//! what is left out.
//!
//! **Dots**, for instructions that add two products of signed 16-bit numbers. With `d[i] = x[i] - 2^15`, in places,
//!
//! ```text
//! A*x + B = sum of d[i] * T[i] + (A * 0x8000...8000 + B),    T[i] = A * 2^(16 i), as a share
//! ```
//!
//! T is rounded to units of 2^-32 of the range, and split into its signed low half and the rest: the products with the rest move
//! up by 16 bits, those with the low half are added, and the upper 16 bits are the key. Rounding T changes a product by at most
//! `2^15 / 2` of those units, a quarter unit of a key, and at most two of the T are rounded. The addend is the place of the
//! bracket plus 3/2, rounded up. So the error is that rounding, the same for all x, plus 3/2, plus -1/2 to 1/2, less the fraction
//! cut off, which is at most 1 - 2^-16: errors differ by less than 2, with 2^-16 to spare for what else a value is more than
//! `A*x + B`.

#![allow(
    clippy::needless_range_loop,
    reason = "an index is that of a vector in several arrays of registers"
)]

use super::lanes::Lanes;
use crate::scheme::P31;

/// Keys are padded to a multiple of this, the 16-bit lanes of the widest vector.
const PADDING: usize = 32;

/// What signed halves of x lack.
const SIGNS: u64 = 0x8000_8000_8000_8000;

/// How far errors differ in the form of dots.
const REACH_OF_DOTS: u16 = 2;

/// A shingle, or the raw minimum of a slot.
pub(crate) trait Number: Copy + Ord + 'static {
    /// The halves, the lowest first, each twice.
    type Halves: Copy + AsRef<[u32]>;

    /// The 32-bit words, the lowest first, with signed halves.
    type Words: Copy + AsRef<[u32]>;

    fn halves(self) -> Self::Halves;

    fn words(self) -> Self::Words;
}

#[allow(clippy::cast_possible_truncation, reason = "halves are meant")]
#[inline(always)]
const fn twice(number: u64, half: u32) -> u32 {
    (number >> (16 * half)) as u16 as u32 * 0x1_0001
}

impl Number for u32 {
    type Halves = [u32; 2];
    type Words = [u32; 1];

    #[inline(always)]
    fn halves(self) -> [u32; 2] {
        [twice(self.into(), 0), twice(self.into(), 1)]
    }

    #[allow(clippy::cast_possible_truncation, reason = "the low word is meant")]
    #[inline(always)]
    fn words(self) -> [u32; 1] {
        [self ^ SIGNS as u32]
    }
}

impl Number for u64 {
    type Halves = [u32; 4];
    type Words = [u32; 2];

    #[inline(always)]
    fn halves(self) -> [u32; 4] {
        [
            twice(self, 0),
            twice(self, 1),
            twice(self, 2),
            twice(self, 3),
        ]
    }

    #[allow(clippy::cast_possible_truncation, reason = "words are meant")]
    #[inline(always)]
    fn words(self) -> [u32; 2] {
        let signed = self ^ SIGNS;
        [signed as u32, (signed >> 32) as u32]
    }
}

/// A family whose values have keys.
pub(crate) trait Keyed {
    type Number: Number;

    /// Halves of a factor in the form of words.
    const HALVES: usize;

    /// How far errors differ in the form of words.
    const REACH: u16;

    fn keys(&self) -> &Keys;
}

/// How many values a family has.
#[derive(Clone, Copy)]
pub(super) enum Range {
    /// Two to this power.
    Bits(u32),
    /// 2^31 - 1.
    P31,
}

impl Range {
    /// The share of a number, modulo the range, in units of 2^-64, rounded down. A share of 2^31 - 1 values that is not a whole or
    /// half unit of a key, or of T, is farther from one than that.
    #[allow(clippy::cast_possible_truncation, reason = "modulo the range")]
    fn share(self, number: u128) -> u64 {
        let p = u128::from(P31);
        match self {
            Range::Bits(bits) => (number as u64) << (64 - bits),
            Range::P31 => (((number % p) << 64) / p) as u64,
        }
    }
}

/// What the keys of permutations are computed with, padded.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The halves of factors, the lowest first.
    factors: Vec<Vec<u16>>,
    addends: Vec<u16>,
    dots: Option<Dots>,
}

/// The form of dots: for 32 permutations at a time, first those with even numbers.
#[derive(Clone, Debug)]
struct Dots {
    /// For each word of x, the rest of the T of its halves.
    high: Vec<Vec<u32>>,
    /// For each word of x, the low halves of the T of its halves.
    low: Vec<Vec<u32>>,
    /// Added before the products with the rest move up.
    addends: Vec<u32>,
}

impl Keys {
    /// Of permutations `a*x + b` modulo a range, in both forms if `has_dots`.
    #[allow(clippy::cast_possible_truncation, reason = "halves are meant")]
    pub(super) fn new<F: Keyed>(range: Range, a: &[u64], b: &[u64], has_dots: bool) -> Self {
        let padded = |mut numbers: Vec<u16>| {
            numbers.resize(numbers.len().next_multiple_of(PADDING), 0);
            numbers
        };
        let half = |i: usize| {
            let bits = 64 - 16 * (F::HALVES - i);
            let halves = a.iter().map(|a| (range.share((*a).into()) >> bits) as u16);
            padded(halves.collect())
        };
        let addend =
            |b: &u64| (range.share((*b).into()).div_ceil(1 << 48) as u16).wrapping_add(F::REACH);
        Keys {
            factors: (0..F::HALVES).map(half).collect(),
            addends: padded(b.iter().map(addend).collect()),
            dots: has_dots.then(|| Dots::new::<F>(range, a, b)),
        }
    }

    /// How far errors differ.
    pub(super) fn reach<L: Lanes, F: Keyed>(&self) -> u16 {
        if self.uses_dots::<L>() {
            REACH_OF_DOTS
        } else {
            F::REACH
        }
    }

    fn uses_dots<L: Lanes>(&self) -> bool {
        L::HAS_DOTS && self.dots.is_some()
    }
}

impl Dots {
    #[allow(clippy::cast_possible_truncation, reason = "halves are meant")]
    fn new<F: Keyed>(range: Range, a: &[u64], b: &[u64]) -> Self {
        let len = a.len().next_multiple_of(PADDING);
        // A group of 32 in the order of its vectors.
        let order = |at: usize| {
            let (group, i) = (at / PADDING * PADDING, at % PADDING);
            group + 2 * (i % (PADDING / 2)) + i / (PADDING / 2)
        };
        let in_order = |number: &dyn Fn(u64, u64) -> u32| -> Vec<u32> {
            let numbers = (0..len).map(order).map(|k| match (a.get(k), b.get(k)) {
                (Some(a), Some(b)) => number(*a, *b),
                _ => 0,
            });
            numbers.collect()
        };
        let t = |a: u64, half: u32| {
            let share = range.share(u128::from(a) << (16 * half));
            ((u128::from(share) + (1 << 31)) >> 32) as u32
        };
        // The rest of T once its low half is taken as a signed number.
        let rest = |t: u32| t.wrapping_add(0x8000) >> 16;
        let words = 0..size_of::<F::Number>() as u32 / 4;
        let high =
            |word: u32| in_order(&|a, _| rest(t(a, 2 * word)) | rest(t(a, 2 * word + 1)) << 16);
        let low = |word: u32| in_order(&|a, _| t(a, 2 * word) & 0xFFFF | t(a, 2 * word + 1) << 16);
        let signs = match size_of::<F::Number>() {
            4 => u64::from(SIGNS as u32),
            _ => SIGNS,
        };
        Dots {
            high: words.clone().map(high).collect(),
            low: words.map(low).collect(),
            addends: in_order(&|a, b| {
                let sum = match range {
                    Range::Bits(_) => a.wrapping_mul(signs).wrapping_add(b).into(),
                    Range::P31 => u128::from(a) * u128::from(signs) + u128::from(b),
                };
                let share = u128::from(range.share(sum));
                (share + (3 << 47)).div_ceil(1 << 48) as u32
            }),
        }
    }
}

/// The shingles of a piece in the form that keys are computed of.
pub(super) struct Prepared<N: Number> {
    halves: Vec<N::Halves>,
    words: Vec<N::Words>,
}

impl<N: Number> Prepared<N> {
    pub(super) fn new() -> Self {
        Prepared {
            halves: Vec::new(),
            words: Vec::new(),
        }
    }

    #[inline(always)]
    pub(super) fn prepare<L: Lanes>(&mut self, keys: &Keys, piece: &[N]) {
        if keys.uses_dots::<L>() {
            self.words.clear();
            self.words.extend(piece.iter().map(|number| number.words()));
        } else {
            self.halves.clear();
            self.halves
                .extend(piece.iter().map(|number| number.halves()));
        }
    }
}

/// Writes the least key of each chunk of C shingles, for N vectors of permutations from `first` on: a row per chunk.
#[inline(always)]
pub(super) fn lower_keys<L: Lanes, F: Keyed, const C: usize, const N: usize>(
    lanes: L,
    keys: &Keys,
    first: usize,
    prepared: &Prepared<F::Number>,
    rows: &mut [u16],
) {
    const {
        assert!(
            !L::HAS_DOTS || 2 * L::COUNT == PADDING,
            "dots are in the order of such vectors"
        );
    }
    match &keys.dots {
        Some(dots) if L::HAS_DOTS => match N {
            1 => lower_dots::<L, F, C, 2>(lanes, dots, first, &prepared.words, rows, 0, N),
            _ => {
                for vector in (0..N).step_by(2) {
                    lower_dots::<L, F, C, 4>(lanes, dots, first, &prepared.words, rows, vector, N);
                }
            }
        },
        _ => lower_words::<L, F, C, N>(lanes, keys, first, &prepared.halves, rows),
    }
}

#[inline(always)]
fn lower_words<L: Lanes, F: Keyed, const C: usize, const N: usize>(
    lanes: L,
    by: &Keys,
    first: usize,
    shingles: &[<F::Number as Number>::Halves],
    rows: &mut [u16],
) {
    let zero = lanes.splat16(0);
    let (mut factors, mut addends) = ([[zero; N]; 4], [zero; N]);
    for i in 0..N {
        let at = first + i * 2 * L::COUNT;
        for j in 0..F::HALVES {
            factors[j][i] = lanes.load16(&by.factors[j][at..]);
        }
        addends[i] = lanes.load16(&by.addends[at..]);
    }
    for (chunk, row) in shingles
        .chunks(C)
        .zip(rows.chunks_exact_mut(N * 2 * L::COUNT))
    {
        let mut least = [lanes.splat16(u16::MAX); N];
        for x in chunk {
            let x = x.as_ref();
            let mut halves = [zero; 4];
            for (half, x) in halves.iter_mut().zip(x) {
                *half = lanes.halves(lanes.splat(*x));
            }
            for i in 0..N {
                let mut key = addends[i];
                for p in 0..F::HALVES {
                    for q in 0..x.len() {
                        if p + q + 1 == F::HALVES {
                            key = lanes.add16(key, lanes.mul_low16(factors[p][i], halves[q]));
                        }
                        if p + q + 2 == F::HALVES {
                            key = lanes.add16(key, lanes.mul_high16(factors[p][i], halves[q]));
                        }
                    }
                }
                least[i] = lanes.min16(least[i], key);
            }
        }
        for i in 0..N {
            lanes.store16(least[i], &mut row[i * 2 * L::COUNT..]);
        }
    }
}

/// M vectors of 32-bit lanes, from vector `vector` of the N of a row on.
#[inline(always)]
fn lower_dots<L: Lanes, F: Keyed, const C: usize, const M: usize>(
    lanes: L,
    by: &Dots,
    first: usize,
    shingles: &[<F::Number as Number>::Words],
    rows: &mut [u16],
    vector: usize,
    n: usize,
) {
    let zero = lanes.splat(0);
    let (mut high, mut low, mut addends) = ([[zero; M]; 2], [[zero; M]; 2], [zero; M]);
    let words = size_of::<F::Number>() / 4;
    for i in 0..M {
        let at = first + (2 * vector + i) * L::COUNT;
        for j in 0..words {
            high[j][i] = lanes.load(&by.high[j][at..]);
            low[j][i] = lanes.load(&by.low[j][at..]);
        }
        addends[i] = lanes.load(&by.addends[at..]);
    }
    let upper = lanes.splat(0xFFFF_0000);
    for (chunk, row) in shingles
        .chunks(C)
        .zip(rows.chunks_exact_mut(n * 2 * L::COUNT))
    {
        let mut least = [lanes.splat(u32::MAX); M];
        for x in chunk {
            let x = x.as_ref();
            let mut halves = [zero; 2];
            for (half, x) in halves.iter_mut().zip(x) {
                *half = lanes.splat(*x);
            }
            for i in 0..M {
                let mut key = addends[i];
                for j in 0..words {
                    key = lanes.add_dots(key, high[j][i], halves[j]);
                }
                key = lanes.shift_left(key, 16);
                for j in 0..words {
                    key = lanes.add_dots(key, low[j][i], halves[j]);
                }
                least[i] = lanes.min(least[i], key);
            }
        }
        for i in (0..M).step_by(2) {
            let odd = lanes.and(least[i + 1], upper);
            let both = lanes.xor(lanes.shift_right(least[i], 16), odd);
            lanes.store16(
                lanes.halves(both),
                &mut row[(vector + i / 2) * 2 * L::COUNT..],
            );
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "parts of numbers are meant"
)]
mod tests {
    use super::super::isa::Isa;
    use super::super::kernel::Kernel;
    use super::super::sign::{Affine64, Mersenne31, Mersenne61, Mersenne61Wide};
    use super::*;
    use crate::scheme::{P61, fmix64, mersenne61, mersenne61_wide};

    /// The key of each shingle under one permutation.
    struct KeysOf<'a, F: Keyed>(&'a F, &'a [F::Number]);

    impl<F: Keyed> Kernel for KeysOf<'_, F> {
        type Output = (Vec<u16>, u16);

        fn run<L: Lanes>(self, lanes: L) -> (Vec<u16>, u16) {
            let KeysOf(family, shingles) = self;
            let keys = family.keys();
            let mut prepared = Prepared::new();
            prepared.prepare::<L>(keys, shingles);
            let mut rows = vec![0; shingles.len() * 2 * L::COUNT];
            lower_keys::<L, F, 1, 1>(lanes, keys, 0, &prepared, &mut rows);
            let first = rows.chunks(2 * L::COUNT).map(|row| row[0]);
            (first.collect(), keys.reach::<L, F>())
        }
    }

    /// One unit of a key, in units of 2^-64 of the range.
    const UNIT: i128 = 1 << 48;

    /// The least and greatest errors of keys, of shingles and the shares of their values, and the reach.
    fn errors<F: Keyed>(
        isa: Isa,
        family: &F,
        shingles: &[F::Number],
        share: impl Fn(F::Number) -> u64,
    ) -> (i128, i128, i128) {
        let (keys, reach) = isa.run(KeysOf(family, shingles));
        let error = |(key, x): (&u16, &F::Number)| {
            let error = i128::from(*key) * UNIT - i128::from(share(*x));
            error.rem_euclid(UNIT << 16)
        };
        let errors = || keys.iter().zip(shingles).map(error);
        (
            errors().min().unwrap(),
            errors().max().unwrap(),
            reach.into(),
        )
    }

    /// Checks what the module promises, and that a smaller reach would not do.
    #[track_caller]
    fn check<F: Keyed>(
        make: impl Fn(&[u64], &[u64]) -> F,
        permutations: &[(u64, u64)],
        shingles: impl Fn(u64) -> Vec<F::Number>,
        share: impl Fn(u64, u64, F::Number) -> u64,
    ) {
        for isa in Isa::available() {
            let (mut widest, mut reach) = (0, 0);
            for (a, b) in permutations {
                let (least, greatest);
                let family = make(&[*a], &[*b]);
                (least, greatest, reach) =
                    errors(*isa, &family, &shingles(*a), |x| share(*a, *b, x));
                let shown = format!("{isa}, {a}x + {b}: {least} to {greatest}");
                assert!(least > 0 && greatest < (reach + 1) * UNIT, "{shown}");
                assert!(greatest - least < reach * UNIT, "{shown}");
                widest = widest.max(greatest - least);
            }
            assert!(widest > (reach - 1) * UNIT, "{isa}: {widest} of {reach}");
        }
    }

    /// The odd number that a and it multiply to -1 modulo 2^16, for an odd a.
    fn minus_inverse(a: u16) -> u16 {
        let step = |x: u16, _| x.wrapping_mul(2u16.wrapping_sub(a.wrapping_mul(x)));
        (0..4).fold(a, step).wrapping_neg()
    }

    fn half(number: u64, half: u32) -> u16 {
        (number >> (16 * half)) as u16
    }

    fn number(halves: [u16; 4]) -> u64 {
        halves
            .iter()
            .rev()
            .fold(0, |number, half| number << 16 | u64::from(*half))
    }

    fn random(count: u64, seed: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |i| fmix64(seed << 32 | i))
    }

    /// Shingles of which much is left out, and of which nothing is, with any upper half.
    fn shingles(factor: u64) -> Vec<u64> {
        let inverse = |i: u32| minus_inverse(half(factor, i) | 1);
        let corners = [
            [inverse(2), 0xFEFF, inverse(0), 0],
            [inverse(2), inverse(1), inverse(0), 0],
            [inverse(1), inverse(0), 0, 0],
            [0xFFFF, 0xFFFF, 0xFFFF, 0],
            [0x8000, 0x8000, 0x8000, 0x8000],
            [0x7FFF, 0x7FFF, 0x7FFF, 0x7FFF],
            [0x8000, 0x7FFF, 0, 0],
            [0, 0, 0, 0],
        ];
        let with_upper =
            |halves: [u16; 4], upper: u16| number([halves[0], halves[1], halves[2], upper]);
        let all = corners
            .into_iter()
            .flat_map(|halves| random(40, 3).map(move |x| with_upper(halves, x as u16)));
        all.chain(random(300, 4)).collect()
    }

    /// Permutations at random, and some of whose factors much is left out, with addends at a whole unit and beside it.
    fn permutations(unit: u32, below: u64) -> Vec<(u64, u64)> {
        let made = [
            number([0xFFFF, 0xFF01, minus_inverse(0xFFFF), 0x1FFF]),
            number([0xFFFD, 0xFEFF, 7, 3]),
            1,
            below - 1,
        ];
        let factors = made.into_iter().chain(random(200, 1));
        let addends = [0, 1, 0xFFFF, (1 << unit) - 1, 1 << unit, below - 1];
        factors
            .map(|a| 1 + a % (below - 1))
            .flat_map(|a| addends.map(|b| (a, b % below)))
            .collect()
    }

    fn narrow(shingles: impl IntoIterator<Item = u64>) -> Vec<u32> {
        shingles.into_iter().map(|x| x as u32).collect()
    }

    #[test]
    fn keys_of_mersenne31_are_near() {
        let p = u128::from(P31);
        let shingles = |a: u64| {
            let factor = ((u128::from(a) << 48) / p) as u64;
            let inverse = |i: u32| minus_inverse(half(factor, i) | 1);
            let made = [number([inverse(1), inverse(0), 0, 0])];
            narrow(shingles(factor).into_iter().chain(made))
        };
        let share = |a: u64, b: u64, x: u32| {
            let value = (u128::from(a) * u128::from(x) + u128::from(b)) % p;
            ((value << 64) / p) as u64
        };
        check(Mersenne31::new, &permutations(15, P31), shingles, share);
    }

    #[test]
    fn keys_of_mersenne61_are_near() {
        let shingles = |a: u64| {
            let lower = minus_inverse(half(a, 0) | 1);
            let made = random(200, 9).map(|x| number([lower, x as u16, 0, 0]));
            narrow(shingles(a).into_iter().chain(made))
        };
        let share = |a: u64, b: u64, x: u32| u64::from(mersenne61(a, b, x)) << 32;
        check(Mersenne61::new, &permutations(16, P61), shingles, share);
    }

    #[test]
    fn keys_of_mersenne61_wide_are_near() {
        let shingles = |a: u64| shingles(a.wrapping_mul(8));
        let share = |a: u64, b: u64, x: u64| mersenne61_wide(a, b, x) << 3;
        check(Mersenne61Wide::new, &permutations(45, P61), shingles, share);
    }

    #[test]
    fn keys_of_affine64_are_near() {
        let share = |a: u64, b: u64, x: u64| a.wrapping_mul(x).wrapping_add(b);
        check(Affine64::new, &permutations(48, u64::MAX), shingles, share);
    }
}
