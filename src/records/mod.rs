//! Record linkage: which records of one or two files describe the same thing? (MMDS 3.8.1 and 3.8.2)
//!
//! [`jobs::link`](crate::jobs::link()) does the whole work; the stages are:
//!
//! ```text
//! words       normalise the fields of a record
//! symbols     words and windows of three characters, each with a weight by its rarity
//! candidates  pairs of records that share weight
//! score       the cosine of the weights of two records; or points by field, learned or given
//! matching    one partner per record, or several; the entities of one file
//! threshold   what the runners-up say of the accepted pairs
//! ```

mod words;

mod symbols;

mod candidates;

mod points;

mod textbook;

mod matching;

mod threshold;

use crate::documents::TokenBatch;

pub(crate) use candidates::{Candidates, Pair, find};
pub use matching::Matching;
pub(crate) use matching::{Entities, rounds};
pub use points::{FieldPoints, LevelPoints};
pub(crate) use points::{Levels, Points, Start};
pub(crate) use symbols::{Lists, Scratch, SymbolText, Symbols, for_each_shared, for_each_symbol};
pub(crate) use textbook::FieldTexts;
pub use threshold::Estimate;
pub(crate) use threshold::{RoundScores, of_entities, of_rounds};
pub use words::Equivalents;
pub(crate) use words::Words;

/// How pairs of records are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// The cosine of the words and windows of all fields together, each weighted by its rarity; 0 to 1.
    #[default]
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
            Score::Text => "text",
            Score::Points => "points",
            Score::Textbook => "textbook",
        }
    }
}

/// Records of one or two files: lists of as many tokens as there are fields. A missing value is empty.
///
/// Rows count the records of the first file, then those of the second one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables<'a> {
    pub(crate) first: &'a TokenBatch,
    pub(crate) second: Option<&'a TokenBatch>,
}

impl<'a> Tables<'a> {
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

    /// The records of the first file, or of the second one.
    pub(crate) fn rows_of(&self, is_second: bool) -> std::ops::Range<usize> {
        match is_second {
            false => 0..self.first.len(),
            true => self.first.len()..self.rows(),
        }
    }

    /// Whether a record is of the second file.
    pub(crate) fn is_second(&self, row: usize) -> bool {
        row >= self.first.len()
    }

    /// The fields of a record, in order.
    pub(crate) fn fields(&self, row: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        match self.second {
            Some(second) if self.is_second(row) => second.tokens(row - self.first.len()),
            _ => self.first.tokens(row),
        }
    }
}
