//! `fast`: Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup 2017, arXiv 1704.04370).
//!
//! A shingle goes into one slot a round instead of all slots at once, and rounds end when no slot is
//! empty: about one hash a shingle, where the linear families take K. In round r of 2K,
//!
//! ```text
//! m    = fmix32(a_r*x + b_r)                       a_r odd: a bijection of x
//! slot = (m*K) >> 32, u = (m*K) mod 2^32           if r < K: drawn at random
//! slot = r - K,       u = m                        if r >= K: so that every shingle fills all slots
//! ```
//!
//! and the value is r above u, so that an earlier round always wins: two bits of r and 30 of u for the
//! first three rounds, which decide all but small sets, and afterwards all of r:
//!
//! ```text
//! value = r<<30 | u>>2                                  if r < 3
//! value = 3<<30 | (r-3)<<(30-w) | u>>(2+w)              if r >= 3, w = max(1, bits of 2K-4)
//! ```
//!
//! A slot is the least value over all shingles and rounds, which makes it a function of each shingle
//! alone: `sign(A u B)` is the slotwise minimum of `sign(A)` and `sign(B)`. No value is 2^32 - 1,
//! which marks the empty slot: that would take r - 3 to be w ones, but the greatest one, 2K-4, is even.

use super::family::fmix32;

/// Lowers each slot of `row` to the least value of `set`, round by round.
///
/// `a` and `b` are the coefficients of the 2K rounds. The rounds that are left when no slot is empty
/// cannot lower any.
pub(super) fn lower(a: &[u64], b: &[u64], set: &[u32], row: &mut [u32]) {
    let slots = row.len() as u64;
    for (round, (a, b)) in (0u64..).zip(a.iter().zip(b)) {
        if set.is_empty() || row.iter().all(|slot| *slot != u32::MAX) {
            return;
        }
        for x in set {
            let (slot, value) = place(*a, *b, *x, round, slots);
            row[slot] = row[slot].min(value);
        }
    }
}

/// The value of `x` in slot `slot` of `slots`: the least over the rounds that place it there.
pub(super) fn value(a: &[u64], b: &[u64], x: u32, slot: usize, slots: usize) -> u32 {
    let rounds = (0u64..).zip(a.iter().zip(b));
    let placed = rounds.map(|(round, (a, b))| place(*a, *b, x, round, slots as u64));
    let here = placed.filter(|(placed, _)| *placed == slot);
    here.map(|(_, value)| value).min().unwrap_or(u32::MAX)
}

/// The slot into which round `round` puts `x`, and with what value.
#[allow(
    clippy::cast_possible_truncation,
    reason = "coefficients fit 32 bits, slots and u are halves of a product, rounds are below 2^15"
)]
#[inline]
pub(crate) fn place(a: u64, b: u64, x: u32, round: u64, slots: u64) -> (usize, u32) {
    let m = fmix32((a as u32).wrapping_mul(x).wrapping_add(b as u32));
    let (slot, u) = if round < slots {
        let product = u64::from(m) * slots;
        ((product >> 32) as usize, product as u32)
    } else {
        ((round - slots) as usize, m)
    };
    let (prefix, shift) = prefix(round, slots);
    (slot, prefix | u >> shift)
}

/// What stands above u in the values of a round, and how far u is shifted to stand below it.
#[allow(clippy::cast_possible_truncation, reason = "rounds are below 2^15")]
pub(crate) fn prefix(round: u64, slots: u64) -> (u32, u32) {
    if round < 3 {
        ((round as u32) << 30, 2)
    } else {
        let width = round_width(slots);
        (3 << 30 | ((round - 3) as u32) << (30 - width), 2 + width)
    }
}

/// Bits that hold the number of any round after the third.
fn round_width(slots: u64) -> u32 {
    let greatest = (2 * slots).saturating_sub(4);
    (u64::BITS - greatest.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{Draws, Family, MAX_NUM_PERM, Permutations};

    fn sign(permutations: &Permutations, set: &[u32]) -> Vec<u32> {
        let mut row = vec![u32::MAX; permutations.num_perm()];
        permutations.lower_fast(set, &mut row);
        row
    }

    #[test]
    fn one_shingle_fills_every_slot_with_its_own_values() {
        for num_perm in [1, 2, 3, 7, 64, 100, MAX_NUM_PERM as usize] {
            let drawn = Permutations::draw(Family::Fast, Draws::AllAThenAllB, 5, num_perm);
            for x in [0, 1, 0xDEAD_BEEF, u32::MAX] {
                let row = sign(&drawn, &[x]);
                assert!(row.iter().all(|slot| *slot != u32::MAX), "{num_perm}");
                // All slots where there are few, some where there are many.
                for slot in (0..num_perm).step_by(num_perm.div_ceil(64)) {
                    assert_eq!(u64::from(row[slot]), drawn.value(slot, x.into()));
                }
            }
        }
    }

    #[test]
    fn a_union_has_the_lesser_slots() {
        for num_perm in [1, 3, 33, 128, 1000] {
            let drawn = Permutations::draw(Family::Fast, Draws::AllAThenAllB, 1, num_perm);
            for (left, right) in [(1, 1), (1, 90), (40, 41), (5, 2000)] {
                let left: Vec<u32> = (0..left).map(|x| x * 7).collect();
                let right: Vec<u32> = (0..right).map(|x| x * 9 + 1).collect();
                let both = [left.as_slice(), &right].concat();
                let (left, right) = (sign(&drawn, &left), sign(&drawn, &right));
                let lesser = left.iter().zip(&right).map(|(l, r)| *l.min(r));
                assert!(lesser.eq(sign(&drawn, &both)), "{num_perm}");
            }
        }
    }

    /// What the last round can reach at most.
    #[test]
    fn no_value_is_the_empty_slot() {
        for slots in 1..=u64::from(MAX_NUM_PERM) {
            let greatest = (2 * slots).saturating_sub(4);
            assert!(greatest < (1 << round_width(slots)) - 1, "{slots}");
        }
    }
}
