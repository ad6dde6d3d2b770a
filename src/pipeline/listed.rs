//! Pairs whose similarities are known from a list: what a search for pairs has found.

use super::bucket::Buckets;
use super::verify::{Comparer, Similarity, Verified};
use crate::error::Result;

/// Similar pairs of positions. Of all other pairs nothing is known but that they are not listed.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct ListedPairs {
    /// Both positions, the lower one first.
    pairs: Vec<(u32, u32)>,
    /// The similarity of each; not a number if it is not known.
    similarities: Vec<f64>,
}

impl ListedPairs {
    /// Bytes of memory of a pair, with the buckets of [`ListedPairs::buckets`].
    #[doc(hidden)]
    pub const BYTES: u64 = 64;

    /// Adds a pair of different positions.
    #[doc(hidden)]
    pub fn push(&mut self, [a, b]: [u32; 2], similarity: Option<f64>) {
        self.pairs.push((a.min(b), a.max(b)));
        self.similarities.push(similarity.unwrap_or(f64::NAN));
    }

    /// Sorts the pairs, so that they can be found. Of equal ones, the first counts.
    pub(crate) fn sort(&mut self) {
        if self.pairs.is_sorted_by(|a, b| a < b) {
            return;
        }
        let pairs = self.pairs.iter().copied();
        let mut all: Vec<_> = pairs.zip(self.similarities.iter().copied()).collect();
        all.sort_by_key(|(pair, _)| *pair);
        all.dedup_by_key(|(pair, _)| *pair);
        (self.pairs, self.similarities) = all.into_iter().unzip();
    }

    /// The buckets in which each pair alone is one, of documents with positions below `documents`.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) for 2^32 pairs or more.
    pub(crate) fn buckets(&self, documents: usize) -> Result<Buckets> {
        Buckets::from_pairs(documents, &self.pairs)
    }
}

impl Similarity for ListedPairs {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(self)
    }
}

impl Comparer for &ListedPairs {
    /// Nothing is known of a pair that is not listed.
    fn compare(&mut self, a: u32, b: u32, _: f64) -> Result<Verified> {
        let found = self.pairs.binary_search(&(a.min(b), a.max(b)));
        let similarity = found.ok().map(|at| self.similarities[at]);
        Ok(Verified {
            similarity: similarity.filter(|similarity| !similarity.is_nan()),
            overlap: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_pairs_are_found_in_any_order() {
        let mut listed = ListedPairs::default();
        for (pair, similarity) in [
            ([7, 2], Some(0.5)),
            ([2, 4], None),
            ([0, 7], Some(0.25)),
            ([2, 7], Some(0.75)),
        ] {
            listed.push(pair, similarity);
        }
        listed.sort();
        assert_eq!(listed.pairs, [(0, 7), (2, 4), (2, 7)]);
        let mut comparer = listed.comparer();
        for (a, b, expected) in [
            (2, 7, Some(0.5)),
            (7, 2, Some(0.5)),
            (4, 2, None),
            (0, 7, Some(0.25)),
            (0, 2, None),
        ] {
            assert_eq!(comparer.compare(a, b, 0.9).unwrap().similarity, expected);
        }
        let buckets = listed.buckets(9).unwrap();
        assert_eq!(buckets.positions(), [0, 2, 4, 7]);
        let pairs: Vec<_> = buckets.of_band(0).map(<[u32]>::to_vec).collect();
        assert_eq!(pairs, [[0, 3], [1, 2], [1, 3]]);
    }
}
