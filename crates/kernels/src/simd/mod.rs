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

#[doc(hidden)]
pub mod sign;

pub(crate) mod keys;

pub(crate) mod chunks;

pub(crate) mod fast;

mod set_signer;

#[doc(hidden)]
pub mod windows;

#[doc(hidden)]
pub mod words;

#[doc(hidden)]
pub mod block_hash;

#[doc(hidden)]
pub mod sha1;

#[doc(hidden)]
pub mod digests;

#[doc(hidden)]
pub mod strings;

#[doc(hidden)]
pub mod minima;

#[doc(hidden)]
pub mod agreement;

mod prefetch;

#[doc(hidden)]
pub mod ceiling;

#[doc(hidden)]
pub mod thresholds;

#[cfg(all(test, unix))]
pub(crate) mod guard;

pub use isa::Isa;
#[doc(hidden)]
pub use kernel::Kernel;
#[doc(hidden)]
pub use lanes::Lanes;
#[doc(hidden)]
pub use prefetch::prefetch;
#[doc(hidden)]
pub use set_signer::{SetSigner, SignSet};
pub use sha1::{sha1_32_batch, sha1_64_batch};
