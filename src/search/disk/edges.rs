//! Which documents are connected: those that share a bucket and may be similar.

use std::sync::Mutex;

use crate::bits::Bits;
use crate::error::{Error, Result};
use crate::pipeline::{Reference, SharedComponents};
use crate::progress::Progress;

/// Which documents a search compares.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    /// Those that are left out, since they repeat earlier ones.
    pub(super) later: &'a Bits,
    /// The reference by row; `None` without one.
    pub(super) reference: Option<&'a Reference>,
}

/// The documents that others are connected to. Threads may connect documents at the same time.
#[derive(Debug)]
pub(super) struct Edges {
    /// Their rows. None of them repeats an earlier one.
    pub(super) in_buckets: Bits,
    /// Their components, by row.
    pub(super) components: SharedComponents,
}

impl Edges {
    /// No edges among documents with rows below `rows`.
    pub(super) fn none(rows: u32) -> Self {
        Edges {
            in_buckets: Bits::zeros(rows),
            components: SharedComponents::new(rows as usize),
        }
    }

    /// Connects two documents.
    pub(super) fn unite(&self, a: u32, b: u32) {
        self.in_buckets.set(a);
        self.in_buckets.set(b);
        self.components.unite(a, b);
    }

    /// Whether two documents are connected, by others, too.
    pub(super) fn connects(&self, a: u32, b: u32) -> bool {
        self.components.root(a) == self.components.root(b)
    }
}

/// Gives one thread at a time the right to write.
pub(super) fn push_all<W>(
    writer: &Mutex<W>,
    push: impl FnOnce(&mut W) -> Result<()>,
) -> Result<()> {
    let mut writer = writer.lock().map_err(|_| panicked())?;
    push(&mut writer)
}

/// The error of a lock that a thread held while it panicked: nothing may build on what it has half written. Once all
/// threads are done, the panic itself ends the run.
pub(super) fn panicked() -> Error {
    Error::Defect("a thread panicked while it wrote temporary files".to_owned())
}

pub(super) fn stop_if_asked(progress: &dyn Progress) -> Result<()> {
    if progress.is_stopped() {
        Err(Error::Stopped)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_is_not_a_stop_of_the_user() {
        let writer = Mutex::new(0);
        let panics = |_: &mut i32| -> Result<()> { panic!("as if a thread had panicked") };
        assert!(catch_unwind(AssertUnwindSafe(|| push_all(&writer, panics))).is_err());
        let error = push_all(&writer, |_| Ok(())).unwrap_err();
        assert!(matches!(error, Error::Defect(_)), "{error}");
        assert!(error.to_string().starts_with("a thread panicked"));
    }
}
