//! Documents that are too short to compare.
//!
//! They take no part in a search: they have no position, so that no stage looks for their copies or buckets, and nothing
//! is removed for them. What is dropped is noted by row while documents are read, two bits each.

use std::ops::Range;

use crate::bits::Bits;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pipeline::Dropped;
use crate::scheme::Hashes;
use crate::store::spill::{Stored, StreamFile};

/// What a deduplication does with documents of few shingles. By default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortDocuments {
    /// The fewest distinct shingles of a document that is compared. Those with fewer take no part: they are kept, even if
    /// they are identical to others, and no document is removed for them. With
    /// [`Weighting::Counts`](crate::pipeline::Weighting::Counts), each occurrence of a shingle counts. 0 compares all.
    pub min_shingles: u32,
    /// Whether to remove documents without a shingle.
    pub drop_empty: bool,
    /// Whether to remove documents with fewer shingles than `min_shingles`.
    pub drop_short: bool,
}

impl ShortDocuments {
    /// Whether documents may be removed without another one.
    #[doc(hidden)]
    pub fn drops(&self) -> bool {
        self.drop_empty || self.drop_short
    }

    /// Whether shingles beyond the first two are counted.
    pub(super) fn counts_shingles(&self) -> bool {
        self.min_shingles > 1
    }

    /// Whether a document with these hashes of shingles, which may repeat, is too short.
    pub(super) fn is_short(&self, hashes: Hashes<'_>, halved: bool) -> bool {
        let least = self.min_shingles as usize;
        match hashes {
            Hashes::U32(hashes) => !has_distinct(hashes.iter().copied(), least),
            // The high halves alone, since the other hashes of these shingles are those.
            Hashes::U64(hashes) if halved => {
                !has_distinct(hashes.iter().map(|hash| hash >> 32), least)
            }
            Hashes::U64(hashes) => !has_distinct(hashes.iter().copied(), least),
        }
    }

    /// Why a document is dropped, if it is.
    pub(super) fn fate(&self, is_empty: bool, is_short: bool) -> Option<Dropped> {
        match is_empty {
            true if self.drop_empty || self.drop_short && is_short => Some(Dropped::Empty),
            false if self.drop_short && is_short => Some(Dropped::Short),
            _ => None,
        }
    }

    /// Refuses values that contradict each other, and weighted shingles, of which there is no number.
    pub(super) fn check(&self, engine: &Engine) -> Result<()> {
        let refused = |name, value: &str, expected: &str| {
            Err(Error::Parameter {
                name,
                value: value.to_owned(),
                expected: expected.to_owned(),
            })
        };
        if self.drop_short && self.min_shingles == 0 {
            let expected = "`min_shingles`, which says what is short";
            return refused("`drop_short`", "given alone", expected);
        }
        if self.min_shingles > 0 && engine.shingler().takes_weights() {
            let expected = "no limit: weighted shingles are not counted";
            return refused("`min_shingles`", &self.min_shingles.to_string(), expected);
        }
        Ok(())
    }
}

/// Whether so many of these are distinct. Reads no further than it takes to tell.
fn has_distinct<T: Ord + Copy>(hashes: impl ExactSizeIterator<Item = T>, least: usize) -> bool {
    if hashes.len() < least {
        return false;
    }
    let mut seen = std::collections::BTreeSet::new();
    least == 0
        || hashes
            .into_iter()
            .any(|hash| seen.insert(hash) && seen.len() == least)
}

/// The rows that are dropped.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct DroppedRows {
    /// Those, and the empty ones among them; `None` if none are.
    bits: Option<(Bits, Bits)>,
    /// Where they are on disk, as long as the run may be stopped.
    _file: Option<StreamFile>,
}

impl DroppedRows {
    /// In memory. `rows` are those of the inputs: none is dropped of a reference.
    pub(super) fn held(rows: Range<u32>, dropped: &[(u32, Dropped)]) -> Self {
        if dropped.is_empty() {
            return DroppedRows::default();
        }
        let all = (Bits::zeros(rows.end), Bits::zeros(rows.end));
        for (row, reason) in dropped.iter().filter(|(row, _)| rows.contains(row)) {
            all.0.set(*row);
            if *reason == Dropped::Empty {
                all.1.set(*row);
            }
        }
        DroppedRows {
            bits: Some(all),
            _file: None,
        }
    }

    /// On disk: records of [`dropped_words`]. `rows` are those of the inputs.
    pub(super) fn stored(rows: Range<u32>, file: StreamFile) -> Result<Self> {
        if file.bytes() == 0 {
            return Ok(DroppedRows::default());
        }
        let mut dropped = DroppedRows {
            bits: Some((Bits::zeros(rows.end), Bits::zeros(rows.end))),
            _file: None,
        };
        file.for_each_block(|block| {
            for record in block.records(Stored::words) {
                let [row, is_empty]: [u32; 2] = record?;
                if let (Some((all, empty)), true) = (&dropped.bits, rows.contains(&row)) {
                    all.set(row);
                    if is_empty > 0 {
                        empty.set(row);
                    }
                }
            }
            Ok(())
        })?;
        dropped._file = Some(file);
        Ok(dropped)
    }

    /// Why a row is dropped, if it is.
    pub(crate) fn get(&self, row: u32) -> Option<Dropped> {
        let (all, empty) = self.bits.as_ref()?;
        match (all.get(row), empty.get(row)) {
            (false, _) => None,
            (true, true) => Some(Dropped::Empty),
            (true, false) => Some(Dropped::Short),
        }
    }

    /// All of them, ascending.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = (u32, Dropped)> {
        let rows = self.bits.iter().flat_map(|(all, _)| all.ones());
        rows.filter_map(|row| Some((row, self.get(row)?)))
    }

    /// Their number.
    pub(crate) fn count(&self) -> u64 {
        self.bits.as_ref().map_or(0, |(all, _)| all.count())
    }
}

/// A dropped row as two words.
pub(super) fn dropped_words(row: u32, reason: Dropped) -> [u32; 2] {
    [row, u32::from(reason == Dropped::Empty)]
}
