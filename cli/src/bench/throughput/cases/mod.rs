//! The cases of a plan: for each what is measured, and what it must come to.

mod hashes;

mod texts;

mod around;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::corpus::sample;
use super::extent::Extent;
use super::places::{Place, places};
use super::runner::{Entrant, Rounds, Workload};
use super::sign::RandomHashes;
use super::{blank, sign};
use crate::bench::record::Case;
use crate::bench::{Absence, Corpus, Plan, Run, Stage};
use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{ShingleSets, Shingling};
use simgpu::scheme::{Family, Scheme};

/// Text of a pass.
const TEXT_BYTES: usize = 1 << 20;

/// What is measured, and how often.
pub(super) struct Cases<'a> {
    pub(super) entrants: Vec<Entrant<'a>>,
    pub(super) absences: Vec<Absence>,
    pub(super) rounds: Rounds,
}

impl<'a> Cases<'a> {
    /// The cases of a plan.
    ///
    /// # Errors
    /// As of [`measure`](super::measure), short of measuring.
    pub(super) fn of(plan: &Plan, corpus: &'a Corpus) -> Result<Self> {
        let extent = Extent::of(plan)?;
        let (places, absences) = places(plan, &extent.isas)?;
        let mut builder = Builder {
            sample: Arc::new(sample(&corpus.texts, TEXT_BYTES)),
            corpus,
            hashes: BTreeMap::new(),
            definitions: BTreeMap::new(),
            known: BTreeSet::new(),
            entrants: Vec::new(),
            absences,
            extent,
            places,
        };
        builder.add_hashes()?;
        builder.add_stages()?;
        if builder.sample.is_empty() {
            let why = "the corpus has no document; name another with --input";
            builder.absent("texts".to_owned(), why.to_owned());
        } else {
            builder.add_texts()?;
            builder.add_dedup()?;
        }
        Ok(Cases {
            rounds: builder.extent.scope.rounds,
            entrants: builder.entrants,
            absences: builder.absences,
        })
    }
}

struct Builder<'a> {
    extent: Extent,
    places: Vec<Place>,
    corpus: &'a Corpus,
    /// Some of its texts.
    sample: Arc<TextBatch>,
    /// By documents, shingles of each, and bytes of a hash.
    hashes: BTreeMap<(usize, usize, usize), Arc<RandomHashes>>,
    /// Checksums by the definition: of cases without a place.
    definitions: BTreeMap<Case, u64>,
    known: BTreeSet<Case>,
    entrants: Vec<Entrant<'a>>,
    absences: Vec<Absence>,
}

impl<'a> Builder<'a> {
    /// The last instructions of the CPU, which are the fastest, or whatever there is in their place.
    fn best(&self) -> Option<Place> {
        let is_simd = |place: &&Place| place.backend == Backend::Simd;
        let best = self.places.iter().rfind(is_simd);
        best.or(self.places.last()).cloned()
    }

    /// Adds a case, unless it is there.
    fn add(&mut self, run: Run, expected: Option<u64>, workload: impl Workload + 'a) {
        if self.known.insert(run.case()) {
            self.entrants.push(Entrant {
                run,
                workload: Box::new(workload),
                expected,
            });
        }
    }

    /// Notes what is not measured, once.
    fn absent(&mut self, what: String, why: String) {
        let absence = Absence { what, why };
        if !self.absences.contains(&absence) {
            self.absences.push(absence);
        }
    }

    /// Whether a place computes a scheme; that it does not is noted.
    fn computes(&mut self, place: &Place, scheme: &Scheme) -> bool {
        let checked = place.check(scheme);
        if let Err(error) = &checked {
            self.absent(format!("{scheme} by {}", place.backend), error.to_string());
        }
        checked.is_ok()
    }

    /// The checksum of the signatures of a case by the definition, which is asked once for all places.
    fn by_definition(&mut self, run: &Run, scheme: &Scheme, sets: &ShingleSets<'_>) -> Result<u64> {
        let anywhere = run.case().anywhere();
        if let Some(known) = self.definitions.get(&anywhere) {
            return Ok(*known);
        }
        let checksum = sign::by_definition(scheme, sets)?;
        self.definitions.insert(anywhere, checksum);
        Ok(checksum)
    }
}

/// A run of a scheme at a place.
fn of_scheme(stage: Stage, place: &Place, scheme: &Scheme) -> Run {
    Run {
        backend: place.backend.to_string(),
        hardware: place.name.clone(),
        scheme: scheme.to_string(),
        num_perm: u32::try_from(scheme.num_perm()).unwrap_or(u32::MAX),
        ..blank(stage)
    }
}

/// Updates of so many shingles, for schemes that compute each.
fn updates(scheme: &Scheme, shingles: u64) -> u64 {
    match scheme.family() {
        Family::Fast | Family::RMinHash => 0,
        _ => shingles * scheme.num_perm() as u64,
    }
}

/// What goes in, in words: `words 5 of driver-docs`.
fn shingles_of(shingling: &Shingling, corpus: &Corpus) -> String {
    let unit = &shingling.unit;
    match unit.takes_size() {
        true => format!("{unit} {} of {}", shingling.size, corpus.name),
        false => format!("{unit} of {}", corpus.name),
    }
}
