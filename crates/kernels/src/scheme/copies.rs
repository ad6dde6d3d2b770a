//! Copies of an element: how a bag, or a set of weighted elements, becomes a set.
//!
//! An element that occurs n times in a bag becomes its copies 0 to n - 1, each an element of its own. Then |A ∩ B| is
//! the sum of the lesser counts, |A ∪ B| the sum of the greater ones, and every stage treats bags as it treats sets.
//! Copy 0 is the element itself, so that a bag without repeats has the signature of the set.
//!
//! An element of weight w becomes w q copies, where q is the [`WeightScale`]. Of a fraction of a copy, the hash of the
//! copy decides whether the set has it: with a probability equal to the fraction, and the same for all documents. So a
//! greater weight has all copies that a lesser one has, and the sizes of intersection and union are, on average, the sums
//! of the lesser and of the greater weights. All arithmetic is that of integers.
//!
//! The scale is fixed, not computed from the data: signatures of different scales cannot be compared.

use super::base_hash::ShingleHash;
use super::family::fmix64;
use crate::error::{Error, Result};

/// The golden ratio in 64 bits: consecutive multiples of it differ in many bits.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A shingle hash that has copies.
pub trait Copies: ShingleHash {
    /// Copy `i` of the element with this hash. Copy 0 is the hash itself; `i` is below 2^32.
    ///
    /// ```
    /// # use simgpu_kernels as simgpu;
    /// use simgpu::scheme::Copies;
    ///
    /// assert_eq!(7u64.copy(0), 7);
    /// assert_ne!(7u64.copy(1), 8u64.copy(1));
    /// ```
    fn copy(self, i: u64) -> Self;

    /// Calls `emit` with the copies of an element of this weight, in units of 2^-32 copies ([`WeightScale::fixed`]):
    /// all whole copies, and of the fraction beyond them the next copy, if its hash is below the fraction.
    fn for_each_copy(self, weight: u64, emit: impl FnMut(Self));
}

/// Whether a set has the copy with this hash, of which it has a fraction in units of 2^-32.
fn has_fraction(copy: u64, fraction: u64) -> bool {
    fmix64(copy ^ 0xA5A5_A5A5_A5A5_A5A5) >> 32 < fraction
}

/// Whole copies and the fraction of the next one, in a weight.
fn parts(weight: u64) -> (u64, u64) {
    (weight >> 32, weight & 0xFFFF_FFFF)
}

impl Copies for u32 {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the low half is the definition"
    )]
    #[inline]
    fn copy(self, i: u64) -> u32 {
        wide_copy(self, i) as u32
    }

    fn for_each_copy(self, weight: u64, mut emit: impl FnMut(u32)) {
        let (whole, fraction) = parts(weight);
        (0..whole).for_each(|i| emit(self.copy(i)));
        if has_fraction(wide_copy(self, whole), fraction) {
            emit(self.copy(whole));
        }
    }
}

/// A copy of a 32-bit hash, before it is cut to 32 bits.
#[inline]
fn wide_copy(hash: u32, i: u64) -> u64 {
    match i {
        0 => hash.into(),
        _ => fmix64(i << 32 | u64::from(hash)),
    }
}

impl Copies for u64 {
    #[inline]
    fn copy(self, i: u64) -> u64 {
        match i {
            0 => self,
            _ => fmix64(self.wrapping_add(i.wrapping_mul(STEP))),
        }
    }

    fn for_each_copy(self, weight: u64, mut emit: impl FnMut(u64)) {
        let (whole, fraction) = parts(weight);
        (0..whole).for_each(|i| emit(self.copy(i)));
        let next = self.copy(whole);
        if has_fraction(next, fraction) {
            emit(next);
        }
    }
}

/// The most copies of a document: its weights, times the scale, may not exceed them.
pub const MAX_COPIES: u32 = 1 << 24;

/// The number of copies per unit of weight: a power of two, so that products with it are exact.
///
/// Signatures can be compared only if their scales are equal. More copies cost more time and lower the error: the
/// variance of an estimate grows by a share of at most the number of permutations divided by the copies of a document.
/// About 1,024 copies per document are a good choice; the error is near the ideal from 256 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightScale {
    log2: i32,
}

impl Default for WeightScale {
    /// 16 copies per unit of weight.
    fn default() -> Self {
        WeightScale { log2: 4 }
    }
}

impl WeightScale {
    /// A scale of this many copies per unit of weight.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless it is a power of two from 2^-20 to 2^20.
    pub fn new(copies: f64) -> Result<Self> {
        let mut scales = (-20..=20).map(|log2| WeightScale { log2 });
        let scale = scales.find(|scale| scale.get() == copies);
        scale.ok_or_else(|| Error::Parameter {
            name: "`weight_scale`",
            value: copies.to_string(),
            expected: "a power of two from 2^-20 to 2^20, such as 0.5, 1 or 16".to_owned(),
        })
    }

    /// Copies per unit of weight.
    pub fn get(self) -> f64 {
        2f64.powi(self.log2)
    }

    /// A weight in units of 2^-32 copies, rounded down; 0 for what is no weight, and at most [`MAX_COPIES`] copies.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast rounds down and saturates"
    )]
    pub fn fixed(self, weight: f64) -> u64 {
        // A clamp keeps a NaN, which the cast turns into 0.
        let copies = (weight * self.get()).clamp(0.0, MAX_COPIES.into());
        (copies * f64::from(1u32 << 16) * f64::from(1u32 << 16)) as u64
    }

    /// What is wrong with the weights of a document, if anything is.
    #[doc(hidden)]
    pub fn problem_in(self, weights: impl Iterator<Item = f64>) -> Option<String> {
        let mut sum = 0;
        for weight in weights {
            if !(weight.is_finite() && weight >= 0.0) {
                return Some(format!("{weight} is not a weight, a number from 0 on"));
            }
            sum += self.fixed(weight);
            if sum >= u64::from(MAX_COPIES) << 32 {
                return Some(format!(
                    "its weights come to {MAX_COPIES} copies or more, at {} per unit of weight; lower `weight_scale`",
                    self.get()
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn copies_have_published_values() {
        assert_eq!(
            [0, 1, 2].map(|i| 7u32.copy(i)),
            [7, 0x5E04_F1E0, 0x3D4F_527C]
        );
        assert_eq!(
            [0, 1, 2].map(|i| 7u64.copy(i)),
            [7, 0x12B5_6A21_36F8_4755, 0x7D51_58DF_1857_3211]
        );
    }

    #[test]
    fn copies_of_many_elements_differ() {
        let copies = (0..1000u64).flat_map(|x| (0..100).map(move |i| x.copy(i)));
        assert_eq!(copies.collect::<HashSet<_>>().len(), 100_000);
    }

    #[test]
    fn scales_are_powers_of_two() {
        for scale in [0.5, 1.0, 16.0, 1024.0] {
            assert_eq!(WeightScale::new(scale).unwrap().get(), scale);
        }
        for scale in [0.0, 3.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e9] {
            assert!(WeightScale::new(scale).is_err(), "{scale}");
        }
    }

    #[test]
    fn weights_are_rounded_down_to_fixed_point() {
        let scale = WeightScale::new(2.0).unwrap();
        assert_eq!(scale.fixed(1.75), 7 << 31);
        // 0.2 * 2^32 = 858,993,459.2
        assert_eq!(scale.fixed(0.1), 858_993_459);
        assert_eq!([-1.0, f64::NAN, 0.0].map(|w| scale.fixed(w)), [0; 3]);
        assert_eq!(scale.fixed(f64::INFINITY), u64::from(MAX_COPIES) << 32);
        let problem = |weights: &[f64]| scale.problem_in(weights.iter().copied());
        assert_eq!(problem(&[0.0, 3.5, 8e6]), None);
        for wrong in [&[1.0, -0.5][..], &[f64::NAN], &[f64::INFINITY], &[8e6, 8e6]] {
            assert!(problem(wrong).is_some(), "{wrong:?}");
        }
    }

    /// Of 10,000 elements of weight w, 10,000 w copies are expected.
    #[test]
    fn copies_are_as_many_as_the_weight() {
        for weight in [0.0, 0.25, 0.5, 1.0, 1.7, 6.125] {
            let fixed = WeightScale::new(1.0).unwrap().fixed(weight);
            let (mut wide, mut narrow) = (0, 0);
            for x in 0..10_000u32 {
                fmix64(x.into()).for_each_copy(fixed, |_| wide += 1);
                x.for_each_copy(fixed, |_| narrow += 1);
            }
            let fraction = weight.fract();
            let error = 4.0 * f64::sqrt(10_000.0 * fraction * (1.0 - fraction));
            for copies in [wide, narrow] {
                let off = f64::from(copies) - 10_000.0 * weight;
                assert!(off.abs() <= error, "{weight}: {copies}");
            }
        }
    }

    #[test]
    fn greater_weights_have_all_copies_of_lesser_ones() {
        let copies = |weight: u64| {
            let mut copies = Vec::new();
            77u64.for_each_copy(weight, |copy| copies.push(copy));
            copies
        };
        let mut last = Vec::new();
        for weight in (0..40).map(|i| i << 29) {
            let now = copies(weight);
            assert!(now.starts_with(&last));
            last = now;
        }
    }
}
