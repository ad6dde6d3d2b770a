//! Indexes that are open in this process, each once: whoever opens the folder again shares it.
//!
//! **Forks.** A child inherits the memory of an open index, but neither its threads nor the right to its files. So an
//! [`Opened`] belongs to the process that opened it: a child gets an error, and never closes the files, which would end the
//! lock of its parent.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use simgpu_index::{Durability, Index};

use crate::errors::{OrRaise, unsupported_error};

/// An open index, and a lock for whoever writes batches: a thread of a pool that waited for another writer might be the
/// one that this writer waits for.
struct Shared {
    index: Index,
    writing: Mutex<()>,
}

/// The index of one folder while it is open. It is locked while the index opens or closes.
type Slot = Arc<Mutex<Weak<Shared>>>;

/// How often a writer that waits for another one looks for signals.
const WATCH: Duration = Duration::from_millis(1);

/// The slots of folders, with the processes that opened them. Locked only while the interpreter is attached, and never for
/// long, so that no fork happens meanwhile.
static SLOTS: Mutex<Vec<(u32, PathBuf, Slot)>> = Mutex::new(Vec::new());

/// An index that this process has open. Copies share it; the last one closes it.
#[derive(Clone)]
pub(crate) struct Opened {
    process: u32,
    slot: Slot,
    /// Never `None` but in `drop`.
    shared: Option<Arc<Shared>>,
}

impl Shared {
    fn new(index: Index) -> Arc<Self> {
        Arc::new(Shared {
            // Each call waits for the disk by itself, as its caller asks.
            index: index.durability(Durability::OnSync),
            writing: Mutex::default(),
        })
    }
}

impl Opened {
    /// Opens the index in a folder, or shares it.
    pub(crate) fn open(py: Python<'_>, folder: &Path) -> PyResult<Self> {
        let slot = slot_of(folder);
        let shared = py.detach(|| {
            let mut known = locked(&slot);
            if let Some(shared) = known.upgrade() {
                return Ok(shared);
            }
            let shared = Shared::new(Index::open(folder)?);
            *known = Arc::downgrade(&shared);
            Ok(shared)
        });
        Ok(Opened::new(slot, shared.or_raise(py)?))
    }

    /// Takes an index that was created.
    pub(crate) fn created(index: Index) -> Self {
        let slot = slot_of(index.folder());
        let shared = Shared::new(index);
        *locked(&slot) = Arc::downgrade(&shared);
        Opened::new(slot, shared)
    }

    fn new(slot: Slot, shared: Arc<Shared>) -> Self {
        Opened {
            process: std::process::id(),
            slot,
            shared: Some(shared),
        }
    }

    /// The index.
    ///
    /// # Errors
    /// `UnsupportedError` in a process that was forked from the one that opened it.
    pub(crate) fn index(&self, py: Python<'_>) -> PyResult<&Index> {
        self.shared(py).map(|shared| &shared.index)
    }

    /// Waits until no other batch is written, on the thread that called.
    pub(crate) fn write(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, ()>> {
        let writing = &self.shared(py)?.writing;
        loop {
            match writing.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| thread::sleep(WATCH));
                    py.check_signals()?;
                }
            }
        }
    }

    fn shared(&self, py: Python<'_>) -> PyResult<&Shared> {
        match &self.shared {
            Some(shared) if !self.is_inherited() => Ok(shared),
            _ => Err(unsupported_error(
                py,
                "this process was forked from the one that opened the index; open an index in the process that uses it",
            )),
        }
    }

    /// Closes the index, unless someone else has it open, once everything is on disk. A child leaves that to its parent.
    pub(crate) fn close(self) -> simgpu::Result<()> {
        match &self.shared {
            Some(shared) if !self.is_inherited() => shared.index.sync(),
            _ => Ok(()),
        }
    }

    fn is_inherited(&self) -> bool {
        self.process != std::process::id()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else {
            return;
        };
        if self.is_inherited() {
            std::mem::forget(shared);
            return;
        }
        // Whoever opens the folder meanwhile waits until it is closed.
        let slot = locked(&self.slot);
        drop(shared);
        drop(slot);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The slot of a folder in this process.
fn slot_of(folder: &Path) -> Slot {
    let process = std::process::id();
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut slots = locked(&SLOTS);
    // Those that nobody uses: of indexes that were closed, and of a parent.
    slots.retain(|(owner, _, slot)| *owner == process && Arc::strong_count(slot) > 1);
    let known = slots.iter().find(|(_, known, _)| *known == folder);
    if let Some((_, _, slot)) = known {
        return slot.clone();
    }
    let slot = Slot::default();
    slots.push((process, folder, slot.clone()));
    slot
}
