//! Signing from random hashes: every target and scheme at one size, then other sizes, and threads.

use std::sync::Arc;

use super::builder::{Builder, run_of_scheme, updates};
#[cfg(feature = "gpu")]
use crate::bench::throughput::device::{DeviceStep, Step};
use crate::bench::throughput::sign::{BufferedSigner, RandomHashes, SignHashes};
use crate::bench::throughput::targets::ComputeTarget;
use crate::bench::{Effort, Stage, TimedRun};
use simgpu::Result;
#[cfg(feature = "gpu")]
use simgpu::backend::Backend;
#[cfg(feature = "gpu")]
use simgpu::internals::DeviceLoad;
use simgpu::scheme::Scheme;

/// Approximate shingles per pass: they stay in the cache of a core.
const SHINGLES: usize = 20_000;

/// Approximate shingles per pass shared by several threads.
const SHARED_SHINGLES: usize = 1_000_000;

/// Approximate shingles per pass of a device: several loads are in flight.
const DEVICE_SHINGLES: usize = 16_000_000;

/// Approximate shingles per pass of a device emulated by the CPU.
const SOFTWARE_SHINGLES: usize = 200_000;

/// A scheme at one size on a number of threads.
#[derive(Clone, Copy)]
struct SigningCase<'a> {
    scheme: &'a str,
    num_perm: u32,
    /// Shingles per document.
    length: usize,
    /// Approximate shingles per pass.
    shingles: usize,
    threads: u32,
}

impl SigningCase<'_> {
    fn documents(&self) -> usize {
        (self.shingles / self.length).max(2)
    }
}

impl Builder<'_> {
    pub(super) fn add_hashes(&mut self) -> Result<()> {
        let (axes, targets) = (self.axes.clone(), self.targets.clone());
        let Some(best) = self.best() else {
            return Ok(());
        };
        for scheme in &axes.schemes {
            for target in &targets {
                // A short measurement includes slower instructions for few schemes only.
                let is_slower = target.isa().is_some() && target.isa() != best.isa();
                let is_skipped = is_slower && axes.effort == Effort::Quick;
                if is_skipped && !axes.swept.contains(scheme) {
                    continue;
                }
                let case = self.case(scheme, target);
                self.add_signing(target, case)?;
                #[cfg(feature = "gpu")]
                if target.backend == Backend::Gpu {
                    self.add_steps(target, case)?;
                }
            }
        }
        for (i, scheme) in axes.swept.iter().enumerate() {
            // Each signer of a device holds buffers, so devices run one swept scheme.
            let devices = targets
                .iter()
                .filter(|target| target.has_device() && i == 0);
            for target in devices.chain([&best]) {
                for (length, num_perm) in axes.sizes() {
                    let case = SigningCase {
                        length,
                        num_perm,
                        ..self.case(scheme, target)
                    };
                    self.add_signing(target, case)?;
                }
            }
        }
        self.add_threads(&best)
    }

    /// Adds one scheme on every number of threads, if there are several.
    fn add_threads(&mut self, best: &ComputeTarget) -> Result<()> {
        let axes = self.axes.clone();
        let (Some(scheme), true) = (axes.swept.first(), axes.threads.len() > 1) else {
            return Ok(());
        };
        for threads in axes.threads {
            let case = SigningCase {
                threads,
                shingles: SHARED_SHINGLES,
                ..self.case(scheme, best)
            };
            self.add_signing(best, case)?;
        }
        Ok(())
    }

    fn case<'s>(&self, scheme: &'s str, target: &ComputeTarget) -> SigningCase<'s> {
        let (shingles, threads) = match (target.has_device(), target.is_software) {
            (false, _) => (SHINGLES, self.axes.least_threads()),
            (true, false) => (DEVICE_SHINGLES, self.axes.most_threads()),
            (true, true) => (SOFTWARE_SHINGLES, self.axes.most_threads()),
        };
        SigningCase {
            scheme,
            num_perm: self.axes.num_perm,
            length: self.axes.length,
            shingles,
            threads,
        }
    }

    fn add_signing(&mut self, target: &ComputeTarget, case: SigningCase<'_>) -> Result<()> {
        let scheme = Scheme::named(case.scheme)?.with_num_perm(case.num_perm)?;
        let run = run_of(Stage::Sign, target, &scheme, case);
        if self.known.contains(&run.case()) || !self.supports(target, &scheme) {
            return Ok(());
        }
        let hashes = self.random(&scheme, case);
        let expected = self.by_definition(&run, &scheme, &hashes.sets()?)?;
        let workload = SignHashes {
            hashes,
            signer: BufferedSigner::new(target.signer(&scheme)?, case.documents()),
            vectors: target.isa().map(|isa| (scheme.family(), isa, case.length)),
        };
        self.add(run, Some(expected), workload);
        Ok(())
    }

    fn random(&mut self, scheme: &Scheme, case: SigningCase<'_>) -> Arc<RandomHashes> {
        let (documents, width) = (case.documents(), scheme.family().hash_width());
        let random = || Arc::new(RandomHashes::new(documents, case.length, width));
        let key = (documents, case.length, width.bytes());
        self.hashes.entry(key).or_insert_with(random).clone()
    }

    /// Adds the steps of one load on a device.
    #[cfg(feature = "gpu")]
    fn add_steps(&mut self, target: &ComputeTarget, case: SigningCase<'_>) -> Result<()> {
        let scheme = Scheme::named(case.scheme)?.with_num_perm(case.num_perm)?;
        if !self.supports(target, &scheme) {
            return Ok(());
        }
        let hashes = self.random(&scheme, case);
        let load = DeviceLoad::of_sets(&scheme, &target.hardware.gpu, &hashes.sets()?)?;
        let run = TimedRun {
            documents: load.documents() as u64,
            threads: 1,
            updates: updates(&scheme, load.shingles()),
            ..run_of(Stage::Kernel, target, &scheme, case)
        };
        let width = scheme.family().hash_width();
        let of_load = RandomHashes::new(load.documents(), case.length, width);
        let expected = self.by_definition(&run, &scheme, &of_load.sets()?)?;
        self.add_steps_of(load, &run, expected);
        Ok(())
    }

    /// Adds the steps of a load.
    #[cfg(feature = "gpu")]
    pub(super) fn add_steps_of(&mut self, load: DeviceLoad, run: &TimedRun, expected: u64) {
        let load = Arc::new(load);
        for (stage, step) in [
            (Stage::Upload, Step::Upload),
            (Stage::Kernel, Step::Kernel),
            (Stage::Readback, Step::Readback),
        ] {
            let run = TimedRun {
                stage,
                ..run.clone()
            };
            let workload = DeviceStep {
                load: load.clone(),
                step,
                rows: Vec::with_capacity(load.row_bytes()),
            };
            self.add(run, Some(expected), workload);
        }
    }
}

fn run_of(
    stage: Stage,
    target: &ComputeTarget,
    scheme: &Scheme,
    case: SigningCase<'_>,
) -> TimedRun {
    let documents = case.documents();
    TimedRun {
        input: "random hashes".to_owned(),
        shingles: case.length as u64,
        documents: documents as u64,
        threads: case.threads,
        updates: updates(scheme, (documents * case.length) as u64),
        ..run_of_scheme(stage, target, scheme)
    }
}
