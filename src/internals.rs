//! What this project's own benchmarks need and nobody else is promised.

#[cfg(feature = "gpu")]
pub use crate::backend::gpu::DeviceLoad;
#[cfg(feature = "io")]
pub use crate::jobs::machine::{cpu_name, memory_bytes, peak_memory_bytes};
pub use crate::pipeline::for_each_word;
pub use crate::simd::ceiling;

/// 7,200 pages of API documentation, of which some are near-duplicates (examples/README.md).
pub const EXAMPLE_CORPUS: &[u8] = include_bytes!("../examples/driver-docs.jsonl.zst");
