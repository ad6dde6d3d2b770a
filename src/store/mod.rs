//! What grows with the documents and may grow larger than memory.
//!
//! A store holds what a stage appends and hands it back in an order that the stage names: it knows neither
//! formats nor what its values mean. [`ExactSets`] lie in memory up to a bound and in a temporary file beyond it.
//! Sorted runs of band keys and of pairs belong here once they can be larger than memory; in memory they are
//! [`BandKeys`](crate::pipeline::BandKeys).

mod exact_sets;

pub use exact_sets::ExactSets;
