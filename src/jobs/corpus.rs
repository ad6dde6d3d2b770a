//! The data about documents that a run keeps between stages.

#[cfg(feature = "io")]
use super::spilled::SpilledDocuments;

/// The documents of a run, without their texts.
///
/// The row of a document is its number among all documents. Distinct documents with shingles also have a
/// position, their number among these. Only they have signatures and band keys.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    /// The number of documents.
    pub(crate) rows: u32,
    /// The row of each position, ascending.
    pub(crate) distinct: Vec<u32>,
    /// The row of each document that repeats an earlier one, ascending, and the position of the earlier one.
    pub(crate) repeats: Vec<(u32, u32)>,
    /// The number of documents without shingles.
    pub(crate) without_shingles: u64,
    /// The bytes of text of each document.
    pub(crate) lengths: Vec<u32>,
    /// Decompressed bytes of the input.
    pub(crate) bytes: u64,
    /// What is known of each document, if it is on disk: then `distinct`, `repeats` and `lengths` are empty.
    #[cfg(feature = "io")]
    pub(crate) on_disk: Option<SpilledDocuments>,
}

impl Corpus {
    /// The number of documents.
    pub(crate) fn documents(&self) -> u64 {
        u64::from(self.rows)
    }
}
