//! What counts as the same: equal texts, equal shingles, and how sure a run is of it.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::support::{Numbers, Place, Results, families, json_lines, lasting_files_in, number_in};

/// Ways to search that find all documents of equal shingles.
const WAYS: [&str; 7] = [
    "",
    "--candidates join",
    "--cluster connected",
    "--memory 48KiB",
    "--memory 48KiB --candidates join",
    "--threads 1 --batch-mib 1 --backend scalar",
    "--hold-mib 0",
];

/// Texts of few kinds: symbols, blanks, words, and the same words between other symbols.
fn odd_texts() -> Vec<String> {
    let pieces = [
        "😀", "?", "!", " ", "\n", "\t ", "one", "two", " three ", "+", "…",
    ];
    let mut numbers = Numbers(7);
    let mut texts: Vec<String> = (0..400)
        .map(|_| {
            let count = numbers.below(4);
            (0..count)
                .map(|_| pieces[numbers.below(pieces.len())])
                .collect()
        })
        .collect();
    let long = "if a < b then the sum of all terms is a + b and not more than that";
    for i in 0..12 {
        let text = match i % 4 {
            0 => long.to_owned(),
            1 => long.replace(' ', "  "),
            2 => long.replace('<', ">"),
            _ => long.replace('+', "-"),
        };
        texts.insert(17 * i, text);
    }
    texts
}

fn normalised(text: &str) -> String {
    let mut merged = String::new();
    for c in text.chars() {
        if !c.is_whitespace() {
            merged.push(c);
        } else if !merged.ends_with(' ') {
            merged.push(' ');
        }
    }
    merged
}

fn shingles(text: &str) -> HashSet<Vec<&str>> {
    let words: Vec<&str> = text.unicode_words().collect();
    match words.len() {
        0 => HashSet::new(),
        1..5 => HashSet::from([words]),
        _ => words.windows(5).map(<[&str]>::to_vec).collect(),
    }
}

/// What is removed, by the definition: the row of the first document with an equal text that is not blank, or with an
/// equal set of shingles that is not empty, and how it is found.
fn by_definition(texts: &[String], verification: &str) -> BTreeMap<usize, (usize, String)> {
    let mut removed = BTreeMap::new();
    for (row, text) in texts.iter().enumerate() {
        let text = normalised(text);
        let set = shingles(&text);
        let mut earlier = texts[..row]
            .iter()
            .map(|other| normalised(other))
            .enumerate();
        let same = earlier.find(|(_, other)| {
            let is_equal = *other == text && !text.trim().is_empty();
            is_equal || !set.is_empty() && shingles(other) == set
        });
        if let Some((first, other)) = same {
            // Of equal sets, copies of a text go with the first of them.
            let found_by = if other == text {
                "identical"
            } else {
                verification
            };
            removed.insert(row, (first, found_by.to_owned()));
        }
    }
    removed
}

fn rows_of(results: &Results) -> BTreeMap<usize, (usize, String)> {
    let number =
        |line: &Value, field: &str| usize::try_from(line[field].as_u64().unwrap()).unwrap();
    let removed = results.removed.iter().map(|line| {
        let found_by = line["found_by"].as_str().unwrap().to_owned();
        (number(line, "row"), (number(line, "kept_row"), found_by))
    });
    removed.collect()
}

#[test]
fn removals_are_those_of_the_definition() {
    let texts = odd_texts();
    let place = Place::with_texts(&texts);
    let expected = by_definition(&texts, "exact");
    assert!(expected.values().any(|(_, found_by)| found_by == "exact"));
    let without_words = |row: &usize| shingles(&texts[*row]).is_empty();
    assert!(expected.keys().filter(|row| without_words(row)).count() > 20);
    let mut files = None;
    for way in WAYS {
        let results = place.dedup(&format!("in.jsonl --threshold 1 --verify exact {way}"));
        assert_eq!(rows_of(&results), expected, "{way}");
        for line in &results.removed_lines {
            assert_eq!(number_in(line, "similarity"), 1.0);
        }
        let equal = expected
            .values()
            .filter(|(_, found_by)| found_by == "exact");
        assert_eq!(
            results.count("equal_shingles"),
            equal.count() as u64,
            "{way}"
        );
        if !way.contains("join") && !way.contains("connected") {
            let written = lasting_files_in(&place.path("out"));
            assert!(
                *files.get_or_insert_with(|| written.clone()) == written,
                "{way}"
            );
        }
    }
    // Signatures of equal sets are equal, but do not prove it.
    let results = place.dedup("in.jsonl --threshold 1 --verify signature");
    assert_eq!(rows_of(&results), by_definition(&texts, "signature"));
    assert_eq!(results.report["counts"]["equal_shingles"], Value::Null);
}

#[test]
fn pairs_hold_copies_of_symbols() {
    let texts = ["?!", "😀 😀", "?!", "", " ", "😀\n😀", "?!", ""];
    let place = Place::with_texts(texts);
    for way in WAYS.into_iter().filter(|way| !way.contains("cluster")) {
        for (identical, expected) in [
            ("all", &[(0, 2), (0, 6), (1, 5), (2, 6)][..]),
            ("star", &[(0, 2), (0, 6), (1, 5)]),
        ] {
            let mut found: Vec<_> = place
                .pairs(&format!("in.jsonl --identical {identical} {way}"))
                .iter()
                .map(|pair| {
                    (
                        pair["row_a"].as_u64().unwrap(),
                        pair["row_b"].as_u64().unwrap(),
                    )
                })
                .collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{identical} {way}");
        }
    }
}

#[test]
fn every_unit_finds_copies_without_shingles() {
    // Too short for datatrove, without a stop word, without a word.
    for (text, options) in [
        ("two words", "--scheme datatrove"),
        ("quick brown foxes", "--unit stopwords"),
        ("?!", "--unit pieces"),
        ("?!", "--scheme text-dedup"),
        ("—", "--strip-punctuation --unit chars --keep-whitespace"),
    ] {
        let place = Place::with_texts([text, "another text of some more words here", text, ""]);
        let results = place.dedup(&format!("in.jsonl {options}"));
        // Stripped of all it has, a text is blank.
        let removed = u64::from(!options.contains("strip"));
        assert_eq!(results.count("removed"), removed, "{options}");
        assert_eq!(results.count("identical"), removed, "{options}");
        assert!(results.count("without_shingles") >= 2, "{options}");
    }
}

#[test]
fn summaries_count_equal_shingles_apart() {
    let one = "let x = a + b; return f(x) > g(x) && done(x)";
    let place = Place::with_texts([one, &one.replace('+', "-"), one, &one.replace('>', "<")]);
    let run = place.run("dedup in.jsonl -o out");
    let summary = run.succeeded().stderr;
    let expected = "identical  1 with equal text; 2 removed with equal shingles but different text";
    assert!(summary.contains(expected), "{summary}");
    let run = place.run("pairs in.jsonl -o p.jsonl");
    let summary = run.succeeded().stderr;
    assert!(
        summary.contains("1 with equal text; 5 pairs with equal shingles"),
        "{summary}"
    );
}

// Few shingles

#[test]
fn short_texts_are_warned_of() {
    let titles = [
        "How to fry an egg",
        "How to boil an egg",
        "A title",
        "",
        "?!",
    ];
    let long = (0..5).map(|i| crate::support::text(i, 30));
    let place = Place::new();
    place.write(
        "in.jsonl",
        json_lines(titles.map(str::to_owned).into_iter().chain(long)),
    );
    for command in [
        "dedup in.jsonl -o out",
        "pairs in.jsonl -o p.jsonl",
        "sign in.jsonl -o s.npy",
    ] {
        for (options, says) in [
            ("", "4 of 10 documents (40.0 %) have at most one shingle"),
            (
                "--size 1",
                "1 of 10 documents (10.0 %) have at most one shingle",
            ),
            ("--unit chars", "2 of 10 documents (20.0 %)"),
            ("--unit chars --size 2", "1 of 10 documents (10.0 %)"),
        ] {
            let run = place
                .run(&format!("{command} --overwrite {options}"))
                .succeeded();
            assert!(
                run.stderr.contains(says),
                "{command} {options}: {}",
                run.stderr
            );
            assert!(run.stderr.contains("; pass "), "{}", run.stderr);
        }
        let run = place
            .run(&format!("{command} --overwrite --unit chars --size 1"))
            .succeeded();
        assert!(
            !run.stderr.contains("at most one shingle"),
            "{}",
            run.stderr
        );
    }
    let report: Value = serde_json::from_slice(&place.read("p.jsonl.report.json")).unwrap();
    assert!(report["counts"]["few_shingles"].is_u64());
    let place = Place::with_texts((0..30).map(|i| crate::support::text(i, 30)));
    let run = place.run("dedup in.jsonl -o out").succeeded();
    assert!(!run.stderr.contains("shingle,") && !run.stderr.contains("few shingles"));
}

// Precision

#[test]
fn stated_precisions_are_true() {
    let place = Place::new();
    place.write("families.jsonl", json_lines(families(120, 6, 60)));
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/driver-docs.jsonl.zst"
    );
    let mut stated = 0;
    for input in ["families.jsonl", example] {
        for (num_perm, bands, rows) in [(1, 1, 1), (16, 4, 4), (128, 16, 8)] {
            for threshold in ["0.6", "0.8", "0.95", "1.0"] {
                let run = |verify: &str| {
                    let command = format!(
                        "pairs {input} -o {verify}.jsonl --overwrite --quiet --verify {verify} \
                         --threshold {threshold} --num-perm {num_perm} --bands {bands} --rows {rows} \
                         --candidates lsh --limit 1500"
                    );
                    place.run(&command).succeeded();
                    let bytes = place.read(&format!("{verify}.jsonl"));
                    let pairs = crate::support::parse_lines(&bytes).into_iter();
                    let rows = pairs.map(|pair| (pair["row_a"].as_u64(), pair["row_b"].as_u64()));
                    rows.collect::<HashSet<_>>()
                };
                let (found, truth) = (run("signature"), run("exact"));
                let report = place.read("signature.jsonl.report.json");
                let report: Value = serde_json::from_slice(&report).unwrap();
                if let Some(precision) = report["expected_precision"].as_f64() {
                    let measured = found.intersection(&truth).count() as f64 / found.len() as f64;
                    let what = format!("{input} {num_perm} {threshold}: {precision} {measured}");
                    assert!((precision - measured).abs() <= 0.05, "{what}");
                    stated += 1;
                }
            }
        }
    }
    assert!(stated >= 3, "{stated}");
}

#[test]
fn unknown_precision_is_said_to_be_unknown() {
    let place = Place::with_texts(families(20, 5, 60));
    let run = place
        .run("pairs in.jsonl -o p.jsonl --verify signature --num-perm 1")
        .succeeded();
    assert!(
        run.stderr.contains("precision  cannot tell"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("--verify exact"), "{}", run.stderr);
}

// Code

const PROGRAM: &str = "def area(width, height):\n    # in metres\n    if width < 0 or height < 0:\n        \
    raise ValueError('negative size: %r' % ((width, height),))\n    return width * height * 1.5e-3\n";

#[test]
fn operators_tell_programs_apart() {
    let place = Place::with_texts([
        PROGRAM,
        &PROGRAM.replace('<', ">"),
        &PROGRAM.replace("\n", "\r\n").replace("    ", "\t"),
        &PROGRAM.replace("1.5e-3", "1.5e-4"),
    ]);
    let results = place.dedup("in.jsonl --threshold 1");
    assert_eq!(results.count("removed"), 2);
    let results = place.dedup("in.jsonl --threshold 1 --unit code");
    assert_eq!(
        rows_of(&results),
        BTreeMap::from([(2, (0, "identical".to_owned()))])
    );
    for way in WAYS {
        let results = place.dedup(&format!("in.jsonl --threshold 0.3 --unit code {way}"));
        assert_eq!(results.count("removed"), 3, "{way}");
    }
}

#[test]
fn programs_in_folders_need_the_unit_code() {
    let place = Place::new();
    for name in [
        "src/a.py",
        "src/deep/b.rs",
        "src/c.toml",
        "src/d.md",
        "src/e.hpp",
    ] {
        place.write(name, PROGRAM);
    }
    let phrases = ["src/a.py", "--unit code", "--format text"];
    place.run("dedup src -o out").refused(1, &phrases);
    let results = place.dedup("src --unit code");
    assert_eq!(results.count("documents"), 5);
    assert_eq!(results.count("identical"), 4);
    // Files that are named themselves are meant.
    let results = place.dedup("src/a.py src/deep/b.rs");
    assert_eq!(
        (results.count("documents"), results.count("identical")),
        (2, 1)
    );
    place
        .run("pairs src/a.py src/c.toml -o p.jsonl --unit code")
        .succeeded();
    place.run("sign src -o s.npy --unit code").succeeded();
}

#[test]
fn options_without_effect_on_code_are_refused() {
    let place = Place::with_texts([PROGRAM]);
    for (option, says) in [
        ("--keep-whitespace", "hold no white space"),
        (
            "--stop-words in.jsonl",
            "--stop-words needs --unit stopwords",
        ),
        ("--tokens-field x", "--tokens-field"),
    ] {
        let run = place.run(&format!("dedup in.jsonl -o out --unit code {option}"));
        run.refused(2, &[says]);
    }
    place.dedup("in.jsonl --unit code --lowercase --size 3 --count");
}
