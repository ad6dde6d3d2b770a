//! The records of one or two files, as they were read.

use simgpu::documents::TokenBatch;

/// Records of one or two files: lists of as many tokens as there are fields. A missing value is empty.
///
/// Rows count the records of the first file, then those of the second one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordFiles<'a> {
    pub(crate) first: &'a TokenBatch,
    pub(crate) second: Option<&'a TokenBatch>,
}

impl<'a> RecordFiles<'a> {
    /// The number of records.
    pub(crate) fn rows(&self) -> usize {
        self.first.len() + self.second.map_or(0, TokenBatch::len)
    }

    /// The number of fields.
    pub(crate) fn field_count(&self) -> usize {
        let rows = [Some(self.first), self.second].into_iter().flatten();
        let mut counts = rows
            .filter(|file| !file.is_empty())
            .map(|file| file.tokens(0).len());
        counts.next().unwrap_or(0)
    }

    /// The fields of a record, in order.
    pub(crate) fn fields(&self, row: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        match self.second {
            Some(second) if row >= self.first.len() => second.tokens(row - self.first.len()),
            _ => self.first.tokens(row),
        }
    }
}
