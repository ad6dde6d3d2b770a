//! How many elements two sets must share to be similar, and what follows for their sizes and prefixes.
//!
//! The bounds of a similarity are exact for [`jaccard`](super::jaccard) as it is computed, a division of two `f64`:
//! rounding decides cases such as 7/10 >= 0.7, and a bound by real numbers would lose such pairs.
//!
//! A distance of at most D bounds the number of common elements itself. Lists of d tokens must share d - D of their
//! elements. Bags of a and b elements that share x have the L1 distance a + b - 2x, so x must be at least
//! (a + b - D) / 2. If this is 0, the two are similar whatever they hold, and no common element leads to the pair: it
//! follows from the sizes alone ([`Within::reaches_without_overlap`]).

use std::ops::RangeInclusive;

use super::criterion::{Criterion, Distance, Within};

impl Criterion {
    /// Whether sets of these sizes, in elements or in sums of weights, may be similar.
    pub(crate) fn allows_sizes(self, a: u64, b: u64) -> bool {
        match self {
            Criterion::Jaccard(threshold) => a.min(b) as f64 / a.max(b) as f64 >= threshold,
            Criterion::Contained(_) => true,
            Criterion::Within(within) => within.allows_sizes(a, b),
        }
    }

    /// The least number of common elements with which sets of `a` and `b` elements are similar. It may exceed the size
    /// of a set: then no two such sets are.
    pub(super) fn least_overlap(self, a: usize, b: usize) -> usize {
        match self {
            Criterion::Jaccard(threshold) => least_overlap(a, b, threshold),
            Criterion::Contained(threshold) => least_subset(a.min(b), threshold),
            Criterion::Within(within) => within.least_overlap(a, b),
        }
    }

    /// The number of first elements of a set of `len`, in any fixed order of all elements, of which every similar set
    /// that must share an element has at least one (the prefix of MMDS 3.9.4).
    ///
    /// Sets that share x elements have one in common among the first a - x + 1 of the one and the first b - x + 1 of
    /// the other. So the prefix follows from the least x above 0 that a similar set may ask for. Within a distance of
    /// D, this is a - D, or 1 if that is less. A list of a tokens shares a - D of them with every near one. A bag of a
    /// elements must share (a + b - D) / 2 with a bag of b, which is least for the smallest near bag: one of a - D
    /// elements, all of which it shares.
    #[doc(hidden)]
    pub fn prefix_len(self, len: usize) -> usize {
        match self {
            _ if len == 0 => 0,
            Criterion::Jaccard(threshold) => len - least_subset(len, threshold) + 1,
            // Any element may be the rarest of a smaller set. Which of them lead to pairs, `leads_to_pairs` says.
            Criterion::Contained(_) => len,
            Criterion::Within(within) => len.min(within.most_elements().saturating_add(1)),
        }
    }

    /// Whether the element at this place, from 0, of the prefix of a set of `len` leads to similar sets.
    ///
    /// A set that is contained in a larger one, up to a share of its elements, has one of these in common with it: the
    /// prefix of the smaller set stands against all elements of the larger. So an element leads to pairs only if it is
    /// among the first of the smaller set. Elements that are so in no set need not be looked at.
    #[doc(hidden)]
    pub fn leads_to_pairs(self, len: u64, place: u32) -> bool {
        match self {
            // Prefixes hold no others.
            Criterion::Jaccard(_) | Criterion::Within(_) => true,
            Criterion::Contained(threshold) => {
                // Saturates: a set in memory has fewer elements.
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                len - least_subset(len, threshold) >= place as usize
            }
        }
    }

    /// Whether a set of `len` elements may be similar to a set that shares none of them.
    pub(super) fn may_share_nothing(self, len: u64) -> bool {
        match self {
            Criterion::Jaccard(_) | Criterion::Contained(_) => false,
            Criterion::Within(within) => len <= within.most,
        }
    }

    /// The sizes of the sets that are similar to every set of `len` elements, even without a common one; `None` if there
    /// are none.
    pub(super) fn similar_sizes(self, len: u64) -> Option<RangeInclusive<u64>> {
        match self {
            Criterion::Jaccard(_) | Criterion::Contained(_) => None,
            Criterion::Within(within) => within.reaches_without_overlap(len),
        }
    }
}

impl Within {
    /// The bound, of numbers of elements in memory.
    fn most_elements(self) -> usize {
        // Saturates: a bound above every set in memory bounds none of them.
        usize::try_from(self.most).unwrap_or(usize::MAX)
    }

    fn allows_sizes(self, a: u64, b: u64) -> bool {
        match self.distance {
            Distance::Hamming => a == b,
            Distance::L1 => a.abs_diff(b) <= self.most,
        }
    }

    /// The least number of common elements of sets of `a` and `b` elements. It exceeds the size of one if no two such
    /// sets are within the bound.
    pub(crate) fn least_overlap(self, a: usize, b: usize) -> usize {
        match self.distance {
            Distance::Hamming if a != b => a.min(b) + 1,
            Distance::Hamming => a.saturating_sub(self.most_elements()),
            // More than the smaller set has, if their sizes differ by more than the bound.
            Distance::L1 => (a + b).saturating_sub(self.most_elements()).div_ceil(2),
        }
    }

    /// The sizes of the sets that are within the bound of every set of `len` elements, even without a common one;
    /// `None` if there are none.
    pub(super) fn reaches_without_overlap(self, len: u64) -> Option<RangeInclusive<u64>> {
        let rest = self.most.checked_sub(len)?;
        Some(match self.distance {
            Distance::Hamming => len..=len,
            Distance::L1 => 0..=rest,
        })
    }
}

/// The least number of common elements with which sets of `a` and `b` elements reach `threshold`. It may exceed the
/// size of a set: then no two such sets reach it.
fn least_overlap(a: usize, b: usize, threshold: f64) -> usize {
    let reaches = |shared: usize| shared as f64 / (a + b - shared) as f64 >= threshold;
    let estimate = threshold / (1.0 + threshold) * (a + b) as f64;
    least(estimate, a.min(b) + 1, |shared| {
        shared > a.min(b) || reaches(shared)
    })
}

/// The least size of a subset of a set of `len` elements that reaches `threshold`. No smaller set is similar to the
/// set, and no set that shares fewer of its elements.
fn least_subset(len: usize, threshold: f64) -> usize {
    let reaches = |shared: usize| shared as f64 / len as f64 >= threshold;
    least(threshold * len as f64, len, reaches)
}

/// The least number from 1 to `most` with a property that all greater numbers have. `most` has it. The search starts
/// at `estimate`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the result is a first guess"
)]
fn least(estimate: f64, most: usize, has: impl Fn(usize) -> bool) -> usize {
    let mut found = (estimate as usize).clamp(1, most.max(1));
    while found > 1 && has(found - 1) {
        found -= 1;
    }
    while found < most && !has(found) {
        found += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLDS: [f64; 12] = [
        1e-9, 0.05, 0.1, 0.3, 0.5, 0.7, 0.75, 0.8, 0.9, 0.95, 0.999, 1.0,
    ];

    #[test]
    fn bounds_equal_their_definitions() {
        for threshold in THRESHOLDS {
            for a in 1..=120 {
                let is_similar = |shared: &usize| *shared as f64 / a as f64 >= threshold;
                let subset = (1..=a).find(is_similar).unwrap();
                assert_eq!(least_subset(a, threshold), subset);
                assert_eq!(Criterion::Jaccard(threshold).prefix_len(a), a - subset + 1);
                for b in 1..=120 {
                    let union = |shared: usize| (a + b - shared) as f64;
                    let reaches = |shared: &usize| *shared as f64 / union(*shared) >= threshold;
                    let expected = (1..=a.min(b)).find(reaches).unwrap_or(a.min(b) + 1);
                    assert_eq!(least_overlap(a, b, threshold), expected);
                }
            }
        }
    }

    #[test]
    fn a_contained_set_shares_an_element_that_leads_to_the_pair() {
        for threshold in THRESHOLDS {
            let criterion = Criterion::Contained(threshold);
            for a in 1..=40_usize {
                let reaches = |shared: &usize| *shared as f64 / a as f64 >= threshold;
                let least = (1..=a).find(reaches).unwrap();
                for b in a..=60 {
                    assert_eq!(criterion.least_overlap(a, b), least);
                    assert_eq!(criterion.least_overlap(b, a), least);
                    assert!(criterion.allows_sizes(a as u64, b as u64));
                }
                assert_eq!(criterion.prefix_len(a), a);
                // However the shared elements lie, one is among these: their number and that of the others exceed the set.
                let places = (0..).take(a);
                let leading = places.filter(|place| criterion.leads_to_pairs(a as u64, *place));
                assert_eq!(leading.count(), a - least + 1);
            }
        }
    }

    /// With real numbers, the prefix of a set of 10 would have (1 - 0.9) * 10 + 1 = 1.99… elements.
    #[test]
    fn rounding_decides_sets_of_ten() {
        for tens in [1, 2, 3, 5, 10, 100, 1000] {
            assert_eq!(Criterion::Jaccard(0.9).prefix_len(10 * tens), tens + 1);
            assert_eq!(Criterion::Jaccard(0.7).prefix_len(10 * tens), 3 * tens + 1);
        }
    }

    /// Sets within a distance, by their numbers of own and common elements.
    #[test]
    fn bounds_of_distances_equal_their_definitions() {
        for distance in [Distance::Hamming, Distance::L1] {
            for most in [0, 1, 2, 5, 19, 60, u64::MAX] {
                let within = Within { distance, most };
                let is_within = |a: usize, b: usize, shared: usize| match distance {
                    Distance::Hamming => a == b && (a - shared) as u64 <= most,
                    Distance::L1 => (a + b - 2 * shared) as u64 <= most,
                };
                for a in 0..=30 {
                    let mut prefix = 0;
                    for b in 0..=30 {
                        let overlaps = 0..=a.min(b);
                        let least = overlaps.clone().find(|shared| is_within(a, b, *shared));
                        let found = within.least_overlap(a, b);
                        assert_eq!(least, (found <= a.min(b)).then_some(found));
                        let criterion = Criterion::Within(within);
                        assert_eq!(criterion.allows_sizes(a as u64, b as u64), least.is_some());
                        let sizes = within.reaches_without_overlap(a as u64);
                        let reaches = sizes.is_some_and(|sizes| sizes.contains(&(b as u64)));
                        assert_eq!(reaches, least == Some(0), "{within:?} {a} {b}");
                        assert!(!reaches || criterion.may_share_nothing(a as u64));
                        if let Some(least) = least.map(|least| least.max(1)).filter(|it| *it <= a) {
                            prefix = prefix.max(a - least + 1);
                        }
                    }
                    assert_eq!(Criterion::Within(within).prefix_len(a), prefix);
                }
            }
        }
    }
}
