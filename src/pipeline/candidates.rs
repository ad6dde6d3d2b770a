//! Sources of candidate pairs. The only one so far is the buckets of banding.

/// A source of candidate pairs for [`similar_pairs`](super::similar_pairs): for each document, the documents to
/// compare it with.
///
/// The documents that have candidates are numbered by *index*, in order of their positions.
pub trait CandidateSource: Sync {
    /// The positions of the documents that have candidates, ascending. Entry i belongs to index i.
    fn positions(&self) -> &[u32];

    /// Appends the indexes, at or above `from`, of the documents to compare with document `index`: ascending, each
    /// once, without `index` itself. `partners` must be empty.
    ///
    /// # Panics
    /// If `index` is not below the number of positions.
    fn partners(&self, index: u32, from: u32, partners: &mut Vec<u32>);

    /// An upper bound on the number of partners of a document, found without listing them.
    ///
    /// # Panics
    /// If `index` is not below the number of positions.
    fn most_partners(&self, index: u32) -> usize;
}
