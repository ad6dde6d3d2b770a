//! Chooses the documents to remove.

use super::removal::Removal;
use super::verify::Similarity;

/// Method of grouping similar documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clustering {
    /// Visits documents in keep order and removes each that is similar to a kept one ([`Clusters::greedy`]).
    /// Does not follow chains of pairs.
    #[default]
    Greedy,
    /// Keeps one document per connected component ([`Clusters::connected`]).
    Connected,
}

impl Clustering {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Clustering::Greedy => "greedy",
            Clustering::Connected => "connected",
        }
    }
}

/// Which documents are similar, and which of them to keep.
#[derive(Clone, Copy)]
pub struct ClusterTask<'a> {
    /// Compares documents by position.
    pub similarity: &'a dyn Similarity,
    /// The least similarity of similar documents.
    pub threshold: f64,
    /// The keep order by position: entry i is the rank of position i, and lower ranks are kept first
    /// ([`KeepPolicy::ranks`](super::KeepPolicy::ranks)). `None` is the order of positions.
    pub ranks: Option<&'a [u32]>,
    /// The most documents of one bucket that a further document is compared with. [`Omitted`] counts what this leaves
    /// out.
    pub max_bucket: usize,
}

impl std::fmt::Debug for ClusterTask<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterTask")
            .field("threshold", &self.threshold)
            .field("max_bucket", &self.max_bucket)
            .finish_non_exhaustive()
    }
}

impl<'a> ClusterTask<'a> {
    /// Documents in the order of positions, each of which is compared with all others of its buckets.
    pub fn new(similarity: &'a dyn Similarity, threshold: f64) -> Self {
        ClusterTask {
            similarity,
            threshold,
            ranks: None,
            max_bucket: usize::MAX,
        }
    }

    /// The same, where a document is compared with at most so many others of a bucket.
    pub(crate) fn bounded(self, max_bucket: usize) -> Self {
        ClusterTask { max_bucket, ..self }
    }

    /// Whether a further document of a bucket is compared with later ones, after so many.
    pub(crate) fn lists(&self, before: usize) -> bool {
        before < self.max_bucket
    }

    /// How many of so many documents of a bucket are compared with a further one.
    #[doc(hidden)]
    pub fn listed(&self, documents: usize) -> usize {
        documents.min(self.max_bucket)
    }

    /// How many of so many documents of a bucket are not compared with a further one.
    pub(crate) fn unlisted(&self, documents: u32) -> u32 {
        // No bucket counts more than a bound that is no u32.
        u32::try_from(self.max_bucket).map_or(0, |most| documents.saturating_sub(most))
    }

    /// The rank of a position: lower ranks are kept first.
    pub(super) fn rank(&self, position: u32) -> u32 {
        self.ranks
            .map_or(position, |ranks| ranks[position as usize])
    }
}

/// The documents to remove. All others stay.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::pipeline::{BandKeys, Banding, Buckets, ClusterTask, Clusters};
///
/// let texts = [
///     "a rose is a rose is a rose is a rose, she said, and laughed",
///     "the quick brown fox jumps over the lazy dog",
///     "A rose is a rose is a rose is a rose, she said, and laughed",
/// ];
/// let engine = Engine::builder().build()?;
/// let signatures = engine.sign(&texts)?;
/// let mut keys = BandKeys::new(Banding::new(32, 4, 128)?);
/// keys.push(&signatures);
/// let buckets = Buckets::of(keys, &mut |_| Ok(()))?;
/// let task = ClusterTask::new(&signatures, 0.7);
/// let clusters = Clusters::greedy(buckets, &task, &mut |_| Ok(()))?;
/// let [removal] = &clusters.removals[..] else { panic!() };
/// assert_eq!((removal.document, removal.kept), (2, 0));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// One entry per document to remove, named by positions, ascending. None is identical to its kept document.
    pub removals: Vec<Removal>,
    /// The number of pairs compared.
    pub compared: u64,
    /// The number of compared pairs that are similar.
    pub similar: u64,
    /// What [`ClusterTask::max_bucket`] left out.
    pub omitted: Omitted,
}

impl Clusters {
    /// Adds those of other documents, whose positions here `position` returns. The order is left to the caller.
    pub(crate) fn add(&mut self, found: &Clusters, position: impl Fn(u32) -> u32) {
        self.compared += found.compared;
        self.similar += found.similar;
        self.omitted.pairs += found.omitted.pairs;
        self.omitted.buckets += found.omitted.buckets;
        let removals = found.removals.iter();
        self.removals
            .extend(removals.map(|removal| removal.name(&position, &position)));
    }
}

/// Pairs that were not compared because of [`ClusterTask::max_bucket`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Upper bound on the pairs not compared. A pair counts once for each bucket in which it was not compared.
    pub pairs: u64,
    /// The number of buckets with such pairs.
    pub buckets: u64,
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::super::band::{BandKeys, KeyRows};
    use super::super::banding::Banding;
    use super::super::bucket::Buckets;
    use super::super::reference::Reference;
    use super::super::verify::{Comparer, Similarity, Verified};
    use crate::error::Result;
    use crate::scheme::fmix64;

    /// Documents with made-up keys, keep order and similarities: any two documents are similar or not by chance.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Made {
        /// The keys of each document, per band.
        pub(in super::super) keys: Vec<Vec<u64>>,
        pub(in super::super) ranks: Vec<u32>,
        /// The number of each document, which decides the similarities.
        numbers: Vec<u32>,
        seed: u64,
    }

    impl Made {
        pub(in super::super) fn similarity(&self, a: u32, b: u32) -> f64 {
            let [a, b] = [a, b].map(|document| self.numbers[document as usize]);
            let pair = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
            // Few values, so that some are equal.
            (fmix64(pair ^ self.seed) % 8) as f64 / 8.0
        }

        pub(in super::super) fn buckets(&self) -> Buckets {
            self.buckets_against(None)
        }

        pub(in super::super) fn buckets_against(&self, reference: Option<Reference>) -> Buckets {
            let bands = self.keys[0].len();
            let mut keys = BandKeys::new(Banding::new(bands, 1, bands).unwrap());
            let rows = self.keys.iter();
            rows.for_each(|row| keys.push_rows(&KeyRows::new(bands, row.clone())));
            Buckets::compared(keys, reference, &mut |_| Ok(())).unwrap()
        }

        /// Some of the documents, with the similarities that they have here.
        pub(in super::super) fn part(&self, documents: &[u32]) -> Made {
            let keys = documents.iter().map(|i| self.keys[*i as usize].clone());
            Made {
                keys: keys.collect(),
                ranks: (0..).take(documents.len()).collect(),
                numbers: documents.to_vec(),
                seed: self.seed,
            }
        }
    }

    impl Similarity for Made {
        fn comparer(&self) -> Box<dyn Comparer + '_> {
            Box::new(self)
        }
    }

    impl Comparer for &Made {
        fn compare(&mut self, a: u32, b: u32, least: f64) -> Result<Verified> {
            let similarity = self.similarity(a, b);
            Ok(Verified::by(if similarity < least {
                0.0
            } else {
                similarity
            }))
        }
    }

    pub(in super::super) fn made() -> impl Strategy<Value = Made> {
        let sizes = (1usize..50, 1usize..4, 1u64..30);
        sizes.prop_flat_map(|(documents, bands, kinds)| {
            let row = prop::collection::vec(0..kinds, bands);
            let keys = prop::collection::vec(row, documents);
            let ranks: Vec<u32> = (0..).take(documents).collect();
            let shuffled = Just(ranks.clone()).prop_shuffle();
            let made = (keys, shuffled, Just(ranks), any::<u64>());
            made.prop_map(|(keys, ranks, numbers, seed)| Made {
                keys,
                ranks,
                numbers,
                seed,
            })
        })
    }
}
