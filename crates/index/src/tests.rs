//! The index on disk beside what a search in memory finds, and beside its definition.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::*;
use simgpu::documents::TextBatch;
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::pipeline::{Clustering, KeepPolicy, Measure, Scratch, Shingling, Signatures, Unit};
use simgpu::progress::Silent;
use simgpu::scheme::{Slots, fmix64};
use simgpu::search::{
    CandidateMethod, Dedup, Identical, Pairs, Search, Verification, dedup, pairs_against,
};
use simgpu::store::spill::{Budget, Spill};

/// How an index finds documents, and verifies them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SearchKind {
    candidates: CandidateMethod,
    verification: Verification,
}

const SIGNED: SearchKind = SearchKind {
    candidates: CandidateMethod::Lsh,
    verification: Verification::Signature,
};
const VERIFIED: SearchKind = SearchKind {
    candidates: CandidateMethod::Lsh,
    verification: Verification::Exact,
};
const EXACT: SearchKind = SearchKind {
    candidates: CandidateMethod::Join,
    verification: Verification::Exact,
};
const KINDS: [SearchKind; 3] = [SIGNED, VERIFIED, EXACT];

/// Texts in families: some are equal, some but for white space, some differ in a few words, some have no words, and some
/// nothing.
fn texts(seed: u64, families: u64) -> Vec<String> {
    let random = |of: u64, at: u64| fmix64(seed << 40 | of << 16 | at);
    let mut texts = Vec::new();
    for family in 0..families {
        let words = 12 + random(family, 0) % 20;
        let word = |at: u64, member: u64| {
            let is_edited =
                random(family, 1_000 + 50 * member + at).is_multiple_of(25 - 4 * member);
            format!(
                "w{}",
                random(family, at + if is_edited { 100 * member } else { 0 }) % 500
            )
        };
        for member in 0..1 + random(family, 1) % 6 {
            let words: Vec<String> = (0..words).map(|at| word(at, member)).collect();
            texts.push(words.join(if member % 2 == 0 { " " } else { "  " }));
            if member == 2 {
                texts.push(words.join(" "));
            }
        }
    }
    texts.extend(["", "...", "...", " ", "?!", "one word", "one word"].map(str::to_owned));
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|at| random(*at as u64, 999));
    order.into_iter().map(|at| texts[at].clone()).collect()
}

fn engine(unit: Unit) -> Engine {
    let builder = Engine::builder().shingling(
        Shingling::of(unit)
            .with_size(3.try_into().unwrap())
            .unwrap(),
    );
    builder.work_bytes(0).build().unwrap()
}

fn search(threshold: f64, kind: SearchKind, engine: &Engine) -> Search {
    Search {
        verification: kind.verification,
        candidates: kind.candidates,
        ..Search::new(threshold, engine.scheme()).unwrap()
    }
}

fn ids(rows: std::ops::Range<usize>) -> Vec<DocumentId> {
    rows.map(|row| DocumentId::from(row as u64)).collect()
}

fn number(id: &DocumentId) -> usize {
    id.as_json().parse().unwrap()
}

/// An index of texts whose ids are their numbers.
fn index_of(
    folder: &Path,
    texts: &[String],
    unit: Unit,
    threshold: f64,
    kind: SearchKind,
) -> Index {
    let engine = engine(unit);
    let search = search(threshold, kind, &engine);
    let index = Index::create(folder, engine, &search).unwrap();
    let index = index.durability(Durability::OnSync);
    index
        .add(texts, &ids(0..texts.len()), OnKnownId::Fail)
        .unwrap();
    index
}

/// The same, but the first half of the texts is built at once.
fn half_built(folder: &Path, texts: &[String], threshold: f64, kind: SearchKind) -> Index {
    let engine = engine(Unit::Words);
    let search = search(threshold, kind, &engine);
    let index = Index::begin(folder, engine, &search).unwrap();
    let (built, added) = texts.split_at(texts.len() / 2);
    let temporary = tempfile::tempdir().unwrap();
    let spill = Spill::new(&Budget::new(temporary.path(), 1 << 20)).unwrap();
    let mut bulk = BulkBuild::new(&spill, &index, 0);
    let signed = SignedForIndex::new(&built, &index).unwrap();
    bulk.add(&signed, ids(0..built.len()).iter().enumerate())
        .unwrap();
    bulk.finish(&index, OnKnownId::Fail, &Silent).unwrap();
    index.complete().unwrap();
    let index = index.durability(Durability::OnSync);
    let ids = ids(built.len()..texts.len());
    index.add(added, &ids, OnKnownId::Fail).unwrap();
    index
}

/// The hits of each text: the number of the hit, and the bits of the similarity.
type Found = Vec<BTreeMap<usize, u64>>;

fn found(index: &Index, texts: &[String]) -> Found {
    let hits = index.query(texts).unwrap().into_iter();
    hits.map(|hits| {
        assert!(hits.is_sorted_by(|a, b| a.similarity >= b.similarity));
        hits.iter()
            .map(|hit| (number(&hit.id), hit.similarity.to_bits()))
            .collect()
    })
    .collect()
}

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
            let similarity = match normal(text) == normal(other) {
                true if normal(text).is_empty() => continue,
                true => 1.0,
                false if x.is_empty() || y.is_empty() || !shares(i, j) => continue,
                false => x.intersection(&y).count() as f64 / x.union(&y).count() as f64,
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

#[test]
fn deleted_documents_are_found_no_more() {
    let texts = texts(8, 60);
    for kind in KINDS {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let index = index_of(folders[0].path(), &texts, Unit::Words, 0.6, kind);
        let is_gone = |row: &usize| row % 3 == 1;
        let gone: Vec<DocumentId> = (0..texts.len())
            .filter(is_gone)
            .map(|row| (row as u64).into())
            .collect();
        assert_eq!(index.delete(&gone).unwrap(), vec![true; gone.len()]);
        assert_eq!(index.delete(&gone).unwrap(), vec![false; gone.len()]);
        // The same documents alone.
        let engine = engine(Unit::Words);
        let other = Index::create(folders[1].path(), engine, index.search()).unwrap();
        for row in (0..texts.len()).filter(|row| !is_gone(row)) {
            other
                .add(&texts[row..=row], &ids(row..row + 1), OnKnownId::Fail)
                .unwrap();
        }
        let expected = found(&other, &texts);
        assert_eq!(found(&index, &texts), expected);
        assert_eq!(index.verify().unwrap().deleted, gone.len() as u64);
        index.compact().unwrap();
        assert_eq!(found(&index, &texts), expected);
        let (check, of_other) = (index.verify().unwrap(), other.verify().unwrap());
        match kind {
            // The other one began with one document, by which its shingles are ordered.
            EXACT => assert_eq!(check.documents, of_other.documents),
            _ => assert_eq!(check, of_other),
        }
        assert_eq!(check.deleted, 0);
        // What was deleted can be added again.
        index
            .add(&texts[1..2], &ids(1..2), OnKnownId::Fail)
            .unwrap();
        assert!(
            index
                .check(&texts[1])
                .unwrap()
                .iter()
                .any(|hit| hit.id == 1.into())
        );
        index.verify().unwrap();
    }
}

#[test]
fn compaction_frees_space() {
    let texts: Vec<String> = (0..1_000u64)
        .map(|row| format!("{:x} {:x} {:x}", fmix64(row), fmix64(row + 7_000), row))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let index = index_of(folder.path(), &texts, Unit::Words, 0.8, SIGNED);
    index.compact().unwrap();
    let before = index.stats();
    index.delete(&ids(0..800)).unwrap();
    index.compact().unwrap();
    let after = index.stats();
    assert!(
        2 * after.disk_bytes < before.disk_bytes,
        "{before:?} {after:?}"
    );
    assert_eq!((after.documents, after.deleted), (200, 0));
}

#[test]
fn known_ids_are_refused_skipped_or_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = [
        "one two three four five",
        "six seven eight nine ten",
        "a b c d e",
    ]
    .map(str::to_owned);
    let index = index_of(
        folder.path(),
        std::slice::from_ref(&a),
        Unit::Words,
        0.9,
        VERIFIED,
    );
    let new = [b.clone(), c.clone()];
    let of = |ids: [u64; 2]| ids.map(DocumentId::from);
    for ids in [[1, 0], [1, 1]] {
        let refused = index.add(&new, &of(ids), OnKnownId::Fail);
        assert!(matches!(refused, Err(Error::KnownId { .. })));
    }
    // Nothing of a batch that is refused was added.
    assert!(index.check(&b).unwrap().is_empty());
    let verdicts = index.add(&new, &of([0, 1]), OnKnownId::Skip).unwrap();
    assert_eq!(verdicts, [Verdict::KnownId, Verdict::Added]);
    assert!(index.check(&b).unwrap().is_empty());
    // Twice in one batch: the last one stays.
    let verdicts = index.add(&new, &of([0, 0]), OnKnownId::Replace).unwrap();
    assert_eq!(verdicts, [Verdict::Added, Verdict::Added]);
    assert!(index.check(&a).unwrap().is_empty() && index.check(&b).unwrap().is_empty());
    let hits: Vec<_> = index
        .check(&c)
        .unwrap()
        .into_iter()
        .map(|hit| hit.id)
        .collect();
    assert_eq!(hits, [1.into(), 0.into()]);
    assert_eq!(index.verify().unwrap().documents, 2);
    assert!(matches!(
        index.check_or_add(&a, 0.into()),
        Err(Error::KnownId { .. })
    ));
    assert!(index.check_or_add(&a, 7.into()).unwrap().is_empty());
    assert_eq!(index.check_or_add(&a, 8.into()).unwrap()[0].id, 7.into());
    assert!(index.add(&new, &ids(9..10), OnKnownId::Fail).is_err());
}

#[test]
fn threads_see_whole_batches() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(Unit::Words);
    let search = search(0.9, SIGNED, &engine);
    let index = Index::create(folder.path(), engine, &search)
        .unwrap()
        .durability(Durability::OnSync);
    let text = "the same words in all of the documents".to_owned();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for batch in 0..20 {
                let documents = vec![text.clone(); 10];
                index
                    .add(
                        &documents,
                        &ids(10 * batch..10 * batch + 10),
                        OnKnownId::Fail,
                    )
                    .unwrap();
            }
        });
        let mut last = 0;
        while last < 200 {
            let hits = index.check(&text).unwrap().len();
            assert!(
                hits >= last && hits.is_multiple_of(10),
                "{hits} after {last}"
            );
            last = hits;
        }
    });
}

/// The message of an error.
fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn folders_that_are_no_index_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    assert!(message(Index::open(&place)).contains("simgpu index build"));
    let texts = texts(9, 3);
    let index = index_of(&place, &texts, Unit::Words, 0.8, VERIFIED);
    let pid = std::process::id().to_string();
    assert!(message(Index::open(&place)).contains(&format!("process {pid} has")));
    let (engine, search) = (engine(Unit::Words), index.search().clone());
    let other = Search {
        threshold: 0.7,
        ..search.clone()
    };
    let refused = message(index.check_fits(&engine, &other));
    assert!(
        refused.contains("0.8") && refused.contains("0.7"),
        "{refused}"
    );
    index.check_fits(&engine, &search).unwrap();
    drop(index);
    assert!(message(Index::create(&place, self::engine(Unit::Words), &search)).contains("already"));
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    assert!(message(Index::create(folder.path(), engine, &search)).contains("notes.txt"));
    // An index that was not completed is begun anew.
    fs::remove_file(place.join("simgpu-index.json")).unwrap();
    let index = index_of(&place, &texts[..1], Unit::Words, 0.8, VERIFIED);
    assert_eq!(index.verify().unwrap().documents, 1);
    let contained = Search {
        measure: Measure::Contained,
        ..search.clone()
    };
    let of = |(candidates, verification)| Search {
        candidates,
        verification,
        ..search.clone()
    };
    let unverified = of((CandidateMethod::Lsh, Verification::None));
    let estimated = of((CandidateMethod::Join, Verification::Signature));
    for (refused, says) in [
        (contained, "kind exact"),
        (unverified, "none"),
        (estimated, "exact"),
    ] {
        let folder = folder.path().join("b");
        let error = message(Index::create(&folder, self::engine(Unit::Words), &refused));
        assert!(error.contains(says), "{error}");
    }
}

/// The files of a folder, with those in folders below.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}

/// Opens an index and asks it.
fn ask(folder: &Path, texts: &[String]) -> Result<Found> {
    let index = Index::open(folder)?;
    index.query(texts)?;
    Ok(found(&index, texts))
}

/// Damages an index here and there: the answer is right, or an error names its folder.
fn assert_damage_is_found(good: &Path, texts: &[String], flips: u64) {
    let expected = ask(good, texts).unwrap();
    let all = files(good);
    for flip in 0..flips {
        let damaged = tempfile::tempdir().unwrap();
        copy(good, damaged.path());
        let random = fmix64(flip);
        let file = &all[usize::try_from(random % all.len() as u64).unwrap()];
        let file = damaged.path().join(file.strip_prefix(good).unwrap());
        let mut bytes = fs::read(&file).unwrap();
        if file.ends_with("lock") || bytes.is_empty() {
            continue;
        }
        let at = usize::try_from(fmix64(random) % bytes.len() as u64).unwrap();
        bytes[at] ^= 1 << (random >> 40 & 7);
        fs::write(&file, bytes).unwrap();
        match ask(damaged.path(), texts) {
            Ok(found) => assert_eq!(found, expected, "{flip}: {} {at}", file.display()),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    error.contains(&damaged.path().display().to_string()),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn damage_is_an_error_or_does_not_matter() {
    let texts = texts(10, 12);
    // In the journal, and in tables.
    for (compacts, kind) in [
        (false, SIGNED),
        (true, SIGNED),
        (false, EXACT),
        (true, EXACT),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let index = index_of(folder.path(), &texts, Unit::Words, 0.6, kind);
        if compacts {
            index.compact().unwrap()
        } else {
            index.sync().unwrap()
        }
        drop(index);
        assert_damage_is_found(folder.path(), &texts, 12);
    }
}

/// Whether nothing depends on the bytes of a file: it is a lock, or a list of files that another one replaced.
fn is_unused(file: &Path) -> bool {
    let name = file.file_name().unwrap().to_str().unwrap();
    let number = name
        .strip_prefix('v')
        .and_then(|number| number.parse::<u64>().ok());
    match number {
        Some(number) => {
            let current = fs::read(file.with_file_name("current")).unwrap();
            u64::from_le_bytes(current[..8].try_into().unwrap()) != number
        }
        None => name == "lock",
    }
}

/// The files of a folder on which something depends.
fn used(folder: &Path) -> Vec<std::path::PathBuf> {
    let is_used = |file: &std::path::PathBuf| {
        let is_alone = !file.with_file_name("current").exists();
        is_alone || !is_unused(file)
    };
    files(folder).into_iter().filter(is_used).collect()
}

/// Bits here and there of each file of an index that was closed: verification finds all of them.
#[test]
fn every_file_is_verified() {
    let (texts, good) = (texts(12, 20), tempfile::tempdir().unwrap());
    let index = half_built(good.path(), &texts, 0.6, VERIFIED);
    index.compact().unwrap();
    drop(index);
    for file in files(good.path()) {
        let bytes = fs::read(&file).unwrap();
        if bytes.is_empty() || is_unused(&file) {
            continue;
        }
        let last = bytes.len() - 1;
        for at in [0, last / 5, last / 2, last - last / 9, last] {
            let damaged = tempfile::tempdir().unwrap();
            copy(good.path(), damaged.path());
            let file = damaged.path().join(file.strip_prefix(good.path()).unwrap());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&file, flipped).unwrap();
            let checked = Index::open(damaged.path()).and_then(|index| index.verify());
            assert!(checked.is_err(), "{at}: {}", file.display());
            let error = message(checked);
            let folder = damaged.path().join("store/keyspaces");
            // A checksum says that it or what it is of has changed.
            let named = match file.starts_with(folder) {
                true if file.ends_with("current") => file.parent().unwrap(),
                true => &file,
                false => damaged.path(),
            };
            assert!(
                error.contains(&named.display().to_string()),
                "{at}: {error}"
            );
        }
    }
}

#[test]
fn damage_to_what_was_built_is_an_error_or_does_not_matter() {
    let texts = texts(14, 12);
    for kind in [SIGNED, VERIFIED] {
        let folder = tempfile::tempdir().unwrap();
        drop(half_built(folder.path(), &texts, 0.6, kind));
        assert_damage_is_found(folder.path(), &texts, 24);
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

/// A list of files without its files, and a table without a list.
#[test]
fn missing_files_are_errors() {
    let (texts, good) = (texts(13, 5), tempfile::tempdir().unwrap());
    let index = index_of(good.path(), &texts, Unit::Words, 0.6, SIGNED);
    index.compact().unwrap();
    drop(index);
    for file in files(&good.path().join("store/keyspaces")) {
        if is_unused(&file) {
            continue;
        }
        let damaged = tempfile::tempdir().unwrap();
        copy(good.path(), damaged.path());
        let file = damaged.path().join(file.strip_prefix(good.path()).unwrap());
        fs::remove_file(&file).unwrap();
        let left = used(damaged.path());
        let checked = Index::open(damaged.path()).and_then(|index| index.verify());
        let error = message(checked);
        let folder = file.parent().unwrap().display().to_string();
        assert!(error.contains(&folder), "{error}");
        // A table without a list is not taken for one that was begun.
        assert_eq!(used(damaged.path()), left, "{}", file.display());
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
