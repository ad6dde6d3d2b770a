//! Runs in rounds: a round measures every entrant once, so that a slow minute of a shared machine falls on all of
//! them and shows as noise, not as one slow case.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::clock::Clock;
use crate::bench::record::Case;
use crate::bench::{Record, Run};
use simgpu::progress::Progress;
use simgpu::scheme::fmix64;
use simgpu::{Error, Result};

/// What is measured: a pass over some documents.
pub(super) trait Workload: Send {
    /// Works through the documents once.
    ///
    /// # Errors
    /// What the stage fails with.
    fn pass(&mut self) -> Result<()>;

    /// Works through the documents several times. Whoever hands work to a device asks for all of it at once.
    ///
    /// # Errors
    /// What the stage fails with.
    fn passes(&mut self, passes: u32) -> Result<()> {
        (0..passes).try_for_each(|_| self.pass())
    }

    /// A checksum of what the last pass gave, which takes no part in its time.
    ///
    /// # Errors
    /// When what came out cannot be read, or was not made as it was to be.
    fn checksum(&mut self) -> Result<u64>;

    /// Updates a second that the vector units allow now, where that is known.
    fn ceiling_updates_per_s(&self) -> Option<f64> {
        None
    }
}

/// A case, and what is measured of it.
#[allow(
    missing_debug_implementations,
    reason = "a workload has nothing to show"
)]
pub(super) struct Entrant<'a> {
    /// A run that has not been measured yet: `round`, `passes` and what follows of time and checksum are empty.
    pub(super) run: Run,
    /// What a run repeats.
    pub(super) workload: Box<dyn Workload + 'a>,
    /// The checksum by the definition, where there is one.
    pub(super) expected: Option<u64>,
}

/// How often and how long is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// Runs of each case.
    pub(super) rounds: u32,
    /// Seconds of a run at least, about; a pass that takes longer is a run of its own.
    pub(super) run_s: f64,
}

/// Passes of a run at most, for those that have next to nothing to do.
const MOST_PASSES: u32 = 1 << 20;

/// Seconds from which on a pass is long: it is a run of its own, before which nothing is warmed up.
const LONG_S: f64 = 0.05;

/// Of so many rounds, long passes are in the first.
const ROUNDS_OF_LONG: u32 = 3;

/// Measures all entrants in rounds, and gives a record for each run as it ends. In the first round they come as
/// they are, and then in another order each time, the same whenever it is measured. Long passes are in every third
/// round.
///
/// # Errors
/// [`Error::Disagreement`] when two entrants that compute one thing give different checksums, before any of them
/// is timed, or when one gives another checksum than at first; else what a workload or `take` fails with.
pub(super) fn run_rounds(
    entrants: &mut [Entrant<'_>],
    rounds: Rounds,
    clock: &dyn Clock,
    progress: &dyn Progress,
    take: &mut dyn FnMut(Record) -> Result<()>,
) -> Result<()> {
    let mut pools = Pools::default();
    progress.begin("throughput", u64::from(rounds.rounds));
    warm_up(entrants, &mut pools)?;
    let mut paces = Vec::new();
    for entrant in entrants.iter_mut() {
        let workload = &mut *entrant.workload;
        let pool = pools.of(entrant.run.threads)?;
        paces.push(pool.install(|| Pace::of(workload, rounds.run_s, clock))?);
    }
    for round in 1..=rounds.rounds {
        for i in order(entrants.len(), round) {
            let (Some(entrant), Some(pace)) = (entrants.get_mut(i), paces.get(i)) else {
                continue;
            };
            if !pace.is_long || round % ROUNDS_OF_LONG == 1 {
                let run = measure_run(entrant, *pace, round, clock, &mut pools)?;
                take(Record::Run(run))?;
            }
        }
        progress.advance(round.into(), 0, 0);
    }
    Ok(())
}

/// The numbers of all entrants as they come in a round. Tables show cases in the order of the first one.
fn order(entrants: usize, round: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entrants).collect();
    if round > 1 {
        order.sort_by_key(|i| fmix64(u64::from(round) << 32 | *i as u64));
    }
    order
}

/// Has each entrant do one pass, and holds its checksum against the definition and against those that compute
/// the same.
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

fn check(run: &Run, checksum: u64, expected: u64, whose: &str) -> Result<()> {
    if checksum == expected {
        return Ok(());
    }
    Err(Error::Disagreement(format!(
        "{} gives other results than {whose}",
        run.case().describe()
    )))
}

/// How a case is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pace {
    /// Passes that make a run.
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
            // A quarter of a run is long enough to tell the rest from.
            if elapsed_s >= run_s / 4.0 || passes >= MOST_PASSES {
                let wanted = (f64::from(passes) * run_s / elapsed_s).ceil();
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is cut to what fits"
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
) -> Result<Run> {
    let run = &entrant.run;
    let workload = &mut *entrant.workload;
    let (passes, has_ceiling) = (pace.passes, run.threads == 1);
    let ceiling = |workload: &dyn Workload| match has_ceiling {
        true => workload.ceiling_updates_per_s(),
        false => None,
    };
    let mut measured = pools.of(run.threads)?.install(|| {
        if !pace.is_long {
            // Others have had the caches since.
            workload.pass()?;
        }
        let reference_before_s = clock.reference_s();
        let ceiling_before = ceiling(workload);
        let start = clock.now_s();
        workload.passes(passes)?;
        let elapsed_s = clock.now_s() - start;
        let ceiling_after = ceiling(workload);
        let reference_after_s = clock.reference_s();
        Ok::<_, Error>(Run {
            round,
            passes,
            elapsed_s,
            reference_s: Some(reference_before_s + reference_after_s),
            // The clock moves with the load.
            ceiling_updates_per_s: ceiling_before
                .zip(ceiling_after)
                .map(|(before, after)| f64::midpoint(before, after)),
            ..run.clone()
        })
    })?;
    measured.checksum = format!("{:016x}", workload.checksum()?);
    if measured.checksum != run.checksum {
        return Err(Error::Disagreement(format!(
            "{} gave other results in round {round} than at first",
            run.case().describe()
        )));
    }
    Ok(measured)
}

/// A pool of threads for each number of them, made when it is asked for.
#[derive(Default)]
struct Pools(BTreeMap<u32, ThreadPool>);

impl Pools {
    fn of(&mut self, threads: u32) -> Result<&ThreadPool> {
        Ok(match self.0.entry(threads) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(pool(threads)?),
        })
    }
}

/// A pool of so many threads.
pub(super) fn pool(threads: u32) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads as usize)
        .build();
    pool.map_err(|error| {
        Error::Unsupported(simgpu::Unsupported::Threads {
            threads,
            reason: error.to_string(),
        })
    })
}
