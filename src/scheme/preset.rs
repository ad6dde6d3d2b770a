//! Presets: schemes that reproduce another tool's values, one row each.

use std::num::NonZeroUsize;

use super::base_hash::BaseHash;
use super::family::Family;
use super::permutations::Draws;

/// All that a tool fixes between a text and its bands.
///
/// What stands under [`Preset::shingles`] and [`Preset::banding`] is a default: it holds where nothing
/// else is asked for. The rest is the scheme.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name of the scheme.
    pub name: &'static str,
    /// The tool, as of a version.
    pub tool: &'static str,
    /// The permutation family.
    pub family: Family,
    /// The base hash; the seeds of cuDF's are replaced by the first multiplier, as in NeMo.
    pub hash: BaseHash,
    /// In what order the coefficients are drawn, and from what.
    pub draws: Draws,
    /// The seed of the draws, unless it is asked for.
    pub seed: u32,
    /// The number of permutations, unless it is asked for.
    pub num_perm: u32,
    /// Every slot of the empty set.
    pub empty_slot: u64,
    /// What texts are cut into.
    pub shingles: Shingles,
    /// Which consecutive units are a shingle.
    pub grams: Grams,
    /// Bands and rows.
    pub banding: PresetBanding,
}

/// What a preset cuts texts into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shingles {
    /// Five words, as without a preset: the tool is given its tokens, or cuts words that depend on a
    /// language model. Its values come out for the same tokens only.
    FiveWords,
    /// Five pieces of the lowercased text, empty ones included.
    FivePieces,
    /// Characters, white space as it is.
    Chars(NonZeroUsize),
}

/// Which consecutive words or tokens, `size` being asked for, are one shingle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grams {
    /// `size` of them, joined by one blank; fewer are one shingle.
    #[default]
    Native,
    /// `size` of them, joined by one blank; fewer are none.
    FullOnly,
    /// As [`Grams::Native`], but a text of fewer than five pieces, be they empty, has none: text-dedup's
    /// `min_length`.
    FromFivePieces,
    /// Of tokens, cuDF's `minhash_ngrams(size)`: `size + 1` of them, joined by nothing, and fewer are
    /// one shingle; but a size of 1 is each token alone.
    Cudf,
}

/// Which bands and rows a preset's tool takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetBanding {
    /// Those with the least error for the threshold, false positives and false negatives weighing alike.
    EqualWeights,
    /// Always these, while the number of permutations is the preset's.
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
pub(super) static PRESETS: [Preset; 9] = [
    Preset {
        name: "datasketch",
        tool: "datasketch 2.0",
        family: Family::Affine32,
        hash: BaseHash::Sha1_32,
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
        hash: BaseHash::Sha1_64,
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
        hash: BaseHash::Sha1_32,
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
        hash: BaseHash::Xxh64,
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
        hash: BaseHash::Xxh32,
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
        hash: BaseHash::Sha1_32,
        draws: Draws::AllAThenAllB,
        seed: 42,
        num_perm: 250,
        empty_slot: EMPTY_32,
        shingles: Shingles::FivePieces,
        grams: Grams::FromFivePieces,
        banding: PresetBanding::EqualWeights,
    },
    Preset {
        name: "nemo",
        tool: "NeMo Curator, by cuDF's minhash",
        family: Family::Affine32Even,
        hash: BaseHash::Cudf32 { seed: 0 },
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
        hash: BaseHash::Cudf64 { seed: 0 },
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
        hash: BaseHash::Fx64,
        draws: Draws::Interleaved,
        seed: 42,
        num_perm: 128,
        empty_slot: EMPTY_32,
        shingles: Shingles::FiveWords,
        grams: Grams::Native,
        banding: PresetBanding::EqualWeights,
    },
];
