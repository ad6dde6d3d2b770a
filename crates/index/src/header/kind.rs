//! The kinds of indexes.

use simgpu::search::{CandidateMethod, Search};

/// How an index finds documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// By bands of signatures: [`CandidateMethod::Lsh`]. Some similar documents are missed.
    Lsh,
    /// By shingles: [`CandidateMethod::Join`]. None is missed. For texts of up to some hundred shingles.
    Exact,
}

impl IndexKind {
    /// The kind of an index for a search.
    #[doc(hidden)]
    pub fn from_search(search: &Search) -> Self {
        match search.candidates {
            CandidateMethod::Join => IndexKind::Exact,
            CandidateMethod::Lsh | CandidateMethod::Auto => IndexKind::Lsh,
        }
    }

    /// The words of an entry of a list: the row of the document, and its shape where shingles are.
    pub(crate) fn entry_words(self) -> usize {
        match self {
            IndexKind::Lsh => 1,
            IndexKind::Exact => 2,
        }
    }

    /// The name: `lsh` or `exact`.
    pub fn name(self) -> &'static str {
        match self {
            IndexKind::Lsh => "lsh",
            IndexKind::Exact => "exact",
        }
    }
}
