//! Vector instructions of the CPU, chosen at run time.
//!
//! One binary uses AVX-512, AVX2 or NEON where the CPU has it, and elsewhere the lanes of the `wide`
//! crate, compiled for the baseline of the architecture. Results never depend on the choice:
//! [`Isa::best`] is the default everywhere, and a caller needs this module only to compare or restrict
//! instruction sets.
//!
//! **One kernel body, compiled for each instruction set**, not one loop that the compiler vectorises for each: such
//! loops ran half as fast for mersenne31 and mersenne61, since compilers do not find the multiplication of even and odd
//! lanes that these families need.
//!
//! **Long sets are signed by chunks** in the families whose values are dear: `chunks.rs` says how, and `keys.rs` why the result is
//! exact.

// A kernel is written once over the trait `Lanes` and compiled for each instruction set. A value of
// `Avx2`, `Avx512` or `Neon` proves that the CPU has the instructions, and only detection makes one. This
// folder holds the crate's `unsafe` code: the files that name intrinsics, and `guarded` for tests.

mod lanes;

mod kernel;

mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;

#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

mod isa;

mod coefficients;

pub(crate) mod sign;

pub(crate) mod keys;

pub(crate) mod chunks;

pub(crate) mod fast;

pub(crate) mod windows;

pub(crate) mod words;

pub(crate) mod block_hash;

pub(crate) mod sha1;

pub(crate) mod digests;

pub(crate) mod strings;

pub(crate) mod minima;

pub(crate) mod agreement;

mod prefetch;

#[cfg(feature = "internals")]
pub mod ceiling;

#[cfg(feature = "internals")]
pub mod thresholds;

#[cfg(all(test, unix))]
pub(crate) mod guard;

pub use isa::Isa;
pub(crate) use kernel::Kernel;
pub(crate) use lanes::Lanes;
pub(crate) use prefetch::prefetch;
pub use sha1::{sha1_32_batch, sha1_64_batch};
