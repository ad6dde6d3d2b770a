//! `simgpu dedup`: its report, its clusters, and what its options change.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{Int64Builder, ListBuilder};
use serde_json::{Value, json};

use crate::support::{
    Place, Results, edited, families, files_in, numbered_lines, parquet, parse_lines, text,
};

#[test]
fn the_report_states_every_parameter() {
    let place = Place::with_texts(families(20, 4, 60));
    let results = place.dedup("in.jsonl");
    let report = &results.report;
    assert_eq!(report["command"], "dedup");
    assert_eq!(
        (&report["keep"], &report["cluster"]),
        (&json!("first"), &json!("greedy"))
    );
    let parameters = &report["parameters"];
    for (name, value) in [
        ("scheme", json!("affine32")),
        ("hash", json!("words-v1")),
        ("seed", json!(1)),
        ("num_perm", json!(128)),
        ("unit", json!("words")),
        ("size", json!(5)),
        ("threshold", json!(0.8)),
        ("bands", json!(16)),
        ("rows", json!(8)),
        ("verify", json!("exact")),
    ] {
        assert_eq!(parameters[name], value, "{name}");
    }
    let recall = 1.0 - (1.0 - 0.8f64.powi(8)).powi(16);
    let stated = parameters["recall_at_threshold"].as_f64().unwrap();
    assert!((stated - recall).abs() < 1e-12);
    let run: Value = serde_json::from_slice(&place.read("out/run.json")).unwrap();
    assert_eq!(run["simgpu"], env!("CARGO_PKG_VERSION"));
    assert!(run["elapsed_s"].as_f64().unwrap() > 0.0);
    assert!(run["stages"].as_array().unwrap().len() > 3);
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn processor_times_add_up<'a>(record: &Value, stages: impl Iterator<Item = &'a Value> + Clone) {
    let of = |value: &Value, name: &str| value[name].as_f64().unwrap();
    for name in ["cpu_s", "serial_cpu_s"] {
        let sum: f64 = stages.clone().map(|stage| of(stage, name)).sum();
        assert!((sum - of(record, name)).abs() < 1e-9, "{name} is {sum}");
    }
    let (serial_s, all_s) = (of(record, "serial_cpu_s"), of(record, "cpu_s"));
    assert!(0.0 < serial_s && serial_s < all_s, "{serial_s} of {all_s}");
}

#[test]
fn stage_times_add_up_to_the_total() {
    let place = Place::new();
    let input = numbered_lines(families(100, 4, 60), 0);
    let run = place
        .run_with_stdin("dedup - --output out", &input)
        .succeeded();
    let record: Value = serde_json::from_slice(&place.read("out/run.json")).unwrap();
    let stages = record["stages"].as_array().unwrap();
    let whole = stages
        .iter()
        .filter(|stage| stage["is_part"] == json!(false));
    let names: Vec<&str> = whole
        .clone()
        .filter_map(|stage| stage["stage"].as_str())
        .collect();
    assert_eq!(
        names,
        ["copy", "read", "bucket", "compare", "write", "other"]
    );
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    processor_times_add_up(&record, whole.clone());
    let sum: f64 = whole.filter_map(|stage| stage["elapsed_s"].as_f64()).sum();
    let total = record["elapsed_s"].as_f64().unwrap();
    assert!((sum - total).abs() < 1e-9, "{sum} of {total}");
    // The summary states the same total.
    let line = run
        .stderr
        .lines()
        .find(|line| line.trim().starts_with("total"));
    let shown = format!("total  {total:.2} s, ");
    assert!(line.unwrap().contains(&shown), "{}: {shown}", run.stderr);
}

#[test]
fn run_json_lists_every_file() {
    let place = Place::with_texts(families(20, 4, 60));
    place.dedup("in.jsonl");
    let run: Value = serde_json::from_slice(&place.read("out/run.json")).unwrap();
    let found: Vec<String> = files_in(&place.path("out")).into_keys().collect();
    assert_eq!(run["files"], json!(found));
}

#[test]
fn one_missing_id_is_explained() {
    let place = Place::new();
    let record = |id: &str, text: &str| format!("{{{id}\"text\": \"{text}\"}}\n");
    let with_id = record("\"id\": 7, ", "one");
    place.write("docs/a.jsonl", &with_id);
    place.write(
        "docs/b.jsonl",
        [&with_id, &*record("", "two"), &record("", "three")].concat(),
    );
    let run = place.run("dedup docs --output out").succeeded();
    let expected = "FILE:ROW for all, because 2 documents lack an id, first b.jsonl, row 1";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    let missing = json!({"documents": 2, "file": "b.jsonl", "row": 1});
    assert_eq!(
        Results::of(&place.path("out")).report["missing_ids"],
        missing
    );
    // Where no record has an id, or each has one, there is nothing to explain.
    for name in ["docs/a.jsonl", "none.jsonl"] {
        place.write("none.jsonl", record("", "two"));
        let run = place
            .run(&format!("dedup {name} --output {name}.out"))
            .succeeded();
        assert!(!run.stderr.contains("FILE:ROW"), "{}", run.stderr);
    }
}

#[test]
fn the_counts_of_a_report_add_up() {
    let place = Place::with_texts(families(20, 6, 60));
    for options in [
        "",
        "--cluster connected",
        "--verify exact --keep longest",
        "--verify none",
    ] {
        let results = place.dedup(&format!("in.jsonl {options}"));
        let count = |name| results.count(name);
        assert_eq!(count("documents"), 120);
        assert_eq!(count("kept") + count("removed") + count("skipped"), 120);
        assert_eq!(count("removed"), results.removed.len() as u64);
        let kept_lines = results
            .kept("in.jsonl")
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        assert_eq!(count("kept"), kept_lines as u64);
        assert!(count("removed") > 0 && count("kept") >= 20, "{options}");
        // The histogram counts every document once, and one cluster per kept document.
        let mut sizes = BTreeMap::new();
        for removed in &results.removed {
            *sizes
                .entry(removed["kept_row"].as_u64().unwrap())
                .or_insert(1u64) += 1;
        }
        let histogram = results.report["cluster_sizes"].as_object().unwrap();
        let entries = || {
            histogram
                .iter()
                .map(|(size, n)| (size.parse::<u64>().unwrap(), n.as_u64().unwrap()))
        };
        assert_eq!(entries().map(|(size, n)| size * n).sum::<u64>(), 120);
        assert_eq!(entries().map(|(_, n)| n).sum::<u64>(), count("kept"));
        for (size, n) in entries().filter(|(size, _)| *size > 1) {
            assert_eq!(sizes.values().filter(|of| **of == size).count() as u64, n);
        }
        assert_eq!(count("clusters"), sizes.len() as u64);
        assert_eq!(
            count("largest_cluster"),
            sizes.values().copied().max().unwrap()
        );
        let largest = &results.report["largest_clusters"][0];
        assert_eq!(largest["documents"], count("largest_cluster"));
        assert_eq!(
            sizes[&largest["kept_row"].as_u64().unwrap()],
            count("largest_cluster")
        );
    }
}

/// A chain: each text shares most shingles with the next, and fewer with the second next.
fn chain() -> Vec<String> {
    let words: Vec<String> = text(1, 130).split(' ').map(str::to_owned).collect();
    (0..4)
        .map(|i| words[10 * i..10 * i + 100].join(" "))
        .collect()
}

#[test]
fn only_connected_clusters_follow_chains() {
    // Of 96 shingles, each text shares 86 with the next, 76 with the second next, 66 with the third.
    let (to_next, to_second, to_third) = (86.0 / 106.0, 76.0 / 116.0, 66.0 / 126.0);
    let place = Place::with_texts(chain());
    let options = "in.jsonl --verify exact --threshold 0.8 --bands 64 --rows 2";
    let greedy = place.dedup(options);
    let parts = |line: &Value, names: &[&str]| -> Vec<Value> {
        names.iter().map(|name| line[*name].clone()).collect()
    };
    let names = ["row", "kept_row", "similarity", "found_by"];
    let lines: Vec<_> = greedy
        .removed
        .iter()
        .map(|line| parts(line, &names))
        .collect();
    let line =
        |row, kept, similarity| vec![json!(row), json!(kept), json!(similarity), json!("exact")];
    assert_eq!(lines, [line(1, 0, to_next), line(3, 2, to_next)]);
    assert!(
        greedy
            .removed
            .iter()
            .all(|line| line.get("via_id").is_none())
    );
    let connected = place.dedup(&format!("{options} --cluster connected"));
    let lines: Vec<_> = connected
        .removed
        .iter()
        .map(|line| parts(line, &names))
        .collect();
    assert_eq!(
        lines,
        [
            line(1, 0, to_next),
            line(2, 0, to_second),
            line(3, 0, to_third)
        ]
    );
    let links: Vec<_> = connected
        .removed
        .iter()
        .map(|line| parts(line, &["via_id", "via_similarity"]))
        .collect();
    let link = |row| vec![json!(format!("in.jsonl:{row}")), json!(to_next)];
    assert_eq!(links, [link(0), link(1), link(2)]);
}

#[test]
fn keep_chooses_the_first_or_the_longest() {
    let short = text(1, 100);
    let middle = format!("{short} a few more");
    let long = format!("{short} a few more words at the end");
    let place = Place::with_texts([&short, &long, &middle, &long.replace(' ', "  "), &short]);
    let kept = |options: &str| {
        let results = place.dedup(&format!("in.jsonl --verify exact {options}"));
        parse_lines(&results.kept("in.jsonl"))
    };
    assert_eq!(kept("--keep first"), [json!({"text": short})]);
    // Among identical documents, too, the longest text is kept: the one with more blanks.
    assert_eq!(
        kept("--keep longest"),
        [json!({"text": long.replace(' ', "  ")})]
    );
    assert_eq!(kept("--keep longest --cluster connected").len(), 1);
}

#[test]
fn keep_longest_breaks_ties_by_position() {
    let place = Place::with_texts([
        text(1, 50).to_uppercase(),
        text(1, 50).to_uppercase(),
        text(2, 50),
    ]);
    let results = place.dedup("in.jsonl --keep longest --lowercase");
    assert_eq!(
        (&results.removed[0]["row"], &results.removed[0]["kept_row"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn verify_none_accepts_every_candidate() {
    let place = Place::with_texts([text(1, 60), edited(&text(1, 60), 1, 1), text(2, 60)]);
    let results = place.dedup("in.jsonl --verify none --bands 64 --rows 2");
    assert_eq!(results.removed.len(), 1);
    assert_eq!(results.removed[0]["similarity"], Value::Null);
    assert_eq!(results.removed[0]["found_by"], "none");
}

#[test]
fn normalising_decides_which_texts_are_identical() {
    let texts = [
        "The cat, the dog.",
        "the cat the dog",
        "THE   CAT\n\nthe dog",
        "the cat the fox",
    ];
    let place = Place::with_texts(texts);
    for (options, identical) in [
        ("--unit chars", 0),
        ("--unit chars --lowercase", 1),
        ("--unit chars --lowercase --strip-punctuation", 2),
        (
            "--unit chars --lowercase --strip-punctuation --keep-whitespace",
            1,
        ),
        ("--unit words", 0),
        // The first text has the same words, but other signs.
        ("--unit words --lowercase", 1),
    ] {
        let results = place.dedup(&format!("in.jsonl --threshold 1 {options}"));
        assert_eq!(results.count("identical"), identical, "{options}");
        // The second text, and its copy.
        let equal = 2 * u64::from(options == "--unit words --lowercase");
        assert_eq!(results.count("equal_shingles"), equal, "{options}");
    }
}

#[test]
fn a_file_supplies_the_stop_words() {
    let place = Place::with_texts(["le chat et le chien", "un chat et un chien", "rien du tout"]);
    place.write("french.txt", "le et\nun");
    let results = place.dedup("in.jsonl --unit stopwords --stop-words french.txt");
    assert_eq!(results.count("without_shingles"), 1);
    place.write("empty.txt", "\n");
    let run = place.run("dedup in.jsonl -o o2 --unit stopwords --stop-words empty.txt");
    run.refused(1, &["empty.txt", "list some"]);
}

#[test]
fn a_huge_size_shingles_the_whole_text() {
    let place = Place::with_texts(["a b c", "a b c", "a b d"]);
    place
        .run("dedup in.jsonl -o out --size 18446744073709551615")
        .succeeded();
    let results = Results::of(&place.path("out"));
    assert_eq!((results.count("kept"), results.count("removed")), (2, 1));
}

#[test]
fn a_short_document_is_one_shingle() {
    for (unit, texts, similar) in [
        ("words", ["one two", "one  two", "one two three"], 1),
        ("bytes", ["abc", "abc", "abcd"], 1),
        ("chars", ["äbc", "äbc", "äb"], 1),
        ("stopwords", ["the cat", "a hat", "of it"], 0),
    ] {
        let place = Place::with_texts(texts);
        let results = place.dedup(&format!("in.jsonl --unit {unit} --threshold 0.1"));
        assert_eq!(results.count("removed"), similar, "{unit}");
        let without = if unit == "stopwords" { 3 } else { 0 };
        assert_eq!(results.count("without_shingles"), without, "{unit}");
    }
}

#[test]
fn tokens_are_compared_as_strings() {
    let place = Place::new();
    let lists = [
        "[1, 20]",
        "[\"1\", \"20\"]",
        "[1.0, 20]",
        "[1, 2e1]",
        "[\"01\", 20]",
    ];
    let lines = lists
        .map(|list| format!("{{\"tokens\": {list}}}\n"))
        .concat();
    place.write("in.jsonl", lines);
    let mut integers = ListBuilder::new(Int64Builder::new());
    integers.append_value([Some(1), Some(20)]);
    let integers: ArrayRef = Arc::new(integers.finish());
    place.write("in.parquet", parquet([("tokens", integers)]));
    let results = place.dedup("in.jsonl in.parquet --unit tokens --threshold 1");
    let first = || json!("in.jsonl:0");
    let identical = |id: &str| (json!(id), first(), json!("identical"));
    assert_eq!(
        results.removals(),
        [identical("in.jsonl:1"), identical("in.parquet:0")]
    );
}
