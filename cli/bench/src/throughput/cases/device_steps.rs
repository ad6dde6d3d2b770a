//! The steps of a load on a device: upload, kernel and readback.

use std::sync::Arc;

use super::builder::{Builder, input_name, run_of_scheme, updates};
use super::hashes::{SigningCase, run_of};
use crate::targets::ComputeTarget;
use crate::throughput::device::{DeviceStep, Step};
use crate::throughput::sign::RandomHashes;
use crate::{Stage, TimedRun};
use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::internals::DeviceLoad;
use simgpu::pipeline::{Shingler, Shingling};
use simgpu::scheme::{Scheme, Width};

impl Builder<'_> {
    /// Adds the steps of one load of random hashes, if the target is a device.
    pub(super) fn add_steps(
        &mut self,
        target: &ComputeTarget,
        case: SigningCase<'_>,
    ) -> Result<()> {
        let scheme = Scheme::named(case.scheme)?.with_num_perm(case.num_perm)?;
        if target.backend != Backend::Gpu || !self.supports(target, &scheme) {
            return Ok(());
        }
        let hashes = self.random(&scheme, case);
        let load = DeviceLoad::from_sets(&scheme, &target.hardware.gpu, &hashes.sets()?)?;
        let run = TimedRun {
            documents: load.documents() as u64,
            threads: 1,
            updates: updates(&scheme, load.shingles()),
            ..run_of(Stage::Kernel, target, &scheme, case)
        };
        let width = scheme.family().hash_width();
        let load_hashes = RandomHashes::new(load.documents(), case.length, width);
        let expected = self.expected_checksum(&run, &scheme, &load_hashes.sets()?)?;
        self.add_steps_of(load, &run, expected);
        Ok(())
    }

    /// Adds the steps of one load of texts, if the target is a device, which hashes texts itself if hashes have 32 bits.
    pub(super) fn add_text_steps(
        &mut self,
        target: &ComputeTarget,
        scheme: &Scheme,
        shingling: &Shingling,
    ) -> Result<()> {
        let hashes_texts = scheme.family().hash_width() == Width::U32;
        if target.backend != Backend::Gpu || !hashes_texts || !self.supports(target, scheme) {
            return Ok(());
        }
        let shingler = Shingler::new(shingling.clone(), scheme, None)?;
        let gpu = &target.hardware.gpu;
        let load = DeviceLoad::from_texts(scheme, gpu, &*self.sample, &shingler)?;
        let texts = || self.sample.iter().take(load.documents());
        let bytes: usize = texts().map(str::len).sum();
        let definition = shingler.shingle(&texts().collect::<Vec<_>>());
        let documents = load.documents() as u64;
        let run = TimedRun {
            input: input_name(shingling, self.corpus),
            documents,
            shingles: load.shingles() / documents.max(1),
            updates: updates(scheme, load.shingles()),
            text_bytes: bytes as u64,
            ..run_of_scheme(Stage::Kernel, target, scheme)
        };
        let expected = self.expected_checksum(&run, scheme, &definition.sets())?;
        self.add_steps_of(load, &run, expected);
        Ok(())
    }

    /// Adds the steps of a load.
    fn add_steps_of(&mut self, load: DeviceLoad, run: &TimedRun, expected: u64) {
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
