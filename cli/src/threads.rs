//! Threads of the command, or the error where the operating system starts none.

use std::fmt::Display;

use rayon::{ThreadPool, ThreadPoolBuilder};
use simgpu::error::{Error, Unsupported};

/// A pool of so many threads.
pub(crate) fn pool(threads: usize) -> simgpu::Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| no_threads(threads, &error))
}

/// Runs a command that has no `--threads` on a thread per core, or on one where no more can be started. On the global pool,
/// it would panic where none can.
pub(crate) fn on_threads<T: Send>(
    cores: usize,
    run: impl FnOnce() -> T + Send,
) -> simgpu::Result<T> {
    Ok(pool(cores).or_else(|_| pool(1))?.install(run))
}

/// Starts the global pool, on which a command would panic where its threads cannot be started.
#[cfg(feature = "bench")]
pub(crate) fn start_threads(threads: usize) -> simgpu::Result<()> {
    use std::error::Error as _;

    match ThreadPoolBuilder::new().num_threads(threads).build_global() {
        // Without a source, the threads run already.
        Err(error) if error.source().is_some() => Err(no_threads(threads, &error)),
        _ => Ok(()),
    }
}

/// The error where so many threads cannot be started.
pub(crate) fn no_threads(threads: usize, reason: &dyn Display) -> Error {
    Error::Unsupported(Unsupported::Threads {
        threads,
        reason: reason.to_string(),
    })
}
