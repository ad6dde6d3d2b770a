//! Observes the estimates of candidate pairs, from which the precision of a run is estimated.

use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::pipeline::{Comparer, PackedSignatures, Similarity};

/// Packed signatures that count the equal slots of the candidates they compare.
#[derive(Debug)]
pub(crate) struct ObservedSignatures {
    signatures: PackedSignatures,
    observed: Observations,
}

/// For each number of equal slots, the number of compared candidates.
#[derive(Clone, Debug)]
pub(crate) struct Observations(Arc<Mutex<Vec<u64>>>);

impl Observations {
    /// No candidates yet, of signatures of `num_perm` slots.
    pub(crate) fn none(num_perm: usize) -> Self {
        Observations(Arc::new(Mutex::new(vec![0; num_perm + 1])))
    }

    /// Adds counts of compared candidates by equal slots.
    pub(crate) fn add(&self, by_matches: &[u64]) {
        if let Ok(mut counts) = self.0.lock() {
            for (sum, count) in counts.iter_mut().zip(by_matches) {
                *sum += count;
            }
        }
    }

    /// The number of compared candidates by equal slots.
    pub(crate) fn by_matches(&self) -> Vec<u64> {
        self.0
            .lock()
            .map(|counts| counts.clone())
            .unwrap_or_default()
    }
}

impl ObservedSignatures {
    pub(crate) fn new(signatures: PackedSignatures) -> (Self, Observations) {
        let observed = Observations::none(signatures.num_perm());
        let signatures = ObservedSignatures::counted_in(signatures, &observed);
        (signatures, observed)
    }

    /// Adds what these signatures observe to `observed`.
    pub(crate) fn counted_in(signatures: PackedSignatures, observed: &Observations) -> Self {
        ObservedSignatures {
            signatures,
            observed: observed.clone(),
        }
    }
}

impl Similarity for ObservedSignatures {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(ObservedComparer {
            signatures: self,
            by_matches: vec![0; self.signatures.num_perm() + 1],
        })
    }
}

/// Counts on one thread, and adds its counts to the others at its end.
struct ObservedComparer<'a> {
    signatures: &'a ObservedSignatures,
    by_matches: Vec<u64>,
}

impl Comparer for ObservedComparer<'_> {
    fn compare(&mut self, a: u32, b: u32, least: f64) -> Result<Option<f64>> {
        let estimate = (self.signatures.signatures).jaccard_estimate(a as usize, b as usize);
        // A similarity wanted whatever it is belongs to no candidate.
        if least > 0.0 {
            self.by_matches[estimate.matches()] += 1;
        }
        // An estimate below 0 is no similarity.
        Ok(Some(estimate.jaccard().max(0.0)))
    }
}

impl Drop for ObservedComparer<'_> {
    fn drop(&mut self) {
        self.signatures.observed.add(&self.by_matches);
    }
}
