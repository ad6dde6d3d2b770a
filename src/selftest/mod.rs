//! Checks that this machine computes the published values.
//!
//! They come from a second implementation in another language and from the tools that the presets
//! reproduce. Long sets and texts come from formulas: every backend must compute the signatures that the
//! scalar backend computes, and those of texts must also be the ones recorded with this version.

mod vectors;

mod words;

mod machine;

mod signatures;

mod texts;

mod values;

mod check;

pub use check::{Check, CheckOutcome, Selftest};
