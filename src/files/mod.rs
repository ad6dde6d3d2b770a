//! Runs over files: read documents, find duplicates or pairs, and write results.

mod dedup;

mod dedup_output;

mod log;

mod outcome;

mod pairs;

mod preference;

mod resume;

mod run;

mod second_pass;

mod sign;

mod signatures;

mod source;

pub(crate) use dedup::create_json;
pub use dedup_output::DedupOutput;
pub(crate) use log::{ChunkRecords, Noted};
pub use outcome::Outcome;
pub(crate) use outcome::warn_of_repeated_ids;
pub use pairs::PairsOutput;
pub(crate) use pairs::{Rows, Target};
pub use preference::keep_classes;
pub use run::Run;
pub use signatures::{SignatureFile, SignatureRun};
