//! Verifies candidate pairs by their similarity.

use rayon::prelude::*;

use super::candidates::{CandidateSource, Omitted};
use super::sign::Signatures;
use crate::error::Result;

/// Computes or estimates the Jaccard similarity of documents.
///
/// Implemented by [`Signatures`] and [`PackedSignatures`](super::PackedSignatures) (estimates), by
/// [`ExactSets`](crate::store::ExactSets) (exact values) and by [`Unverified`] (none).
pub trait Similarity: Sync {
    /// The similarity of each pair of positions, in the order of `pairs`; `None` if this implementation
    /// computes no similarities.
    ///
    /// # Errors
    /// If stored data cannot be read.
    ///
    /// # Panics
    /// If a position is not below the number of documents.
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Option<Vec<f64>>>;
}

/// No verification: every candidate pair counts as similar.
#[derive(Clone, Copy, Debug)]
pub struct Unverified;

impl Similarity for Unverified {
    fn of_pairs(&self, _: &[(u32, u32)]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}

/// Estimates: the share of equal slots. Row i is the document at position i.
impl Similarity for Signatures {
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Option<Vec<f64>>> {
        let estimate = |(a, b): &(u32, u32)| self.estimate(*a as usize, *b as usize);
        let pairs = pairs.par_iter().with_min_len(1024);
        Ok(Some(pairs.map(estimate).collect()))
    }
}

/// The positions of two similar documents, and their similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair {
    lo: u32,
    hi: u32,
    /// NaN if not computed. An `Option` would need 8 more bytes per pair.
    similarity: f64,
}

impl SimilarPair {
    /// A pair of two positions in any order; `similarity` is `None` if not computed.
    pub fn new(a: u32, b: u32, similarity: Option<f64>) -> Self {
        SimilarPair {
            lo: a.min(b),
            hi: a.max(b),
            similarity: similarity.unwrap_or(f64::NAN),
        }
    }

    /// The lower position.
    pub fn lo(&self) -> u32 {
        self.lo
    }

    /// The higher position.
    pub fn hi(&self) -> u32 {
        self.hi
    }

    /// The similarity; `None` if not computed.
    pub fn similarity(&self) -> Option<f64> {
        (!self.similarity.is_nan()).then_some(self.similarity)
    }
}

/// The result of [`similar_pairs`].
#[derive(Clone, Debug, Default)]
pub struct SimilarPairs {
    /// The pairs that reach the threshold, sorted by positions, without repeats.
    pub pairs: Vec<SimilarPair>,
    /// Number of candidate pairs compared.
    pub candidates: u64,
    /// Pairs and buckets that the source omitted.
    pub omitted: Omitted,
}

/// Compares the candidate pairs of a source and keeps those with a similarity of at least `threshold`. If
/// `similarity` computes none, keeps all pairs.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::pipeline::{
///     BandKeys, Banding, Clusters, ErrorWeights, LargeBuckets, LshBuckets, similar_pairs,
/// };
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
///
/// let mut source = LshBuckets::new(&keys, 1000, LargeBuckets::Omit);
/// let found = similar_pairs(&mut source, &signatures, 0.7)?;
/// let clusters = Clusters::greedy(&found, texts.len(), None);
/// let [removal] = &clusters.removals[..] else { panic!() };
/// assert_eq!((removal.position, removal.kept), (2, 0));
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// The errors of the source and of `similarity`.
pub fn similar_pairs(
    source: &mut dyn CandidateSource,
    similarity: &dyn Similarity,
    threshold: f64,
) -> Result<SimilarPairs> {
    let mut found = SimilarPairs::default();
    found.omitted = source.for_each_block(&mut |block| {
        found.candidates += block.len() as u64;
        let similarities = similarity.of_pairs(block)?;
        let mut is_similar = Vec::with_capacity(block.len());
        for (i, &(a, b)) in block.iter().enumerate() {
            let similarity = similarities.as_ref().map(|similarities| similarities[i]);
            let reaches = similarity.is_none_or(|similarity| similarity >= threshold);
            is_similar.push(reaches);
            if reaches {
                found.pairs.push(SimilarPair::new(a, b, similarity));
            }
        }
        Ok(is_similar)
    })?;
    found
        .pairs
        .par_sort_unstable_by_key(|pair| (pair.lo, pair.hi));
    found.pairs.dedup_by_key(|pair| (pair.lo, pair.hi));
    Ok(found)
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
}
