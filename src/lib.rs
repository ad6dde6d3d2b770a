//! Finds near-duplicate documents, and similar sets in general, in large collections.
//!
//! The crate signs documents with MinHash on SIMD lanes or a GPU, finds candidate pairs by banding (LSH),
//! verifies
//! them and clusters them. See chapter 3 of *Mining of Massive Datasets* (Leskovec, Rajaraman, Ullman), cited
//! as MMDS below.
//!
//! ```text
//! documents   texts or lists of tokens, from memory or from files
//! shingle     cut each document into a set of hashes: windows of words, characters, bytes or tokens
//! sign        reduce each set to num_perm slots; slot i is the minimum of the set under permutation i
//! band        make one key per band of slots
//! bucket      group the documents that share a key
//! pair        list candidate pairs from the buckets
//! verify      compute the similarity of each candidate pair, from signatures or exactly
//! cluster     group similar documents, and keep one per group
//! ```
//!
//! No result depends on threads, batches, backend or hardware.
//!
//! # Where to look
//!
//! | module | open it to |
//! |---|---|
//! | [`engine`] | sign documents: scheme, shingles and backend in one value |
//! | [`search`] | deduplicate or find similar pairs in memory: [`search::dedup()`], [`search::pairs()`] |
//! | [`documents`] | pass documents: slices of strings, batches, or your own columns |
//! | [`progress`] | follow a run and stop it; read its counts and times |
//! | [`mod@error`] | handle errors, and rewrite the parameter names in their messages |
//! | [`scheme`] | choose how signature values are computed, for example to match another tool |
//! | [`backend`] | choose where signatures are computed: scalar, SIMD or GPU |
//! | [`pipeline`] | use the stages one by one: shingles, signatures, bands, buckets, clusters |
//! | [`simd`] | list or restrict vector instructions |
//! | [`store`] | hold sets in memory, or in a temporary file |
//! | `selftest` | check that this machine computes the published values (a feature) |
//!
//! Further crates stand on this one. Each has the version of `simgpu` that it needs:
//!
//! | crate | use it to |
//! |---|---|
//! | `simgpu-files` | deduplicate files of any size, list their similar pairs, sign them; divide a run among machines |
//! | `simgpu-io` | choose input files, fields and formats; read reports |
//! | `simgpu-index` | ask many times what was seen before, while more is added: of documents on disk, or of signatures in memory |
//! | `simgpu-link` | find records that describe the same thing |
//! | `simgpu-passages` | find passages that repeat in texts |
//! | `simgpu-contain` | find items of benchmarks in documents |
//! | `simgpu-ratings` | find what is rated alike, and recommend; measure how far a result is right |
//!
//! # Sign texts
//!
//! An [`Engine`](engine::Engine) signs with default settings, or with those of its builder. It computes on the
//! threads of the current rayon pool.
//!
//! ```
//! use simgpu::engine::Engine;
//! use simgpu::scheme::Scheme;
//!
//! let scheme = Scheme::named("affine32")?.with_num_perm(256)?;
//! let engine = Engine::builder().scheme(scheme).build()?;
//! let texts = [
//!     "a rose is a rose is a rose is a rose, she said, and laughed",
//!     "a rose is a rose is a rose is a rose, he said, and laughed",
//!     "the quick brown fox jumps over the lazy dog",
//! ];
//! let signatures = engine.sign(&texts)?;
//! assert_eq!((signatures.len(), signatures.num_perm()), (3, 256));
//! // The estimated Jaccard similarity of two texts.
//! assert!(signatures.estimate(0, 1) > signatures.estimate(0, 2));
//! # Ok::<(), simgpu::Error>(())
//! ```
//!
//! # Deduplicate in memory
//!
//! [`search::dedup()`] takes any type that implements [`Documents`](documents::Documents), such as `Vec<String>`,
//! and chooses the documents to keep. [`search::pairs()`] takes the same and finds the similar pairs.
//!
//! ```
//! use simgpu::engine::Engine;
//! use simgpu::search::{Dedup, Search, dedup};
//! use simgpu::progress::Silent;
//!
//! let texts: Vec<String> = vec![
//!     "a rose is a rose is a rose".to_owned(),
//!     "the quick brown fox jumps over the lazy dog".to_owned(),
//!     "a rose is a rose  is a rose".to_owned(),
//! ];
//! let engine = Engine::builder().build()?;
//! // Documents with a similarity of 0.8 or more are duplicates.
//! let task = Dedup::new(Search::new(0.8, engine.scheme())?);
//! let found = dedup(&texts, &engine, &task, &Silent)?;
//! let kept: Vec<&String> = found.kept().map(|row| &texts[row as usize]).collect();
//! assert_eq!(kept, [&texts[0], &texts[1]]);
//! # Ok::<(), simgpu::Error>(())
//! ```
//!
//! # Features
//!
//! No feature is on by default, and no feature changes a result.
//!
//! | feature | adds |
//! |---|---|
//! | `gpu` | the GPU backend, through Vulkan, Metal or DX12 |
//! | `selftest` | the check that this machine computes the published values |

use simgpu_base::{bits, threads};
#[doc(inline)]
pub use simgpu_base::{clock, documents, error, machine, progress};
#[doc(inline)]
pub use simgpu_kernels::{scheme, simd};

pub mod pipeline;

pub mod backend;

pub mod engine;

pub mod store;

#[cfg(feature = "selftest")]
pub mod selftest;

pub mod search;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;

pub use error::{Error, Result};
