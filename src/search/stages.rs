//! Reads documents and finds candidate pairs, counting identical documents as one. `dedup` and `pairs` share this.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::candidates::Join;
use super::context::Context;
use super::corpus::Corpus;
use super::disk::{
    Blocks, Connected, Parts as PartsOnDisk, SpilledDocuments, SpilledKeys, distribute,
};
use super::few::warn_of_few_shingles;
use super::first_pass::FirstPass;
use super::keys::Banded;
use super::observations::Observations;
use super::parameters::{CandidateMethod, Search};
use super::part::{Compared, Part, Step};
use super::rarity::weigh_by_rarity;
use super::short::{DroppedRows, ShortDocuments};
use super::source::Source;
use super::verification::Verification;
use crate::bits::Bits;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pipeline::{BandKeys, Buckets, Weighting};
use crate::progress::{Counts, Progress, advance, counted, grouped};
use crate::store::spill::{Spill, sets_in_memory};
use crate::store::{ExactSets, announce_files};

/// A search whose documents have been read.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Searched {
    /// The search, with the method that found the candidates.
    pub(crate) search: Search,
    /// Slots of a signature.
    pub(crate) num_perm: usize,
    /// The number of documents, those of a reference included.
    pub(crate) rows: u32,
    /// The number of documents of a reference, which have the first rows; `None` without one.
    pub(crate) reference: Option<u32>,
    /// The counts of documents.
    pub(crate) counts: Counts,
    /// The documents that are removed without another one.
    pub(crate) dropped: DroppedRows,
    /// At least the number of candidate pairs; `None` for those of LSH.
    pub(crate) most_pairs: Option<u64>,
    /// The estimates of compared candidates.
    pub(super) observed: Observations,
    /// The documents that may be similar to others.
    pub(crate) parts: Parts,
}

/// The documents of a search, in parts.
pub(crate) enum Parts {
    /// In memory.
    Whole(Box<Part<'static>>),
    /// On disk.
    Spilled(Box<PartsOnDisk>, Arc<Spill>),
}

impl Parts {
    /// The folder of documents on disk.
    pub(crate) fn spill(&self) -> Option<&Arc<Spill>> {
        match self {
            Parts::Whole(_) => None,
            Parts::Spilled(_, spill) => Some(spill),
        }
    }

    /// Their number.
    pub(crate) fn count(&self) -> usize {
        match self {
            Parts::Whole(_) => 1,
            Parts::Spilled(parts, _) => parts.count(),
        }
    }

    /// Calls `work` with every part but the first `before`, on several threads, and `each` with its results, in order.
    /// If `is_greedy`, components that memory does not hold are clustered [in blocks](Part::in_blocks). `work` calls its
    /// other argument with the number of documents or bands done. Progress shows the stage `compare`.
    pub(crate) fn for_each<T: Send>(
        self,
        before: usize,
        is_greedy: bool,
        progress: &dyn Progress,
        work: impl Fn(Part<'_>, &mut dyn FnMut(u64) -> Result<()>) -> Result<T> + Sync,
        mut each: impl FnMut(Step<T>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Parts::Whole(part) => {
                let steps = if is_greedy {
                    part.buckets.positions().len()
                } else {
                    part.buckets.bands()
                };
                progress.begin("compare", steps as u64);
                let found = work(*part, &mut |done| advance(progress, done, 0, 0))?;
                each(Step::Result(found))?;
                each(Step::Done { parts: 1 })
            }
            Parts::Spilled(parts, _) => {
                let stop = |_: u64| {
                    if progress.is_stopped() {
                        Err(Error::Stopped)
                    } else {
                        Ok(())
                    }
                };
                let work = |part: Part<'static>, large| {
                    let mut part: Part<'_> = part;
                    if let Some(component) = large {
                        part.in_blocks = Some(Box::new(Blocks::new(&parts, component)));
                    }
                    work(part, &mut { stop })
                };
                let done = parts.for_each(before, is_greedy, progress, work, &mut each);
                if matches!(done, Err(Error::Stopped)) {
                    // The files of the parts are still there, for a checkpoint.
                    each(Step::Stopped)?;
                }
                done
            }
        }
    }
}

impl Searched {
    /// Reads all documents. Reads some again for exact verification.
    #[doc(hidden)]
    pub fn read(
        source: &mut dyn Source,
        engine: &Engine,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        Searched::read_but(ShortDocuments::default(), source, engine, context)
    }

    /// Reads all documents, and leaves out those that are too short.
    pub(crate) fn read_but(
        short: ShortDocuments,
        source: &mut dyn Source,
        engine: &Engine,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        short.check(engine)?;
        if context.search.estimates_index() && !source.signs_again() {
            return Err(Error::Parameter {
                name: "`index_verification`",
                value: "signature".to_owned(),
                expected: "none in a search without an index".to_owned(),
            });
        }
        let method = context.search.method(engine)?;
        let weighed;
        let engine = if engine.shingler().needs_rarities() {
            weighed = weigh_by_rarity(source, engine, context)?;
            &weighed
        } else {
            engine
        };
        let mut banded = collected(method, source, engine, context.search);
        let pass = FirstPass::new(engine, context.progress, &mut banded);
        let pass = pass.leaving_out(short).within(source.budget());
        let mut corpus = source.read(pass, &mut context.timings.0)?;
        banded.end()?;
        warn_of_few_shingles(engine.shingler().shingling(), &corpus, context.progress);
        let search = Search {
            candidates: method,
            ..context.search.clone()
        };
        let context = &mut context.with(&search);
        match (corpus.on_disk.take(), banded.finish_on_disk()?) {
            (Some(documents), Some(keys)) => {
                let spilled = Spilled { documents, keys };
                Searched::on_disk(corpus, spilled, source, engine, context)
            }
            _ => Searched::in_memory(corpus, banded, source, engine, context),
        }
    }

    fn in_memory(
        corpus: Corpus,
        mut banded: Banded,
        source: &dyn Source,
        engine: &Engine,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        let (search, progress) = (context.search, context.progress);
        let num_perm = engine.signer().num_perm();
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
        if search.candidates != CandidateMethod::Lsh {
            let is_bounded = source.budget().is_none();
            match Join::choose(held, is_bounded, &corpus, context)? {
                ControlFlow::Break(join) => {
                    let most_pairs = Some(join.most_pairs());
                    let (buckets, compared) = join.finish()?;
                    let found = Found {
                        buckets,
                        compared,
                        most_pairs,
                    };
                    return Ok(Searched::whole(corpus, found, num_perm, search.joined()));
                }
                ControlFlow::Continue(sets) => held = sets,
            }
        }
        warn_of_rarities(engine, progress);
        let buckets = buckets_of(banded.keys, &corpus, context)?;
        let compared = match (search.verification, held) {
            (Verification::Exact, Some(sets)) => Compared::Sets(sets),
            (Verification::Exact, None) => {
                let sets = sets_again(&corpus, &buckets, source, engine, context)?;
                Compared::from_sets(sets, search, num_perm)
            }
            _ => Compared::from_signatures(banded.signatures),
        };
        let found = Found::through_bands(buckets, compared);
        let search = search.through_bands();
        Ok(Searched::whole(corpus, found, num_perm, search))
    }

    /// Documents in memory that are verified by signature, or not at all if `banded` holds no signatures.
    #[doc(hidden)]
    pub fn from_banded(
        corpus: Corpus,
        banded: Banded,
        num_perm: usize,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        let buckets = buckets_of(banded.keys, &corpus, context)?;
        let found = Found::through_bands(buckets, Compared::from_signatures(banded.signatures));
        let search = context.search.through_bands();
        Ok(Searched::whole(corpus, found, num_perm, search))
    }

    fn whole(corpus: Corpus, found: Found, num_perm: usize, search: Search) -> Self {
        let Found {
            buckets,
            compared,
            most_pairs,
        } = found;
        let observed = Observations::none(num_perm);
        Searched {
            num_perm,
            rows: corpus.rows,
            reference: corpus.reference,
            counts: search.counts(&corpus),
            dropped: DroppedRows::held(corpus.first_input()..corpus.rows, &corpus.dropped),
            most_pairs,
            parts: Parts::Whole(Box::new(Part::whole(
                corpus, buckets, compared, &search, &observed,
            ))),
            observed,
            search,
        }
    }

    fn on_disk(
        corpus: Corpus,
        spilled: Spilled,
        source: &dyn Source,
        engine: &Engine,
        context: &mut Context<'_>,
    ) -> Result<Self> {
        let Spilled {
            mut documents,
            keys,
        } = spilled;
        let spill = Arc::clone(&documents.spill);
        let dropped = std::mem::take(&mut documents.dropped);
        let used = spill.take_use(SpilledDocuments::PARTS);
        context.timings.add_disk_use(used);
        let read = counted(corpus.documents(), "document");
        context
            .progress
            .tell(&format!("read {read}; the run goes on on disk"));
        let weighted = engine.shingler().takes_weights();
        let connected = Connected::of(&corpus, documents, keys, weighted, context)?;
        let search = connected.search(context.search);
        if search.candidates == CandidateMethod::Lsh {
            warn_of_rarities(engine, context.progress);
        }
        let counts = Counts {
            identical: connected.identical_inputs(),
            ..search.counts(&corpus)
        };
        let context = &mut context.with(&search);
        let parts = distribute(connected, &corpus, source, engine, context)?;
        Ok(Searched {
            num_perm: engine.signer().num_perm(),
            rows: corpus.rows,
            reference: corpus.reference,
            counts,
            dropped,
            most_pairs: parts.most_pairs(),
            observed: parts.observed.clone(),
            parts: Parts::Spilled(Box::new(parts), spill),
            search,
        })
    }

    /// The estimates of compared candidates; `None` without estimates.
    pub(crate) fn observed(&self) -> Option<&Observations> {
        (self.search.verification == Verification::Signature).then_some(&self.observed)
    }
}

/// What the first pass wrote to disk.
struct Spilled {
    documents: SpilledDocuments,
    keys: SpilledKeys,
}

/// What finds the candidate pairs in memory, and what compares them.
struct Found {
    buckets: Buckets,
    compared: Compared,
    /// At least the number of candidate pairs, if it is known.
    most_pairs: Option<u64>,
}

impl Found {
    fn through_bands(buckets: Buckets, compared: Compared) -> Self {
        Found {
            buckets,
            compared,
            most_pairs: None,
        }
    }
}

/// What collects the band keys, signatures and sets of documents that are read.
fn collected(
    method: CandidateMethod,
    source: &dyn Source,
    engine: &Engine,
    search: &Search,
) -> Banded {
    let shingler = engine.shingler();
    let holds_sets = search.verification == Verification::Exact
        && shingler.hashes_exactly()
        && !search.estimates_index();
    let budget = source.budget();
    let is_bounded = budget.is_none();
    let too_large = is_bounded.then(|| search.join_too_large());
    let banded = search.banded(engine.signer().num_perm());
    match method {
        // Within a distance, empty sets are similar to short ones.
        CandidateMethod::Join => banded
            .join(search.join_bytes, too_large, shingler)
            .takes_empty(search.within.is_some()),
        CandidateMethod::Auto => banded.join_if_small(search.join_bytes, shingler),
        CandidateMethod::Lsh if holds_sets => {
            banded.hold_sets(sets_in_memory(budget.as_ref()), shingler)
        }
        CandidateMethod::Lsh => banded,
    }
}

/// The buckets of all bands, of those documents that the search compares.
fn buckets_of(keys: BandKeys, corpus: &Corpus, context: &mut Context<'_>) -> Result<Buckets> {
    let progress = context.progress;
    progress.begin("bucket", keys.banding().bands() as u64);
    context.timings.time("bucket", 0, || {
        let reference = corpus.reference_of(keys.len(), context.pairing);
        let after_band = &mut |band| advance(progress, band as u64 + 1, 0, 0);
        Buckets::compared(keys, reference, after_band)
    })
}

/// Reads the documents in buckets again: their exact sets, by position.
fn sets_again(
    corpus: &Corpus,
    buckets: &Buckets,
    source: &dyn Source,
    engine: &Engine,
    context: &mut Context<'_>,
) -> Result<ExactSets> {
    let progress = context.progress;
    let sets = context.timings.time("read again", corpus.bytes, || {
        let weighted = engine.shingler().takes_weights();
        let mut sets = source.exact_sets().weighted(weighted);
        let wanted = Bits::zeros(corpus.rows);
        for position in buckets.positions() {
            wanted.set(corpus.distinct[*position as usize]);
        }
        // Positions ascend as rows do.
        let mut positions = buckets.positions().iter();
        let mut insert = |_: u32, set: &[u64]| {
            let left = positions.len();
            let Some(position) = positions.next() else {
                return Ok(());
            };
            if let Some(folder) = sets.begins_file(set) {
                // The others are taken to be as long as those before.
                let before = buckets.positions().len() - left;
                let so_far = (sets.memory_bytes() + size_of_val(set)) as f64;
                let rest = so_far / (before + 1) as f64 * left as f64;
                announce_files(folder, rest, progress)?;
            }
            sets.insert(*position, set)
        };
        source.read_exact_sets(engine, &wanted, &mut insert)?;
        Ok::<_, Error>(sets)
    })?;
    if let Some(used) = sets.disk_use() {
        context.timings.add_disk_use(used);
    }
    Ok(sets)
}

/// Warns of what LSH misses if shingles are weighted by rarity.
fn warn_of_rarities(engine: &Engine, progress: &dyn Progress) {
    if engine.shingler().shingling().weighting == Weighting::Rarity {
        progress.warn(
            "through LSH, fewer similar pairs are found than stated among documents of little weight; to miss none, pass `candidates=join`",
        );
    }
}
