//! The permutation families: `a*x + b` with a modulus, and families that fill slots in rounds.
//!
//! The squared error of `affine32`, divided by that of independent slots, is 1.0 on random sets and on arithmetic
//! progressions. `affine32-even` does not mix hashes and comes to 3.3 on progressions: it exists to reproduce NeMo's
//! values.

use super::width::Width;

/// The Mersenne prime 2^31 - 1.
pub const P31: u64 = (1 << 31) - 1;

/// The Mersenne prime 2^61 - 1.
pub const P61: u64 = (1 << 61) - 1;

/// A family of hash functions in place of random permutations of the shingles (MMDS 3.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// [`affine32`]: the default; a bijection of 32-bit values after a mixing step.
    Affine32,
    /// [`affine64`]: the same in 64 bits, for sets beyond about 10^8 elements.
    Affine64,
    /// [`mersenne31`]: the textbook's `(a*x + b) mod p`, 2-universal.
    Mersenne31,
    /// [`mersenne61`]: datasketch before 2.0, datatrove at 32 bits, text-dedup.
    Mersenne61,
    /// [`mersenne61_wide`]: datatrove's default, NeMo at 64 bits.
    Mersenne61Wide,
    /// [`affine32_even`]: cuDF's at 32 bits, NeMo's default.
    Affine32Even,
    /// [`fast`](super::fast): Fast Similarity Sketching, about one hash per shingle.
    Fast,
    /// R-MinHash, as rensa 0.5 computes it: three rounds of Fast Similarity Sketching, then one permutation
    /// per slot that is still empty.
    RMinHash,
}

impl Family {
    /// Width of the shingle hashes it permutes.
    pub fn hash_width(self) -> Width {
        match self {
            Family::Affine32
            | Family::Mersenne31
            | Family::Mersenne61
            | Family::Affine32Even
            | Family::Fast => Width::U32,
            Family::Affine64 | Family::Mersenne61Wide | Family::RMinHash => Width::U64,
        }
    }

    /// Width of a signature slot.
    pub fn slot_width(self) -> Width {
        match self {
            Family::RMinHash => Width::U32,
            _ => self.hash_width(),
        }
    }

    /// The value of a slot before the first shingle; no value is greater. Every slot of the empty set keeps
    /// it, unless [`Scheme::empty_slot`](super::Scheme::empty_slot) is another.
    pub fn empty_slot(self) -> u64 {
        match self {
            Family::Affine32
            | Family::Mersenne61
            | Family::Affine32Even
            | Family::Fast
            | Family::RMinHash => u64::from(u32::MAX),
            Family::Mersenne31 => P31,
            Family::Affine64 | Family::Mersenne61Wide => u64::MAX,
        }
    }
}

/// `(a*h + b) mod 2^32` with `h = fmix32(x)` and a odd.
///
/// The mixing step matters: without it, every linear family is biased by about -0.067 at a similarity of one
/// half when shingle values form an arithmetic progression.
pub fn affine32(a: u32, b: u32, x: u32) -> u32 {
    a.wrapping_mul(fmix32(x)).wrapping_add(b)
}

/// `(a*x + b) mod 2^32`; not a permutation if a is even. cuDF's `% (2^61 - 1)` changes no 32-bit number.
pub fn affine32_even(a: u32, b: u32, x: u32) -> u32 {
    a.wrapping_mul(x).wrapping_add(b)
}

/// `(a*h + b) mod 2^64` with `h = fmix64(x)` and a odd.
pub fn affine64(a: u64, b: u64, x: u64) -> u64 {
    a.wrapping_mul(fmix64(x)).wrapping_add(b)
}

/// `(a*x + b) mod (2^31 - 1)`, exact; `1 <= a < P31`, `0 <= b < P31`.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a remainder of P31 fits 31 bits"
)]
pub fn mersenne31(a: u32, b: u32, x: u32) -> u32 {
    ((u64::from(a) * (u64::from(x) % P31) + u64::from(b)) % P31) as u32
}

/// The low 32 bits of `((a*x + b) mod 2^64) mod (2^61 - 1)`.
///
/// It wraps at 2^64 before it reduces, like the tools whose values it reproduces, and so differs from the
/// textbook's hash.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the low 32 bits are the definition"
)]
pub fn mersenne61(a: u64, b: u64, x: u32) -> u32 {
    mersenne61_wide(a, b, u64::from(x)) as u32
}

/// `((a*x + b) mod 2^64) mod (2^61 - 1)`.
pub fn mersenne61_wide(a: u64, b: u64, x: u64) -> u64 {
    a.wrapping_mul(x).wrapping_add(b) % P61
}

/// MurmurHash3's finaliser of 32 bits: a bijection.
pub fn fmix32(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85EB_CA6B);
    h ^= h >> 13;
    h = h.wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

/// MurmurHash3's finaliser of 64 bits: a bijection.
pub fn fmix64(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    h ^= h >> 33;
    h = h.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    h ^ (h >> 33)
}
