//! What all kinds of cases need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::case::Case;
use crate::corpus::BenchCorpus;
use crate::plan::{Effort, Plan};
use crate::record::{Absence, TimedRun};
use crate::stage::Stage;
use crate::targets::ComputeTarget;
use crate::throughput::axes::Axes;
use crate::throughput::dedup::sample;
use crate::throughput::runner::{Entrant, Workload};
use crate::throughput::sign::{self, RandomHashes};
use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{ShingleSets, Shingling, Signer};
use simgpu::scheme::{Family, Scheme};

/// Approximate shingles per pass where no device signs: they stay in the cache of a core.
const SHINGLES: usize = 20_000;

/// The same beside a device: two of its loads of the largest size.
const DEVICE_SHINGLES: usize = 4_000_000;

/// The same beside a device that is emulated by the CPU.
const SOFTWARE_SHINGLES: usize = 200_000;

/// Bytes of text per pass.
const TEXT_BYTES: usize = 1 << 20;

/// Collects the cases of a plan.
pub(in crate::throughput) struct Builder<'a> {
    pub(super) axes: Axes,
    pub(super) targets: Vec<ComputeTarget>,
    pub(super) corpus: &'a BenchCorpus,
    /// Some of the corpus's texts.
    pub(super) sample: Arc<TextBatch>,
    /// By number of documents, shingles per document, and bytes per hash.
    pub(super) hashes: BTreeMap<(usize, usize, usize), Arc<RandomHashes>>,
    /// Checksums of the definition, by case without its target.
    definitions: BTreeMap<Case, u64>,
    /// By backend, hardware, scheme and slots. Each signer of a device holds buffers.
    signers: BTreeMap<(String, String, String, usize), Arc<dyn Signer>>,
    pub(super) known: BTreeSet<Case>,
    pub(super) entrants: Vec<Entrant<'a>>,
    pub(super) absences: Vec<Absence>,
}

impl<'a> Builder<'a> {
    pub(in crate::throughput) fn new(
        plan: &Plan,
        targets: &[ComputeTarget],
        corpus: &'a BenchCorpus,
    ) -> Result<Self> {
        Ok(Builder {
            sample: Arc::new(sample(&corpus.texts, TEXT_BYTES)),
            corpus,
            hashes: BTreeMap::new(),
            definitions: BTreeMap::new(),
            signers: BTreeMap::new(),
            known: BTreeSet::new(),
            entrants: Vec::new(),
            absences: Vec::new(),
            axes: Axes::of(plan)?,
            targets: targets.to_vec(),
        })
    }

    /// The fastest instructions of the CPU; the last target if `simd` is not measured.
    pub(super) fn best(&self) -> Option<ComputeTarget> {
        let is_simd = |target: &&ComputeTarget| target.backend == Backend::Simd;
        let best = self.targets.iter().rfind(is_simd);
        best.or(self.targets.last()).cloned()
    }

    /// The targets, each on its numbers of threads: those of the CPU on the fewest, and devices, which all threads feed,
    /// on the most. `on_both` puts devices and the best of the CPU on both, and a device beside it puts the latter there.
    pub(in crate::throughput) fn ways(&self, on_both: bool) -> Vec<(ComputeTarget, u32)> {
        let (least, most) = (self.axes.least_threads(), self.axes.most_threads());
        let has_device = self.targets.iter().any(ComputeTarget::has_device);
        let best = self.best();
        let mut ways = Vec::new();
        for target in &self.targets {
            let is_best = best.as_ref().is_some_and(|best| best.is_same(target));
            let on_least = !target.has_device() || on_both;
            let on_most = target.has_device() || is_best && (has_device || on_both);
            if on_least {
                ways.push((target.clone(), least));
            }
            if on_most && !(on_least && least == most) {
                ways.push((target.clone(), most));
            }
        }
        ways
    }

    /// Whether a target is slower instructions of the CPU, which a short measurement includes for few cases only.
    pub(super) fn is_skipped(&self, target: &ComputeTarget) -> bool {
        let is_slower = || self.best().is_some_and(|best| !best.is_same(target));
        self.axes.effort == Effort::Quick && target.isa().is_some() && is_slower()
    }

    /// Approximate shingles per pass over random hashes: the same for all targets, so that all sign the same documents.
    pub(in crate::throughput) fn pass_shingles(&self) -> usize {
        let devices = || self.targets.iter().filter(|target| target.has_device());
        match (devices().count(), devices().any(|it| it.is_software)) {
            (0, _) => SHINGLES,
            (_, true) => SOFTWARE_SHINGLES,
            (_, false) => DEVICE_SHINGLES,
        }
    }

    /// The signer of a target, which all its cases with this scheme and number of slots share.
    pub(super) fn signer(
        &mut self,
        target: &ComputeTarget,
        scheme: &Scheme,
    ) -> Result<Arc<dyn Signer>> {
        let (backend, hardware) = (target.backend.to_string(), target.name.clone());
        let key = (backend, hardware, scheme.to_string(), scheme.num_perm());
        if let Some(signer) = self.signers.get(&key) {
            return Ok(signer.clone());
        }
        let signer: Arc<dyn Signer> = Arc::from(target.signer(scheme)?);
        self.signers.insert(key, signer.clone());
        Ok(signer)
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
        let absence = target.absence_of(scheme);
        let supports = absence.is_none();
        if let Some(Absence { what, why }) = absence {
            self.absent(what, why);
        }
        supports
    }

    /// The checksum of the definition's signatures, computed once for all targets.
    pub(super) fn expected_checksum(
        &mut self,
        run: &TimedRun,
        scheme: &Scheme,
        sets: &ShingleSets<'_>,
    ) -> Result<u64> {
        let anywhere = run.case().anywhere();
        if let Some(known) = self.definitions.get(&anywhere) {
            return Ok(*known);
        }
        let checksum = sign::expected_checksum(scheme, sets)?;
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
    if unit.takes_size() {
        format!("{unit} {} of {}", shingling.size, corpus.name)
    } else {
        format!("{unit} of {}", corpus.name)
    }
}
