//! The sketches of datasketch 2.0 with equal names and values: `simgpu.datasketch`.
//!
//! [`simgpu_twins::datasketch`] computes the values and the bytes of sketches. Here are the classes, which read Python's
//! objects, and raise what datasketch raises. A sketch keeps its slots in Rust. Sketches of one scheme, seed and size share
//! their permutations.

mod scheme;

mod permutations;

mod hashfunc;

mod arrays;

mod buffers;

mod texts;

mod arguments;

mod writer;

mod minhash;

mod state;

mod methods;

mod lean;

mod b_bit;

pub(crate) use b_bit::PyBBitMinHash;
pub(crate) use hashfunc::{sha1_hash32, sha1_hash64};
pub(crate) use lean::PyLeanMinHash;
pub(crate) use methods::{PySketches, restore_minhash};
pub(crate) use minhash::PyMinHash;
