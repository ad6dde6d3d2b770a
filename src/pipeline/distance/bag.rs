//! Bags: sets whose elements have counts (MMDS 3.1.3).

use super::vectors::VectorComparison;

/// A bag (multiset): its elements in ascending order, each with its count. Collect one from an iterator.
///
/// ```
/// use simgpu::pipeline::Bag;
///
/// let [a, b] = ["aaab", "aabbc"].map(|letters| letters.chars().collect::<Bag<char>>());
/// let bags = a.compare(&b);
/// // Common are a twice and b once. The book divides by the sum of both sizes.
/// assert_eq!(bags.similarity(), Some(3.0 / 9.0));
/// assert_eq!(bags.jaccard(), Some(3.0 / 6.0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bag<T> {
    counts: Vec<(T, u64)>,
}

impl<T: Ord> FromIterator<T> for Bag<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut counts: Vec<(T, u64)> = elements.into_iter().map(|element| (element, 1)).collect();
        counts.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        counts.dedup_by(|(element, count), (kept, sum)| {
            let is_repeat = element == kept;
            *sum += u64::from(is_repeat) * *count;
            is_repeat
        });
        Bag { counts }
    }
}

impl<T: Ord> Bag<T> {
    /// The distinct elements in ascending order, each with its count.
    pub fn counts(&self) -> &[(T, u64)] {
        &self.counts
    }

    /// The number of elements, repeats included.
    pub fn len(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Whether the bag has no element.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Compares two bags as sets, as bags and as vectors of counts. One merge of the two lists.
    pub fn compare(&self, other: &Bag<T>) -> BagComparison {
        let (mut a, mut b) = (&*self.counts, &*other.counts);
        let mut shared = 0;
        let vectors = std::iter::from_fn(|| {
            let (in_a, in_b) = match (a.first(), b.first()) {
                (Some((a, _)), Some((b, _))) => (a <= b, b <= a),
                (a, b) => (a.is_some(), b.is_some()),
            };
            shared += usize::from(in_a && in_b);
            let take = |from: &mut &[(T, u64)], is_in: bool| match *from {
                [(_, count), rest @ ..] if is_in => {
                    *from = rest;
                    // Each element took memory when it was counted, so the count is below 2^63.
                    count.cast_signed()
                }
                _ => 0,
            };
            (in_a || in_b).then(|| (take(&mut a, in_a), take(&mut b, in_b)))
        })
        .collect();
        BagComparison {
            distinct: [self.counts.len(), other.counts.len()],
            shared,
            sizes: [self.len(), other.len()],
            vectors,
        }
    }
}

/// Two bags, compared by [`Bag::compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagComparison {
    /// Number of distinct elements of each bag.
    pub distinct: [usize; 2],
    /// Number of distinct elements in both bags.
    pub shared: usize,
    /// Number of elements of each bag, repeats included.
    pub sizes: [u64; 2],
    /// The bags as vectors: one component per element, its count.
    pub vectors: VectorComparison,
}

impl BagComparison {
    /// The sum of both sizes.
    fn sum(&self) -> u128 {
        self.sizes.map(u128::from).iter().sum()
    }

    /// The size of the intersection: each element counts with the smaller of its two counts.
    ///
    /// The counts of an element add up to twice the smaller and the difference, so no second sum is needed.
    pub fn intersection(&self) -> u128 {
        self.sum().saturating_sub(self.vectors.l1()) / 2
    }

    /// The Jaccard similarity of bags: the sum of the smaller counts divided by the sum of the greater ones. `None`
    /// if both bags are empty.
    pub fn jaccard(&self) -> Option<f64> {
        let union = self.sum() - self.intersection();
        (union > 0).then(|| self.intersection() as f64 / union as f64)
    }

    /// The similarity of bags of MMDS 3.1.3: the sum of the smaller counts divided by the sum of all counts. At most
    /// 1/2. `None` if both bags are empty.
    pub fn similarity(&self) -> Option<f64> {
        (self.sum() > 0).then(|| self.intersection() as f64 / self.sum() as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::super::verify::jaccard;
    use super::*;

    fn bag(elements: &[u8]) -> Bag<u8> {
        elements.iter().copied().collect()
    }

    #[test]
    fn empty_bags_have_no_similarity() {
        let empty = bag(&[]);
        let compared = empty.compare(&empty);
        assert!(empty.is_empty());
        assert_eq!((compared.jaccard(), compared.similarity()), (None, None));
        assert_eq!(empty.compare(&bag(&[1])).jaccard(), Some(0.0));
    }

    fn small_bag() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0..5u8, 0..9)
    }

    proptest! {
        #[test]
        fn bags_match_their_definition(a in small_bag(), b in small_bag()) {
            let mut counts: BTreeMap<u8, [u64; 2]> = BTreeMap::new();
            for (of, bag) in [&a, &b].into_iter().enumerate() {
                for element in bag {
                    counts.entry(*element).or_default()[of] += 1;
                }
            }
            let sum = |of: fn(&[u64; 2]) -> u64| counts.values().map(of).sum::<u64>();
            let smaller = sum(|[a, b]| *a.min(b));
            let greater = sum(|[a, b]| *a.max(b));
            let compared = bag(&a).compare(&bag(&b));
            prop_assert_eq!(compared.sizes, [a.len() as u64, b.len() as u64]);
            prop_assert_eq!(bag(&a).len(), a.len() as u64);
            prop_assert_eq!(compared.intersection(), smaller.into());
            prop_assert_eq!(compared.shared as u64, sum(|[a, b]| (*a.min(b)).min(1)));
            prop_assert_eq!(compared.distinct[1] as u64, sum(|[_, b]| (*b).min(1)));
            prop_assert_eq!(compared.vectors.l1(), (greater - smaller).into());
            if greater > 0 {
                prop_assert_eq!(compared.jaccard(), Some(smaller as f64 / greater as f64));
                let all = smaller + greater;
                prop_assert_eq!(compared.similarity(), Some(smaller as f64 / all as f64));
            }
        }

        #[test]
        fn jaccard_distances_are_metrics(a in small_bag(), b in small_bag(), c in small_bag()) {
            let sets = |a: &[u8], b: &[u8]| {
                let [a, b] = [a, b].map(|set| {
                    let mut set = set.to_vec();
                    set.sort_unstable();
                    set.dedup();
                    set
                });
                // The similarity of two empty sets is undefined; as a metric, equal sets have distance 0.
                if a == b { 0.0 } else { 1.0 - jaccard(&a, &b) }
            };
            let bags = |a: &[u8], b: &[u8]| {
                bag(a).compare(&bag(b)).jaccard().map_or(0.0, |jaccard| 1.0 - jaccard)
            };
            prop_assert_eq!(bags(&a, &b) == 0.0, bag(&a) == bag(&b));
            for distance in [&sets as &dyn Fn(&[u8], &[u8]) -> f64, &bags] {
                prop_assert_eq!(distance(&a, &a), 0.0);
                prop_assert_eq!(distance(&a, &b), distance(&b, &a));
                prop_assert!(distance(&a, &c) <= distance(&a, &b) + distance(&b, &c) + 1e-12);
            }
        }
    }
}
