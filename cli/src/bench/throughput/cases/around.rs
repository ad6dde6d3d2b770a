//! The stages around signing, and whole runs.

use std::sync::Arc;

use super::{Builder, of_scheme, shingles_of};
use crate::bench::throughput::corpus::{Dedup, Files};
use crate::bench::throughput::places::Place;
use crate::bench::throughput::stages::{Band, Bucket, Verify, random_signatures};
use crate::bench::throughput::{THRESHOLD, blank};
use crate::bench::{Run, Stage};
use simgpu::Result;
use simgpu::pipeline::{Banding, Shingling};
use simgpu::scheme::Scheme;

/// Slots of all signatures that are banded at most: 256 MiB.
const MOST_SLOTS: u64 = 1 << 26;

impl<'a> Builder<'a> {
    pub(super) fn add_stages(&mut self) -> Result<()> {
        let scheme = Scheme::default().with_num_perm(self.extent.num_perm)?;
        let banding = Banding::for_scheme(THRESHOLD, &scheme)?;
        let threads = self.extent.least_threads();
        for documents in self.extent.scope.signed {
            let slots = u64::from(*documents) * u64::from(self.extent.num_perm);
            if slots > MOST_SLOTS {
                self.absent(
                    format!("{documents} signatures of {} slots", self.extent.num_perm),
                    "they would take too much memory; give a smaller --num-perm".to_owned(),
                );
                continue;
            }
            let signatures = Arc::new(random_signatures(*documents, scheme.num_perm()));
            let run = Run {
                num_perm: self.extent.num_perm,
                input: "random signatures".to_owned(),
                documents: u64::from(*documents),
                threads,
                ..blank(Stage::Band)
            };
            let of_verify = Run {
                stage: Stage::Verify,
                ..run.clone()
            };
            self.add(run, None, Band::new(signatures.clone(), banding));
            self.add(of_verify, None, Verify::new(signatures));
        }
        for documents in self.extent.scope.bucketed {
            let run = Run {
                input: "random keys".to_owned(),
                documents: u64::from(*documents),
                ..blank(Stage::Bucket)
            };
            self.add(run, None, Bucket::new(*documents)?);
        }
        Ok(())
    }

    /// The corpus on one thread and on all, growing parts of it, and the corpus by devices.
    pub(super) fn add_dedup(&mut self) -> Result<()> {
        let (Some(best), Some(scheme)) = (self.best(), self.extent.swept.first()) else {
            return Ok(());
        };
        let scheme = Scheme::named(scheme)?.with_num_perm(self.extent.num_perm)?;
        let (least, most) = (self.extent.least_threads(), self.extent.most_threads());
        let texts = &self.corpus.texts;
        let all = Arc::new(Files::All(&self.corpus.inputs));
        for part in (1..=self.extent.scope.parts).rev() {
            let documents = texts.len() >> part;
            if documents == 0 {
                continue;
            }
            let text = || texts.iter().take(documents);
            let bytes = text().map(str::len).sum();
            let files = Arc::new(Files::of_texts(text())?);
            self.add_dedup_of(&best, &scheme, (files, documents, bytes), most)?;
        }
        let all = || (all.clone(), texts.len(), self.corpus.text_bytes());
        self.add_dedup_of(&best, &scheme, all(), least)?;
        self.add_dedup_of(&best, &scheme, all(), most)?;
        let devices = self.places.clone().into_iter();
        for device in devices.filter(Place::has_device) {
            self.add_dedup_of(&device, &scheme, all(), most)?;
        }
        Ok(())
    }

    fn add_dedup_of(
        &mut self,
        place: &Place,
        scheme: &Scheme,
        (files, documents, text_bytes): (Arc<Files<'a>>, usize, usize),
        threads: u32,
    ) -> Result<()> {
        if !self.computes(place, scheme) {
            return Ok(());
        }
        let run = Run {
            input: shingles_of(&Shingling::of_scheme(scheme), self.corpus),
            documents: documents as u64,
            threads,
            text_bytes: text_bytes as u64,
            ..of_scheme(Stage::Dedup, place, scheme)
        };
        let workload = Dedup::new(files, scheme.clone(), place.signer(scheme)?)?;
        self.add(run, None, workload);
        Ok(())
    }
}
