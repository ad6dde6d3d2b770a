//! From text: signatures at every place, and shingles of every unit.

use super::{Builder, of_scheme, shingles_of, updates};
use crate::bench::throughput::blank;
use crate::bench::throughput::places::Place;
use crate::bench::throughput::sign::{SignTexts, Signing};
use crate::bench::throughput::stages::Shingle;
use crate::bench::{Effort, Run, Stage};
use simgpu::Result;
use simgpu::backend::Backend;
#[cfg(feature = "gpu")]
use simgpu::internals::DeviceLoad;
use simgpu::pipeline::{Shingler, Shingling, StopWords, Unit};
use simgpu::scheme::Scheme;
#[cfg(feature = "gpu")]
use simgpu::scheme::Width;
use simgpu::simd::Isa;

impl Builder<'_> {
    pub(super) fn add_texts(&mut self) -> Result<()> {
        let (extent, places) = (self.extent.clone(), self.places.clone());
        let is_quick = extent.effort == Effort::Quick;
        let best = self.best().and_then(|best| best.isa());
        let schemes = match extent.effort {
            Effort::Full => extent.schemes.as_slice(),
            Effort::Quick | Effort::Usual => extent.swept.get(..1).unwrap_or_default(),
        };
        let units: &[Unit] = match is_quick {
            true => &[Unit::Words, Unit::Bytes],
            false => &[Unit::Words, Unit::Bytes, Unit::Chars],
        };
        for scheme in schemes {
            let scheme = Scheme::named(scheme)?.with_num_perm(extent.num_perm)?;
            for unit in units {
                for place in &places {
                    let is_best = place.has_device() || place.isa() == best;
                    if is_best || !is_quick {
                        self.add_text_signing(place, &scheme, &Shingling::of(unit.clone()))?;
                    }
                    #[cfg(feature = "gpu")]
                    if place.backend == Backend::Gpu && *unit == Unit::Bytes {
                        self.add_text_steps(place, &scheme, &Shingling::of(unit.clone()))?;
                    }
                }
            }
        }
        let isas = match is_quick {
            true => extent.isas.rchunks(1).next().unwrap_or_default(),
            false => extent.isas.as_slice(),
        };
        for unit in [
            Unit::Bytes,
            Unit::Chars,
            Unit::Words,
            Unit::StopWords(StopWords::english()),
            Unit::Pieces,
        ] {
            for isa in isas {
                self.add_shingling(&Shingling::of(unit.clone()), *isa)?;
            }
        }
        Ok(())
    }

    /// On one thread and on all, but for a device, which is there for all, and instructions that are not the
    /// best.
    fn add_text_signing(
        &mut self,
        place: &Place,
        scheme: &Scheme,
        shingling: &Shingling,
    ) -> Result<()> {
        if !self.computes(place, scheme) {
            return Ok(());
        }
        let shingler = match Shingler::new(shingling.clone(), scheme, None) {
            Ok(shingler) => shingler,
            Err(error) => {
                self.absent(format!("{} by {scheme}", shingling.unit), error.to_string());
                return Ok(());
            }
        };
        let portable = Isa::available().first().copied().unwrap_or(Isa::best());
        let definition = shingler.clone().with_isa(portable).shingle(&self.sample);
        let shingles = definition.sets().hashes().len() as u64;
        let isa = place.isa().unwrap_or(match place.backend {
            Backend::Scalar => portable,
            _ => Isa::best(),
        });
        let shingler = shingler.with_isa(isa);
        let is_best = self.best().and_then(|best| best.isa()) == place.isa();
        let (least, most) = (self.extent.least_threads(), self.extent.most_threads());
        let threads = match (place.has_device(), is_best) {
            (true, _) => vec![most],
            (false, true) => vec![least, most],
            (false, false) => vec![least],
        };
        for threads in threads {
            let run = Run {
                input: shingles_of(shingling, self.corpus),
                threads,
                updates: updates(scheme, shingles),
                ..self.of_sample(of_scheme(Stage::SignTexts, place, scheme), shingles)
            };
            let expected = self.by_definition(&run, scheme, &definition.sets())?;
            let workload = SignTexts {
                texts: self.sample.clone(),
                shingler: shingler.clone(),
                signing: Signing::new(place.signer(scheme)?, self.sample.len()),
            };
            self.add(run, Some(expected), workload);
        }
        Ok(())
    }

    /// What a device does with one load of texts, which it hashes itself if hashes have 32 bits.
    #[cfg(feature = "gpu")]
    fn add_text_steps(
        &mut self,
        place: &Place,
        scheme: &Scheme,
        shingling: &Shingling,
    ) -> Result<()> {
        if scheme.family().hash_width() != Width::U32 || !self.computes(place, scheme) {
            return Ok(());
        }
        let shingler = Shingler::new(shingling.clone(), scheme, None)?;
        let gpu = &place.hardware.gpu;
        let load = DeviceLoad::of_texts(scheme, gpu, &self.sample, &shingler)?;
        let texts = || self.sample.iter().take(load.documents());
        let bytes: usize = texts().map(str::len).sum();
        let definition = shingler.shingle(&texts().collect());
        let documents = load.documents() as u64;
        let run = Run {
            input: shingles_of(shingling, self.corpus),
            documents,
            shingles: load.shingles() / documents.max(1),
            updates: updates(scheme, load.shingles()),
            text_bytes: bytes as u64,
            ..of_scheme(Stage::Kernel, place, scheme)
        };
        let expected = self.by_definition(&run, scheme, &definition.sets())?;
        self.add_steps_of(load, &run, expected);
        Ok(())
    }

    fn add_shingling(&mut self, shingling: &Shingling, isa: Isa) -> Result<()> {
        let shingler = Shingler::new(shingling.clone(), &Scheme::default(), None)?;
        let mut definition = Shingle::new(
            self.sample.clone(),
            shingler
                .clone()
                .with_isa(Isa::available().first().copied().unwrap_or(isa)),
        );
        let (shingles, expected) = definition.count_and_checksum()?;
        let run = Run {
            hardware: isa.to_string(),
            input: shingles_of(shingling, self.corpus),
            ..self.of_sample(blank(Stage::Shingle), shingles)
        };
        let workload = Shingle::new(self.sample.clone(), shingler.with_isa(isa));
        self.add(run, Some(expected), workload);
        Ok(())
    }

    /// A run over the sample.
    fn of_sample(&self, run: Run, shingles: u64) -> Run {
        let documents = self.sample.len() as u64;
        let bytes: usize = self.sample.iter().map(str::len).sum();
        Run {
            documents,
            shingles: shingles / documents.max(1),
            text_bytes: bytes as u64,
            ..run
        }
    }
}
