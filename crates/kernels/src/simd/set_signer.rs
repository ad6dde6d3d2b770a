//! The signer of one set: a family with its coefficients.

use std::fmt;

use super::fast::{Fast, RMinHash};
use super::isa::Isa;
use super::sign::{
    Affine32, Affine64, Family32, Family64, Mersenne31, Mersenne61, Mersenne61Wide, sign32, sign64,
};
use crate::scheme::{Family, Permutations};

/// What signs one set with the coefficients of a scheme, by the widths of hashes and slots.
#[doc(hidden)]
pub enum SetSigner {
    U32ToU32(Box<dyn SignSet<u32, u32>>),
    U64ToU32(Box<dyn SignSet<u64, u32>>),
    U64ToU64(Box<dyn SignSet<u64, u64>>),
}

impl fmt::Debug for SetSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetSigner").finish_non_exhaustive()
    }
}

impl SetSigner {
    /// The signer for these permutations.
    pub fn new(permutations: &Permutations) -> Self {
        use SetSigner::{U32ToU32, U64ToU32, U64ToU64};

        let (a, b) = (permutations.a(), permutations.b());
        match permutations.family() {
            Family::Affine32 => U32ToU32(Box::new(Affine32::<true>::new(a, b))),
            Family::Affine32Even => U32ToU32(Box::new(Affine32::<false>::new(a, b))),
            Family::Fast => U32ToU32(Box::new(Fast::new(a, b))),
            Family::RMinHash => U64ToU32(Box::new(RMinHash::new(a, b))),
            Family::Mersenne31 => U32ToU32(Box::new(Mersenne31::new(a, b))),
            Family::Mersenne61 => U32ToU32(Box::new(Mersenne61::new(a, b))),
            Family::Affine64 => U64ToU64(Box::new(Affine64::new(a, b))),
            Family::Mersenne61Wide => U64ToU64(Box::new(Mersenne61Wide::new(a, b))),
        }
    }
}

/// Signs one set of hashes `H` that is not empty into slots `S`. The indirect call costs nothing compared
/// with signing the smallest set.
#[doc(hidden)]
pub trait SignSet<H, S>: Send + Sync {
    fn sign_set(&self, isa: Isa, set: &[H], row: &mut [S]);
}

impl<F: Family32> SignSet<u32, u32> for F {
    fn sign_set(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        sign32(isa, self, set, row);
    }
}

impl<F: Family64> SignSet<u64, u64> for F {
    fn sign_set(&self, isa: Isa, set: &[u64], row: &mut [u64]) {
        sign64(isa, self, set, row);
    }
}

impl SignSet<u32, u32> for Fast {
    fn sign_set(&self, isa: Isa, set: &[u32], row: &mut [u32]) {
        self.sign(isa, set, row);
    }
}

impl SignSet<u64, u32> for RMinHash {
    fn sign_set(&self, isa: Isa, set: &[u64], row: &mut [u32]) {
        self.sign(isa, set, row);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::scheme::{Draws, fmix64};
    use crate::simd::guard::{Against, Guarded};

    const FAMILIES: [Family; 8] = [
        Family::Affine32,
        Family::Affine32Even,
        Family::Affine64,
        Family::Mersenne31,
        Family::Mersenne61,
        Family::Mersenne61Wide,
        Family::Fast,
        Family::RMinHash,
    ];

    /// Kernels read nothing around the shingles, and write nothing around the slots.
    #[test]
    fn kernels_keep_to_their_buffers() {
        for (against, family) in [Against::Start, Against::End]
            .into_iter()
            .flat_map(|against| FAMILIES.map(|family| (against, family)))
        {
            for num_perm in [1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 127, 128, 130] {
                let drawn = Permutations::draw(family, Draws::AllAThenAllB, 3, num_perm);
                let signer = SetSigner::new(&drawn);
                for count in (1..=17).chain([63, 64, 65, 700, 2049]) {
                    let hashes: Vec<u64> = (0..count).map(fmix64).collect();
                    let narrow: Vec<u32> = hashes.iter().map(|hash| (*hash >> 32) as u32).collect();
                    let wide = Guarded::new(&hashes, against);
                    let narrow = Guarded::new(&narrow, against);
                    for isa in Isa::available() {
                        let mut slots32 = Guarded::new(&vec![0u32; num_perm], against);
                        let mut slots64 = Guarded::new(&vec![0u64; num_perm], against);
                        match &signer {
                            SetSigner::U32ToU32(signer) => {
                                signer.sign_set(*isa, &narrow, &mut slots32);
                            }
                            SetSigner::U64ToU32(signer) => {
                                signer.sign_set(*isa, &wide, &mut slots32);
                            }
                            SetSigner::U64ToU64(signer) => {
                                signer.sign_set(*isa, &wide, &mut slots64);
                            }
                        }
                    }
                }
            }
        }
    }
}
