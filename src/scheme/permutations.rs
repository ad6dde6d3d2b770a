//! The coefficients of K permutations, and the value that defines each slot.

use super::family::{Family, P31, P61};
use super::random_state::RandomState;
use super::{affine32, affine64, mersenne31, mersenne61, mersenne61_wide};

/// The order in which coefficients are drawn from the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// a_0, a_1, .., then b_0, b_1, ..
    AllAThenAllB,
    /// a_0, b_0, a_1, b_1, ..
    Interleaved,
}

/// K permutations of one family: `a[k]` and `b[k]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutations {
    family: Family,
    a: Vec<u64>,
    b: Vec<u64>,
}

impl Permutations {
    /// Draws `num_perm` pairs from NumPy's legacy `RandomState(seed)`.
    pub fn draw(family: Family, draws: Draws, seed: u32, num_perm: usize) -> Self {
        let mut random = RandomState::new(seed);
        let draw_a = |random: &mut RandomState| match family {
            Family::Affine32 => random.randint(0, (1 << 31) - 1) * 2 + 1,
            Family::Affine64 => random.randint(0, (1 << 63) - 1) * 2 + 1,
            Family::Mersenne31 => random.randint(1, P31 - 1),
            Family::Mersenne61 | Family::Mersenne61Wide => random.randint(1, P61 - 1),
        };
        let draw_b = |random: &mut RandomState| match family {
            Family::Affine32 => random.randint(0, u64::from(u32::MAX)),
            Family::Affine64 => random.randint(0, u64::MAX),
            Family::Mersenne31 => random.randint(0, P31 - 1),
            Family::Mersenne61 | Family::Mersenne61Wide => random.randint(0, P61 - 1),
        };
        let (a, b) = match draws {
            Draws::AllAThenAllB => (
                (0..num_perm).map(|_| draw_a(&mut random)).collect(),
                (0..num_perm).map(|_| draw_b(&mut random)).collect(),
            ),
            Draws::Interleaved => (0..num_perm)
                .map(|_| (draw_a(&mut random), draw_b(&mut random)))
                .unzip(),
        };
        Permutations { family, a, b }
    }

    /// The family they belong to.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Number of permutations.
    pub fn num_perm(&self) -> usize {
        self.a.len()
    }

    /// The multipliers; those of 32-bit families fit 32 bits, but for `mersenne61`.
    pub fn a(&self) -> &[u64] {
        &self.a
    }

    /// The addends, likewise.
    pub fn b(&self) -> &[u64] {
        &self.b
    }

    /// The value of shingle hash `x` under permutation `k`: what every backend computes.
    ///
    /// `x` of a 32-bit family is taken modulo 2^32.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "32-bit families hold 32-bit coefficients"
    )]
    pub fn value(&self, k: usize, x: u64) -> u64 {
        let (a, b) = (self.a[k], self.b[k]);
        match self.family {
            Family::Affine32 => affine32(a as u32, b as u32, x as u32).into(),
            Family::Affine64 => affine64(a, b, x),
            Family::Mersenne31 => mersenne31(a as u32, b as u32, x as u32).into(),
            Family::Mersenne61 => mersenne61(a, b, x as u32).into(),
            Family::Mersenne61Wide => mersenne61_wide(a, b, x),
        }
    }
}
