//! One file per subcommand.

pub(crate) mod bench;

pub mod compare;

pub(crate) mod completions;

pub mod dedup;

#[cfg(feature = "gpu")]
pub mod devices;

pub(crate) mod man;

pub mod pairs;

mod sample;
pub mod selftest;

pub mod sign;

pub mod tune;
