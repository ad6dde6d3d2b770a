//! What every crate of simgpu stands on: errors, documents in memory, progress, threads and processor time.
//!
//! The crate `simgpu` hands these modules on under the names that users know. What is hidden is for its sibling crates alone.

pub mod error;

#[doc(hidden)]
pub mod encoding;

#[doc(hidden)]
pub mod remote;

pub mod clock;

#[doc(hidden)]
pub mod bits;

pub mod machine;

pub mod documents;

pub mod progress;

#[doc(hidden)]
pub mod threads;

pub use error::{Error, Result};
