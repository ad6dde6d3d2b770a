//! Finds candidate pairs, counting identical documents as one. `dedup` and `pairs` share this search.

use super::corpus::Corpus;
use super::first_pass::{Banded, FirstPass};
use super::observed::{Observations, ObservedSignatures};
use super::source::Source;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{Banding, Buckets, Detection, Similarity, SlotBits, Unverified};
use crate::progress::{Counts, Progress, Timings, advance, grouped};
use crate::scheme::Scheme;
use crate::store::ExactSets;

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
    /// The number of bands, and of rows (slots) per band.
    pub banding: Banding,
    /// The verification of candidate pairs; default [`Verification::Exact`].
    pub verification: Verification,
}

/// The bits kept per slot for verification by signature. At a similarity of 0.8 they raise the standard error of an
/// estimate by a quarter of a percent, for a quarter of the memory or less.
const SLOT_BITS: SlotBits = SlotBits::Eight;

impl Search {
    /// A search for pairs of at least `threshold` similarity, with the banding of [`Banding::for_scheme`].
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) unless the threshold lies in (0, 1].
    pub fn new(threshold: f64, scheme: &Scheme) -> Result<Self> {
        Ok(Search {
            threshold,
            banding: Banding::for_scheme(threshold, scheme)?,
            verification: Verification::default(),
        })
    }

    /// How likely a similar pair is to be found, with signatures of `num_perm` slots.
    pub fn detection(&self, num_perm: usize) -> Detection {
        let detection = Detection::of_candidates(self.banding, num_perm);
        match self.verification {
            Verification::None | Verification::Exact => detection,
            Verification::Signature => detection.estimated(self.threshold, SLOT_BITS),
        }
    }

    /// The probability that a pair with a similarity equal to the threshold is found.
    pub(crate) fn recall_at_threshold(&self, num_perm: usize) -> f64 {
        self.detection(num_perm).probability(self.threshold)
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

    /// Bytes of memory per document of a run, without the id: band keys, row, length, digest, and the packed
    /// signature if [`Search::verification`] needs it.
    pub fn bytes_per_document(&self, num_perm: usize) -> usize {
        let signature = match self.verification {
            Verification::Signature => size_of::<u64>() * SLOT_BITS.words(num_perm),
            Verification::None | Verification::Exact => 0,
        };
        let (row, length, digest) = (4, 4, 32);
        8 * self.banding.bands() + signature + row + length + digest
    }

    /// An empty collector of what the search needs of signed documents.
    pub(crate) fn banded(&self, num_perm: usize) -> Banded {
        let packs = self.verification == Verification::Signature;
        Banded::new(self.banding, packs.then_some((num_perm, SLOT_BITS)))
    }
}

/// A corpus with its buckets, and the similarity that verifies candidate pairs.
pub(crate) struct Candidates {
    pub(crate) corpus: Corpus,
    pub(crate) buckets: Buckets,
    pub(crate) similarity: Box<dyn Similarity>,
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
        let is_exact = search.verification == Verification::Exact;
        let mut banded = search.banded(num_perm);
        if is_exact && engine.shingler().hashes_exactly() {
            banded.hold_sets();
        }
        let pass = FirstPass::new(engine, progress, &mut banded);
        let corpus = source.read(pass, &mut timings.0)?;
        let per_document = search.bytes_per_document(num_perm) as u64;
        let held = banded.sets.take();
        let of_sets = held.as_ref().map_or(0, ExactSets::memory_bytes) as u64;
        let bytes = corpus.documents() * per_document + of_sets + source.held_bytes();
        progress.tell(&format!(
            "read {} documents; {} MB held in memory",
            grouped(corpus.documents()),
            grouped(bytes.div_ceil(1_000_000))
        ));
        let mut candidates = Candidates::of_banded(corpus, banded, progress, timings)?;
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
        banded: Banded,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        let Banded {
            keys, signatures, ..
        } = banded;
        progress.begin("bucket", keys.banding().bands() as u64);
        let buckets = timings.time("bucket", 0, || {
            Buckets::of(keys, &mut |band| advance(progress, band as u64 + 1, 0, 0))
        })?;
        let Some(signatures) = signatures else {
            return Ok(Candidates {
                corpus,
                buckets,
                similarity: Box::new(Unverified),
                observed: None,
            });
        };
        let (signatures, observed) = ObservedSignatures::new(signatures);
        Ok(Candidates {
            corpus,
            buckets,
            similarity: Box::new(signatures),
            observed: Some(observed),
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
