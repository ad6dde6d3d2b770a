//! Ctrl-C, SIGTERM or SIGHUP stops a run, which then removes its temporary files. A second signal, at least a second
//! later, ends the process at once.
//!
//! The command then prints one line and exits with 130, 143 or 129. Which signals are ignored (under `nohup`, SIGHUP)
//! is read from `/proc`, so elsewhere than on Linux SIGHUP ends the process as usual.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::threads::no_threads;

/// How long a run has to stop before a second signal ends the process. A terminal and the program that started the run
/// may both send it a signal, so that two follow each other at once.
const GRACE: Duration = Duration::from_secs(1);

/// How long the thread that waits for the first signal sleeps.
const PATIENCE: Duration = Duration::from_millis(100);

/// A signal that stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal was closed.
    #[cfg(unix)]
    HangUp,
}

impl Signal {
    const ALL: &[Signal] = &[
        Signal::Interrupt,
        Signal::Terminate,
        #[cfg(unix)]
        Signal::HangUp,
    ];

    fn number(self) -> i32 {
        match self {
            Signal::Interrupt => SIGINT,
            Signal::Terminate => SIGTERM,
            #[cfg(unix)]
            Signal::HangUp => signal_hook::consts::SIGHUP,
        }
    }

    /// Exit code after this signal, as shells report it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
            #[cfg(unix)]
            Signal::HangUp => 129,
        }
    }

    /// Whether to leave the signal as it is. `nohup` starts a program that ignores SIGHUP; Linux alone tells so
    /// without a call to C.
    fn is_left_alone(self) -> bool {
        #[cfg(unix)]
        if self == Signal::HangUp {
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
            let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            return ignored.is_none_or(|mask| mask >> (self.number() - 1) & 1 == 1);
        }
        false
    }
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Signal::Interrupt => "Ctrl-C",
            Signal::Terminate => "SIGTERM",
            #[cfg(unix)]
            Signal::HangUp => "SIGHUP",
        })
    }
}

/// The number of the signal received, or 0.
static RECEIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Makes signals stop the run instead of ending the process.
pub(crate) fn listen() -> simgpu::Result<()> {
    let failed = || simgpu::Error::io("listen for", "signals");
    let received = RECEIVED.get_or_init(Arc::default);
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in Signal::ALL.iter().filter(|signal| !signal.is_left_alone()) {
        let number = signal.number();
        let value = usize::try_from(number).unwrap_or_default();
        // First: from here on the signal does nothing of itself, so that one between the two calls must be noted.
        flag::register_usize(number, Arc::clone(received), value).map_err(failed())?;
        flag::register_conditional_shutdown(
            number,
            signal.exit_code().into(),
            Arc::clone(&is_second),
        )
        .map_err(failed())?;
    }
    let waiting = thread::Builder::new().spawn(move || {
        while received.load(Ordering::Relaxed) == 0 {
            thread::sleep(PATIENCE);
        }
        thread::sleep(GRACE);
        is_second.store(true, Ordering::Relaxed);
    });
    waiting.map(drop).map_err(|error| no_threads(1, &error))
}

/// The signal received, if any.
pub(crate) fn signal() -> Option<Signal> {
    let received = RECEIVED.get()?.load(Ordering::Relaxed);
    let is = |signal: &Signal| usize::try_from(signal.number()) == Ok(received);
    Signal::ALL.iter().copied().find(is)
}
