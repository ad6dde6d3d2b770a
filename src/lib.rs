//! Near-duplicates.

pub mod backend;
pub mod error;
pub mod pipeline;
pub mod scheme;

pub use error::{Error, Result};
