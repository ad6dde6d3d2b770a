//! *Where* signatures are computed: one value at a time, on SIMD lanes, on a GPU, or on both at once.
//!
//! [`Backend`] names the choice and opens a [`Signer`](crate::pipeline::Signer) for a scheme; [`Hardware`]
//! restricts it to certain instructions or one device. [`Backend::Auto`] suits nearly everyone. Every
//! backend computes the same bits, so the choice changes speed and nothing else.

mod rows;

mod scalar;

mod simd;

#[cfg(feature = "gpu")]
pub mod gpu;

#[cfg(not(feature = "gpu"))]
mod no_gpu;

mod hardware;

mod choice;

pub use hardware::{Backend, Hardware};
