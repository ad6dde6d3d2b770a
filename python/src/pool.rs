//! Where work runs: on a pool of threads that belongs to this process, while the caller watches for signals.
//!
//! A forked child inherits the memory of a pool but none of its threads, so work sent to it would wait for ever. A
//! pool is therefore remembered with its process, and a child makes its own at first use.
//!
//! There is a pool for each number of threads. Its threads keep their scratch memory, so that small batches do not
//! begin with page faults: a pool per call cost a tenth of the time for 3 MB of text.
//!
//! Python code runs on the caller's thread only, which looks for signals every 50 ms, so that Ctrl-C works without a
//! handler of our own. Small work stays on the caller's thread: for an update of a sketch, a query, or a batch below
//! 64 KiB of text, to start threads would take longer than the work.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simgpu::error::{Error, Unsupported};
use simgpu::progress::Progress;
use simgpu_cli::arguments::{THREADS_PER_CORE, cores};

use crate::errors::{OrRaise, panic_error, parameter_error, spelled, warn};
use crate::progress::{Display, Watched};

/// How often a caller looks for signals and shows progress.
const WATCH: Duration = Duration::from_millis(50);

/// With less text than this, to start threads would take longer than the work.
pub(crate) const INLINE_BYTES: usize = 64 << 10;

/// A pool, and the process that started its threads. Never freed.
struct Owned {
    process: u32,
    threads: usize,
    pool: ThreadPool,
    next: Option<&'static Owned>,
}

/// The first of the pools; null if there is none. Not behind a lock: another thread might hold it at the time of a
/// fork.
static POOLS: AtomicPtr<Owned> = AtomicPtr::new(std::ptr::null_mut());

/// Runs `work` on this process's pool, or on a pool of `threads` threads, with the GIL released. Meanwhile, shows
/// progress and looks for signals: Ctrl-C stops the work and raises `KeyboardInterrupt`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    display: &mut Display,
    work: impl FnOnce(&dyn Progress) -> simgpu::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool_of(
        py,
        clamped(threads.map_or_else(|| default_threads(py), Ok)?),
    )?;
    let watched = Watched::default();
    let outcome = pool.in_place_scope(|scope| {
        let (sender, receiver) = bounded(1);
        let watched = &watched;
        scope.spawn(move |_| {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(watched)));
            let _ = sender.send(outcome);
        });
        let mut stopped = None;
        loop {
            match py.detach(|| receiver.recv_timeout(WATCH)) {
                Ok(outcome) => break stopped.map_or(Ok(outcome), Err),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends its outcome"),
            }
            let seen = py.check_signals().and_then(|()| display.show(py, watched));
            if let (Err(error), None) = (seen, &stopped) {
                watched.stop();
                stopped = Some(error);
            }
        }
    });
    let outcome = outcome.and_then(|outcome| display.show(py, &watched).map(|()| outcome));
    // Whatever was raised: the bar is closed, and no warning is lost.
    let is_complete = matches!(&outcome, Ok(Ok(Ok(_))));
    let closed = display.close(py, &watched, is_complete);
    let outcome = outcome?;
    closed?;
    match outcome {
        Ok(result) => result.or_raise(py),
        Err(panic) => Err(panic_error(py, &*panic)),
    }
}

/// This process's pool of so many threads.
fn pool_of(py: Python<'_>, threads: usize) -> PyResult<&'static ThreadPool> {
    let process = std::process::id();
    // SAFETY: a pointer in `POOLS` is null or from `Box::leak`, and is never freed.
    #[allow(unsafe_code, reason = "the pools live as long as the process")]
    let first: Option<&'static Owned> = unsafe { POOLS.load(Ordering::Acquire).as_ref() };
    let mut pools = iter::successors(first, |owned| owned.next);
    if let Some(owned) = pools.find(|owned| (owned.process, owned.threads) == (process, threads)) {
        return Ok(&owned.pool);
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        let reason = error.to_string();
        let error = Error::Unsupported(Unsupported::Threads { threads, reason });
        parameter_error(py, spelled(&error.to_string()))
    })?;
    let made: &'static Owned = Box::leak(Box::new(Owned {
        process,
        threads,
        pool,
        next: first,
    }));
    // A second thread may have added another one meanwhile: both work, and that one is forgotten.
    POOLS.store(std::ptr::from_ref(made).cast_mut(), Ordering::Release);
    Ok(&made.pool)
}

/// Whether the value of `SIMGPU_NUM_THREADS` was found unfit. Such a variable is often set far away, so one warning must
/// do.
static IS_WARNED: AtomicBool = AtomicBool::new(false);

/// `SIMGPU_NUM_THREADS`, or one thread per core that this process may use.
fn default_threads(py: Python<'_>) -> PyResult<usize> {
    let Some(value) = std::env::var_os("SIMGPU_NUM_THREADS") else {
        return Ok(cores());
    };
    let named = value.to_str().and_then(|value| value.trim().parse().ok());
    let (threads, effect) = match named {
        Some(threads) if (1..=most()).contains(&threads) => return Ok(threads),
        Some(0) | None => (cores(), "using one thread per core"),
        Some(_) => (most(), "using the most threads that help on this machine"),
    };
    if !IS_WARNED.swap(true, Ordering::Relaxed) {
        let most = most();
        let message = format!(
            "SIMGPU_NUM_THREADS is {value:?}; {effect}, {threads}; give a number from 1 to {most}, or unset it"
        );
        warn(py, &message)?;
    }
    Ok(threads)
}

/// The most threads that work: more than a few per core only cost memory and time.
fn most() -> usize {
    cores().saturating_mul(THREADS_PER_CORE)
}

/// The threads that work if so many are asked for.
fn clamped(threads: usize) -> usize {
    threads.min(most())
}
