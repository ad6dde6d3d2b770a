//! Minhashing by true permutations (MMDS 3.3.2): the ideal that hash families approximate. They are drawn at random, or
//! given: the permutations and hash functions of the book's examples.

use std::collections::BTreeSet;

use crate::error::{Conflict, Result};
use crate::pipeline::{ShingleSets, SignaturesMut, Signer};
use crate::scheme::{Hashes, SlotsMut, Width, fmix64};

/// Signs sets of 64-bit hashes by random permutations of their universe: a slot holds the place of the set's first
/// element in the permuted order. The slots of an empty set are `u32::MAX`.
///
/// The universe is the union of the sets of one call. Each universe has permutations of its own, so signatures of
/// different calls cannot be compared, and trials with different data are independent. Permutes the universe once per
/// slot: for small sets only.
#[derive(Clone, Copy, Debug)]
pub struct RandomPermutations {
    num_perm: u32,
    seed: u32,
}

impl RandomPermutations {
    /// This number of permutations, drawn by a seed.
    pub fn new(num_perm: u32, seed: u32) -> Self {
        RandomPermutations { num_perm, seed }
    }
}

impl Signer for RandomPermutations {
    fn describe(&self) -> String {
        "permutations".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.num_perm as usize
    }

    fn slot_width(&self) -> Width {
        Width::U32
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let num_perm = self.num_perm();
        let (hashes, slots) = rows_and_slots(sets, signatures, num_perm)?;
        let universe: BTreeSet<u64> = hashes.iter().copied().collect();
        let universe: Vec<u64> = universe.into_iter().collect();
        let row_of = |hash: &u64| universe.partition_point(|element| element < hash);
        let rows: Vec<usize> = hashes.iter().map(row_of).collect();
        let mut places: Vec<u32> = (0..).take(universe.len()).collect();
        let mut draws = universe
            .iter()
            .fold(self.seed.into(), |mixed, element| fmix64(mixed ^ element));
        for slot in 0..num_perm {
            shuffle(&mut places, &mut draws);
            let column = slots.iter_mut().skip(slot).step_by(num_perm);
            write_least(sets, &rows, column, |row| places[*row]);
        }
        Ok(())
    }
}

/// Signs sets of rows, as 64-bit hashes: slot k of a set is the least `value(k, row)`, the place of the row in the k-th
/// permuted order, or its value by the k-th hash function, such as `(a * row + b) mod n`. The slots of an empty set are
/// `u32::MAX`.
#[derive(Clone, Copy, Debug)]
pub struct GivenPermutations<F> {
    num_perm: usize,
    value: F,
}

impl<F: Fn(usize, u64) -> u32 + Send + Sync> GivenPermutations<F> {
    /// This number of permutations.
    pub fn new(num_perm: usize, value: F) -> Self {
        GivenPermutations { num_perm, value }
    }
}

impl<F: Fn(usize, u64) -> u32 + Send + Sync> Signer for GivenPermutations<F> {
    fn describe(&self) -> String {
        "given permutations".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.num_perm
    }

    fn slot_width(&self) -> Width {
        Width::U32
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let (rows, slots) = rows_and_slots(sets, signatures, self.num_perm)?;
        for slot in 0..self.num_perm {
            let value = |row: &u64| (self.value)(slot, *row);
            let column = slots.iter_mut().skip(slot).step_by(self.num_perm);
            write_least(sets, rows, column, value);
        }
        Ok(())
    }
}

/// The hashes of all sets, and the slots of all signatures.
fn rows_and_slots<'a>(
    sets: &ShingleSets<'a>,
    signatures: SignaturesMut<'a>,
    num_perm: usize,
) -> Result<(&'a [u64], &'a mut [u32])> {
    let slots = signatures.slots_for(sets, num_perm)?;
    match (sets.hashes(), slots) {
        (Hashes::U64(hashes), SlotsMut::U32(slots)) => Ok((hashes, slots)),
        _ => Err(Conflict::SchemeWidths {
            hash_bits: 64,
            slot_bits: 32,
        }
        .into()),
    }
}

/// Writes one slot of each signature, a column of them: the least value of the set's rows.
fn write_least<'s, Row>(
    sets: &ShingleSets<'_>,
    rows: &[Row],
    column: impl Iterator<Item = &'s mut u32>,
    value: impl Fn(&Row) -> u32,
) {
    for (set, slot) in column.take(sets.len()).enumerate() {
        let values = rows[sets.range(set)].iter().map(&value);
        *slot = values.fold(u32::MAX, u32::min);
    }
}

/// Permutes `places` by a Fisher-Yates shuffle. `draws` counts the random draws, from any number on.
fn shuffle(places: &mut [u32], draws: &mut u64) {
    /// 2^64 divided by the golden ratio, as in SplitMix64.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    for last in (1..places.len()).rev() {
        *draws = draws.wrapping_add(1);
        let random = u128::from(fmix64(draws.wrapping_mul(STEP)));
        // The upper half of a product is below the factor, so it fits.
        let chosen = usize::try_from((random * (last as u128 + 1)) >> 64).unwrap_or(last);
        places.swap(last, chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the six orders of three elements is drawn equally often.
    #[test]
    fn all_orders_are_equally_likely() {
        let (mut places, mut draws) = (vec![0, 1, 2], 1 << 32);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            shuffle(&mut places, &mut draws);
            *counts.entry(places.clone()).or_insert(0) += 1;
        }
        let squares = counts.values().map(|count| f64::from(count - 1000).powi(2));
        assert_eq!(counts.len(), 6);
        // The chi-square statistic of five degrees of freedom exceeds 20.5 once in a thousand times.
        assert!(squares.sum::<f64>() / 1000.0 < 20.5, "{counts:?}");
    }
}
