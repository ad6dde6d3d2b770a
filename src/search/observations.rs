//! Observes the estimates of candidate pairs, from which the precision of a run is estimated.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::pipeline::{Comparer, PackedSignatures, SharedComponents, Similarity, Verified};

/// Packed signatures that count the equal slots of the candidates they compare.
#[derive(Debug)]
pub(crate) struct ObservedSignatures<'a> {
    signatures: Cow<'a, PackedSignatures>,
    groups: Arc<OpenGroups>,
    /// The number of each document in `groups`; `None` if it is that of its signature.
    names: Option<Vec<u32>>,
}

/// What was observed of compared candidates.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Observations(Arc<Mutex<Observed>>);

#[derive(Debug)]
struct Observed {
    /// For each number of equal slots, the number of compared candidates. Then the sum of the squares of the similar
    /// pairs of each group of signatures that are gone.
    counts: Vec<u64>,
    /// The groups of signatures that still compare.
    open: Vec<Arc<Groups>>,
}

impl Observations {
    /// No candidates yet, of signatures of `num_perm` slots.
    #[doc(hidden)]
    pub fn none(num_perm: usize) -> Self {
        Observations(Arc::new(Mutex::new(Observed {
            counts: vec![0; num_perm + 2],
            open: Vec::new(),
        })))
    }

    /// Adds what was observed elsewhere, in the form of [`Observations::counts`].
    #[doc(hidden)]
    pub fn add(&self, counts: &[u64]) {
        let mut observed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, count) in observed.counts.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    /// For each number of equal slots, the number of compared candidates. Then, as a last number, the sum of the squares
    /// of the numbers of similar pairs in each group of documents that such pairs connect. All of these can be added up for
    /// parts of a corpus that no pair connects.
    #[doc(hidden)]
    pub fn counts(&self) -> Vec<u64> {
        let observed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts = observed.counts.clone();
        if let Some(squares) = counts.last_mut() {
            for groups in &observed.open {
                *squares = squares.saturating_add(groups.squares());
            }
        }
        counts
    }
}

/// Groups of documents that similar pairs connect.
#[derive(Debug)]
struct Groups {
    components: SharedComponents,
    /// The number of similar pairs of each document with others, counted once.
    pairs: Vec<AtomicU32>,
}

impl Groups {
    fn new(documents: usize) -> Self {
        Groups {
            components: SharedComponents::new(documents),
            pairs: (0..documents).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    fn add(&self, a: u32, b: u32) {
        self.components.unite(a, b);
        self.pairs[a as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The sum of the squares of the numbers of similar pairs in each group.
    fn squares(&self) -> u64 {
        let mut group_pairs = vec![0u64; self.pairs.len()];
        for (document, pairs) in (0..).zip(&self.pairs) {
            let pairs = pairs.load(Ordering::Relaxed);
            if pairs > 0 {
                group_pairs[self.components.root(document) as usize] += u64::from(pairs);
            }
        }
        let squares = group_pairs.iter().map(|pairs| pairs.saturating_mul(*pairs));
        squares.fold(0, u64::saturating_add)
    }
}

/// Groups of documents that are still compared. Their squares are added to what was observed once all is compared.
#[derive(Debug)]
#[doc(hidden)]
pub struct OpenGroups {
    groups: Arc<Groups>,
    observed: Observations,
}

impl OpenGroups {
    /// Groups of so many documents. No pair connects them to others.
    pub(crate) fn new(documents: usize, observed: &Observations) -> Arc<Self> {
        let groups = Arc::new(Groups::new(documents));
        let mut all = observed.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.open.push(Arc::clone(&groups));
        drop(all);
        Arc::new(OpenGroups {
            groups,
            observed: observed.clone(),
        })
    }
}

impl Drop for OpenGroups {
    fn drop(&mut self) {
        let mut all = self
            .observed
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.open.retain(|open| !Arc::ptr_eq(open, &self.groups));
        if let Some(squares) = all.counts.last_mut() {
            *squares = squares.saturating_add(self.groups.squares());
        }
    }
}

impl<'a> ObservedSignatures<'a> {
    /// Adds what these signatures observe to `observed`. No pair connects their documents to those of others.
    pub(crate) fn counted_in(
        signatures: Cow<'a, PackedSignatures>,
        observed: &Observations,
    ) -> Self {
        ObservedSignatures {
            groups: OpenGroups::new(signatures.len(), observed),
            names: None,
            signatures,
        }
    }

    /// The same for some of the documents of `groups`, with the number of each of them there.
    pub(crate) fn in_groups(
        signatures: Cow<'a, PackedSignatures>,
        groups: &Arc<OpenGroups>,
        names: Vec<u32>,
    ) -> Self {
        ObservedSignatures {
            signatures,
            groups: Arc::clone(groups),
            names: Some(names),
        }
    }

    fn connect(&self, a: u32, b: u32) {
        let names = self.names.as_ref();
        let name = |number: u32| names.map_or(number, |names| names[number as usize]);
        self.groups.groups.add(name(a), name(b));
    }
}

impl Similarity for ObservedSignatures<'_> {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(ObservedComparer {
            signatures: self,
            matches: vec![0; self.signatures.num_perm() + 1],
        })
    }
}

/// Counts on one thread, and adds its counts to the others at its end.
struct ObservedComparer<'a> {
    signatures: &'a ObservedSignatures<'a>,
    matches: Vec<u64>,
}

impl Comparer for ObservedComparer<'_> {
    fn compare(&mut self, a: u32, b: u32, least: f64) -> Result<Verified> {
        let estimate = (self.signatures.signatures).jaccard_estimate(a as usize, b as usize);
        // An estimate below 0 is no similarity.
        let similarity = estimate.jaccard().max(0.0);
        // A similarity wanted whatever it is belongs to no candidate.
        if least > 0.0 {
            self.matches[estimate.matches()] += 1;
            if similarity >= least {
                self.signatures.connect(a, b);
            }
        }
        Ok(Verified::by(similarity))
    }
}

impl Drop for ObservedComparer<'_> {
    fn drop(&mut self) {
        self.signatures.groups.observed.add(&self.matches);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Signatures, SlotBits};
    use crate::scheme::{Slots, Width};

    /// Signatures of four slots, of which the first documents share this many with document 0.
    fn packed(shared: &[usize]) -> PackedSignatures {
        let mut signatures = Signatures::new(4, Width::U32);
        for (document, shared) in (1..).zip(shared) {
            let slot = |slot: usize| if slot < *shared { 7 } else { 10 * document };
            let row: Vec<u32> = (0..4).map(slot).collect();
            signatures.push_row(Slots::U32(&row)).unwrap();
        }
        PackedSignatures::of(&signatures, SlotBits::Eight)
    }

    #[test]
    fn equal_slots_and_groups_are_counted() {
        let observed = Observations::none(4);
        let signatures = packed(&[4, 4, 2, 4, 0]);
        let (some, none) = {
            let estimate = |a, b| signatures.jaccard_estimate(a, b).jaccard();
            (estimate(0, 1), estimate(0, 4).max(0.0))
        };
        let similarity = ObservedSignatures::counted_in(Cow::Borrowed(&signatures), &observed);
        let mut comparer = similarity.comparer();
        // Pairs of 4, 2 and 0 equal slots. A pair at the threshold is similar.
        assert_eq!(comparer.compare(0, 1, some).unwrap(), Verified::by(some));
        comparer.compare(0, 2, 0.9).unwrap();
        assert_eq!(comparer.compare(0, 4, 0.9).unwrap(), Verified::by(none));
        comparer.compare(1, 3, some).unwrap();
        // Whatever is asked for without a threshold is no candidate.
        comparer.compare(2, 3, 0.0).unwrap();
        drop(comparer);
        // One group of two similar pairs: its square is 4. It counts while the group is open, and later.
        assert_eq!(observed.counts(), [1, 0, 1, 0, 2, 4]);
        drop(similarity);
        assert_eq!(observed.counts(), [1, 0, 1, 0, 2, 4]);
        observed.add(&[1, 1, 1, 1, 1, 1]);
        assert_eq!(observed.counts(), [2, 1, 2, 1, 3, 5]);
    }

    #[test]
    fn groups_are_counted_apart() {
        let observed = Observations::none(4);
        let signatures = packed(&[4, 4, 4, 4, 4]);
        let similarity = ObservedSignatures::counted_in(Cow::Borrowed(&signatures), &observed);
        let mut comparer = similarity.comparer();
        for (a, b) in [(0, 1), (2, 3), (3, 4), (2, 4)] {
            comparer.compare(a, b, 0.5).unwrap();
        }
        drop(comparer);
        // Groups of one and of three similar pairs.
        assert_eq!(observed.counts(), [0, 0, 0, 0, 4, 1 + 9]);
    }
}
