//! What a run reports while it goes on, and what it counted and measured when it is over.

use std::ops::ControlFlow;

use crate::error::{Error, Result};

/// Follows a run, and can stop it. A front end draws it; the library never prints.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use simgpu::progress::Progress;
///
/// /// Stops the run when somebody sets the flag.
/// struct Stoppable(AtomicBool);
///
/// impl Progress for Stoppable {
///     fn advance(&self, done: u64, documents: u64, bytes: u64) -> ControlFlow<()> {
///         match self.0.load(Ordering::Relaxed) {
///             true => ControlFlow::Break(()),
///             false => ControlFlow::Continue(()),
///         }
///     }
/// }
/// ```
pub trait Progress: Sync {
    /// A stage begins. It ends at `total`, in the unit of [`Progress::advance`].
    fn begin(&self, stage: &'static str, total: u64) {
        let _ = (stage, total);
    }

    /// The stage has come to `done`, with so many documents and bytes of text so far. `Break` stops the run
    /// with [`Error::Stopped`]; then no output gets its final name. Called at least every few MiB of input.
    fn advance(&self, done: u64, documents: u64, bytes: u64) -> ControlFlow<()> {
        let _ = (done, documents, bytes);
        ControlFlow::Continue(())
    }

    /// Something worth knowing.
    fn tell(&self, message: &str) {
        let _ = message;
    }

    /// Something that may make the result other than expected.
    fn warn(&self, message: &str) {
        let _ = message;
    }
}

/// Reports nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// Advances, or fails with [`Error::Stopped`]: [`Progress::advance`] for code that uses `?`.
///
/// # Errors
/// [`Error::Stopped`] if the progress breaks.
pub fn advance(progress: &dyn Progress, done: u64, documents: u64, bytes: u64) -> Result<()> {
    match progress.advance(done, documents, bytes) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}

/// How long a stage took.
#[derive(Clone, Debug)]
pub struct StageTime {
    /// The stage.
    pub stage: &'static str,
    /// Elapsed seconds.
    pub elapsed_s: f64,
    /// Decompressed bytes of input that passed; 0 where none did.
    pub bytes: u64,
    /// Whether it is a part of the stage before it, whose time contains its own.
    pub is_part: bool,
}

/// The times of a run's stages, in order.
#[derive(Clone, Debug, Default)]
pub struct Timings(pub Vec<StageTime>);

impl Timings {
    /// Runs a stage and notes its time.
    pub(crate) fn time<T>(
        &mut self,
        stage: &'static str,
        bytes: u64,
        run: impl FnOnce() -> T,
    ) -> T {
        let start = std::time::Instant::now();
        let result = run();
        self.0.push(StageTime {
            stage,
            elapsed_s: start.elapsed().as_secs_f64(),
            bytes,
            is_part: false,
        });
        result
    }
}

/// How many documents there were, and what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "io", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "io", serde(default))]
pub struct Counts {
    /// Records, good and bad.
    pub documents: u64,
    /// Documents kept, signed or compared.
    pub kept: u64,
    /// Documents removed.
    pub removed: u64,
    /// Bad records.
    pub skipped: u64,
    /// Documents with the units of an earlier one.
    pub identical: u64,
    /// Documents without a shingle, which are always kept.
    pub without_shingles: u64,
    /// Documents whose id another one has.
    pub repeated_ids: u64,
    /// Pairs compared.
    pub candidate_pairs: u64,
    /// Pairs of distinct documents at or above the threshold.
    pub similar_pairs: u64,
    /// Buckets above the bound.
    pub large_buckets: u64,
    /// Pairs left out by a bound, at most.
    pub omitted_pairs: u64,
    /// Groups of two or more documents of which one is kept.
    pub clusters: u64,
    /// Documents in the largest of them.
    pub largest_cluster: u64,
    /// Decompressed bytes of input.
    pub bytes: u64,
}

/// A number with its digits in groups of three: `7,200`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups() {
        let numbers = [0, 999, 1000, 12_345, 1_234_567];
        let shown = ["0", "999", "1,000", "12,345", "1,234,567"];
        assert_eq!(numbers.map(grouped), shown);
    }

    #[test]
    fn a_break_is_an_error() {
        struct Stop;
        impl Progress for Stop {
            fn advance(&self, _: u64, _: u64, _: u64) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
        }
        assert!(matches!(advance(&Stop, 0, 0, 0), Err(Error::Stopped)));
        assert!(advance(&Silent, 0, 0, 0).is_ok());
    }
}
