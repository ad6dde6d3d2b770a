//! Items for this project's own benchmarks and tests. They may change at any time.

mod join_bounds;
mod permutations;

pub use self::join_bounds::{ElementPlace, allows_places, allows_sizes, prefix_len};
pub use self::permutations::{GivenPermutations, RandomPermutations};
#[cfg(feature = "gpu")]
pub use crate::backend::gpu::internals::{
    DeviceLoad, GpuProgram, HostSide, MadeProgram, gpu_programs,
};
pub use crate::pipeline::for_each_word;
pub use crate::simd::{ceiling, thresholds};

/// 7,200 pages of API documentation, some of them near-duplicates (see examples/README.md).
#[cfg(feature = "example-corpus")]
pub const EXAMPLE_CORPUS: &[u8] = include_bytes!("../../examples/driver-docs.jsonl.zst");
/// Nothing: this build lacks the feature `example-corpus`.
#[cfg(not(feature = "example-corpus"))]
pub const EXAMPLE_CORPUS: &[u8] = &[];
