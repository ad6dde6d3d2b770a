//! Signing from random hashes: every place and scheme at one size, then other sizes, and threads.

use std::sync::Arc;

use super::{Builder, of_scheme, updates};
#[cfg(feature = "gpu")]
use crate::bench::throughput::device::{Device, Step};
use crate::bench::throughput::places::Place;
use crate::bench::throughput::sign::{RandomHashes, SignHashes, Signing};
use crate::bench::{Effort, Run, Stage};
use simgpu::Result;
#[cfg(feature = "gpu")]
use simgpu::backend::Backend;
#[cfg(feature = "gpu")]
use simgpu::internals::DeviceLoad;
use simgpu::scheme::Scheme;

/// Shingles of a pass, about: they stay in the cache of a core.
const SHINGLES: usize = 20_000;

/// The same where threads share them.
const SHARED_SHINGLES: usize = 1_000_000;

/// The same for a device, so that several loads are on their way.
const DEVICE_SHINGLES: usize = 16_000_000;

/// The same for a device that the CPU plays.
const SOFTWARE_SHINGLES: usize = 200_000;

/// What is signed, and how.
#[derive(Clone, Copy)]
struct Shape<'a> {
    scheme: &'a str,
    num_perm: u32,
    /// Shingles of a document.
    length: usize,
    /// Shingles of a pass, about.
    shingles: usize,
    threads: u32,
}

impl Shape<'_> {
    fn documents(&self) -> usize {
        (self.shingles / self.length).max(2)
    }
}

impl Builder<'_> {
    pub(super) fn add_hashes(&mut self) -> Result<()> {
        let (extent, places) = (self.extent.clone(), self.places.clone());
        let Some(best) = self.best() else {
            return Ok(());
        };
        for scheme in &extent.schemes {
            for place in &places {
                // A short measurement has the slower instructions of few schemes.
                let is_slower = place.isa().is_some() && place.isa() != best.isa();
                let is_left_out = is_slower && extent.effort == Effort::Quick;
                if is_left_out && !extent.swept.contains(scheme) {
                    continue;
                }
                let shape = self.shape(scheme, place);
                self.add_signing(place, shape)?;
                #[cfg(feature = "gpu")]
                if place.backend == Backend::Gpu {
                    self.add_steps(place, shape)?;
                }
            }
        }
        for (i, scheme) in extent.swept.iter().enumerate() {
            // Each signer of a device keeps its buffers.
            let devices = places.iter().filter(|place| place.has_device() && i == 0);
            for place in devices.chain([&best]) {
                for (length, num_perm) in extent.sizes() {
                    let shape = Shape {
                        length,
                        num_perm,
                        ..self.shape(scheme, place)
                    };
                    self.add_signing(place, shape)?;
                }
            }
        }
        self.add_threads(&best)
    }

    /// One scheme on every number of threads, if there are several.
    fn add_threads(&mut self, best: &Place) -> Result<()> {
        let extent = self.extent.clone();
        let (Some(scheme), true) = (extent.swept.first(), extent.threads.len() > 1) else {
            return Ok(());
        };
        for threads in extent.threads {
            let shape = Shape {
                threads,
                shingles: SHARED_SHINGLES,
                ..self.shape(scheme, best)
            };
            self.add_signing(best, shape)?;
        }
        Ok(())
    }

    fn shape<'s>(&self, scheme: &'s str, place: &Place) -> Shape<'s> {
        let (shingles, threads) = match (place.has_device(), place.is_software) {
            (false, _) => (SHINGLES, self.extent.least_threads()),
            (true, false) => (DEVICE_SHINGLES, self.extent.most_threads()),
            (true, true) => (SOFTWARE_SHINGLES, self.extent.most_threads()),
        };
        Shape {
            scheme,
            num_perm: self.extent.num_perm,
            length: self.extent.length,
            shingles,
            threads,
        }
    }

    fn add_signing(&mut self, place: &Place, shape: Shape<'_>) -> Result<()> {
        let scheme = Scheme::named(shape.scheme)?.with_num_perm(shape.num_perm)?;
        let run = run_of(Stage::Sign, place, &scheme, shape);
        if self.known.contains(&run.case()) || !self.computes(place, &scheme) {
            return Ok(());
        }
        let hashes = self.random(&scheme, shape);
        let expected = self.by_definition(&run, &scheme, &hashes.sets()?)?;
        let workload = SignHashes {
            hashes,
            signing: Signing::new(place.signer(&scheme)?, shape.documents()),
            vectors: place.isa().map(|isa| (scheme.family(), isa, shape.length)),
        };
        self.add(run, Some(expected), workload);
        Ok(())
    }

    fn random(&mut self, scheme: &Scheme, shape: Shape<'_>) -> Arc<RandomHashes> {
        let (documents, width) = (shape.documents(), scheme.family().hash_width());
        let random = || Arc::new(RandomHashes::new(documents, shape.length, width));
        let key = (documents, shape.length, width.bytes());
        self.hashes.entry(key).or_insert_with(random).clone()
    }

    /// What a device does with one load, step by step.
    #[cfg(feature = "gpu")]
    fn add_steps(&mut self, place: &Place, shape: Shape<'_>) -> Result<()> {
        let scheme = Scheme::named(shape.scheme)?.with_num_perm(shape.num_perm)?;
        if !self.computes(place, &scheme) {
            return Ok(());
        }
        let hashes = self.random(&scheme, shape);
        let load = DeviceLoad::of_sets(&scheme, &place.hardware.gpu, &hashes.sets()?)?;
        let run = Run {
            documents: load.documents() as u64,
            threads: 1,
            updates: updates(&scheme, load.shingles()),
            ..run_of(Stage::Kernel, place, &scheme, shape)
        };
        let width = scheme.family().hash_width();
        let of_load = RandomHashes::new(load.documents(), shape.length, width);
        let expected = self.by_definition(&run, &scheme, &of_load.sets()?)?;
        self.add_steps_of(load, &run, expected);
        Ok(())
    }

    /// The steps of a load.
    #[cfg(feature = "gpu")]
    pub(super) fn add_steps_of(&mut self, load: DeviceLoad, run: &Run, expected: u64) {
        let load = Arc::new(load);
        for (stage, step) in [
            (Stage::Upload, Step::Upload),
            (Stage::Kernel, Step::Kernel),
            (Stage::Readback, Step::Readback),
        ] {
            let run = Run {
                stage,
                ..run.clone()
            };
            let workload = Device {
                load: load.clone(),
                step,
                rows: Vec::with_capacity(load.row_bytes()),
            };
            self.add(run, Some(expected), workload);
        }
    }
}

fn run_of(stage: Stage, place: &Place, scheme: &Scheme, shape: Shape<'_>) -> Run {
    let documents = shape.documents();
    Run {
        input: "random hashes".to_owned(),
        shingles: shape.length as u64,
        documents: documents as u64,
        threads: shape.threads,
        updates: updates(scheme, (documents * shape.length) as u64),
        ..of_scheme(stage, place, scheme)
    }
}
