//! The definition: one value and one minimum per shingle and permutation. Every other backend equals it
//! bit for bit.

use super::rows::{Threads, sign_rows, wrong_width};
use crate::error::Result;
use crate::pipeline::{ShingleSets, SignaturesMut, Signer};
use crate::scheme::{
    Family, Permutations, Width, affine32, affine32_even, affine64, mersenne31, mersenne61,
    mersenne61_wide,
};
use crate::scheme::{Hashes, SlotsMut};

/// The scalar backend.
pub(super) struct Scalar {
    permutations: Permutations,
    /// Every slot of the empty set.
    empty: u64,
    /// The coefficients cut to 32 bits, for the families whose coefficients fit them.
    narrow: (Vec<u32>, Vec<u32>),
}

#[derive(Clone, Copy)]
struct Coefficients<'a, T> {
    a: &'a [T],
    b: &'a [T],
}

impl Scalar {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "only 32-bit families use the narrow copy, and their coefficients fit"
    )]
    pub(super) fn new(permutations: &Permutations, empty: u64) -> Self {
        let narrow = |wide: &[u64]| wide.iter().map(|c| *c as u32).collect();
        Scalar {
            narrow: (narrow(permutations.a()), narrow(permutations.b())),
            permutations: permutations.clone(),
            empty,
        }
    }
}

impl<C: Copy + Sync> Coefficients<'_, C> {
    fn sign<H: Copy + Sync, S: Copy + Ord + Send + Sync>(
        self,
        threads: Threads,
        sets: &ShingleSets<'_>,
        hashes: &[H],
        slots: &mut [S],
        empty: S,
        value: impl Fn(C, C, H) -> S + Sync,
    ) {
        sign_rows(threads, sets, hashes, slots, empty, |set, row| {
            for (i, x) in set.iter().enumerate() {
                for ((slot, a), b) in row.iter_mut().zip(self.a).zip(self.b) {
                    let value = value(*a, *b, *x);
                    *slot = if i == 0 { value } else { value.min(*slot) };
                }
            }
        });
    }
}

impl Scalar {
    /// Signs sets into slots that fit them.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the empty slot of a 32-bit family fits 32 bits"
    )]
    fn sign_on(&self, threads: Threads, sets: &ShingleSets<'_>, slots: SlotsMut<'_>) -> Result<()> {
        let drawn = &self.permutations;
        let (family, empty) = (drawn.family(), self.empty);
        let (a, b) = &self.narrow;
        let narrow = Coefficients { a, b };
        let wide = Coefficients {
            a: drawn.a(),
            b: drawn.b(),
        };
        match (family, sets.hashes(), slots) {
            (Family::Affine32, Hashes::U32(x), SlotsMut::U32(slots)) => {
                narrow.sign(threads, sets, x, slots, empty as u32, affine32);
            }
            (Family::Affine32Even, Hashes::U32(x), SlotsMut::U32(slots)) => {
                narrow.sign(threads, sets, x, slots, empty as u32, affine32_even);
            }
            (Family::Fast, Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(threads, sets, x, slots, empty as u32, |set, row| {
                    row.fill(u32::MAX);
                    drawn.lower_fast(set, row);
                });
            }
            (Family::RMinHash, Hashes::U64(x), SlotsMut::U32(slots)) => {
                sign_rows(threads, sets, x, slots, empty as u32, |set, row| {
                    row.fill(u32::MAX);
                    drawn.lower_rminhash(set, row);
                });
            }
            (Family::Mersenne31, Hashes::U32(x), SlotsMut::U32(slots)) => {
                narrow.sign(threads, sets, x, slots, empty as u32, mersenne31);
            }
            (Family::Mersenne61, Hashes::U32(x), SlotsMut::U32(slots)) => {
                wide.sign(threads, sets, x, slots, empty as u32, mersenne61);
            }
            (Family::Affine64, Hashes::U64(x), SlotsMut::U64(slots)) => {
                wide.sign(threads, sets, x, slots, empty, affine64);
            }
            (Family::Mersenne61Wide, Hashes::U64(x), SlotsMut::U64(slots)) => {
                wide.sign(threads, sets, x, slots, empty, mersenne61_wide);
            }
            _ => return Err(wrong_width(family)),
        }
        Ok(())
    }
}

impl Signer for Scalar {
    fn describe(&self) -> String {
        "scalar".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.permutations.num_perm()
    }

    fn slot_width(&self) -> Width {
        self.permutations.family().slot_width()
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let slots = signatures.slots_for(sets, self.num_perm())?;
        self.sign_on(Threads::Pool, sets, slots)
    }

    fn sign_set(&self, set: Hashes<'_>, slots: SlotsMut<'_>) -> Result<()> {
        let offsets = [0, set.len() as i64];
        let sets = ShingleSets::new(set, &offsets)?;
        let signatures = SignaturesMut::new(self.num_perm(), slots)?;
        let slots = signatures.slots_for(&sets, self.num_perm())?;
        self.sign_on(Threads::Caller, &sets, slots)
    }
}
