//! Candidate pairs in memory, from LSH or from an exact join.

use std::ops::ControlFlow;

use super::banded::Banded;
use super::corpus::Corpus;
use super::observed::{Observations, ObservedSignatures};
use super::search::{CandidateMethod, Search};
use crate::error::Result;
use crate::pipeline::{Buckets, Prefixes, Sets, Similarity, Unverified};
use crate::progress::{Counts, Progress, Timings, advance, grouped};
use crate::store::{ExactSets, NearSets};

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

/// The join's pairs of equal prefix elements up to which [`CandidateMethod::Auto`] chooses it. They take some 20 ns
/// each.
const CHEAP_JOIN: u64 = 100_000_000;

/// The same for each shingle, for larger corpora.
const CHEAP_JOIN_PER_SHINGLE: u64 = 100;

/// A join of held sets that could be made.
pub(super) struct Join {
    sets: ExactSets,
    prefixes: Prefixes,
    shingles: u64,
}

impl Join {
    /// Decides between a join of the held sets and LSH, for which it returns the sets.
    pub(super) fn choose(
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

    pub(super) fn candidates(self, corpus: Corpus, search: &Search) -> Result<Candidates> {
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
        without_shingles: corpus.without_shingles,
        bytes: corpus.bytes,
        ..Counts::default()
    }
}
