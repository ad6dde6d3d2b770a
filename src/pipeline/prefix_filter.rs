//! Rejects pairs of sets that cannot be similar, before their elements are compared.

use super::criterion::Criterion;
use crate::error::{Conflict, Result};
use crate::scheme::spread;

/// 128 bits, each the parity of the elements of a set that hash to it. Each element that only one of two sets has
/// changes one bit, so sets whose bits differ in d places differ in at least d elements (Sandes et al. 2017).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parity(u128);

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

/// What a join knows of a set: the number of its elements, and their parities; or the sum of their weights, and nothing
/// else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct SetSummary {
    pub(crate) len: u64,
    pub(super) parity: Parity,
}

impl SetSummary {
    /// A set of which nothing is known but its size.
    #[doc(hidden)]
    pub fn with_len(len: u64) -> Self {
        SetSummary {
            len,
            parity: Parity::default(),
        }
    }
}

impl SetSummary {
    /// As words.
    pub(crate) fn to_words(self) -> [u32; 6] {
        let [a, b] = bytemuck::cast(self.len);
        let [c, d, e, f] = bytemuck::cast(self.parity.0);
        [a, b, c, d, e, f]
    }

    /// The summary with these words.
    pub(crate) fn from_words([a, b, c, d, e, f]: [u32; 6]) -> Self {
        SetSummary {
            len: bytemuck::cast([a, b]),
            parity: Parity(bytemuck::cast([c, d, e, f])),
        }
    }
}

/// Rejects pairs of sets by what is known of each. All sets list their elements in one order.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct PairFilter {
    #[doc(hidden)]
    pub criterion: Criterion,
    #[doc(hidden)]
    pub weighted: bool,
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the number of elements of a set in memory is a usize"
)]
impl PairFilter {
    /// For pairs that are similar by `criterion`. The similarity of weighted sets is compared with the threshold less
    /// what rounding takes.
    ///
    /// # Errors
    /// [`Conflict::DistanceOfWeights`] for a distance of weighted sets, and [`Conflict::ContainedWeights`] for their
    /// containment.
    pub(crate) fn new(criterion: Criterion, weighted: bool) -> Result<Self> {
        let criterion = match criterion {
            Criterion::Jaccard(threshold) if weighted => {
                Criterion::Jaccard(threshold - WEIGHT_ROUNDING)
            }
            Criterion::Within(_) if weighted => return Err(Conflict::DistanceOfWeights.into()),
            Criterion::Contained(_) if weighted => {
                return Err(Conflict::ContainedWeights.into());
            }
            criterion => criterion,
        };
        Ok(PairFilter {
            criterion,
            weighted,
        })
    }

    /// Whether two sets may be similar by their sizes and parities.
    pub(crate) fn may_be_similar(&self, a: &SetSummary, b: &SetSummary) -> bool {
        self.criterion.allows_sizes(a.len, b.len)
            && (self.weighted || {
                let (len_a, len_b) = (a.len as usize, b.len as usize);
                let least = self.criterion.least_overlap(len_a, len_b);
                a.parity.differences(b.parity) + 2 * least <= len_a + len_b
            })
    }

    /// Whether one of the sets that have an element, given with the place of the element in each, is led to similar sets
    /// by it.
    pub(crate) fn leads_to_pairs<'a>(
        &self,
        mut sets: impl Iterator<Item = (&'a SetSummary, u32)>,
    ) -> bool {
        match self.criterion {
            Criterion::Contained(_) => {
                sets.any(|(set, place)| self.criterion.leads_to_pairs(set.len, place))
            }
            Criterion::Jaccard(_) | Criterion::Within(_) => true,
        }
    }

    /// Whether two sets may be similar that have a common element at these places, from 0, and none before (the position
    /// filter of PPJoin, MMDS 3.9.6). Sets that pass with a later common element pass with the first, too.
    #[doc(hidden)]
    pub fn passes(&self, a: PlacedElement<'_>, b: PlacedElement<'_>) -> bool {
        if self.weighted {
            return true;
        }
        let most = a.suffix_len().min(b.suffix_len());
        most as usize >= (self.criterion).least_overlap(a.set.len as usize, b.set.len as usize)
    }
}

/// An element of a set.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct PlacedElement<'a> {
    /// The set.
    pub set: &'a SetSummary,
    /// The place of the element in the order of the set, from 0.
    pub place: u32,
}

impl PlacedElement<'_> {
    /// The number of elements of the set from this one on.
    fn suffix_len(&self) -> u64 {
        self.set.len - u64::from(self.place)
    }
}

/// What a join knows of its sets, by index.
#[derive(Clone, Debug)]
pub(super) struct PrefixFilter {
    pub(super) filter: PairFilter,
    pub(super) sets: Vec<SetSummary>,
    /// The sets that may be similar to one with no common element, by number of elements: the number, and the index.
    pub(super) small: Vec<(u64, u32)>,
}

impl PrefixFilter {
    /// Whether two sets may be similar by their sizes and parities.
    pub(super) fn may_be_similar(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        self.filter.may_be_similar(a, b)
    }

    /// The sets that are similar to a set by their sizes alone; it may be one of them.
    pub(super) fn similar_by_size(&self, index: u32) -> &[(u64, u32)] {
        let len = self.sets[index as usize].len;
        let Some(sizes) = self.filter.criterion.similar_sizes(len) else {
            return &[];
        };
        let start = self.small.partition_point(|(len, _)| len < sizes.start());
        let end = self.small.partition_point(|(len, _)| len <= sizes.end());
        &self.small[start..end]
    }

    /// The element of set `index` at a place, from 0.
    pub(super) fn placed(&self, index: u32, place: u32) -> PlacedElement<'_> {
        PlacedElement {
            set: &self.sets[index as usize],
            place,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_that_pass_with_a_later_element_pass_with_an_earlier_one(
            sizes in (1u32..200, 1u32..200),
            places in (0u32..200, 0u32..200),
            steps in (0u32..9, 0u32..9),
            threshold in 0.05f64..1.0,
        ) {
            let filter = PairFilter::new(Criterion::Jaccard(threshold), false).unwrap();
            let set = |len| SetSummary { len, parity: Parity::default() };
            let (a, b) = (set(sizes.0.into()), set(sizes.1.into()));
            let places = (places.0.min(sizes.0 - 1), places.1.min(sizes.1 - 1));
            let earlier = (places.0.saturating_sub(steps.0), places.1.saturating_sub(steps.1));
            let passes = |places: (u32, u32)| {
                let placed = |set, place| PlacedElement { set, place };
                filter.passes(placed(&a, places.0), placed(&b, places.1))
            };
            prop_assert!(!passes(places) || passes(earlier));
        }

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
