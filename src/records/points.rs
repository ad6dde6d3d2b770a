//! Points: how much each field says for a pair, learned without labelled pairs.

/// What the levels of a field say for a pair of records.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FieldPoints {
    /// The place of the field among the compared ones.
    pub field: usize,
    /// The levels of similarity, from the least to the greatest.
    pub levels: Vec<LevelPoints>,
}

/// What a level of similarity says for a pair of records.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "io", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LevelPoints {
    /// The least similarity of the level, from 0 to 1; `None` for pairs of which a record lacks the field.
    pub least: Option<f64>,
    /// The share of the pairs of the same thing that are on this level (m).
    pub of_same: f64,
    /// The share of the candidate pairs of different things that are on this level (u).
    pub of_different: f64,
    /// log2(m / u); 0 where a record lacks the field.
    pub points: f64,
}
