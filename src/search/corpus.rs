//! The data about documents that a run keeps between stages.

use super::disk::SpilledDocuments;
use crate::pipeline::Dropped;
use crate::progress::Counts;

/// The documents of a run, without their texts.
///
/// The row of a document is its number among all documents. Distinct documents also have a position. Those with
/// shingles come first, by row; only they have signatures and band keys. Then come those without, unless they are blank:
/// their positions serve to find their copies alone.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    /// The number of documents.
    pub(crate) rows: u32,
    /// The row of each position.
    pub(crate) distinct: Vec<u32>,
    /// The row of each document that repeats an earlier one, and the position of the earlier one.
    pub(crate) repeats: Vec<(u32, u32)>,
    /// The number of documents without shingles.
    pub(crate) without_shingles: u64,
    /// The number of documents with at most one shingle, without blank ones; `None` if it is not known.
    pub(crate) few_shingles: Option<u64>,
    /// The number of documents that are too short to compare; 0 without a limit.
    pub(crate) short: u64,
    /// The documents that are removed without another one, by row.
    pub(crate) dropped: Vec<(u32, Dropped)>,
    /// The bytes of text of each document.
    pub(crate) lengths: Vec<u32>,
    /// Decompressed bytes of the input.
    pub(crate) bytes: u64,
    /// What is known of each document, if it is on disk: then `distinct`, `repeats`, `dropped` and `lengths` are
    /// empty.
    pub(crate) on_disk: Option<SpilledDocuments>,
}

impl Corpus {
    /// The number of documents.
    pub(crate) fn documents(&self) -> u64 {
        u64::from(self.rows)
    }

    /// The counts of a run, without those of pairs.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            documents: self.documents(),
            kept: self.documents(),
            identical: self.repeats.len() as u64,
            without_shingles: self.without_shingles,
            few_shingles: self.few_shingles,
            short: Some(self.short).filter(|short| *short > 0),
            bytes: self.bytes,
            ..Counts::default()
        }
    }
}
