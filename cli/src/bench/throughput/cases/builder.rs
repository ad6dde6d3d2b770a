//! What all kinds of cases need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::bench::case::Case;
use crate::bench::corpus::BenchCorpus;
use crate::bench::plan::Plan;
use crate::bench::record::{Absence, TimedRun};
use crate::bench::stage::Stage;
use crate::bench::throughput::axes::Axes;
use crate::bench::throughput::dedup::sample;
use crate::bench::throughput::runner::{Entrant, Workload};
use crate::bench::throughput::sign::{self, RandomHashes};
use crate::bench::throughput::targets::{ComputeTarget, targets};
use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{ShingleSets, Shingling};
use simgpu::scheme::{Family, Scheme};

/// Bytes of text per pass.
const TEXT_BYTES: usize = 1 << 20;

/// Collects the cases of a plan.
pub(super) struct Builder<'a> {
    pub(super) axes: Axes,
    pub(super) targets: Vec<ComputeTarget>,
    pub(super) corpus: &'a BenchCorpus,
    /// Some of the corpus's texts.
    pub(super) sample: Arc<TextBatch>,
    /// By number of documents, shingles per document, and bytes per hash.
    pub(super) hashes: BTreeMap<(usize, usize, usize), Arc<RandomHashes>>,
    /// Checksums of the definition, by case without its target.
    definitions: BTreeMap<Case, u64>,
    pub(super) known: BTreeSet<Case>,
    pub(super) entrants: Vec<Entrant<'a>>,
    pub(super) absences: Vec<Absence>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(plan: &Plan, corpus: &'a BenchCorpus) -> Result<Self> {
        let axes = Axes::of(plan)?;
        let (targets, absences) = targets(plan, &axes.isas)?;
        Ok(Builder {
            sample: Arc::new(sample(&corpus.texts, TEXT_BYTES)),
            corpus,
            hashes: BTreeMap::new(),
            definitions: BTreeMap::new(),
            known: BTreeSet::new(),
            entrants: Vec::new(),
            absences,
            axes,
            targets,
        })
    }

    /// The fastest instructions of the CPU; the last target if `simd` is not measured.
    pub(super) fn best(&self) -> Option<ComputeTarget> {
        let is_simd = |target: &&ComputeTarget| target.backend == Backend::Simd;
        let best = self.targets.iter().rfind(is_simd);
        best.or(self.targets.last()).cloned()
    }

    /// Adds a case unless it was added before.
    pub(super) fn add(
        &mut self,
        run: TimedRun,
        expected: Option<u64>,
        workload: impl Workload + 'a,
    ) {
        if self.known.insert(run.case()) {
            self.entrants.push(Entrant {
                run,
                workload: Box::new(workload),
                expected,
            });
        }
    }

    /// Notes once what is not measured.
    pub(super) fn absent(&mut self, what: String, why: String) {
        let absence = Absence { what, why };
        if !self.absences.contains(&absence) {
            self.absences.push(absence);
        }
    }

    /// Whether a target supports a scheme; notes it if not.
    pub(super) fn supports(&mut self, target: &ComputeTarget, scheme: &Scheme) -> bool {
        let checked = target.check(scheme);
        if let Err(error) = &checked {
            self.absent(format!("{scheme} by {}", target.backend), error.to_string());
        }
        checked.is_ok()
    }

    /// The checksum of the definition's signatures, computed once for all targets.
    pub(super) fn by_definition(
        &mut self,
        run: &TimedRun,
        scheme: &Scheme,
        sets: &ShingleSets<'_>,
    ) -> Result<u64> {
        let anywhere = run.case().anywhere();
        if let Some(known) = self.definitions.get(&anywhere) {
            return Ok(*known);
        }
        let checksum = sign::by_definition(scheme, sets)?;
        self.definitions.insert(anywhere, checksum);
        Ok(checksum)
    }
}

/// An unmeasured run of a scheme on a target.
pub(super) fn run_of_scheme(stage: Stage, target: &ComputeTarget, scheme: &Scheme) -> TimedRun {
    TimedRun {
        backend: target.backend.to_string(),
        hardware: target.name.clone(),
        scheme: scheme.to_string(),
        num_perm: u32::try_from(scheme.num_perm()).unwrap_or(u32::MAX),
        ..TimedRun::unmeasured(stage)
    }
}

/// Updates for a number of shingles; 0 for schemes that do not update every slot.
pub(super) fn updates(scheme: &Scheme, shingles: u64) -> u64 {
    match scheme.family() {
        Family::Fast | Family::RMinHash => 0,
        _ => shingles * scheme.num_perm() as u64,
    }
}

/// The input in words: `words 5 of driver-docs`.
pub(super) fn input_name(shingling: &Shingling, corpus: &BenchCorpus) -> String {
    let unit = &shingling.unit;
    match unit.takes_size() {
        true => format!("{unit} {} of {}", shingling.size, corpus.name),
        false => format!("{unit} of {}", corpus.name),
    }
}
