//! What makes two documents similar.
//!
//! A distance is a bound on the number of common elements, not on the similarity: the length filter, the prefix (D + 1
//! elements) and the position filter of the join follow from it. Sets so small that they need not share anything are
//! found by their sizes, from one sorted list: each pair found so is a result, so this costs no more than to write
//! them. LSH is not offered: its recall at distance D depends on the lengths of the lists.

#[cfg(doc)]
use super::measure::Measure;
use super::shingle::{Shingling, Unit, Weighting};
use crate::error::{Conflict, Result};

/// What makes two sets similar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// A Jaccard similarity of at least this, above 0 and up to 1.
    Jaccard(f64),
    /// At least this share of the elements of the smaller set in the larger ([`Measure::Contained`]), above 0 and up to 1.
    Contained(f64),
    /// A distance of at most this.
    Within(Within),
}

/// A bound on the distance of two documents.
///
/// A bound on a distance is none on the similarity: within a Hamming distance of 1 are lists of 2 tokens with a Jaccard
/// similarity of 1/3, and lists of 100 tokens need 99/101.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The distance.
    pub distance: Distance,
    /// The greatest distance of a pair that counts as similar.
    pub most: u64,
}

/// A distance of two lists of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// The number of places at which two lists of equal length have different tokens (MMDS 3.5.6). Lists of different
    /// lengths have no distance, and are never similar.
    ///
    /// Each token with its place is an element ([`Weighting::Places`]). Lists of d tokens at
    /// distance h share d - h elements, so that their Jaccard similarity is (d - h) / (d + h).
    Hamming,
    /// The sum, over all tokens, of the difference between their counts in the two lists (MMDS 3.5.2).
    ///
    /// Each occurrence of a token is an element ([`Weighting::Counts`]). The distance is the
    /// number of elements that only one of the two bags has. With S elements in both, their Jaccard similarity is
    /// (S - distance) / (S + distance).
    L1,
}

impl Distance {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Distance::Hamming => "hamming",
            Distance::L1 => "l1",
        }
    }

    /// The weighting of the tokens.
    pub fn weighting(self) -> Weighting {
        match self {
            Distance::Hamming => Weighting::Places,
            Distance::L1 => Weighting::Counts,
        }
    }

    /// Refuses other shingles than single tokens with the weighting of the distance.
    pub(crate) fn check(self, shingling: &Shingling) -> Result<()> {
        if shingling.unit != Unit::Tokens || shingling.size.get() != 1 {
            return Err(Conflict::DistanceOfShingles {
                unit: shingling.unit.to_string(),
                size: shingling.size.get(),
            }
            .into());
        }
        if shingling.weighting != self.weighting() {
            return Err(Conflict::DistanceWeighting.into());
        }
        Ok(())
    }
}
