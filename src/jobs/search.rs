//! The middle of every search: documents -> similar pairs of distinct documents.

use std::sync::atomic::{AtomicU64, Ordering};

use super::corpus::Corpus;
use super::first_pass::{Banded, FirstPass};
use super::source::Source;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{
    BandKeys, Banding, Buckets, LargeBuckets, LshBuckets, SimilarPairs, Similarity, Unverified,
    similar_pairs,
};
use crate::progress::{Counts, Progress, Timings, advance, grouped};
use crate::scheme::Scheme;

/// How candidate pairs are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// Not at all: every candidate pair counts.
    None,
    /// By the share of slots in which their signatures agree.
    #[default]
    Signature,
    /// By the Jaccard similarity of their shingles, for which they are read again.
    Exact,
}

impl Verification {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verification::None => "none",
            Verification::Signature => "signature",
            Verification::Exact => "exact",
        }
    }
}

/// Which pairs a run looks for, and how.
#[derive(Clone, Debug)]
pub struct Search {
    /// The least similarity of a pair, above 0 and up to 1.
    pub threshold: f64,
    /// Bands and rows.
    pub banding: Banding,
    /// How candidate pairs are verified.
    pub verification: Verification,
    /// The number of documents above which a bucket is not compared pair by pair.
    pub max_bucket: usize,
}

/// The bound of a bucket, unless another is asked for.
const MAX_BUCKET: usize = 4096;

impl Search {
    /// Pairs of at least that similarity, by the bands and rows of [`Banding::for_scheme`], verified by
    /// signature.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) unless the threshold lies in (0, 1].
    pub fn new(threshold: f64, scheme: &Scheme) -> Result<Self> {
        Ok(Search {
            threshold,
            banding: Banding::for_scheme(threshold, scheme)?,
            verification: Verification::default(),
            max_bucket: MAX_BUCKET,
        })
    }

    /// The probability that a pair just at the threshold becomes a candidate.
    pub fn recall_at_threshold(&self) -> f64 {
        self.banding.candidate_probability(self.threshold)
    }

    /// Bytes of memory per document from the first pass on, without its id: band keys, row, length, digest,
    /// and the signature if that verifies.
    pub fn bytes_per_document(&self, num_perm: usize, slot_bytes: usize) -> usize {
        let signature = match self.verification {
            Verification::Signature => num_perm * slot_bytes,
            Verification::None | Verification::Exact => 0,
        };
        let (row, length, digest) = (4, 4, 32);
        8 * self.banding.bands() + signature + row + length + digest
    }
}

/// A corpus that was read, and what its candidate pairs are found and verified by.
pub(crate) struct Candidates {
    pub(crate) corpus: Corpus,
    keys: BandKeys,
    pub(crate) similarity: Box<dyn Similarity>,
}

impl Candidates {
    /// Reads all documents, and again those that exact verification needs.
    pub(crate) fn read(
        source: &mut dyn Source,
        engine: &Engine,
        search: &Search,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        let signer = engine.signer();
        let with_signatures = (search.verification == Verification::Signature)
            .then(|| (signer.num_perm(), signer.slot_width()));
        let mut banded = Banded::new(search.banding, with_signatures);
        let pass = FirstPass::new(engine, progress, &mut banded);
        let corpus = source.read(pass, &mut timings.0)?;
        let slot_bytes = signer.slot_width().bytes();
        let per_document = search.bytes_per_document(signer.num_perm(), slot_bytes) as u64;
        let megabytes =
            corpus.documents() * per_document / 1_000_000 + source.id_bytes() / 1_000_000;
        progress.tell(&format!(
            "read {} documents; {} MB held in memory",
            grouped(corpus.documents()),
            grouped(megabytes)
        ));
        let mut candidates = Candidates::of_banded(corpus, banded);
        if search.verification == Verification::Exact {
            let Candidates { corpus, keys, .. } = &candidates;
            let sets = timings.time("read again", corpus.bytes, || {
                let wanted = in_buckets(keys);
                let mut sets = source.exact_sets(wanted.len());
                source.read_exact_sets(corpus, engine, &wanted, &mut sets)?;
                Ok::<_, crate::Error>(sets)
            })?;
            candidates.similarity = Box::new(sets);
        }
        Ok(candidates)
    }

    /// Candidates that are verified by their signatures, if there are any.
    pub(crate) fn of_banded(corpus: Corpus, banded: Banded) -> Self {
        Candidates {
            corpus,
            keys: banded.keys,
            similarity: match banded.signatures {
                Some(signatures) => Box::new(signatures),
                None => Box::new(Unverified),
            },
        }
    }

    /// Compares the candidate pairs and keeps the similar ones.
    pub(crate) fn compare(
        &self,
        search: &Search,
        large: LargeBuckets<'_>,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<SimilarPairs> {
        progress.begin("compare", search.banding.bands() as u64);
        timings.time("compare", 0, || {
            let bands_done = AtomicU64::new(0);
            let mut after_band = |band| {
                bands_done.store(band as u64 + 1, Ordering::Relaxed);
                advance(progress, band as u64 + 1, 0, 0)
            };
            let mut buckets =
                LshBuckets::new(&self.keys, search.max_bucket, large, &mut after_band);
            let similarity = Stoppable {
                similarity: &*self.similarity,
                progress,
                bands_done: &bands_done,
            };
            similar_pairs(&mut buckets, &similarity, search.threshold)
        })
    }
}

/// A similarity that a run can be stopped at, block by block.
struct Stoppable<'a> {
    similarity: &'a dyn Similarity,
    progress: &'a dyn Progress,
    bands_done: &'a AtomicU64,
}

impl Similarity for Stoppable<'_> {
    fn of_pairs(&self, pairs: &[(u32, u32)]) -> Result<Option<Vec<f64>>> {
        let similarities = self.similarity.of_pairs(pairs)?;
        advance(self.progress, self.bands_done.load(Ordering::Relaxed), 0, 0)?;
        Ok(similarities)
    }
}

/// Whether the document at each position shares a bucket with another: exact verification needs those.
fn in_buckets(keys: &BandKeys) -> Vec<bool> {
    let mut wanted = vec![false; keys.len()];
    for band in 0..keys.banding().bands() {
        for position in Buckets::of_band(keys, band).iter().flatten() {
            wanted[*position as usize] = true;
        }
    }
    wanted
}

/// The counts of a search.
pub(crate) fn counts(corpus: &Corpus, pairs: Option<&SimilarPairs>) -> Counts {
    let count = |n: usize| n as u64;
    Counts {
        documents: corpus.documents(),
        kept: corpus.documents(),
        identical: count(corpus.repeats.len()),
        without_shingles: count(corpus.without_shingles.len()),
        candidate_pairs: pairs.map_or(0, |pairs| pairs.candidates),
        similar_pairs: pairs.map_or(0, |pairs| count(pairs.pairs.len())),
        large_buckets: pairs.map_or(0, |pairs| pairs.omitted.large_buckets),
        omitted_pairs: pairs.map_or(0, |pairs| pairs.omitted.pairs),
        bytes: corpus.bytes,
        ..Counts::default()
    }
}

/// Warns of pairs that a bound left out.
pub(crate) fn warn_of_omitted(progress: &dyn Progress, counts: &Counts) {
    if counts.omitted_pairs == 0 {
        return;
    }
    let plural = |count: u64, thing: &str| {
        let ending = if count == 1 { "" } else { "s" };
        format!("{} {thing}{ending}", grouped(count))
    };
    progress.warn(&format!(
        "up to {} were not compared, in {} above `max_bucket` or among as many identical documents; similar ones may be left (raise it to compare more)",
        plural(counts.omitted_pairs, "pair"),
        plural(counts.large_buckets, "bucket"),
    ));
}
