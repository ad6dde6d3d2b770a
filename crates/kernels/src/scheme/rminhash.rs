//! R-MinHash, as rensa 0.5 computes it (its algorithm version 2): Fast Similarity Sketching cut to three
//! rounds, with classic permutations for the slots that stay empty.
//!
//! With `mix` the full step of SplitMix64 (Steele, Lea, Flood 2014), and n slots:
//!
//! ```text
//! m     = mix(x ^ b_0 ^ ROUND ^ r*STEP)           in round r of 0, 1, 2
//! slot  = (lo32(m)*n) >> 32, value = r<<30 | m>>34
//! value = 3<<30 | (a_k*f + b_k) >> 34              in all slots k, f = mix(x ^ a_0 ^ FALLBACK)
//! ```
//!
//! The slot is drawn without bias (Lemire 2019): while n is not a power of two and `lo32(m)*n mod 2^32` is
//! below `2^32 mod n`, m is mixed once more; the value comes from the first m. Values of a later round are
//! greater, so rounds after the one that fills the last slot change nothing.

use super::fast::{lower_by_rounds, value_by_rounds};

pub(crate) const INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;
const ROUND: u64 = 0x6A09_E667_F3BC_C909;
const STEP: u64 = 0x3C6E_F372_FE94_F82B;
const FALLBACK: u64 = 0xBB67_AE85_84CA_A73B;

/// The multipliers of [`mix`].
pub(crate) const FIRST: u64 = 0xBF58_476D_1CE4_E5B9;
pub(crate) const SECOND: u64 = 0x94D0_49BB_1331_11EB;

/// Random rounds.
pub(crate) const ROUNDS: usize = 3;

/// Lowers each slot of `row` to the least value of `set`.
pub(crate) fn lower(a: &[u64], b: &[u64], set: &[u64], row: &mut [u32]) {
    let slots = row.len();
    let place = |round: usize, x: u64| place(b[0], x, round, slots);
    lower_by_rounds(ROUNDS, set, row, place, |slot, x| fall_back(a, b, x, slot));
}

/// The value of `x` in slot `slot` of `slots`.
pub(super) fn value(a: &[u64], b: &[u64], x: u64, slot: usize, slots: usize) -> u32 {
    let place = |round: usize| place(b[0], x, round, slots);
    value_by_rounds(ROUNDS, slot, place).unwrap_or_else(|| fall_back(a, b, x, slot))
}

/// The slot into which a round puts `x`, and its value there.
#[inline]
fn place(b0: u64, x: u64, round: usize, slots: usize) -> (usize, u32) {
    slot_and_value(mix(x ^ round_key(b0, round)), round, slots)
}

/// Xored to a shingle before it is mixed in a round.
pub(crate) fn round_key(b0: u64, round: usize) -> u64 {
    b0 ^ ROUND ^ STEP.wrapping_mul(round as u64)
}

/// Xored to a shingle before it is mixed for the permutations.
pub(crate) fn fallback_key(a0: u64) -> u64 {
    a0 ^ FALLBACK
}

/// The slot and the value of a shingle whose mix is `m`.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the low half is meant, and 30 bits are left"
)]
#[inline]
pub(crate) fn slot_and_value(m: u64, round: usize, slots: usize) -> (usize, u32) {
    let slots = slots as u64;
    let low = |m: u64| m & u64::from(u32::MAX);
    let (mut product, rejected) = (low(m) * slots, rejected_below(slots));
    let mut redrawn = m;
    while low(product) < rejected {
        redrawn = mix(redrawn);
        product = low(redrawn) * slots;
    }
    ((product >> 32) as usize, above(round) | (m >> 34) as u32)
}

/// The low half of a product below which the slot is drawn again.
#[inline]
pub(crate) const fn rejected_below(slots: u64) -> u64 {
    (1 << 32) % slots
}

/// The high bits of all values of a round.
#[allow(clippy::cast_possible_truncation, reason = "two bits")]
pub(crate) const fn above(round: usize) -> u32 {
    (round as u32) << 30
}

#[allow(clippy::cast_possible_truncation, reason = "30 bits are left")]
#[inline]
fn fall_back(a: &[u64], b: &[u64], x: u64, slot: usize) -> u32 {
    let f = mix(x ^ fallback_key(a[0]));
    above(ROUNDS) | (a[slot].wrapping_mul(f).wrapping_add(b[slot]) >> 34) as u32
}

/// A step of SplitMix64: the increment, then the mixer.
#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let z = x.wrapping_add(INCREMENT);
    let z = (z ^ z >> 30).wrapping_mul(FIRST);
    let z = (z ^ z >> 27).wrapping_mul(SECOND);
    z ^ z >> 31
}

/// Draws (a_k, b_k), a odd, from Xoshiro256++ (Blackman, Vigna 2019), its state filled by SplitMix64.
pub(crate) fn draw(seed: u64, slots: usize) -> (Vec<u64>, Vec<u64>) {
    let mut state: [u64; 4] =
        std::array::from_fn(|i| mix(seed.wrapping_add(INCREMENT.wrapping_mul(i as u64))));
    let mut next = || {
        let sum = state[0].wrapping_add(state[3]);
        let result = sum.rotate_left(23).wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        result
    };
    (0..slots).map(|_| (next() | 1, next())).unzip()
}
