//! `--min-shingles`, `--drop-short` and `--drop-empty`.

use std::collections::BTreeSet;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use serde_json::{Value, json};

use super::outputs::read_parquet;
use crate::support::{Place, Results, edited, lines_of, text};

/// Texts of 0 to 60 words with copies and edited copies, blank ones, and a bad record.
fn documents() -> Vec<Value> {
    let mut documents = Vec::new();
    for (seed, length) in (0..60).zip(0usize..) {
        let one = text(seed, length);
        let others = [one.clone(), edited(&one, 3, length / 9), one];
        for text in others {
            documents.push(json!({"id": documents.len(), "text": text}));
        }
    }
    documents.push(json!({"id": documents.len(), "text": " \n "}));
    documents.push(json!({"id": documents.len(), "text": "a a a a a a a a a a a a a a a a a a"}));
    documents.push(json!({"id": documents.len()}));
    documents
}

/// Distinct runs of three words.
fn shingles(document: &Value) -> Option<usize> {
    let text = document["text"].as_str()?.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let runs: BTreeSet<&[&str]> = match words.len() {
        0 => BTreeSet::new(),
        1..3 => [&words[..]].into(),
        _ => words.windows(3).collect(),
    };
    Some(runs.len())
}

fn ids(documents: &[Value], is_chosen: impl Fn(usize) -> bool) -> Vec<u64> {
    let chosen = documents
        .iter()
        .filter(|document| shingles(document).is_some_and(&is_chosen));
    chosen
        .map(|document| document["id"].as_u64().unwrap())
        .collect()
}

fn dropped(results: &Results, reason: &str) -> Vec<u64> {
    let of_reason = results
        .removed
        .iter()
        .filter(|line| line["found_by"] == reason);
    let ids = of_reason.map(|line| {
        for field in ["kept_id", "kept_file", "kept_row", "similarity"] {
            assert_eq!(line.get(field), Some(&Value::Null), "{line}");
        }
        line["id"].as_u64().unwrap()
    });
    ids.collect()
}

#[test]
fn short_documents_are_kept_or_dropped() {
    let place = Place::new();
    let documents = documents();
    place.write("in.jsonl", lines_of(documents.clone()));
    for (options, least, drops_short, drops_empty) in [
        ("--min-shingles 7", 7, false, false),
        ("--min-shingles 7 --drop-short", 7, true, true),
        (
            "--min-shingles 7 --drop-empty --verify signature",
            7,
            false,
            true,
        ),
        ("--drop-empty --candidates join", 0, false, true),
        (
            "--min-shingles 1 --cluster connected --verify none",
            1,
            false,
            false,
        ),
    ] {
        let all = format!("in.jsonl --on-bad-record skip --size 3 {options}");
        let results = place.dedup(&all);
        let on_disk = place.dedup(&format!("{all} --memory 1KiB"));
        assert_eq!(on_disk.removed_lines, results.removed_lines, "{options}");
        assert_eq!(on_disk.report, results.report, "{options}");
        let short = ids(&documents, |shingles| (1..least).contains(&shingles));
        let empty = ids(&documents, |shingles| shingles == 0);
        let expected = |drops: bool, ids: &Vec<u64>| if drops { ids.clone() } else { vec![] };
        assert_eq!(
            dropped(&results, "short"),
            expected(drops_short, &short),
            "{options}"
        );
        assert_eq!(
            dropped(&results, "empty"),
            expected(drops_empty, &empty),
            "{options}"
        );
        let (kept, removed) = (results.count("kept"), results.count("removed"));
        assert_eq!(
            results.count("documents"),
            kept + removed + results.count("skipped")
        );
        assert_eq!(removed, results.removed.len() as u64);
        assert_eq!(
            results
                .kept("in.jsonl")
                .iter()
                .filter(|byte| **byte == b'\n')
                .count() as u64,
            kept
        );
        if least > 0 {
            let below = ids(&documents, |shingles| shingles < least);
            assert_eq!(results.count("short"), below.len() as u64, "{options}");
            let found = results
                .removed
                .iter()
                .filter(|line| !line["kept_id"].is_null());
            for line in found {
                for side in ["id", "kept_id"] {
                    assert!(!below.contains(&line[side].as_u64().unwrap()), "{line}");
                }
            }
        }
        // The table of clusters has the same documents without a cluster.
        let (table, _) = read_parquet(&place, "out/clusters.parquet");
        let clusters = table["cluster"].as_primitive::<UInt64Type>();
        let without = clusters.null_count();
        let dropped = dropped(&results, "short").len() + dropped(&results, "empty").len();
        assert_eq!(without, dropped, "{options}");
        assert_eq!(table["kept"].as_boolean().true_count() as u64, kept);
    }
}

#[test]
fn short_documents_are_told_in_words() {
    let place = Place::new();
    place.write("in.jsonl", lines_of(documents()));
    let run = |options: &str| {
        let command = format!("dedup in.jsonl --on-bad-record skip --dry-run {options}");
        place.run(&command).succeeded().stderr
    };
    assert!(run("--min-shingles 9").contains("short"));
    assert!(run("--min-shingles 9 --drop-short").contains(", removed"));
    assert!(run("--drop-empty").contains(", removed"));
    place
        .run("dedup in.jsonl -o x --drop-short")
        .refused(2, &["--drop-short", "--min-shingles"]);
    place
        .run("dedup in.jsonl -o x --min-shingles 0")
        .refused(2, &["--min-shingles"]);
    place
        .run("dedup in.jsonl -o x --min-shingles 3 --weights rarity")
        .refused(2, &["--min-shingles", "weighted"]);
}
