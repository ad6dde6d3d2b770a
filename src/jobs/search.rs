//! The middle of every search: files -> corpus -> similar pairs of distinct documents.

use std::path::PathBuf;

use super::corpus::{Banded, Corpus, SignatureFile, Source};
use crate::error::{Error, Result};
use crate::pipeline::{BandKeys, Banding};
use crate::pipeline::{ExactSets, Similarity, Unverified};
use crate::pipeline::{LargeBuckets, SimilarPairs, bucketed_positions, similar_pairs};
use crate::progress::{Progress, Timings};

/// How candidate pairs are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// Not at all.
    None,
    /// By the share of slots in which their signatures agree.
    #[default]
    Signature,
    /// By the Jaccard similarity of their shingles, for which they are read again.
    Exact,
}

impl Verification {
    /// Its name, which also says how a pair was found.
    pub fn name(self) -> &'static str {
        match self {
            Verification::None => "none",
            Verification::Signature => "signature",
            Verification::Exact => "exact",
        }
    }
}

/// Which pairs are looked for, and how.
#[derive(Clone, Debug)]
pub struct Search {
    /// The least similarity of a pair.
    pub threshold: f64,
    /// Bands and rows.
    pub banding: Banding,
    /// How candidates are verified.
    pub verification: Verification,
    /// The number of documents above which a bucket is not compared pair by pair.
    pub max_bucket: usize,
    /// Bytes of files that stay in memory if they are read again; if there are more, none does.
    pub held_bytes: u64,
}

impl Search {
    /// The probability that a pair just at the threshold becomes a candidate.
    pub fn recall_at_threshold(&self) -> f64 {
        self.banding.candidate_probability(self.threshold)
    }

    /// Bytes that a document needs in memory from the first pass on, its id apart: its band keys,
    /// row, length and digest, and its signature if that verifies.
    pub fn bytes_per_document(&self, num_perm: usize, slot_bytes: usize) -> usize {
        let signature = match self.verification {
            Verification::Signature => num_perm * slot_bytes,
            Verification::None | Verification::Exact => 0,
        };
        let (row, length, digest) = (4, 4, 32);
        8 * self.banding.bands() + signature + row + length + digest
    }
}

/// Bytes of exact sets that stay in memory; more lie in a file.
const EXACT_SETS_IN_MEMORY: usize = 128 << 20;

/// A corpus that has been read, and what its candidate pairs are found and verified by.
pub(super) struct Candidates {
    pub(super) corpus: Corpus,
    keys: BandKeys,
    pub(super) similarity: Box<dyn Similarity>,
}

impl Candidates {
    /// Reads the corpus, files of up to `held_bytes` in all to be read again, and reads again what exact
    /// verification needs of it; sets that do not fit in memory go to `spill_path`.
    pub(super) fn read(
        source: &Source<'_>,
        search: &Search,
        held_bytes: u64,
        spill_path: PathBuf,
        timings: &mut Timings,
    ) -> Result<Self> {
        let with_signatures = (search.verification == Verification::Signature)
            .then(|| (source.signer.num_perm(), source.signer.slot_width()));
        let mut banded = Banded::new(search.banding, with_signatures);
        let corpus = Corpus::read(source, &mut banded, held_bytes, &mut timings.0)?;
        let slot_bytes = source.signer.slot_width().bytes();
        let per_document = search.bytes_per_document(source.signer.num_perm(), slot_bytes) as u64;
        let megabytes =
            corpus.documents() * per_document / 1_000_000 + corpus.id_bytes() / 1_000_000;
        source.progress.tell(&format!(
            "{} documents are read; {megabytes} MB are kept of them",
            corpus.documents()
        ));
        let Banded { keys, signatures } = banded;
        let similarity: Box<dyn Similarity> = match (search.verification, signatures) {
            (Verification::Exact, _) => {
                let sets = timings.time("read again", corpus.bytes, || {
                    let wanted = bucketed_positions(&keys);
                    let mut sets = ExactSets::new(wanted.len(), EXACT_SETS_IN_MEMORY, spill_path);
                    corpus.read_exact_sets(source, &wanted, &mut sets)?;
                    Ok::<_, Error>(sets)
                })?;
                Box::new(sets)
            }
            (_, Some(signatures)) => Box::new(signatures),
            _ => Box::new(Unverified),
        };
        Ok(Candidates {
            corpus,
            keys,
            similarity,
        })
    }

    /// Reads signatures in the place of documents. Those that are equal count as one document, for
    /// nothing tells them apart.
    pub(super) fn of_signatures(
        signatures: SignatureFile,
        search: &Search,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        let scheme = signatures.scheme();
        let shape = (scheme.num_perm(), scheme.family().slot_width());
        let with_signatures = match search.verification {
            Verification::None => None,
            Verification::Signature => Some(shape),
            Verification::Exact => {
                return Err(Error::Conflict(
                    "signatures alone do not tell exact similarities; verify by signature, or read the documents"
                        .to_owned(),
                ));
            }
        };
        let mut banded = Banded::new(search.banding, with_signatures);
        let bytes = signatures.bytes();
        let corpus = timings.time("read", bytes, || {
            Corpus::of_signatures(signatures, &mut banded, progress)
        })?;
        Ok(Candidates {
            corpus,
            keys: banded.keys,
            similarity: match banded.signatures {
                Some(signatures) => Box::new(signatures),
                None => Box::new(Unverified),
            },
        })
    }

    /// Compares the candidate pairs and keeps the similar ones.
    pub(super) fn compare(
        &self,
        progress: &dyn Progress,
        search: &Search,
        large: LargeBuckets<'_>,
        timings: &mut Timings,
    ) -> Result<SimilarPairs> {
        progress.begin("compare", search.banding.bands() as u64);
        timings.time("compare", 0, || {
            similar_pairs(
                &self.keys,
                search.max_bucket,
                large,
                &*self.similarity,
                search.threshold,
                |band| progress.advance(band as u64 + 1, 0, 0),
            )
        })
    }
}
