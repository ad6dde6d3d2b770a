//! Pairs with a document of an index that keeps signatures, next to pairs of documents whose shingles are known.
//!
//! Nothing is observed of the estimates, from which a precision could follow: of the documents of the index, only those take part
//! whose estimate reaches the threshold.

use std::borrow::Borrow;

use super::parameters::Search;
use crate::error::Result;
use crate::pipeline::{Comparer, Similarity, Verified};
use crate::store::ExactSets;

/// Exact sets, each after a packed signature. Of a document of an index, the signature alone is known: a pair with it is estimated.
pub(crate) struct SignedSets<S> {
    pub(crate) sets: S,
    /// Slots of a signature.
    pub(crate) num_perm: usize,
}

impl<S: Borrow<ExactSets> + Sync> Similarity for SignedSets<S> {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        let sets = self.sets.borrow();
        Box::new(SignedComparer {
            sets,
            exact: sets.comparer(),
            num_perm: self.num_perm,
            signatures: [Vec::new(), Vec::new()],
        })
    }
}

struct SignedComparer<'a> {
    sets: &'a ExactSets,
    exact: Box<dyn Comparer + 'a>,
    num_perm: usize,
    signatures: [Vec<u64>; 2],
}

impl Comparer for SignedComparer<'_> {
    fn compare(&mut self, a: u32, b: u32, least: f64) -> Result<Verified> {
        if self.sets.has_hashes(a) && self.sets.has_hashes(b) {
            return self.exact.compare(a, b, least);
        }
        let [first, second] = &mut self.signatures;
        self.sets.copy_prefix(a, first)?;
        self.sets.copy_prefix(b, second)?;
        let estimate = Search::SLOT_BITS.jaccard_estimate(self.num_perm, first, second)?;
        // An estimate below 0 is no similarity.
        Ok(Verified::by(estimate.jaccard().max(0.0)))
    }
}
