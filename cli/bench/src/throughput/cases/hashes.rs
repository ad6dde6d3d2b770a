//! Signing from random hashes: every target and scheme at one size, then other sizes, and threads.

use std::sync::Arc;

use super::builder::{Builder, run_of_scheme, updates};
use crate::targets::ComputeTarget;
use crate::throughput::sign::{BufferedSigner, RandomHashes, SignHashes};
use crate::{Stage, TimedRun};
use simgpu::Result;
use simgpu::scheme::Scheme;

/// Least approximate shingles per pass on every number of threads.
const SHARED_SHINGLES: usize = 1_000_000;

/// A scheme at one size on a number of threads.
#[derive(Clone, Copy)]
pub(super) struct SigningCase<'a> {
    pub(super) scheme: &'a str,
    pub(super) num_perm: u32,
    /// Shingles per document.
    pub(super) length: usize,
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
        let (axes, ways) = (self.axes.clone(), self.ways(false));
        let Some(best) = self.best() else {
            return Ok(());
        };
        let is_slower = |target: &ComputeTarget| !target.has_device() && !target.is_same(&best);
        for scheme in &axes.schemes {
            for (target, threads) in &ways {
                if self.is_skipped(target) && !axes.swept.contains(scheme) {
                    continue;
                }
                let case = self.case(scheme, *threads);
                self.add_signing(target, case)?;
                self.add_steps(target, case)?;
            }
        }
        for (i, scheme) in axes.swept.iter().enumerate() {
            // Slower instructions would take most of the time, so they run one swept scheme.
            let is_swept = |target: &ComputeTarget| i == 0 || !is_slower(target);
            for (target, threads) in ways.iter().filter(|(target, _)| is_swept(target)) {
                for (length, num_perm) in axes.sizes() {
                    let case = SigningCase {
                        length,
                        num_perm,
                        ..self.case(scheme, *threads)
                    };
                    self.add_signing(target, case)?;
                }
            }
        }
        let devices = self.targets.clone().into_iter();
        let devices = devices.filter(ComputeTarget::has_device);
        self.add_threads([best].into_iter().chain(devices))
    }

    /// Adds one scheme on every number of threads, if there are several.
    fn add_threads(&mut self, targets: impl Iterator<Item = ComputeTarget>) -> Result<()> {
        let axes = self.axes.clone();
        let (Some(scheme), true) = (axes.swept.first(), axes.threads.len() > 1) else {
            return Ok(());
        };
        for target in targets {
            for threads in &axes.threads {
                let case = SigningCase {
                    shingles: self.pass_shingles().max(SHARED_SHINGLES),
                    ..self.case(scheme, *threads)
                };
                self.add_signing(&target, case)?;
            }
        }
        Ok(())
    }

    fn case<'s>(&self, scheme: &'s str, threads: u32) -> SigningCase<'s> {
        SigningCase {
            scheme,
            num_perm: self.axes.num_perm,
            length: self.axes.length,
            shingles: self.pass_shingles(),
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
        let expected = self.expected_checksum(&run, &scheme, &hashes.sets()?)?;
        let workload = SignHashes {
            hashes,
            signer: BufferedSigner::new(self.signer(target, &scheme)?, case.documents()),
            vectors: target.isa().map(|isa| (scheme.family(), isa, case.length)),
        };
        self.add(run, Some(expected), workload);
        Ok(())
    }

    pub(super) fn random(&mut self, scheme: &Scheme, case: SigningCase<'_>) -> Arc<RandomHashes> {
        let (documents, width) = (case.documents(), scheme.family().hash_width());
        let random = || Arc::new(RandomHashes::new(documents, case.length, width));
        let key = (documents, case.length, width.bytes());
        self.hashes.entry(key).or_insert_with(random).clone()
    }
}

pub(super) fn run_of(
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
