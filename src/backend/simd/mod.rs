//! SIMD lanes of the CPU, its instructions chosen at run time: one binary uses AVX-512 or AVX2 where
//! there is one, and the lanes of the `wide` crate, compiled for what every CPU of the architecture
//! has, elsewhere.
//!
//! The only folder with `unsafe`: a function compiled for instructions may be called where an [`Isa`]
//! proves that they are there.
#![allow(
    unsafe_code,
    reason = "calls functions compiled for instructions found at run time"
)]

mod isa;
mod kernels;
mod lanes;

use super::rows::sign_rows;
use super::unfit;
use crate::error::Result;
use crate::pipeline::{Hashes, ShingleSets, SignaturesMut, Signer, SlotsMut};
use crate::scheme::{Family, Permutations, Width};
use isa::{Isa, Kind};
use kernels::{Coefficients, scaled_by_p31};

/// The SIMD backend for one scheme.
pub(super) struct Simd {
    isa: Isa,
    family: Family,
    num_perm: usize,
    coefficients: Widths,
}

/// Coefficients in the width in which the family computes.
enum Widths {
    Narrow(Coefficients<u32>),
    Wide(Coefficients<u64>),
}

/// Calls a kernel, compiled for the instructions that an [`Isa`] proves.
macro_rules! call {
    ($isa:expr, $kernel:ident, $by:expr, $set:expr, $row:expr) => {
        match $isa.kind() {
            Kind::Portable => kernels::portable::$kernel($by, $set, $row),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Isa` of this kind exists only where `Isa::available` found AVX2.
            Kind::Avx2 => unsafe { kernels::avx2::$kernel($by, $set, $row) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: likewise for AVX-512 F, DQ, BW and VL.
            Kind::Avx512 => unsafe { kernels::avx512::$kernel($by, $set, $row) },
        }
    };
}

impl Simd {
    /// Prepares the kernels of the fastest instructions there are.
    pub(super) fn new(permutations: &Permutations) -> Self {
        Simd::with_isa(permutations, Isa::best())
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the coefficients of affine32 fit 32 bits"
    )]
    fn with_isa(permutations: &Permutations, isa: Isa) -> Self {
        let (a, b) = (permutations.a(), permutations.b());
        let family = permutations.family();
        Simd {
            isa,
            family,
            num_perm: permutations.num_perm(),
            coefficients: match family {
                Family::Affine32 => Widths::Narrow(Coefficients::new(a, b, |c| c as u32)),
                Family::Mersenne31 => Widths::Wide(Coefficients::new(a, b, scaled_by_p31)),
                Family::Affine64 | Family::Mersenne61 | Family::Mersenne61Wide => {
                    Widths::Wide(Coefficients::new(a, b, |c| c))
                }
            },
        }
    }
}

impl Signer for Simd {
    fn describe(&self) -> String {
        format!("simd ({})", self.isa)
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
        let (isa, empty) = (self.isa, self.family.empty_slot());
        match (self.family, &self.coefficients, sets.hashes(), slots) {
            (Family::Affine32, Widths::Narrow(by), Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(sets, x, slots, empty as u32, |set, row| {
                    call!(isa, affine32, by, set, row);
                });
            }
            (Family::Mersenne31, Widths::Wide(by), Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(sets, x, slots, empty as u32, |set, row| {
                    call!(isa, mersenne31, by, set, row);
                });
            }
            (Family::Mersenne61, Widths::Wide(by), Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(sets, x, slots, empty as u32, |set, row| {
                    call!(isa, mersenne61, by, set, row);
                });
            }
            (Family::Affine64, Widths::Wide(by), Hashes::U64(x), SlotsMut::U64(slots)) => {
                sign_rows(sets, x, slots, empty, |set, row| {
                    call!(isa, affine64, by, set, row);
                });
            }
            (Family::Mersenne61Wide, Widths::Wide(by), Hashes::U64(x), SlotsMut::U64(slots)) => {
                sign_rows(sets, x, slots, empty, |set, row| {
                    call!(isa, mersenne61_wide, by, set, row);
                });
            }
            _ => return Err(unfit(self.family)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Signatures;
    use crate::scheme::{Draws, fmix64};

    /// Every set of instructions against the definition, for every number of permutations that
    /// enters a main loop, a tail or both, and sets that fill a tile, or not, or more.
    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
    #[test]
    fn every_isa_equals_the_definition() {
        let lengths = [0, 1, 7, 1023, 1024, 1025, 2500];
        let total: usize = lengths.iter().sum();
        let mut offsets = vec![0];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length as i64);
        }
        let mut x: Vec<u64> = (0..total as u64).map(fmix64).collect();
        for (x, corner) in x.iter_mut().zip([u64::MAX, 0, (1 << 31) - 1, 1 << 31]) {
            *x = corner;
        }
        let narrow: Vec<u32> = x.iter().map(|x| *x as u32).collect();
        for family in [
            Family::Affine32,
            Family::Affine64,
            Family::Mersenne31,
            Family::Mersenne61,
            Family::Mersenne61Wide,
        ] {
            let hashes = match family.hash_width() {
                Width::U32 => Hashes::U32(&narrow),
                Width::U64 => Hashes::U64(&x),
            };
            let sets = ShingleSets::new(hashes, &offsets).unwrap();
            for num_perm in (1..=10).chain([15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200]) {
                let drawn = Permutations::draw(family, Draws::AllAThenAllB, 9, num_perm);
                let sign = |signer: &dyn Signer| {
                    let mut signatures = Signatures::new(num_perm, family.slot_width());
                    signatures.sign(signer, &sets).unwrap();
                    signatures
                };
                let expected = sign(&super::super::scalar::Scalar::new(&drawn));
                for isa in Isa::available() {
                    let actual = sign(&Simd::with_isa(&drawn, *isa));
                    assert!(actual == expected, "{family:?} {isa} {num_perm}");
                }
            }
        }
    }
}
