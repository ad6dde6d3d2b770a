//! Measures in rounds. A round measures every entrant once, so that a slow minute of a shared machine hits all of them
//! and shows as noise, not as one slow case.
//!
//! Beside each run, a fixed loop of dependent instructions shows the clock, and, for signing, a second loop shows the
//! ceiling of the vector units. Each round has a new order.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::clock::Clock;
use crate::case::Case;
use crate::{Row, TimedRun};
use simgpu::progress::{Progress, advance};
use simgpu::scheme::fmix64;
use simgpu::{Error, Result};

/// Passes over some documents, whose time is measured.
pub(super) trait Workload: Send {
    /// Processes the documents once.
    ///
    /// # Errors
    /// Errors of the stage.
    fn pass(&mut self) -> Result<()>;

    /// Processes the documents several times. Devices may submit all passes at once.
    ///
    /// # Errors
    /// Errors of the stage.
    fn passes(&mut self, passes: u32) -> Result<()> {
        (0..passes).try_for_each(|_| self.pass())
    }

    /// Checksum of the results of the last pass. It is not timed.
    ///
    /// # Errors
    /// If the results cannot be read, or were computed in another way than requested.
    fn checksum(&mut self) -> Result<u64>;

    /// Updates per second that the vector units allow at this moment, if known.
    fn ceiling_updates_per_s(&self) -> Option<f64> {
        None
    }
}

/// A case and its workload.
#[allow(
    missing_debug_implementations,
    reason = "workloads do not implement it"
)]
pub(super) struct Entrant<'a> {
    /// The run before its measurement: `round`, `passes`, times and checksum are empty.
    pub(super) run: TimedRun,
    /// The passes of a run.
    pub(super) workload: Box<dyn Workload + 'a>,
    /// Checksum of the definition, if there is one.
    pub(super) expected: Option<u64>,
}

/// Number and length of the runs of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSchedule {
    /// Runs per case.
    pub(super) rounds: u32,
    /// Approximate least seconds per run; a longer pass is a run by itself.
    pub(super) run_s: f64,
}

/// Most passes per run.
const MOST_PASSES: u32 = 1 << 20;

/// Seconds of a long pass, which is a run by itself and gets no warm-up.
const LONG_S: f64 = 0.05;

/// Long passes run in the first of every `ROUNDS_OF_LONG` rounds.
const ROUNDS_OF_LONG: u32 = 3;

/// Measures all entrants in rounds, and hands each run to `take` as it ends. The first round keeps the order of
/// entrants; each later round has another, reproducible order. Long passes run in every third round.
///
/// # Errors
/// [`Error::Disagreement`] if two entrants of one computation have different checksums, before either is timed, or if
/// the checksum of an entrant changes; errors of workloads and of `take`.
pub(super) fn run_rounds(
    entrants: &mut [Entrant<'_>],
    schedule: RunSchedule,
    clock: &dyn Clock,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let mut pools = Pools::default();
    progress.begin("throughput", u64::from(schedule.rounds));
    warm_up(entrants, &mut pools)?;
    let mut paces = Vec::new();
    for entrant in entrants.iter_mut() {
        let workload = &mut *entrant.workload;
        let pool = pools.of(entrant.run.threads)?;
        paces.push(pool.install(|| Pace::of(workload, schedule.run_s, clock))?);
    }
    for round in 1..=schedule.rounds {
        for i in order(entrants.len(), round) {
            let (Some(entrant), Some(pace)) = (entrants.get_mut(i), paces.get(i)) else {
                continue;
            };
            if !pace.is_long || round % ROUNDS_OF_LONG == 1 {
                let run = measure_run(entrant, *pace, round, clock, &mut pools)?;
                take(Row::Run(run))?;
            }
        }
        advance(progress, round.into(), 0, 0)?;
    }
    Ok(())
}

/// Order of entrants in a round. Tables show cases in the order of the first round.
fn order(entrants: usize, round: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entrants).collect();
    if round > 1 {
        order.sort_by_key(|i| fmix64(u64::from(round) << 32 | *i as u64));
    }
    order
}

/// Runs one pass of each entrant, and compares its checksum with the definition and with other entrants of the same
/// computation.
fn warm_up(entrants: &mut [Entrant<'_>], pools: &mut Pools) -> Result<()> {
    let mut known: BTreeMap<Case, (u64, String)> = BTreeMap::new();
    for entrant in entrants {
        let run = &mut entrant.run;
        let workload = &mut *entrant.workload;
        let checksum = pools.of(run.threads)?.install(|| {
            workload.pass()?;
            workload.checksum()
        })?;
        if let Some(expected) = entrant.expected {
            check(run, checksum, expected, "the definition")?;
        }
        let (first, whose) = known
            .entry(run.case().anywhere())
            .or_insert_with(|| (checksum, run.case().describe()));
        check(run, checksum, *first, whose)?;
        run.checksum = format!("{checksum:016x}");
    }
    Ok(())
}

fn check(run: &TimedRun, checksum: u64, expected: u64, whose: &str) -> Result<()> {
    if checksum == expected {
        return Ok(());
    }
    Err(Error::Disagreement(format!(
        "results of {} differ from those of {whose}",
        run.case().describe()
    )))
}

/// Passes per run of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pace {
    /// Passes per run.
    passes: u32,
    is_long: bool,
}

impl Pace {
    fn of(workload: &mut dyn Workload, run_s: f64, clock: &dyn Clock) -> Result<Self> {
        let mut passes = 1;
        loop {
            let start = clock.now_s();
            workload.passes(passes)?;
            let elapsed_s = clock.now_s() - start;
            // A quarter of a run is long enough to extrapolate from.
            if elapsed_s >= run_s / 4.0 || passes >= MOST_PASSES {
                let wanted = (f64::from(passes) * run_s / elapsed_s).ceil();
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clamped to the range of u32"
                )]
                let wanted = wanted.clamp(1.0, f64::from(MOST_PASSES)) as u32;
                return Ok(Pace {
                    passes: wanted,
                    is_long: elapsed_s / f64::from(passes) >= LONG_S,
                });
            }
            passes *= 4;
        }
    }
}

fn measure_run(
    entrant: &mut Entrant<'_>,
    pace: Pace,
    round: u32,
    clock: &dyn Clock,
    pools: &mut Pools,
) -> Result<TimedRun> {
    let run = &entrant.run;
    let workload = &mut *entrant.workload;
    let (passes, has_ceiling) = (pace.passes, run.threads == 1);
    let ceiling = |workload: &dyn Workload| {
        if has_ceiling {
            workload.ceiling_updates_per_s()
        } else {
            None
        }
    };
    let mut measured = pools.of(run.threads)?.install(|| {
        if !pace.is_long {
            // Other entrants have used the caches since.
            workload.pass()?;
        }
        let reference_before_s = clock.reference_s();
        let ceiling_before = ceiling(workload);
        let start = clock.now_s();
        workload.passes(passes)?;
        let elapsed_s = clock.now_s() - start;
        let ceiling_after = ceiling(workload);
        let reference_after_s = clock.reference_s();
        Ok::<_, Error>(TimedRun {
            round,
            passes,
            elapsed_s,
            reference_s: Some(reference_before_s + reference_after_s),
            // The clock rate changes with the load.
            ceiling_updates_per_s: ceiling_before
                .zip(ceiling_after)
                .map(|(before, after)| f64::midpoint(before, after)),
            ..run.clone()
        })
    })?;
    measured.checksum = format!("{:016x}", workload.checksum()?);
    if measured.checksum != run.checksum {
        return Err(Error::Disagreement(format!(
            "results of {} in round {round} differ from the first ones",
            run.case().describe()
        )));
    }
    Ok(measured)
}

/// Thread pools by number of threads, created on first use.
#[derive(Default)]
struct Pools(BTreeMap<u32, ThreadPool>);

impl Pools {
    fn of(&mut self, threads: u32) -> Result<&ThreadPool> {
        Ok(match self.0.entry(threads) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(pool(threads)?),
        })
    }
}

/// A pool of `threads` threads.
fn pool(threads: u32) -> Result<ThreadPool> {
    let threads = threads as usize;
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| {
        Error::Unsupported(simgpu::error::Unsupported::Threads {
            threads,
            reason: error.to_string(),
        })
    })
}
