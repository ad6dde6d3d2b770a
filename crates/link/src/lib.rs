//! Record linkage: which records of one or two files describe the same thing? (MMDS 3.8.1 and 3.8.2)
//!
//! [`link`](link()) does the whole work; the stages are:
//!
//! ```text
//! words       normalise the fields of a record
//! records     the records of one or two files
//! distinct    equal records, as one
//! tables      the distinct records of one or two files
//! symbols     words, windows of three characters and whole values, each with a weight by its rarity
//! candidates  pairs of records that share weight
//! points      points by field, learned from the candidate pairs
//! textbook    points by field, by the rule of the textbook
//! matching    one partner per record, or several; the entities of one file
//! threshold   what the runners-up say of the accepted pairs
//! contest     whether two files share records at all, by neighbours inside of one
//! agreement   whether the fields of linked records agree
//! evidence    in one file: which records are one thing, by what their fields say together
//! score       the scores there are: text, points, the rule of the textbook, evidence
//! links       the links, and what explains them
//! decide      which candidate pairs are links
//! ```
//!
//! The stages know neither files nor flags; [`link`](link()) runs them. `run` reads records from files, `memory` from
//! tables. A record is a document whose tokens are its fields: its values are read as those of ratings are
//! (`io::row_values`), with the cutting, threads and messages of all readers.

mod words;

mod records;

mod distinct;

mod tables;

mod symbols;

mod candidates;

mod points;

mod textbook;

mod score;

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

mod report;

mod sizes;

mod write;

mod page;

mod memory;

mod run;

pub use contest::Contest;
pub use evidence::{ClassEvidence, EvidenceReport, FieldEvidence, Kind, LeftOut, LevelEvidence};
pub use fields::{ComparedField, IdFields, RecordFields};
pub use links::{Explanation, LinkCounts, Linked, Nearby, RecordLink, RunnerUp, ScoreBin};
pub use matching::Matching;
pub use memory::{LinkFound, LinkInMemory};
pub use parameters::Link;
pub use points::{FieldPoints, LevelPoints};
pub use report::{EntityRecord, EntitySizes, FileReport, HistogramBin, LinkParameters, LinkReport};
pub use run::{LinkOutcome, LinkRun};
pub use score::Score;
pub use task::link;
pub use threshold::Estimate;
pub use words::Equivalents;

#[cfg(test)]
mod tests;
