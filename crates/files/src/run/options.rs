//! The options of all runs.

use simgpu::clock::Moment;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, Silent};
use simgpu_io::Compression;

/// What runs over files have in common: [`Run`](crate::Run), [`SignatureRun`](crate::SignatureRun), and those of links and ratings.
#[derive(Clone)]
pub struct RunOptions<'a> {
    /// Whether to replace the results of an earlier run; default false.
    pub overwrite: bool,
    /// The level of compressed kept files, removed documents, pairs and ratings: 1 to 22 for zstd (default 3), 0 to 9 for gzip and xz
    /// (default 6), 1 to 9 for bzip2 (default 9). Parquet files keep the codec of their input.
    pub compression_level: Option<u32>,
    /// The receiver of progress, which can stop the run; default [`Silent`].
    pub progress: &'a dyn Progress,
    /// The command line to state in `run.json`; default empty.
    pub command: Vec<String>,
    /// The moment at which the run started, if preparations belong to it; default now. `run.json` has processor times if it
    /// was on the thread that executes the run.
    pub started: Moment,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        RunOptions {
            overwrite: false,
            compression_level: None,
            progress: &Silent,
            command: Vec::new(),
            started: Moment::now(),
        }
    }
}

impl std::fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunOptions")
            .field("overwrite", &self.overwrite)
            .field("compression_level", &self.compression_level)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

/// What [`Run::dedup`](crate::Run::dedup) does with the documents to remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Writes `kept/` without them.
    #[default]
    Drop,
    /// Only says which they are: writes no `kept/`, and reads no document again to copy it.
    Report,
}

impl Action {
    /// The name: `drop` or `report`.
    pub fn name(self) -> &'static str {
        match self {
            Action::Drop => "drop",
            Action::Report => "report",
        }
    }
}

/// Refuses a compression level for outputs that do not have it, or if no output is compressed.
#[doc(hidden)]
pub fn check_compression_level(
    level: Option<u32>,
    outputs: impl Iterator<Item = Compression>,
) -> Result<()> {
    let Some(level) = level else {
        return Ok(());
    };
    let mut is_used = false;
    for compression in outputs.filter(|compression| *compression != Compression::None) {
        compression.check_level(level)?;
        is_used = true;
    }
    if is_used {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "`compression_level`",
        value: level.to_string(),
        expected: "no level: no output is compressed".to_owned(),
    })
}
