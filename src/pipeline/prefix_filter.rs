//! Rejects pairs of sets that cannot be similar, before their elements are compared.

use super::criterion::Criterion;
use crate::scheme::spread;

/// 128 bits, each the parity of the elements of a set that hash to it. Each element that only one of two sets has
/// changes one bit, so sets whose bits differ in d places differ in at least d elements (Sandes et al. 2017).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parity(u128);

impl Parity {
    /// Adds an element.
    pub(super) fn flip(&mut self, hash: u64) {
        self.0 ^= 1 << (spread(hash) >> 57);
    }

    fn differences(self, other: Parity) -> usize {
        (self.0 ^ other.0).count_ones() as usize
    }
}

/// How far rounding of weights may lower a similarity: decimal fractions are no whole numbers of the units that count
/// weights. A weighted pair that is nearer below the threshold counts as similar.
pub(crate) const WEIGHT_ROUNDING: f64 = 1e-8;

/// What a join knows of its sets, by index: the number of elements, and their parities; or the sum of their weights,
/// and nothing else. All sets list their elements in one order.
#[derive(Clone, Debug)]
pub(super) struct PrefixFilter {
    pub(super) criterion: Criterion,
    pub(super) is_weighted: bool,
    pub(super) sets: Vec<(u64, Parity)>,
    /// The sets that may be similar to one with no common element, by number of elements: the number, and the index.
    pub(super) small: Vec<(u64, u32)>,
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the number of elements of a set in memory is a usize"
)]
impl PrefixFilter {
    /// Whether two sets may be similar by their sizes and parities.
    pub(super) fn may_be_similar(&self, a: u32, b: u32) -> bool {
        let (len_a, parity_a) = self.sets[a as usize];
        let (len_b, parity_b) = self.sets[b as usize];
        self.criterion.allows_sizes(len_a, len_b)
            && (self.is_weighted || {
                let (len_a, len_b) = (len_a as usize, len_b as usize);
                let least = self.criterion.least_overlap(len_a, len_b);
                parity_a.differences(parity_b) + 2 * least <= len_a + len_b
            })
    }

    /// The sets that are similar to a set by their sizes alone; it may be one of them.
    pub(super) fn similar_by_size(&self, index: u32) -> &[(u64, u32)] {
        let sizes = match self.criterion {
            Criterion::Jaccard(_) => None,
            Criterion::Within(within) => {
                within.reaches_without_overlap(self.sets[index as usize].0)
            }
        };
        let Some(sizes) = sizes else {
            return &[];
        };
        let start = self.small.partition_point(|(len, _)| len < sizes.start());
        let end = self.small.partition_point(|(len, _)| len <= sizes.end());
        &self.small[start..end]
    }

    /// Whether two sets may be similar that have their first common element at these places, from 0 (the position
    /// filter of PPJoin, MMDS 3.9.6).
    pub(super) fn passes(&self, (a, place_a): (u32, u32), (b, place_b): (u32, u32)) -> bool {
        if self.is_weighted {
            return true;
        }
        let (len_a, len_b) = (self.sets[a as usize].0, self.sets[b as usize].0);
        let most = (len_a - u64::from(place_a)).min(len_b - u64::from(place_b));
        most as usize >= (self.criterion).least_overlap(len_a as usize, len_b as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parities_bound_the_differences(
            a in prop::collection::btree_set(any::<u64>(), 0..300),
            b in prop::collection::btree_set(any::<u64>(), 0..300),
        ) {
            let parity = |set: &std::collections::BTreeSet<u64>| {
                let mut parity = Parity::default();
                set.iter().for_each(|hash| parity.flip(*hash));
                parity
            };
            let differences = parity(&a).differences(parity(&b));
            prop_assert!(differences <= a.symmetric_difference(&b).count());
            prop_assert_eq!(parity(&a).differences(parity(&a)), 0);
        }
    }
}
