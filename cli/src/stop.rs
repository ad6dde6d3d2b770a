//! Ctrl-C or SIGTERM stops a run, which then removes its temporary files. A second signal ends the process at
//! once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// A signal that stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Signal {
    const ALL: [Signal; 2] = [Signal::Interrupt, Signal::Terminate];

    fn number(self) -> i32 {
        match self {
            Signal::Interrupt => SIGINT,
            Signal::Terminate => SIGTERM,
        }
    }

    /// Exit code after this signal, as shells report it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Signal::Interrupt => "Ctrl-C",
            Signal::Terminate => "SIGTERM",
        })
    }
}

/// The number of the signal received, or 0.
static RECEIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Makes signals stop the run instead of ending the process.
pub(crate) fn listen() -> std::io::Result<()> {
    let received = RECEIVED.get_or_init(Arc::default);
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in Signal::ALL {
        let number = signal.number();
        // The order matters: the first signal sets the flag that makes the second one end the process.
        flag::register_conditional_shutdown(
            number,
            signal.exit_code().into(),
            Arc::clone(&is_second),
        )?;
        flag::register(number, Arc::clone(&is_second))?;
        let value = usize::try_from(number).unwrap_or_default();
        flag::register_usize(number, Arc::clone(received), value)?;
    }
    Ok(())
}

/// The signal received, if any.
pub(crate) fn signal() -> Option<Signal> {
    let received = RECEIVED.get()?.load(Ordering::Relaxed);
    let is = |signal: &Signal| usize::try_from(signal.number()) == Ok(received);
    Signal::ALL.into_iter().find(is)
}
