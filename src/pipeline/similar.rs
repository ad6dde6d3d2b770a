//! The middle of every search: files -> corpus -> similar pairs of distinct documents.

use std::path::PathBuf;

use super::band::Banding;
use super::corpus::{Banded, Corpus, Source};
use super::pair::{LargeBuckets, SimilarPairs, bucketed_positions, similar_pairs};
use super::progress::Timings;
use super::verify::{ExactSets, Similarity, Unverified};
use crate::error::Result;

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
}

impl Search {
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

/// What a search comes to.
pub(super) struct Found {
    pub(super) corpus: Corpus,
    pub(super) pairs: SimilarPairs,
    pub(super) similarity: Box<dyn Similarity>,
}

/// Ranks the positions of a corpus.
pub(super) type Ranking<'a> = dyn Fn(&Corpus) -> Vec<u32> + 'a;

/// Reads the corpus and finds its similar pairs.
///
/// `leaders` ranks the positions if large buckets are to be compared with leaders; exact sets that do
/// not fit in memory go to `spill_path`.
pub(super) fn find_similar(
    source: &Source<'_>,
    search: &Search,
    leaders: Option<&Ranking<'_>>,
    spill_path: PathBuf,
    timings: &mut Timings,
) -> Result<Found> {
    let with_signatures = (search.verification == Verification::Signature)
        .then(|| (source.signer.num_perm(), source.signer.slot_width()));
    let mut banded = Banded::new(search.banding, with_signatures);
    let corpus = Corpus::read(source, &mut banded, &mut timings.0)?;
    let slot_bytes = source.signer.slot_width().bytes();
    let per_document = search.bytes_per_document(source.signer.num_perm(), slot_bytes) as u64;
    let megabytes = corpus.documents() * per_document / 1_000_000 + corpus.id_bytes() / 1_000_000;
    source.progress.tell(&format!(
        "{} documents are read; {megabytes} MB are kept of them",
        corpus.documents()
    ));
    let similarity: Box<dyn Similarity> = match (search.verification, banded.signatures) {
        (Verification::Exact, _) => {
            let sets = timings.time("read again", corpus.bytes, || {
                let wanted = bucketed_positions(&banded.keys);
                let mut sets = ExactSets::new(wanted.len(), EXACT_SETS_IN_MEMORY, spill_path);
                corpus.read_exact_sets(source, &wanted, &mut sets)?;
                Ok::<_, crate::Error>(sets)
            })?;
            Box::new(sets)
        }
        (_, Some(signatures)) => Box::new(signatures),
        _ => Box::new(Unverified),
    };
    let bands = search.banding.bands() as u64;
    source.progress.begin("compare", bands);
    let pairs = timings.time("compare", 0, || {
        let ranks = leaders.map(|leaders| leaders(&corpus));
        let large = match &ranks {
            Some(ranks) => LargeBuckets::Leaders(ranks),
            None => LargeBuckets::Omit,
        };
        similar_pairs(
            &banded.keys,
            search.max_bucket,
            large,
            &*similarity,
            search.threshold,
            |band| source.progress.advance(band as u64 + 1, 0, 0),
        )
    })?;
    Ok(Found {
        corpus,
        pairs,
        similarity,
    })
}
