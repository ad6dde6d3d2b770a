//! An index of kind `exact` beside its definition: the shingles are cut here, and all pairs compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::*;
use simgpu::engine::Engine;
use simgpu::pipeline::{Measure, Shingling, Unit};
use simgpu::scheme::fmix64;
use simgpu::search::{CandidateMethod, Search};

/// A language: the unit of its shingles, what stands between words, and its letters.
struct Language {
    unit: Unit,
    between: &'static str,
    letters: &'static str,
}

const LANGUAGES: [Language; 4] = [
    Language {
        unit: Unit::Words,
        between: " ",
        letters: "abcdefghijklmnopqrstuvwxyzäéßø",
    },
    Language {
        unit: Unit::Words,
        between: " ",
        letters: "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    },
    Language {
        unit: Unit::Chars,
        between: "",
        letters: "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从",
    },
    Language {
        unit: Unit::Words,
        between: " ",
        letters: "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    },
];

const SIZE: usize = 3;

/// Short texts in families that differ in words. Half of the words are of a few frequent ones, which `half` decides.
fn texts(language: &Language, seed: u64, half: u64) -> Vec<String> {
    let random = |of: u64, at: u64| fmix64(seed << 40 ^ of << 20 ^ at);
    let letters: Vec<char> = language.letters.chars().collect();
    let word = |number: u64| -> String {
        let letter = |at: u64| {
            let at = fmix64(number * 8 + at) % letters.len() as u64;
            letters[usize::try_from(at).unwrap()]
        };
        (0..2 + number % 4).map(letter).collect()
    };
    let mut texts = Vec::new();
    for family in 0..25 {
        let words = 4 + random(family, 0) % 36;
        for member in 0..1 + random(family, 1) % 4 {
            let chosen = |at: u64| {
                let is_edited =
                    random(family, 500 + 50 * member + at).is_multiple_of(3 + 9 * (family % 3));
                let number = random(family, 10 + at + if is_edited { 90 * member } else { 0 });
                match number % 2 {
                    0 => 7_000 + 10 * half + number / 2 % 6,
                    _ => number / 2 % 300,
                }
            };
            // Some are parts of others.
            let from = if member == 3 { words / 2 } else { 0 };
            let words: Vec<String> = (from..words).map(|at| word(chosen(at))).collect();
            texts.push(words.join(language.between));
        }
    }
    texts.extend(["", "a", "a"].map(str::to_owned));
    texts
}

/// The shingles of a text, as they are defined.
fn shingles(language: &Language, text: &str) -> BTreeSet<String> {
    let units: Vec<String> = match language.unit {
        Unit::Chars => text.chars().map(String::from).collect(),
        _ => text.split_whitespace().map(str::to_owned).collect(),
    };
    match units.len() {
        0 => BTreeSet::new(),
        1..=SIZE => [units.join(language.between)].into(),
        _ => units
            .windows(SIZE)
            .map(|units| units.join(language.between))
            .collect(),
    }
}

/// Similarity and shares by the definition.
fn compared(measure: Measure, query: &BTreeSet<String>, document: &BTreeSet<String>) -> [f64; 3] {
    let shared = query.intersection(document).count() as f64;
    let (query_share, document_share) =
        (shared / query.len() as f64, shared / document.len() as f64);
    let similarity = match measure {
        Measure::Jaccard => shared / query.union(document).count() as f64,
        Measure::Contained => shared / query.len().min(document.len()) as f64,
    };
    [similarity, query_share, document_share]
}

type SharesById = BTreeMap<u64, [f64; 3]>;

fn find_by_definition(
    language: &Language,
    measure: Measure,
    threshold: f64,
    text: &str,
    documents: &[BTreeSet<String>],
) -> SharesById {
    let query = shingles(language, text);
    let compared = documents
        .iter()
        .map(|document| compared(measure, &query, document));
    let found = (0..).zip(compared);
    found
        .filter(|(_, [similarity, ..])| *similarity >= threshold)
        .collect()
}

fn search(engine: &Engine, measure: Measure, threshold: f64) -> Search {
    Search {
        measure,
        candidates: CandidateMethod::Join,
        ..Search::new(threshold, engine.scheme()).unwrap()
    }
}

fn assert_equals_definition(
    language: &Language,
    measure: Measure,
    texts: &[Vec<String>; 2],
    thresholds: &[f64],
) {
    let shingling = Shingling::of(language.unit.clone());
    let shingling = shingling.with_size(SIZE.try_into().unwrap()).unwrap();
    let engine = Engine::builder().shingling(shingling).work_bytes(0);
    let engine = engine.build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let search = search(&engine, measure, thresholds[0]);
    let index = Index::create(folder.path(), engine, &search).unwrap();
    let index = index.durability(Durability::OnSync);
    let mut documents = Vec::new();
    // The first half decides the order, and other words are frequent in the second.
    for half in texts {
        let ids = (documents.len()..).take(half.len());
        let ids: Vec<DocumentId> = ids.map(|id| (id as u64).into()).collect();
        index.add(half, &ids, OnKnownId::Fail).unwrap();
        documents.extend(half.iter().map(|text| shingles(language, text)));
    }
    let mut pairs = 0;
    for threshold in thresholds {
        for half in texts {
            let hits = index.query_with(half, *threshold, None).unwrap();
            for (text, hits) in half.iter().zip(hits) {
                let found: SharesById = hits
                    .iter()
                    .map(|hit| {
                        let shares = hit.shares.map(|shares| (shares.query, shares.document));
                        assert_eq!(shares.is_some(), measure == Measure::Contained);
                        let id = hit.id.as_json().parse().unwrap();
                        (id, (hit.similarity, shares))
                    })
                    .map(|(id, (similarity, shares)): (u64, _)| {
                        let (query, document) = shares.unwrap_or_default();
                        (id, [similarity, query, document])
                    })
                    .collect();
                let mut expected =
                    find_by_definition(language, measure, *threshold, text, &documents);
                if measure == Measure::Jaccard {
                    expected.values_mut().for_each(|[_, query, document]| {
                        (*query, *document) = (0.0, 0.0);
                    });
                }
                pairs += found.len();
                assert_eq!(found, expected, "{measure:?} {threshold} {text}");
            }
        }
    }
    assert!(pairs > 100, "{pairs}");
    index.verify().unwrap();
    let costs = index.query_costs().unwrap();
    assert!(costs.median <= costs.p99 && costs.p99 <= costs.most);
    assert!(costs.median > 0 && costs.most_frequent > 0);
}

#[test]
fn an_exact_index_equals_its_definition_in_four_languages() {
    for (seed, language) in (1..).zip(&LANGUAGES) {
        let texts = [0, 1].map(|half| texts(language, seed + 100 * half, half));
        let jaccard = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
        let contained = [0.5, 0.6, 0.75, 0.9, 1.0];
        let of = usize::try_from(seed).unwrap();
        for from in [0, 2 * of - 1] {
            assert_equals_definition(language, Measure::Jaccard, &texts, &jaccard[from..]);
        }
        for from in [0, of] {
            assert_equals_definition(language, Measure::Contained, &texts, &contained[from..]);
        }
    }
}

#[test]
fn an_index_that_grows_text_by_text_equals_its_definition() {
    let language = &LANGUAGES[0];
    let texts = texts(language, 9, 0);
    let shingling = Shingling::of(Unit::Words);
    let shingling = shingling.with_size(SIZE.try_into().unwrap()).unwrap();
    let engine = Engine::builder().shingling(shingling).work_bytes(0);
    let engine = engine.build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let search = search(&engine, Measure::Jaccard, 0.4);
    let index = Index::create(folder.path(), engine, &search).unwrap();
    let mut index = index.durability(Durability::OnSync);
    let mut kept: HashMap<u64, BTreeSet<String>> = HashMap::new();
    for (id, text) in (0u64..).zip(&texts) {
        if id == 20 {
            // It is opened again with its order.
            drop(index);
            index = Index::open(folder.path()).unwrap();
            index = index.durability(Durability::OnSync);
        }
        let set = shingles(language, text);
        let hits = index.check_or_add(text, id.into()).unwrap();
        let similar = kept.iter().filter(|(_, other)| {
            let [similarity, ..] = compared(Measure::Jaccard, &set, other);
            similarity >= 0.4
        });
        let similar: BTreeSet<u64> = similar.map(|(id, _)| *id).collect();
        let found: BTreeSet<u64> = hits
            .iter()
            .map(|hit| hit.id.as_json().parse().unwrap())
            .collect();
        assert_eq!(found, similar);
        if found.is_empty() {
            kept.insert(id, set);
        }
    }
    assert_eq!(index.verify().unwrap().documents, kept.len() as u64);
}

#[test]
fn another_kind_is_refused_with_both_names() {
    let engine = || Engine::builder().work_bytes(0).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let exact = search(&engine(), Measure::Jaccard, 0.8);
    let index = Index::create(folder.path(), engine(), &exact).unwrap();
    assert_eq!(index.kind(), IndexKind::Exact);
    index.check_fits(&engine(), &exact).unwrap();
    let contained = search(&engine(), Measure::Contained, 0.8);
    let lsh = Search {
        candidates: CandidateMethod::Lsh,
        ..exact.clone()
    };
    for (other, names) in [
        (contained, ["measure \"jaccard\"", "\"contained\""]),
        (lsh, ["kind \"exact\"", "\"lsh\""]),
    ] {
        let error = index.check_fits(&engine(), &other).unwrap_err().to_string();
        for name in names {
            assert!(error.contains(name), "{error}");
        }
    }
}
