//! One file per subcommand.

use std::time::Instant;

use simgpu::jobs::Outcome;

use crate::arguments::{Caller, RunArguments};
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
pub mod sample;
pub mod selftest;

pub mod sign;

pub mod tune;

/// Runs a command on its threads, until it ends or a signal stops it. Returns the outcome, and the terminal that shows
/// it.
fn execute(
    run: &RunArguments,
    command: &[String],
    execute: impl FnOnce(&Caller<'_>) -> anyhow::Result<Outcome> + Send,
) -> anyhow::Result<(Outcome, Terminal)> {
    execute_with(run.terminal(), run.threads()?, command, execute)
}

/// The same with this terminal and this number of threads.
fn execute_with<T: Send>(
    terminal: Terminal,
    threads: usize,
    command: &[String],
    execute: impl FnOnce(&Caller<'_>) -> anyhow::Result<T> + Send,
) -> anyhow::Result<(T, Terminal)> {
    stop::listen()?;
    let start = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let outcome = pool.build()?.install(|| {
        execute(&Caller {
            progress: &terminal,
            command,
            start,
        })
    })?;
    Ok((outcome, terminal))
}
