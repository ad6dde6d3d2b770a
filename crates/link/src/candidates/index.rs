//! The lists of the records that have each symbol.

use std::ops::Range;

use crate::symbols::Lists;

/// The records of the searched file that have each symbol.
pub(super) struct SymbolIndex {
    /// Where the list of each symbol ends.
    ends: Vec<usize>,
    rows_with: Vec<u32>,
    /// The first record that is searched.
    pub(super) first: usize,
    /// How many records are searched.
    pub(super) rows: usize,
}

impl SymbolIndex {
    /// Lists the records that have each of so many symbols.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rows are numbered by 32 bits"
    )]
    pub(super) fn new(rows: Range<usize>, lists: &Lists, symbols: usize) -> Self {
        let mut ends = vec![0; symbols];
        for row in rows.clone() {
            for number in lists.numbers(row) {
                ends[*number as usize] += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            // Where the list begins, for now.
            total += std::mem::replace(end, total);
        }
        let mut rows_with = vec![0; total];
        for row in rows.clone() {
            for number in lists.numbers(row) {
                let end = &mut ends[*number as usize];
                rows_with[*end] = (row - rows.start) as u32;
                *end += 1;
            }
        }
        SymbolIndex {
            ends,
            rows_with,
            first: rows.start,
            rows: rows.len(),
        }
    }

    /// The places of the records that have a symbol, counted from the first one.
    pub(super) fn rows_with(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1]
        };
        &self.rows_with[start..self.ends[number]]
    }
}
