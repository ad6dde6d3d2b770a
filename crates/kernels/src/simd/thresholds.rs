//! Both ways to sign a set, so that the lengths from which chunks are faster can be measured again.

use super::chunks::{self, ByChunks};
use super::isa::Isa;
use super::sign::{
    Affine64, Family32, Family64, Mersenne31, Mersenne61, Mersenne61Wide, lower32, lower64,
};
use crate::scheme::Family;

/// The permutations of a family that is signed by chunks.
#[allow(missing_debug_implementations, reason = "holds closures")]
pub enum BothWays {
    /// Of 32-bit shingles and minima.
    U32(LowerBothWays<u32>),
    /// Of 64-bit shingles and minima.
    U64(LowerBothWays<u64>),
}

/// Computes a minimum for each permutation, in the form that kernels keep, with these instructions, by chunks or not, of a set of at
/// least 16 shingles.
pub type LowerBothWays<N> = Box<dyn Fn(Isa, bool, &[N], &mut [N])>;

impl BothWays {
    /// Of the permutations with factors `a` and addends `b`; `None` for a family that is never signed by chunks.
    pub fn new(family: Family, a: &[u64], b: &[u64]) -> Option<Self> {
        match family {
            Family::Mersenne31 => Some(both32(Mersenne31::new(a, b))),
            Family::Mersenne61 => Some(both32(Mersenne61::new(a, b))),
            Family::Mersenne61Wide => Some(both64(Mersenne61Wide::new(a, b))),
            Family::Affine64 => Some(both64(Affine64::new(a, b))),
            _ => None,
        }
    }
}

fn both32<F: Family32 + ByChunks<Number = u32> + 'static>(family: F) -> BothWays {
    BothWays::U32(Box::new(move |isa, chunked, set, row| {
        if chunked {
            chunks::lower(isa, &family, set, row)
        } else {
            lower32(isa, &family, set, row)
        }
    }))
}

fn both64<F: Family64 + ByChunks<Number = u64> + 'static>(family: F) -> BothWays {
    BothWays::U64(Box::new(move |isa, chunked, set, row| {
        if chunked {
            chunks::lower(isa, &family, set, row)
        } else {
            lower64(isa, &family, set, row)
        }
    }))
}

/// The length of sets from which a family is signed by chunks; `None` if it never is.
pub fn threshold(family: Family, isa: Isa) -> Option<usize> {
    let from = match family {
        Family::Mersenne31 => Mersenne31::FROM,
        Family::Mersenne61 => Mersenne61::FROM,
        Family::Mersenne61Wide => Mersenne61Wide::FROM,
        Family::Affine64 => <Affine64 as ByChunks>::FROM,
        _ => return None,
    };
    Some(isa.choose(from))
}
