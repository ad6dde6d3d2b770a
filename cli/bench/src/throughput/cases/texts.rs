//! From texts: signatures on every target, and shingles of every unit.

use super::builder::{Builder, input_name, run_of_scheme, updates};
use crate::targets::ComputeTarget;
use crate::throughput::sign::{BufferedSigner, SignTexts};
use crate::throughput::stages::Shingle;
use crate::{Effort, Stage, TimedRun};
use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::pipeline::{Shingler, Shingling, StopWords, Unit};
use simgpu::scheme::Scheme;
use simgpu::simd::Isa;

impl Builder<'_> {
    pub(super) fn add_texts(&mut self) -> Result<()> {
        let (axes, mut ways) = (self.axes.clone(), self.ways(true));
        ways.retain(|(target, _)| !self.is_skipped(target));
        let is_quick = axes.effort == Effort::Quick;
        let schemes = match axes.effort {
            Effort::Full => axes.schemes.as_slice(),
            Effort::Quick | Effort::Usual => axes.swept.get(..1).unwrap_or_default(),
        };
        let units: &[Unit] = if is_quick {
            &[Unit::Words, Unit::Bytes]
        } else {
            &[Unit::Words, Unit::Bytes, Unit::Chars]
        };
        for scheme in schemes {
            let scheme = Scheme::named(scheme)?.with_num_perm(axes.num_perm)?;
            for unit in units {
                for (target, threads) in &ways {
                    self.add_text_signing(target, *threads, &scheme, &Shingling::of(unit.clone()))?;
                    if *unit == Unit::Bytes {
                        self.add_text_steps(target, &scheme, &Shingling::of(unit.clone()))?;
                    }
                }
            }
        }
        let isas = if is_quick {
            axes.isas.rchunks(1).next().unwrap_or_default()
        } else {
            axes.isas.as_slice()
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

    fn add_text_signing(
        &mut self,
        target: &ComputeTarget,
        threads: u32,
        scheme: &Scheme,
        shingling: &Shingling,
    ) -> Result<()> {
        if !self.supports(target, scheme) {
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
        let definition = shingler.clone().with_isa(portable).shingle(&*self.sample);
        let shingles = definition.sets().hashes().len() as u64;
        let isa = target.isa().unwrap_or(match target.backend {
            Backend::Scalar => portable,
            _ => Isa::best(),
        });
        let run = TimedRun {
            input: input_name(shingling, self.corpus),
            threads,
            updates: updates(scheme, shingles),
            ..self.with_sample_sizes(run_of_scheme(Stage::SignTexts, target, scheme), shingles)
        };
        let expected = self.expected_checksum(&run, scheme, &definition.sets())?;
        let workload = SignTexts {
            texts: self.sample.clone(),
            shingler: shingler.with_isa(isa),
            signer: BufferedSigner::new(self.signer(target, scheme)?, self.sample.len()),
        };
        self.add(run, Some(expected), workload);
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
        let run = TimedRun {
            hardware: isa.to_string(),
            input: input_name(shingling, self.corpus),
            ..self.with_sample_sizes(TimedRun::unmeasured(Stage::Shingle), shingles)
        };
        let workload = Shingle::new(self.sample.clone(), shingler.with_isa(isa));
        self.add(run, Some(expected), workload);
        Ok(())
    }

    /// The run with the sizes of the sample.
    fn with_sample_sizes(&self, run: TimedRun, shingles: u64) -> TimedRun {
        let documents = self.sample.len() as u64;
        let bytes: usize = self.sample.iter().map(str::len).sum();
        TimedRun {
            documents,
            shingles: shingles / documents.max(1),
            text_bytes: bytes as u64,
            ..run
        }
    }
}
