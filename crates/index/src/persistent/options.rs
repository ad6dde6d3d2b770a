//! How an index stores documents, and what it answers.

use crate::hits::Hit;

/// When what was added or deleted is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before each call returns.
    #[default]
    EachBatch,
    /// Before [`Index::sync`](crate::Index::sync) returns. A crash of the machine may lose the last batches since then, whole ones. A crash of the
    /// program loses nothing.
    OnSync,
}

/// What happens to a document whose id is in the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnKnownId {
    /// It is an error, and the whole batch is refused.
    #[default]
    Fail,
    /// The document is left out.
    Skip,
    /// The document takes the place of the one with its id.
    Replace,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It was added.
    Added,
    /// It was left out, as its id is in the index.
    KnownId,
    /// It was not added, as it is similar to these documents, the most similar one first.
    Seen(Vec<Hit>),
}
