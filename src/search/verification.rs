//! How candidate pairs are verified.

/// The verification of candidate pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// None: every candidate pair counts as similar.
    None,
    /// Estimate the similarity from two signatures, of which 8 bits are kept per slot.
    Signature,
    /// Compute the Jaccard similarity of the shingles. Rereads documents that share a bucket with another, unless the
    /// first pass already computed the exact sets of hashes (by default it does so for words) and the sets fit in memory.
    #[default]
    Exact,
}

impl Verification {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verification::None => "none",
            Verification::Signature => "signature",
            Verification::Exact => "exact",
        }
    }
}
