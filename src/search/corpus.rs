//! The data about documents that a run keeps between stages.

use super::disk::SpilledDocuments;
use crate::pipeline::{Dropped, Pairing, Reference};
use crate::progress::Counts;

/// The documents of a run, without their texts.
///
/// The row of a document is its number among all documents. Distinct documents also have a position. Those with
/// shingles come first, by row; only they have signatures and band keys. Then come those without, unless they are blank:
/// their positions serve to find their copies alone.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Corpus {
    /// The number of documents, those of a reference included.
    #[doc(hidden)]
    pub rows: u32,
    /// The number of documents of a reference, which have the first rows; `None` without one.
    pub(crate) reference: Option<u32>,
    /// The row of each position.
    pub(crate) distinct: Vec<u32>,
    /// The row of each document that repeats an earlier one, and the position of the earlier one.
    pub(crate) repeats: Vec<(u32, u32)>,
    /// The number of documents without shingles, without those of a reference.
    #[doc(hidden)]
    pub without_shingles: u64,
    /// The number of documents with at most one shingle, without blank ones and those of a reference; `None` if it is not
    /// known.
    #[doc(hidden)]
    pub few_shingles: Option<u64>,
    /// The number of documents that are too short to compare; 0 without a limit.
    pub(crate) short: u64,
    /// The documents that are removed without another one, by row.
    pub(crate) dropped: Vec<(u32, Dropped)>,
    /// The bytes of text of each document.
    pub(crate) lengths: Vec<u32>,
    /// Decompressed bytes of the input.
    #[doc(hidden)]
    pub bytes: u64,
    /// What is known of each document, if it is on disk: then `distinct`, `repeats`, `dropped` and `lengths` are
    /// empty.
    pub(crate) on_disk: Option<SpilledDocuments>,
}

impl Corpus {
    /// The number of documents, those of a reference included.
    #[doc(hidden)]
    pub fn documents(&self) -> u64 {
        u64::from(self.rows)
    }

    /// The first row that is not of a reference.
    pub(crate) fn first_input(&self) -> u32 {
        self.reference.unwrap_or(0)
    }

    /// The number of documents, without those of a reference.
    pub(crate) fn inputs(&self) -> u64 {
        u64::from(self.rows - self.first_input())
    }

    /// The reference by position: of `positions` documents, whose rows ascend. `None` without one.
    pub(super) fn reference_of(&self, positions: usize, pairing: Pairing) -> Option<Reference> {
        let first_input = self.reference?;
        let distinct = &self.distinct[..positions.min(self.distinct.len())];
        let positions = distinct.partition_point(|row| *row < first_input);
        // There are fewer positions than rows.
        let positions = u32::try_from(positions).unwrap_or(first_input);
        let mut reference = Reference::new(positions, pairing);
        let repeats = self.repeats.iter().filter(|(row, _)| *row >= first_input);
        repeats.for_each(|(_, position)| reference.repeat(*position));
        Some(reference)
    }

    /// The number of documents that repeat an earlier one, without those of a reference.
    fn identical(&self) -> u64 {
        let repeats = self.repeats.iter();
        repeats
            .filter(|(row, _)| *row >= self.first_input())
            .count() as u64
    }

    /// The counts of a run, without those of pairs.
    #[doc(hidden)]
    pub fn counts(&self) -> Counts {
        Counts {
            documents: self.inputs(),
            kept: self.inputs(),
            reference: self.reference.map(u64::from),
            identical: self.identical(),
            without_shingles: self.without_shingles,
            few_shingles: self.few_shingles,
            short: Some(self.short).filter(|short| *short > 0),
            bytes: self.bytes,
            ..Counts::default()
        }
    }
}
