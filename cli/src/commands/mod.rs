//! One file per subcommand.

use simgpu::clock::Moment;

use crate::arguments::{Caller, ProcessArguments};
use crate::options::Given;
use crate::stop;
use crate::terminal::Terminal;
use crate::threads;

#[cfg(feature = "bench")]
pub(crate) mod bench;

pub mod compare;

pub(crate) mod completions;

pub mod contain;

pub mod dedup;

#[cfg(feature = "gpu")]
pub mod devices;

pub mod evaluate;

pub mod index;

pub mod link;

pub(crate) mod man;

pub mod pairs;

pub mod passages;

pub mod plan;

pub mod ratings;

pub mod sample;
pub mod selftest;

pub mod show;

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
    let terminal = process.terminal();
    let pool = threads::pool(process.threads()?)?;
    let outcome = pool.install(|| {
        execute(&Caller {
            progress: &terminal,
            given,
            command,
            start: Moment::now(),
        })
    })?;
    Ok((outcome, terminal))
}
