//! How pairs of records are scored: by text, by points or by evidence.

use std::ops::RangeInclusive;

use crate::textbook;

/// How pairs of records are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// In one file, [`Score::Evidence`] where the fields give enough of it, else [`Score::Text`]. With two files,
    /// [`Score::Points`] if they tell how many of their links are right and text does not, else [`Score::Text`].
    #[default]
    Auto,
    /// In one file: the bits of evidence that both records are one thing, by all fields together.
    Evidence,
    /// The cosine of the words and windows of all fields together, each weighted by its rarity; 0 to 1.
    Text,
    /// The sum of the points of all fields, log2(m / u) by level of similarity, learned from the candidate pairs.
    Points,
    /// 100 points per field, less the square of the edit distance by insertions and deletions, but at least 0 (MMDS 3.8.2).
    Textbook,
}

impl Score {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Score::Auto => "auto",
            Score::Evidence => "evidence",
            Score::Text => "text",
            Score::Points => "points",
            Score::Textbook => "textbook",
        }
    }

    /// The scores that a pair of records of so many fields can have; of none, any.
    pub(crate) fn range(self, fields: usize) -> RangeInclusive<f64> {
        match self {
            Score::Auto | Score::Text => 0.0..=1.0,
            Score::Textbook if fields > 0 => 0.0..=textbook::MOST * fields as f64,
            Score::Textbook => 0.0..=f64::MAX,
            Score::Points | Score::Evidence => f64::MIN..=f64::MAX,
        }
    }
}
