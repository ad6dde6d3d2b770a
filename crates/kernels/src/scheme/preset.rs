//! Presets: schemes that reproduce another tool's values, one entry per tool and width.

use std::num::NonZeroUsize;

use super::base_hash::BaseHash;
use super::family::Family;
use super::permutations::Draws;

/// Everything that a tool fixes between a text and its bands.
///
/// [`Preset::shingles`] and [`Preset::banding`] are defaults, which options override. The rest is the scheme.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name of the scheme.
    pub name: &'static str,
    /// The tool and its version.
    pub tool: &'static str,
    /// The permutation family.
    pub family: Family,
    /// The base hash.
    pub hash: PresetHash,
    /// Order and ranges of the coefficient draws.
    pub draws: Draws,
    /// Default seed of the draws.
    pub seed: u32,
    /// Default number of permutations.
    pub num_perm: u32,
    /// Every slot of the empty set.
    pub empty_slot: u64,
    /// What the tool cuts texts into.
    pub shingles: Shingles,
    /// Which consecutive units form a shingle.
    pub grams: Grams,
    /// Bands and rows.
    pub banding: PresetBanding,
}

/// The base hash of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetHash {
    /// A base hash without further parameters.
    Fixed(BaseHash),
    /// [`BaseHash::SeededXxh3_32`], with the seed of the draws as in text-dedup.
    Xxh3,
    /// [`BaseHash::Cudf32`], seeded by the first multiplier as in NeMo.
    Cudf32,
    /// [`BaseHash::Cudf64`], seeded by the first multiplier as in NeMo.
    Cudf64,
}

/// What a preset cuts texts into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shingles {
    /// Five words, as without a preset. The tool leaves the cutting of words to its caller or to a tokenizer such
    /// as spaCy, so only its values for given tokens are reproduced.
    FiveWords,
    /// Five pieces (`Unit::Pieces`) of the lowercased text, empty ones included.
    FivePieces,
    /// Single pieces of the lowercased text, without empty ones.
    OnePiece,
    /// This number of characters, with white space unchanged.
    Chars(NonZeroUsize),
}

/// Which consecutive words or tokens form one shingle of a given `size`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grams {
    /// `size` of them. A preset joins them by one space; without a preset, several tokens are joined with their
    /// lengths, and `words-v1` combines the hashes of words. A document with fewer than `size` has one shingle, made of
    /// all of them.
    #[default]
    Native,
    /// `size` of them, joined by one space. A document with fewer than `size` has no shingle.
    FullOnly,
    /// As [`Grams::Native`], but a text of fewer than five pieces, empty ones included, has no shingle:
    /// text-dedup's `min_length`.
    FromFivePieces,
    /// As [`Grams::FromFivePieces`], but a text is split as by the Python package `regex`, whose words also hold
    /// marks, and empty pieces do not count: text-dedup since 0.4.1.
    FromFiveFullPieces,
    /// cuDF's `minhash_ngrams(size)` on tokens: `size + 1` of them, joined without a separator. A document with
    /// fewer has one shingle, made of all of them. A size of 1 is an exception: each token alone is a shingle.
    Cudf,
}

/// How a preset's tool chooses bands and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetBanding {
    /// The least error for the threshold, with equal weights of false positives and false negatives.
    EqualWeights,
    /// The given bands and rows, for every threshold, if the number of permutations is the preset's.
    Fixed {
        /// Number of bands.
        bands: usize,
        /// Slots of a band.
        rows: usize,
    },
}

const CHARS_24: Shingles = Shingles::Chars(const { NonZeroUsize::new(24).unwrap() });
const EMPTY_32: u64 = u32::MAX as u64;

/// Every preset.
pub(super) static PRESETS: [Preset; 10] = [
    Preset {
        name: "datasketch",
        tool: "datasketch 2.0",
        family: Family::Affine32,
        hash: PresetHash::Fixed(BaseHash::Sha1_32),
        draws: Draws::AllAThenAllB,
        seed: 1,
        num_perm: 128,
        empty_slot: EMPTY_32,
        shingles: Shingles::FiveWords,
        grams: Grams::Native,
        banding: PresetBanding::EqualWeights,
    },
    Preset {
        name: "datasketch64",
        tool: "datasketch 2.0 with 64-bit hash values",
        family: Family::Affine64,
        hash: PresetHash::Fixed(BaseHash::Sha1_64),
        draws: Draws::AllAThenAllB,
        seed: 1,
        num_perm: 128,
        empty_slot: u64::MAX,
        shingles: Shingles::FiveWords,
        grams: Grams::Native,
        banding: PresetBanding::EqualWeights,
    },
    Preset {
        name: "datasketch-legacy",
        tool: "datasketch before 2.0",
        family: Family::Mersenne61,
        hash: PresetHash::Fixed(BaseHash::Sha1_32),
        draws: Draws::Interleaved,
        seed: 1,
        num_perm: 128,
        empty_slot: EMPTY_32,
        shingles: Shingles::FiveWords,
        grams: Grams::Native,
        banding: PresetBanding::EqualWeights,
    },
    Preset {
        name: "datatrove",
        tool: "datatrove 0.10, given its words",
        family: Family::Mersenne61Wide,
        hash: PresetHash::Fixed(BaseHash::Xxh64),
        draws: Draws::AllAThenAllB,
        seed: 1,
        num_perm: 112,
        empty_slot: u64::MAX,
        shingles: Shingles::FiveWords,
        grams: Grams::FullOnly,
        banding: PresetBanding::Fixed { bands: 14, rows: 8 },
    },
    Preset {
        name: "datatrove32",
        tool: "datatrove 0.10 at 32 bits, given its words",
        family: Family::Mersenne61,
        hash: PresetHash::Fixed(BaseHash::Xxh32),
        draws: Draws::AllAThenAllB,
        seed: 1,
        num_perm: 112,
        empty_slot: EMPTY_32,
        shingles: Shingles::FiveWords,
        grams: Grams::FullOnly,
        banding: PresetBanding::Fixed { bands: 14, rows: 8 },
    },
    Preset {
        name: "text-dedup",
        tool: "text-dedup 0.4.0",
        family: Family::Mersenne61,
        hash: PresetHash::Fixed(BaseHash::Sha1_32),
        draws: Draws::AllAThenAllB,
        seed: 42,
        num_perm: 250,
        empty_slot: EMPTY_32,
        shingles: Shingles::FivePieces,
        grams: Grams::FromFivePieces,
        banding: PresetBanding::EqualWeights,
    },
    Preset {
        name: "text-dedup-0.4.1",
        tool: "text-dedup 0.4.1",
        family: Family::Mersenne61,
        hash: PresetHash::Xxh3,
        draws: Draws::AllAThenAllB,
        seed: 42,
        // The tool has no default; this is that of 0.4.0.
        num_perm: 250,
        empty_slot: EMPTY_32,
        shingles: Shingles::OnePiece,
        grams: Grams::FromFiveFullPieces,
        banding: PresetBanding::EqualWeights,
    },
    Preset {
        name: "nemo",
        tool: "NeMo Curator, by cuDF's minhash",
        family: Family::Affine32Even,
        hash: PresetHash::Cudf32,
        draws: Draws::InterleavedBelowP31,
        seed: 42,
        num_perm: 260,
        empty_slot: 0,
        shingles: CHARS_24,
        grams: Grams::Cudf,
        banding: PresetBanding::Fixed {
            bands: 20,
            rows: 13,
        },
    },
    Preset {
        name: "nemo64",
        tool: "NeMo Curator with 64-bit hash values",
        family: Family::Mersenne61Wide,
        hash: PresetHash::Cudf64,
        draws: Draws::Interleaved,
        seed: 42,
        num_perm: 260,
        empty_slot: 0,
        shingles: CHARS_24,
        grams: Grams::Cudf,
        banding: PresetBanding::Fixed {
            bands: 20,
            rows: 13,
        },
    },
    Preset {
        name: "rensa",
        tool: "rensa 0.5's R-MinHash",
        family: Family::RMinHash,
        hash: PresetHash::Fixed(BaseHash::Fx64),
        draws: Draws::Interleaved,
        seed: 42,
        num_perm: 128,
        empty_slot: EMPTY_32,
        shingles: Shingles::FiveWords,
        grams: Grams::Native,
        banding: PresetBanding::EqualWeights,
    },
];
