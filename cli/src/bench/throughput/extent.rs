//! How many cases there are, and how often each is measured.

use std::thread::available_parallelism;

use super::runner::Rounds;
use crate::bench::plan::SCHEMES;
use crate::bench::{Effort, Plan};
use simgpu::scheme::DEFAULT_NUM_PERM;
use simgpu::simd::Isa;
use simgpu::{Error, Result};

/// Schemes that lengths and numbers of slots are varied for: the default, one whose kernel depends on the length, and
/// one whose cost hardly grows with the slots, for which there is no time in a short measurement.
const SWEPT: [&str; 3] = ["affine32", "mersenne61", "fast"];

/// Shingles of a document where the length is not varied: a page of text.
const LENGTH: usize = 1000;

/// Shingles of a document at most, so that two documents fit into any memory.
const MOST_SHINGLES: u64 = 1 << 26;

/// Threads at most.
const MOST_THREADS: u32 = 1 << 10;

/// What an effort has time for.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) rounds: Rounds,
    lengths: &'static [u64],
    num_perms: &'static [u32],
    /// Documents whose keys are sorted.
    pub(super) bucketed: &'static [u32],
    /// Documents whose signatures are banded and compared.
    pub(super) signed: &'static [u32],
    /// Parts of the corpus that are deduplicated beside all of it: a half, a quarter and so on.
    pub(super) parts: u32,
}

const QUICK: Scope = Scope {
    rounds: Rounds {
        rounds: 18,
        run_s: 0.006,
    },
    lengths: &[30, 300, 10_000],
    num_perms: &[64, 512],
    bucketed: &[100_000],
    signed: &[1_000],
    parts: 1,
};

const USUAL: Scope = Scope {
    rounds: Rounds {
        rounds: 30,
        run_s: 0.01,
    },
    lengths: &[30, 100, 300, 1000, 3000, 10_000, 50_000],
    num_perms: &[64, 128, 256, 512, 1024],
    bucketed: &[10_000, 100_000, 1_000_000],
    signed: &[1_000, 10_000, 100_000],
    parts: 3,
};

const FULL: Scope = Scope {
    rounds: Rounds {
        rounds: 30,
        run_s: 0.01,
    },
    lengths: &[30, 100, 300, 500, 700, 1000, 2000, 5000, 10_000, 50_000],
    num_perms: &[64, 128, 256, 512, 1024],
    bucketed: &[10_000, 100_000, 1_000_000, 10_000_000],
    signed: &[1_000, 10_000, 100_000],
    parts: 4,
};

/// The axes of a plan, with what effort and machine decide where the plan does not.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) effort: Effort,
    pub(super) scope: &'static Scope,
    /// All schemes, by name.
    pub(super) schemes: Vec<String>,
    /// Those that lengths and slots are varied for.
    pub(super) swept: Vec<String>,
    /// Slots where they are not varied, and where they are.
    pub(super) num_perm: u32,
    pub(super) num_perms: Vec<u32>,
    /// Shingles of a document where they are not varied, and where they are.
    pub(super) length: usize,
    pub(super) lengths: Vec<usize>,
    /// Ascending.
    pub(super) threads: Vec<u32>,
    /// Instructions, from slow to fast.
    pub(super) isas: Vec<Isa>,
}

impl Extent {
    /// # Errors
    /// [`Error::Parameter`] for lengths and threads out of their range.
    pub(super) fn of(plan: &Plan) -> Result<Self> {
        let scope = match plan.effort {
            Effort::Quick => &QUICK,
            Effort::Usual => &USUAL,
            Effort::Full => &FULL,
        };
        let shingles = |length: &u64| in_range("lengths", *length, MOST_SHINGLES);
        let lengths = named_or(&plan.lengths, scope.lengths).iter().map(shingles);
        let lengths = lengths.collect::<Result<Vec<_>>>()?;
        let schemes = plan.scheme_names(&SCHEMES);
        let schemes: Vec<String> = schemes.into_iter().map(str::to_owned).collect();
        Ok(Extent {
            effort: plan.effort,
            scope,
            swept: swept(&schemes, plan.effort),
            schemes,
            num_perm: plan.num_perms.first().copied().unwrap_or(DEFAULT_NUM_PERM),
            num_perms: named_or(&plan.num_perms, scope.num_perms).to_vec(),
            length: match plan.lengths.is_empty() {
                true => LENGTH,
                false => lengths.first().copied().unwrap_or(LENGTH),
            },
            lengths,
            threads: threads(plan)?,
            isas: isas(plan),
        })
    }

    pub(super) fn least_threads(&self) -> u32 {
        self.threads.first().copied().unwrap_or(1)
    }

    pub(super) fn most_threads(&self) -> u32 {
        self.threads.last().copied().unwrap_or(1)
    }

    /// Lengths and slots that are measured of the schemes for which they are varied: one at a time, and each with
    /// each if there is time for it.
    pub(super) fn sizes(&self) -> Vec<(usize, u32)> {
        match self.effort {
            Effort::Full => {
                let of_length = |length: &usize| {
                    let length = *length;
                    self.num_perms
                        .iter()
                        .map(move |num_perm| (length, *num_perm))
                };
                self.lengths.iter().flat_map(of_length).collect()
            }
            Effort::Quick | Effort::Usual => {
                let by_length = self.lengths.iter().map(|length| (*length, self.num_perm));
                let by_slots = self
                    .num_perms
                    .iter()
                    .map(|num_perm| (self.length, *num_perm));
                by_length.chain(by_slots).collect()
            }
        }
    }
}

/// What a plan names, or else what is measured by default.
fn named_or<'a, T>(named: &'a [T], default: &'a [T]) -> &'a [T] {
    match named {
        [] => default,
        named => named,
    }
}

fn isas(plan: &Plan) -> Vec<Isa> {
    let is_wanted = |isa: &&Isa| plan.isas.is_empty() || plan.isas.contains(isa);
    Isa::available().iter().filter(is_wanted).copied().collect()
}

fn swept(schemes: &[String], effort: Effort) -> Vec<String> {
    if effort == Effort::Full {
        return schemes.to_vec();
    }
    let candidates = match effort {
        Effort::Quick => &SWEPT[..2],
        Effort::Usual | Effort::Full => &SWEPT[..],
    };
    let is_swept = |name: &&String| candidates.contains(&name.as_str());
    let swept: Vec<String> = schemes.iter().filter(is_swept).cloned().collect();
    match swept.is_empty() {
        true => schemes.iter().take(1).cloned().collect(),
        false => swept,
    }
}

/// One thread, twice as many again and again, and all.
fn threads(plan: &Plan) -> Result<Vec<u32>> {
    let cores = available_parallelism().map_or(1, |cores| {
        u32::try_from(cores.get())
            .unwrap_or(MOST_THREADS)
            .min(MOST_THREADS)
    });
    let mut threads = match plan.threads.as_slice() {
        [] => {
            let doubled = std::iter::successors(Some(1), |threads| Some(threads * 2));
            let below = doubled.take_while(|threads| *threads < cores);
            below.chain([cores]).collect()
        }
        named => named.to_vec(),
    };
    for threads in &threads {
        in_range("threads", u64::from(*threads), u64::from(MOST_THREADS))?;
    }
    threads.sort_unstable();
    threads.dedup();
    Ok(threads)
}

fn in_range(name: &'static str, value: u64, most: u64) -> Result<usize> {
    let in_range = (1..=most).contains(&value).then_some(value);
    let fitting = in_range.and_then(|value| usize::try_from(value).ok());
    fitting.ok_or_else(|| Error::Parameter {
        name,
        value: value.to_string(),
        expected: format!("a number from 1 to {most}"),
    })
}
