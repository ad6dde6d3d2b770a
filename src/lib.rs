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
//! | [`files`] | the same over files, of any size: [`files::Run`] |
//! | [`divided`] | the same divided among machines, stage by stage |
//! | [`mod@link`] | find records that describe the same thing |
//! | [`passages`] | find passages that repeat in texts |
//! | [`evaluation`] | measure how far a result is right, by pairs or entities that are known |
//! | [`documents`] | pass documents: slices of strings, batches, or your own columns |
//! | [`progress`] | follow a run and stop it; read its counts and times |
//! | [`mod@error`] | handle errors, and rewrite the parameter names in their messages |
//! | [`scheme`] | choose how signature values are computed, for example to match another tool |
//! | [`backend`] | choose where signatures are computed: scalar, SIMD or GPU |
//! | [`pipeline`] | use the stages one by one: shingles, signatures, bands, buckets, clusters |
//! | [`index`] | ask many times what was seen before, while more is added: of documents on disk, or of signatures in memory |
//! | [`ratings`] | find what is rated alike, and recommend |
//! | [`io`] | choose input files, fields and formats; read reports |
//! | [`simd`] | list or restrict vector instructions |
//! | [`store`] | hold sets in memory, or in a temporary file |
//! | [`selftest`] | check that this machine computes the published values |
#![cfg_attr(
    not(feature = "io"),
    doc = "\n[`io`]: #features\n[`files`]: #features\n[`files::Run`]: #features\n[`divided`]: #features\n[`evaluation`]: #features"
)]
#![cfg_attr(not(feature = "selftest"), doc = "\n[`selftest`]: #features")]
#![cfg_attr(not(feature = "records"), doc = "\n[`mod@link`]: #features")]
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
//! # Deduplicate files
//!
//! This needs the feature `io`. [`Progress`](progress::Progress) follows a run and can stop it; a stopped run leaves no
//! finished output file.
//!
#![cfg_attr(feature = "io", doc = "```no_run")]
#![cfg_attr(not(feature = "io"), doc = "```ignore")]
//! use std::ops::ControlFlow;
//! use std::path::{Path, PathBuf};
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! use simgpu::engine::Engine;
//! use simgpu::io::Inputs;
//! use simgpu::files::{Run, RunOptions};
//! use simgpu::search::{Dedup, Search};
//! use simgpu::progress::Progress;
//!
//! /// Stops the run when another thread sets the flag.
//! struct StopFlag(AtomicBool);
//!
//! impl Progress for StopFlag {
//!     fn advance(&self, _done: u64, _documents: u64, _bytes: u64) -> ControlFlow<()> {
//!         match self.0.load(Ordering::Relaxed) {
//!             true => ControlFlow::Break(()),
//!             false => ControlFlow::Continue(()),
//!         }
//!     }
//! }
//!
//! let engine = Engine::builder().build()?;
//! let inputs = Inputs::find(&[PathBuf::from("corpus/*.jsonl.zst")], None)?;
//! let task = Dedup::new(Search::new(0.8, engine.scheme())?);
//! let progress = StopFlag(AtomicBool::new(false));
//! let run = Run::new(&engine, &inputs).options(RunOptions { progress: &progress, ..RunOptions::default() });
//! match run.dedup(&task, Path::new("out")) {
//!     Ok(outcome) => println!("kept {} documents", outcome.report.counts.kept),
//!     Err(simgpu::Error::Stopped) => println!("stopped"),
//!     Err(error) => return Err(error),
//! }
//! # Ok::<(), simgpu::Error>(())
//! ```
//!
//! # Features
//!
//! No feature is on by default, and no feature changes a result.
//!
//! | feature | adds |
//! |---|---|
//! | `index` | the index that stays on disk: `index::Index` |
//! | `records` | links between records that describe the same thing: `link` |
//! | `io` | runs over files: JSON, CSV, Parquet, Arrow and text, plain or compressed; and `records` |
//! | `gpu` | the GPU backend, through Vulkan, Metal or DX12 |
//! | `selftest` | the check that this machine computes the published values |

#[cfg(any(feature = "io", feature = "index"))]
use simgpu_base::remote;
use simgpu_base::{bits, encoding, threads};
#[doc(inline)]
pub use simgpu_base::{clock, documents, error, machine, progress};
#[doc(inline)]
pub use simgpu_kernels::{scheme, simd};

#[cfg(feature = "io")]
mod page;

pub mod pipeline;

pub mod backend;

pub mod engine;

#[cfg_attr(
    not(feature = "io"),
    allow(
        dead_code,
        unused_imports,
        reason = "documents in memory have no bound on memory"
    )
)]
pub mod store;

#[cfg(feature = "selftest")]
pub mod selftest;

#[cfg(feature = "io")]
pub mod io;

#[cfg_attr(
    not(feature = "io"),
    allow(
        dead_code,
        unused_imports,
        reason = "documents in memory have no bound on memory"
    )
)]
pub mod search;

pub mod index;

#[cfg(feature = "io")]
pub mod files;

#[cfg(feature = "io")]
pub mod divided;

pub mod passages;

#[cfg(feature = "io")]
pub mod contain;

#[cfg(feature = "records")]
pub mod link;

pub mod ratings;

#[cfg(feature = "io")]
pub mod evaluation;

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;

pub use error::{Error, Result};
