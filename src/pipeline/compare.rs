//! Compares two texts: exactly, by their signatures, and by every distance.

use std::fmt;
use std::hash::Hash;

use unicode_segmentation::UnicodeSegmentation;

use super::distance::{Bag, BagComparison, hamming_distance, longest_common_subsequence};
use super::estimate::JaccardEstimate;
use super::shingle::{Scratch, Shingler, Weighting};
use super::sign::{Signatures, Signer};
use crate::documents::Document;
use crate::error::Result;

/// The result of [`compare`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Number of distinct shingles of each text; of all its shingles with [`Weighting::Counts`].
    pub shingles: [usize; 2],
    /// Number of distinct shingles in both texts; the sum of the lesser counts with
    /// [`Weighting::Counts`].
    pub shared: usize,
    /// The shingles of both texts with their counts.
    pub bags: BagComparison,
    /// The texts as sequences of characters or words.
    pub sequences: SequenceComparison,
    estimate: JaccardEstimate,
}

impl Comparison {
    /// Number of distinct shingles in either text; the sum of the greater counts with
    /// [`Weighting::Counts`].
    pub fn union(&self) -> usize {
        self.shingles[0] + self.shingles[1] - self.shared
    }

    /// The exact Jaccard similarity; `None` if it is undefined because neither text has a shingle.
    pub fn jaccard(&self) -> Option<f64> {
        (self.union() > 0).then(|| self.shared as f64 / self.union() as f64)
    }

    /// For each text, the share of its distinct shingles that the other text has, too; `None` for a text without
    /// shingles.
    pub fn containment(&self) -> [Option<f64>; 2] {
        let share = |shingles: usize| (shingles > 0).then(|| self.shared as f64 / shingles as f64);
        self.shingles.map(share)
    }

    /// The estimate from the signatures; `None` if the similarity is undefined.
    pub fn estimate(&self) -> Option<JaccardEstimate> {
        (self.union() > 0).then_some(self.estimate)
    }
}

/// The symbols of the sequences that a [`SequenceComparison`] compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceUnit {
    /// Unicode scalar values.
    Chars,
    /// UAX #29 words that contain an alphanumeric character.
    Words,
}

impl SequenceUnit {
    /// The greatest number of these units in a text whose longest common subsequence is computed: 100,000 characters
    /// or 300,000 words, which take two seconds at most.
    pub fn limit(self) -> usize {
        match self {
            SequenceUnit::Chars => 100_000,
            SequenceUnit::Words => 300_000,
        }
    }
}

impl fmt::Display for SequenceUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SequenceUnit::Chars => "chars",
            SequenceUnit::Words => "words",
        })
    }
}

/// Two normalised texts, compared as sequences: of characters, or of words if a text has more than
/// [`SequenceUnit::limit`] characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceComparison {
    /// The symbols of the sequences.
    pub unit: SequenceUnit,
    /// Number of symbols of each text.
    pub lengths: [usize; 2],
    /// Length of the longest common subsequence; `None` if a text has more than [`SequenceUnit::limit`] words.
    pub common: Option<usize>,
    /// Number of positions in which the sequences differ; `None` if their lengths differ.
    pub hamming: Option<usize>,
}

impl SequenceComparison {
    fn of(texts: [&str; 2]) -> Self {
        let chars = texts.map(|text| text.chars().take(SequenceUnit::Chars.limit() + 1).collect());
        let is_short = |chars: &Vec<char>| chars.len() <= SequenceUnit::Chars.limit();
        if chars.iter().all(is_short) {
            return SequenceComparison::from_symbols(SequenceUnit::Chars, &chars);
        }
        let words = texts.map(|text| text.unicode_words().collect());
        SequenceComparison::from_symbols(SequenceUnit::Words, &words)
    }

    fn from_symbols<T: Eq + Hash>(unit: SequenceUnit, [a, b]: &[Vec<T>; 2]) -> Self {
        let is_computed = a.len().max(b.len()) <= unit.limit();
        SequenceComparison {
            unit,
            lengths: [a.len(), b.len()],
            common: is_computed.then(|| longest_common_subsequence(a, b)),
            hamming: hamming_distance(a, b),
        }
    }

    /// The edit distance by insertions and deletions; `None` without [`SequenceComparison::common`].
    pub fn edit_distance(&self) -> Option<usize> {
        let [a, b] = self.lengths;
        self.common.map(|common| a + b - 2 * common)
    }
}

/// Compares two texts by their signatures, as sets and bags of shingles, as vectors of the shingles' counts, and as
/// sequences.
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
/// assert_eq!(comparison.sequences.edit_distance(), Some(12));
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Conflict`](crate::Error::Conflict) if shingler and signer have different schemes, or the unit is
/// [`Unit::Tokens`](super::Unit::Tokens).
pub fn compare(texts: [&str; 2], shingler: &Shingler, signer: &dyn Signer) -> Result<Comparison> {
    let signatures = Signatures::of_documents(signer, &texts, shingler)?;
    let mut scratch = Scratch::default();
    let exact_shingler = shingler.for_sets();
    let [a, b] = texts.map(|text| {
        let mut hashes = Vec::new();
        exact_shingler.exact_hashes(Document::Text(text), &mut scratch, &mut hashes);
        hashes.into_iter().collect::<Bag<u64>>()
    });
    let bags = a.compare(&b);
    let normalised = texts.map(|text| {
        let mut normalised = String::new();
        shingler.shingling().normalise.apply(text, &mut normalised);
        normalised
    });
    // Saturates: the texts are in memory, which holds fewer shingles.
    let saturated = |number: u128| usize::try_from(number).unwrap_or(usize::MAX);
    let (shingles, shared) = match shingler.shingling().weighting {
        Weighting::Counts => (
            bags.sizes.map(|size| saturated(size.into())),
            saturated(bags.intersection()),
        ),
        Weighting::Equal | Weighting::Places | Weighting::Given(_) | Weighting::Rarity => {
            (bags.distinct, bags.shared)
        }
    };
    Ok(Comparison {
        shingles,
        shared,
        bags,
        sequences: SequenceComparison::of(normalised.each_ref().map(|text| &**text)),
        estimate: signatures.jaccard_estimate(0, 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_compared_by_words() {
        let long = "ab ".repeat(33_333);
        let at_limit = format!("{long}c");
        let compared = SequenceComparison::of([&at_limit, "ab"]);
        assert_eq!(
            (compared.unit, compared.lengths),
            (SequenceUnit::Chars, [100_000, 2])
        );
        assert_eq!(compared.edit_distance(), Some(99_998));
        let compared = SequenceComparison::of([&format!("{long}ce"), "ab, ab, c"]);
        assert_eq!(
            (compared.unit, compared.lengths),
            (SequenceUnit::Words, [33_334, 3])
        );
        assert_eq!((compared.common, compared.hamming), (Some(2), None));
    }

    #[test]
    fn the_longest_texts_have_no_edit_distance() {
        let long = "ab ".repeat(300_001);
        let other = format!("c{}", &long[1..]);
        let compared = SequenceComparison::of([&long, &other]);
        assert_eq!(
            (compared.edit_distance(), compared.hamming),
            (None, Some(1))
        );
        let compared = SequenceComparison::of([&long[3..], &other[3..]]);
        assert_eq!(compared.edit_distance(), Some(0));
    }
}
