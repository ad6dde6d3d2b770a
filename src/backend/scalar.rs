//! The definition: for every shingle of a set and every permutation, one value and one minimum.
//! Every other backend equals it bit for bit.

use super::rows::sign_rows;
use super::unfit;
use crate::error::Result;
use crate::pipeline::{Hashes, ShingleSets, SignaturesMut, Signer, SlotsMut};
use crate::scheme::{
    Family, Permutations, Width, affine32, affine64, mersenne31, mersenne61, mersenne61_wide,
};

/// The scalar backend.
pub(super) struct Scalar {
    family: Family,
    wide: Coefficients<u64>,
    narrow: Coefficients<u32>,
}

struct Coefficients<T> {
    a: Vec<T>,
    b: Vec<T>,
}

impl Scalar {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "only 32-bit families use the narrow copy, and their coefficients fit"
    )]
    pub(super) fn new(permutations: &Permutations) -> Self {
        let narrow = |wide: &[u64]| wide.iter().map(|c| *c as u32).collect();
        Scalar {
            family: permutations.family(),
            narrow: Coefficients {
                a: narrow(permutations.a()),
                b: narrow(permutations.b()),
            },
            wide: Coefficients {
                a: permutations.a().to_vec(),
                b: permutations.b().to_vec(),
            },
        }
    }
}

impl<C: Copy + Sync> Coefficients<C> {
    fn sign<H: Copy + Sync, S: Copy + Ord + Send + Sync>(
        &self,
        sets: &ShingleSets<'_>,
        hashes: &[H],
        slots: &mut [S],
        empty: S,
        value: impl Fn(C, C, H) -> S + Sync,
    ) {
        sign_rows(sets, hashes, slots, empty, |set, row| {
            for x in set {
                for ((slot, a), b) in row.iter_mut().zip(&self.a).zip(&self.b) {
                    *slot = (*slot).min(value(*a, *b, *x));
                }
            }
        });
    }
}

impl Signer for Scalar {
    fn describe(&self) -> String {
        "scalar".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.wide.a.len()
    }

    fn slot_width(&self) -> Width {
        self.family.slot_width()
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the empty slot of a 32-bit family fits 32 bits"
    )]
    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let empty = self.family.empty_slot();
        let slots = signatures.slots_for(sets, self.num_perm())?;
        let (narrow, wide) = (&self.narrow, &self.wide);
        match (self.family, sets.hashes(), slots) {
            (Family::Affine32, Hashes::U32(x), SlotsMut::U32(slots)) => {
                narrow.sign(sets, x, slots, empty as u32, affine32);
            }
            (Family::Mersenne31, Hashes::U32(x), SlotsMut::U32(slots)) => {
                narrow.sign(sets, x, slots, empty as u32, mersenne31);
            }
            (Family::Mersenne61, Hashes::U32(x), SlotsMut::U32(slots)) => {
                wide.sign(sets, x, slots, empty as u32, mersenne61);
            }
            (Family::Affine64, Hashes::U64(x), SlotsMut::U64(slots)) => {
                wide.sign(sets, x, slots, empty, affine64);
            }
            (Family::Mersenne61Wide, Hashes::U64(x), SlotsMut::U64(slots)) => {
                wide.sign(sets, x, slots, empty, mersenne61_wide);
            }
            _ => return Err(unfit(self.family)),
        }
        Ok(())
    }
}
