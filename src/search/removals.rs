//! Finds the documents to remove.
//!
//! Large memory is freed last, while the run waits for the disk: a thread that frees 100 MB keeps the others from
//! mapping memory. mimalloc as the command's allocator was tried and rejected
//! (`results/2026-11-22-amd-epyc-2-cores/cores.md`).

use std::borrow::Cow;
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
use super::short::{DroppedRows, ShortDocuments};
use super::signature_rows::SignaturesInMemory;
use super::source::{InMemory, Source};
use super::stages::Searched;
use super::verification::Verification;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::{Conflict, Error, Result};
use crate::pipeline::VerificationNames;
use crate::pipeline::{Clustering, KeepPolicy, Removal, Similarity};
use crate::progress::{Counts, Progress, Timings};
use crate::store::spill::Spill;
use crate::threads::{for_each_chunk, map_blocks};

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
        reference: None,
        classes,
        progress,
    };
    find_removals(source, engine, task, progress)?.in_memory()
}

/// The classes of documents after those of a reference, whose classes do not matter.
pub(super) fn classes_after(reference: usize, classes: Option<&[u64]>) -> Option<Cow<'_, [u64]>> {
    let classes = classes?;
    Some(match reference {
        0 => Cow::Borrowed(classes),
        _ => [&vec![0; reference], classes].concat().into(),
    })
}

pub(super) fn check_classes(classes: Option<&[u64]>, documents: usize) -> Result<()> {
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
    /// [`Conflict::ExactWithoutDocuments`], [`Conflict::JoinWithoutDocuments`],
    /// [`Conflict::LongestWithoutDocuments`] and [`Conflict::ShortWithoutDocuments`] for a task that needs the documents; otherwise those of
    /// [`dedup_by_class`].
    pub fn dedup(
        &self,
        task: &Dedup,
        classes: Option<&[u64]>,
        progress: &dyn Progress,
    ) -> Result<Deduplication> {
        self.removals(None, task, classes, progress)
    }

    /// Deduplicates the documents that were signed against others, the reference, as
    /// [`dedup_against`](super::dedup_against) does.
    ///
    /// # Errors
    /// Those of [`SignaturesInMemory::dedup`], and [`Error::Parameter`] for signatures of another scheme.
    pub fn dedup_against(
        &self,
        reference: &SignaturesInMemory<'_>,
        task: &Dedup,
        classes: Option<&[u64]>,
        progress: &dyn Progress,
    ) -> Result<Deduplication> {
        self.removals(Some(reference), task, classes, progress)
    }

    fn removals(
        &self,
        reference: Option<&SignaturesInMemory<'_>>,
        task: &Dedup,
        classes: Option<&[u64]>,
        progress: &dyn Progress,
    ) -> Result<Deduplication> {
        if task.keep == KeepPolicy::Longest {
            return Err(Conflict::LongestWithoutDocuments.into());
        }
        if task.short != ShortDocuments::default() {
            return Err(Conflict::ShortWithoutDocuments.into());
        }
        check_classes(classes, self.rows())?;
        let reference_rows = reference.map_or(0, SignaturesInMemory::rows);
        let classes = classes_after(reference_rows, classes);
        let mut timings = Timings::default();
        let context = &mut Context {
            search: &task.search,
            pairing: task.pairing(),
            progress,
            timings: &mut timings,
        };
        let searched = self.searched(reference, context)?;
        let found = removals(searched, classes.as_deref(), task, progress, timings)?;
        found.in_memory()
    }
}

/// The documents that a deduplication removes, and the rest of its result.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct FoundRemovals {
    /// The number of documents, those of a reference included.
    #[doc(hidden)]
    pub rows: u32,
    /// The number of documents of a reference, which have the first rows; `None` without one.
    pub(crate) reference: Option<u32>,
    #[doc(hidden)]
    pub removals: Removals,
    /// The documents that are removed without another one.
    #[doc(hidden)]
    pub dropped: DroppedRows,
    pub(crate) verification: Verification,
    /// That of pairs with a document of an index.
    pub(crate) index_verification: Verification,
    #[doc(hidden)]
    pub sizes: ClusterSizes,
    #[doc(hidden)]
    pub counts: Counts,
    #[doc(hidden)]
    pub candidates: CandidateMethod,
    pub(crate) recall_at_threshold: f64,
    #[doc(hidden)]
    pub expected_precision: Option<f64>,
    #[doc(hidden)]
    pub timings: Timings,
    /// What compared the documents, if it is still in memory. To free it takes time.
    #[doc(hidden)]
    pub similarity: Option<Box<dyn Similarity + Send>>,
}

/// Removed documents, by ascending row.
#[doc(hidden)]
#[derive(Debug)]
pub enum Removals {
    /// In memory.
    Held(Vec<Removal>),
    /// On disk.
    Spilled(SpilledRemovals),
}

/// Finds the documents to remove from a source.
#[doc(hidden)]
pub fn find_removals(
    source: &mut dyn Source,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<FoundRemovals> {
    if task.search.within.is_some() {
        return Err(Conflict::DistanceOfPairs.into());
    }
    task.check_measure(source.classes().map(|_| "`keep_by`"))?;
    let mut timings = Timings::default();
    let context = &mut Context {
        search: &task.search,
        pairing: task.pairing(),
        progress,
        timings: &mut timings,
    };
    let searched = Searched::read_but(task.short, source, engine, context)?;
    removals(searched, source.classes(), task, progress, timings)
}

/// Clusters the documents of each part. `classes` are those of documents in memory.
pub(super) fn removals(
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
        reference,
        counts,
        parts,
        dropped,
        ..
    } = searched;
    // A document of a reference may have fewer shingles than one that is removed for it.
    task.check_measure(reference.map(|_| "`against`"))?;
    let (spill, count) = (parts.spill().cloned(), parts.count());
    let counts = Counts {
        removed_for_reference: reference.map(|_| 0),
        ..counts
    };
    let mut found = PartResults::begin(spill.clone(), rows, reference, counts, observed.clone());
    let cluster = |part: Part<'_>, advance: &mut dyn FnMut(u64) -> Result<()>| {
        let (documents, clustered, similarity) =
            Clustered::of(part, classes, task, &search, advance)?;
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
    let ComparedParts {
        mut counts, sizes, ..
    } = found.end()?;
    if task.short.drops() {
        counts.dropped = Some(dropped.count());
        counts.removed += dropped.count();
    }
    if task.short.min_shingles > 0 {
        counts.short.get_or_insert(0);
    }
    if let Some(spill) = &spill {
        timings.add_disk_use(spill.take_use(count));
    }
    let removals = found.sink.finish()?;
    let found = FoundRemovals {
        rows,
        reference,
        sizes,
        removals,
        dropped,
        verification: search.verification,
        index_verification: search.index_verification.unwrap_or(search.verification),
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
        Dedup::warn_of_omitted(progress, counts);
        self
    }

    /// The result for documents in memory.
    /// What a result in memory was made of, with so many documents, those of a reference included.
    #[doc(hidden)]
    pub fn of(found: &Deduplication, rows: u32) -> Self {
        let rows = found.reference..rows;
        let mut sizes = ClusterSizes::default();
        sizes.add(&found.removed, |row| row, found.reference);
        FoundRemovals {
            rows: rows.end,
            reference: found.counts.reference.map(|_| found.reference),
            removals: Removals::Held(found.removed.clone()),
            dropped: DroppedRows::held(rows, &found.dropped),
            verification: found.verification,
            index_verification: found.verification,
            sizes,
            counts: found.counts.clone(),
            candidates: found.candidates,
            recall_at_threshold: found.recall_at_threshold,
            expected_precision: found.expected_precision,
            timings: Timings::default(),
            similarity: None,
        }
    }

    /// The names of the verifications.
    #[doc(hidden)]
    pub fn verification_names(&self) -> VerificationNames {
        VerificationNames {
            texts: self.verification.name(),
            index: self.index_verification.name(),
        }
    }

    pub(super) fn in_memory(self) -> Result<Deduplication> {
        let similarity = self.similarity;
        rayon::spawn(|| drop(similarity));
        Ok(Deduplication {
            removed: self.removals.into_vec()?,
            dropped: self.dropped.iter().collect(),
            reference: self.reference.unwrap_or(0),
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
    pub(super) fn into_vec(self) -> Result<Vec<Removal>> {
        match self {
            Removals::Held(removed) => Ok(removed),
            Removals::Spilled(removals) => removals.rows().collect(),
        }
    }
}

/// Takes removed documents, part by part.
enum RemovalSink {
    /// Of one part, by ascending row.
    Held(Vec<Removal>),
    /// Of many parts.
    Spilled(RemovalWriter),
}

/// Removals that are worth a job, 10 µs or more.
const REMOVALS: usize = 1 << 12;

impl RemovalSink {
    /// Adds the documents removed from a part. They and the documents that they name are numbered as in the part.
    fn add(&mut self, documents: &PartDocuments, mut removed: Vec<Removal>) -> Result<()> {
        match self {
            RemovalSink::Spilled(writer) => writer.add(documents, &removed),
            RemovalSink::Held(held) => {
                let row = |number| documents.row(number);
                for_each_chunk(&mut removed, REMOVALS, |_, removed| {
                    for removal in removed {
                        *removal = removal.name(row, row);
                    }
                });
                if held.is_empty() {
                    *held = removed
                } else {
                    held.append(&mut removed)
                }
                Ok(())
            }
        }
    }

    /// Writes everything added so far, for a checkpoint.
    fn flush(&mut self) -> Result<()> {
        match self {
            RemovalSink::Held(_) => Ok(()),
            RemovalSink::Spilled(writer) => writer.flush(),
        }
    }

    fn finish(self) -> Result<Removals> {
        Ok(match self {
            RemovalSink::Held(removed) => Removals::Held(removed),
            RemovalSink::Spilled(writer) => Removals::Spilled(writer.finish()?),
        })
    }
}

/// The name of the comparisons, for checkpoints.
const COMPARE: &str = "compare";

/// What is compared at a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ComparedParts {
    /// The number of parts.
    parts: usize,
    counts: Counts,
    sizes: ClusterSizes,
    /// [`Observations::counts`]; empty without signatures.
    observed: Vec<u64>,
}

/// What was found in the parts so far.
struct PartResults {
    compared: ComparedParts,
    sink: RemovalSink,
    observed: Option<Observations>,
    spill: Option<Arc<Spill>>,
    /// The number of documents of a reference.
    reference: u32,
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
        reference: Option<u32>,
        counts: Counts,
        observed: Option<Observations>,
    ) -> Self {
        let before = spill.as_ref().and_then(|spill| spill.state(COMPARE));
        let compared: ComparedParts = before.unwrap_or_else(|| ComparedParts {
            counts: counts.for_dedup(),
            ..ComparedParts::default()
        });
        if let Some(observed) = &observed {
            observed.add(&compared.observed);
        }
        PartResults {
            compared,
            sink: match &spill {
                None => RemovalSink::Held(Vec::new()),
                Some(spill) => RemovalSink::Spilled(RemovalWriter::new(spill, rows)),
            },
            observed,
            spill,
            reference: reference.unwrap_or(0),
            is_between_parts: true,
            similarity: None,
        }
    }

    fn take(&mut self, step: Step<OfPart>) -> Result<()> {
        match step {
            Step::Result((documents, clustered, similarity)) => {
                self.is_between_parts = false;
                let ComparedParts { counts, sizes, .. } = &mut self.compared;
                clustered.count_in(counts);
                let reference = self.reference;
                if let Some(removed) = &mut counts.removed_for_reference {
                    let counts = map_blocks(clustered.removed.len(), REMOVALS, |range| {
                        let kept = clustered.removed[range].iter();
                        let kept = kept.map(|removal| documents.row(removal.kept));
                        kept.filter(|row| *row < reference).count() as u64
                    });
                    *removed += counts.into_iter().sum::<u64>();
                }
                sizes.add(&clustered.removed, |row| documents.row(row), reference);
                self.similarity = similarity;
                self.sink.add(&documents, clustered.removed)
            }
            Step::Stopped if self.is_between_parts => self.save(),
            Step::Stopped => Ok(()),
            Step::Done { parts } => {
                self.is_between_parts = true;
                self.compared.parts = parts;
                if self.spill.as_ref().is_some_and(|spill| spill.is_due()) {
                    self.save()
                } else {
                    Ok(())
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
    fn end(&mut self) -> Result<ComparedParts> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::{BTreeMap, BTreeSet, HashSet};

    use crate::pipeline::{
        Distance, Dropped, Measure, Overlap, Shingling, Unit, Weighting, Within,
    };
    use crate::progress::Silent;
    use crate::scheme::fmix64;
    use crate::search::parameters::Search;
    use crate::search::tests::{
        List, Spilling, Told, batch, chain, contained, distinct, engine_of_tokens, families,
        greedy, greedy_by, groups, id_of, jaccard, joined, keep_order, lost, nested, through_bands,
    };
    use crate::store::spill::Budget;

    fn removed(document: u32, kept: u32) -> Removal {
        Removal {
            document,
            kept,
            is_identical: document == 1,
            similarity: Some(0.75),
            overlap: (document == 2).then_some(Overlap {
                sizes: [1 << 20, 7],
                shared: 3,
            }),
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
        let all = |mut sink: RemovalSink| {
            for (rows, removed) in &parts {
                let documents = PartDocuments::new(rows.clone(), None);
                sink.add(&documents, removed.clone()).unwrap();
            }
            let removals = sink.finish();
            removals.unwrap().into_vec().unwrap()
        };
        let held = all(RemovalSink::Held(Vec::new()));
        let spilled = all(RemovalSink::Spilled(RemovalWriter::new(&spill, 21)));
        assert_eq!(held, spilled);
        let rows = held.iter().map(|removed| (removed.document, removed.kept));
        assert_eq!(rows.collect::<Vec<_>>(), [(4, 1), (8, 1), (12, 20)]);
        assert_eq!(held[2].via, Some((20, None)));
    }

    /// So little memory that every stage is on disk.
    const LITTLE: usize = 16 << 10;

    /// What a run returns that does not depend on where its documents are.
    #[derive(Debug, PartialEq)]
    struct Outcome {
        removed: Vec<Removal>,
        dropped: Vec<(u32, Dropped)>,
        counts: Counts,
        candidates: CandidateMethod,
        recall_at_threshold: f64,
        expected_precision: Option<f64>,
        sizes: (BTreeMap<u64, u64>, Vec<(u64, u32)>),
    }

    fn outcome(found: FoundRemovals) -> Outcome {
        Outcome {
            candidates: found.candidates,
            recall_at_threshold: found.recall_at_threshold,
            expected_precision: found.expected_precision,
            sizes: (found.sizes.histogram.clone(), found.sizes.listed.clone()),
            counts: found.counts.clone(),
            dropped: found.dropped.iter().collect(),
            removed: found.removals.into_vec().unwrap(),
        }
    }

    fn in_memory(lists: &[List], classes: Option<&[u64]>, task: &Dedup) -> Outcome {
        let source = &mut InMemory {
            documents: &batch(lists),
            reference: None,
            classes,
            progress: &Silent,
        };
        outcome(find_removals(source, &engine_of_tokens(), task, &Silent).unwrap())
    }

    /// The same on disk, where each removal has the ids of the documents that it names.
    fn on_disk(lists: &[List], classes: Option<&[u64]>, task: &Dedup, memory: usize) -> Outcome {
        let (folder, documents, told) = (tempfile::tempdir().unwrap(), batch(lists), Told::new());
        let source = Spilling::new(&documents, folder.path(), memory, &told);
        let mut source = source.classes(classes);
        let found = find_removals(&mut source, &engine_of_tokens(), task, &told).unwrap();
        assert!(told.has("goes on on disk"));
        if let Removals::Spilled(removals) = &found.removals {
            for removal in removals.iter() {
                let removal = removal.unwrap();
                let via = removal.via.map(|(via, _)| via);
                for named in [Some(removal.kept), via].into_iter().flatten() {
                    assert_eq!(named.id, id_of(named.row));
                }
            }
        }
        outcome(found)
    }

    /// All keep policies, with and without classes.
    fn preferences(documents: usize) -> Vec<(KeepPolicy, Option<Vec<u64>>)> {
        let class = |row: usize| fmix64(row as u64) % 3;
        let classes: Vec<u64> = (0..documents).map(class).collect();
        let policies = [KeepPolicy::First, KeepPolicy::Longest];
        let both = policies.map(|policy| [(policy, None), (policy, Some(classes.clone()))]);
        both.into_iter().flatten().collect()
    }

    #[test]
    fn a_join_removes_what_comparing_all_pairs_does() {
        let engine = engine_of_tokens();
        for (seed, threshold) in [(1, 0.5), (2, 0.75)] {
            let lists = families(seed, 70);
            for (keep, classes) in preferences(lists.len()) {
                let classes = classes.as_deref();
                let key = keep_order(&lists, keep, classes);
                let expected = greedy(&lists, threshold, key);
                let task = Dedup {
                    keep,
                    // A join has no limit on buckets.
                    max_bucket: 1,
                    ..Dedup::new(joined(threshold, &engine))
                };
                for found in [
                    in_memory(&lists, classes, &task),
                    on_disk(&lists, classes, &task, LITTLE),
                ] {
                    let named = found.removed.iter().map(|removed| {
                        (
                            removed.document,
                            removed.kept,
                            removed.similarity,
                            removed.is_identical,
                        )
                    });
                    assert_eq!(named.collect::<Vec<_>>(), expected, "{task:?}");
                    assert_counts(&lists, &found);
                }
            }
        }
    }

    /// Counts follow from what was removed.
    fn assert_counts(lists: &[List], found: &Outcome) {
        let counts = &found.counts;
        let (documents, removed) = (lists.len() as u64, found.removed.len() as u64);
        assert_eq!((counts.documents, counts.removed), (documents, removed));
        assert_eq!(counts.kept, documents - removed);
        let identical: usize = groups(lists).values().map(|rows| rows.len() - 1).sum();
        assert_eq!(counts.identical, identical as u64);
        let empty = lists.iter().filter(|list| list.is_empty()).count() as u64;
        assert_eq!(counts.without_shingles, empty);
        assert_losses(lists, found);
        let equal = found
            .removed
            .iter()
            .filter(|removed| !removed.is_identical && removed.similarity == Some(1.0));
        assert_eq!(counts.equal_shingles, Some(equal.count() as u64));
        let mut clusters: BTreeMap<u32, u64> = BTreeMap::new();
        for removed in &found.removed {
            *clusters.entry(removed.kept).or_insert(1) += 1;
        }
        assert_eq!(counts.clusters, clusters.len() as u64);
        assert_eq!(Some(&counts.largest_cluster), clusters.values().max());
        let (histogram, listed) = &found.sizes;
        let mut largest: Vec<(u64, u32)> =
            clusters.iter().map(|(row, size)| (*size, *row)).collect();
        largest.sort_by_key(|(size, row)| (std::cmp::Reverse(*size), *row));
        assert_eq!(*listed, largest[..largest.len().min(10)]);
        for (size, number) in histogram {
            let same_size = largest.iter().filter(|(known, _)| known == size);
            assert_eq!(*number, same_size.count() as u64);
        }
        assert!(counts.similar_pairs <= counts.candidate_pairs);
    }

    /// Losses of documents that were compared exactly are counts of sets.
    fn assert_losses(lists: &[List], found: &Outcome) {
        let of = |row: u32| &lists[row as usize];
        let (mut lacking, mut shingles) = (0, 0);
        for removed in &found.removed {
            let (document, kept) = (of(removed.document), of(removed.kept));
            let expected = lost(document, kept).or(Some(0.0));
            assert_eq!(removed.lost(), expected, "{removed:?}");
            if !removed.is_identical {
                let [document, kept]: [BTreeSet<_>; 2] =
                    [document, kept].map(|list| list.iter().collect());
                lacking += document.difference(&kept).count() as u64;
                shingles += document.len() as u64;
            }
        }
        let counts = &found.counts;
        assert_eq!(counts.lost_shingles, Some(lacking));
        assert_eq!(counts.removed_shingles, Some(shingles));
        assert_eq!(counts.unknown_losses, Some(0));
    }

    /// The search for contained documents.
    fn contained_search(search: Search) -> Dedup {
        Dedup::new(Search {
            measure: Measure::Contained,
            ..search
        })
    }

    fn named(found: &Outcome) -> Vec<(u32, u32, Option<f64>, bool)> {
        let removed = found.removed.iter();
        removed
            .map(|it| (it.document, it.kept, it.similarity, it.is_identical))
            .collect()
    }

    #[test]
    fn a_join_removes_all_contained_documents() {
        let engine = engine_of_tokens();
        for (seed, threshold) in [(1, 0.5), (2, 0.8), (3, 1.0)] {
            let lists = [nested(seed, 50), chain(150)].concat();
            let key = |row: u32| (Reverse(distinct(&lists[row as usize])), row);
            let expected = greedy_by(contained, &lists, threshold, key);
            let task = contained_search(joined(threshold, &engine));
            let found = in_memory(&lists, None, &task);
            assert_eq!(named(&found), expected);
            assert!(expected.len() > 50);
            assert_losses(&lists, &found);
            assert_eq!(found.recall_at_threshold, 1.0);
            for memory in [LITTLE, LITTLE / 4] {
                assert_eq!(on_disk(&lists, None, &task, memory), found, "{threshold}");
            }
        }
    }

    #[test]
    fn contained_documents_lose_no_more_than_the_threshold() {
        let engine = engine_of_tokens();
        let lists = [nested(4, 50), chain(150)].concat();
        for threshold in [0.7, 1.0] {
            let task = contained_search(through_bands(threshold, &engine));
            let found = in_memory(&lists, None, &task);
            assert!(found.removed.len() > 50);
            for removed in &found.removed {
                let [document, kept] =
                    [removed.document, removed.kept].map(|row| &*lists[row as usize]);
                let missing = lost(document, kept).unwrap_or(0.0);
                assert!(missing <= 1.0 - threshold + 1e-12, "{removed:?}");
                assert!(distinct(document) <= distinct(kept));
            }
            // The recall that is stated depends on the sizes of both documents.
            assert!(found.recall_at_threshold < 1.0);
            for memory in [LITTLE, LITTLE / 4] {
                assert_eq!(on_disk(&lists, None, &task, memory), found, "{threshold}");
            }
        }
    }

    #[test]
    fn containment_refuses_what_keeps_other_documents() {
        let engine = engine_of_tokens();
        let documents = batch(&families(1, 3));
        let refused = |change: fn(&mut Dedup), classes: Option<&[u64]>| {
            let mut task = contained_search(joined(0.5, &engine));
            change(&mut task);
            dedup_by_class(&documents, classes, &engine, &task, &Silent)
                .unwrap_err()
                .to_string()
        };
        for (change, word) in [
            (
                (|task| task.clustering = Clustering::Connected) as fn(&mut Dedup),
                "`cluster=greedy`",
            ),
            (|task| task.keep = KeepPolicy::Longest, "`keep=longest`"),
            (
                |task| {
                    task.search.candidates = CandidateMethod::Lsh;
                    task.search.verification = Verification::Signature;
                },
                "`verify=exact`",
            ),
        ] {
            let refused = refused(change, None);
            assert!(refused.contains(word), "{refused}");
        }
        let classes = vec![0; documents.len()];
        let refused = refused(|_| (), Some(&classes));
        assert!(refused.contains("`keep_by`"), "{refused}");
    }

    #[test]
    fn components_are_those_of_all_similar_pairs() {
        let engine = engine_of_tokens();
        let lists = [families(4, 60), chain(30)].concat();
        let threshold = 0.5;
        for (keep, classes) in preferences(lists.len()) {
            let classes = classes.as_deref();
            let key = keep_order(&lists, keep, classes);
            let task = Dedup {
                keep,
                clustering: Clustering::Connected,
                ..Dedup::new(joined(threshold, &engine))
            };
            let found = in_memory(&lists, classes, &task);
            assert_eq!(on_disk(&lists, classes, &task, LITTLE), found, "{task:?}");
            assert_losses(&lists, &found);
            // Each document leads to the kept one of its component by similar pairs.
            let removals: BTreeMap<u32, &Removal> = found
                .removed
                .iter()
                .map(|removed| (removed.document, removed))
                .collect();
            let of = |row: u32| &lists[row as usize];
            for removed in &found.removed {
                assert!(
                    !removals.contains_key(&removed.kept)
                        && key(removed.kept) < key(removed.document)
                );
                assert_eq!(
                    removed.similarity,
                    jaccard(of(removed.document), of(removed.kept))
                );
                if let Some((via, similarity)) = removed.via {
                    let via_kept = removals.get(&via).map_or(via, |via| via.kept);
                    assert_eq!(
                        (via_kept, similarity),
                        (removed.kept, jaccard(of(removed.document), of(via)))
                    );
                    assert!(similarity >= Some(threshold));
                }
            }
            // No two kept documents are similar.
            let kept: Vec<u32> = (0..)
                .take(lists.len())
                .filter(|row| !removals.contains_key(row))
                .collect();
            for (at, a) in kept.iter().enumerate() {
                for b in &kept[at + 1..] {
                    assert!(jaccard(of(*a), of(*b)).is_none_or(|known| known < threshold));
                }
            }
        }
    }

    #[test]
    fn disk_and_memory_remove_the_same_through_bands() {
        let engine = engine_of_tokens();
        // Families, and one component that memory does not hold.
        let lists = [families(5, 50), chain(150)].concat();
        for verification in [
            Verification::None,
            Verification::Signature,
            Verification::Exact,
        ] {
            let limits = [2, usize::MAX, usize::MAX, 2];
            for ((keep, classes), max_bucket) in preferences(lists.len()).into_iter().zip(limits) {
                let task = Dedup {
                    keep,
                    max_bucket,
                    ..Dedup::new(Search {
                        verification,
                        ..through_bands(0.5, &engine)
                    })
                };
                let classes = classes.as_deref();
                let expected = in_memory(&lists, classes, &task);
                assert!(expected.removed.len() > 50);
                match verification {
                    Verification::Exact => assert_losses(&lists, &expected),
                    // Only identical documents are known to lose nothing.
                    Verification::None | Verification::Signature => {
                        let known = |removed: &&Removal| removed.loss().is_some();
                        let known = expected.removed.iter().filter(known);
                        assert!(known.clone().all(|removed| removed.is_identical));
                        let unknown = (expected.removed.len() - known.count()) as u64;
                        assert_eq!(expected.counts.unknown_losses, Some(unknown));
                        assert_eq!(expected.counts.removed_shingles, Some(0));
                    }
                }
                let found = on_disk(&lists, classes, &task, LITTLE / 4);
                assert_eq!(found, expected, "{task:?}");
            }
        }
    }

    #[test]
    fn a_choice_of_candidates_does_not_depend_on_memory() {
        let engine = engine_of_tokens();
        let lists = families(6, 90);
        for join_bytes in [1 << 20, 20 << 10, 8 << 10, 1 << 10] {
            let task = Dedup::new(Search {
                candidates: CandidateMethod::Auto,
                join_bytes,
                ..through_bands(0.5, &engine)
            });
            let expected = in_memory(&lists, None, &task);
            assert_eq!(
                on_disk(&lists, None, &task, LITTLE),
                expected,
                "{join_bytes}"
            );
        }
    }

    /// What a deduplication of the documents that are not short finds, with their rows among all.
    fn without_short(lists: &[List], task: &Dedup) -> Vec<Removal> {
        let least = task.short.min_shingles as usize;
        let distinct = |list: &List| list.iter().collect::<HashSet<_>>().len();
        let is_long = |row: &usize| distinct(&lists[*row]) >= least;
        let is_long =
            |row: &usize| is_long(row) && !(task.short.drop_empty && lists[*row].is_empty());
        let long: Vec<usize> = (0..lists.len()).filter(is_long).collect();
        let long_lists: Vec<List> = long.iter().map(|row| lists[*row].clone()).collect();
        let row = |row: u32| u32::try_from(long[row as usize]).unwrap();
        let task = Dedup {
            short: ShortDocuments::default(),
            ..task.clone()
        };
        let found = in_memory(&long_lists, None, &task).removed.into_iter();
        found.map(|removal| removal.name(row, row)).collect()
    }

    #[test]
    fn short_documents_take_no_part() {
        let engine = engine_of_tokens();
        let mut lists = families(8, 60);
        // Many tokens, few of them distinct; and copies of these.
        lists.extend([vec![3; 40], vec![3; 40], [vec![4; 30], vec![5; 9]].concat()]);
        lists.extend_from_within(lists.len() - 1..);
        for (at, (min_shingles, drop_short, drop_empty)) in [
            (1, false, false),
            (2, false, true),
            (3, true, false),
            (9, true, true),
            (0, false, true),
            (11, false, false),
            (1_000, true, false),
        ]
        .into_iter()
        .enumerate()
        {
            let joined = joined(0.5, &engine);
            let banded = through_bands(0.5, &engine);
            let task = Dedup {
                short: ShortDocuments {
                    min_shingles,
                    drop_short,
                    drop_empty,
                },
                clustering: [Clustering::Greedy, Clustering::Connected][at % 2],
                ..Dedup::new([joined, banded][at / 2 % 2].clone())
            };
            let found = in_memory(&lists, None, &task);
            // Little is held of documents that are all dropped.
            let memory = if min_shingles == 1_000 { 1 } else { LITTLE };
            assert_eq!(on_disk(&lists, None, &task, memory), found, "{task:?}");
            assert_eq!(found.removed, without_short(&lists, &task), "{task:?}");
            let fate = |list: &List| {
                let distinct = list.iter().collect::<HashSet<_>>().len();
                let is_short = drop_short && distinct < min_shingles as usize;
                match distinct {
                    0 if drop_empty || is_short => Some(Dropped::Empty),
                    1.. if is_short => Some(Dropped::Short),
                    _ => None,
                }
            };
            let dropped = (0..)
                .zip(&lists)
                .filter_map(|(row, list)| Some((row, fate(list)?)));
            assert_eq!(found.dropped, dropped.collect::<Vec<_>>(), "{task:?}");
            let counts = &found.counts;
            let short = lists.iter().map(|list| list.iter().collect::<HashSet<_>>());
            let short = short
                .filter(|set| set.len() < min_shingles as usize)
                .count() as u64;
            assert_eq!(counts.short, (min_shingles > 0).then_some(short));
            let dropped = found.dropped.len() as u64;
            assert_eq!(counts.dropped, task.short.drops().then_some(dropped));
            assert_eq!(counts.removed, found.removed.len() as u64 + dropped);
            assert_eq!(counts.kept, counts.documents - counts.removed);
        }
    }

    #[test]
    fn a_limit_without_a_meaning_is_refused() {
        let engine = engine_of_tokens();
        let documents = batch(&families(1, 3));
        let alone = Dedup {
            short: ShortDocuments {
                drop_short: true,
                ..ShortDocuments::default()
            },
            ..Dedup::new(joined(0.5, &engine))
        };
        let refused = dedup(&documents, &engine, &alone, &Silent).unwrap_err();
        assert!(refused.to_string().contains("`min_shingles`"), "{refused}");
        let rare = Shingling {
            weighting: Weighting::Rarity,
            ..Shingling::of(Unit::Tokens)
        };
        let weighted = Engine::builder().shingling(rare).build().unwrap();
        let limited = Dedup {
            short: ShortDocuments {
                min_shingles: 2,
                ..ShortDocuments::default()
            },
            ..Dedup::new(joined(0.5, &weighted))
        };
        let refused = dedup(&documents, &weighted, &limited, &Silent).unwrap_err();
        assert!(
            refused.to_string().contains("weighted shingles"),
            "{refused}"
        );
    }

    #[test]
    fn a_stopped_run_goes_on_with_the_same_result() {
        let engine = engine_of_tokens();
        let lists = [families(7, 50), chain(40)].concat();
        let documents = batch(&lists);
        for (verification, stages) in [
            (Verification::Signature, &["bucket", "compare"][..]),
            (
                Verification::Exact,
                &["distribute", "read again", "compare"],
            ),
        ] {
            let task = Dedup {
                short: ShortDocuments {
                    min_shingles: 8,
                    drop_short: true,
                    drop_empty: false,
                },
                ..Dedup::new(Search {
                    verification,
                    ..through_bands(0.5, &engine)
                })
            };
            let expected = in_memory(&lists, None, &task);
            assert!(expected.dropped.len() > 4);
            for stage in stages {
                for last in [0, 1, 3] {
                    let folder = tempfile::tempdir().unwrap();
                    let run = |told: &Told, memory| {
                        let source = Spilling::new(&documents, folder.path(), memory, told);
                        find_removals(&mut source.resumable(), &engine, &task, told)
                    };
                    let told = Told::stop_in(stage, last);
                    let Err(Error::Stopped) = run(&told, LITTLE).map(|_| ()) else {
                        // The stage has fewer calls.
                        continue;
                    };
                    let found = run(&Told::new(), LITTLE / 4).unwrap();
                    assert_eq!(outcome(found), expected, "{stage} {last} {verification:?}");
                }
            }
        }
    }

    #[test]
    fn a_run_that_goes_on_adds_to_what_was_found() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 20)).unwrap();
        let before = ComparedParts {
            parts: 3,
            counts: Counts {
                removed: 5,
                ..Counts::default()
            },
            observed: vec![1, 0, 2, 9],
            ..ComparedParts::default()
        };
        spill.note(COMPARE, &before).unwrap();
        let observed = Observations::none(2);
        let begin = |spill| {
            let counts = Counts::default();
            PartResults::begin(spill, 9, None, counts, Some(observed.clone())).compared
        };
        assert_eq!((begin(None).parts, observed.counts()), (0, vec![0; 4]));
        let found = begin(Some(spill));
        assert_eq!((found.parts, found.counts.removed), (3, 5));
        assert_eq!(observed.counts(), before.observed);
    }

    #[test]
    fn classes_and_distances_are_checked() {
        let engine = engine_of_tokens();
        let documents = batch(&families(1, 3));
        let task = Dedup::new(joined(0.5, &engine));
        for wrong in [documents.len() - 1, documents.len() + 1] {
            let classes = vec![0; wrong];
            let refused = dedup_by_class(&documents, Some(&classes), &engine, &task, &Silent);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("number of classes"), "{refused}");
        }
        let mut within = task;
        within.search.within = Some(Within {
            distance: Distance::L1,
            most: 1,
        });
        let refused = dedup(&documents, &engine, &within, &Silent);
        assert!(matches!(
            refused,
            Err(Error::Conflict(Conflict::DistanceOfPairs))
        ));
    }

    #[test]
    fn omitted_pairs_are_told() {
        let told = Told::new();
        let warn = |omitted_pairs, large_buckets| {
            let counts = Counts {
                omitted_pairs,
                large_buckets,
                ..Counts::default()
            };
            Dedup::warn_of_omitted(&told, &counts);
        };
        warn(0, 3);
        assert!(told.messages.lock().unwrap().is_empty());
        warn(1, 1);
        assert!(told.has("up to 1 pair was not compared, in 1 bucket of"));
        warn(2_000, 2);
        assert!(told.has("up to 2,000 pairs were not compared, in 2 buckets of"));
    }
}
