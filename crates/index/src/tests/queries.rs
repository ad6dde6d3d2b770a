//! What an index finds is what a search in memory finds, and what its definition says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::folders::ask;
use super::{Found, KINDS, SIGNED, VERIFIED, found, half_built, ids, index_of, number, texts};
use crate::*;
use simgpu::documents::TextBatch;
use simgpu::engine::Engine;
use simgpu::error::Error;
use simgpu::pipeline::{Clustering, KeepPolicy, Scratch, Signatures, Unit};
use simgpu::progress::Silent;
use simgpu::scheme::Slots;
use simgpu::search::{CandidateMethod, Dedup, Identical, Pairs, Search, dedup, pairs_against};

/// The same by a search for pairs in memory.
fn find_by_pairs(
    texts: &[String],
    reference: &[String],
    engine: &Engine,
    search: &Search,
) -> Found {
    let task = Pairs {
        identical: Identical::All,
        ..Pairs::new(search.clone())
    };
    let mut found = vec![BTreeMap::new(); texts.len()];
    pairs_against(texts, reference, engine, &task, &Silent, &mut |pair| {
        let b = pair.b as usize - reference.len();
        found[b].insert(pair.a as usize, pair.similarity.unwrap().to_bits());
        Ok(())
    })
    .unwrap();
    found
}

/// The same by the definition: the sets are similar and, in an index of bands, all slots of one are equal.
fn find_by_definition(
    texts: &[String],
    reference: &[String],
    engine: &Engine,
    search: &Search,
) -> Found {
    let signatures = |texts: &[String]| -> Signatures { engine.sign(texts).unwrap() };
    let (a, b) = (signatures(reference), signatures(texts));
    let set = |text: &String| {
        let mut set = Vec::new();
        let document = simgpu::documents::Document::Text(text);
        engine
            .shingler()
            .exact_set(document, &mut Scratch::default(), &mut set);
        set.into_iter().collect::<BTreeSet<u64>>()
    };
    let normal = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let banding = search.banding;
    let shares = |i: usize, j: usize| {
        let (Slots::U32(x), Slots::U32(y)) = (a.row(i), b.row(j)) else {
            panic!()
        };
        let is_exact = search.candidates == CandidateMethod::Join;
        let mut bands =
            (0..banding.bands()).map(|band| band * banding.rows()..(band + 1) * banding.rows());
        is_exact || bands.any(|band| x[band.clone()] == y[band])
    };
    let mut found = vec![BTreeMap::new(); texts.len()];
    for (j, text) in texts.iter().enumerate() {
        for (i, other) in reference.iter().enumerate() {
            let (x, y) = (set(text), set(other));
            let is_equal = normal(text) == normal(other);
            let is_blank = is_equal && normal(text).is_empty();
            if is_blank || (!is_equal && (x.is_empty() || y.is_empty() || !shares(i, j))) {
                continue;
            }
            let similarity = if is_equal {
                1.0
            } else {
                x.intersection(&y).count() as f64 / x.union(&y).count() as f64
            };
            if similarity >= search.threshold {
                found[j].insert(i, similarity.to_bits());
            }
        }
    }
    found
}

#[test]
fn an_index_finds_what_pairs_find() {
    for (seed, unit, threshold) in [
        (1, Unit::Words, 0.5),
        (2, Unit::Chars, 0.7),
        (3, Unit::Words, 0.8),
    ] {
        let all = texts(seed, 40);
        let (reference, texts) = all.split_at(all.len() / 2);
        for kind in KINDS {
            let folder = tempfile::tempdir().unwrap();
            let index = index_of(folder.path(), reference, unit.clone(), threshold, kind);
            let expected = find_by_pairs(texts, reference, index.engine(), index.search());
            assert!(expected.iter().map(BTreeMap::len).sum::<usize>() > 10);
            assert_eq!(found(&index, texts), expected, "{seed} {kind:?}");
            if kind != SIGNED {
                assert_eq!(
                    expected,
                    find_by_definition(texts, reference, index.engine(), index.search())
                );
            }
            // One by one, and after it was closed.
            drop(index);
            let index = Index::open(folder.path()).unwrap();
            for (text, expected) in texts.iter().zip(&expected) {
                let hits = index.check(text).unwrap();
                assert_eq!(hits.len(), expected.len());
            }
            assert_eq!(found(&index, texts), expected);
            index.verify().unwrap();
        }
    }
}

#[test]
fn hits_of_a_greater_threshold_are_the_first_of_all() {
    let (folder, texts) = (tempfile::tempdir().unwrap(), texts(4, 40));
    let index = index_of(folder.path(), &texts, Unit::Words, 0.5, VERIFIED);
    let all = index.query(&texts).unwrap();
    assert!(all.iter().any(|hits| hits.len() > 3));
    for (threshold, limit) in [(0.5, Some(2)), (0.9, None), (1.0, Some(1))] {
        let some = index.query_with(&texts, threshold, limit).unwrap();
        for (some, all) in some.iter().zip(&all) {
            let above = all.iter().filter(|hit| hit.similarity >= threshold);
            let expected: Vec<_> = above.take(limit.unwrap_or(all.len())).cloned().collect();
            assert_eq!(some, &expected);
        }
    }
    for threshold in [0.49, 1.01, f64::NAN] {
        assert!(matches!(
            index.query_with(&texts, threshold, None),
            Err(Error::Parameter { .. })
        ));
    }
}

#[test]
fn what_is_new_is_what_greedy_clusters_keep() {
    for (seed, batch) in [(5, 3), (6, 17), (7, 1000)] {
        let texts = texts(seed, 30);
        for kind in KINDS {
            let folder = tempfile::tempdir().unwrap();
            let index = index_of(folder.path(), &[], Unit::Words, 0.6, kind);
            let task = Dedup {
                keep: KeepPolicy::First,
                clustering: Clustering::Greedy,
                max_bucket: usize::MAX,
                ..Dedup::new(index.search().clone())
            };
            let expected = dedup(&texts, index.engine(), &task, &Silent).unwrap();
            let expected: BTreeMap<usize, (usize, Option<f64>)> = expected
                .removed
                .iter()
                .map(|removed| {
                    let of = (removed.kept as usize, removed.similarity);
                    (removed.document as usize, of)
                })
                .collect();
            let mut seen = BTreeMap::new();
            for start in (0..texts.len()).step_by(batch) {
                let end = texts.len().min(start + batch);
                let verdicts =
                    index.add_if_new(&texts[start..end], &ids(start..end), OnKnownId::Fail);
                for (row, verdict) in (start..).zip(verdicts.unwrap()) {
                    if let Verdict::Seen(hits) = verdict {
                        seen.insert(row, (number(&hits[0].id), Some(hits[0].similarity)));
                    }
                }
            }
            assert!(expected.len() > 10);
            assert_eq!(seen, expected, "{seed} {kind:?}");
            let documents = (texts.len() - seen.len()) as u64;
            assert_eq!(index.verify().unwrap().documents, documents);
        }
    }
}

/// Documents that were built, and others that were added: the index is as good as one to which all were added, also when some
/// are deleted, and without the filter.
#[test]
fn what_is_added_to_a_built_index_is_found() {
    let texts = texts(15, 40);
    for kind in [SIGNED, VERIFIED] {
        let [built, added, copied] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let index = half_built(built.path(), &texts, 0.6, kind);
        let other = index_of(added.path(), &texts, Unit::Words, 0.6, kind);
        let assert_same = |index: &Index| {
            assert_eq!(found(index, &texts), found(&other, &texts));
            assert_eq!(index.verify().unwrap(), other.verify().unwrap());
            assert_eq!(index.stats().documents, other.stats().documents);
        };
        assert_same(&index);
        assert_eq!(index.query_costs().unwrap(), other.query_costs().unwrap());
        let folder = copied.path().join("copy");
        index.sync().unwrap();
        Index::snapshot(built.path(), &folder).unwrap();
        let copy = ask(&folder, &texts).unwrap();
        assert_eq!(copy, found(&other, &texts));
        let deleted: Vec<DocumentId> = ids(0..texts.len()).into_iter().step_by(3).collect();
        for index in [&index, &other] {
            index.delete(&deleted).unwrap();
            index.compact().unwrap();
        }
        assert_same(&index);
        drop(index);
        assert_eq!(ask(built.path(), &texts).unwrap(), found(&other, &texts));
        fs::remove_file(built.path().join("store/filter")).unwrap();
        assert_eq!(ask(built.path(), &texts).unwrap(), found(&other, &texts));
    }
}

#[test]
fn a_text_batch_is_as_good_as_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts(11, 5);
    let index = index_of(folder.path(), &texts, Unit::Words, 0.8, VERIFIED);
    let batch: TextBatch = texts.iter().map(String::as_str).collect();
    assert_eq!(index.query(&batch).unwrap(), index.query(&texts).unwrap());
}
