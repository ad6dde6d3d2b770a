//! Shingle sets in compressed sparse rows.

use crate::error::{Conflict, Result};
use crate::scheme::Width;
use crate::scheme::{Hashes, SlotVec};

/// Shingle sets in compressed sparse rows, owned. [`ShingleBatch::sets`] borrows them.
#[derive(Clone, Debug)]
pub struct ShingleBatch {
    pub(super) hashes: SlotVec,
    offsets: Vec<i64>,
}

impl ShingleBatch {
    /// An empty batch for hashes of `width`.
    pub fn new(width: Width) -> Self {
        ShingleBatch {
            hashes: SlotVec::new(width),
            offsets: vec![0],
        }
    }

    /// Removes all sets and keeps the memory.
    pub fn clear(&mut self) {
        self.hashes.resize(0);
        self.offsets.truncate(1);
    }

    /// Makes room for further hashes.
    pub(crate) fn reserve(&mut self, hashes: usize) {
        match &mut self.hashes {
            SlotVec::U32(own) => own.reserve(hashes),
            SlotVec::U64(own) => own.reserve(hashes),
        }
    }

    /// Takes the hashes out and removes all sets; empty for hashes of 32 bits.
    pub(crate) fn take_hashes(&mut self) -> Vec<u64> {
        self.offsets.truncate(1);
        match &mut self.hashes {
            SlotVec::U32(_) => Vec::new(),
            SlotVec::U64(own) => std::mem::take(own),
        }
    }

    /// Replaces all sets by those of `exact`, with the high half of each hash if this batch has hashes of 32 bits:
    /// the hashes of words-v1 are the high halves of its 64-bit hashes.
    pub(crate) fn high_halves_of(&mut self, exact: &ShingleBatch) {
        self.offsets.clone_from(&exact.offsets);
        match (&mut self.hashes, &exact.hashes) {
            (SlotVec::U32(narrow), SlotVec::U64(wide)) => {
                narrow.clear();
                narrow.extend(wide.iter().map(|hash| (hash >> 32) as u32));
            }
            (own, exact) => own.clone_from(exact),
        }
    }

    pub(super) fn end_set(&mut self) {
        self.offsets.push(self.hashes.len() as i64);
    }

    /// Keeps the sets that are marked in `is_kept`, which has one entry per set.
    ///
    /// # Panics
    /// If it marks a set that does not exist.
    pub(crate) fn retain(&mut self, is_kept: &[bool]) {
        let mut end = 0;
        let mut sets = 0;
        for (i, _) in (0..).zip(is_kept).filter(|(_, is_kept)| **is_kept) {
            let set = self.sets().range(i);
            let to = end;
            end += set.len();
            match &mut self.hashes {
                SlotVec::U32(hashes) => hashes.copy_within(set, to),
                SlotVec::U64(hashes) => hashes.copy_within(set, to),
            }
            // This never overwrites an offset that is still to be read with another value.
            sets += 1;
            self.offsets[sets] = end as i64;
        }
        self.offsets.truncate(sets + 1);
        self.hashes.resize(end);
    }

    /// The sets, borrowed.
    pub fn sets(&self) -> ShingleSets<'_> {
        ShingleSets {
            hashes: self.hashes.view(),
            offsets: &self.offsets,
        }
    }
}

/// Shingle sets in compressed sparse rows, borrowed: set `i` is `hashes[offsets[i]..offsets[i + 1]]`.
///
/// Order and repeats within a set do not change its signature.
#[derive(Clone, Copy, Debug)]
pub struct ShingleSets<'a> {
    hashes: Hashes<'a>,
    offsets: &'a [i64],
}

impl<'a> ShingleSets<'a> {
    /// Sets over your own hashes. `offsets` has one entry more than the number of sets.
    ///
    /// # Errors
    /// [`Conflict::Offsets`] unless the offsets start at 0, never decrease and end at the number of hashes.
    pub fn new(hashes: Hashes<'a>, offsets: &'a [i64]) -> Result<Self> {
        let len = hashes.len();
        let spans = offsets.first() == Some(&0)
            && offsets.last() == Some(&(len as i64))
            && offsets.is_sorted();
        if !spans {
            return Err(Conflict::Offsets { hashes: len }.into());
        }
        Ok(ShingleSets { hashes, offsets })
    }

    /// A single set. `offsets` must be 0 and the number of hashes.
    pub(super) fn single(hashes: Hashes<'a>, offsets: &'a [i64; 2]) -> Self {
        ShingleSets { hashes, offsets }
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hashes of all sets, set by set.
    pub fn hashes(&self) -> Hashes<'a> {
        self.hashes
    }

    /// The range of set `i` in [`ShingleSets::hashes`].
    ///
    /// # Panics
    /// If `i` is not below the number of sets.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "constructors ensure that offsets lie between 0 and the length of a slice"
    )]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retain_keeps_the_marked_sets() {
        let sets = [&[1, 2][..], &[], &[3], &[4, 5, 6]];
        for pattern in 0..16 {
            let is_kept: Vec<bool> = (0..4).map(|i| pattern >> i & 1 == 1).collect();
            let batch_of = |is_in: &dyn Fn(usize) -> bool| {
                let mut batch = ShingleBatch::new(Width::U32);
                for (_, set) in sets.iter().enumerate().filter(|(i, _)| is_in(*i)) {
                    if let SlotVec::U32(hashes) = &mut batch.hashes {
                        hashes.extend_from_slice(set);
                    }
                    batch.end_set();
                }
                batch
            };
            let mut batch = batch_of(&|_| true);
            batch.retain(&is_kept);
            let expected = batch_of(&|i| is_kept[i]);
            assert_eq!(batch.offsets, expected.offsets);
            assert!(matches!(
                (batch.hashes, expected.hashes),
                (SlotVec::U32(a), SlotVec::U32(b)) if a == b
            ));
        }
    }
}
