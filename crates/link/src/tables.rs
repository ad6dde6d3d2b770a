//! The distinct records of one or two files: what all stages from the symbols on compare.

use crate::distinct::Distinct;
use crate::records::RecordFiles;

/// The distinct records of one or two files. Here a row is the number of a distinct record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordTables<'a> {
    pub(crate) files: RecordFiles<'a>,
    pub(crate) distinct: &'a Distinct,
}

impl<'a> RecordTables<'a> {
    /// The number of distinct records.
    pub(crate) fn rows(&self) -> usize {
        self.distinct.len()
    }

    /// The number of fields.
    pub(crate) fn field_count(&self) -> usize {
        self.files.field_count()
    }

    /// Whether there are two files.
    pub(crate) fn has_two_files(&self) -> bool {
        self.files.second.is_some()
    }

    /// The records of the first file, or of the second one.
    pub(crate) fn rows_of(&self, is_second: bool) -> std::ops::Range<usize> {
        self.distinct.in_file(is_second)
    }

    /// Whether a record is of the second file.
    pub(crate) fn is_second(&self, row: usize) -> bool {
        self.rows_of(true).contains(&row)
    }

    /// The fields of a record, in order.
    pub(crate) fn fields(&self, row: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.files.fields(self.distinct.first_row(row) as usize)
    }
}
