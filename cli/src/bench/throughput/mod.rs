//! How fast the stages are, with every backend and scheme.
//!
//! ```text
//! clock       time, and how fast the core is while it passes
//! runner      what is measured, in rounds
//! places      where signatures are computed: backend and hardware
//! extent      how many cases, and how often
//! cases       the cases of a plan
//! sign        shingle hashes and texts to signatures
//! stages      shingling, banding, buckets, verification
//! corpus      whole runs over files
//! device      what a GPU does with one load
//! ```

mod clock;

mod runner;

mod places;

mod extent;

mod cases;

mod sign;

mod stages;

mod corpus;

#[cfg(feature = "gpu")]
mod device;

use self::cases::Cases;
use self::clock::Monotonic;
use self::runner::run_rounds;
use super::{Corpus, Plan, Record, Run, Stage};
use simgpu::Result;
use simgpu::pipeline::Slots;
use simgpu::progress::Progress;
use simgpu::scheme::fmix64;

/// Measures the throughput of what is planned, and gives a record for each run as it ends.
///
/// # Errors
/// [`Error::Unsupported`](simgpu::Error) when a backend that the plan names finds no device,
/// [`Error::Parameter`](simgpu::Error) for axes out of their range, what a stage fails with, what `take` fails with, and
/// [`Error::Disagreement`](simgpu::Error) when two ways to compute the same signatures differ.
pub fn measure(
    plan: &Plan,
    corpus: &Corpus,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    let Cases {
        mut entrants,
        absences,
        rounds,
    } = Cases::of(plan, corpus)?;
    for absence in absences {
        take(Record::Absence(absence))?;
    }
    run_rounds(&mut entrants, rounds, &Monotonic::start(), progress, take)
}

/// Refuses lengths and threads that are out of their range.
pub(super) fn check(plan: &Plan) -> Result<()> {
    extent::Extent::of(plan).map(drop)
}

/// The least similarity that is looked for: what `simgpu dedup` takes if nothing else is asked for.
const THRESHOLD: f64 = 0.8;

/// A run of this program that has not been measured yet, and of which nothing is known but its stage.
fn blank(stage: Stage) -> Run {
    Run {
        tool: "simgpu".to_owned(),
        stage,
        backend: String::new(),
        hardware: String::new(),
        scheme: String::new(),
        num_perm: 0,
        input: String::new(),
        shingles: 0,
        documents: 0,
        threads: 1,
        updates: 0,
        text_bytes: 0,
        round: 0,
        passes: 0,
        elapsed_s: 0.0,
        reference_s: None,
        ceiling_updates_per_s: None,
        checksum: String::new(),
    }
}

/// A checksum of numbers in their order.
fn checksum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    let add = |sum: u64, number: u64| fmix64(sum ^ number);
    numbers.into_iter().fold(0, add)
}

/// The same of slots.
fn checksum_of_slots(slots: Slots<'_>) -> u64 {
    match slots {
        Slots::U32(slots) => checksum(slots.iter().map(|slot| u64::from(*slot))),
        Slots::U64(slots) => checksum(slots.iter().copied()),
    }
}

#[cfg(test)]
mod tests;
