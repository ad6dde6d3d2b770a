//! Vector instructions of the CPU, chosen at run time: one binary uses AVX-512, AVX2 or NEON where there
//! is one, and the lanes of the `wide` crate, compiled for what every CPU of the architecture has,
//! elsewhere.
//!
//! A kernel is written once over the small trait `Lanes` and compiled for each instruction
//! set. The only folder with `unsafe`, in the files that name intrinsics (and, for tests, in `guarded`): a value of `Avx2`,
//! `Avx512` or `Neon` is the proof that the CPU has them, and detection alone makes one.

mod isa;
mod lanes;

#[cfg(feature = "internals")]
pub mod ceiling;

mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;

#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

pub(crate) mod low_part;

pub(crate) mod sign;

pub(crate) mod fast;

#[cfg(all(test, unix))]
pub(crate) mod guarded;
pub(crate) mod windows;

pub(crate) mod words;

pub use isa::Isa;
pub(crate) use isa::Kernel;
pub(crate) use lanes::Lanes;
