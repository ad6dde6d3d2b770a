//! Hash functions of tokens that need no call to Python, and the widths of hashes that schemes take.

use simgpu::scheme::{BaseHash, ShingleHash, SlotVec, Values};
use simgpu::simd::{Isa, sha1_32_batch, sha1_64_batch};

use super::scheme::PermutationScheme;

/// A hash function that is computed without a call to Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeHash {
    /// The first 32 bits of SHA-1.
    Sha1_32,
    /// The first 64 bits of SHA-1.
    Sha1_64,
    /// xxHash of 32 bits.
    Xxh32,
    /// xxHash of 64 bits.
    Xxh64,
}

impl NativeHash {
    /// All of them.
    pub const ALL: [NativeHash; 4] = [
        NativeHash::Sha1_32,
        NativeHash::Sha1_64,
        NativeHash::Xxh32,
        NativeHash::Xxh64,
    ];

    /// The default of a scheme.
    pub fn default_of(scheme: PermutationScheme) -> Self {
        match scheme {
            PermutationScheme::Affine64 => NativeHash::Sha1_64,
            PermutationScheme::Legacy | PermutationScheme::Affine32 => NativeHash::Sha1_32,
        }
    }

    /// Whether hashes have 32 bits. Else they have 64.
    pub fn is_narrow(self) -> bool {
        matches!(self, NativeHash::Sha1_32 | NativeHash::Xxh32)
    }

    /// The same hash of the library.
    pub fn base_hash(self) -> BaseHash {
        match self {
            NativeHash::Sha1_32 => BaseHash::Sha1_32,
            NativeHash::Sha1_64 => BaseHash::Sha1_64,
            NativeHash::Xxh32 => BaseHash::Xxh32,
            NativeHash::Xxh64 => BaseHash::Xxh64,
        }
    }

    /// The hash of a token, of a function of 32 bits.
    pub fn hash_narrow(self, token: &[u8]) -> u32 {
        u32::of_bytes(self.base_hash(), token)
    }

    /// The hash of a token, of a function of 64 bits.
    pub fn hash_wide(self, token: &[u8]) -> u64 {
        u64::of_bytes(self.base_hash(), token)
    }

    /// Appends the hashes of tokens, of a function of 32 bits.
    pub fn append_narrow<'a>(self, tokens: impl Iterator<Item = &'a [u8]>, hashes: &mut Vec<u32>) {
        match self {
            // Vector instructions hash one token per lane.
            NativeHash::Sha1_32 => sha1_32_batch(Isa::best(), tokens, hashes),
            _ => hashes.extend(tokens.map(|token| self.hash_narrow(token))),
        }
    }

    /// Appends the hashes of tokens, of a function of 64 bits.
    pub fn append_wide<'a>(self, tokens: impl Iterator<Item = &'a [u8]>, hashes: &mut Vec<u64>) {
        match self {
            NativeHash::Sha1_64 => sha1_64_batch(Isa::best(), tokens, hashes),
            _ => hashes.extend(tokens.map(|token| self.hash_wide(token))),
        }
    }
}

/// A hash of more than 32 bits, which affine32 does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideHash(pub u64);

/// The hashes in a width that the scheme takes: 32 bits for affine32, 64 for affine64, either for legacy.
///
/// # Errors
/// The first hash that affine32 does not take.
pub fn fit_width(scheme: PermutationScheme, hashes: SlotVec) -> Result<SlotVec, WideHash> {
    Ok(match (scheme, hashes) {
        (PermutationScheme::Affine32, Values::U64(hashes)) => {
            let narrowed: Result<Vec<u32>, WideHash> = hashes.into_iter().map(narrow).collect();
            Values::U32(narrowed?)
        }
        // Most hashes for the legacy scheme have 32 bits, which vector instructions sign.
        (PermutationScheme::Legacy, Values::U64(hashes)) => {
            let narrowed: Result<Vec<u32>, WideHash> = hashes.iter().copied().map(narrow).collect();
            narrowed.map_or(Values::U64(hashes), Values::U32)
        }
        (PermutationScheme::Affine64, Values::U32(hashes)) => {
            Values::U64(hashes.into_iter().map(u64::from).collect())
        }
        (_, fitting) => fitting,
    })
}

fn narrow(hash: u64) -> Result<u32, WideHash> {
    u32::try_from(hash).map_err(|_| WideHash(hash))
}
