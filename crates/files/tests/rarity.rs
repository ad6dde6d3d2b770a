//! Weights by rarity in memory, against sums of logarithms, and what refuses them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use simgpu::Error;
use simgpu::documents::TokenBatch;
use simgpu::engine::Engine;
use simgpu::error::Conflict;
use simgpu::pipeline::{Banding, Shingler, Shingling, Unit, Weighting};
use simgpu::progress::{Progress, Silent};
use simgpu::scheme::{BaseHash, Scheme};
use simgpu::search::{CandidateMethod, Dedup, DocumentPair, Pairs, Search, dedup, pairs};
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

type List = Vec<u8>;

fn batch(lists: &[List]) -> TokenBatch {
    let mut batch = TokenBatch::default();
    for list in lists {
        list.iter().for_each(|token| batch.push_token(&[*token]));
        batch.finish_document();
    }
    batch
}

fn shingling(unit: Unit) -> Shingling {
    Shingling {
        weighting: Weighting::Rarity,
        ..Shingling::of(unit)
    }
}

fn engine(unit: Unit, scheme: &str) -> Engine {
    let scheme = Scheme::named(scheme).unwrap();
    let builder = Engine::builder().scheme(scheme);
    builder.shingling(shingling(unit)).build().unwrap()
}

/// The sum of the weights in both of two documents, and in either, for each pair.
fn sums(lists: &[List]) -> BTreeMap<(u32, u32), (f64, f64)> {
    let distinct: BTreeSet<&List> = lists.iter().filter(|list| !list.is_empty()).collect();
    let sets: Vec<BTreeSet<u8>> = lists.iter().map(|l| l.iter().copied().collect()).collect();
    let weight = |token: &u8| {
        let with = distinct.iter().filter(|list| list.contains(token)).count();
        (distinct.len() as f64 / with as f64).log2()
    };
    let mut sums = BTreeMap::new();
    for (a, set_a) in (0u32..).zip(&sets) {
        for (b, set_b) in (0u32..).zip(&sets).filter(|(b, _)| *b > a) {
            let both = set_a.intersection(set_b).map(weight).sum();
            let either = set_a.union(set_b).map(weight).sum();
            sums.insert((a, b), (both, either));
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn similarities_are_those_of_rarity(
        lists in prop::collection::vec(prop::collection::vec(0u8..12, 0..8), 0..20),
        scheme in prop::sample::select(vec!["affine32", "affine64", "datasketch"]),
        joins in any::<bool>(),
    ) {
        let engine = engine(Unit::Tokens, scheme);
        let mut search = Search::new(1e-3, engine.scheme()).unwrap();
        search.banding = Banding::new(128, 1, 128).unwrap();
        search.candidates = if joins { CandidateMethod::Join } else { CandidateMethod::Lsh };
        let mut found = BTreeMap::new();
        let mut keep = |pair: DocumentPair| {
            found.insert((pair.a, pair.b), pair.similarity.unwrap());
            Ok(())
        };
        pairs(&batch(&lists), &engine, &Pairs::new(search), &Silent, &mut keep).unwrap();
        for (pair, (both, either)) in sums(&lists) {
            let similarity = found.get(&pair).copied();
            let [a, b] = [pair.0, pair.1].map(|row| &lists[row as usize]);
            if a == b && !a.is_empty() {
                // Identical documents are found however little they weigh, even if all documents have all their shingles.
                prop_assert_eq!(similarity, Some(1.0));
            } else if let Some(similarity) = similarity {
                // Each weight is rounded down by 2^-26 or less.
                prop_assert!(either > 0.0);
                prop_assert!((similarity - both / either).abs() < 1e-5, "{pair:?}");
            }
            let is_missed = joins && similarity.is_none() && either > 0.0 && both / either > 0.002;
            prop_assert!(!is_missed, "{pair:?}: {both} of {either}");
        }
    }
}

#[test]
fn signatures_by_rarity_are_refused() {
    let engine = engine(Unit::Words, "affine32");
    let refused = engine.sign(&["a rose is a rose is a rose"]);
    assert!(matches!(
        refused,
        Err(Error::Conflict(Conflict::RarityOfRun))
    ));
    for hash in [BaseHash::WordsV1, BaseHash::Murmur3_32] {
        let named = Shingler::new(shingling(Unit::Words), &Scheme::default(), Some(hash));
        let conflict = named.map(|_| ()).unwrap_err();
        assert!(matches!(conflict, Error::Conflict(Conflict::RarityHash)));
    }
}

#[test]
fn counts_beyond_the_memory_limit_are_an_error() {
    let engine = engine(Unit::Words, "affine32");
    let text = |i: usize| -> String { (0..50).map(|j| format!("w{} ", 50 * i + j)).collect() };
    let texts: Vec<String> = (0..4000).map(text).collect();
    let mut task = Dedup::new(Search::new(0.8, engine.scheme()).unwrap());
    task.search.join_bytes = 16 << 20;
    assert!(dedup(&texts, &engine, &task, &Silent).is_ok());
    task.search.join_bytes = 1 << 20;
    let refused = dedup(&texts, &engine, &task, &Silent)
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(
        refused,
        Error::Conflict(Conflict::RarityMemory { mib: 1 })
    ));
}

/// Changes a file once its shingles are counted.
struct Writer(PathBuf);

impl Progress for Writer {
    fn tell(&self, message: &str) {
        if message.starts_with("counted") {
            fs::write(&self.0, "{\"text\": \"another one\"}\n").unwrap();
        }
    }
}

#[test]
fn a_file_that_changes_after_the_count_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let engine = engine(Unit::Words, "affine32");
    for held_bytes in [0, 1 << 20] {
        fs::write(&path, "{\"text\": \"one\"}\n{\"text\": \"two\"}\n").unwrap();
        let task = Dedup::new(Search::new(0.8, engine.scheme()).unwrap());
        let inputs = Inputs::find(std::slice::from_ref(&path), None).unwrap();
        let (progress, output) = (Writer(path.clone()), folder.path().join("out"));
        let run = Run {
            held_bytes,
            ..Run::new(&engine, &inputs)
        };
        let changed = Run {
            options: RunOptions {
                progress: &progress,
                ..RunOptions::default()
            },
            ..run
        }
        .dedup(&task, &*output);
        assert!(matches!(
            changed.map(|_| ()),
            Err(Error::InputChanged { path: named }) if named == path
        ));
        assert!(!output.join("report.json").exists());
    }
}
