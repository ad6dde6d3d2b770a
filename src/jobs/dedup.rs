//! Documents -> the documents to keep.

use std::collections::HashMap;

use super::corpus::Corpus;
use super::search::{Candidates, Search, Verification, counts, warn_of_omitted};
use super::source::{InMemory, Source};
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pipeline::{Clustering, Clusters, KeepPolicy, LargeBuckets};
use crate::progress::{Counts, Progress, Timings};

/// What a deduplication does.
#[derive(Clone, Debug)]
pub struct Dedup {
    /// Which pairs it looks for.
    pub search: Search,
    /// How it forms groups.
    pub clustering: Clustering,
    /// Which document of a group it keeps.
    pub keep: KeepPolicy,
}

impl Dedup {
    /// Greedy clusters of the pairs of a search, of which the first document is kept.
    pub fn new(search: Search) -> Self {
        Dedup {
            search,
            clustering: Clustering::default(),
            keep: KeepPolicy::default(),
        }
    }
}

/// Which documents go, and why.
#[derive(Clone, Debug)]
pub struct Deduplication {
    /// The documents that go, by ascending row. All others stay.
    pub removed: Vec<Removed>,
    /// How many documents there were, and what became of them.
    pub counts: Counts,
    /// The probability that a pair just at the threshold was found.
    pub recall_at_threshold: f64,
    /// The times of the stages.
    pub timings: Timings,
}

impl Deduplication {
    /// The rows of the documents that stay, ascending.
    pub fn kept(&self) -> impl Iterator<Item = u32> {
        let mut removed = self.removed.iter().map(|removed| removed.row).peekable();
        let rows = 0..u32::try_from(self.counts.documents).unwrap_or(u32::MAX);
        rows.filter(move |row| removed.next_if_eq(row).is_none())
    }
}

/// A document that goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removed {
    /// Its row: its number among all documents, from 0.
    pub row: u32,
    /// The row of the document that is kept for it.
    pub kept: u32,
    /// The similarity of the two, if it was computed.
    pub similarity: Option<f64>,
    /// How it was found.
    pub found_by: FoundBy,
    /// Of connected components: the row of its most similar neighbour, and that similarity, if it was computed.
    pub via: Option<(u32, Option<f64>)>,
}

/// How a duplicate was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// Its units are those of the kept document.
    Identical,
    /// It shares a bucket, and how similar it is was verified so.
    Search(Verification),
}

impl FoundBy {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            FoundBy::Identical => "identical",
            FoundBy::Search(verification) => verification.name(),
        }
    }
}

/// Keeps one document of each group of near-duplicates among documents in memory: the same documents as a run
/// over files keeps.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::jobs::{Dedup, Search, Verification, dedup};
/// use simgpu::progress::Silent;
///
/// let texts = vec![
///     "a rose is a rose is a rose is a rose, she said".to_owned(),
///     "the quick brown fox jumps over the lazy dog".to_owned(),
///     "A rose is a rose is a rose is a rose, she said".to_lowercase(),
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
/// [`Error::Conflict`] for documents of the form that the engine does not take, [`Error::TooManyDocuments`]
/// for more than 2^32 - 2, [`Error::Stopped`] if `progress` stops it.
pub fn dedup<D: Documents + ?Sized>(
    documents: &D,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<Deduplication> {
    engine.check_form(&documents.empty_batch())?;
    let (_, found) = find_removals(&mut InMemory(documents), engine, task, progress)?;
    Ok(found)
}

/// The same of any source, with what is known of the documents.
pub(crate) fn find_removals(
    source: &mut dyn Source,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<(Corpus, Deduplication)> {
    let mut timings = Timings::default();
    let search = &task.search;
    let candidates = Candidates::read(source, engine, search, progress, &mut timings)?;
    let corpus = &candidates.corpus;
    let groups = Groups::of(corpus, task.keep);
    let ranks = groups.ranks.as_deref();
    let large = LargeBuckets::Leaders(ranks);
    let pairs = candidates.compare(search, large, progress, &mut timings)?;
    let removed = timings.time("cluster", 0, || {
        let positions = corpus.positions();
        let clusters = match task.clustering {
            Clustering::Greedy => Clusters::greedy(&pairs, positions, ranks),
            Clustering::Connected => {
                Clusters::connected(&pairs, positions, ranks, &*candidates.similarity)?
            }
        };
        Ok::<_, Error>(groups.removed(corpus, &clusters, search.verification))
    })?;
    let sizes = cluster_sizes(&removed);
    let mut counts = counts(corpus, Some(&pairs));
    counts.removed = removed.len() as u64;
    counts.kept = counts.documents - counts.removed;
    counts.clusters = sizes.len() as u64;
    counts.largest_cluster = sizes.values().copied().max().unwrap_or(0);
    warn_of_omitted(progress, &counts);
    let found = Deduplication {
        removed,
        counts,
        recall_at_threshold: search.recall_at_threshold(),
        timings,
    };
    Ok((candidates.corpus, found))
}

/// The documents with one sequence of units, for each position, and their claim to be kept.
struct Groups {
    /// The row of the document that is kept if the position is.
    keepers: Vec<u32>,
    /// The rank of each position; `None` where positions are ranks.
    ranks: Option<Vec<u32>>,
}

impl Groups {
    fn of(corpus: &Corpus, keep: KeepPolicy) -> Self {
        let mut keepers = corpus.distinct.clone();
        for (row, position) in &corpus.repeats {
            let keeper = &mut keepers[*position as usize];
            if keep.prefers(corpus.length(*row), corpus.length(*keeper)) {
                *keeper = *row;
            }
        }
        let length = |position: u32| corpus.length(keepers[position as usize]);
        let positions = u32::try_from(keepers.len()).unwrap_or(u32::MAX);
        let ranks = keep.ranks(length, positions);
        Groups { keepers, ranks }
    }

    /// All documents that go, by ascending row: those of a position that goes, and those that are identical
    /// to the kept document of their position.
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

/// Documents in the cluster of each kept row, for those with two or more.
pub(crate) fn cluster_sizes(removed: &[Removed]) -> HashMap<u32, u64> {
    let mut sizes = HashMap::new();
    for removed in removed {
        *sizes.entry(removed.kept).or_insert(1) += 1;
    }
    sizes
}
