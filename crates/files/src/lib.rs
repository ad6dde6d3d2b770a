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
//!
//! [`Progress`](simgpu::progress::Progress) follows a run and can stop it; a stopped run leaves no finished output file.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//! use std::path::{Path, PathBuf};
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! use simgpu::engine::Engine;
//! use simgpu::progress::Progress;
//! use simgpu::search::{Dedup, Search};
//! use simgpu_files::{Run, RunOptions};
//! use simgpu_io::Inputs;
//!
//! /// Stops the run when another thread sets the flag.
//! struct StopFlag(AtomicBool);
//!
//! impl Progress for StopFlag {
//!     fn advance(&self, _done: u64, _documents: u64, _bytes: u64) -> ControlFlow<()> {
//!         if self.0.load(Ordering::Relaxed) {
//!             ControlFlow::Break(())
//!         } else {
//!             ControlFlow::Continue(())
//!         }
//!     }
//! }
//!
//! let engine = Engine::builder().build()?;
//! let inputs = Inputs::find(&[PathBuf::from("corpus/*.jsonl.zst")], None)?;
//! let task = Dedup::new(Search::new(0.8, engine.scheme())?);
//! let progress = StopFlag(AtomicBool::new(false));
//! let run = Run { options: RunOptions { progress: &progress, ..RunOptions::default() }, ..Run::new(&engine, &inputs) };
//! match run.dedup(&task, Path::new("out")) {
//!     Ok(outcome) => println!("kept {} documents", outcome.report.counts.kept),
//!     Err(simgpu::Error::Stopped) => println!("stopped"),
//!     Err(error) => return Err(error),
//! }
//! # Ok::<(), simgpu::Error>(())
//! ```

mod dedup;

mod dedup_output;

mod from_pairs;

mod index;

mod index_build;

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
mod tests;

pub mod divided;

#[doc(hidden)]
pub use dedup::{create_json, create_run_record};
pub use dedup_output::DedupOutput;
#[doc(hidden)]
pub use dedup_output::{KeptOfChunk, KeptOutput, Written};
pub use index::{HitsOutput, HitsWanted, IndexCounts, IndexOutcome};
#[doc(hidden)]
pub use log::{ChunkRecords, Log, Noted, RecordIds, RecordsRead};
#[doc(hidden)]
pub use lowest::{Lowest, pair_at_random};
pub use outcome::Outcome;
#[doc(hidden)]
pub use outcome::{UncheckedPlaces, warn_of_repeated_ids};
#[doc(hidden)]
pub use overview::placed;
#[doc(hidden)]
pub use page::{place, skipped_records};
pub use page_in_memory::DeduplicationToShow;
pub use pairs::PairsOutput;
#[doc(hidden)]
pub use pairs::{RowForms, Target};
pub use pairs_file::PairsFile;
pub use preference::keep_classes;
#[doc(hidden)]
pub use preference::ranks_of_files;
#[doc(hidden)]
pub use resume::{ended, identity, parameters_by_name, remove_left, resumable, unfinished};
#[doc(hidden)]
pub use run::check_compression_level;
pub use run::{Action, Against, Run, RunOptions};
#[doc(hidden)]
pub use second_pass::{FileEvent, Placed, Rereading};
pub use show::{Shown, ShownDocument, show};
pub use shown_texts::{SharedShingles, TextsOfPair};
pub use signatures::{SignatureFile, SignatureRun};
#[doc(hidden)]
pub use sources::with_most_documents;
