//! The coefficients of K permutations, and the definition of a slot's values.

use super::family::{
    Family, P31, P61, affine32, affine32_even, affine64, mersenne31, mersenne61, mersenne61_wide,
};
use super::random_state::RandomState;
use super::{fast, rminhash};
use crate::error::{Error, Result};

/// The greatest number of permutations: far beyond any use, and small enough to try all bandings.
pub const MAX_NUM_PERM: u32 = 1 << 14;

/// The order in which coefficients are drawn from the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// a_0, a_1, .., then b_0, b_1, ..
    AllAThenAllB,
    /// a_0, b_0, a_1, b_1, ..
    Interleaved,
    /// Interleaved, and all below 2^31 - 1 in any family: NeMo's at 32 bits.
    InterleavedBelowP31,
}

/// K permutations of one family: slot k has the coefficients `a[k]` and `b[k]`. In [`Family::Fast`] the
/// coefficients of its [rounds](super::fast::ROUNDS) come first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutations {
    family: Family,
    num_perm: usize,
    a: Vec<u64>,
    b: Vec<u64>,
}

impl Permutations {
    /// Draws `num_perm` pairs from NumPy's legacy `RandomState(seed)`. [`Family::Fast`] draws those of its
    /// rounds, too; [`Family::RMinHash`] has its own generator and order.
    pub fn draw(family: Family, draws: Draws, seed: u32, num_perm: usize) -> Self {
        let mut random = RandomState::new(seed);
        let (least_a, last_a, last_b) = ranges(family, draws);
        let is_odd = matches!(family, Family::Affine32 | Family::Affine64 | Family::Fast);
        let draw_a = |random: &mut RandomState| {
            let a = random.randint(least_a, last_a);
            if is_odd { a * 2 + 1 } else { a }
        };
        let draw_b = |random: &mut RandomState| random.randint(0, last_b);
        let pairs = match family {
            Family::Fast => fast::ROUNDS + num_perm,
            _ => num_perm,
        };
        let (a, b) = match draws {
            _ if family == Family::RMinHash => rminhash::draw(seed.into(), num_perm),
            Draws::AllAThenAllB => (
                (0..pairs).map(|_| draw_a(&mut random)).collect(),
                (0..pairs).map(|_| draw_b(&mut random)).collect(),
            ),
            Draws::Interleaved | Draws::InterleavedBelowP31 => (0..pairs)
                .map(|_| (draw_a(&mut random), draw_b(&mut random)))
                .unzip(),
        };
        Permutations {
            family,
            num_perm,
            a,
            b,
        }
    }

    /// Permutations with given coefficients, for example those of another tool's sketch. A signer of a backend signs with
    /// them.
    ///
    /// Every value is computed by the family's formula. Draw each coefficient at random, and in `affine32` and
    /// `affine64` odd multipliers; with others, estimates are biased.
    ///
    /// ```
    /// # use simgpu_kernels as simgpu;
    /// use simgpu::scheme::{Draws, Family, Permutations};
    ///
    /// // The first two permutations of another sketch.
    /// let all = Permutations::draw(Family::Mersenne61, Draws::Interleaved, 1, 128);
    /// let two = Permutations::from_coefficients(Family::Mersenne61, &all.a()[..2], &all.b()[..2])?;
    /// assert_eq!([two.value(0, 7), two.value(1, 7)], [all.value(0, 7), all.value(1, 7)]);
    /// # Ok::<(), simgpu_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `a` and `b` have the same length, from 1 to
    /// [`MAX_NUM_PERM`](super::MAX_NUM_PERM), and all coefficients are below the family's modulus; and for
    /// [`Family::Fast`] and [`Family::RMinHash`], whose slots have no coefficients of their own.
    pub fn from_coefficients(family: Family, a: &[u64], b: &[u64]) -> Result<Self> {
        let refused = |value: String, expected: String| Error::Parameter {
            name: "permutations",
            value,
            expected,
        };
        let Some(greatest) = greatest_coefficient(family) else {
            let value = format!("a list of coefficients for {family:?}");
            let expected = "those of a family that computes a*x + b".to_owned();
            return Err(refused(value, expected));
        };
        let num_perm = a.len();
        if num_perm != b.len() || num_perm == 0 || num_perm > MAX_NUM_PERM as usize {
            let value = format!("{} multipliers with {} addends", num_perm, b.len());
            let expected = format!("as many of either, from 1 to {MAX_NUM_PERM}");
            return Err(refused(value, expected));
        }
        if let Some(large) = a.iter().chain(b).find(|number| **number > greatest) {
            let value = format!("a list that holds {large}");
            return Err(refused(value, format!("numbers up to {greatest}")));
        }
        Ok(Permutations {
            family,
            num_perm,
            a: a.to_vec(),
            b: b.to_vec(),
        })
    }

    /// Their family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Number of permutations.
    pub fn num_perm(&self) -> usize {
        self.num_perm
    }

    /// The multipliers. In 32-bit families they fit 32 bits, except in `mersenne61`.
    pub fn a(&self) -> &[u64] {
        &self.a
    }

    /// The addends. In 32-bit families they fit 32 bits, except in `mersenne61`.
    pub fn b(&self) -> &[u64] {
        &self.b
    }

    /// The value of shingle hash `x` in slot `k`. A slot of a signature is the least over a set.
    ///
    /// A 32-bit family reduces `x` modulo 2^32.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "32-bit families hold 32-bit coefficients"
    )]
    pub fn value(&self, k: usize, x: u64) -> u64 {
        let (a, b) = (self.a[k], self.b[k]);
        match self.family {
            Family::Affine32Even => affine32_even(a as u32, b as u32, x as u32).into(),
            Family::Fast => fast::value(&self.a, &self.b, x as u32, k, self.num_perm).into(),
            Family::RMinHash => rminhash::value(&self.a, &self.b, x, k, self.num_perm).into(),
            Family::Affine32 => affine32(a as u32, b as u32, x as u32).into(),
            Family::Affine64 => affine64(a, b, x),
            Family::Mersenne31 => mersenne31(a as u32, b as u32, x as u32).into(),
            Family::Mersenne61 => mersenne61(a, b, x as u32).into(),
            Family::Mersenne61Wide => mersenne61_wide(a, b, x),
        }
    }

    /// Lowers each slot of `row` to the least value of a set, with [`Family::Fast`].
    #[doc(hidden)]
    pub fn lower_fast(&self, set: &[u32], row: &mut [u32]) {
        fast::lower(&self.a, &self.b, set, row);
    }

    /// Lowers each slot of `row` to the least value of a set, with [`Family::RMinHash`].
    #[doc(hidden)]
    pub fn lower_rminhash(&self, set: &[u64], row: &mut [u32]) {
        rminhash::lower(&self.a, &self.b, set, row);
    }
}

/// The greatest coefficient of a family; `None` if its slots have no coefficients of their own.
fn greatest_coefficient(family: Family) -> Option<u64> {
    match family {
        Family::Affine32 | Family::Affine32Even => Some(u32::MAX.into()),
        Family::Affine64 => Some(u64::MAX),
        Family::Mersenne31 => Some(P31 - 1),
        Family::Mersenne61 | Family::Mersenne61Wide => Some(P61 - 1),
        Family::Fast | Family::RMinHash => None,
    }
}

/// The least a, the greatest a and the greatest b to draw. A family with odd a draws half of a - 1.
fn ranges(family: Family, draws: Draws) -> (u64, u64, u64) {
    const M32: u64 = u32::MAX as u64;
    match (family, draws) {
        (_, Draws::InterleavedBelowP31) | (Family::Mersenne31, _) => (1, P31 - 1, P31 - 1),
        (Family::Affine32 | Family::Fast, _) => (0, (1 << 31) - 1, M32),
        (Family::Affine32Even, _) => (1, M32, M32),
        (Family::Affine64 | Family::RMinHash, _) => (0, (1 << 63) - 1, u64::MAX),
        (Family::Mersenne61 | Family::Mersenne61Wide, _) => (1, P61 - 1, P61 - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_that_do_not_fit_are_refused() {
        let of = |family, a: &[u64], b: &[u64]| Permutations::from_coefficients(family, a, b);
        for (family, greatest) in [
            (Family::Affine32, u64::from(u32::MAX)),
            (Family::Affine32Even, u64::from(u32::MAX)),
            (Family::Mersenne31, P31 - 1),
            (Family::Mersenne61, P61 - 1),
            (Family::Mersenne61Wide, P61 - 1),
        ] {
            assert!(of(family, &[greatest], &[greatest]).is_ok());
            for (a, b) in [([greatest + 1], [0]), ([1], [greatest + 1])] {
                let message = of(family, &a, &b).unwrap_err().to_string();
                assert!(message.contains(&greatest.to_string()), "{message}");
            }
        }
        assert!(of(Family::Affine64, &[u64::MAX], &[u64::MAX]).is_ok());
        assert!(of(Family::Affine64, &[1, 3], &[0]).is_err());
        assert!(of(Family::Affine64, &[], &[]).is_err());
        let many = vec![1; MAX_NUM_PERM as usize + 1];
        assert!(of(Family::Affine64, &many, &many).is_err());
        for family in [Family::Fast, Family::RMinHash] {
            assert!(of(family, &[1], &[0]).is_err());
        }
    }
}
