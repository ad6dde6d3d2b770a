//! Whole runs: documents in, and the documents to keep, the similar pairs or the signatures out.

mod corpus;

mod report;

mod search;

mod dedup;

mod pairs;

mod sign;

pub use corpus::{Corpus, SignatureFile, Source};
pub use dedup::{Dedup, dedup};
pub use pairs::{PairsFormat, find_pairs, find_pairs_of_signatures};
pub use report::{Counts, Outcome, Parameters};
pub use search::{Search, Verification};
pub use sign::{SignaturesFormat, sign_files};
