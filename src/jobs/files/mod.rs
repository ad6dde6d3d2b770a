//! Runs over files: read documents, find duplicates or pairs, and write results.

mod dedup;

mod kept;

mod link;

mod memory;

mod noted;

pub(crate) mod machine;

mod outcome;

mod pairs;

mod preference;

mod ratings;

mod resume;

mod run;

mod second_pass;

mod sign;

mod signatures;

mod source;

pub use kept::DedupOutput;
pub use link::{
    FileReport, HistogramBin, LinkFound, LinkInMemory, LinkOutcome, LinkParameters, LinkReport,
    LinkRun,
};
pub use outcome::Outcome;
pub use pairs::PairsOutput;
pub use preference::keep_classes;
pub use ratings::{NamesFile, RatingsOutcome, RatingsRun};
pub use run::Run;
pub use signatures::{SignatureFile, SignatureRun};
