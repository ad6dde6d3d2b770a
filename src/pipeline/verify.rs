//! Verifies candidate pairs by their similarity.
//!
//! **A pair is compared once.** The partners of a document are collected from all of its buckets, sorted, and made
//! unique. A set of all pairs seen would need memory that grows with the candidates.

use std::ops::ControlFlow;

use super::candidates::CandidateSource;
use super::measure::Overlap;
use super::sign::Signatures;
use crate::error::Result;
use crate::threads::{even_block, try_collect_blocks};

/// Computes or estimates the Jaccard similarity of documents.
///
/// Implemented by [`Signatures`] and [`PackedSignatures`](super::PackedSignatures) (estimates), by
/// [`ExactSets`](crate::store::ExactSets) (exact values) and by [`Unverified`] (none). A search within a distance
/// compares by the negative distance instead: of both, a greater value means that two documents are more alike.
pub trait Similarity: Sync {
    /// Starts a series of comparisons on one thread.
    fn comparer(&self) -> Box<dyn Comparer + '_>;

    /// The similarity of each pair of positions, in the order of `pairs`. Cheapest if pairs with the same first
    /// position follow each other.
    ///
    /// # Errors
    /// If stored data cannot be read.
    ///
    /// # Panics
    /// If a position is not below the number of documents.
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Vec<Option<f64>>> {
        let verified = self.verify_pairs(pairs)?.into_iter();
        Ok(verified.map(|verified| verified.similarity).collect())
    }

    /// Compares each pair of positions, in the order of `pairs`.
    ///
    /// # Errors
    /// If stored data cannot be read.
    ///
    /// # Panics
    /// If a position is not below the number of documents.
    fn verify_pairs(&self, pairs: &[(u32, u32)]) -> Result<Vec<Verified>> {
        try_collect_blocks(pairs.len(), even_block(pairs.len()).max(64), |range| {
            let mut comparer = self.comparer();
            let pairs = pairs[range].iter();
            pairs.map(|(a, b)| comparer.compare(*a, *b, 0.0)).collect()
        })
    }
}

/// Compares documents one pair at a time.
pub trait Comparer {
    /// The similarity of the documents at positions `a` and `b`, if this implementation computes any. Instead of a
    /// similarity below `least` it may return any other value below `least`, if that is cheaper, and then no overlap.
    ///
    /// Cheapest if consecutive calls have the same `a`.
    ///
    /// # Errors
    /// If stored data cannot be read.
    ///
    /// # Panics
    /// If a position is not below the number of documents.
    fn compare(&mut self, a: u32, b: u32, least: f64) -> Result<Verified>;
}

/// What the comparison of two documents returns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verified {
    /// Their similarity; `None` if not computed.
    pub similarity: Option<f64>,
    /// What their sets of shingles have in common, if they were compared exactly: that of the first document, then that
    /// of the second.
    pub overlap: Option<Overlap>,
}

impl Verified {
    /// A similarity that follows from no sets of shingles.
    pub fn by(similarity: f64) -> Self {
        Verified {
            similarity: Some(similarity),
            overlap: None,
        }
    }

    /// The same for the second document and the first.
    #[must_use]
    pub(super) fn swapped(self) -> Self {
        Verified {
            overlap: self.overlap.map(Overlap::swapped),
            ..self
        }
    }
}

/// Whether a pair counts as similar: it reaches the threshold, or no similarity is computed.
pub(super) fn reaches(similarity: Option<f64>, threshold: f64) -> bool {
    similarity.is_none_or(|similarity| similarity >= threshold)
}

/// No verification: every candidate pair counts as similar.
#[derive(Clone, Copy, Debug)]
pub struct Unverified;

impl Similarity for Unverified {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(Unverified)
    }
}

impl Comparer for Unverified {
    fn compare(&mut self, _: u32, _: u32, _: f64) -> Result<Verified> {
        Ok(Verified::default())
    }
}

/// Estimates: the share of equal slots. Row i is the document at position i.
impl Similarity for Signatures {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(self)
    }
}

impl Comparer for &Signatures {
    fn compare(&mut self, a: u32, b: u32, _: f64) -> Result<Verified> {
        Ok(Verified::by(self.estimate(a as usize, b as usize)))
    }
}

/// The positions of two similar documents, and their similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair {
    /// The lower position.
    pub lo: u32,
    /// The higher position.
    pub hi: u32,
    /// The similarity; `None` if not computed.
    pub similarity: Option<f64>,
}

/// Similar pairs that [`similar_pairs`] found among the next documents.
#[derive(Clone, Debug)]
pub struct SimilarBlock {
    /// The pairs that reach the threshold, in ascending order of positions.
    pub pairs: Vec<SimilarPair>,
    /// The number of pairs compared in this block.
    pub compared: u64,
    /// The same for each document of the block, in order of positions: the pairs of it and a later one.
    pub compared_by_document: Vec<u64>,
    /// The number of documents so far whose later partners have all been compared.
    pub documents: u64,
}

/// Compares the candidate pairs of a source and calls `each` with those that have a similarity of at least
/// `threshold`, or with all pairs if `similarity` computes none. Each pair comes once, and all of them in ascending
/// order of their positions, in blocks. `each` ends the search by returning `Break`.
///
/// Memory does not grow with the number of pairs.
///
/// ```
/// use std::ops::ControlFlow;
/// use simgpu::engine::Engine;
/// use simgpu::pipeline::{BandKeys, Banding, Buckets, ErrorWeights, SimilarPair, similar_pairs};
///
/// let texts = [
///     "a rose is a rose is a rose is a rose, she said, and laughed",
///     "the quick brown fox jumps over the lazy dog",
///     "A rose is a rose is a rose is a rose, she said, and laughed",
/// ];
/// let engine = Engine::builder().build()?;
/// let signatures = engine.sign(&texts)?;
/// let banding = Banding::for_threshold(0.7, signatures.num_perm(), ErrorWeights::VERIFIED)?;
/// let mut keys = BandKeys::new(banding);
/// keys.push(&signatures);
/// let buckets = Buckets::of(keys, &mut |_| Ok(()))?;
///
/// let mut found = Vec::new();
/// similar_pairs(&buckets, &signatures, 0.7, &mut |block| {
///     found.extend(block.pairs);
///     Ok(ControlFlow::Continue(()))
/// })?;
/// let [SimilarPair { lo: 0, hi: 2, .. }] = found[..] else { panic!() };
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// The errors of `similarity` and of `each`.
pub fn similar_pairs(
    source: &dyn CandidateSource,
    similarity: &dyn Similarity,
    threshold: f64,
    each: &mut dyn FnMut(SimilarBlock) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let positions = source.positions();
    let indexes: Vec<u32> = (0..).take(positions.len()).collect();
    let compare_document = |comparer: &mut dyn Comparer, partners: &mut Vec<u32>, index: u32| {
        partners.clear();
        source.partners(index, index + 1, partners);
        let lo = positions[index as usize];
        let mut found = Vec::new();
        for partner in &*partners {
            let hi = positions[*partner as usize];
            let similarity = comparer.compare(lo, hi, threshold)?.similarity;
            if reaches(similarity, threshold) {
                found.push(SimilarPair { lo, hi, similarity });
            }
        }
        Ok((partners.len() as u64, found))
    };
    let mut documents = 0;
    for batch in batches(&indexes, |index| source.most_partners(*index)) {
        let found = try_collect_blocks(batch.len(), even_block(batch.len()), |range| {
            let (mut comparer, mut partners) = (similarity.comparer(), Vec::new());
            let batch = batch[range].iter();
            batch
                .map(|index| compare_document(&mut *comparer, &mut partners, *index))
                .collect::<Result<Vec<(u64, Vec<SimilarPair>)>>>()
        })?;
        documents += batch.len() as u64;
        let block = SimilarBlock {
            compared: found.iter().map(|(compared, _)| compared).sum(),
            compared_by_document: found.iter().map(|(compared, _)| *compared).collect(),
            pairs: found.into_iter().flat_map(|(_, pairs)| pairs).collect(),
            documents,
        };
        if each(block)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Cuts items into batches of bounded weight, to be processed in parallel: at least one item each, and further ones
/// up to a sum of a million.
pub(super) fn batches<'a, T>(
    items: &'a [T],
    weight: impl Fn(&T) -> usize + 'a,
) -> impl Iterator<Item = &'a [T]> {
    const WEIGHT: usize = 1 << 20;
    const ITEMS: usize = 1 << 14;
    let mut rest = items;
    std::iter::from_fn(move || {
        let mut sum = weight(rest.first()?);
        let more = rest[1..].iter().take(ITEMS).take_while(|item| {
            sum += weight(item);
            sum <= WEIGHT
        });
        let (batch, after) = rest.split_at(1 + more.count());
        rest = after;
        Some(batch)
    })
}

/// The Jaccard similarity |A ∩ B| / |A ∪ B| of two sets (MMDS 3.1.1). Both must be sorted and without repeats.
///
/// Returns 0 for two empty sets, whose similarity is undefined: they never count as similar.
pub fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0usize);
    while i < a.len() && j < b.len() {
        // Branch-free steps: which side is smaller cannot be predicted.
        let (in_a, in_b) = (a[i] <= b[j], b[j] <= a[i]);
        shared += usize::from(in_a & in_b);
        i += usize::from(in_a);
        j += usize::from(in_b);
    }
    let union = a.len() + b.len() - shared;
    if union == 0 {
        0.0
    } else {
        shared as f64 / union as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jaccard_of_small_sets() {
        assert_eq!(jaccard(&[1, 2, 3, 4], &[2, 3, 5, 7]), 2.0 / 6.0);
        assert_eq!(jaccard(&[1, 2, 3, 4], &[2, 4, 6]), 2.0 / 5.0);
        assert_eq!(jaccard(&[2, 3, 5, 7], &[2, 4, 6]), 1.0 / 6.0);
        assert_eq!(jaccard::<u64>(&[], &[]), 0.0);
        assert_eq!(jaccard(&[], &[1]), 0.0);
    }

    #[test]
    fn batches_hold_all_items_in_order() {
        for weights in [
            vec![],
            vec![5],
            vec![1 << 21, 3, 1 << 20, 1, 1 << 19, 1 << 19],
        ] {
            let cut: Vec<&[usize]> = batches(&weights, |weight| *weight).collect();
            assert_eq!(cut.concat(), weights);
            assert!(cut.iter().all(|batch| !batch.is_empty()));
        }
    }
}
