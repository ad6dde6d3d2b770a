//! Runs over files: read documents, find duplicates or pairs, and write results.

mod dedup;

mod kept;

mod link;

mod link_records;

mod link_report;

mod link_write;

mod memory;

mod noted;

pub(crate) mod machine;

mod outcome;

mod pairs;

mod preference;

mod resume;

mod run;

mod second_pass;

mod sign;

mod signatures;

mod source;

pub use kept::DedupOutput;
pub use link::{LinkOutcome, LinkRun};
pub use link_report::{FileReport, HistogramBin, LinkParameters, LinkReport};
pub use outcome::Outcome;
pub use pairs::PairsOutput;
pub use run::Run;
pub use signatures::{SignatureFile, SignatureRun};
