//! Compares two texts exactly and by their signatures.

use super::estimate::JaccardEstimate;
use super::shingle::{Scratch, Shingler};
use super::sign::{Signatures, Signer};
use crate::documents::Document;
use crate::error::Result;

/// The result of [`compare`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Number of distinct shingles of each text; of all its shingles with [`Weighting::Counts`](super::Weighting::Counts).
    pub shingles: [usize; 2],
    /// Number of distinct shingles in both texts; the sum of the lesser counts with
    /// [`Weighting::Counts`](super::Weighting::Counts).
    pub shared: usize,
    estimate: JaccardEstimate,
}

impl Comparison {
    /// Number of distinct shingles in either text; the sum of the greater counts with
    /// [`Weighting::Counts`](super::Weighting::Counts).
    pub fn union(&self) -> usize {
        self.shingles[0] + self.shingles[1] - self.shared
    }

    /// The exact Jaccard similarity; `None` if it is undefined because neither text has a shingle.
    pub fn jaccard(&self) -> Option<f64> {
        (self.union() > 0).then(|| self.shared as f64 / self.union() as f64)
    }

    /// The estimate from the signatures; `None` if the similarity is undefined.
    pub fn estimate(&self) -> Option<JaccardEstimate> {
        (self.union() > 0).then_some(self.estimate)
    }
}

/// Compares two texts by their shingle sets and by their signatures.
///
/// ```
/// use simgpu::backend::Backend;
/// use simgpu::pipeline::{Shingler, Shingling, compare};
/// use simgpu::scheme::Scheme;
///
/// let scheme = Scheme::default();
/// let shingler = Shingler::new(Shingling::default(), &scheme, None)?;
/// let signer = Backend::Auto.signer(&scheme)?;
/// let texts = ["the plane was ready for touch down", "the plane was ready for take off"];
/// let comparison = compare(texts, &shingler, &*signer)?;
/// assert_eq!((comparison.shared, comparison.union()), (1, 5));
/// assert_eq!(comparison.jaccard(), Some(0.2));
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Conflict`](crate::Error::Conflict) if shingler and signer have different schemes, or the unit is
/// [`Unit::Tokens`](super::Unit::Tokens).
pub fn compare(texts: [&str; 2], shingler: &Shingler, signer: &dyn Signer) -> Result<Comparison> {
    let signatures = Signatures::of_documents(signer, &texts, shingler)?;
    let mut scratch = Scratch::default();
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    shingler.exact_set(Document::Text(texts[0]), &mut scratch, &mut a);
    shingler.exact_set(Document::Text(texts[1]), &mut scratch, &mut b);
    Ok(Comparison {
        shingles: [a.len(), b.len()],
        shared: a
            .iter()
            .filter(|hash| b.binary_search(hash).is_ok())
            .count(),
        estimate: signatures.jaccard_estimate(0, 1),
    })
}
