//! Checks that this machine computes the published values. [`Selftest::run`] runs the checks.
//!
//! The published values come from a second implementation in Python and from the tools that presets reproduce.
//! Formulas define further long sets and texts: on these, every backend must agree with the scalar backend, and
//! signatures of texts must also equal those recorded with this version.

mod vectors;

mod words;

mod machine;

mod signatures;

mod texts;

mod values;

mod check;

#[cfg(feature = "gpu")]
mod devices;

pub use check::{Check, CheckOutcome, Selftest};
