//! Reads documents and finds candidate pairs, counting identical documents as one. `dedup` and `pairs` share this.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::candidates::{Candidates, Join};
use super::corpus::Corpus;
use super::disk::Linked;
use super::disk::Parts;
use super::disk::{SpilledDocuments, SpilledKeys};
use super::few::warn_of_few_shingles;
use super::first_pass::FirstPass;
use super::parameters::{CandidateMethod, Search};
use super::rarity::weigh_by_rarity;
use super::source::Source;
use super::verification::Verification;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pipeline::Weighting;
use crate::progress::Counts;
use crate::progress::{Progress, Timings, counted, grouped};
use crate::store::Bits;
use crate::store::spill::Spill;

/// A search whose documents have been read.
pub(crate) enum Searched {
    /// In memory.
    InMemory(Box<Candidates>),
    /// On disk.
    OnDisk(Box<OnDisk>),
}

/// A search whose documents are on disk.
pub(crate) struct OnDisk {
    /// The number of documents.
    pub(crate) rows: u32,
    /// The counts of documents.
    pub(crate) counts: Counts,
    /// The documents that may be similar to others.
    pub(crate) parts: Parts,
    pub(crate) spill: Arc<Spill>,
}

impl Searched {
    /// Reads all documents. Reads some again for exact verification.
    pub(crate) fn read(
        source: &mut dyn Source,
        engine: &Engine,
        search: &Search,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        let num_perm = engine.signer().num_perm();
        let method = search.method(engine)?;
        let weighed;
        let engine = if engine.shingler().needs_rarities() {
            let most_bytes = search.join_bytes;
            weighed = weigh_by_rarity(source, engine, most_bytes, progress, timings)?;
            &weighed
        } else {
            engine
        };
        let is_exact = search.verification == Verification::Exact;
        let is_bounded = source.budget().is_none();
        let too_large = is_bounded.then(|| search.join_too_large());
        let (shingler, banded) = (engine.shingler(), search.banded(num_perm));
        let mut banded = match method {
            // Within a distance, empty sets are similar to short ones.
            CandidateMethod::Join => banded
                .join(search.join_bytes, too_large, shingler)
                .takes_empty(search.within.is_some()),
            CandidateMethod::Auto => banded.join_if_small(search.join_bytes, shingler),
            CandidateMethod::Lsh if is_exact && shingler.hashes_exactly() => {
                banded.hold_sets(shingler)
            }
            CandidateMethod::Lsh => banded,
        };
        let pass = FirstPass::new(engine, progress, &mut banded);
        let pass = pass.within(source.budget());
        let corpus = source.read(pass, &mut timings.0)?;
        banded.end()?;
        warn_of_few_shingles(shingler.shingling(), &corpus, progress);
        let mut corpus = corpus;
        if let (Some(documents), Some(keys)) = (corpus.on_disk.take(), banded.finish_on_disk()?) {
            let spill = Arc::clone(&documents.spill);
            timings.add_disk_use(spill.take_use(SpilledDocuments::PARTS));
            progress.tell(&format!(
                "read {}; the run goes on on disk",
                counted(corpus.documents(), "document")
            ));
            return OnDisk::of(
                corpus,
                (documents, keys),
                &Search {
                    candidates: method,
                    ..search.clone()
                },
                source,
                engine,
                progress,
                timings,
            );
        }
        let per_document = search.bytes_without_keys(num_perm) as u64;
        let bytes = corpus.documents() * per_document
            + banded.keys_bytes()
            + banded.sets_bytes() as u64
            + source.held_bytes();
        progress.tell(&format!(
            "read {}; {} MB held in memory",
            counted(corpus.documents(), "document"),
            grouped(bytes.div_ceil(1_000_000))
        ));
        let mut held = banded.sets.take();
        if method != CandidateMethod::Lsh {
            match Join::choose(held, method, is_bounded, search, progress, timings)? {
                ControlFlow::Break(join) => {
                    return Ok(Searched::InMemory(Box::new(
                        join.candidates(corpus, search)?,
                    )));
                }
                ControlFlow::Continue(sets) => held = sets,
            }
        }
        warn_of_rarities(engine, progress);
        let mut candidates = Candidates::of_banded(corpus, search, banded, progress, timings)?;
        if is_exact {
            let Candidates {
                corpus, buckets, ..
            } = &candidates;
            let sets = match held {
                Some(held) => held,
                None => timings.time("read again", corpus.bytes, || {
                    let mut sets = source.exact_sets().weighted(shingler.takes_weights());
                    let wanted = Bits::zeros(corpus.rows);
                    for position in buckets.positions() {
                        wanted.set(corpus.distinct[*position as usize]);
                    }
                    // Positions ascend as rows do.
                    let mut positions = buckets.positions().iter();
                    let mut insert = |_: u32, set: &[u64]| {
                        let position = positions.next();
                        position.map_or(Ok(()), |position| sets.insert(*position, set))
                    };
                    source.read_exact_sets(engine, &wanted, &mut insert)?;
                    Ok::<_, Error>(sets)
                })?,
            };
            candidates.similarity = Box::new(sets);
        }
        Ok(Searched::InMemory(Box::new(candidates)))
    }
}

impl OnDisk {
    fn of(
        corpus: Corpus,
        (documents, keys): (SpilledDocuments, SpilledKeys),
        search: &Search,
        source: &dyn Source,
        engine: &Engine,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Searched> {
        let are_weighted = engine.shingler().takes_weights();
        let linked = Linked::of(
            corpus.rows,
            documents,
            keys,
            (search, are_weighted),
            progress,
            timings,
        )?;
        let search = linked.search(search);
        if search.candidates == CandidateMethod::Lsh {
            warn_of_rarities(engine, progress);
        }
        Ok(Searched::OnDisk(Box::new(OnDisk {
            rows: corpus.rows,
            counts: Counts {
                identical: linked.identical(),
                ..search.counts(&corpus)
            },
            spill: linked.spill(),
            parts: Parts::of(linked, search, &corpus, source, engine, progress, timings)?,
        })))
    }
}

/// Warns of what LSH misses if shingles are weighted by rarity.
fn warn_of_rarities(engine: &Engine, progress: &dyn Progress) {
    if engine.shingler().shingling().weighting == Weighting::Rarity {
        progress.warn(
            "through LSH, fewer similar pairs are found than stated among documents of little weight; to miss none, pass `candidates=join`",
        );
    }
}
