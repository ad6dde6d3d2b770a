//! Progress of a run, its counts and its timings.

use std::ops::ControlFlow;

use crate::clock::{CpuTime, Moment};
use crate::error::{Error, Result};
use crate::machine::peak_memory_bytes;

/// Receives the progress of a run and can stop it. The library itself never prints.
///
/// ```
/// # use simgpu_base as simgpu;
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use simgpu::progress::Progress;
///
/// /// Stops the run once the flag is set.
/// struct Stoppable(AtomicBool);
///
/// impl Progress for Stoppable {
///     fn advance(&self, done: u64, documents: u64, bytes: u64) -> ControlFlow<()> {
///         match self.is_stopped() {
///             true => ControlFlow::Break(()),
///             false => ControlFlow::Continue(()),
///         }
///     }
///
///     fn is_stopped(&self) -> bool {
///         self.0.load(Ordering::Relaxed)
///     }
/// }
/// ```
pub trait Progress: Sync {
    /// Called when a stage begins: `copy` (of a stream; its length is unknown, and `total` is 0), `read`, `sign` (of
    /// documents in memory), `bucket`, `read again`, `compare` or `write`. The `done` of [`Progress::advance`] counts up
    /// to `total`. Its unit depends on the stage. In `copy`, `read`, `read again` and `write`: bytes of the files; for
    /// input in memory or in a signature file, documents. In `bucket`: bands. In `compare`: documents; with connected
    /// components, bands. In `sign`: documents. A run on disk has two more stages, `identical` and `distribute`; there,
    /// `identical`, `bucket` and `compare` count parts, and `distribute` documents. A search for links has the stages `count`
    /// and `weigh`, which count records, `score`, which counts pairs, and `learn`, which counts rounds.
    fn begin(&self, stage: &'static str, total: u64) {
        let _ = (stage, total);
    }

    /// Called repeatedly in every stage, for example after each MiB of input, always from the thread that executes the
    /// run. `documents` and `bytes` count the documents and the decompressed bytes of input that this stage has
    /// finished, in order; 0 in stages that read none. `done` also counts input still in progress.
    ///
    /// Return `Break` to stop the run with [`Error::Stopped`]. A stopped run leaves no finished output file.
    fn advance(&self, done: u64, documents: u64, bytes: u64) -> ControlFlow<()> {
        let _ = (done, documents, bytes);
        ControlFlow::Continue(())
    }

    /// Whether to stop the run, with [`Error::Stopped`]. Threads that shingle and sign ask before each piece, some 1 MiB
    /// of input, because with unusual settings the pieces in progress take seconds. So does a thread that writes tables.
    /// So it must be cheap, and may be called from any thread. `false` by default: only [`Progress::advance`] stops
    /// the run.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Receives a message that is not a warning. Ignores it by default.
    fn tell(&self, message: &str) {
        let _ = message;
    }

    /// Receives a warning: the result may differ from what the caller expects. Ignores it by default.
    fn warn(&self, message: &str) {
        let _ = message;
    }
}

/// A [`Progress`] that ignores everything and never stops the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// Calls [`Progress::advance`] and turns `Break` into an error, for code that uses `?`.
///
/// # Errors
/// [`Error::Stopped`] if `progress` returns `Break`.
pub fn advance(progress: &dyn Progress, done: u64, documents: u64, bytes: u64) -> Result<()> {
    match progress.advance(done, documents, bytes) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    }
}

/// Elapsed time of a stage.
#[derive(Clone, Debug)]
pub struct StageTime {
    /// Name of the stage.
    pub stage: &'static str,
    /// Elapsed seconds.
    pub elapsed_s: f64,
    /// Processor time; `None` if unknown, and of parts of stages.
    pub cpu: Option<CpuTime>,
    /// Decompressed bytes of input that the stage read; 0 if it read none.
    pub bytes: u64,
    /// Whether this stage is part of a larger one: the nearest earlier stage for which this field is false. The time
    /// of that stage includes the time of this one.
    pub is_part: bool,
    /// The use of temporary files, if documents were on disk.
    pub on_disk: Option<DiskUse>,
    /// The peak memory of the process up to the end of the stage, in bytes; `None` if unknown.
    pub peak_memory_bytes: Option<u64>,
}

/// What a stage read from temporary files and wrote to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DiskUse {
    /// The number of parts that fit in memory one by one.
    pub parts: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl StageTime {
    /// A stage that began then and ends now.
    #[doc(hidden)]
    pub fn since(start: Moment, stage: &'static str, bytes: u64) -> Self {
        StageTime {
            cpu: start.cpu_time(),
            ..StageTime::new(stage, start.elapsed().as_secs_f64(), bytes)
        }
    }

    /// A stage, or a part of one, that ends now.
    #[doc(hidden)]
    pub fn new(stage: &'static str, elapsed_s: f64, bytes: u64) -> Self {
        StageTime {
            stage,
            elapsed_s,
            cpu: None,
            bytes,
            is_part: false,
            on_disk: None,
            peak_memory_bytes: peak_memory_bytes(),
        }
    }
}

/// The times of a run's stages, in order.
#[derive(Clone, Debug, Default)]
pub struct Timings(pub Vec<StageTime>);

impl Timings {
    /// Runs a stage and records its time.
    #[doc(hidden)]
    pub fn time<T>(&mut self, stage: &'static str, bytes: u64, run: impl FnOnce() -> T) -> T {
        let start = Moment::now();
        let result = run();
        self.0.push(StageTime::since(start, stage, bytes));
        result
    }

    /// Adds the use of temporary files to the last stage that is no part of another.
    #[doc(hidden)]
    pub fn add_disk_use(&mut self, on_disk: DiskUse) {
        if let Some(time) = self.0.iter_mut().rfind(|time| !time.is_part) {
            time.on_disk = Some(on_disk);
        }
    }

    /// Adds the stage `other`, the time since `start` that no stage accounts for, and returns the total time since
    /// `start`. The stages that are not parts of others add up to it.
    #[doc(hidden)]
    pub fn complete(&mut self, start: Moment) -> f64 {
        let all = StageTime::since(start, "other", 0);
        let elapsed_s = all.elapsed_s;
        let accounted_s: f64 = self.whole().map(|time| time.elapsed_s).sum();
        let stages = self.whole().map(|time| time.cpu);
        let cpu = all.cpu.and_then(|cpu| cpu.without_all(stages));
        self.0.push(StageTime {
            elapsed_s: (elapsed_s - accounted_s).max(0.0),
            cpu,
            ..all
        });
        elapsed_s
    }

    /// The processor time of all stages; `None` if unknown.
    #[doc(hidden)]
    pub fn cpu_time(&self) -> Option<CpuTime> {
        CpuTime::sum(self.whole().map(|time| time.cpu))
    }

    /// The stages that are no parts of others.
    fn whole(&self) -> impl Iterator<Item = &StageTime> {
        self.0.iter().filter(|time| !time.is_part)
    }
}

/// Counts of documents, pairs and clusters in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Records read, including bad ones, but for those of a reference.
    pub documents: u64,
    /// Documents of the reference; `None` in a run without one. All counts of documents but this one leave them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<u64>,
    /// Of a deduplication, the documents removed because they are similar to one of the reference; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_for_reference: Option<u64>,
    /// Documents of the indexes with which a deduplication compares; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// Of a deduplication, the documents removed because they are similar to one of an index; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_for_index: Option<u64>,
    /// Documents kept by a deduplication, signed by a signing run, or read by a search for pairs.
    pub kept: u64,
    /// Documents removed.
    pub removed: u64,
    /// Bad records skipped.
    pub skipped: u64,
    /// Documents whose normalised text, or list of tokens, equals that of an earlier one.
    pub identical: u64,
    /// Of a deduplication, the removed documents with exactly the shingles of their kept one, but another text; of a
    /// search for pairs, the pairs of such documents. `None` unless pairs are verified exactly.
    pub equal_shingles: Option<u64>,
    /// Of the removed documents that were compared exactly with their kept ones, the distinct shingles that these lack.
    /// `None` except for a deduplication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_shingles: Option<u64>,
    /// All distinct shingles of these removed documents. Identical documents lose none, are not compared, and not counted
    /// here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_shingles: Option<u64>,
    /// Removed documents that are neither identical to their kept ones nor compared exactly with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_losses: Option<u64>,
    /// Documents without a shingle. A deduplication removes them only if they are identical to another, or if it drops them.
    pub without_shingles: u64,
    /// Documents with at most one shingle, without blank ones. `None` if only signatures were read.
    pub few_shingles: Option<u64>,
    /// Documents with fewer shingles than a deduplication compares; `None` without such a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<u64>,
    /// Of the documents removed, those that are empty or short, and are removed for no other; `None` unless that is asked
    /// for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// Documents whose id is that of an earlier document.
    pub repeated_ids: u64,
    /// Pairs compared.
    pub candidate_pairs: u64,
    /// Similar pairs. A deduplication counts identical documents as one document; a search for pairs counts each
    /// of them.
    pub similar_pairs: u64,
    /// Buckets in which `max_bucket` ended the comparisons: with greedy clustering, those with more than `max_bucket`
    /// kept documents; with connected components, those in which pairs were left out.
    pub large_buckets: u64,
    /// Upper bound on the pairs not compared because of `max_bucket` or, in a search for pairs, of `max_pairs`.
    pub omitted_pairs: u64,
    /// Clusters of two or more documents; one document of each is kept.
    pub clusters: u64,
    /// Documents in the largest cluster.
    pub largest_cluster: u64,
    /// Decompressed bytes of input.
    pub bytes: u64,
}

impl Counts {
    /// The same counts, of a deduplication that has removed nothing yet.
    #[doc(hidden)]
    pub fn for_dedup(self) -> Self {
        Counts {
            lost_shingles: Some(0),
            removed_shingles: Some(0),
            unknown_losses: Some(0),
            ..self
        }
    }

    /// Bounds the pairs not compared by all pairs of distinct documents: a pair was counted once for each bucket in which
    /// it was not compared.
    #[doc(hidden)]
    pub fn bound_omitted_pairs(&mut self) {
        let distinct = u128::from(self.documents.saturating_sub(self.identical));
        let reference = u128::from(self.reference.unwrap_or(0));
        let all = distinct * distinct.saturating_sub(1) / 2 + distinct * reference;
        if let Ok(all) = u64::try_from(all) {
            self.omitted_pairs = self.omitted_pairs.min(all);
        }
    }
}

/// Formats a number with thousands separators: `7,200`.
#[doc(hidden)]
pub fn grouped(number: u64) -> String {
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

/// A count of things: `1 document`, `2 documents`.
#[doc(hidden)]
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_by_commas() {
        let numbers = [0, 999, 1000, 12_345, 1_234_567];
        let shown = ["0", "999", "1,000", "12,345", "1,234,567"];
        assert_eq!(numbers.map(grouped), shown);
    }

    #[test]
    fn no_more_pairs_are_omitted_than_exist() {
        for (documents, identical, omitted, bounded) in [
            (14_000, 0, 997_008_177, 97_993_000),
            (14_000, 13_990, 997_008_177, 45),
            (14_000, 0, 97_992_999, 97_992_999),
            (1, 0, 7, 0),
            (u64::MAX, 0, u64::MAX, u64::MAX),
        ] {
            let mut counts = Counts {
                documents,
                identical,
                omitted_pairs: omitted,
                ..Counts::default()
            };
            counts.bound_omitted_pairs();
            assert_eq!(counts.omitted_pairs, bounded);
        }
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
