//! The coefficients of permutations in the forms that kernels read.

use super::lanes::Lanes;

/// Coefficients are padded to a multiple of this, a multiple of every vector's lanes.
pub(super) const PADDING: usize = 16;

/// The coefficients of K permutations, padded: whole, and split into words for 32-bit lanes.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Coefficients {
    pub(super) a: Vec<u64>,
    pub(super) b: Vec<u64>,
    pub(super) a_low: Vec<u32>,
    pub(super) a_high: Vec<u32>,
    pub(super) b_low: Vec<u32>,
    pub(super) pairs: Vec<Pair>,
}

/// A factor, in words, and an addend.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Pair {
    pub(super) a: [u32; 2],
    pub(super) b: u64,
}

impl Coefficients {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "numbers are split into words"
    )]
    pub(super) fn new(a: impl Iterator<Item = u64>, b: impl Iterator<Item = u64>) -> Self {
        let padded = |coefficients: &mut dyn Iterator<Item = u64>| {
            let mut padded: Vec<u64> = coefficients.collect();
            padded.resize(padded.len().next_multiple_of(PADDING), 0);
            padded
        };
        let (a, b) = (padded(&mut { a }), padded(&mut { b }));
        let words = |numbers: &[u64], shift: u32| -> Vec<u32> {
            numbers
                .iter()
                .map(|number| (number >> shift) as u32)
                .collect()
        };
        let (a_low, a_high) = (words(&a, 0), words(&a, 32));
        let pair = |((low, high), b): ((&u32, &u32), &u64)| Pair {
            a: [*low, *high],
            b: *b,
        };
        Coefficients {
            pairs: a_low.iter().zip(&a_high).zip(&b).map(pair).collect(),
            a_low,
            a_high,
            b_low: words(&b, 0),
            a,
            b,
        }
    }

    /// The factors and addends, padded.
    #[doc(hidden)]
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.a.iter().copied().zip(self.b.iter().copied())
    }

    /// The vector of 64-bit sums that begins at permutation `first`.
    #[inline(always)]
    pub(super) fn affine<L: Lanes>(&self, lanes: L, first: usize) -> L::Affine {
        lanes.affine(
            &self.a_low[first..],
            &self.a_high[first..],
            &self.b[first..],
        )
    }
}
