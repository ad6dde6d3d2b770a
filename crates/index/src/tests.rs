//! The index on disk beside what a search in memory finds, and beside its definition.

mod queries;

mod changes;

mod folders;

mod damage;

mod exact;

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit};
use simgpu::progress::Silent;
use simgpu::scheme::fmix64;
use simgpu::search::{CandidateMethod, Search, Verification};
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
