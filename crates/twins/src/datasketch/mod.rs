//! datasketch's sketches: their values, and the bytes of their formats.
//!
//! [`PermutationScheme`] says how a set becomes slots, and [`Permutations`] compute them. [`lean`] and [`state`] are byte
//! formats of sketches, [`b_bit`] is a sketch of few bits per slot, and [`bands`] are the bytes of an index. Floats are added
//! and divided as Python and numpy do (`floats`), so that estimates are equal to the last bit.

mod scheme;

mod floats;

mod slots;

mod hash;

mod permutations;

mod texts;

mod byte_order;

pub mod lean;

pub mod state;

pub mod b_bit;

pub mod bands;

pub use byte_order::ByteOrder;
pub use floats::{FloatError, ratio};
pub use hash::{NativeHash, WideHash, fit_width};
pub use permutations::Permutations;
pub use scheme::{PermutationScheme, UnknownCode};
pub use slots::{empty_slots, estimate_cardinality, is_of_empty_set, lower_slots};
pub use texts::TextSigner;

#[cfg(test)]
mod tests;
