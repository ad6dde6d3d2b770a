//! Indexes against a brute force that compares all pairs. It shares the signatures with them, and no code that searches: bands,
//! estimates and clusters are computed here from what the documentation says of them.

mod corpus;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Place, parse_lines};

use corpus::{Corpus, Criterion, Kind, Kinds, row_of};

fn place(corpus: &Corpus, criterion: Criterion) -> Place {
    let Criterion { kind, threshold } = criterion;
    let place = Place::new();
    place.write("old.jsonl", corpus.lines(0..corpus.in_index));
    place.write("new.jsonl", corpus.lines(corpus.in_index..corpus.len()));
    let options = format!(
        "{} --threshold {threshold} --unit words --size 1",
        kind.options()
    );
    place
        .run(&format!(
            "index build old.jsonl --index seen --quiet {options}"
        ))
        .succeeded();
    place
}

/// Compares what an index of these documents finds with all pairs. Returns how many there are.
#[track_caller]
fn check_query(
    place: &Place,
    index: &str,
    corpus: &Corpus,
    criterion: Criterion,
    stored: &[usize],
) -> usize {
    let query = format!("index query new.jsonl --index {index} -o - --quiet");
    let lines = parse_lines(&place.run(&query).succeeded().stdout);
    assert_eq!(lines.len(), corpus.len() - corpus.in_index);
    let mut pairs = 0;
    for line in lines {
        let row = row_of(&line["id"]);
        let hits = line["hits"].as_array().unwrap();
        let found: BTreeMap<usize, f64> = hits
            .iter()
            .map(|hit| (row_of(&hit["id"]), hit["similarity"].as_f64().unwrap()))
            .collect();
        assert_eq!(found.len(), hits.len(), "a document is found twice");
        let expected = stored.iter().filter_map(|known| {
            let similarity = corpus.pair(criterion, *known, row)?;
            Some((*known, similarity))
        });
        let expected: BTreeMap<usize, f64> = expected.collect();
        assert!(
            found.keys().eq(expected.keys())
                && found
                    .values()
                    .zip(expected.values())
                    .all(|(a, b)| (a - b).abs() < 1e-9),
            "{criterion:?} {row}: {found:?}, not {expected:?}"
        );
        pairs += found.len();
    }
    pairs
}

#[test]
fn queries_find_what_a_brute_force_finds() {
    for (seed, threshold) in [(1, 0.5), (2, 0.6), (3, 0.75), (4, 0.9), (5, 1.0)] {
        let corpus = Corpus::new(seed);
        let stored: Vec<usize> = (0..corpus.in_index).collect();
        for kind in [
            Kind::Exact,
            Kind::Contained,
            Kind::Lsh,
            Kind::LshBySignature,
        ] {
            let criterion = Criterion { kind, threshold };
            let place = place(&corpus, criterion);
            let pairs = check_query(&place, "seen", &corpus, criterion, &stored);
            assert!(pairs > 5, "{criterion:?}: {pairs}");
        }
    }
}

#[test]
fn dedup_against_an_index_is_a_brute_force() {
    let (mut missed_by_bands, mut by_estimate, mut exact) = (0, 0, 0);
    for (seed, threshold) in [(11, 0.5), (12, 0.6), (13, 0.75)] {
        let corpus = Corpus::new(seed);
        for (index, inputs, options) in [
            (Kind::Exact, Kind::Exact, ""),
            (Kind::Lsh, Kind::Lsh, "--max-bucket 100000"),
            (Kind::LshBySignature, Kind::Lsh, "--max-bucket 100000"),
            (
                Kind::LshBySignature,
                Kind::LshBySignature,
                "--max-bucket 100000 --verify signature",
            ),
        ] {
            let kinds = Kinds { index, inputs };
            let place = place(
                &corpus,
                Criterion {
                    kind: index,
                    threshold,
                },
            );
            let greedy = corpus.greedy(kinds, threshold);
            let all = Kinds {
                index: Kind::Exact,
                inputs: Kind::Exact,
            };
            let of_all = corpus.greedy(all, threshold);
            missed_by_bands += of_all.len().abs_diff(greedy.len());
            assert!(greedy.len() > 20 && greedy.len() < corpus.len() - corpus.in_index);
            for (run, memory) in ["", "--memory 1KB"].into_iter().enumerate() {
                for add in ["", "--add"] {
                    let case = Case {
                        index: format!("seen{run}{add}"),
                        out: format!("out{run}{add}"),
                        options: format!("{options} {memory}"),
                        add,
                    };
                    let found_by = case.check(&place, &corpus, kinds, threshold);
                    by_estimate += found_by["signature"];
                    exact += found_by["exact"];
                }
            }
        }
    }
    // Near the threshold, bands miss what a comparison of all pairs finds.
    assert!(missed_by_bands > 5, "{missed_by_bands}");
    assert!(by_estimate > 100 && exact > 100, "{by_estimate} {exact}");
}

/// A deduplication against an index.
struct Case {
    index: String,
    out: String,
    options: String,
    add: &'static str,
}

impl Case {
    /// Compares what it removes with a brute force. Returns how many are removed greedily, by the way in which they are found.
    fn check(
        &self,
        place: &Place,
        corpus: &Corpus,
        kinds: Kinds,
        threshold: f64,
    ) -> BTreeMap<String, usize> {
        let Case {
            index,
            out,
            options,
            add,
        } = self;
        let what = format!("{threshold} {kinds:?} {options} {add}");
        let (greedy, connected) = (
            corpus.greedy(kinds, threshold),
            corpus.connected(kinds, threshold),
        );
        place
            .run(&format!("index snapshot seen {index} --quiet"))
            .succeeded();
        let dedup = format!("dedup new.jsonl --against {index} --quiet {options} -o {out}");
        place
            .run(&format!("{dedup} --cluster connected"))
            .succeeded();
        let removals = removed(place, out);
        let found: BTreeMap<usize, usize> = removals
            .iter()
            .map(|line| (row_of(&line["id"]), row_of(&line["kept_id"])))
            .collect();
        assert_eq!(found, connected, "{what}");
        for line in &removals {
            let decided = [&line["via_id"], &line["kept_id"]];
            let decided = decided.into_iter().find(|id| id.is_number()).unwrap();
            corpus.check_found_by(line, kinds, row_of(decided));
        }
        place
            .run(&format!("{dedup} --cluster greedy {add} --overwrite"))
            .succeeded();
        let removals = removed(place, out);
        let rows: Vec<usize> = removals.iter().map(|line| row_of(&line["id"])).collect();
        assert!(
            rows.iter().eq(greedy.keys()),
            "{what}: {rows:?}, not {greedy:?}"
        );
        let ways = ["identical", "signature", "exact"].map(|way| (way.to_owned(), 0));
        let mut found_by = BTreeMap::from(ways);
        for line in &removals {
            let (similarity, kept) = &greedy[&row_of(&line["id"])];
            let stated = line["similarity"].as_f64().unwrap();
            assert!((stated - similarity).abs() < 1e-9, "{what}: {line}");
            assert!(
                kept.contains(&row_of(&line["kept_id"])),
                "{what}: {line}, {kept:?}"
            );
            corpus.check_found_by(line, kinds, row_of(&line["kept_id"]));
            let way = line["found_by"].as_str().unwrap();
            *found_by.get_mut(way).unwrap() += 1;
        }
        let report: Value =
            serde_json::from_slice(&place.read(&format!("{out}/report.json"))).unwrap();
        let is_mixed = kinds.index != kinds.inputs;
        let index_verify = &report["parameters"]["index_verify"];
        assert_eq!(*index_verify == "signature", is_mixed, "{what}");
        let is_added =
            |row: &usize| *row < corpus.in_index || !add.is_empty() && !greedy.contains_key(row);
        let stored: Vec<usize> = (0..corpus.len()).filter(is_added).collect();
        let criterion = Criterion {
            kind: kinds.index,
            threshold,
        };
        check_query(place, index, corpus, criterion, &stored);
        found_by
    }
}

fn removed(place: &Place, out: &str) -> Vec<Value> {
    parse_lines(&place.read(&format!("{out}/removed.jsonl")))
}
