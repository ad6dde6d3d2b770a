//! What a signature value is, and the vector instructions that compute it.
//!
//! The crate `simgpu` hands these modules on under the names that users know. What is hidden is for its sibling crates alone.

pub mod scheme;

pub mod simd;

use simgpu_base::{documents, error};
