//! Finds near-duplicate documents, and more generally similar sets, among very many: MinHash
//! signatures on SIMD lanes, banding (LSH), verification, clusters. The source is *Mining of Massive
//! Datasets*, chapter 3 (Leskovec, Rajaraman, Ullman).
//!
//! One document travels one way:
//!
//! ```text
//! documents   what a reader takes from JSON Lines, Parquet or text files
//! shingle     a document's set: hashes of windows of words, characters or bytes
//! sign        num_perm slots, each the least value of the set under one permutation
//! band        a key for each band of slots
//! bucket      the documents that share a key
//! pair        candidate pairs, from buckets
//! verify      their similarity, by signature or exactly
//! cluster     groups of similar documents, of which one is kept
//! ```
//!
//! What a value *is* stands in [`scheme`], where it is computed in [`backend`], and the stages in
//! [`pipeline`]. A run over files is one call: [`pipeline::dedup`]. As a signer:
//!
//! ```
//! use simgpu::backend::Backend;
//! use simgpu::pipeline::{Shingler, Shingling, Signatures};
//! use simgpu::scheme::Scheme;
//!
//! let scheme = Scheme::named("affine32")?.with_num_perm(256)?;
//! let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
//! let signer = Backend::Auto.signer(&scheme)?;
//!
//! let texts = [
//!     "a rose is a rose is a rose is a rose, she said, and laughed",
//!     "a rose is a rose is a rose is a rose, he said, and laughed",
//!     "the quick brown fox jumps over the lazy dog",
//! ];
//! let signatures = Signatures::of_texts(&*signer, &texts.into_iter().collect(), &shingler)?;
//! assert!(signatures.estimate(0, 1) > signatures.estimate(0, 2));
//! # Ok::<(), simgpu::Error>(())
//! ```
//!
//! # Features
//!
//! The core (schemes, shingling, signing, banding, clustering) is always there. `io` adds readers,
//! writers and the runs over files, `bench` the measurements, `cli` the `simgpu` command. A feature never changes a result.

pub mod error;

pub mod documents;

pub mod progress;

pub mod scheme;

pub mod simd;

pub mod pipeline;

pub mod backend;

pub mod engine;

pub mod store;

#[cfg(feature = "selftest")]
pub mod selftest;

#[cfg(feature = "io")]
pub mod io;

pub mod jobs;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;

pub use error::{Error, Result, Unsupported};
