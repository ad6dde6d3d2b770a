//! Shingle sets in compressed sparse rows.

use crate::error::{Conflict, Result};
use crate::scheme::Width;
use crate::scheme::{Hashes, SlotVec};

/// Shingle sets, owned: flat hashes with the places where each set ends (CSR).
#[derive(Clone, Debug)]
pub struct ShingleBatch {
    pub(super) hashes: SlotVec,
    offsets: Vec<i64>,
}

impl ShingleBatch {
    /// An empty batch of hashes of that width.
    pub fn new(width: Width) -> Self {
        ShingleBatch {
            hashes: SlotVec::new(width),
            offsets: vec![0],
        }
    }

    /// Forgets all sets and keeps the memory.
    pub fn clear(&mut self) {
        self.hashes.resize(0);
        self.offsets.truncate(1);
    }

    pub(super) fn end_set(&mut self) {
        self.offsets.push(self.hashes.len() as i64);
    }

    /// Keeps the sets of which `is_kept` holds, one entry a set.
    ///
    /// # Panics
    /// If there are more entries than sets, and one that has no set holds.
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
            // Only entries that have been read are written, or the same is written.
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
    /// [`Conflict::Offsets`] unless the offsets begin at 0, ascend and end at the number of hashes.
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

    /// One set; `offsets` are 0 and the number of its hashes.
    pub(super) fn of_one(hashes: Hashes<'a>, offsets: &'a [i64; 2]) -> Self {
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

    /// The hashes of all sets.
    pub fn hashes(&self) -> Hashes<'a> {
        self.hashes
    }

    /// Where set `i` lies among the hashes. That of an empty set is empty.
    ///
    /// # Panics
    /// If `i` is not below the number of sets.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "offsets ascend from 0 to the length of a slice, as the constructors see to"
    )]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_retained() {
        let sets = [&[1, 2][..], &[], &[3], &[4, 5, 6]];
        for pattern in 0..16 {
            let is_kept: Vec<bool> = (0..4).map(|i| pattern >> i & 1 == 1).collect();
            let of = |wanted: &dyn Fn(usize) -> bool| {
                let mut batch = ShingleBatch::new(Width::U32);
                for (_, set) in sets.iter().enumerate().filter(|(i, _)| wanted(*i)) {
                    if let SlotVec::U32(hashes) = &mut batch.hashes {
                        hashes.extend_from_slice(set);
                    }
                    batch.end_set();
                }
                batch
            };
            let mut batch = of(&|_| true);
            batch.retain(&is_kept);
            let expected = of(&|i| is_kept[i]);
            assert_eq!(batch.offsets, expected.offsets);
            assert!(matches!(
                (batch.hashes, expected.hashes),
                (SlotVec::U32(a), SlotVec::U32(b)) if a == b
            ));
        }
    }
}
