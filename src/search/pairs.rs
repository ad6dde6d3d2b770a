//! Finds all similar pairs of documents.

use std::ops::ControlFlow;

use super::context::Context;
use super::copies::Copies;
use super::corpus::Corpus;
use super::disk::{PairRecord, SpilledPairs};
use super::observations::Observations;
use super::parameters::{CandidateMethod, Search};
use super::part::Part;
use super::signature_rows::SignaturesInMemory;
use super::source::InMemory;
use super::stages::{Parts, Searched};
use crate::documents::Documents;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::Conflict;
use crate::error::Result;
use crate::pipeline::{CandidateSource, similar_pairs};
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

/// The pairs of identical documents: those with the same normalised text, or the same list of tokens.
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
    /// The share of truly similar pairs to expect among the pairs, those of identical documents included; see
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
/// use simgpu::search::{DocumentPair, Pairs, Search, pairs};
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
        classes: None,
        progress,
    };
    let context = &mut Context {
        search: &task.search,
        progress,
        timings: &mut timings,
    };
    let searched = Searched::read(source, engine, context)?;
    let search = PairSearch::new(searched, task, progress, &mut timings)?;
    let each = &mut |pair, _: Option<[&str; 2]>| each(pair);
    let streamed = timings.time("compare", 0, || search.for_each(progress, each))?;
    Ok(search.found(streamed, timings, progress))
}

impl SignaturesInMemory<'_> {
    /// Finds all similar pairs among the documents that were signed, as [`pairs`] does.
    ///
    /// # Errors
    /// [`Conflict::ExactWithoutDocuments`] and [`Conflict::JoinWithoutDocuments`] for a task that needs the documents;
    /// otherwise those of [`pairs`].
    pub fn pairs(
        &self,
        task: &Pairs,
        progress: &dyn Progress,
        each: &mut dyn FnMut(DocumentPair) -> Result<()>,
    ) -> Result<PairsFound> {
        let mut timings = Timings::default();
        let searched = self.searched(&task.search, progress, &mut timings)?;
        let search = PairSearch::new(searched, task, progress, &mut timings)?;
        let each = &mut |pair, _: Option<[&str; 2]>| each(pair);
        let streamed = timings.time("compare", 0, || search.for_each(progress, each))?;
        Ok(search.found(streamed, timings, progress))
    }
}

/// A search for the similar pairs of documents, ready to return them.
pub(crate) struct PairSearch<'a> {
    task: &'a Pairs,
    /// The search, with the method that found the candidates.
    search: Search,
    num_perm: usize,
    /// The counts of documents.
    counts: Counts,
    copies: Copies,
    /// At least the number of candidate pairs; `None` for those of LSH.
    most_pairs: Option<u64>,
    /// The estimates of candidates; `None` without estimates.
    observed: Option<Observations>,
    found: PairSource,
}

/// Where the pairs come from.
enum PairSource {
    /// They are found on the way.
    InMemory(Box<Part<'static>>),
    /// They have been found.
    OnDisk(SpilledPairs),
}

/// The counts of a search, and whether it came to its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Streamed {
    pairs: u64,
    compared: u64,
    /// The number of documents with candidates whose partners have all been compared.
    pub(crate) documents: usize,
    /// The pairs of identical documents.
    identical: u64,
    /// The pairs with equal shingles of documents that are not identical.
    equal: u64,
    /// An upper bound on the candidates of all other documents.
    omitted: u64,
    is_complete: bool,
}

/// Receives a pair, and the ids of both documents as JSON if the search has read them.
pub(crate) type EachPair<'a> = dyn FnMut(DocumentPair, Option<[&str; 2]>) -> Result<()> + 'a;

impl<'a> PairSearch<'a> {
    /// Finds the pairs if the documents are on disk.
    pub(crate) fn new(
        searched: Searched,
        task: &'a Pairs,
        progress: &dyn Progress,
        timings: &mut Timings,
    ) -> Result<Self> {
        let observed = searched.observed().cloned();
        let Searched {
            search,
            num_perm,
            rows,
            counts,
            most_pairs,
            parts,
            ..
        } = searched;
        let (copies, found) = match parts {
            Parts::Whole(mut part) => {
                let copies = Copies::of(&part.corpus);
                // Nothing else is needed of the documents from now on.
                part.corpus = Corpus {
                    distinct: std::mem::take(&mut part.corpus.distinct),
                    ..Corpus::default()
                };
                (copies, PairSource::InMemory(part))
            }
            Parts::Spilled(parts, spill) => {
                let (pairs, copies) = timings.time("compare", 0, || {
                    SpilledPairs::find(&parts, rows, &spill, progress)
                })?;
                timings.add_disk_use(spill.take_use(parts.count()));
                (copies, PairSource::OnDisk(pairs))
            }
        };
        Ok(PairSearch {
            task,
            search,
            num_perm,
            counts,
            copies,
            most_pairs,
            observed,
            found,
        })
    }

    /// The search, with the method that found the candidates.
    pub(crate) fn search(&self) -> &Search {
        &self.search
    }

    /// Calls `each` with the pairs, in the order that [`pairs`] promises. Progress shows the stage `compare`.
    pub(crate) fn for_each(
        &self,
        progress: &dyn Progress,
        each: &mut EachPair<'_>,
    ) -> Result<Streamed> {
        let mut stream = Stream {
            copies: &self.copies,
            identical: self.task.identical,
            is_distance: self.search.within.is_some(),
            room: self.task.max_pairs,
            each,
            repeated: 0,
            same: 0,
            equal: 0,
        };
        let (mut streamed, is_ended) = match &self.found {
            PairSource::InMemory(part) => {
                progress.begin("compare", part.buckets.positions().len() as u64);
                stream.in_memory(part, self.search.least(), progress)?
            }
            PairSource::OnDisk(pairs) => {
                progress.begin("compare", pairs.documents());
                stream.on_disk(pairs, progress)?
            }
        };
        streamed.is_complete = !is_ended && stream.identical_up_to(u32::MAX)?.is_continue();
        streamed.pairs = self.task.max_pairs - stream.room;
        (streamed.identical, streamed.equal) = (stream.same, stream.equal);
        Ok(streamed)
    }

    /// The result of a search that `streamed` its pairs.
    pub(crate) fn found(
        &self,
        streamed: Streamed,
        timings: Timings,
        progress: &dyn Progress,
    ) -> PairsFound {
        let search = &self.search;
        let mut counts = self.counts.clone();
        counts.candidate_pairs = streamed.compared;
        counts.similar_pairs = streamed.pairs;
        counts.equal_shingles = counts.equal_shingles.map(|_| streamed.equal);
        if !streamed.is_complete {
            let omitted = match self.most_pairs {
                Some(most) => most - streamed.compared.min(most),
                None => streamed.omitted,
            };
            counts.omitted_pairs = omitted;
            counts.bound_omitted_pairs();
            // At least one, which may be of identical documents.
            counts.omitted_pairs = counts.omitted_pairs.max(1);
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
            recall_at_threshold: search.recall_at_threshold(self.num_perm),
            candidates: search.candidates,
            expected_precision: search.expected_precision(
                self.num_perm,
                self.observed.as_ref(),
                [streamed.identical, streamed.pairs],
            ),
            timings,
        }
    }
}

/// Expands pairs of distinct documents, each named by its row, into pairs of documents.
struct Stream<'a, 'b> {
    copies: &'a Copies,
    identical: Identical,
    /// Whether pairs have a distance in place of a similarity.
    is_distance: bool,
    /// Pairs that may still be returned.
    room: u64,
    each: &'a mut EachPair<'b>,
    /// The number of groups of identical documents whose own pairs have been returned.
    repeated: usize,
    /// The number of pairs of identical documents that have been returned.
    same: u64,
    /// The number of other pairs of similarity 1 that have been returned.
    equal: u64,
}

/// Pairs returned between two calls of [`Progress::advance`].
const PAIRS: u64 = 1 << 16;

impl Stream<'_, '_> {
    /// Returns the pairs that the comparison of candidates finds, and whether there was no room for all of them.
    fn in_memory(
        &mut self,
        part: &Part<'_>,
        least: f64,
        progress: &dyn Progress,
    ) -> Result<(Streamed, bool)> {
        let (rows, buckets) = (&part.corpus.distinct, &part.buckets);
        let mut streamed = Streamed::default();
        let mut is_ended = false;
        similar_pairs(buckets, &*part.similarity, least, &mut |block| {
            let mut pairs = (1u64..).zip(block.pairs).peekable();
            for compared in block.compared_by_document {
                let lo = buckets.positions()[streamed.documents];
                streamed.documents += 1;
                streamed.compared += compared;
                while let Some((done, pair)) = pairs.next_if(|(_, pair)| pair.lo == lo) {
                    let of_pair = [pair.lo, pair.hi].map(|position| rows[position as usize]);
                    if self.similar(of_pair, pair.similarity, None)?.is_break() {
                        is_ended = true;
                        return Ok(ControlFlow::Break(()));
                    }
                    if done % PAIRS == 0 {
                        advance(progress, streamed.documents as u64, 0, 0)?;
                    }
                }
            }
            advance(progress, block.documents, 0, 0)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if is_ended {
            let documents = (0..).take(buckets.positions().len());
            let rest = documents.skip(streamed.documents);
            streamed.omitted = rest.map(|index| buckets.most_partners(index) as u64).sum();
        }
        Ok((streamed, is_ended))
    }

    /// The same for pairs that have been found.
    fn on_disk(
        &mut self,
        pairs: &SpilledPairs,
        progress: &dyn Progress,
    ) -> Result<(Streamed, bool)> {
        let mut streamed = Streamed::default();
        let mut is_ended = false;
        for (done, record) in (1u64..).zip(pairs.iter()) {
            match record? {
                PairRecord::Document { most, .. } if is_ended => streamed.omitted += most,
                PairRecord::Document { compared, .. } => {
                    streamed.documents += 1;
                    streamed.compared += compared;
                }
                PairRecord::Pair { .. } if is_ended => {}
                PairRecord::Pair {
                    rows,
                    similarity,
                    ids,
                } => {
                    let ids = [&*ids[0], &*ids[1]];
                    is_ended = self.similar(rows, similarity, Some(ids))?.is_break();
                }
            }
            if done % PAIRS == 0 {
                advance(progress, streamed.documents as u64, 0, 0)?;
            }
        }
        Ok((streamed, is_ended))
    }

    /// Returns the pairs of documents of two similar ones, after those of identical documents that come first. `ids` are
    /// the ids of these two.
    fn similar(
        &mut self,
        rows: [u32; 2],
        similarity: Option<f64>,
        ids: Option<[&str; 2]>,
    ) -> Result<ControlFlow<()>> {
        if self.identical_up_to(rows[0])?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let copies = self.copies;
        let [lo, hi] = rows.map(|row| match self.identical {
            Identical::All => copies.of_row(row),
            Identical::Star => &[],
        });
        for a in std::iter::once(&rows[0]).chain(lo) {
            for b in std::iter::once(&rows[1]).chain(hi) {
                let ids = ids.map(|[of_lo, of_hi]| {
                    let id =
                        |row: u32, first: u32, id| if row == first { id } else { copies.id(row) };
                    [id(*a, rows[0], of_lo), id(*b, rows[1], of_hi)]
                });
                if self.emit([(*a), (*b)], similarity, ids)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                self.equal += u64::from(similarity == Some(1.0));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the pairs within the groups of identical documents whose first row is at most `row`.
    fn identical_up_to(&mut self, row: u32) -> Result<ControlFlow<()>> {
        let copies = self.copies;
        let same = if self.is_distance { 0.0 } else { 1.0 };
        while let Some(first) = copies.firsts.get(self.repeated)
            && *first <= row
        {
            self.repeated += 1;
            let group: Vec<u32> = std::iter::once(first)
                .chain(copies.of_row(*first))
                .copied()
                .collect();
            let firsts = match self.identical {
                Identical::All => group.len(),
                Identical::Star => 1,
            };
            for (at, a) in group.iter().enumerate().take(firsts) {
                for b in &group[at + 1..] {
                    let ids = copies.has_ids().then(|| [copies.id(*a), copies.id(*b)]);
                    if self.emit([*a, *b], Some(same), ids)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    self.same += 1;
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
    fn emit(
        &mut self,
        [a, b]: [u32; 2],
        nearness: Option<f64>,
        ids: Option<[&str; 2]>,
    ) -> Result<ControlFlow<()>> {
        if self.room == 0 {
            return Ok(ControlFlow::Break(()));
        }
        self.room -= 1;
        let distance = nearness.map(|nearness| -nearness as u64);
        let pair = DocumentPair {
            a: a.min(b),
            b: a.max(b),
            similarity: nearness.filter(|_| !self.is_distance),
            distance: distance.filter(|_| self.is_distance),
        };
        (self.each)(
            pair,
            ids.map(|[of_a, of_b]| if a < b { [of_a, of_b] } else { [of_b, of_a] }),
        )?;
        Ok(ControlFlow::Continue(()))
    }
}
