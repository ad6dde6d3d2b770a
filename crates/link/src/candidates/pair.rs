//! A pair of records, and the order in which pairs are accepted.

/// A pair of records, the lower row first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RecordPair {
    pub(crate) rows: [u32; 2],
    pub(crate) score: f64,
    /// The cosine of the weights of both records: the score of texts, which decides between equal scores of other kinds.
    pub(crate) similarity: f64,
}

impl RecordPair {
    /// The order of acceptance: by descending score, then by descending similarity, then by rows.
    pub(crate) fn before(&self, other: &RecordPair) -> std::cmp::Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| other.similarity.total_cmp(&self.similarity))
            .then_with(|| self.rows.cmp(&other.rows))
    }
}
