//! `fast`: Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup 2017, arXiv 1704.04370), with fewer rounds.
//!
//! A shingle enters one slot per round instead of all slots at once, and rounds end when no slot is empty:
//! about one hash per shingle, where the linear families compute K. In round r of [`ROUNDS`],
//!
//! ```text
//! m     = fmix32(a_r*x + b_r)                      a_r odd: a bijection of x
//! slot  = (m*K) >> 32
//! value = r<<28 | (m*K mod 2^32) >> 4
//! ```
//!
//! so that an earlier round always wins. Small sets leave slots empty after the last round. Such a slot is the
//! least value of its own permutation, like every slot in the second half of the paper's rounds, and above all
//! values of rounds:
//!
//! ```text
//! value = ROUNDS<<28 | affine32(a_k, b_k, x) >> 4  in all slots k
//! ```
//!
//! The paper has K rounds, and its estimates have about half the variance of K independent permutations while
//! rounds fill most slots. At K = 128, fourteen rounds keep that from 16 shingles on; the three rounds of
//! R-MinHash do not. Fewer rounds sign a small set in a fraction of the time. Fourteen leave four bits for r, and
//! the greatest value below the empty slot.
//!
//! A slot is a minimum over shingles of values that depend on one shingle each, so `sign(A u B)` is the slotwise
//! minimum of `sign(A)` and `sign(B)`.
//!
//! More rounds make small sets more accurate but slower: to fill 1,024 slots, 30 shingles need some 250 rounds.
//! Measured with K = 128, J = 1/2 and 4,000 seeds, as the squared error divided by J (1 - J) / K, each within 0.02;
//! sets that are arithmetic progressions give the same:
//!
//! ```text
//! elements of the union    4     8    16    32   128   512
//! fourteen rounds       0.71  0.61  0.50  0.51  0.56  0.78
//! three rounds          0.89  0.83  0.75  0.64  0.53  0.82
//! ```
//!
//! With 16 bands of 8 rows, 95.3 to 96.0 % of pairs with J = 0.8 become candidates, against 94.7 % with independent
//! slots; at J = 0.5, 5.1 to 6.2 %, against 6.1 %.

use super::family::{affine32, fmix32};

/// Random rounds.
pub const ROUNDS: usize = 14;

/// Bits of a value below the bits of its round.
pub(crate) const SHIFT: u32 = 28;

/// Lowers each slot of `row` to the least value of `set`, round by round.
///
/// `a` and `b` are the coefficients of the rounds, then those of the slots.
pub(super) fn lower(a: &[u64], b: &[u64], set: &[u32], row: &mut [u32]) {
    let slots = row.len();
    let place = |round: usize, x: u32| place(a[round], b[round], x, round, slots);
    lower_by_rounds(ROUNDS, set, row, place, |slot, x| fall_back(a, b, x, slot));
}

/// The value of `x` in slot `slot` of `slots`: the least over the rounds that place it there.
pub(super) fn value(a: &[u64], b: &[u64], x: u32, slot: usize, slots: usize) -> u32 {
    let place = |round: usize| place(a[round], b[round], x, round, slots);
    value_by_rounds(ROUNDS, slot, place).unwrap_or_else(|| fall_back(a, b, x, slot))
}

/// Lowers slots by a sketch that puts a shingle into one slot per round: this one and
/// [R-MinHash](super::rminhash). `place` returns slot and value in a round, `fall_back` the value in a slot
/// after all rounds. Once no slot is empty, later rounds cannot lower any.
pub(super) fn lower_by_rounds<X: Copy>(
    rounds: usize,
    set: &[X],
    row: &mut [u32],
    place: impl Fn(usize, X) -> (usize, u32),
    fall_back: impl Fn(usize, X) -> u32,
) {
    let is_full = |row: &[u32]| row.iter().all(|slot| *slot != u32::MAX);
    for round in 0..rounds {
        if set.is_empty() || is_full(row) {
            return;
        }
        for x in set {
            let (slot, value) = place(round, *x);
            row[slot] = row[slot].min(value);
        }
    }
    if is_full(row) {
        return;
    }
    for x in set {
        for (k, slot) in row.iter_mut().enumerate() {
            *slot = (*slot).min(fall_back(k, *x));
        }
    }
}

/// The value of a shingle in a slot by the first round that places it there; `None` if no round does.
pub(super) fn value_by_rounds(
    rounds: usize,
    slot: usize,
    place: impl Fn(usize) -> (usize, u32),
) -> Option<u32> {
    let mut placed = (0..rounds).map(place);
    placed.find_map(|(placed, value)| (placed == slot).then_some(value))
}

/// The slot into which a round puts `x`, and its value there.
#[allow(
    clippy::cast_possible_truncation,
    reason = "coefficients fit 32 bits, and a product is split into its halves"
)]
#[inline]
fn place(a: u64, b: u64, x: u32, round: usize, slots: usize) -> (usize, u32) {
    let m = fmix32((a as u32).wrapping_mul(x).wrapping_add(b as u32));
    let product = u64::from(m) * slots as u64;
    let slot = (product >> 32) as usize;
    (slot, above(round) | product as u32 >> (32 - SHIFT))
}

#[allow(clippy::cast_possible_truncation, reason = "coefficients fit 32 bits")]
fn fall_back(a: &[u64], b: &[u64], x: u32, slot: usize) -> u32 {
    let (a, b) = (a[ROUNDS + slot] as u32, b[ROUNDS + slot] as u32);
    above(ROUNDS) | affine32(a, b, x) >> (32 - SHIFT)
}

/// The high bits of all values of a round.
#[allow(clippy::cast_possible_truncation, reason = "four bits")]
pub(crate) const fn above(round: usize) -> u32 {
    (round as u32) << SHIFT
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
    fn one_shingle_fills_every_slot() {
        for num_perm in [1, 2, 3, 7, 64, 100, MAX_NUM_PERM as usize] {
            let drawn = Permutations::draw(Family::Fast, Draws::AllAThenAllB, 5, num_perm);
            for x in [0, 1, 0xDEAD_BEEF, u32::MAX] {
                let row = sign(&drawn, &[x]);
                assert!(row.iter().all(|slot| *slot != u32::MAX), "{num_perm}");
                // Every slot of a short row, some of a long one.
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

    #[test]
    fn no_value_is_the_empty_slot() {
        assert!(above(ROUNDS) | (u32::MAX >> (32 - SHIFT)) < u32::MAX);
    }
}
