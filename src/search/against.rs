//! Documents in memory against others: the reference.
//!
//! A reference is no second corpus. Its documents have the first rows of one, and the source of candidates leaves out
//! what two of them share ([`Reference`](crate::pipeline::Reference)): buckets, which need no signature or exact set
//! then, and pairs. They come first in the order in which documents are kept, and no stage removes them.

use super::deduplication::{Dedup, Deduplication};
use super::pairs::{DocumentPair, Pairs, PairsFound, pairs_of};
use super::removals::{check_classes, classes_after, find_removals};
use super::source::InMemory;
use crate::documents::{Document, Documents};
use crate::engine::Engine;
use crate::error::Result;
use crate::progress::Progress;

/// Deduplicates documents in memory against others, the reference: a document goes if it is similar to one of the
/// reference, or to a kept one. Documents of the reference are not compared with each other, and stay.
///
/// Rows count the documents of the reference first ([`Deduplication::reference`]). With
/// [`Clustering::Connected`](crate::pipeline::Clustering::Connected), a similar pair of two documents of the reference connects nothing; a component with
/// documents of the reference loses all others, for the first of them. `classes` are those of
/// [`dedup_by_class`](super::dedup_by_class).
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::search::{Dedup, Search, dedup_against};
/// use simgpu::progress::Silent;
///
/// let old = ["a rose is a rose is a rose", "by any other name"];
/// let new = ["the quick brown fox", "a rose is a rose is a rose"];
/// let engine = Engine::builder().build()?;
/// let task = Dedup::new(Search::new(0.8, engine.scheme())?);
/// let found = dedup_against(&new, &old, None, &engine, &task, &Silent)?;
/// assert_eq!((found.removed[0].document, found.removed[0].kept), (3, 0));
/// assert_eq!(found.kept().collect::<Vec<_>>(), [2]);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// Those of [`dedup_by_class`](super::dedup_by_class).
pub fn dedup_against<D: Documents + ?Sized, R: Documents + ?Sized>(
    documents: &D,
    reference: &R,
    classes: Option<&[u64]>,
    engine: &Engine,
    task: &Dedup,
    progress: &dyn Progress,
) -> Result<Deduplication> {
    check_classes(classes, documents.len())?;
    let classes = classes_after(reference.len(), classes);
    let source = &mut InMemory {
        documents: &Chained(reference, documents),
        reference: Some(reference.len()),
        classes: classes.as_deref(),
        progress,
    };
    find_removals(source, engine, task, progress)?.in_memory()
}

/// Finds all similar pairs of a document and one of others, the reference, in memory, as [`pairs`](super::pairs) does. Rows count the
/// documents of the reference first: [`DocumentPair::a`] is of the reference, and [`DocumentPair::b`] of `documents`. Of
/// identical documents, [`Identical::Star`](super::Identical::Star) returns the first on either side.
///
/// # Errors
/// Those of [`pairs`](super::pairs).
pub fn pairs_against<D: Documents + ?Sized, R: Documents + ?Sized>(
    documents: &D,
    reference: &R,
    engine: &Engine,
    task: &Pairs,
    progress: &dyn Progress,
    each: &mut dyn FnMut(DocumentPair) -> Result<()>,
) -> Result<PairsFound> {
    let source = &mut InMemory {
        documents: &Chained(reference, documents),
        reference: Some(reference.len()),
        classes: None,
        progress,
    };
    pairs_of(source, engine, task, progress, each)
}

/// Documents, and after them others.
struct Chained<'a, D: ?Sized, E: ?Sized>(&'a D, &'a E);

impl<D: Documents + ?Sized, E: Documents + ?Sized> Documents for Chained<'_, D, E> {
    fn len(&self) -> usize {
        self.0.len() + self.1.len()
    }

    fn get(&self, row: usize) -> Document<'_> {
        match row.checked_sub(self.0.len()) {
            None => self.0.get(row),
            Some(row) => self.1.get(row),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::error::Error;
    use crate::pipeline::{
        Clustering, Distance, KeepPolicy, PackedSignatures, Pairing, Shingling, Signatures,
        Similarity, Unit, Within,
    };
    use crate::progress::{Counts, Silent, Timings};
    use crate::scheme::fmix64;
    use crate::search::context::Context;
    use crate::search::pairs::{Identical, PairSearch};
    use crate::search::parameters::Search;
    use crate::search::removals::FoundRemovals;
    use crate::search::signature_rows::SignaturesInMemory;
    use crate::search::stages::Searched;
    use crate::search::tests::{
        List, Spilling, Told, batch, chain, engine_of_tokens, families, groups, jaccard, joined,
        keep_order, through_bands,
    };
    use crate::search::verification::Verification;

    /// So little memory that every stage is on disk.
    const LITTLE: usize = 4 << 10;

    struct SplitCorpus {
        /// The documents, those of the reference first.
        lists: Vec<List>,
        /// The number of documents of the reference.
        reference: u32,
    }

    /// A reference and an input, one after the other: parts of the same families, which share documents, and a chain that
    /// leads from one to the other and back.
    fn corpus(seed: u64) -> SplitCorpus {
        let all = [families(seed, 20), chain(30)].concat();
        let is_old = |(row, _): &(u64, &List)| fmix64(seed << 32 | row).is_multiple_of(2);
        let (old, new): (Vec<_>, Vec<_>) = (0u64..).zip(&all).partition(is_old);
        let old: Vec<List> = old.into_iter().map(|(_, list)| list.clone()).collect();
        let new = new.into_iter().map(|(_, list)| list.clone());
        // Copies within the reference, and of the reference in the input.
        let copies: Vec<List> = old.iter().step_by(9).cloned().collect();
        let reference = [old, copies.clone()].concat();
        let documents = u32::try_from(reference.len()).unwrap();
        SplitCorpus {
            lists: reference.into_iter().chain(new).chain(copies).collect(),
            reference: documents,
        }
    }

    /// The pairs of similar documents, the lesser row first, and their similarity if it is computed.
    type Similar = BTreeMap<(u32, u32), Option<f64>>;

    fn similarity(similar: &Similar, a: u32, b: u32) -> Option<Option<f64>> {
        similar.get(&(a.min(b), a.max(b))).copied()
    }

    /// The kept document of each removed one, and their similarity unless they were not compared.
    type Removed = BTreeMap<u32, (u32, Option<f64>)>;

    /// The documents of each position by their definition: those of a reference come first.
    fn positions<K: Ord>(lists: &[List], key: impl Fn(u32) -> K) -> Vec<(u32, Vec<u32>)> {
        let groups = groups(lists).into_values();
        let keeper = |rows: &Vec<u32>| rows.iter().copied().min_by_key(|row| key(*row));
        let named = groups.filter_map(|rows| Some((keeper(&rows)?, rows)));
        let mut named: Vec<(u32, Vec<u32>)> = named.collect();
        named.sort_by_key(|(keeper, _)| key(*keeper));
        named
    }

    /// Greedy clustering against a reference, by its definition.
    fn greedy<K: Ord>(
        lists: &[List],
        reference: u32,
        similar: &Similar,
        key: impl Fn(u32) -> K,
    ) -> Removed {
        let (mut kept, mut removed): (Vec<u32>, Removed) = (Vec::new(), Removed::new());
        for (keeper, rows) in positions(lists, order(reference, key)) {
            let mut best: Option<(u32, Option<f64>)> = None;
            for other in kept.iter().filter(|_| keeper >= reference) {
                if let Some(similarity) = similarity(similar, rows[0], *other)
                    && best.is_none_or(|(_, known)| similarity > known)
                {
                    best = Some((*other, similarity));
                }
            }
            let (other, similarity) = best.unwrap_or((keeper, Some(1.0)));
            if best.is_none() {
                kept.push(keeper);
            }
            let inputs = rows
                .iter()
                .filter(|row| **row >= reference && **row != other);
            removed.extend(inputs.map(|row| (*row, (other, similarity))));
        }
        removed
    }

    /// Orders documents: those of a reference by row, then all others by their key.
    fn order<K: Ord>(reference: u32, key: impl Fn(u32) -> K) -> impl Fn(u32) -> (u32, Option<K>) {
        move |row| {
            if row < reference {
                (row, None)
            } else {
                (u32::MAX, Some(key(row)))
            }
        }
    }

    /// Connected components against a reference, by their definition.
    fn connected<K: Ord>(
        lists: &[List],
        reference: u32,
        similar: &Similar,
        key: impl Fn(u32) -> K,
    ) -> BTreeMap<u32, u32> {
        let groups = groups(lists);
        let rows = groups.values().flatten();
        let mut component: BTreeMap<u32, u32> = rows.map(|row| (*row, *row)).collect();
        let same = groups.values().flat_map(|rows| {
            let others = |a: &u32| rows.iter().map(|b| (*a, *b)).collect::<Vec<_>>();
            rows.iter().flat_map(others).collect::<Vec<_>>()
        });
        let joined = similar.keys().copied().chain(same);
        let joined = joined.filter(|(a, b)| *a.max(b) >= reference);
        for (a, b) in joined {
            let (root_a, root_b) = (component[&a], component[&b]);
            let members = component.values_mut().filter(|of| **of == root_b);
            members.for_each(|of| *of = root_a);
        }
        let order = order(reference, key);
        let mut kept: BTreeMap<u32, u32> = BTreeMap::new();
        for (row, of) in &component {
            let first = kept.entry(*of).or_insert(*row);
            if order(*row) < order(*first) {
                *first = *row;
            }
        }
        let inputs = component.iter().filter(|(row, _)| **row >= reference);
        let named = inputs.map(|(row, of)| (*row, kept[of]));
        named.filter(|(row, kept)| row != kept).collect()
    }

    /// What a run returns that does not depend on where its documents are.
    #[derive(Debug, PartialEq)]
    struct Outcome {
        removed: Vec<crate::pipeline::Removal>,
        counts: Counts,
        clusters: (BTreeMap<u64, u64>, Vec<(u64, u32)>, u64),
    }

    fn outcome(found: FoundRemovals) -> Outcome {
        let sizes = &found.sizes;
        Outcome {
            clusters: (
                sizes.histogram.clone(),
                sizes.listed.clone(),
                sizes.of_reference,
            ),
            counts: found.counts.clone(),
            removed: found.removals.into_vec().unwrap(),
        }
    }

    fn in_memory(corpus: &SplitCorpus, classes: Option<&[u64]>, task: &Dedup) -> Outcome {
        let SplitCorpus { lists, reference } = corpus;
        let source = &mut InMemory {
            documents: &batch(lists),
            reference: Some(*reference as usize),
            classes,
            progress: &Silent,
        };
        outcome(find_removals(source, &engine_of_tokens(), task, &Silent).unwrap())
    }

    fn on_disk(corpus: &SplitCorpus, classes: Option<&[u64]>, task: &Dedup) -> Outcome {
        let SplitCorpus { lists, reference } = corpus;
        let (folder, documents, told) = (tempfile::tempdir().unwrap(), batch(lists), Told::new());
        let mut source = Spilling::new(&documents, folder.path(), LITTLE, &told).classes(classes);
        source.memory.reference = Some(*reference as usize);
        let found = find_removals(&mut source, &engine_of_tokens(), task, &told).unwrap();
        assert!(told.has("goes on on disk"));
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

    /// All searches, and the pairs that each finds similar.
    fn searches(lists: &[List], threshold: f64) -> Vec<(Search, Similar)> {
        let engine = engine_of_tokens();
        let signed: Signatures = engine.sign(&batch(lists)).unwrap();
        let packed = PackedSignatures::of(&signed, Search::SLOT_BITS);
        let through = through_bands(threshold, &engine);
        let banding = through.banding;
        let slots: Vec<Vec<u64>> = (0..lists.len()).map(|row| slots(&signed, row)).collect();
        let share = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|row| &slots[row as usize]);
            let bands = (0..banding.bands()).map(|band| band * banding.rows());
            let mut bands = bands.map(|first| first..first + banding.rows());
            bands.any(|band| a[band.clone()] == b[band])
        };
        let mut searches = [
            None,
            Some(Verification::None),
            Some(Verification::Signature),
        ]
        .into_iter()
        .chain([Some(Verification::Exact)])
        .map(|verification| {
            let search = match verification {
                None => joined(threshold, &engine),
                Some(verification) => Search {
                    verification,
                    ..through.clone()
                },
            };
            (verification, search, Similar::new())
        })
        .collect::<Vec<_>>();
        for b in (0..).take(lists.len()) {
            for a in 0..b {
                let Some(exact) = jaccard(&lists[a as usize], &lists[b as usize]) else {
                    continue;
                };
                let shares = share(a, b);
                let estimate = packed
                    .comparer()
                    .compare(a, b, 0.0)
                    .unwrap()
                    .similarity
                    .unwrap();
                for (verification, _, similar) in &mut searches {
                    let known = match verification {
                        None => Some(exact),
                        Some(_) if !shares => continue,
                        Some(Verification::None) => None,
                        Some(Verification::Signature) => Some(estimate),
                        Some(Verification::Exact) => Some(exact),
                    };
                    if known.is_none_or(|known| known >= threshold) {
                        similar.insert((a, b), known);
                    }
                }
            }
        }
        let named = searches.into_iter();
        named
            .map(|(_, search, similar)| (search, similar))
            .collect()
    }

    fn slots(signed: &Signatures, row: usize) -> Vec<u64> {
        match signed.row(row) {
            crate::scheme::Slots::U32(slots) => slots.iter().map(|slot| u64::from(*slot)).collect(),
            crate::scheme::Slots::U64(slots) => slots.to_vec(),
        }
    }

    /// Counts follow from what was removed, and leave out the reference.
    fn assert_counts(corpus: &SplitCorpus, found: &Outcome) {
        let SplitCorpus { lists, reference } = corpus;
        let (counts, of) = (&found.counts, *reference as usize);
        let inputs = (lists.len() - of) as u64;
        assert_eq!(counts.reference, Some(u64::from(*reference)));
        assert_eq!(
            (counts.documents, counts.kept),
            (inputs, inputs - counts.removed)
        );
        assert_eq!(counts.removed, found.removed.len() as u64);
        let repeats = (of..lists.len())
            .filter(|row| !lists[*row].is_empty() && lists[..*row].contains(&lists[*row]));
        assert_eq!(counts.identical, repeats.count() as u64);
        let empty = lists[of..].iter().filter(|list| list.is_empty()).count();
        assert_eq!(counts.without_shingles, empty as u64);
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for removed in &found.removed {
            *sizes.entry(removed.kept).or_insert(1) += 1;
        }
        assert_eq!(counts.clusters, sizes.len() as u64);
        let reference_clusters = sizes.keys().filter(|kept| **kept < *reference).count();
        assert_eq!(found.clusters.2, reference_clusters as u64);
        let removed = found.removed.iter();
        let for_reference = removed.filter(|removed| removed.kept < *reference).count();
        assert_eq!(counts.removed_for_reference, Some(for_reference as u64));
    }

    #[test]
    fn greedy_removes_what_its_definition_says() {
        for (seed, threshold) in [(1, 0.5), (2, 0.7)] {
            let corpus = corpus(seed);
            let SplitCorpus { lists, reference } = &corpus;
            for (search, similar) in searches(lists, threshold) {
                for (keep, classes) in preferences(lists.len()) {
                    let classes = classes.as_deref();
                    let key = keep_order(lists, keep, classes);
                    let expected = greedy(lists, *reference, &similar, key);
                    assert!(expected.values().any(|(kept, _)| kept < reference));
                    assert!(expected.values().any(|(kept, _)| kept >= reference));
                    let task = Dedup {
                        keep,
                        max_bucket: usize::MAX,
                        ..Dedup::new(search.clone())
                    };
                    let found = in_memory(&corpus, classes, &task);
                    let named = found.removed.iter();
                    let named =
                        named.map(|removed| (removed.document, (removed.kept, removed.similarity)));
                    assert_eq!(named.collect::<Removed>(), expected, "{task:?}");
                    assert_counts(&corpus, &found);
                    assert_eq!(on_disk(&corpus, classes, &task), found, "{task:?}");
                }
            }
        }
    }

    #[test]
    fn components_are_those_of_their_definition() {
        for (seed, threshold) in [(3, 0.5), (4, 0.7)] {
            let corpus = corpus(seed);
            let SplitCorpus { lists, reference } = &corpus;
            for (search, similar) in searches(lists, threshold) {
                for (keep, classes) in preferences(lists.len()) {
                    let classes = classes.as_deref();
                    let key = keep_order(lists, keep, classes);
                    let expected = connected(lists, *reference, &similar, key);
                    let task = Dedup {
                        keep,
                        clustering: Clustering::Connected,
                        max_bucket: usize::MAX,
                        ..Dedup::new(search.clone())
                    };
                    let found = in_memory(&corpus, classes, &task);
                    let named = found.removed.iter();
                    let named = named.map(|removed| (removed.document, removed.kept));
                    assert_eq!(named.collect::<BTreeMap<_, _>>(), expected, "{task:?}");
                    assert_counts(&corpus, &found);
                    for removed in found
                        .removed
                        .iter()
                        .filter(|_| search.verification == Verification::Exact)
                    {
                        let [a, b] =
                            [removed.document, removed.kept].map(|row| &lists[row as usize]);
                        assert_eq!(removed.similarity, jaccard(a, b));
                    }
                    assert_eq!(on_disk(&corpus, classes, &task), found, "{task:?}");
                }
            }
        }
    }

    #[test]
    fn without_a_reference_nothing_changes() {
        let lists = corpus(5).lists;
        for clustering in [Clustering::Greedy, Clustering::Connected] {
            for (search, _) in searches(&lists, 0.5) {
                let task = Dedup {
                    clustering,
                    max_bucket: 2,
                    ..Dedup::new(search)
                };
                let engine = engine_of_tokens();
                let plain = crate::search::dedup(&batch(&lists), &engine, &task, &Silent).unwrap();
                let against =
                    dedup_against(&batch(&lists), &batch(&[]), None, &engine, &task, &Silent);
                let against = against.unwrap();
                assert_eq!(against.removed, plain.removed);
                assert_eq!(
                    against.counts,
                    Counts {
                        reference: Some(0),
                        removed_for_reference: Some(0),
                        ..plain.counts
                    }
                );
            }
        }
    }

    #[test]
    fn a_copy_of_the_reference_is_removed_whole() {
        let lists = families(6, 20);
        let documents = u32::try_from(lists.len()).unwrap();
        let corpus = SplitCorpus {
            lists: [lists.clone(), lists.clone()].concat(),
            reference: documents,
        };
        for (search, _) in searches(&lists, 0.5) {
            for clustering in [Clustering::Greedy, Clustering::Connected] {
                let task = Dedup {
                    clustering,
                    ..Dedup::new(search.clone())
                };
                let found = in_memory(&corpus, None, &task);
                let left = found.counts.kept;
                let empty = lists.iter().filter(|list| list.is_empty()).count();
                assert_eq!(left, empty as u64);
                assert!(found.removed.iter().all(|removed| removed.kept < documents));
                if clustering == Clustering::Greedy {
                    // What is identical needs no comparison.
                    assert_eq!(found.counts.candidate_pairs, 0);
                }
                assert_eq!(on_disk(&corpus, None, &task), found);
            }
        }
    }

    #[test]
    fn signatures_are_removed_as_their_documents_are() {
        let SplitCorpus { lists, reference } = corpus(12);
        let engine = engine_of_tokens();
        let (old, new) = lists.split_at(reference as usize);
        let [old_signatures, new_signatures] =
            [old, new].map(|lists| engine.sign(&batch(lists)).unwrap());
        let in_memory = |signed: &Signatures, found: &mut dyn FnMut(&SignaturesInMemory<'_>)| {
            let (slots, scheme) = (signed.slots(), engine.scheme());
            found(&SignaturesInMemory { slots, scheme });
        };
        for verification in [Verification::None, Verification::Signature] {
            for clustering in [Clustering::Greedy, Clustering::Connected] {
                let task = Dedup {
                    clustering,
                    ..Dedup::new(Search {
                        verification,
                        ..through_bands(0.5, &engine)
                    })
                };
                let rows = |found: Deduplication| {
                    let removed = found.removed.iter().map(|removed| removed.document);
                    (removed.collect::<Vec<u32>>(), found.counts.reference)
                };
                let documents =
                    dedup_against(&batch(new), &batch(old), None, &engine, &task, &Silent);
                let documents = rows(documents.unwrap());
                assert!(documents.0.len() > 20);
                in_memory(&old_signatures, &mut |old| {
                    in_memory(&new_signatures, &mut |new| {
                        let found = new.dedup_against(old, &task, None, &Silent).unwrap();
                        assert_eq!(rows(found), documents, "{task:?}");
                    });
                });
            }
        }
        let other = engine.scheme().clone().with_seed(9);
        let slots = old_signatures.slots();
        let old = SignaturesInMemory {
            slots,
            scheme: &other,
        };
        let task = Dedup::new(through_bands(0.5, &engine));
        let task = Dedup {
            search: Search {
                verification: Verification::None,
                ..task.search
            },
            ..task
        };
        in_memory(&new_signatures, &mut |new| {
            assert!(new.dedup_against(&old, &task, None, &Silent).is_err());
        });
    }

    #[test]
    fn a_bound_on_buckets_counts_the_reference() {
        let corpus = corpus(7);
        for clustering in [Clustering::Greedy, Clustering::Connected] {
            for (search, _) in searches(&corpus.lists, 0.5) {
                for max_bucket in [1, 2] {
                    let task = Dedup {
                        clustering,
                        max_bucket,
                        ..Dedup::new(search.clone())
                    };
                    let found = in_memory(&corpus, None, &task);
                    assert_eq!(on_disk(&corpus, None, &task), found, "{task:?}");
                }
            }
        }
    }

    #[test]
    fn a_stopped_run_goes_on_against_its_reference() {
        let corpus = corpus(8);
        let SplitCorpus { lists, reference } = &corpus;
        let documents = batch(lists);
        let engine = engine_of_tokens();
        for (number, (search, _)) in searches(lists, 0.5).into_iter().enumerate() {
            let clusterings = [Clustering::Greedy, Clustering::Connected];
            for clustering in &clusterings[number % 2..=number % 2] {
                let task = Dedup {
                    clustering: *clustering,
                    ..Dedup::new(search.clone())
                };
                let expected = in_memory(&corpus, None, &task);
                for stage in [
                    "identical",
                    "join",
                    "bucket",
                    "distribute",
                    "read again",
                    "compare",
                ] {
                    for last in [1] {
                        let folder = tempfile::tempdir().unwrap();
                        let run = |told: &Told, memory| {
                            let source = Spilling::new(&documents, folder.path(), memory, told);
                            let mut source = source.resumable();
                            source.memory.reference = Some(*reference as usize);
                            find_removals(&mut source, &engine, &task, told)
                        };
                        let told = Told::stop_in(stage, last);
                        let Err(Error::Stopped) = run(&told, LITTLE).map(|_| ()) else {
                            // The stage has fewer calls.
                            continue;
                        };
                        let found = run(&Told::new(), LITTLE / 2).unwrap();
                        assert_eq!(outcome(found), expected, "{stage} {last} {task:?}");
                    }
                }
            }
        }
    }

    /// The pairs across, in memory and on disk.
    fn pairs_found(
        corpus: &SplitCorpus,
        engine: &Engine,
        task: &Pairs,
    ) -> (Vec<DocumentPair>, PairsFound) {
        let SplitCorpus { lists, reference } = corpus;
        let (old, new) = lists.split_at(*reference as usize);
        let mut found = Vec::new();
        let each = &mut |pair| {
            found.push(pair);
            Ok(())
        };
        let result = pairs_against(&batch(new), &batch(old), engine, task, &Silent, each).unwrap();
        let (folder, documents, told) = (tempfile::tempdir().unwrap(), batch(lists), Told::new());
        let mut source = Spilling::new(&documents, folder.path(), LITTLE, &told);
        source.memory.reference = Some(old.len());
        let mut timings = Timings::default();
        let context = &mut Context {
            search: &task.search,
            pairing: Pairing::Across,
            progress: &told,
            timings: &mut timings,
        };
        let searched = Searched::read(&mut source, engine, context).unwrap();
        assert!(told.has("goes on on disk"));
        let search = PairSearch::new(searched, task, &told, &mut timings).unwrap();
        let mut spilled = Vec::new();
        let each = &mut |pair: DocumentPair, _: Option<[&str; 2]>| {
            spilled.push(pair);
            Ok(())
        };
        let streamed = search.for_each(&told, each).unwrap();
        let disk_result = search.found(streamed, timings, &told);
        assert_eq!(spilled, found, "{task:?}");
        assert_eq!(disk_result.counts, result.counts, "{task:?}");
        (found, result)
    }

    #[test]
    fn pairs_are_those_across() {
        let engine = engine_of_tokens();
        for seed in [9, 10] {
            let corpus = corpus(seed);
            let SplitCorpus { lists, reference } = &corpus;
            let documents = u32::try_from(lists.len()).unwrap();
            let first = |row: u32| {
                let side_start = if row < *reference { 0 } else { *reference };
                (side_start..row).all(|other| lists[other as usize] != lists[row as usize])
            };
            for (search, similar) in searches(lists, 0.5) {
                for identical in [Identical::All, Identical::Star] {
                    let mut expected = BTreeMap::new();
                    for a in 0..*reference {
                        for b in *reference..documents {
                            let is_same = lists[a as usize] == lists[b as usize];
                            let is_same = is_same && !lists[a as usize].is_empty();
                            let is_wanted = match identical {
                                Identical::All => true,
                                Identical::Star => first(a) && (is_same || first(b)),
                            };
                            let known = if is_same {
                                Some(Some(1.0))
                            } else {
                                similarity(&similar, a, b)
                            };
                            if let Some(known) = known.filter(|_| is_wanted) {
                                expected.insert((a, b), known);
                            }
                        }
                    }
                    let task = Pairs {
                        identical,
                        ..Pairs::new(search.clone())
                    };
                    let (found, result) = pairs_found(&corpus, &engine, &task);
                    let named = found.iter().map(|pair| ((pair.a, pair.b), pair.similarity));
                    assert_eq!(named.collect::<BTreeMap<_, _>>(), expected, "{task:?}");
                    assert_eq!(result.counts.similar_pairs, expected.len() as u64);
                    assert_eq!(result.counts.reference, Some(u64::from(*reference)));
                }
            }
        }
    }

    #[test]
    fn pairs_across_are_found_by_distance() {
        for distance in [Distance::Hamming, Distance::L1] {
            let shingling = Shingling {
                weighting: distance.weighting(),
                ..Shingling::of(Unit::Tokens)
            };
            let engine = Engine::builder().shingling(shingling).work_bytes(1);
            let engine = engine.build().unwrap();
            let corpus = corpus(11);
            let SplitCorpus { lists, reference } = &corpus;
            let documents = u32::try_from(lists.len()).unwrap();
            let within = |a: &List, b: &List| -> Option<u64> {
                match distance {
                    Distance::Hamming => (a.len() == b.len())
                        .then(|| a.iter().zip(b).filter(|(x, y)| x != y).count() as u64),
                    Distance::L1 => {
                        let count = |list: &List, token: &u64| {
                            list.iter().filter(|other| *other == token).count()
                        };
                        let mut tokens = [a.clone(), b.clone()].concat();
                        tokens.sort_unstable();
                        tokens.dedup();
                        let of = tokens
                            .iter()
                            .map(|token| count(a, token).abs_diff(count(b, token)));
                        Some(of.sum::<usize>() as u64)
                    }
                }
            };
            for most in [0, 2, 7] {
                let search = Search {
                    within: Some(Within { distance, most }),
                    ..joined(0.5, &engine)
                };
                let mut expected = BTreeMap::new();
                for a in 0..*reference {
                    for b in *reference..documents {
                        let known = within(&lists[a as usize], &lists[b as usize]);
                        if let Some(known) = known.filter(|known| *known <= most) {
                            expected.insert((a, b), Some(known));
                        }
                    }
                }
                let (found, _) = pairs_found(&corpus, &engine, &Pairs::new(search));
                let named = found.iter().map(|pair| ((pair.a, pair.b), pair.distance));
                assert_eq!(
                    named.collect::<BTreeMap<_, _>>(),
                    expected,
                    "{distance:?} {most}"
                );
            }
        }
    }
}
