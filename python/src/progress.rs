//! Progress of a call, from the thread that works to the one that called.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use simgpu::progress::Progress;

use crate::errors::warn;

/// What the working thread reports, and whether it shall stop.
#[derive(Default)]
pub(crate) struct Watched {
    stop: AtomicBool,
    state: Mutex<LastReport>,
}

#[derive(Default)]
struct LastReport {
    stage: Option<&'static str>,
    done: u64,
    total: u64,
    warnings: Vec<String>,
}

impl Watched {
    /// Lets the work end at its next report or piece.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, LastReport> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Watched {
    fn begin(&self, stage: &'static str, total: u64) {
        let mut state = self.state();
        (state.stage, state.done, state.total) = (Some(stage), 0, total);
    }

    fn advance(&self, done: u64, _documents: u64, _bytes: u64) -> ControlFlow<()> {
        self.state().done = done;
        if self.is_stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn warn(&self, message: &str) {
        self.state().warnings.push(message.to_owned());
    }
}

/// Shows progress to the caller: nothing, or calls of `progress(stage, done, total)`.
#[derive(Default)]
pub(crate) struct Display {
    callback: Option<Py<PyAny>>,
    /// Whether it is a bar of this package.
    is_bar: bool,
}

impl Display {
    /// `None` or `False`: nothing. `True`: a bar, by `simgpu._progress`. Else a callable.
    pub(crate) fn new(progress: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(progress) = progress else {
            return Ok(Display::default());
        };
        let bars = progress.py().import("simgpu._progress")?.getattr("Bar")?;
        let callback = match progress.extract::<bool>() {
            Ok(false) => None,
            Ok(true) => Some(bars.call0()?),
            Err(_) if progress.is_callable() => Some(progress),
            Err(_) => {
                return Err(pyo3::exceptions::PyTypeError::new_err(
                    "progress is neither a bool nor a callable; give True, False or a function of (stage, done, total)",
                ));
            }
        };
        let is_bar = match &callback {
            Some(callback) => callback.is_instance(&bars)?,
            None => false,
        };
        Ok(Display {
            callback: callback.map(Bound::unbind),
            is_bar,
        })
    }

    /// Calls back with the state. A return value of `False` stops the work.
    pub(crate) fn show(&mut self, py: Python<'_>, watched: &Watched) -> PyResult<()> {
        let Some(callback) = &self.callback else {
            return Ok(());
        };
        let (stage, done, total) = {
            let state = watched.state();
            (state.stage, state.done, state.total)
        };
        if let Some(stage) = stage {
            let answer = callback.call1(py, (stage, done, total))?;
            if answer.extract::<bool>(py).is_ok_and(|goes_on| !goes_on) {
                watched.stop();
            }
        }
        Ok(())
    }

    /// Closes the bar, which ends at its total after a success, and gives out warnings.
    pub(crate) fn close(
        &mut self,
        py: Python<'_>,
        watched: &Watched,
        is_complete: bool,
    ) -> PyResult<()> {
        let mut closed = Ok(());
        if let Some(callback) = &self.callback {
            if is_complete && self.is_bar {
                closed = callback.call_method0(py, "complete").map(drop);
            }
            if let Ok(close) = callback.getattr(py, "close") {
                closed = closed.and(close.call0(py).map(drop));
            }
        }
        let warnings = std::mem::take(&mut watched.state().warnings);
        let warned = warnings.iter().try_for_each(|message| warn(py, message));
        closed.and(warned)
    }
}
