//! Near-duplicates.

pub mod backend;
pub mod error;
#[cfg(feature = "io")]
pub mod io;
pub mod pipeline;
pub mod scheme;

pub use error::{Error, Result};
