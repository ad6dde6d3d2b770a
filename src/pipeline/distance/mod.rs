//! Distances of sets, bags, vectors and sequences (MMDS 3.5).
//!
//! Distances are sums of integers, divided once at the end, so that the textbook's fractions come out exactly.

mod vectors;

mod bag;

mod sequences;

pub use bag::{Bag, BagComparison};
pub use sequences::{edit_distance, hamming_distance, longest_common_subsequence};
pub use vectors::VectorComparison;
