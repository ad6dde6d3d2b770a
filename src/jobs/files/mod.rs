//! Runs over files: what is found of the documents in them, and what is written.

mod dedup;

pub(crate) mod machine;

mod outcome;

mod pairs;

mod run;

mod second_pass;

mod sign;

mod signatures;

mod source;

pub use outcome::Outcome;
pub use pairs::PairsOutput;
pub use run::Run;
pub use signatures::{SignatureFile, SignatureRun};
