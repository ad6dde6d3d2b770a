//! Where work runs: on a pool of threads that belongs to this process, while the caller watches for signals.
//!
//! A forked child inherits the memory of a pool but none of its threads, so work sent to it would wait for ever. The
//! pool is therefore remembered with its process, and a child makes its own at first use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simgpu::progress::Progress;
use simgpu_cli::arguments::THREADS_PER_CORE;

use crate::errors::{OrRaise, of_panic, parameter_error};
use crate::progress::{Display, Watched};

/// How often a caller looks for signals and shows progress.
const WATCH: Duration = Duration::from_millis(50);

/// A pool and the process that started its threads.
struct Owned {
    process: u32,
    pool: ThreadPool,
}

/// The pool of the process that used it last. Not behind a lock: another thread might hold it at the time of a fork.
static POOL: AtomicPtr<Owned> = AtomicPtr::new(std::ptr::null_mut());

/// Runs `work` on this process's pool, or on a pool of `threads` threads, with the GIL released. Meanwhile, shows
/// progress and looks for signals: Ctrl-C stops the work and raises `KeyboardInterrupt`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    display: &mut Display,
    work: impl FnOnce(&dyn Progress) -> simgpu::Result<T> + Send,
) -> PyResult<T> {
    let own;
    let pool = match threads {
        None => shared(py)?,
        Some(threads) => {
            own = build(py, checked(py, threads)?)?;
            &own
        }
    };
    let watched = Watched::default();
    let outcome = std::thread::scope(|scope| {
        let (sender, receiver) = bounded(1);
        let watched = &watched;
        scope.spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(watched))));
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
    })?;
    display.finish(py, &watched)?;
    match outcome {
        Ok(result) => result.or_raise(py),
        Err(panic) => Err(of_panic(py, &*panic)),
    }
}

/// This process's pool.
fn shared(py: Python<'_>) -> PyResult<&'static ThreadPool> {
    let process = std::process::id();
    let seen = POOL.load(Ordering::Acquire);
    // SAFETY: a pointer in `POOL` is null or from `Box::into_raw`, and is never freed.
    #[allow(unsafe_code, reason = "the pool lives as long as the process")]
    let remembered = unsafe { seen.as_ref() };
    if let Some(owned) = remembered.filter(|owned| owned.process == process) {
        return Ok(&owned.pool);
    }
    let pool = build(py, default_threads(py)?)?;
    let made = Box::into_raw(Box::new(Owned { process, pool }));
    // A second thread may have made another one: both work, and the last one is remembered.
    POOL.store(made, Ordering::Release);
    // SAFETY: made above, never freed.
    #[allow(unsafe_code, reason = "the pool lives as long as the process")]
    Ok(unsafe { &(*made).pool })
}

fn build(py: Python<'_>, threads: usize) -> PyResult<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| {
        let message = format!("cannot start {threads} threads: {error}; give fewer threads");
        parameter_error(py, message)
    })
}

/// The cores that this process may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// `SIMGPU_NUM_THREADS`, or one thread per core that this process may use.
fn default_threads(py: Python<'_>) -> PyResult<usize> {
    let Some(value) = std::env::var_os("SIMGPU_NUM_THREADS") else {
        return Ok(cores());
    };
    match value.to_str().and_then(|value| value.parse().ok()) {
        Some(threads) => checked(py, threads),
        None => Err(parameter_error(
            py,
            format!("SIMGPU_NUM_THREADS is {value:?}; give a number of threads, or unset it"),
        )),
    }
}

/// Refuses no threads, and more than a few per core.
pub(crate) fn checked(py: Python<'_>, threads: usize) -> PyResult<usize> {
    let most = cores().saturating_mul(THREADS_PER_CORE);
    if (1..=most).contains(&threads) {
        return Ok(threads);
    }
    Err(parameter_error(
        py,
        format!("threads is {threads}; give 1 to {most} on this machine"),
    ))
}
