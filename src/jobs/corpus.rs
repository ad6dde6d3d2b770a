//! What is kept of the documents of a run between its stages.

/// The documents of a run.
///
/// A document is known by its row, its number among all documents. The distinct documents that have shingles
/// are known by their position among those, too: signatures and band keys exist for them alone.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    /// Number of documents.
    pub(crate) rows: u32,
    /// The row of each position, ascending.
    pub(crate) distinct: Vec<u32>,
    /// The row of each further document with the units of another, ascending, and the other's position.
    pub(crate) repeats: Vec<(u32, u32)>,
    /// Rows without a shingle, ascending.
    pub(crate) without_shingles: Vec<u32>,
    /// Bytes of the text of each row.
    pub(crate) lengths: Vec<u32>,
    /// Decompressed bytes of the input.
    pub(crate) bytes: u64,
}

impl Corpus {
    /// Number of documents.
    pub(crate) fn documents(&self) -> u64 {
        u64::from(self.rows)
    }

    /// Number of distinct documents that have shingles.
    pub(crate) fn positions(&self) -> usize {
        self.distinct.len()
    }

    /// Bytes of the text of a document.
    pub(crate) fn length(&self, row: u32) -> u32 {
        self.lengths[row as usize]
    }

    /// The row and the position of every document that has a position.
    pub(crate) fn members(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        let distinct = self.distinct.iter().copied().zip(0..);
        distinct.chain(self.repeats.iter().copied())
    }
}
