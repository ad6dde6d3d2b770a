//! Bytes of an index that are not those that were written, behind the checksums of the store: errors, and no panic.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::header::{HEADER, Header};
use crate::store::{Opening, Table};
use crate::*;
use simgpu::engine::Engine;
use simgpu::error::Result;
use simgpu::pipeline::Measure;
use simgpu::search::{CandidateMethod, Search, Verification};

fn index(folder: &Path, candidates: CandidateMethod, measure: Measure) -> Index {
    let engine = Engine::builder().work_bytes(0).build().unwrap();
    let search = Search {
        measure,
        candidates,
        verification: match candidates {
            CandidateMethod::Join => Verification::Exact,
            _ => Verification::Signature,
        },
        ..Search::new(0.5, engine.scheme()).unwrap()
    };
    let index = Index::create(folder, engine, &search).unwrap();
    index.durability(Durability::OnSync)
}

const TEXTS: [&str; 6] = [
    "one two three four five six seven eight nine ten",
    "one two three four five six seven eight nine eleven",
    "of these words no other text has any",
    "one two three four five six",
    "...",
    "...",
];

/// Uses all that an index offers.
fn use_all(index: &Index) -> Result<()> {
    index.query(&TEXTS)?;
    index.query_costs()?;
    index.for_each(|_| Ok(()))?;
    index.verify()?;
    index.add(
        &["and one more text to add"],
        &[9.into()],
        OnKnownId::Replace,
    )?;
    index.delete(&[1.into(), 9.into()])?;
    index.compact()?;
    index.verify().map(|_| ())
}

/// Every change of a byte, and every length.
fn damages(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    // One bit of each byte, and the first ones of long values.
    let flips = (0..bytes.len().min(40)).map(|at| {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1 << (at % 8);
        flipped
    });
    let lengths = (0..bytes.len().min(40)).map(|len| bytes[..len].to_vec());
    let longer = [bytes, &[0]].concat();
    flips.chain(lengths).chain([longer])
}

#[test]
fn damaged_records_are_errors_or_do_not_matter() {
    let kinds = [
        (CandidateMethod::Lsh, Measure::Jaccard),
        (CandidateMethod::Join, Measure::Jaccard),
        (CandidateMethod::Join, Measure::Contained),
    ];
    for (candidates, measure) in kinds {
        let folder = tempfile::tempdir().unwrap();
        let index = index(folder.path(), candidates, measure);
        let ids: Vec<DocumentId> = (0u64..6).map(DocumentId::from).collect();
        index.add(&TEXTS, &ids, OnKnownId::Fail).unwrap();
        for table in [Table::Documents, Table::Sets, Table::Bands, Table::Ids] {
            let mut entries: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            let at = index.store.snapshot();
            at.for_each(table, |key, value| {
                entries.push((key.to_vec(), value.to_vec()));
                Ok(())
            })
            .unwrap();
            drop(at);
            let put = |key: &[u8], value: &[u8]| {
                let mut batch = index.store.batch();
                batch.put(table, key, value);
                batch.commit().unwrap();
            };
            for (key, value) in entries.iter().take(2) {
                for damaged in damages(value) {
                    put(key, &damaged);
                    let _ = index.query(&TEXTS);
                    let _ = index.query_costs();
                    let _ = index.for_each(|_| Ok(()));
                    let _ = index.delete(&[]);
                    let wrong = index.verify();
                    assert!(
                        wrong.is_err() || table == Table::Documents || table == Table::Sets,
                        "{table:?} {key:?}: {value:?} as {damaged:?}"
                    );
                }
                put(key, value);
                index.verify().unwrap();
                for damaged in damages(key).filter(|damaged| damaged != key) {
                    if damaged.is_empty() || entries.iter().any(|(other, _)| *other == damaged) {
                        continue;
                    }
                    put(&damaged, value);
                    let _ = index.query(&TEXTS);
                    let _ = index.query_costs();
                    let _ = index.verify();
                    let mut batch = index.store.batch();
                    batch.remove(table, &damaged);
                    batch.commit().unwrap();
                }
                index.verify().unwrap();
            }
        }
        use_all(&index).unwrap();
    }
}

/// The order is part of what is checked: another one leads to other lists.
#[test]
fn a_damaged_order_of_shingles_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = index(folder.path(), CandidateMethod::Join, Measure::Jaccard);
    let ids: Vec<DocumentId> = (0u64..6).map(DocumentId::from).collect();
    index.add(&TEXTS, &ids, OnKnownId::Fail).unwrap();
    let key = b"order";
    let order = index.store.snapshot().get(Table::State, key).unwrap();
    let order = order.unwrap().to_vec();
    assert!(!order.is_empty());
    let mut index = Some(index);
    for damaged in damages(&order).step_by(11).chain([order.clone()]) {
        let open = index.take().map_or_else(|| Index::open(folder.path()), Ok);
        let open = open.unwrap();
        let mut batch = open.store.batch();
        batch.put(Table::State, key, &damaged);
        batch.commit().unwrap();
        open.sync().unwrap();
        drop(open);
        let checked = Index::open(folder.path()).and_then(|index| index.verify());
        if damaged == order {
            checked.unwrap();
        } else if let Err(error) = &checked {
            assert!(error.to_string().contains("damaged"), "{error}");
        }
        // It opens again after the order was put back behind its back.
        if Index::open(folder.path()).is_err() {
            let store = crate::store::Store::open(folder.path(), Opening::Existing).unwrap();
            let mut batch = store.batch();
            batch.put(Table::State, key, &order);
            batch.commit().unwrap();
        }
    }
}

/// Reads a header and opens what it says.
fn read(folder: &Path) -> Result<()> {
    Header::read(folder)?.resolve(folder).map(|_| ())
}

#[test]
fn damaged_headers_are_errors_or_do_not_matter() {
    for candidates in [CandidateMethod::Lsh, CandidateMethod::Join] {
        let folder = tempfile::tempdir().unwrap();
        drop(index(folder.path(), candidates, Measure::Jaccard));
        let path = folder.path().join(HEADER);
        let good = fs::read(&path).unwrap();
        read(folder.path()).unwrap();
        for at in 0..good.len() {
            let mut flipped = good.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, flipped).unwrap();
            let _ = read(folder.path());
            fs::write(&path, &good[..at]).unwrap();
            assert!(read(folder.path()).is_err() || at + 1 == good.len());
        }
        let header: Value = serde_json::from_slice(&good).unwrap();
        let values = [
            json!(null),
            json!(-1),
            json!(0),
            json!(1e300),
            json!(u64::MAX),
            json!("nonsense"),
            json!(["a"]),
            json!({}),
        ];
        for place in places(&header, "") {
            let without = |value: Option<&Value>| {
                let mut header = header.clone();
                match value {
                    Some(value) => *header.pointer_mut(&place).unwrap() = value.clone(),
                    None => remove(&mut header, &place),
                }
                fs::write(&path, header.to_string()).unwrap();
                read(folder.path())
            };
            for value in &values {
                let _ = without(Some(value));
            }
            assert!(without(None).is_err(), "{place}");
        }
    }
}

/// The paths of all values of JSON.
fn places(value: &Value, path: &str) -> Vec<String> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .flat_map(|(name, value)| {
            let path = format!("{path}/{name}");
            let below = places(value, &path);
            [vec![path], below].concat()
        })
        .collect()
}

fn remove(value: &mut Value, place: &str) {
    let (parent, name) = place.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap();
    parent.as_object_mut().unwrap().remove(name);
}
