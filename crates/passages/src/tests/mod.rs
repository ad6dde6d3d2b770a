//! Tests of the search in memory, and what they share with those of the search on disk (`disk/tests.rs`): the definition of
//! passages, and texts.

pub(crate) mod definition;

pub(crate) mod hostile;

mod search;
