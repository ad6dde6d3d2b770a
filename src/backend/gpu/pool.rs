//! The pool that reuses buffers.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use super::buffers::Buffers;
use super::device::{Attempt, Failure, lock};

/// The buffers of a signer, made on demand.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<PoolState>,
    returned: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Buffers>,
    /// Number of buffers, idle or in use.
    made: usize,
}

impl Pool {
    /// Takes idle buffers, or makes new ones while there are fewer than `most`; `None` if all are in use.
    pub(super) fn try_take(
        &self,
        most: usize,
        make: impl FnOnce() -> Attempt<Buffers>,
    ) -> Attempt<Option<Buffers>> {
        let mut state = lock(&self.state);
        if let Some(buffers) = state.idle.pop() {
            return Ok(Some(buffers));
        }
        if state.made >= most {
            return Ok(None);
        }
        state.made += 1;
        drop(state);
        let made = make();
        if made.is_err() {
            self.drop_one();
        }
        match made {
            // Without memory for more, the existing ones must do.
            Err(Failure::OutOfMemory) if lock(&self.state).made > 0 => Ok(None),
            made => made.map(Some),
        }
    }

    /// Waits a while for another thread to return buffers.
    pub(super) fn wait(&self) {
        let state = lock(&self.state);
        if state.idle.is_empty() && state.made > 0 {
            let _ = self
                .returned
                .wait_timeout(state, Duration::from_millis(100));
        }
    }

    /// Returns buffers for the next load.
    pub(super) fn give_back(&self, buffers: Buffers) {
        lock(&self.state).idle.push(buffers);
        self.returned.notify_one();
    }

    /// Stops counting buffers that were lost with a failed load.
    pub(super) fn drop_one(&self) {
        lock(&self.state).made -= 1;
        self.returned.notify_all();
    }
}
