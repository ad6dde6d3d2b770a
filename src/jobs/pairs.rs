//! Finds all similar pairs of documents.

use super::corpus::Corpus;
use super::search::{Candidates, Search, counts, warn_of_omitted};
use super::source::{InMemory, Source};
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{LargeBuckets, SimilarPair};
use crate::progress::{Counts, Progress, Timings};

/// The similar pairs that [`pairs`] found.
///
/// Identical documents, those with the same sequence of units, are pairs of similarity 1 and have the same
/// partners. In a group of more than [`Search::max_bucket`] identical documents, each is paired with the
/// first one only.
#[derive(Debug)]
pub struct PairsFound {
    /// The counts of documents and pairs. `similar_pairs` is the number of pairs of
    /// [`PairsFound::for_each`].
    pub counts: Counts,
    /// The probability that a pair with a similarity equal to the threshold becomes a candidate.
    pub recall_at_threshold: f64,
    /// The elapsed times of the stages.
    pub timings: Timings,
    groups: Groups,
}

/// Two similar documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentPair {
    /// The row of the first document: its number among all documents, from 0.
    pub a: u32,
    /// The row of the second document, greater than `a`.
    pub b: u32,
    /// Their similarity; `None` if not computed ([`Verification::None`](super::Verification::None)).
    pub similarity: Option<f64>,
}

impl PairsFound {
    /// Calls `each` with every pair, in ascending order of rows. Makes pairs one by one, so memory does not
    /// grow with the number of identical documents squared.
    ///
    /// # Errors
    /// The first error of `each`, which ends the iteration.
    pub fn for_each(&self, each: impl FnMut(DocumentPair) -> Result<()>) -> Result<()> {
        self.groups.for_each(each)
    }

    /// All pairs, in ascending order of rows.
    pub fn to_vec(&self) -> Vec<DocumentPair> {
        let mut pairs = Vec::new();
        // The closure never fails.
        let _ = self.for_each(|pair| {
            pairs.push(pair);
            Ok(())
        });
        pairs
    }
}

/// Finds all similar pairs among documents in memory.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::jobs::{DocumentPair, Search, pairs};
/// use simgpu::progress::Silent;
///
/// let texts = ["a rose is a rose is a rose", "by any other name", "a rose is a rose is a rose"];
/// let engine = Engine::builder().build()?;
/// let search = Search::new(0.8, engine.scheme())?;
/// let found = pairs(&texts, &engine, &search, &Silent)?;
/// assert_eq!(found.to_vec(), [DocumentPair { a: 0, b: 2, similarity: Some(1.0) }]);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// The same as [`dedup`](super::dedup).
pub fn pairs<D: Documents + ?Sized>(
    documents: &D,
    engine: &Engine,
    search: &Search,
    progress: &dyn Progress,
) -> Result<PairsFound> {
    engine.check_form(&documents.empty_batch())?;
    let (_, found) = find_pairs(&mut InMemory(documents), engine, search, progress)?;
    Ok(found)
}

/// Finds all similar pairs of a source. Also returns the corpus.
pub(crate) fn find_pairs(
    source: &mut dyn Source,
    engine: &Engine,
    search: &Search,
    progress: &dyn Progress,
) -> Result<(Corpus, PairsFound)> {
    let mut timings = Timings::default();
    let candidates = Candidates::read(source, engine, search, progress, &mut timings)?;
    pairs_of_candidates(candidates, search, progress, timings)
}

/// Finds all similar pairs among candidates. Also returns the corpus.
pub(crate) fn pairs_of_candidates(
    candidates: Candidates,
    search: &Search,
    progress: &dyn Progress,
    mut timings: Timings,
) -> Result<(Corpus, PairsFound)> {
    let found = candidates.compare(search, LargeBuckets::Omit, progress, &mut timings)?;
    let corpus = candidates.corpus;
    let groups = Groups::of(&corpus, &found.pairs, search.max_bucket);
    let mut counts = counts(&corpus, Some(&found));
    counts.omitted_pairs += groups.omitted();
    counts.similar_pairs = groups.pairs();
    warn_of_omitted(progress, &counts);
    let found = PairsFound {
        counts,
        recall_at_threshold: search.recall_at_threshold(),
        timings,
        groups,
    };
    Ok((corpus, found))
}

/// The documents of each position, and the similar positions. Together they determine the pairs of documents.
#[derive(Debug)]
struct Groups {
    documents: u32,
    /// The rows of each position, ascending; `row_starts[i]` is the index of the first row of position `i`.
    rows: Vec<u32>,
    row_starts: Vec<usize>,
    /// The similar positions of each position, with the similarity; NaN if it was not computed. Each pair is
    /// listed at both positions.
    similar: Vec<(u32, f64)>,
    similar_starts: Vec<usize>,
    max_group: usize,
}

impl Groups {
    fn of(corpus: &Corpus, pairs: &[SimilarPair], max_group: usize) -> Self {
        let positions = corpus.positions();
        let members = corpus.members().map(|(row, position)| (position, row));
        let (row_starts, rows) = by_position(positions, members);
        let both = pairs.iter().flat_map(|pair| {
            let (lo, hi) = (pair.lo(), pair.hi());
            let similarity = pair.similarity().unwrap_or(f64::NAN);
            [(lo, (hi, similarity)), (hi, (lo, similarity))]
        });
        let (similar_starts, similar) = by_position(positions, both);
        Groups {
            documents: corpus.rows,
            rows,
            row_starts,
            similar,
            similar_starts,
            max_group,
        }
    }

    /// The sizes of the groups of identical documents.
    fn sizes(&self) -> impl Iterator<Item = u64> {
        let starts = self.row_starts.windows(2);
        starts.map(|group| (group[1] - group[0]) as u64)
    }

    /// The number of omitted pairs of identical documents.
    fn omitted(&self) -> u64 {
        let large = self.sizes().filter(|size| *size > self.max_group as u64);
        large.map(|size| (size - 1) * (size - 2) / 2).sum()
    }

    /// The number of pairs of [`Groups::for_each`].
    fn pairs(&self) -> u64 {
        let within = self.sizes().map(|size| match size > self.max_group as u64 {
            true => size - 1,
            false => size * size.saturating_sub(1) / 2,
        });
        let size = |position: u32| self.group(position).len() as u64;
        let between = self
            .similar_starts
            .windows(2)
            .zip(0..)
            .map(|(starts, position)| {
                let similar = &self.similar[starts[0]..starts[1]];
                size(position) * similar.iter().map(|(other, _)| size(*other)).sum::<u64>()
            });
        // Each pair of positions is listed twice.
        within.sum::<u64>() + between.sum::<u64>() / 2
    }

    fn group(&self, position: u32) -> &[u32] {
        let position = position as usize;
        &self.rows[self.row_starts[position]..self.row_starts[position + 1]]
    }

    fn for_each(&self, mut each: impl FnMut(DocumentPair) -> Result<()>) -> Result<()> {
        let mut position_of: Vec<Option<u32>> = vec![None; self.documents as usize];
        for (starts, position) in self.row_starts.windows(2).zip(0..) {
            for row in &self.rows[starts[0]..starts[1]] {
                position_of[*row as usize] = Some(position);
            }
        }
        let mut partners: Vec<(u32, Option<f64>)> = Vec::new();
        for (a, position) in (0u32..).zip(position_of) {
            let Some(position) = position else {
                continue;
            };
            partners.clear();
            let group = self.group(position);
            if group.len() <= self.max_group || a == group[0] {
                let later = group.iter().filter(|other| **other > a);
                partners.extend(later.map(|other| (*other, Some(1.0))));
            }
            let starts = &self.similar_starts[position as usize..];
            for (other, similarity) in &self.similar[starts[0]..starts[1]] {
                let similarity = (!similarity.is_nan()).then_some(*similarity);
                let later = self.group(*other).iter().filter(|other| **other > a);
                partners.extend(later.map(|other| (*other, similarity)));
            }
            partners.sort_unstable_by_key(|(other, _)| *other);
            for (b, similarity) in &partners {
                each(DocumentPair {
                    a,
                    b: *b,
                    similarity: *similarity,
                })?;
            }
        }
        Ok(())
    }
}

/// Groups values by position, as starts and values. Keeps the order of values within a position.
fn by_position<T: Copy + Default>(
    positions: usize,
    values: impl Iterator<Item = (u32, T)> + Clone,
) -> (Vec<usize>, Vec<T>) {
    let mut starts = vec![0; positions + 1];
    for (position, _) in values.clone() {
        starts[position as usize + 1] += 1;
    }
    for i in 0..positions {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut sorted = vec![T::default(); starts[positions]];
    for (position, value) in values {
        sorted[next[position as usize]] = value;
        next[position as usize] += 1;
    }
    (starts, sorted)
}
