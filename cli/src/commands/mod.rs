//! One file per subcommand.

use std::error::Error as _;
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use simgpu::error::{Error, Unsupported};

use crate::arguments::{Caller, ProcessArguments, cores};
use crate::options::Given;
use crate::stop;
use crate::terminal::Terminal;

pub(crate) mod bench;

pub mod compare;

pub(crate) mod completions;

pub mod dedup;

#[cfg(feature = "gpu")]
pub mod devices;

pub mod link;

pub(crate) mod man;

pub mod pairs;

pub mod plan;

pub mod ratings;

pub mod sample;
pub mod selftest;

pub mod sign;

pub mod tune;

/// Runs a command on its threads, until it ends or a signal stops it. Returns the outcome, and the terminal that shows
/// it.
fn execute<T: Send>(
    process: &ProcessArguments,
    given: &Given,
    command: &[String],
    execute: impl FnOnce(&Caller<'_>) -> anyhow::Result<T> + Send,
) -> anyhow::Result<(T, Terminal)> {
    stop::listen()?;
    let start = Instant::now();
    let terminal = process.terminal();
    let threads = process.threads()?;
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let outcome = pool
        .map_err(|error| no_threads(threads, &error))?
        .install(|| {
            execute(&Caller {
                progress: &terminal,
                given,
                command,
                start,
            })
        })?;
    Ok((outcome, terminal))
}

/// Starts the threads of a command that runs on the global pool, which would panic if it started them itself.
pub(crate) fn start_threads() -> simgpu::Result<()> {
    match ThreadPoolBuilder::new().build_global() {
        // Without a source, the threads run already.
        Err(error) if error.source().is_some() => Err(no_threads(cores(), &error)),
        _ => Ok(()),
    }
}

/// The error where so many threads cannot be started.
pub(crate) fn no_threads(threads: usize, reason: &dyn std::fmt::Display) -> Error {
    Error::Unsupported(Unsupported::Threads {
        threads: u32::try_from(threads).unwrap_or(u32::MAX),
        reason: reason.to_string(),
    })
}
