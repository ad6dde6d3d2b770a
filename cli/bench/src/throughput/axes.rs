//! Which values each axis takes, and how often a case runs.

use std::thread::available_parallelism;

use super::runner::RunSchedule;
use crate::plan::SCHEMES;
use crate::targets::isas;
use crate::{Effort, Plan};
use simgpu::Result;
use simgpu::scheme::DEFAULT_NUM_PERM;
use simgpu::simd::Isa;

/// Schemes measured at several lengths and numbers of slots: the default, one whose kernel depends on the length, and
/// one whose cost hardly grows with the slots, which a short measurement skips.
const SWEPT: [&str; 3] = ["affine32", "mersenne61", "fast"];

/// Default shingles per document: a page of text.
const LENGTH: usize = 1000;

/// Threads used by default at most.
const MOST_CORES: u32 = 1 << 10;

/// How much an effort measures.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) schedule: RunSchedule,
    lengths: &'static [u64],
    num_perms: &'static [u32],
    /// Documents whose keys go into buckets.
    pub(super) bucketed: &'static [u32],
    /// Documents whose signatures are banded and verified.
    pub(super) signed: &'static [u32],
    /// Parts of the corpus to deduplicate in addition to all of it: a half, a quarter and so on.
    pub(super) parts: u32,
}

const QUICK: Scope = Scope {
    schedule: RunSchedule {
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
    schedule: RunSchedule {
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
    schedule: RunSchedule {
        rounds: 30,
        run_s: 0.01,
    },
    lengths: &[30, 100, 300, 500, 700, 1000, 2000, 5000, 10_000, 50_000],
    num_perms: &[64, 128, 256, 512, 1024],
    bucketed: &[10_000, 100_000, 1_000_000, 10_000_000],
    signed: &[1_000, 10_000, 100_000],
    parts: 4,
};

/// The axes of a plan; effort and machine fill what the plan leaves empty.
#[derive(Clone, Debug)]
pub(super) struct Axes {
    pub(super) effort: Effort,
    pub(super) scope: &'static Scope,
    /// Names of all schemes.
    pub(super) schemes: Vec<String>,
    /// Names of those measured at several lengths and numbers of slots.
    pub(super) swept: Vec<String>,
    /// Slots per signature in all other cases.
    pub(super) num_perm: u32,
    /// Slots per signature of the swept schemes.
    pub(super) num_perms: Vec<u32>,
    /// Shingles per document in all other cases.
    pub(super) length: usize,
    /// Shingles per document of the swept schemes.
    pub(super) lengths: Vec<usize>,
    /// Ascending.
    pub(super) threads: Vec<u32>,
    /// Instruction sets, from slow to fast.
    pub(super) isas: Vec<Isa>,
}

impl Axes {
    /// # Errors
    /// [`Error::Parameter`](simgpu::Error) for lengths and threads out of range.
    pub(super) fn of(plan: &Plan) -> Result<Self> {
        let scope = match plan.effort {
            Effort::Quick => &QUICK,
            Effort::Usual => &USUAL,
            Effort::Full => &FULL,
        };
        let lengths = plan.lengths_or(scope.lengths)?;
        let schemes = plan.scheme_names(&SCHEMES);
        let schemes: Vec<String> = schemes.into_iter().map(str::to_owned).collect();
        Ok(Axes {
            effort: plan.effort,
            scope,
            swept: swept(&schemes, plan.effort),
            schemes,
            num_perm: plan.num_perms.first().copied().unwrap_or(DEFAULT_NUM_PERM),
            num_perms: match plan.num_perms.as_slice() {
                [] => scope.num_perms.to_vec(),
                named => named.to_vec(),
            },
            length: if plan.lengths.is_empty() {
                LENGTH
            } else {
                lengths.first().copied().unwrap_or(LENGTH)
            },
            lengths,
            threads: plan.threads_or(doubled_threads)?,
            isas: isas(plan),
        })
    }

    pub(super) fn least_threads(&self) -> u32 {
        self.threads.first().copied().unwrap_or(1)
    }

    pub(super) fn most_threads(&self) -> u32 {
        self.threads.last().copied().unwrap_or(1)
    }

    /// Lengths and numbers of slots of the swept schemes: every combination for a full measurement, else one axis at a
    /// time.
    pub(super) fn sizes(&self) -> Vec<(usize, u32)> {
        match self.effort {
            Effort::Full => {
                let pairs = |length: &usize| {
                    let length = *length;
                    self.num_perms
                        .iter()
                        .map(move |num_perm| (length, *num_perm))
                };
                self.lengths.iter().flat_map(pairs).collect()
            }
            Effort::Quick | Effort::Usual => {
                let lengths = self.lengths.iter().map(|length| (*length, self.num_perm));
                let slots = self
                    .num_perms
                    .iter()
                    .map(|num_perm| (self.length, *num_perm));
                lengths.chain(slots).collect()
            }
        }
    }
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
    if swept.is_empty() {
        schemes.iter().take(1).cloned().collect()
    } else {
        swept
    }
}

/// Powers of two below the number of cores, and that number.
fn doubled_threads() -> Vec<u32> {
    let cores = available_parallelism().map_or(1, |cores| {
        u32::try_from(cores.get())
            .unwrap_or(MOST_CORES)
            .min(MOST_CORES)
    });
    let doubled = std::iter::successors(Some(1), |threads| Some(threads * 2));
    let below = doubled.take_while(|threads| *threads < cores);
    below.chain([cores]).collect()
}
