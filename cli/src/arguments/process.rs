//! Threads and messages of the process, and who runs a command.

use std::num::NonZeroUsize;

use clap::Args;
use simgpu::clock::Moment;
use simgpu::progress::Progress;
use simgpu_files::RunOptions;

use super::numbers::whole_number;
use crate::Usage;
use crate::options::Given;
use crate::terminal::Terminal;

/// How many threads a command uses, and whether it prints messages.
#[derive(Debug, Default, Args)]
pub struct ProcessArguments {
    /// Number of threads, at most 4 per core [default: one per core]
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroUsize>, help_heading = "Machine")]
    pub threads: Option<NonZeroUsize>,

    /// Print only warnings and errors
    #[arg(long, short, help_heading = "Machine")]
    pub quiet: bool,
}

/// The most threads per core that a caller may ask for.
pub const THREADS_PER_CORE: usize = 4;

/// Who runs a command, and what it is told.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Receives progress, notes and warnings, and may stop the run.
    pub progress: &'a dyn Progress,
    /// The options that are given.
    pub given: &'a Given,
    /// The command line, for `run.json`; empty if there is none.
    pub command: &'a [String],
    /// When the run began.
    pub start: Moment,
}

impl<'a> Caller<'a> {
    /// The options of a run.
    pub(crate) fn options(&self) -> RunOptions<'a> {
        RunOptions {
            progress: self.progress,
            command: self.command.to_vec(),
            started: self.start,
            ..RunOptions::default()
        }
    }
}

impl std::fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller")
            .field("given", &self.given)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

impl ProcessArguments {
    /// Number of threads. More than a few per core only cost memory and time.
    ///
    /// # Errors
    /// A usage error if there are more.
    pub fn threads(&self) -> anyhow::Result<usize> {
        let cores = cores();
        let threads = self.threads.map_or(cores, NonZeroUsize::get);
        check_threads(threads, cores)?;
        Ok(threads)
    }

    /// The terminal that prints messages.
    pub(crate) fn terminal(&self) -> Terminal {
        Terminal::new(self.quiet)
    }
}

/// The cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Refuses more threads than a few per core.
pub(crate) fn check_threads(threads: usize, cores: usize) -> anyhow::Result<()> {
    let most = cores.saturating_mul(THREADS_PER_CORE);
    if threads > most {
        return Err(Usage::error(&format!(
            "`threads={threads}` is more than {THREADS_PER_CORE} per core; pass at most {most} on this machine"
        )));
    }
    Ok(())
}
