//! Which documents are linked: those that share a bucket and may be similar.

use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::pipeline::SharedComponents;
use crate::progress::Progress;
use crate::store::Bits;

/// The documents that others are linked to. Threads may link documents at the same time.
#[derive(Debug)]
pub(super) struct Links {
    /// Their rows. None of them repeats an earlier one.
    pub(super) in_buckets: Bits,
    /// Their components, by row.
    pub(super) components: SharedComponents,
}

impl Links {
    /// No links among documents with rows below `rows`.
    pub(super) fn none(rows: u32) -> Self {
        Links {
            in_buckets: Bits::zeros(rows),
            components: SharedComponents::new(rows),
        }
    }

    /// Links two documents.
    pub(super) fn unite(&self, a: u32, b: u32) {
        self.in_buckets.set(a);
        self.in_buckets.set(b);
        self.components.unite(a, b);
    }

    /// Whether two documents are linked, by others, too.
    pub(super) fn are_linked(&self, a: u32, b: u32) -> bool {
        self.components.root(a) == self.components.root(b)
    }
}

/// Gives one thread at a time the right to write.
pub(super) fn push_all<W>(
    writer: &Mutex<W>,
    push: impl FnOnce(&mut W) -> Result<()>,
) -> Result<()> {
    let mut writer = writer.lock().map_err(|_| stopped())?;
    push(&mut writer)
}

/// Only a panic of another thread gets here: it ends the run.
pub(super) fn stopped() -> Error {
    Error::Stopped
}

pub(super) fn stop_if_asked(progress: &dyn Progress) -> Result<()> {
    match progress.is_stopped() {
        true => Err(Error::Stopped),
        false => Ok(()),
    }
}
