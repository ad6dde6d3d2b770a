//! Runs over files: read documents, find duplicates or pairs, and write results.
//!
//! Each pass checks that a file is still the same: its size, modification time and XXH3; for Parquet and Arrow, which
//! are not read from end to end, the size and time. Files of up to 128 MiB in all, decompressed, stay in memory for
//! the second pass, unless one of them is Parquet or Arrow. So a small corpus is decompressed once, and a large one is
//! read twice in bounded memory. A stream is copied to a file without a name, since documents are read twice.
//!
//! **An empty file is a warning**, since programs that split their output may write empty files; if all inputs are
//! empty, so is the result. But no compressed stream and no table is empty: such a file is cut off. If records were
//! skipped and none is left, the run ends with an error.
//!
//! **A run can be stopped until it commits.** Every loop calls `Progress::advance`, which can stop the run; the last
//! call comes before the first rename.

mod dedup;

mod dedup_output;

mod from_pairs;

#[cfg(feature = "index")]
mod index;

#[cfg(feature = "index")]
mod index_build;

#[cfg(feature = "index")]
mod index_signatures;

mod indexes;

mod log;

mod lowest;

mod outcome;

mod overview;

mod page;

mod page_in_memory;

mod pairs;

mod pairs_file;

mod pairs_overview;

mod preference;

mod resume;

#[cfg(feature = "index")]
mod repeated_id;

mod run;

mod samples;

mod second_pass;

mod show;

mod shown_texts;

mod sign;

mod signatures;

mod source;

mod sources;

#[cfg(test)]
mod against;

#[cfg(test)]
mod tests;

pub(crate) use dedup::{create_json, create_run_record};
pub use dedup_output::DedupOutput;
pub(crate) use dedup_output::{KeptOfChunk, KeptOutput, Written};
#[cfg(feature = "index")]
pub use index::{HitsOutput, HitsWanted, IndexCounts, IndexOutcome};
pub(crate) use log::{ChunkRecords, Log, Noted, RecordIds, RecordsRead};
pub(crate) use lowest::{Lowest, pair_at_random};
pub use outcome::Outcome;
pub(crate) use outcome::{complete_places, warn_of_repeated_ids};
pub(crate) use overview::placed;
pub(crate) use page::{place, skipped_records};
pub use page_in_memory::DeduplicationToShow;
pub use pairs::PairsOutput;
pub(crate) use pairs::{RowForms, Target};
pub use pairs_file::PairsFile;
pub use preference::keep_classes;
pub(crate) use preference::ranks_of_files;
pub(crate) use resume::{by_name, ended, identity, resumable, unfinished};
pub(crate) use run::check_compression_level;
pub use run::{Action, Run, RunOptions};
pub(crate) use second_pass::{FileEvent, Placed, Rereading};
pub use show::{Shown, ShownDocument, show};
pub use shown_texts::{SharedShingles, TextsOfPair};
pub use signatures::{SignatureFile, SignatureRun};
pub(crate) use sources::with_most_documents;
