//! Shingle sets in compressed sparse rows.

use crate::error::{Error, Result};
use crate::scheme::Width;

/// Shingle hashes of either width, owned.
#[derive(Clone, Debug)]
pub(super) enum HashVec {
    U32(Vec<u32>),
    U64(Vec<u64>),
}

/// Shingle sets, owned: flat hashes with the places where each set ends (CSR).
#[derive(Clone, Debug)]
pub struct ShingleBatch {
    pub(super) hashes: HashVec,
    offsets: Vec<i64>,
}

impl ShingleBatch {
    /// An empty batch of hashes of that width.
    pub fn new(width: Width) -> Self {
        ShingleBatch {
            hashes: match width {
                Width::U32 => HashVec::U32(Vec::new()),
                Width::U64 => HashVec::U64(Vec::new()),
            },
            offsets: vec![0],
        }
    }

    pub(super) fn end_set(&mut self) {
        let len = match &self.hashes {
            HashVec::U32(hashes) => hashes.len(),
            HashVec::U64(hashes) => hashes.len(),
        };
        self.offsets.push(len as i64);
    }

    /// Appends set `i` of another batch of the same width.
    ///
    /// # Panics
    /// If the widths differ.
    pub fn push_set_of(&mut self, other: &ShingleBatch, i: usize) {
        let set = other.sets().range(i);
        match (&mut self.hashes, &other.hashes) {
            (HashVec::U32(to), HashVec::U32(from)) => to.extend_from_slice(&from[set]),
            (HashVec::U64(to), HashVec::U64(from)) => to.extend_from_slice(&from[set]),
            _ => panic!("shingle hashes of two widths in one batch"),
        }
        self.end_set();
    }

    /// The sets, borrowed.
    pub fn sets(&self) -> ShingleSets<'_> {
        ShingleSets {
            hashes: match &self.hashes {
                HashVec::U32(hashes) => Hashes::U32(hashes),
                HashVec::U64(hashes) => Hashes::U64(hashes),
            },
            offsets: &self.offsets,
        }
    }
}

/// Shingle hashes of either width, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum Hashes<'a> {
    /// 32 bits each.
    U32(&'a [u32]),
    /// 64 bits each.
    U64(&'a [u64]),
}

/// Shingle sets in compressed sparse rows: set `i` is `hashes[offsets[i]..offsets[i + 1]]`.
///
/// Order and repeats within a set do not matter.
#[derive(Clone, Copy, Debug)]
pub struct ShingleSets<'a> {
    hashes: Hashes<'a>,
    offsets: &'a [i64],
}

impl<'a> ShingleSets<'a> {
    /// Sets given from outside; `offsets` has one entry more than there are sets.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless the offsets begin at 0, ascend and end at the number of hashes.
    pub fn new(hashes: Hashes<'a>, offsets: &'a [i64]) -> Result<Self> {
        let len = match hashes {
            Hashes::U32(hashes) => hashes.len(),
            Hashes::U64(hashes) => hashes.len(),
        };
        let spans = offsets.first() == Some(&0)
            && offsets.last() == Some(&(len as i64))
            && offsets.is_sorted();
        if !spans {
            return Err(Error::Conflict(format!(
                "offsets of shingle sets must ascend from 0 to the number of hashes, {len}"
            )));
        }
        Ok(ShingleSets { hashes, offsets })
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hashes of all sets.
    pub fn hashes(&self) -> Hashes<'a> {
        self.hashes
    }

    /// Where set `i` lies among the hashes.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "offsets ascend from 0 to the length of a slice, as the constructors see to"
    )]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }
}
