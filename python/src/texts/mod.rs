//! Documents as Python gives them: what is taken in, and what borrows it.
//!
//! A [`Column`] keeps the memory of documents alive. Texts, tokens and hashes are borrowed from it where they lie.
//!
//! Texts are read where they lie, the UTF-8 of Python's strings and the buffers of Arrow's columns: a column costs 16
//! bytes per row, not its text. A token id is the token of its decimal digits, as in files, so that ids and their
//! texts have one signature.

mod strings;

mod tokens;

mod sets;

mod column;

use std::ops::Range;

use simgpu::documents::Documents;

pub(crate) use column::{Column, as_table, column_name, has_index_level, several_columns};
pub(crate) use sets::Sets;
pub(crate) use tokens::{Bytes, Tokens, refuse_counts};

/// What messages call documents.
const DOCUMENTS: &str = "documents";

/// The rows from one on that are worked on at a time: those of about so many bytes of text, one at least.
pub(crate) fn part_from(
    documents: &dyn Documents,
    first: usize,
    most_bytes: usize,
) -> Range<usize> {
    let (mut end, mut bytes) = (first, 0);
    while end < documents.len() && bytes < most_bytes {
        bytes += documents.get(end).bytes();
        end += 1;
    }
    first..end
}
