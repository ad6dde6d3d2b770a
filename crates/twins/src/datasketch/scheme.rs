//! datasketch's permutation schemes.

use simgpu::scheme::{Draws, Family, Scheme};

/// A permutation scheme of datasketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermutationScheme {
    /// datasketch's before 2.0: 32-bit values, kept as uint64.
    Legacy,
    /// The default since 2.0.
    Affine32,
    /// The same in 64 bits.
    Affine64,
}

impl PermutationScheme {
    const ALL: [PermutationScheme; 3] = [
        PermutationScheme::Affine32,
        PermutationScheme::Affine64,
        PermutationScheme::Legacy,
    ];

    /// The scheme of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut known = PermutationScheme::ALL.into_iter();
        known.find(|scheme| scheme.name() == name)
    }

    /// datasketch's name of the scheme.
    pub fn name(self) -> &'static str {
        match self {
            PermutationScheme::Legacy => "legacy",
            PermutationScheme::Affine32 => "affine32",
            PermutationScheme::Affine64 => "affine64",
        }
    }

    /// The scheme's number in byte formats. Those of the legacy scheme have none, and 0 stands for it here.
    pub fn code(self) -> u8 {
        match self {
            PermutationScheme::Legacy => 0,
            PermutationScheme::Affine32 => 1,
            PermutationScheme::Affine64 => 2,
        }
    }

    /// The affine scheme of this number.
    ///
    /// # Errors
    /// [`UnknownCode`] for another number, also for that of the legacy scheme.
    pub fn from_code(code: u8) -> Result<Self, UnknownCode> {
        let affine = [PermutationScheme::Affine32, PermutationScheme::Affine64];
        let known = affine.into_iter().find(|scheme| scheme.code() == code);
        known.ok_or(UnknownCode(code))
    }

    /// The greatest hash, which is every slot of the empty set.
    pub fn greatest(self) -> u64 {
        match self {
            PermutationScheme::Legacy | PermutationScheme::Affine32 => u64::from(u32::MAX),
            PermutationScheme::Affine64 => u64::MAX,
        }
    }

    /// Bytes of a slot in the formats of `LeanMinHash`.
    pub fn stored_bytes(self) -> usize {
        match self {
            PermutationScheme::Legacy | PermutationScheme::Affine32 => 4,
            PermutationScheme::Affine64 => 8,
        }
    }

    pub(super) fn family(self) -> Family {
        match self {
            PermutationScheme::Legacy => Family::Mersenne61,
            PermutationScheme::Affine32 => Family::Affine32,
            PermutationScheme::Affine64 => Family::Affine64,
        }
    }

    pub(super) fn draws(self) -> Draws {
        match self {
            PermutationScheme::Legacy => Draws::Interleaved,
            PermutationScheme::Affine32 | PermutationScheme::Affine64 => Draws::AllAThenAllB,
        }
    }

    /// The preset of the library with the same values.
    ///
    /// # Errors
    /// None that can occur: the library has these presets.
    pub fn preset(self) -> simgpu::Result<Scheme> {
        Scheme::named(match self {
            PermutationScheme::Legacy => "datasketch-legacy",
            PermutationScheme::Affine32 => "datasketch",
            PermutationScheme::Affine64 => "datasketch64",
        })
    }
}

/// A number in a byte format that stands for no scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCode(pub u8);
