//! Finds similar pairs, counting identical documents as one. `dedup` and `pairs` share this search.

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

/// The verification of candidate pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// None: every candidate pair counts as similar.
    None,
    /// Estimate the similarity by the fraction of equal slots of two signatures.
    #[default]
    Signature,
    /// Compute the Jaccard similarity of the shingles. Reads the documents of candidate pairs again.
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
    /// The verification of candidate pairs; default [`Verification::Signature`].
    pub verification: Verification,
    /// The most documents in a bucket that is compared pair by pair; default 4096.
    pub max_bucket: usize,
}

/// The default of [`Search::max_bucket`].
const MAX_BUCKET: usize = 4096;

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
            max_bucket: MAX_BUCKET,
        })
    }

    /// The probability that a pair with a similarity equal to the threshold becomes a candidate.
    pub fn recall_at_threshold(&self) -> f64 {
        self.banding.candidate_probability(self.threshold)
    }

    /// Bytes of memory per document of a run, without the id: band keys, row, length, digest, and the signature
    /// if [`Search::verification`] needs it.
    pub fn bytes_per_document(&self, num_perm: usize, slot_bytes: usize) -> usize {
        let signature = match self.verification {
            Verification::Signature => num_perm * slot_bytes,
            Verification::None | Verification::Exact => 0,
        };
        let (row, length, digest) = (4, 4, 32);
        8 * self.banding.bands() + signature + row + length + digest
    }
}

/// A corpus with the band keys that make candidate pairs, and the similarity that verifies them.
pub(crate) struct Candidates {
    pub(crate) corpus: Corpus,
    keys: BandKeys,
    pub(crate) similarity: Box<dyn Similarity>,
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

    /// Candidates verified by signature, or not at all if `banded` holds no signatures.
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

    /// Compares the candidate pairs and returns the similar ones.
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
                LshBuckets::new(&self.keys, search.max_bucket, large).after_band(&mut after_band);
            let similarity = Stoppable {
                similarity: &*self.similarity,
                progress,
                bands_done: &bands_done,
            };
            similar_pairs(&mut buckets, &similarity, search.threshold)
        })
    }
}

/// A similarity that reports progress after each block of pairs, so that a run can be stopped.
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

/// Marks the positions that share a bucket with another. Exact verification needs their documents.
fn in_buckets(keys: &BandKeys) -> Vec<bool> {
    let mut wanted = vec![false; keys.len()];
    for band in 0..keys.banding().bands() {
        for position in Buckets::of_band(keys, band).iter().flatten() {
            wanted[*position as usize] = true;
        }
    }
    wanted
}

/// Makes the counts of a run.
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

/// Warns of pairs omitted because of [`Search::max_bucket`].
pub(crate) fn warn_of_omitted(progress: &dyn Progress, counts: &Counts) {
    if counts.omitted_pairs == 0 {
        return;
    }
    let plural = |count: u64, thing: &str| {
        let ending = if count == 1 { "" } else { "s" };
        format!("{} {thing}{ending}", grouped(count))
    };
    let pairs = plural(counts.omitted_pairs, "pair");
    let were = if counts.omitted_pairs == 1 {
        "was"
    } else {
        "were"
    };
    let buckets = match counts.large_buckets {
        0 => String::new(),
        buckets => format!(
            "{} of more than `max_bucket` documents or in ",
            plural(buckets, "bucket")
        ),
    };
    progress.warn(&format!(
        "up to {pairs} {were} not compared, in {buckets}groups of more than `max_bucket` identical documents; raise `max_bucket` to find more pairs"
    ));
}
