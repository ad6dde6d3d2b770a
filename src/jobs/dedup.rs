//! Finds the documents to keep.

use std::collections::HashMap;

use super::corpus::Corpus;
use super::search::{CandidateMethod, Candidates, Search, Verification, counts};
use super::source::{InMemory, Source};
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::{Conflict, Result};
use crate::pipeline::{ClusterTask, Clustering, Clusters, KeepOrder, KeepPolicy};
use crate::progress::{Counts, Progress, Timings, advance, grouped};

/// The parameters of a deduplication. [`Dedup::new`] supplies defaults; change fields as needed.
#[derive(Clone, Debug)]
pub struct Dedup {
    /// The search for similar pairs.
    pub search: Search,
    /// How similar pairs form clusters; default [`Clustering::Greedy`].
    pub clustering: Clustering,
    /// Which document of a cluster is kept; default [`KeepPolicy::First`].
    pub keep: KeepPolicy,
    /// The limit on comparisons in one bucket: a document is compared with at most this many other documents of the
    /// bucket; default 4096. What this leaves out is counted in [`Counts::omitted_pairs`].
    pub max_bucket: usize,
}

/// The default of [`Dedup::max_bucket`].
const MAX_BUCKET: usize = 4096;

impl Dedup {
    /// A deduplication with greedy clustering that keeps the first document of each cluster.
    pub fn new(search: Search) -> Self {
        Dedup {
            search,
            clustering: Clustering::default(),
            keep: KeepPolicy::default(),
            max_bucket: MAX_BUCKET,
        }
    }
}

/// The result of a deduplication.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deduplication {
    /// The removed documents, by ascending row. All other documents are kept.
    pub removed: Vec<Removed>,
    /// The counts of documents and pairs.
    pub counts: Counts,
    /// The method that found candidate pairs: [`CandidateMethod::Lsh`] or [`CandidateMethod::Join`].
    pub candidates: CandidateMethod,
    /// The probability that the run finds a pair with a similarity equal to the threshold; 1 with
    /// [`CandidateMethod::Join`].
    pub recall_at_threshold: f64,
    /// The share of truly similar pairs to expect among the pairs that count as similar: 1 with
    /// [`Verification::Exact`]; with [`Verification::Signature`], estimated from the estimates of all compared pairs,
    /// or `None` without similar pairs; `None` with [`Verification::None`].
    pub expected_precision: Option<f64>,
    /// The elapsed times of the stages.
    pub timings: Timings,
}

impl Deduplication {
    /// The rows of the kept documents, ascending.
    pub fn kept(&self) -> impl Iterator<Item = u32> {
        let mut removed = self.removed.iter().map(|removed| removed.row).peekable();
        let rows = 0..u32::try_from(self.counts.documents).unwrap_or(u32::MAX);
        rows.filter(move |row| removed.next_if_eq(row).is_none())
    }
}

/// A removed document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removed {
    /// The row of the removed document: its number among all documents, from 0.
    pub row: u32,
    /// The row of the document kept in its place.
    pub kept: u32,
    /// The similarity of the two; `None` if not computed ([`Verification::None`]).
    pub similarity: Option<f64>,
    /// How the duplicate was found.
    pub found_by: FoundBy,
    /// With [`Clustering::Connected`]: the row of the next document on a chain of similar pairs that leads to the
    /// kept one, and the similarity of the removed document to that next document, if computed. `None` for other
    /// clusterings, and if `found_by` is [`FoundBy::Identical`].
    pub via: Option<(u32, Option<f64>)>,
}

/// The way in which a duplicate was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// It has the same sequence of units as the kept document.
    Identical,
    /// It shares a bucket with another document, and the pair passed this verification.
    Search(Verification),
}

impl FoundBy {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            FoundBy::Identical => "identical",
            FoundBy::Search(verification) => verification.name(),
        }
    }
}

/// Deduplicates documents in memory: keeps one document of each cluster of near-duplicates.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::jobs::{Dedup, Search, Verification, dedup};
/// use simgpu::progress::Silent;
///
/// let texts = vec![
///     "a rose is a rose is a rose".to_owned(),
///     "the quick brown fox jumps over the lazy dog".to_owned(),
///     "a rose is a rose is a rose".to_owned(),
/// ];
/// let engine = Engine::builder().build()?;
/// let mut search = Search::new(0.8, engine.scheme())?;
/// search.verification = Verification::Exact;
/// let found = dedup(&texts, &engine, &Dedup::new(search), &Silent)?;
/// assert_eq!(found.kept().collect::<Vec<_>>(), [0, 1]);
/// assert_eq!((found.removed[0].row, found.removed[0].kept), (2, 0));
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Conflict`](crate::Error::Conflict) if the engine takes tokens and the documents are texts, or the reverse;
/// [`Error::TooManyDocuments`](crate::Error::TooManyDocuments) for more than 2^32 - 2 documents;
/// [`Error::Stopped`](crate::Error::Stopped) if `progress` stops the run.
pub fn dedup<D: Documents + ?Sized>(
    documents: &D,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<Deduplication> {
    let source = &mut InMemory {
        documents,
        progress,
    };
    let (_, found) = find_removals(source, engine, task, progress)?;
    Ok(found)
}

/// Finds the documents to remove from a source. Also returns the corpus.
pub(crate) fn find_removals(
    source: &mut dyn Source,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<(Corpus, Deduplication)> {
    let mut timings = Timings::default();
    let search = &task.search;
    if search.within.is_some() {
        return Err(Conflict::DistanceOfPairs.into());
    }
    let candidates = Candidates::read(source, engine, search, progress, &mut timings)?;
    let groups = Groups::of(
        &candidates.corpus,
        KeepOrder {
            policy: task.keep,
            classes: source.classes(),
            lengths: &candidates.corpus.lengths,
        },
    );
    let Candidates {
        search,
        corpus,
        buckets,
        similarity,
        observed,
    } = candidates;
    let is_join = search.candidates == CandidateMethod::Join;
    let clusters = timings.time("compare", 0, || {
        let cluster_task = ClusterTask {
            similarity: &*similarity,
            threshold: search.threshold,
            ranks: groups.ranks.as_deref(),
            max_bucket: if is_join { usize::MAX } else { task.max_bucket },
        };
        let advance = &mut |done| advance(progress, done, 0, 0);
        match task.clustering {
            Clustering::Greedy => {
                progress.begin("compare", buckets.positions().len() as u64);
                Clusters::greedy(buckets, &cluster_task, advance)
            }
            Clustering::Connected => {
                progress.begin("compare", buckets.bands() as u64);
                Clusters::connected(&buckets, &cluster_task, advance)
            }
        }
    })?;
    // To free much memory takes time.
    rayon::spawn(|| drop(similarity));
    let removed = groups.removed(&corpus, &clusters, search.verification);
    let sizes = cluster_sizes(&removed);
    let mut counts = counts(&corpus);
    counts.removed = removed.len() as u64;
    counts.kept = counts.documents - counts.removed;
    counts.clusters = sizes.len() as u64;
    counts.largest_cluster = sizes.values().copied().max().unwrap_or(0);
    counts.candidate_pairs = clusters.compared;
    counts.similar_pairs = clusters.similar;
    counts.omitted_pairs = clusters.omitted.pairs;
    counts.large_buckets = clusters.omitted.buckets;
    warn_of_omitted(progress, &counts);
    let num_perm = engine.signer().num_perm();
    let found = Deduplication {
        removed,
        counts,
        candidates: search.candidates,
        recall_at_threshold: search.recall_at_threshold(num_perm),
        expected_precision: search.expected_precision(num_perm, observed.as_ref()),
        timings,
    };
    Ok((corpus, found))
}

/// Warns of pairs omitted because of [`Dedup::max_bucket`].
fn warn_of_omitted(progress: &dyn Progress, counts: &Counts) {
    let (pairs, buckets) = (counts.omitted_pairs, counts.large_buckets);
    if pairs == 0 {
        return;
    }
    let (were, pairs_end) = if pairs == 1 {
        ("was", "")
    } else {
        ("were", "s")
    };
    let buckets_end = if buckets == 1 { "" } else { "s" };
    progress.warn(&format!(
        "up to {} pair{pairs_end} {were} not compared, in {} bucket{buckets_end} of more than `max_bucket` documents; raise `max_bucket` to compare more",
        grouped(pairs),
        grouped(buckets)
    ));
}

/// The document to keep among the identical documents at each position (the number of a distinct document, see
/// [`Corpus`]). And the ranks of positions: the document with the lowest rank in a cluster is kept.
struct Groups {
    /// The row of the document to keep at each position.
    keepers: Vec<u32>,
    /// The rank of each position; `None` if the rank of every position is the position itself.
    ranks: Option<Vec<u32>>,
}

impl Groups {
    fn of(corpus: &Corpus, order: KeepOrder<'_>) -> Self {
        let mut keepers = corpus.distinct.clone();
        for (row, position) in &corpus.repeats {
            let keeper = &mut keepers[*position as usize];
            if order.prefers(*row, *keeper) {
                *keeper = *row;
            }
        }
        let ranks = order.ranks(&keepers);
        Groups { keepers, ranks }
    }

    /// All removed documents, by ascending row: every document at a removed position, and every document but the
    /// keeper at a kept position.
    fn removed(
        &self,
        corpus: &Corpus,
        clusters: &Clusters,
        verification: Verification,
    ) -> Vec<Removed> {
        let removal_of = |position: u32| {
            let removals = &clusters.removals;
            let at = removals.binary_search_by_key(&position, |removal| removal.position);
            at.ok().map(|at| removals[at])
        };
        let keeper = |position: u32| self.keepers[position as usize];
        let mut removed: Vec<Removed> = corpus
            .members()
            .filter_map(|(row, position)| match removal_of(position) {
                Some(removal) => Some(Removed {
                    row,
                    kept: keeper(removal.kept),
                    similarity: removal.similarity,
                    found_by: FoundBy::Search(verification),
                    via: removal
                        .via
                        .map(|(via, similarity)| (keeper(via), similarity)),
                }),
                None if row == keeper(position) => None,
                None => Some(Removed {
                    row,
                    kept: keeper(position),
                    similarity: Some(1.0),
                    found_by: FoundBy::Identical,
                    via: None,
                }),
            })
            .collect();
        removed.sort_unstable_by_key(|removed| removed.row);
        removed
    }
}

/// The number of documents in each cluster of two or more, by kept row.
pub(crate) fn cluster_sizes(removed: &[Removed]) -> HashMap<u32, u64> {
    let mut sizes = HashMap::new();
    for removed in removed {
        *sizes.entry(removed.kept).or_insert(1) += 1;
    }
    sizes
}
