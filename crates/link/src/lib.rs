//! Record linkage: which records of one or two files describe the same thing? (MMDS 3.8.1 and 3.8.2)
//!
//! [`link`](link()) does the whole work; the stages are:
//!
//! ```text
//! words       normalise the fields of a record
//! distinct    equal records, as one
//! symbols     words, windows of three characters and whole values, each with a weight by its rarity
//! candidates  pairs of records that share weight
//! score       the cosine of the weights of two records; or points by field, learned or given
//! matching    one partner per record, or several; the entities of one file
//! threshold   what the runners-up say of the accepted pairs
//! contest     whether two files share records at all, by neighbours inside of one
//! agreement   whether the fields of linked records agree
//! evidence    in one file: which records are one thing, by what their fields say together
//! ```
//!
//! The stages know neither files nor flags; [`link`](link()) runs them. `run` reads records from files, `memory` from
//! tables. A record is a document whose tokens are its fields: its values are read as those of ratings are
//! (`io::row_values`), with the cutting, threads and messages of all readers. The room has a feature of its own,
//! `records`, because normalisation needs a table of Unicode's decompositions, which the library alone does without.

mod words;

mod distinct;

mod symbols;

mod candidates;

mod points;

mod textbook;

mod matching;

mod threshold;

mod contest;

mod agreement;

mod evidence;

mod links;

mod parameters;

mod decide;

mod task;

mod fields;

mod rows;

mod table;

mod read;

mod sizes;

mod write;

mod page;

mod memory;

mod run;

use std::ops::RangeInclusive;

use simgpu::documents::TokenBatch;

pub use self::{
    fields::{ComparedField, IdFields, RecordFields},
    memory::{LinkFound, LinkInMemory},
    run::{LinkOutcome, LinkRun},
    write::{EntityRecord, EntitySizes, FileReport, HistogramBin, LinkParameters, LinkReport},
};
pub(crate) use agreement::Disagreement;
pub(crate) use candidates::{Candidates, LEAST_COSINE, Pair, find};
pub use contest::Contest;
pub(crate) use contest::contest;
pub(crate) use distinct::Distinct;
pub(crate) use evidence::{BARS, Evidence, Verdict};
pub use evidence::{ClassEvidence, EvidenceReport, FieldEvidence, Kind, LeftOut, LevelEvidence};
pub use links::{Explanation, LinkCounts, Linked, Nearby, RecordLink, RunnerUp, ScoreBin};
pub use matching::Matching;
pub(crate) use matching::{Entities, Joined, Rounds, all_pairs};
pub use parameters::Link;
pub use points::{FieldPoints, LevelPoints};
pub(crate) use points::{Levels, Points, Start};
pub(crate) use symbols::{
    Lists, Scratch, SymbolText, Symbols, WeightedLists, for_each_shared, for_each_symbol,
};
pub use task::link;
pub(crate) use textbook::FieldTexts;
pub use threshold::Estimate;
pub(crate) use threshold::{RoundScores, estimate_entities, estimate_rounds, why_rough};
pub use words::Equivalents;
pub(crate) use words::Words;

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

/// Records of one or two files: lists of as many tokens as there are fields. A missing value is empty.
///
/// Rows count the records of the first file, then those of the second one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'a> {
    pub(crate) first: &'a TokenBatch,
    pub(crate) second: Option<&'a TokenBatch>,
}

impl<'a> Files<'a> {
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

/// The distinct records of one or two files. Here a row is the number of a distinct record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables<'a> {
    pub(crate) files: Files<'a>,
    pub(crate) distinct: &'a Distinct,
}

impl<'a> Tables<'a> {
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

#[cfg(test)]
mod tests {
    use simgpu::documents::TokenBatch;

    /// A file of records, each a list of its fields.
    pub(super) fn table<F: AsRef<str>>(records: &[impl AsRef<[F]>]) -> TokenBatch {
        let mut table = TokenBatch::default();
        for record in records {
            for field in record.as_ref() {
                table.push_token(field.as_ref().as_bytes());
            }
            table.finish_document();
        }
        table
    }
}
