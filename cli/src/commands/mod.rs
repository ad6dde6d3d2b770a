//! One file per subcommand.

pub(crate) mod bench;

pub(crate) mod compare;

pub(crate) mod completions;

pub(crate) mod dedup;

#[cfg(feature = "gpu")]
pub(crate) mod devices;

pub(crate) mod man;

pub(crate) mod pairs;

pub(crate) mod selftest;

pub(crate) mod sign;

pub(crate) mod tune;
