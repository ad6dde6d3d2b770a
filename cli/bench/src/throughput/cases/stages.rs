//! The stages around signing, and whole runs.

use std::sync::Arc;

use super::builder::{Builder, input_name, run_of_scheme};
use crate::targets::ComputeTarget;
use crate::throughput::dedup::{Dedup, Files, THRESHOLD};
use crate::throughput::stages::{Band, Bucket, Verify, random_signatures};
use crate::{Stage, TimedRun};
use simgpu::Result;
use simgpu::pipeline::{Banding, Shingling};
use simgpu::scheme::Scheme;

/// Most slots of all signatures to band: 256 MiB.
const MOST_SLOTS: u64 = 1 << 26;

/// Documents at the start of the corpus, as files.
#[derive(Clone)]
struct CorpusPart<'a> {
    files: Arc<Files<'a>>,
    documents: usize,
    text_bytes: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn add_stages(&mut self) -> Result<()> {
        let scheme = Scheme::default().with_num_perm(self.axes.num_perm)?;
        let banding = Banding::for_scheme(THRESHOLD, &scheme)?;
        let threads = self.axes.least_threads();
        for documents in self.axes.scope.signed {
            let slots = u64::from(*documents) * u64::from(self.axes.num_perm);
            if slots > MOST_SLOTS {
                self.absent(
                    format!("{documents} signatures of {} slots", self.axes.num_perm),
                    "they need too much memory; lower --num-perm".to_owned(),
                );
                continue;
            }
            let signatures = Arc::new(random_signatures(*documents, scheme.num_perm()));
            let run = TimedRun {
                num_perm: self.axes.num_perm,
                input: "random signatures".to_owned(),
                documents: u64::from(*documents),
                threads,
                ..TimedRun::unmeasured(Stage::Band)
            };
            let verify = TimedRun {
                stage: Stage::Verify,
                ..run.clone()
            };
            self.add(run, None, Band::new(signatures.clone(), banding));
            self.add(verify, None, Verify::new(signatures));
        }
        for documents in self.axes.scope.bucketed {
            let run = TimedRun {
                input: "random keys".to_owned(),
                documents: u64::from(*documents),
                ..TimedRun::unmeasured(Stage::Bucket)
            };
            self.add(run, None, Bucket::new(*documents)?);
        }
        Ok(())
    }

    /// Adds growing parts of the corpus on the best of the CPU and on devices, then the corpus on every target.
    pub(super) fn add_dedup(&mut self) -> Result<()> {
        let (Some(best), Some(scheme)) = (self.best(), self.axes.swept.first()) else {
            return Ok(());
        };
        let scheme = Scheme::named(scheme)?.with_num_perm(self.axes.num_perm)?;
        let most = self.axes.most_threads();
        let texts = &self.corpus.texts;
        let all = Arc::new(Files::All(&self.corpus.inputs));
        for part in (1..=self.axes.scope.parts).rev() {
            let documents = texts.len() >> part;
            if documents == 0 {
                continue;
            }
            let text = || texts.iter().take(documents);
            let bytes = text().map(str::len).sum();
            let files = Arc::new(Files::write_texts(text())?);
            let devices = self.targets.clone().into_iter();
            let devices = devices.filter(ComputeTarget::has_device);
            for target in [best.clone()].into_iter().chain(devices) {
                let part = CorpusPart {
                    files: files.clone(),
                    documents,
                    text_bytes: bytes,
                };
                self.add_dedup_run(&target, &scheme, part, most)?;
            }
        }
        let all = CorpusPart {
            files: all,
            documents: texts.len(),
            text_bytes: self.corpus.text_bytes(),
        };
        let mut ways = self.ways(true);
        ways.retain(|(target, _)| !self.is_skipped(target));
        for (target, threads) in ways {
            self.add_dedup_run(&target, &scheme, all.clone(), threads)?;
        }
        Ok(())
    }

    fn add_dedup_run(
        &mut self,
        target: &ComputeTarget,
        scheme: &Scheme,
        part: CorpusPart<'a>,
        threads: u32,
    ) -> Result<()> {
        if !self.supports(target, scheme) {
            return Ok(());
        }
        let run = TimedRun {
            input: input_name(&Shingling::of_scheme(scheme), self.corpus),
            documents: part.documents as u64,
            threads,
            text_bytes: part.text_bytes as u64,
            ..run_of_scheme(Stage::Dedup, target, scheme)
        };
        let workload = Dedup::new(part.files, scheme.clone(), target.signer(scheme)?)?;
        self.add(run, None, workload);
        Ok(())
    }
}
