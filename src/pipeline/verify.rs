//! candidate pairs -> similar pairs.

use rayon::prelude::*;

use super::candidates::{CandidateSource, Omitted};
use super::sign::Signatures;
use crate::error::Result;

/// A way to tell how similar two documents are.
pub trait Similarity: Sync {
    /// The Jaccard similarity of each pair of positions, or an estimate of it; `None` where similarities are
    /// not computed at all.
    ///
    /// # Errors
    /// When what it needs cannot be read.
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Option<Vec<f64>>>;
}

/// No verification: every candidate pair counts.
#[derive(Clone, Copy, Debug)]
pub struct Unverified;

impl Similarity for Unverified {
    fn of_pairs(&self, _: &[(u32, u32)]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}

/// The share of slots in which two signatures agree, for signatures in the order of positions.
impl Similarity for Signatures {
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Option<Vec<f64>>> {
        let estimate = |(a, b): &(u32, u32)| self.estimate(*a as usize, *b as usize);
        let pairs = pairs.par_iter().with_min_len(1024);
        Ok(Some(pairs.map(estimate).collect()))
    }
}

/// Two similar documents, by their positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair {
    lo: u32,
    hi: u32,
    /// NaN if it was not computed: there may be very many pairs.
    similarity: f64,
}

impl SimilarPair {
    /// A pair of two positions and their similarity, if it was computed.
    pub fn new(a: u32, b: u32, similarity: Option<f64>) -> Self {
        SimilarPair {
            lo: a.min(b),
            hi: a.max(b),
            similarity: similarity.unwrap_or(f64::NAN),
        }
    }

    /// The earlier document.
    pub fn lo(&self) -> u32 {
        self.lo
    }

    /// The later document.
    pub fn hi(&self) -> u32 {
        self.hi
    }

    /// Their similarity, if it was computed.
    pub fn similarity(&self) -> Option<f64> {
        (!self.similarity.is_nan()).then_some(self.similarity)
    }
}

/// What the candidates came to.
#[derive(Clone, Debug, Default)]
pub struct SimilarPairs {
    /// The pairs that reach the threshold, sorted, each once.
    pub pairs: Vec<SimilarPair>,
    /// Candidate pairs that were compared.
    pub candidates: u64,
    /// What the source left out.
    pub omitted: Omitted,
}

/// Compares the candidate pairs of a source and keeps those that reach `threshold`. A pair whose similarity is
/// not computed is kept.
///
/// # Errors
/// Those of the source and of `similarity`.
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

/// Jaccard similarity of two sets, given as sorted distinct values: |A and B| / |A or B|.
///
/// Two empty sets have none; it is given as 0, so that they are never similar.
pub fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0usize);
    while i < a.len() && j < b.len() {
        // Both steps without a branch: which side is behind cannot be predicted.
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
