//! Finds candidate pairs, counting identical documents as one. `dedup` and `pairs` share this search.

use std::ops::ControlFlow;

use super::banded::Banded;
use super::corpus::Corpus;
use super::first_pass::FirstPass;
use super::observed::{Observations, ObservedSignatures};
use super::rarity::weigh_by_rarity;
use super::source::Source;
use crate::engine::Engine;
use crate::error::{Conflict, Result};
#[cfg(doc)]
use crate::pipeline::Distance;
use crate::pipeline::{
    Banding, Buckets, Criterion, Detection, Prefixes, Sets, Similarity, SlotBits, Unverified,
    Weighting, Within,
};
use crate::progress::{Counts, Progress, Timings, advance, counted, grouped};
use crate::scheme::Scheme;
use crate::store::{ExactSets, NearSets};

/// The method that finds candidate pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CandidateMethod {
    /// Locality-sensitive hashing: documents that share a bucket (MMDS 3.4). Misses some similar pairs, streams, and
    /// needs little memory.
    Lsh,
    /// An exact join: documents that share a rare shingle ([`Prefixes`], MMDS 3.9). Misses no similar pair, and holds
    /// all shingles in memory. Only with [`Verification::Exact`].
    Join,
    /// [`CandidateMethod::Join`] for lists of tokens, if they fit in [`Search::join_bytes`] and rare tokens leave few
    /// candidates: it then costs about as much as LSH. Otherwise [`CandidateMethod::Lsh`]. This depends on the
    /// documents and the parameters alone.
    #[default]
    Auto,
}

impl CandidateMethod {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            CandidateMethod::Lsh => "lsh",
            CandidateMethod::Join => "join",
            CandidateMethod::Auto => "auto",
        }
    }
}

/// The verification of candidate pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// None: every candidate pair counts as similar.
    None,
    /// Estimate the similarity from two signatures, of which 8 bits are kept per slot.
    Signature,
    /// Compute the Jaccard similarity of the shingles. Rereads documents that share a bucket with another, unless the
    /// first pass already computed the exact sets of hashes (by default it does so for words) and the sets fit in memory.
    #[default]
    Exact,
}

impl Verification {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verification::None => "none",
            Verification::Signature => "signature",
            Verification::Exact => "exact",
        }
    }
}

/// The parameters of a search for similar pairs. [`Search::new`] supplies defaults; change fields as needed.
#[derive(Clone, Debug)]
pub struct Search {
    /// The least similarity of a similar pair, above 0 and up to 1.
    pub threshold: f64,
    /// The greatest distance of a similar pair, in place of the threshold; default `None`. Only for
    /// [`pairs`](super::pairs()) of lists of single tokens, which are found by [`CandidateMethod::Join`]. The engine's
    /// shingling has [`Weighting::Places`] for [`Distance::Hamming`] and [`Weighting::Counts`] for [`Distance::L1`].
    pub within: Option<Within>,
    /// The number of bands, and of rows (slots) per band.
    pub banding: Banding,
    /// The verification of candidate pairs; default [`Verification::Exact`].
    pub verification: Verification,
    /// The method that finds candidate pairs; default [`CandidateMethod::Auto`].
    pub candidates: CandidateMethod,
    /// The most bytes of memory for the shingles and the index of an exact join, and for the counts of
    /// [`Weighting::Rarity`]; default 2 GiB.
    pub join_bytes: usize,
}

/// The default of [`Search::join_bytes`].
const JOIN_BYTES: usize = 2 << 30;

/// The join's pairs of equal prefix elements up to which [`CandidateMethod::Auto`] chooses it. They take some 20 ns
/// each.
const CHEAP_JOIN: u64 = 100_000_000;

/// The same for each shingle, for larger corpora.
const CHEAP_JOIN_PER_SHINGLE: u64 = 100;

/// The bits kept per slot for verification by signature. At a similarity of 0.8 they raise the standard error of an
/// estimate by a quarter of a percent, for a quarter of the memory or less.
const SLOT_BITS: SlotBits = SlotBits::Eight;

impl Search {
    /// A search for pairs of at least `threshold` similarity, with the banding of [`Banding::for_scheme`].
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) unless the threshold lies in (0, 1].
    pub fn new(threshold: f64, scheme: &Scheme) -> Result<Self> {
        let banding = Banding::for_scheme(threshold, scheme)?;
        Ok(Search {
            candidates: CandidateMethod::default(),
            ..Search::through_lsh(threshold, banding, Verification::default())
        })
    }

    /// A search with [`CandidateMethod::Lsh`].
    pub fn through_lsh(threshold: f64, banding: Banding, verification: Verification) -> Self {
        Search {
            threshold,
            within: None,
            banding,
            verification,
            candidates: CandidateMethod::Lsh,
            join_bytes: JOIN_BYTES,
        }
    }

    /// How likely a similar pair is to be found by LSH, with signatures of `num_perm` slots.
    pub fn detection(&self, num_perm: usize) -> Detection {
        let detection = Detection::of_candidates(self.banding, num_perm);
        match self.verification {
            Verification::None | Verification::Exact => detection,
            Verification::Signature => detection.estimated(self.threshold, SLOT_BITS),
        }
    }

    /// The probability that a pair with a similarity equal to the threshold is found.
    pub(crate) fn recall_at_threshold(&self, num_perm: usize) -> f64 {
        match self.candidates {
            CandidateMethod::Join => 1.0,
            CandidateMethod::Lsh | CandidateMethod::Auto => {
                self.detection(num_perm).probability(self.threshold)
            }
        }
    }

    /// What makes two documents similar.
    pub(crate) fn criterion(&self) -> Criterion {
        let of_threshold = Criterion::Jaccard(self.threshold);
        self.within.map_or(of_threshold, Criterion::Within)
    }

    /// The least value of a similar pair: its similarity or, within a distance, the negative distance.
    pub(crate) fn least(&self) -> f64 {
        match self.criterion() {
            Criterion::Jaccard(threshold) => threshold,
            Criterion::Within(within) => -(within.most as f64),
        }
    }

    /// The error of a join that needs too much memory.
    pub(crate) fn join_too_large(&self) -> Conflict {
        let mib = self.join_bytes >> 20;
        match self.within {
            None => Conflict::JoinMemory { mib },
            Some(_) => Conflict::DistanceMemory { mib },
        }
    }

    /// The method that finds candidates, if `engine` shingles the documents: [`CandidateMethod::Auto`] only if this
    /// depends on the documents.
    ///
    /// # Errors
    /// [`Conflict::JoinNotExact`] for a join with another verification than [`Verification::Exact`]. Within a distance,
    /// [`Conflict::DistanceNotJoined`] for another method or verification, [`Conflict::DistanceOfShingles`] if the
    /// engine takes no single tokens, and [`Conflict::DistanceWeighting`] if their weighting is not that of the
    /// distance.
    pub fn method(&self, engine: &Engine) -> Result<CandidateMethod> {
        let is_exact = self.verification == Verification::Exact;
        if let Some(within) = self.within {
            within.distance.check(engine.shingler().shingling())?;
            if !is_exact || self.candidates == CandidateMethod::Lsh {
                return Err(Conflict::DistanceNotJoined.into());
            }
            return Ok(CandidateMethod::Join);
        }
        match self.candidates {
            CandidateMethod::Join if !is_exact => Err(Conflict::JoinNotExact.into()),
            // Through LSH, documents of little weight are found less often than stated.
            CandidateMethod::Auto if is_exact && engine.shingler().needs_rarities() => {
                Ok(CandidateMethod::Auto)
            }
            CandidateMethod::Auto if !is_exact || !engine.takes_tokens() => {
                Ok(CandidateMethod::Lsh)
            }
            method => Ok(method),
        }
    }

    /// The share of truly similar pairs to expect among those that a run reports as similar: 1 if they are verified
    /// exactly, `None` if not at all.
    pub(crate) fn expected_precision(
        &self,
        num_perm: usize,
        observed: Option<&Observations>,
    ) -> Option<f64> {
        match self.verification {
            Verification::None => None,
            Verification::Exact => Some(1.0),
            Verification::Signature => {
                let detection = self.detection(num_perm);
                detection.precision(self.threshold, &observed?.by_matches())
            }
        }
    }

    /// Bytes of memory per document of a run through LSH, without the id: band keys, row, length, digest, and the
    /// packed signature if [`Search::verification`] needs it.
    pub fn bytes_per_document(&self, num_perm: usize) -> usize {
        8 * self.banding.bands() + self.bytes_without_keys(num_perm)
    }

    /// The same without band keys.
    fn bytes_without_keys(&self, num_perm: usize) -> usize {
        let signature = match self.verification {
            Verification::Signature => size_of::<u64>() * SLOT_BITS.words(num_perm),
            Verification::None | Verification::Exact => 0,
        };
        let (row, length, digest) = (4, 4, 32);
        signature + row + length + digest
    }

    /// An empty collector of what the search needs of signed documents.
    pub(crate) fn banded(&self, num_perm: usize) -> Banded {
        let packs = self.verification == Verification::Signature;
        Banded::new(self.banding, packs.then_some((num_perm, SLOT_BITS)))
    }
}

/// A corpus with its buckets, and the similarity that verifies candidate pairs.
pub(crate) struct Candidates {
    /// The search, with the method that found the candidates.
    pub(crate) search: Search,
    pub(crate) corpus: Corpus,
    pub(crate) buckets: Buckets,
    pub(crate) similarity: Box<dyn Similarity + Send>,
    /// The estimates of compared candidates; `None` without estimates.
    pub(crate) observed: Option<Observations>,
}

impl Candidates {
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
        let (shingler, banded) = (engine.shingler(), search.banded(num_perm));
        let mut banded = match method {
            // Within a distance, empty sets are similar to short ones.
            CandidateMethod::Join => banded
                .join(search.join_bytes, search.join_too_large(), shingler)
                .takes_empty(search.within.is_some()),
            CandidateMethod::Auto => banded.join_if_small(search.join_bytes, shingler),
            CandidateMethod::Lsh if is_exact && shingler.hashes_exactly() => {
                banded.hold_sets(shingler)
            }
            CandidateMethod::Lsh => banded,
        };
        let pass = FirstPass::new(engine, progress, &mut banded);
        let corpus = source.read(pass, &mut timings.0)?;
        banded.end()?;
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
            match Join::choose(held, method, search, progress, timings)? {
                ControlFlow::Break(join) => return join.candidates(corpus, search),
                ControlFlow::Continue(sets) => held = sets,
            }
        }
        if shingler.shingling().weighting == Weighting::Rarity {
            progress.warn(
                "through LSH, fewer similar pairs are found than stated among documents of little weight; to miss none, pass `candidates=join`",
            );
        }
        let mut candidates = Candidates::of_banded(corpus, search, banded, progress, timings)?;
        if is_exact {
            let Candidates {
                corpus, buckets, ..
            } = &candidates;
            let sets = match held {
                Some(held) => held,
                None => timings.time("read again", corpus.bytes, || {
                    source.read_exact_sets(corpus, engine, buckets.positions())
                })?,
            };
            candidates.similarity = Box::new(sets);
        }
        Ok(candidates)
    }

    /// Candidates verified by signature, or not at all if `banded` holds no signatures.
    pub(crate) fn of_banded(
        corpus: Corpus,
        search: &Search,
        banded: Banded,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        let search = Search {
            candidates: CandidateMethod::Lsh,
            ..search.clone()
        };
        let Banded {
            keys, signatures, ..
        } = banded;
        progress.begin("bucket", keys.banding().bands() as u64);
        let buckets = timings.time("bucket", 0, || {
            Buckets::of(keys, &mut |band| advance(progress, band as u64 + 1, 0, 0))
        })?;
        let Some(signatures) = signatures else {
            return Ok(Candidates {
                search,
                corpus,
                buckets,
                similarity: Box::new(Unverified),
                observed: None,
            });
        };
        let (signatures, observed) = ObservedSignatures::new(signatures);
        Ok(Candidates {
            search,
            corpus,
            buckets,
            similarity: Box::new(signatures),
            observed: Some(observed),
        })
    }
}

/// A join of held sets that could be made.
struct Join {
    sets: ExactSets,
    prefixes: Prefixes,
    shingles: u64,
}

impl Join {
    /// Decides between a join of the held sets and LSH, for which it returns the sets.
    fn choose(
        held: Option<ExactSets>,
        method: CandidateMethod,
        search: &Search,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<ControlFlow<Join, Option<ExactSets>>> {
        let Some(sets) = held else {
            progress.tell("candidates: LSH, because the shingles of an exact join need more memory than `join_mib`");
            return Ok(ControlFlow::Continue(None));
        };
        let join = Join::of(sets, search, progress, timings)?;
        let fits = join.bytes() <= search.join_bytes;
        if !fits && method == CandidateMethod::Join {
            return Err(search.join_too_large().into());
        }
        if fits && (method == CandidateMethod::Join || join.is_cheap()) {
            let bytes = join.bytes() as u64;
            progress.tell(&format!(
                "candidates: exact join; its shingles and index take {} MB",
                grouped(bytes.div_ceil(1_000_000))
            ));
            return Ok(ControlFlow::Break(join));
        }
        let reason = if fits {
            let pairs = grouped(join.prefixes.shared_elements());
            format!("an exact join would meet {pairs} pairs of equal shingles")
        } else {
            "the index of an exact join needs more memory than `join_mib`".to_owned()
        };
        progress.tell(&format!("candidates: LSH, because {reason}"));
        Ok(ControlFlow::Continue(Some(join.sets)))
    }

    fn of(
        sets: ExactSets,
        search: &Search,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        progress.begin("join", 2 * Sets::len(&sets) as u64);
        let prefixes = timings.time("join", 0, || {
            let advance = &mut |done| advance(progress, done, 0, 0);
            Prefixes::of(&sets, search.criterion(), advance)
        })?;
        Ok(Join {
            shingles: (sets.memory_bytes() / size_of::<u64>()) as u64,
            sets,
            prefixes,
        })
    }

    /// Bytes of memory.
    fn bytes(&self) -> usize {
        self.sets.memory_bytes() + self.prefixes.bytes()
    }

    /// Whether the join costs about as much as LSH at most.
    fn is_cheap(&self) -> bool {
        let most = CHEAP_JOIN.max(CHEAP_JOIN_PER_SHINGLE * self.shingles);
        self.prefixes.shared_elements() <= most
    }

    fn candidates(self, corpus: Corpus, search: &Search) -> Result<Candidates> {
        Ok(Candidates {
            search: Search {
                candidates: CandidateMethod::Join,
                ..search.clone()
            },
            corpus,
            buckets: self.prefixes.into_buckets()?,
            similarity: match search.within {
                None => Box::new(self.sets),
                Some(within) => Box::new(NearSets {
                    sets: self.sets,
                    within,
                }),
            },
            observed: None,
        })
    }
}

/// Makes the counts of a run, without those of pairs.
pub(crate) fn counts(corpus: &Corpus) -> Counts {
    let count = |n: usize| n as u64;
    Counts {
        documents: corpus.documents(),
        kept: corpus.documents(),
        identical: count(corpus.repeats.len()),
        without_shingles: count(corpus.without_shingles.len()),
        bytes: corpus.bytes,
        ..Counts::default()
    }
}
