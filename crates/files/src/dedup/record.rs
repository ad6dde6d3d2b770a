//! Writes `run.json`.

use serde::Serialize;

use crate::run::RunOptions;
use simgpu::error::{Error, Result};
use simgpu::progress::Timings;
use simgpu_io::{Facts, OutputFolder, RUN_RECORD, run_record, write_json};

#[doc(hidden)]
pub fn create_json(folder: &OutputFolder, name: &str, value: &impl Serialize) -> Result<()> {
    let (mut file, path) = folder.create(name)?;
    write_json(&mut file, value).map_err(Error::io("write", path))
}

/// Writes `run.json` for a run that signs nothing. `resumed` says how often it was resumed. The other files are written
/// by then.
#[doc(hidden)]
pub fn create_run_record(
    folder: &OutputFolder,
    options: &RunOptions<'_>,
    timings: &Timings,
    elapsed_s: f64,
    resumed: u64,
) -> Result<()> {
    let facts = Facts {
        command: &options.command,
        signer: None,
        memory_bytes: None,
    };
    let record = run_record(&facts, timings, elapsed_s, resumed, folder.files());
    create_json(folder, RUN_RECORD, &record)
}
