//! What a signature value *is*: base hash, permutation family, coefficient draws, slot width.
//!
//! A [`Scheme`] fixes everything that decides a value. This module defines it in the plainest arithmetic;
//! a backend computes the same bits fast.
//!
//! Choose a scheme by name with [`Scheme::named`]: a permutation family with this crate's own hashing, or
//! a [`Preset`] that reproduces another tool's values. Signatures can be compared only within one scheme,
//! number of permutations and seed.
//!
//! **The scheme decides the slots of the empty set** (cuDF uses zeros) and passes them to the signer. Only a search
//! over stored signatures recognises documents without shingles by these slots; everything else shingles documents
//! itself. A document without shingles gets no band keys.

mod width;

mod values;

mod slots;

mod arithmetic;

mod random_state;

mod family;

pub mod fast;

pub(crate) mod rminhash;

pub mod words_v1;

#[doc(hidden)]
pub mod sha1;

mod base_hash;

mod copies;

mod permutations;

mod preset;

mod by_name;

#[doc(hidden)]
pub use arithmetic::spread;
pub(crate) use base_hash::murmur3_32_step;
pub use base_hash::{BaseHash, ShingleHash, fx_64, murmur3_32, murmur3_128, sha1_32, sha1_64};
pub use by_name::{DEFAULT_NUM_PERM, Scheme};
pub use copies::{Copies, MAX_COPIES, WeightScale};
pub use family::{
    Family, P31, P61, affine32, affine32_even, affine64, fmix32, fmix64, mersenne31, mersenne61,
    mersenne61_wide,
};
pub use permutations::{Draws, MAX_NUM_PERM, Permutations};
pub use preset::{Grams, Preset, PresetBanding, PresetHash, Shingles};
#[doc(hidden)]
pub use slots::{check_counts, lower};
pub use values::{Hashes, SlotVec, Slots, SlotsMut, Values, Word};
pub use width::Width;
