//! SIMD lanes of the CPU.

mod portable;

use super::rows::sign_rows;
use super::unfit;
use crate::error::Result;
use crate::pipeline::{Hashes, ShingleSets, SignaturesMut, Signer, SlotsMut};
use crate::scheme::{Family, Permutations, Width};
use portable::{Affine32, Affine64, Mersenne31, Mersenne61, Mersenne61Wide};

/// The SIMD backend: one kernel a family, its coefficients laid out in lanes.
pub(super) struct Simd {
    num_perm: usize,
    family: Family,
    kernel: Kernel,
}

enum Kernel {
    Affine32(Affine32),
    Affine64(Affine64),
    Mersenne31(Mersenne31),
    Mersenne61(Mersenne61),
    Mersenne61Wide(Mersenne61Wide),
}

impl Simd {
    pub(super) fn new(permutations: &Permutations) -> Self {
        let family = permutations.family();
        let (a, b) = (permutations.a(), permutations.b());
        Simd {
            num_perm: permutations.num_perm(),
            family,
            kernel: match family {
                Family::Affine32 => Kernel::Affine32(Affine32::new(a, b)),
                Family::Affine64 => Kernel::Affine64(Affine64::new(a, b)),
                Family::Mersenne31 => Kernel::Mersenne31(Mersenne31::new(a, b)),
                Family::Mersenne61 => Kernel::Mersenne61(Mersenne61::new(a, b)),
                Family::Mersenne61Wide => Kernel::Mersenne61Wide(Mersenne61Wide::new(a, b)),
            },
        }
    }
}

impl Signer for Simd {
    fn describe(&self) -> String {
        "simd (portable lanes)".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.num_perm
    }

    fn slot_width(&self) -> Width {
        self.family.slot_width()
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the empty slot of a 32-bit family fits 32 bits"
    )]
    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let slots = signatures.slots_for(sets, self.num_perm)?;
        let empty = self.family.empty_slot();
        match (&self.kernel, sets.hashes(), slots) {
            (Kernel::Affine32(kernel), Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(sets, x, slots, empty as u32, |set, row| {
                    kernel.update(set, row)
                });
            }
            (Kernel::Mersenne31(kernel), Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(sets, x, slots, empty as u32, |set, row| {
                    kernel.update(set, row)
                });
            }
            (Kernel::Mersenne61(kernel), Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(sets, x, slots, empty as u32, |set, row| {
                    kernel.update(set, row)
                });
            }
            (Kernel::Affine64(kernel), Hashes::U64(x), SlotsMut::U64(slots)) => {
                sign_rows(sets, x, slots, empty, |set, row| kernel.update(set, row));
            }
            (Kernel::Mersenne61Wide(kernel), Hashes::U64(x), SlotsMut::U64(slots)) => {
                sign_rows(sets, x, slots, empty, |set, row| kernel.update(set, row));
            }
            _ => return Err(unfit(self.family)),
        }
        Ok(())
    }
}
