//! The permutations of a sketch, drawn from a seed or given.

use std::fmt;

use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::Signer;
use simgpu::scheme::{
    Hashes, MAX_NUM_PERM, Permutations as DrawnPermutations, SlotVec, SlotsMut, Values, Word,
    fmix32, fmix64, mersenne61_wide,
};

use super::scheme::PermutationScheme;
use super::slots::lower;

/// Slots of a row on the stack.
const ROW: usize = 256;

/// K permutations of a scheme.
pub struct Permutations {
    scheme: PermutationScheme,
    coefficients: Coefficients,
    /// Signs with vector instructions; `None` if the library has no signer for these coefficients.
    signer: Option<Box<dyn Signer>>,
}

#[derive(Debug)]
enum Coefficients {
    Drawn { seed: u32, drawn: DrawnPermutations },
    Given { a: Vec<u64>, b: Vec<u64> },
}

impl fmt::Debug for Permutations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Permutations");
        debug.field("scheme", &self.scheme);
        debug.field("coefficients", &self.coefficients);
        debug.finish_non_exhaustive()
    }
}

impl Permutations {
    /// The permutations that numpy's `RandomState(seed)` draws.
    ///
    /// # Errors
    /// Those of the library's signer.
    pub fn drawn(scheme: PermutationScheme, seed: u32, num_perm: usize) -> simgpu::Result<Self> {
        let drawn = DrawnPermutations::draw(scheme.family(), scheme.draws(), seed, num_perm);
        Ok(Permutations {
            scheme,
            coefficients: Coefficients::Drawn { seed, drawn },
            signer: signer(scheme, seed, num_perm)?,
        })
    }

    /// Permutations with these coefficients, which no seed needs to draw.
    pub fn given(scheme: PermutationScheme, a: Vec<u64>, b: Vec<u64>) -> Self {
        // The library refuses coefficients that no seed draws, such as those above the modulus.
        let checked = DrawnPermutations::from_coefficients(scheme.family(), &a, &b).ok();
        let signer = checked.and_then(|permutations| {
            let signer = Backend::Simd.signer_of(&permutations, &Hardware::default());
            signer.ok()
        });
        Permutations {
            scheme,
            coefficients: Coefficients::Given { a, b },
            signer,
        }
    }

    /// The scheme.
    pub fn scheme(&self) -> PermutationScheme {
        self.scheme
    }

    /// The number of permutations.
    pub fn num_perm(&self) -> usize {
        self.a().len()
    }

    /// The seed that draws these permutations; `None` if they were given.
    pub fn seed(&self) -> Option<u32> {
        match &self.coefficients {
            Coefficients::Drawn { seed, .. } => Some(*seed),
            Coefficients::Given { .. } => None,
        }
    }

    /// The multipliers.
    pub fn a(&self) -> &[u64] {
        match &self.coefficients {
            Coefficients::Drawn { drawn, .. } => drawn.a(),
            Coefficients::Given { a, .. } => a,
        }
    }

    /// The summands.
    pub fn b(&self) -> &[u64] {
        match &self.coefficients {
            Coefficients::Drawn { drawn, .. } => drawn.b(),
            Coefficients::Given { b, .. } => b,
        }
    }

    /// Lowers `slots` to the values of a set. 32-bit hashes serve affine32 and legacy, 64-bit ones affine64 and
    /// legacy.
    ///
    /// # Errors
    /// Those of the library's signer.
    pub fn sign(&self, hashes: Hashes<'_>, slots: &mut SlotVec) -> simgpu::Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        match (&self.signer, hashes, slots) {
            (Some(signer), Hashes::U32(_), slots) => {
                let (mut short, mut long) = ([0; ROW], Vec::new());
                let row = row_of(slots.len(), &mut short, &mut long);
                signer.sign_set(hashes, SlotsMut::U32(row))?;
                match slots {
                    Values::U32(slots) => lower(slots, row.iter().copied()),
                    Values::U64(slots) => lower(slots, row.iter().copied().map(u64::from)),
                }
            }
            (Some(signer), Hashes::U64(_), Values::U64(slots))
                if self.scheme == PermutationScheme::Affine64 =>
            {
                let (mut short, mut long) = ([0; ROW], Vec::new());
                let row = row_of(slots.len(), &mut short, &mut long);
                signer.sign_set(hashes, SlotsMut::U64(row))?;
                lower(slots, row.iter().copied());
            }
            (_, Hashes::U32(hashes), slots) => {
                let hashes = hashes.iter().map(|hash| u64::from(*hash));
                self.sign_one_by_one(hashes, slots);
            }
            (_, Hashes::U64(hashes), slots) => {
                self.sign_one_by_one(hashes.iter().copied(), slots);
            }
        }
        Ok(())
    }

    /// Lowers `slots` one value at a time, as the scheme is defined: for coefficients and hashes that the library does not
    /// sign with.
    fn sign_one_by_one(&self, hashes: impl Iterator<Item = u64>, slots: &mut SlotVec) {
        let pairs = || self.a().iter().copied().zip(self.b().iter().copied());
        for hash in hashes {
            match slots {
                Values::U32(slots) => {
                    let mixed = fmix32(Word::cut(hash));
                    let value = |(a, b)| u32::cut(a).wrapping_mul(mixed).wrapping_add(Word::cut(b));
                    lower(slots, pairs().map(value));
                }
                Values::U64(slots) if self.scheme == PermutationScheme::Affine64 => {
                    let mixed = fmix64(hash);
                    let value = |(a, b): (u64, u64)| a.wrapping_mul(mixed).wrapping_add(b);
                    lower(slots, pairs().map(value));
                }
                Values::U64(slots) => {
                    let value = |(a, b)| mersenne61_wide(a, b, hash) & u64::from(u32::MAX);
                    lower(slots, pairs().map(value));
                }
            }
        }
    }
}

/// A row of `len` slots: on the stack if it is short, which saves an allocation per update.
fn row_of<'a, W: Word>(len: usize, short: &'a mut [W; ROW], long: &'a mut Vec<W>) -> &'a mut [W] {
    if len <= ROW {
        return &mut short[..len];
    }
    long.resize(len, W::default());
    long
}

/// The library's signer on the CPU, if it signs with this many permutations.
fn signer(
    scheme: PermutationScheme,
    seed: u32,
    num_perm: usize,
) -> simgpu::Result<Option<Box<dyn Signer>>> {
    let count = u32::try_from(num_perm).ok();
    let Some(count) = count.filter(|count| *count <= MAX_NUM_PERM) else {
        return Ok(None);
    };
    let scheme = scheme.preset()?.with_num_perm(count)?.with_seed(seed);
    Backend::Simd.signer(&scheme).map(Some)
}
