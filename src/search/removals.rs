//! Finds the documents to remove.
//!
//! Large memory is freed last, while the run waits for the disk: a thread that frees 100 MB keeps the others from
//! mapping memory. mimalloc as the command's allocator was tried and rejected
//! (`results/2026-11-22-amd-epyc-2-cores/cores.md`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::clusters::Clustered;
use super::context::Context;
use super::deduplication::{Dedup, Deduplication};
use super::disk::{RemovalWriter, SpilledRemovals};
use super::observations::Observations;
use super::parameters::CandidateMethod;
use super::part::{Part, PartDocuments, Step};
use super::removal::ClusterSizes;
use super::signature_rows::SignaturesInMemory;
use super::source::{InMemory, Source};
use super::stages::Searched;
use super::verification::Verification;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::{Conflict, Error, Result};
use crate::pipeline::{Clustering, KeepPolicy, Removal, Similarity};
use crate::progress::{Counts, Progress, Timings, grouped};
use crate::store::spill::Spill;

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
/// assert_eq!((found.removed[0].document, found.removed[0].kept), (2, 0));
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
        check_classes(classes, self.slots.len() / self.scheme.num_perm())?;
        let mut timings = Timings::default();
        let searched = self.searched(&task.search, progress, &mut timings)?;
        let found = removals(searched, classes, task, progress, timings)?;
        found.in_memory()
    }
}

/// The documents that a deduplication removes, and the rest of its result.
pub(crate) struct FoundRemovals {
    /// The number of documents.
    pub(crate) rows: u32,
    pub(crate) removals: Removals,
    pub(crate) verification: Verification,
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
    Held(Vec<Removal>),
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
    let context = &mut Context {
        search: &task.search,
        progress,
        timings: &mut timings,
    };
    let searched = Searched::read(source, engine, context)?;
    removals(searched, source.classes(), task, progress, timings)
}

/// Clusters the documents of each part. `classes` are those of documents in memory.
fn removals(
    searched: Searched,
    classes: Option<&[u64]>,
    task: &Dedup,
    progress: &dyn Progress,
    mut timings: Timings,
) -> Result<FoundRemovals> {
    let observed = searched.observed().cloned();
    let Searched {
        search,
        num_perm,
        rows,
        counts,
        parts,
        ..
    } = searched;
    let (spill, count) = (parts.spill().cloned(), parts.count());
    let mut found = PartResults::begin(spill.clone(), rows, counts, observed.clone());
    let cluster = |part: Part<'_>, advance: &mut dyn FnMut(u64) -> Result<()>| {
        let (documents, clustered, similarity) =
            Clustered::of(part, classes, (task, &search), advance)?;
        // Of many parts, each thread frees its own.
        let similarity = Some(similarity).filter(|_| spill.is_none());
        Ok((documents, clustered, similarity))
    };
    let is_greedy = task.clustering == Clustering::Greedy;
    timings.time("compare", 0, || {
        let before = found.compared.parts;
        parts.for_each(before, is_greedy, progress, cluster, |step| {
            found.take(step)
        })
    })?;
    let Compared { counts, sizes, .. } = found.end()?;
    if let Some(spill) = &spill {
        timings.add_disk_use(spill.take_use(count));
    }
    let removals = found.sink.finish()?;
    let found = FoundRemovals {
        rows,
        sizes,
        removals,
        verification: search.verification,
        counts,
        candidates: search.candidates,
        recall_at_threshold: search.recall_at_threshold(num_perm),
        expected_precision: search.expected_precision(num_perm, observed.as_ref(), [0, 1]),
        timings,
        similarity: found.similarity,
    };
    Ok(found.complete(progress))
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
            verification: self.verification,
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
    fn into_vec(self) -> Result<Vec<Removal>> {
        match self {
            Removals::Held(removed) => Ok(removed),
            Removals::Spilled(removals) => removals.rows().collect(),
        }
    }
}

/// Takes removed documents, part by part.
enum Sink {
    /// Of one part, by ascending row.
    Held(Vec<Removal>),
    /// Of many parts.
    Spilled(RemovalWriter),
}

impl Sink {
    /// Adds the documents removed from a part. They and the documents that they name are numbered as in the part.
    fn add(&mut self, documents: &PartDocuments, removed: Vec<Removal>) -> Result<()> {
        match self {
            Sink::Spilled(writer) => writer.add(documents, &removed),
            Sink::Held(held) => {
                let row = |number| documents.row(number);
                let removed = removed.into_iter().map(|removal| removal.name(row, row));
                match held.is_empty() {
                    // In place.
                    true => *held = removed.collect(),
                    false => held.extend(removed),
                }
                Ok(())
            }
        }
    }

    /// Writes everything added so far, for a checkpoint.
    fn flush(&mut self) -> Result<()> {
        match self {
            Sink::Held(_) => Ok(()),
            Sink::Spilled(writer) => writer.flush(),
        }
    }

    fn finish(self) -> Result<Removals> {
        Ok(match self {
            Sink::Held(removed) => Removals::Held(removed),
            Sink::Spilled(writer) => Removals::Spilled(writer.finish()?),
        })
    }
}

/// The name of the comparisons, for checkpoints.
const COMPARE: &str = "compare";

/// What is compared at a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Compared {
    /// The number of parts.
    parts: usize,
    counts: Counts,
    sizes: ClusterSizes,
    /// [`Observations::counts`]; empty without signatures.
    observed: Vec<u64>,
}

/// What was found in the parts so far.
struct PartResults {
    compared: Compared,
    sink: Sink,
    observed: Option<Observations>,
    spill: Option<Arc<Spill>>,
    /// Whether what was compared ends with a part.
    is_between_parts: bool,
    similarity: Option<Box<dyn Similarity + Send>>,
}

/// What comes of a part: its documents, their clusters, and what compared them if it is freed later.
type OfPart = (PartDocuments, Clustered, Option<Box<dyn Similarity + Send>>);

impl PartResults {
    /// Begins with the `counts` of documents, or goes on from a checkpoint.
    fn begin(
        spill: Option<Arc<Spill>>,
        rows: u32,
        counts: Counts,
        observed: Option<Observations>,
    ) -> Self {
        let before = spill.as_ref().and_then(|spill| spill.state(COMPARE));
        let compared: Compared = before.unwrap_or_else(|| Compared {
            counts,
            ..Compared::default()
        });
        if let Some(observed) = &observed {
            observed.add(&compared.observed);
        }
        PartResults {
            compared,
            sink: match &spill {
                None => Sink::Held(Vec::new()),
                Some(spill) => Sink::Spilled(RemovalWriter::new(spill, rows)),
            },
            observed,
            spill,
            is_between_parts: true,
            similarity: None,
        }
    }

    fn take(&mut self, step: Step<OfPart>) -> Result<()> {
        match step {
            Step::Result((documents, clustered, similarity)) => {
                self.is_between_parts = false;
                let Compared { counts, sizes, .. } = &mut self.compared;
                clustered.count_in(counts);
                sizes.add(&clustered.removed, |row| documents.row(row));
                self.similarity = similarity;
                self.sink.add(&documents, clustered.removed)
            }
            Step::Stopped if self.is_between_parts => self.save(),
            Step::Stopped => Ok(()),
            Step::Done { parts } => {
                self.is_between_parts = true;
                self.compared.parts = parts;
                match self.spill.as_ref().is_some_and(|spill| spill.is_due()) {
                    true => self.save(),
                    false => Ok(()),
                }
            }
        }
    }

    /// Makes a checkpoint between two parts.
    fn save(&mut self) -> Result<()> {
        self.write()?;
        let spill = self.spill.as_ref();
        spill.map_or(Ok(()), |spill| spill.checkpoint(COMPARE, &self.compared))
    }

    /// Ends the work on all parts.
    fn end(&mut self) -> Result<Compared> {
        self.write()?;
        if let Some(spill) = &self.spill {
            spill.note(COMPARE, &self.compared)?;
        }
        Ok(std::mem::take(&mut self.compared))
    }

    fn write(&mut self) -> Result<()> {
        self.sink.flush()?;
        let observed = self.observed.as_ref().map(Observations::counts);
        self.compared.observed = observed.unwrap_or_default();
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::spill::Budget;

    fn removed(document: u32, kept: u32) -> Removal {
        Removal {
            document,
            kept,
            is_identical: document == 1,
            similarity: Some(0.75),
            via: Some((document + 1, None)),
        }
    }

    #[test]
    fn removals_in_memory_and_on_disk_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 20)).unwrap();
        let parts = [
            (vec![1, 4, 8, 9], vec![removed(1, 0), removed(2, 0)]),
            (vec![10, 12, 20], vec![removed(1, 2)]),
        ];
        let all = |mut sink: Sink| {
            for (rows, removed) in &parts {
                let documents = PartDocuments::new(rows.clone(), None);
                sink.add(&documents, removed.clone()).unwrap();
            }
            let removals = sink.finish();
            removals.unwrap().into_vec().unwrap()
        };
        let held = all(Sink::Held(Vec::new()));
        let spilled = all(Sink::Spilled(RemovalWriter::new(&spill, 21)));
        assert_eq!(held, spilled);
        let rows = held.iter().map(|removed| (removed.document, removed.kept));
        assert_eq!(rows.collect::<Vec<_>>(), [(4, 1), (8, 1), (12, 20)]);
        assert_eq!(held[2].via, Some((20, None)));
    }
}
