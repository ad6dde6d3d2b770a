//! A set of hashes as a table, which finds how many hashes of another list it holds.

/// A hash table with linear probing.
///
/// Shingle sets are compared once or a few times each, so that building a table for one side of a comparison costs
/// less than sorting both: on shingles of real documents, about half.
#[derive(Debug, Default)]
pub(super) struct SetTable {
    /// The hash in each slot.
    hashes: Vec<u64>,
    /// For each slot: 0 if it is empty, else the number of the last list that held the hash; 1 if none did.
    marks: Vec<u32>,
    /// The number of distinct hashes.
    len: usize,
    /// The number of the last list.
    list: u32,
    /// Hashes of the last list that the table does not hold.
    missing: Vec<u64>,
}

const EMPTY: u32 = 0;
const UNSEEN: u32 = 1;

/// Hashes of a list between two checks whether the least similarity is still in reach.
const STRIDE: usize = 256;

impl SetTable {
    /// Replaces the set. `hashes` may hold repeats.
    pub(super) fn fill(&mut self, hashes: &[u64]) {
        let slots = (2 * hashes.len()).next_power_of_two().max(16);
        self.marks.clear();
        self.marks.resize(slots, EMPTY);
        self.hashes.resize(slots, 0);
        self.len = 0;
        self.list = UNSEEN;
        for hash in hashes {
            let slot = self.slot(*hash);
            if self.marks[slot] == EMPTY {
                self.marks[slot] = UNSEEN;
                self.hashes[slot] = *hash;
                self.len += 1;
            }
        }
    }

    /// The Jaccard similarity of the set and another, whose list may hold repeats; 0 for two empty sets. May return
    /// 0 instead of a similarity below `least`.
    #[allow(
        clippy::cast_precision_loss,
        reason = "sets have far fewer than 2^52 hashes"
    )]
    pub(super) fn jaccard(&mut self, other: &[u64], least: f64) -> f64 {
        // Marks of 2^32 lists would be ambiguous.
        if self.list == u32::MAX {
            self.marks
                .iter_mut()
                .for_each(|mark| *mark = UNSEEN.min(*mark));
            self.list = UNSEEN;
        }
        self.list += 1;
        self.missing.clear();
        // The union holds at least this set.
        let least_shared = least * self.len as f64;
        let mut shared = 0;
        let mut rest = other.len();
        for stride in other.chunks(STRIDE) {
            if ((shared + rest) as f64) < least_shared {
                return 0.0;
            }
            rest -= stride.len();
            for hash in stride {
                let slot = self.slot(*hash);
                if self.marks[slot] == EMPTY {
                    self.missing.push(*hash);
                } else {
                    shared += usize::from(self.marks[slot] != self.list);
                    self.marks[slot] = self.list;
                }
            }
        }
        if shared == 0 || (shared as f64) < least_shared {
            return 0.0;
        }
        self.missing.sort_unstable();
        self.missing.dedup();
        shared as f64 / (self.len + self.missing.len()) as f64
    }

    /// The slot of a hash: the one that holds it, or the empty one where it would go. At most half of the slots are
    /// full, so there is one.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the shift leaves the bits of a slot number"
    )]
    fn slot(&self, hash: u64) -> usize {
        // Callers may pass numbers that are no hashes: the product spreads them.
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        let mask = self.marks.len() - 1;
        let shift = 64 - self.marks.len().trailing_zeros();
        let mut slot = (hash.wrapping_mul(SPREAD) >> shift) as usize & mask;
        while self.marks[slot] != EMPTY && self.hashes[slot] != hash {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::jaccard;

    fn sorted(list: &[u64]) -> Vec<u64> {
        let set: BTreeSet<u64> = list.iter().copied().collect();
        set.into_iter().collect()
    }

    proptest! {
        #[test]
        fn tables_count_like_sorted_sets(
            a in prop::collection::vec(0u64..40, 0..60),
            lists in prop::collection::vec(prop::collection::vec(0u64..40, 0..60), 1..4),
            least in 0.0f64..1.0,
        ) {
            let mut table = SetTable::default();
            table.fill(&[7; 3]);
            table.fill(&a);
            for b in &lists {
                let expected = jaccard(&sorted(&a), &sorted(b));
                prop_assert_eq!(table.jaccard(b, 0.0), expected);
                let found = table.jaccard(b, least);
                prop_assert!(found == expected || expected < least && found < least);
            }
        }
    }

    #[test]
    fn long_lists_end_early_only_below_the_least() {
        let a: Vec<u64> = (0..5000).collect();
        let mut table = SetTable::default();
        table.fill(&a);
        for shift in [0, 500, 1000, 1100, 1200, 4000] {
            let b: Vec<u64> = (shift..5000 + shift).rev().collect();
            let expected = jaccard(&a, &sorted(&b));
            let found = table.jaccard(&b, 0.65);
            assert!(
                found == expected || expected < 0.65 && found < 0.65,
                "{shift}"
            );
        }
        table.list = u32::MAX - 1;
        for _ in 0..3 {
            assert_eq!(table.jaccard(&a[..2500], 0.0), 0.5);
        }
    }
}
