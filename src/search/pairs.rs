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
use super::source::{InMemory, Source};
use super::stages::{Parts, Searched};
use crate::documents::Documents;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::Conflict;
use crate::error::Result;
use crate::pipeline::{CandidateSource, Pairing, similar_pairs};
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
    let source = &mut InMemory {
        documents,
        reference: None,
        classes: None,
        progress,
    };
    pairs_of(source, engine, task, progress, each)
}

/// Finds the similar pairs of a source.
pub(super) fn pairs_of(
    source: &mut dyn Source,
    engine: &Engine,
    task: &Pairs,
    progress: &dyn Progress,
    each: &mut dyn FnMut(DocumentPair) -> Result<()>,
) -> Result<PairsFound> {
    let mut timings = Timings::default();
    let context = &mut Context {
        search: &task.search,
        pairing: Pairing::Across,
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
        self.all_pairs(None, task, progress, each)
    }

    /// Finds all similar pairs of a document that was signed and one of the reference, as
    /// [`pairs_against`](super::pairs_against) does.
    ///
    /// # Errors
    /// Those of [`SignaturesInMemory::pairs`], and [`Error::Parameter`](crate::Error::Parameter) for signatures of another
    /// scheme.
    pub fn pairs_against(
        &self,
        reference: &SignaturesInMemory<'_>,
        task: &Pairs,
        progress: &dyn Progress,
        each: &mut dyn FnMut(DocumentPair) -> Result<()>,
    ) -> Result<PairsFound> {
        self.all_pairs(Some(reference), task, progress, each)
    }

    fn all_pairs(
        &self,
        reference: Option<&SignaturesInMemory<'_>>,
        task: &Pairs,
        progress: &dyn Progress,
        each: &mut dyn FnMut(DocumentPair) -> Result<()>,
    ) -> Result<PairsFound> {
        let mut timings = Timings::default();
        let context = &mut Context {
            search: &task.search,
            pairing: Pairing::Across,
            progress,
            timings: &mut timings,
        };
        let searched = self.searched(reference, context)?;
        let search = PairSearch::new(searched, task, progress, &mut timings)?;
        let each = &mut |pair, _: Option<[&str; 2]>| each(pair);
        let streamed = timings.time("compare", 0, || search.for_each(progress, each))?;
        Ok(search.found(streamed, timings, progress))
    }
}

/// A search for the similar pairs of documents, ready to return them.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct PairSearch<'a> {
    task: &'a Pairs,
    /// The search, with the method that found the candidates.
    search: Search,
    num_perm: usize,
    /// The counts of documents.
    counts: Counts,
    /// The number of documents of a reference, which have the first rows; `None` without one.
    reference: Option<u32>,
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
#[doc(hidden)]
pub struct Streamed {
    pairs: u64,
    compared: u64,
    /// The number of documents with candidates whose partners have all been compared.
    #[doc(hidden)]
    pub documents: usize,
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
    #[doc(hidden)]
    pub fn new(
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
            reference,
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
            reference,
            copies,
            most_pairs,
            observed,
            found,
        })
    }

    /// The search, with the method that found the candidates.
    #[doc(hidden)]
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Calls `each` with the pairs, in the order that [`pairs`] promises. Progress shows the stage `compare`.
    #[doc(hidden)]
    pub fn for_each(&self, progress: &dyn Progress, each: &mut EachPair<'_>) -> Result<Streamed> {
        let mut stream = PairStream {
            copies: &self.copies,
            reference: self.reference,
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
    #[doc(hidden)]
    pub fn found(
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
struct PairStream<'a, 'b> {
    copies: &'a Copies,
    /// The number of documents of a reference; `None` without one.
    reference: Option<u32>,
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

impl<'a> PairStream<'a, '_> {
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
                    let pair_rows = [pair.lo, pair.hi].map(|position| rows[position as usize]);
                    if self.similar(pair_rows, pair.similarity, None)?.is_break() {
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
        let [lo, hi] = rows.map(|row| self.partners_like(row));
        for a in std::iter::once(&rows[0]).chain(lo) {
            for b in std::iter::once(&rows[1]).chain(hi) {
                let ids = ids.map(|[lo_id, hi_id]| {
                    let id =
                        |row: u32, first: u32, id| if row == first { id } else { copies.id(row) };
                    [id(*a, rows[0], lo_id), id(*b, rows[1], hi_id)]
                });
                if !self.returns(*a, *b) {
                    continue;
                }
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
                .chain(copies.copies_of(*first))
                .copied()
                .collect();
            let firsts = match self.identical {
                Identical::All => group.len(),
                Identical::Star => 1,
            };
            for (at, a) in group.iter().enumerate().take(firsts) {
                for b in &group[at + 1..] {
                    if !self.returns(*a, *b) {
                        continue;
                    }
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

    /// The copies of a document that have the same partners.
    fn partners_like(&self, row: u32) -> &'a [u32] {
        let copies = self.copies.copies_of(row);
        match (self.identical, self.reference) {
            (Identical::All, _) => copies,
            // A document of the reference stands for its copies there.
            (Identical::Star, Some(reference)) if row < reference => {
                let inputs = copies.partition_point(|row| *row < reference);
                copies.get(inputs..=inputs).unwrap_or_default()
            }
            (Identical::Star, _) => &[],
        }
    }

    /// Whether the search returns pairs of two documents: with a reference, one is of it.
    fn returns(&self, a: u32, b: u32) -> bool {
        let is_across = |reference| (a < reference) != (b < reference);
        self.reference.is_none_or(is_across)
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
            ids.map(|[id_a, id_b]| if a < b { [id_a, id_b] } else { [id_b, id_a] }),
        )?;
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::pipeline::{Banding, Distance, Measure, Shingling, Unit, Within};
    use crate::progress::Silent;
    use crate::search::tests::{
        List, Spilling, Told, batch, chain, contained, engine_of_tokens, families, groups, id_of,
        jaccard, joined, nested, through_bands,
    };
    use crate::search::verification::Verification;

    /// So little memory that every stage is on disk.
    const LITTLE: usize = 16 << 10;

    /// The pairs of a search in memory.
    fn in_memory(lists: &[List], engine: &Engine, task: &Pairs) -> (Vec<DocumentPair>, PairsFound) {
        let mut found = Vec::new();
        let each = &mut |pair| {
            found.push(pair);
            Ok(())
        };
        let result = pairs(&batch(lists), engine, task, &Silent, each).unwrap();
        (found, result)
    }

    /// The same on disk, where each pair comes with both ids.
    fn on_disk(lists: &[List], engine: &Engine, task: &Pairs) -> (Vec<DocumentPair>, PairsFound) {
        let (folder, documents, told) = (tempfile::tempdir().unwrap(), batch(lists), Told::new());
        let source = &mut Spilling::new(&documents, folder.path(), LITTLE, &told);
        let mut timings = Timings::default();
        let context = &mut Context {
            search: &task.search,
            pairing: Pairing::Across,
            progress: &told,
            timings: &mut timings,
        };
        let searched = Searched::read(source, engine, context).unwrap();
        assert!(told.has("goes on on disk"));
        let search = PairSearch::new(searched, task, &told, &mut timings).unwrap();
        let mut found = Vec::new();
        let each = &mut |pair: DocumentPair, ids: Option<[&str; 2]>| {
            let expected = [pair.a, pair.b].map(id_of);
            assert_eq!(ids, Some(expected.each_ref().map(|id| &**id)));
            found.push(pair);
            Ok(())
        };
        let streamed = search.for_each(&told, each).unwrap();
        let result = search.found(streamed, timings, &told);
        (found, result)
    }

    /// Rows of a pair, in the order in which pairs come: by the first of the documents identical to each.
    type Ordered = [u32; 2];

    /// All similar pairs by their definition, and the order of each.
    fn expected(
        lists: &[List],
        threshold: f64,
        identical: Identical,
    ) -> BTreeMap<[u32; 2], (Ordered, f64)> {
        let mut firsts: BTreeMap<u32, u32> = BTreeMap::new();
        for (first, rows) in groups(lists) {
            firsts.extend(rows.into_iter().map(|row| (row, first)));
        }
        let mut pairs = BTreeMap::new();
        let rows: Vec<(u32, u32)> = firsts.into_iter().collect();
        for (at, (a, first_a)) in rows.iter().enumerate() {
            for (b, first_b) in &rows[at + 1..] {
                let similarity = jaccard(&lists[*a as usize], &lists[*b as usize]);
                let is_wanted = match identical {
                    Identical::All => true,
                    Identical::Star if first_a == first_b => a == first_a,
                    Identical::Star => a == first_a && b == first_b,
                };
                if let Some(similarity) =
                    similarity.filter(|known| is_wanted && *known >= threshold)
                {
                    let order = [*first_a.min(first_b), *first_a.max(first_b)];
                    pairs.insert([*a, *b], (order, similarity));
                }
            }
        }
        pairs
    }

    #[test]
    fn a_join_finds_all_pairs_in_order() {
        let engine = engine_of_tokens();
        for seed in [1, 2] {
            let lists = [families(seed, 60), chain(30)].concat();
            for (threshold, identical) in [(0.5, Identical::All), (0.75, Identical::Star)] {
                let task = Pairs {
                    identical,
                    ..Pairs::new(joined(threshold, &engine))
                };
                let expected = expected(&lists, threshold, identical);
                let (found, result) = in_memory(&lists, &engine, &task);
                let orders: Vec<Ordered> = found
                    .iter()
                    .map(|pair| expected[&[pair.a, pair.b]].0)
                    .collect();
                assert!(orders.is_sorted(), "{task:?}");
                let similarities = found.iter().map(|pair| {
                    assert_eq!(pair.distance, None);
                    ([pair.a, pair.b], pair.similarity)
                });
                let similarities: BTreeMap<_, _> = similarities.collect();
                let known = expected
                    .iter()
                    .map(|(rows, (_, known))| (*rows, Some(*known)));
                assert_eq!(similarities, known.collect(), "{task:?}");
                assert_eq!(found.len(), expected.len());
                assert!(result.is_complete);
                assert_eq!(result.counts.similar_pairs, found.len() as u64);
                let is_equal = |pair: &&DocumentPair| {
                    let [first_a, first_b] = expected[&[pair.a, pair.b]].0;
                    pair.similarity == Some(1.0) && first_a != first_b
                };
                let equal = found.iter().filter(is_equal).count() as u64;
                assert_eq!(result.counts.equal_shingles, Some(equal));
                let (spilled, spilled_result) = on_disk(&lists, &engine, &task);
                assert_eq!(spilled, found, "{task:?}");
                assert_eq!(spilled_result.counts, result.counts);
            }
        }
    }

    #[test]
    fn a_join_finds_all_contained_pairs() {
        let engine = engine_of_tokens();
        for (seed, threshold) in [(1, 0.5), (2, 0.8), (3, 1.0)] {
            let lists = nested(seed, 50);
            let task = Pairs::new(Search {
                measure: Measure::Contained,
                ..joined(threshold, &engine)
            });
            let mut expected = BTreeMap::new();
            for (b, list_b) in (0..).zip(&lists) {
                for (a, list_a) in (0..b).zip(&lists) {
                    if let Some(share) =
                        contained(list_a, list_b).filter(|share| *share >= threshold)
                    {
                        expected.insert([a, b], Some(share));
                    }
                }
            }
            let (found, result) = in_memory(&lists, &engine, &task);
            let pairs = found.iter().map(|pair| ([pair.a, pair.b], pair.similarity));
            assert_eq!(pairs.collect::<BTreeMap<_, _>>(), expected);
            assert!(expected.len() > 100);
            assert_eq!(result.counts.equal_shingles, None);
            let (spilled, spilled_result) = on_disk(&lists, &engine, &task);
            assert_eq!(spilled, found);
            assert_eq!(spilled_result.counts, result.counts);
        }
    }

    /// What bands find of all contained pairs, by the ratio of sizes, is what is stated.
    #[test]
    fn the_recall_of_contained_pairs_is_stated() {
        let engine = engine_of_tokens();
        let num_perm = engine.scheme().num_perm();
        let search = through_bands(1.0, &engine);
        let search = search
            .measured(Measure::Contained, engine.scheme())
            .unwrap();
        for ratio in [1_u32, 2, 5, 10] {
            // Pairs of their own tokens: a part of 12 and a whole that has them.
            let pairs = 600;
            let lists: Vec<List> = (0..pairs)
                .flat_map(|pair| {
                    let whole: List = (0..12 * u64::from(ratio) + u64::from(ratio == 1))
                        .map(|at| pair << 20 | at)
                        .collect();
                    [whole[..12].to_vec(), whole]
                })
                .collect();
            let (found, _) = in_memory(&lists, &engine, &Pairs::new(search.clone()));
            let recall = found.len() as f64 / pairs as f64;
            let stated = search.recall_at_ratio(num_perm, ratio.into());
            let error = (stated * (1.0 - stated) / pairs as f64).sqrt();
            // The whole of as many has one token more, so that the two are not identical.
            let slack = 4.0 * error + if ratio == 1 { 0.05 } else { 0.005 };
            assert!(
                (recall - stated).abs() < slack,
                "{ratio}: {recall} {stated}"
            );
        }
    }

    #[test]
    fn disk_and_memory_find_the_same_through_bands() {
        let engine = engine_of_tokens();
        let lists = families(4, 60);
        for verification in [
            Verification::None,
            Verification::Signature,
            Verification::Exact,
        ] {
            for (max_pairs, identical) in [
                (u64::MAX, Identical::All),
                (90, Identical::All),
                (90, Identical::Star),
            ] {
                let task = Pairs {
                    max_pairs,
                    identical,
                    ..Pairs::new(Search {
                        verification,
                        ..through_bands(0.5, &engine)
                    })
                };
                let (found, result) = in_memory(&lists, &engine, &task);
                let (spilled, spilled_result) = on_disk(&lists, &engine, &task);
                assert_eq!(spilled, found, "{task:?}");
                assert_eq!(spilled_result.is_complete, result.is_complete);
                assert_eq!(spilled_result.expected_precision, result.expected_precision);
                assert_eq!(result.is_complete, max_pairs == u64::MAX);
                if result.is_complete {
                    assert_eq!(spilled_result.counts, result.counts);
                }
            }
        }
    }

    #[test]
    fn a_search_ends_after_so_many_pairs() {
        let engine = engine_of_tokens();
        // Seven documents without a copy, of which any two are similar, and three that are equal.
        let similar = (0..7).map(|own| [vec![100 + own], (0..20).collect()].concat());
        let lists: Vec<List> = similar.chain(vec![vec![900, 901, 902]; 3]).collect();
        let one_band = Search {
            banding: Banding::new(1, 1, engine.scheme().num_perm()).unwrap(),
            ..through_bands(0.5, &engine)
        };
        for search in [joined(0.5, &engine), through_bands(0.5, &engine), one_band] {
            let whole = in_memory(&lists, &engine, &Pairs::new(search.clone())).0;
            let all = whole.len();
            assert!(all > 15 && all <= 7 * 6 / 2 + 3);
            for max_pairs in [0, 1, 2, 7, all - 1, all] {
                let task = Pairs {
                    max_pairs: max_pairs as u64,
                    ..Pairs::new(search.clone())
                };
                for (found, result) in [
                    in_memory(&lists, &engine, &task),
                    on_disk_if_large(&lists, &engine, &task),
                ] {
                    assert_eq!(found, whole[..max_pairs]);
                    assert_eq!(result.is_complete, max_pairs == all);
                    // Pairs of documents whose comparisons had not begun, and at least one.
                    let left = whole[max_pairs..].iter().filter(|pair| pair.b < 7);
                    let begun = whole.get(max_pairs).map_or(7, |pair| pair.a);
                    let left = left.filter(|pair| pair.a > begun).count() as u64;
                    let omitted = result.counts.omitted_pairs;
                    if result.is_complete {
                        assert_eq!(omitted, 0)
                    } else {
                        assert!(omitted >= left.max(1), "{omitted} {left}")
                    }
                }
            }
        }
    }

    /// On disk, among so many others that they do not fit in memory.
    fn on_disk_if_large(
        lists: &[List],
        engine: &Engine,
        task: &Pairs,
    ) -> (Vec<DocumentPair>, PairsFound) {
        let others = (0..250).map(|own| vec![10_000 + own]);
        let lists: Vec<List> = lists.iter().cloned().chain(others).collect();
        on_disk(&lists, engine, task)
    }

    #[test]
    fn distances_are_those_of_the_bags() {
        let shingling = Shingling {
            weighting: Distance::L1.weighting(),
            ..Shingling::of(Unit::Tokens)
        };
        let engine = Engine::builder().shingling(shingling).work_bytes(1);
        let engine = engine.build().unwrap();
        let lists: Vec<List> = vec![
            vec![1, 1, 2],
            vec![1, 2],
            vec![],
            vec![3, 3, 3, 3],
            vec![1, 2],
            vec![2],
        ];
        let count = |list: &List, token| list.iter().filter(|known| **known == token).count();
        for most in 0..4 {
            let task = Pairs::new(Search {
                within: Some(Within {
                    distance: Distance::L1,
                    most,
                }),
                ..joined(0.5, &engine)
            });
            let mut expected = Vec::new();
            for (a, left) in (0..).zip(&lists) {
                for (b, right) in (0..).zip(&lists).filter(|(b, _)| *b > a) {
                    let difference = |token| count(left, token).abs_diff(count(right, token));
                    let distance = (1..4).map(difference).sum::<usize>() as u64;
                    expected.extend((distance <= most).then_some((a, b, Some(distance))));
                }
            }
            let (mut found, result) = in_memory(&lists, &engine, &task);
            found.sort_by_key(|pair| (pair.a, pair.b));
            assert!(found.iter().all(|pair| pair.similarity.is_none()));
            let found = found.iter().map(|pair| (pair.a, pair.b, pair.distance));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{most}");
            assert_eq!(result.counts.equal_shingles, None);
        }
    }

    #[test]
    fn an_error_of_the_receiver_ends_the_search() {
        let engine = engine_of_tokens();
        let task = Pairs::new(joined(0.5, &engine));
        let documents = batch(&families(1, 20));
        let mut calls = 0;
        let each = &mut |_: DocumentPair| {
            calls += 1;
            match calls {
                3 => Err(crate::Error::Stopped),
                _ => Ok(()),
            }
        };
        assert!(pairs(&documents, &engine, &task, &Silent, each).is_err());
        assert_eq!(calls, 3);
    }
}
