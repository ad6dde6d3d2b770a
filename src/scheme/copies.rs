//! Copies of an element: how a bag becomes a set.
//!
//! An element that occurs n times in a bag becomes its copies 0 to n - 1, each an element of its own. Then |A ∩ B| is
//! the sum of the lesser counts, |A ∪ B| the sum of the greater ones, and every stage treats bags as it treats sets.
//! Copy 0 is the element itself, so that a bag without repeats has the signature of the set.

use super::base_hash::ShingleHash;
use super::family::fmix64;

/// The golden ratio in 64 bits: consecutive multiples of it differ in many bits.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A shingle hash that has copies.
pub trait Copies: ShingleHash {
    /// Copy `i` of the element with this hash. Copy 0 is the hash itself; `i` is below 2^32.
    ///
    /// ```
    /// use simgpu::scheme::Copies;
    ///
    /// assert_eq!(7u64.copy(0), 7);
    /// assert_ne!(7u64.copy(1), 8u64.copy(1));
    /// ```
    fn copy(self, i: u64) -> Self;
}

impl Copies for u32 {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the low half is the definition"
    )]
    #[inline]
    fn copy(self, i: u64) -> u32 {
        match i {
            0 => self,
            _ => fmix64(i << 32 | u64::from(self)) as u32,
        }
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
}
