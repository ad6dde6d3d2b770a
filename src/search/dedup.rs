//! Finds the documents to keep.

use rayon::prelude::*;

use super::candidates::Candidates;
use super::corpus::Corpus;
use super::disk::Blocks;
use super::disk::{Part, Parts, Step};
use super::disk::{RemovalWriter, SpilledRemovals};
use super::observations::Observations;
use super::parameters::{CandidateMethod, Search};
use super::removal::{ClusterSizes, FoundBy, Removed, count_clusters};
use super::signature_rows::SignaturesInMemory;
use super::source::{InMemory, Source};
use super::stages::OnDisk;
use super::stages::Searched;
use super::verification::Verification;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::{Conflict, Error, Result};
use crate::pipeline::{
    Buckets, ClusterTask, Clustering, Clusters, KeepOrder, KeepPolicy, Similarity,
};
use crate::progress::{Counts, Progress, Timings, advance, grouped};
use crate::store::spill::Spill;

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
    /// or `None` without similar pairs, or if the estimates do not tell it within 0.05; `None` with
    /// [`Verification::None`].
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

/// Deduplicates documents in memory: keeps one document of each cluster of near-duplicates.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::search::{Dedup, Search, Verification, dedup};
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
    dedup_by_class(documents, None, engine, task, progress)
}

/// Deduplicates documents in memory, and keeps those of a lower class first, before [`Dedup::keep`] decides. `classes`
/// has the class of each document, by row; `None` stands for one class of all.
///
/// # Errors
/// Those of [`dedup`], and [`Error::Parameter`](crate::Error::Parameter) unless there are as many classes as documents.
pub fn dedup_by_class<D: Documents + ?Sized>(
    documents: &D,
    classes: Option<&[u64]>,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<Deduplication> {
    check_classes(classes, documents.len())?;
    let source = &mut InMemory {
        documents,
        classes,
        progress,
    };
    find_removals(source, engine, task, progress)?.in_memory()
}

fn check_classes(classes: Option<&[u64]>, documents: usize) -> Result<()> {
    match classes {
        Some(classes) if classes.len() != documents => Err(Error::Parameter {
            name: "the number of classes",
            value: classes.len().to_string(),
            expected: format!("one class for each of {documents} documents"),
        }),
        _ => Ok(()),
    }
}

impl SignaturesInMemory<'_> {
    /// Deduplicates the documents that were signed. `classes` are those of [`dedup_by_class`].
    ///
    /// # Errors
    /// [`Conflict::ExactWithoutDocuments`], [`Conflict::JoinWithoutDocuments`] and
    /// [`Conflict::LongestWithoutDocuments`] for a task that needs the documents; otherwise those of
    /// [`dedup_by_class`].
    pub fn dedup(
        &self,
        task: &Dedup,
        classes: Option<&[u64]>,
        progress: &dyn Progress,
    ) -> Result<Deduplication> {
        if task.keep == KeepPolicy::Longest {
            return Err(Conflict::LongestWithoutDocuments.into());
        }
        let num_perm = self.scheme.num_perm();
        check_classes(classes, self.slots.len() / num_perm)?;
        let mut timings = Timings::default();
        let candidates = self.candidates(&task.search, progress, &mut timings)?;
        let found = removals_in_memory(candidates, classes, task, num_perm, progress, timings)?;
        found.complete(progress).in_memory()
    }
}

/// The documents that a deduplication removes, and the rest of its result.
pub(crate) struct FoundRemovals {
    /// The number of documents.
    pub(crate) rows: u32,
    pub(crate) removals: Removals,
    pub(crate) sizes: ClusterSizes,
    pub(crate) counts: Counts,
    pub(crate) candidates: CandidateMethod,
    pub(crate) recall_at_threshold: f64,
    pub(crate) expected_precision: Option<f64>,
    pub(crate) timings: Timings,
    /// What compared the documents, if it is still in memory. To free it takes time.
    pub(crate) similarity: Option<Box<dyn Similarity + Send>>,
}

/// Removed documents, by ascending row.
pub(crate) enum Removals {
    /// In memory.
    Held(Vec<Removed>),
    /// On disk.
    Spilled(SpilledRemovals),
}

/// Finds the documents to remove from a source.
pub(crate) fn find_removals(
    source: &mut dyn Source,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<FoundRemovals> {
    if task.search.within.is_some() {
        return Err(Conflict::DistanceOfPairs.into());
    }
    let mut timings = Timings::default();
    let num_perm = engine.signer().num_perm();
    let searched = Searched::read(source, engine, &task.search, progress, &mut timings)?;
    let found = match searched {
        Searched::InMemory(candidates) => {
            let classes = source.classes();
            removals_in_memory(*candidates, classes, task, num_perm, progress, timings)?
        }
        Searched::OnDisk(on_disk) => on_disk.removals(task, num_perm, progress, timings)?,
    };
    Ok(found.complete(progress))
}

/// Clusters candidates that are in memory.
fn removals_in_memory(
    candidates: Candidates,
    classes: Option<&[u64]>,
    task: &Dedup,
    num_perm: usize,
    progress: &dyn Progress,
    mut timings: Timings,
) -> Result<FoundRemovals> {
    let (search, mut counts) = (
        candidates.search.clone(),
        candidates.search.counts(&candidates.corpus),
    );
    let observed = candidates.observed.clone();
    let rows = candidates.corpus.rows;
    let (clustered, similarity) = timings.time("compare", 0, || {
        let documents = candidates.buckets.positions().len() as u64;
        progress.begin(
            "compare",
            match task.clustering {
                Clustering::Greedy => documents,
                Clustering::Connected => candidates.buckets.bands() as u64,
            },
        );
        let advance = &mut |done| advance(progress, done, 0, 0);
        Clustered::of(candidates, classes, task, advance)
    })?;
    clustered.count_in(&mut counts);
    Ok(FoundRemovals {
        rows,
        sizes: ClusterSizes::of(&clustered.removed),
        removals: Removals::Held(clustered.removed),
        counts,
        candidates: search.candidates,
        recall_at_threshold: search.recall_at_threshold(num_perm),
        expected_precision: search.expected_precision(num_perm, observed.as_ref(), [0, 1]),
        timings,
        similarity: Some(similarity),
    })
}

impl FoundRemovals {
    /// Adds the counts that follow from the removals, and warns of pairs left out.
    fn complete(mut self, progress: &dyn Progress) -> Self {
        let counts = &mut self.counts;
        counts.kept = counts.documents - counts.removed;
        counts.clusters = self.sizes.clusters();
        counts.largest_cluster = self.sizes.largest();
        counts.bound_omitted_pairs();
        warn_of_omitted(progress, counts);
        self
    }

    /// The result for documents in memory.
    fn in_memory(self) -> Result<Deduplication> {
        let similarity = self.similarity;
        rayon::spawn(|| drop(similarity));
        Ok(Deduplication {
            removed: self.removals.into_vec()?,
            counts: self.counts,
            candidates: self.candidates,
            recall_at_threshold: self.recall_at_threshold,
            expected_precision: self.expected_precision,
            timings: self.timings,
        })
    }
}

impl Removals {
    /// All of them, in memory.
    fn into_vec(self) -> Result<Vec<Removed>> {
        match self {
            Removals::Held(removed) => Ok(removed),
            Removals::Spilled(removals) => {
                let removed = removals.iter().map(|removal| Ok(removal?.removed));
                removed.collect()
            }
        }
    }
}

impl OnDisk {
    /// Clusters the documents of each part.
    fn removals(
        self,
        task: &Dedup,
        num_perm: usize,
        progress: &dyn Progress,
        mut timings: Timings,
    ) -> Result<FoundRemovals> {
        let OnDisk {
            rows,
            counts,
            parts,
            spill,
        } = self;
        let mut writer = RemovalWriter::new(&spill, rows);
        let mut compared = spill.state(COMPARE).unwrap_or_else(|| Compared {
            counts,
            ..Compared::default()
        });
        parts.restore_observed(&compared.observed);
        let search = parts.search().clone();
        let cluster = |part: Part| {
            let Part {
                documents,
                classes,
                candidates,
                large,
            } = part;
            let stop = &mut |_| match progress.is_stopped() {
                true => Err(Error::Stopped),
                false => Ok(()),
            };
            let classes = classes.as_deref();
            let (clustered, _) = match large {
                None => Clustered::of(candidates, classes, task, stop)?,
                Some(large) => Clustered::found_by(candidates, classes, task, |_, of_clusters| {
                    Blocks::new(&parts, &large).greedy(of_clusters, stop)
                })?,
            };
            Ok((documents, clustered))
        };
        let divides = task.clustering == Clustering::Greedy;
        timings.time("compare", 0, || {
            // Whether what was compared ends with a part.
            let mut is_between_parts = true;
            let clustered =
                parts.for_each(
                    compared.parts,
                    divides,
                    progress,
                    cluster,
                    |step| match step {
                        Step::Result((documents, clustered)) => {
                            is_between_parts = false;
                            clustered.count_in(&mut compared.counts);
                            let row_of = |row| documents.row(row);
                            compared.sizes.add(&clustered.removed, row_of);
                            writer.add(&documents, &clustered.removed)
                        }
                        Step::Done { parts: done } => {
                            is_between_parts = true;
                            compared.parts = done;
                            match spill.is_due() {
                                true => compared.save(&parts, &mut writer, &spill),
                                false => Ok(()),
                            }
                        }
                    },
                );
            if matches!(clustered, Err(Error::Stopped)) && is_between_parts {
                compared.save(&parts, &mut writer, &spill)?;
            }
            clustered
        })?;
        writer.flush()?;
        let observed = parts.observed().map(Observations::counts);
        compared.observed = observed.unwrap_or_default();
        spill.note(COMPARE, &compared)?;
        let Compared { counts, sizes, .. } = compared;
        timings.add_disk_use(spill.take_use(parts.count()));
        let observed = parts.observed();
        Ok(FoundRemovals {
            rows,
            sizes,
            removals: Removals::Spilled(writer.finish(FoundBy::Search(search.verification))?),
            counts,
            candidates: search.candidates,
            recall_at_threshold: search.recall_at_threshold(num_perm),
            expected_precision: search.expected_precision(num_perm, observed, [0, 1]),
            timings,
            similarity: None,
        })
    }
}

/// The name of the comparisons, for checkpoints.
const COMPARE: &str = "compare";

/// What is compared at a checkpoint.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Compared {
    /// The number of parts.
    parts: usize,
    counts: Counts,
    sizes: ClusterSizes,
    /// [`Observations::counts`]; empty without signatures.
    observed: Vec<u64>,
}

impl Compared {
    /// Makes a checkpoint between two parts.
    fn save(&mut self, parts: &Parts, writer: &mut RemovalWriter, spill: &Spill) -> Result<()> {
        writer.flush()?;
        let observed = parts.observed().map(Observations::counts);
        self.observed = observed.unwrap_or_default();
        spill.checkpoint(COMPARE, self)
    }
}

/// The clusters of candidates.
struct Clustered {
    removed: Vec<Removed>,
    clusters: Clusters,
}

impl Clustered {
    /// Clusters candidates. `classes` are those of [`Source::classes`]. Also returns what compared them.
    fn of(
        candidates: Candidates,
        classes: Option<&[u64]>,
        task: &Dedup,
        advance: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<(Self, Box<dyn Similarity + Send>)> {
        Clustered::found_by(
            candidates,
            classes,
            task,
            |buckets, of_clusters| match task.clustering {
                Clustering::Greedy => Clusters::greedy(buckets, of_clusters, advance),
                Clustering::Connected => Clusters::connected(&buckets, of_clusters, advance),
            },
        )
    }

    /// The same with clusters that `find` finds.
    fn found_by(
        candidates: Candidates,
        classes: Option<&[u64]>,
        task: &Dedup,
        find: impl FnOnce(Buckets, &ClusterTask<'_>) -> Result<Clusters>,
    ) -> Result<(Self, Box<dyn Similarity + Send>)> {
        let Candidates {
            search,
            corpus,
            buckets,
            similarity,
            ..
        } = candidates;
        let groups = Groups::of(
            &corpus,
            KeepOrder {
                policy: task.keep,
                classes,
                lengths: &corpus.lengths,
            },
        );
        let is_join = search.candidates == CandidateMethod::Join;
        let cluster_task = ClusterTask {
            similarity: &*similarity,
            threshold: search.threshold,
            ranks: groups.ranks.as_deref(),
            max_bucket: if is_join { usize::MAX } else { task.max_bucket },
        };
        let clusters = find(buckets, &cluster_task)?;
        let clustered = Clustered {
            removed: groups.removed(&corpus, &clusters, search.verification),
            clusters,
        };
        Ok((clustered, similarity))
    }

    fn count_in(&self, counts: &mut Counts) {
        counts.removed += self.removed.len() as u64;
        if let Some(equal) = &mut counts.equal_shingles {
            let removed = self.removed.iter();
            *equal += removed
                .filter(|removed| removed.has_equal_shingles())
                .count() as u64;
        }
        count_clusters(counts, &self.clusters);
    }
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
        let removals = &clusters.removals;
        let removal_of = |position: u32| {
            let at = removals.binary_search_by_key(&position, |removal| removal.position);
            at.ok().map(|at| removals[at])
        };
        let keeper = |position: u32| self.keepers[position as usize];
        // Positions ascend here as they do there, so that nothing needs to be searched.
        let mut next = removals.iter().peekable();
        let distinct = corpus.distinct.iter().zip(0..).map(|(row, position)| {
            let removal = next.next_if(|removal| removal.position == position);
            (*row, position, removal.copied())
        });
        let repeats = corpus.repeats.iter();
        let repeats = repeats.map(|(row, position)| (*row, *position, removal_of(*position)));
        let mut removed: Vec<Removed> = distinct
            .chain(repeats)
            .filter_map(|(row, position, removal)| match removal {
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
        removed.par_sort_unstable_by_key(|removed| removed.row);
        removed
    }
}
