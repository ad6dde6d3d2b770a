//! Finds all similar pairs of documents.

use std::ops::ControlFlow;

use super::corpus::Corpus;
use super::search::{CandidateMethod, Candidates, Search, counts};
use super::source::InMemory;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{CandidateSource, SimilarPair, similar_pairs};
use crate::progress::{Counts, Progress, Timings, advance, counted};

/// The parameters of a search for all similar pairs. [`Pairs::new`] supplies defaults; change fields as needed.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// The search for similar pairs.
    pub search: Search,
    /// Which pairs of identical documents to return; default [`Identical::All`].
    pub identical: Identical,
    /// The search ends after this many pairs; default a billion.
    pub max_pairs: u64,
}

/// The default of [`Pairs::max_pairs`].
const MAX_PAIRS: u64 = 1_000_000_000;

impl Pairs {
    /// A search that returns all pairs, up to a billion.
    pub fn new(search: Search) -> Self {
        Pairs {
            search,
            identical: Identical::default(),
            max_pairs: MAX_PAIRS,
        }
    }
}

/// The pairs of identical documents: those with the same sequence of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identical {
    /// All: m identical documents form m (m - 1) / 2 pairs of similarity 1, and each has the same partners.
    #[default]
    All,
    /// A star: each of the identical documents is paired with the first of them alone, and only this first one
    /// has other partners.
    Star,
}

impl Identical {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Identical::All => "all",
            Identical::Star => "star",
        }
    }
}

/// What [`pairs`] found, beside the pairs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PairsFound {
    /// The counts of documents and pairs. `similar_pairs` is the number of pairs returned.
    pub counts: Counts,
    /// Whether all pairs were returned. If not, the search ended at [`Pairs::max_pairs`], and
    /// [`Counts::omitted_pairs`] is an upper bound on the pairs of distinct documents not compared.
    pub is_complete: bool,
    /// The probability that the run finds a pair with a similarity equal to the threshold.
    pub recall_at_threshold: f64,
    /// The method that found candidate pairs: [`CandidateMethod::Lsh`] or [`CandidateMethod::Join`].
    pub candidates: CandidateMethod,
    /// The share of truly similar pairs to expect among the pairs of documents that are not identical; see
    /// [`Deduplication::expected_precision`](super::Deduplication::expected_precision).
    pub expected_precision: Option<f64>,
    /// The elapsed times of the stages.
    pub timings: Timings,
}

/// Two similar documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentPair {
    /// The row of the first document: its number among all documents, from 0.
    pub a: u32,
    /// The row of the second document, greater than `a`.
    pub b: u32,
    /// Their similarity; `None` if not computed ([`Verification::None`](super::Verification::None)), and in a search
    /// within a distance.
    pub similarity: Option<f64>,
    /// Their distance; `None` except in a search within a distance ([`Search::within`]).
    pub distance: Option<u64>,
}

/// Finds all similar pairs among documents in memory, and calls `each` with them.
///
/// Without identical documents, pairs come in ascending order of rows. Identical documents are ordered as if each had
/// the row of the first of them. Memory does not grow with the number of pairs.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::jobs::{DocumentPair, Pairs, Search, pairs};
/// use simgpu::progress::Silent;
///
/// let texts = ["a rose is a rose is a rose", "by any other name", "a rose is a rose is a rose"];
/// let engine = Engine::builder().build()?;
/// let task = Pairs::new(Search::new(0.8, engine.scheme())?);
/// let mut found = Vec::new();
/// pairs(&texts, &engine, &task, &Silent, &mut |pair| Ok(found.push(pair)))?;
/// assert_eq!(found, [DocumentPair { a: 0, b: 2, similarity: Some(1.0), distance: None }]);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// The same as [`dedup`](super::dedup), and the first error of `each`, which ends the search.
pub fn pairs<D: Documents + ?Sized>(
    documents: &D,
    engine: &Engine,
    task: &Pairs,
    progress: &dyn Progress,
    each: &mut dyn FnMut(DocumentPair) -> Result<()>,
) -> Result<PairsFound> {
    let mut timings = Timings::default();
    let source = &mut InMemory {
        documents,
        progress,
    };
    let candidates = Candidates::read(source, engine, &task.search, progress, &mut timings)?;
    let search = PairSearch::new(candidates, task);
    let streamed = timings.time("compare", 0, || search.for_each(progress, each))?;
    let num_perm = engine.signer().num_perm();
    Ok(search.found(streamed, num_perm, timings, progress))
}

/// A search for the similar pairs of documents, ready to compare.
pub(crate) struct PairSearch<'a> {
    candidates: Candidates,
    task: &'a Pairs,
    groups: Groups,
}

/// The counts of a search, and whether it came to its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Streamed {
    pairs: u64,
    compared: u64,
    /// The number of documents with candidates whose partners have all been compared.
    pub(crate) documents: usize,
    is_complete: bool,
}

impl<'a> PairSearch<'a> {
    pub(crate) fn new(candidates: Candidates, task: &'a Pairs) -> Self {
        PairSearch {
            groups: Groups::of(&candidates.corpus),
            candidates,
            task,
        }
    }

    /// The search, with the method that found the candidates.
    #[cfg(feature = "io")]
    pub(crate) fn search(&self) -> &Search {
        &self.candidates.search
    }

    /// The number of documents.
    #[cfg(feature = "io")]
    pub(crate) fn documents(&self) -> u32 {
        self.candidates.corpus.rows
    }

    /// Calls `each` with the pairs, in the order that [`pairs`] promises. Progress shows the stage `compare`.
    pub(crate) fn for_each(
        &self,
        progress: &dyn Progress,
        each: &mut dyn FnMut(DocumentPair) -> Result<()>,
    ) -> Result<Streamed> {
        let Candidates {
            buckets,
            similarity,
            ..
        } = &self.candidates;
        progress.begin("compare", buckets.positions().len() as u64);
        let mut streamed = Streamed::default();
        let search = &self.task.search;
        let mut stream = Stream {
            groups: &self.groups,
            identical: self.task.identical,
            is_distance: search.within.is_some(),
            room: self.task.max_pairs,
            each,
            repeated: 0,
        };
        let mut is_ended = false;
        similar_pairs(buckets, &**similarity, search.least(), &mut |block| {
            streamed.compared += block.compared;
            for (done, pair) in (1u64..).zip(block.pairs) {
                if stream.similar(pair)?.is_break() {
                    is_ended = true;
                    return Ok(ControlFlow::Break(()));
                }
                if done % 65_536 == 0 {
                    advance(progress, streamed.documents as u64, 0, 0)?;
                }
            }
            streamed.documents = usize::try_from(block.documents).unwrap_or(usize::MAX);
            advance(progress, block.documents, 0, 0)?;
            Ok(ControlFlow::Continue(()))
        })?;
        streamed.is_complete = !is_ended && stream.identical_up_to(u32::MAX)?.is_continue();
        streamed.pairs = self.task.max_pairs - stream.room;
        Ok(streamed)
    }

    /// The result of a search that `streamed` its pairs.
    pub(crate) fn found(
        &self,
        streamed: Streamed,
        num_perm: usize,
        timings: Timings,
        progress: &dyn Progress,
    ) -> PairsFound {
        let Candidates {
            search,
            corpus,
            buckets,
            observed,
            ..
        } = &self.candidates;
        let mut counts = counts(corpus);
        counts.candidate_pairs = streamed.compared;
        counts.similar_pairs = streamed.pairs;
        if !streamed.is_complete {
            let documents = (0..).take(buckets.positions().len());
            let rest = documents.skip(streamed.documents);
            let omitted = rest.map(|index| buckets.most_partners(index) as u64);
            counts.omitted_pairs = omitted.sum::<u64>().max(1);
            let fewer = match search.within {
                None => "raise the threshold",
                Some(_) => "lower `within`",
            };
            progress.warn(&format!(
                "the search ended after {}, with up to {} not compared; raise `max_pairs`, {fewer}, or pass `identical=star`",
                counted(streamed.pairs, "pair"),
                counted(counts.omitted_pairs, "pair")
            ));
        }
        PairsFound {
            counts,
            is_complete: streamed.is_complete,
            recall_at_threshold: search.recall_at_threshold(num_perm),
            candidates: search.candidates,
            expected_precision: search.expected_precision(num_perm, observed.as_ref()),
            timings,
        }
    }
}

/// Expands pairs of positions into pairs of documents.
struct Stream<'a> {
    groups: &'a Groups,
    identical: Identical,
    /// Whether pairs have a distance in place of a similarity.
    is_distance: bool,
    /// Pairs that may still be returned.
    room: u64,
    each: &'a mut dyn FnMut(DocumentPair) -> Result<()>,
    /// The number of groups of identical documents whose own pairs have been returned.
    repeated: usize,
}

impl Stream<'_> {
    /// Returns the pairs of documents of two similar positions, after those of identical documents that come first.
    fn similar(&mut self, pair: SimilarPair) -> Result<ControlFlow<()>> {
        if self.identical_up_to(pair.lo)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let groups = self.groups;
        let (mut lo, mut hi) = (groups.rows(pair.lo), groups.rows(pair.hi));
        if self.identical == Identical::Star {
            (lo, hi) = (&lo[..1], &hi[..1]);
        }
        for a in lo {
            for b in hi {
                if self.emit(*a, *b, pair.similarity)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the pairs within the groups of identical documents at positions up to `position`.
    fn identical_up_to(&mut self, position: u32) -> Result<ControlFlow<()>> {
        let groups = self.groups;
        let same = if self.is_distance { 0.0 } else { 1.0 };
        while let Some(group) = groups.repeated.get(self.repeated)
            && *group <= position
        {
            self.repeated += 1;
            let rows = groups.rows(*group);
            let firsts = match self.identical {
                Identical::All => rows.len(),
                Identical::Star => 1,
            };
            for (at, a) in rows.iter().enumerate().take(firsts) {
                for b in &rows[at + 1..] {
                    if self.emit(*a, *b, Some(same))?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns a pair. `nearness` is its similarity, or its negative distance.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a distance is a number of elements in memory"
    )]
    fn emit(&mut self, a: u32, b: u32, nearness: Option<f64>) -> Result<ControlFlow<()>> {
        if self.room == 0 {
            return Ok(ControlFlow::Break(()));
        }
        self.room -= 1;
        let distance = nearness.map(|nearness| -nearness as u64);
        (self.each)(DocumentPair {
            a: a.min(b),
            b: a.max(b),
            similarity: nearness.filter(|_| !self.is_distance),
            distance: distance.filter(|_| self.is_distance),
        })?;
        Ok(ControlFlow::Continue(()))
    }
}

/// The documents at each position.
#[derive(Debug)]
struct Groups {
    /// The rows of each position, ascending; `starts[i]` is the index of the first row of position `i`.
    rows: Vec<u32>,
    starts: Vec<usize>,
    /// The positions with several documents, ascending.
    repeated: Vec<u32>,
}

impl Groups {
    fn of(corpus: &Corpus) -> Self {
        let positions = corpus.positions();
        let mut starts = vec![0; positions + 1];
        for (_, position) in corpus.members() {
            starts[position as usize + 1] += 1;
        }
        for i in 0..positions {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[positions]];
        // Members come with ascending rows for each position: the first one, then its repeats.
        for (row, position) in corpus.members() {
            rows[next[position as usize]] = row;
            next[position as usize] += 1;
        }
        let sizes = starts.windows(2).map(|group| group[1] - group[0]);
        let repeated = (0..).zip(sizes).filter(|(_, size)| *size > 1);
        Groups {
            repeated: repeated.map(|(position, _)| position).collect(),
            rows,
            starts,
        }
    }

    fn rows(&self, position: u32) -> &[u32] {
        let position = position as usize;
        &self.rows[self.starts[position]..self.starts[position + 1]]
    }
}
