//! Documents that are added, replaced and deleted.

use super::{EXACT, KINDS, SIGNED, VERIFIED, engine, found, ids, index_of, search, texts};
use crate::*;
use simgpu::error::Error;
use simgpu::pipeline::Unit;
use simgpu::scheme::fmix64;

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
        let (check, other_check) = (index.verify().unwrap(), other.verify().unwrap());
        match kind {
            // The other one began with one document, by which its shingles are ordered.
            EXACT => assert_eq!(check.documents, other_check.documents),
            _ => assert_eq!(check, other_check),
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
