//! Weights by rarity against sums made by hand, and by another program.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{Numbers, Place, edited, lines_of, text};

/// Documents as sets of elements, in no way that has to do with hashes. Equal sets are equal documents.
type Sets = Vec<BTreeSet<String>>;

/// The similarity of each pair of documents, by logarithms of `f64`.
fn similarities(sets: &Sets) -> BTreeMap<(u64, u64), f64> {
    let distinct: BTreeSet<&BTreeSet<String>> = sets.iter().filter(|set| !set.is_empty()).collect();
    let mut counts: BTreeMap<&String, f64> = BTreeMap::new();
    for element in distinct.iter().copied().flatten() {
        *counts.entry(element).or_default() += 1.0;
    }
    let documents = distinct.len() as f64;
    let weight = |element: &String| (documents / counts[element]).log2();
    let mut similarities = BTreeMap::new();
    for (a, of_a) in (0u64..).zip(sets) {
        for (b, of_b) in (0u64..).zip(sets).filter(|(b, _)| *b > a) {
            let sum =
                |elements: &mut dyn Iterator<Item = &String>| -> f64 { elements.map(weight).sum() };
            let shared = sum(&mut of_a.intersection(of_b));
            let all = sum(&mut of_a.union(of_b));
            if all > 0.0 {
                similarities.insert((a, b), shared / all);
            }
        }
    }
    similarities
}

/// Weights are rounded to 2^-26.
const ROUNDING: f64 = 1e-5;

/// All pairs of at least `threshold` were found, with their similarity, and no others.
#[track_caller]
fn check(pairs: &[Value], truth: &BTreeMap<(u64, u64), f64>, threshold: f64) {
    let mut found = BTreeSet::new();
    for pair in pairs {
        let id = |name: &str| pair[name].as_u64().unwrap();
        let ids = (id("id_a"), id("id_b"));
        let (similarity, expected) = (pair["similarity"].as_f64().unwrap(), truth[&ids]);
        assert!(
            (similarity - expected).abs() < ROUNDING,
            "{ids:?}: {similarity} {expected}"
        );
        assert!(expected > threshold - ROUNDING, "{ids:?}: {expected}");
        assert!(found.insert(ids));
    }
    for (ids, similarity) in truth {
        let is_found = *similarity < threshold + ROUNDING || found.contains(ids);
        assert!(is_found, "{ids:?}: {similarity}");
    }
}

fn token_records(sets: &Sets) -> Vec<u8> {
    let records = sets.iter().enumerate();
    lines_of(records.map(|(id, set)| json!({"id": id, "tokens": set.iter().collect::<Vec<_>>()})))
}

/// Baskets of tokens, some of which most baskets have; some are near-copies of others, or copies.
fn baskets(seed: u64, count: usize, items: usize) -> Sets {
    let mut numbers = Numbers(seed);
    let mut sets = Sets::new();
    for _ in 0..count {
        let mut set = match numbers.below(3) {
            0 if !sets.is_empty() => sets[numbers.below(sets.len())].clone(),
            _ => {
                let rare = (0..numbers.below(20)).map(|_| numbers.below(items));
                let rare: Vec<String> = rare.map(|item| format!("item {item}")).collect();
                let common = (0..5).filter(|i| numbers.below(6) > *i);
                let common: Vec<String> = common.map(|i| format!("common {i}")).collect();
                rare.into_iter().chain(common).collect()
            }
        };
        for _ in 0..numbers.below(3) {
            set.insert(format!("item {}", numbers.below(items)));
        }
        sets.push(set);
    }
    sets
}

/// Four documents: `x` is in all of them and weighs log2(4/4) = 0, `p` and `t` are in two and weigh log2(4/2) = 1, all
/// others are in one and weigh log2(4/1) = 2.
#[test]
fn small_weights_are_those_made_by_hand() {
    let place = Place::new();
    let documents: [&[&str]; 5] = [
        &["x", "p", "q"],
        &["x", "p", "r"],
        &["x", "t"],
        &["x", "t", "v"],
        // A repeat changes no weight.
        &["x", "p", "q"],
    ];
    let records = documents.map(|tokens| json!({"tokens": tokens}));
    for (count, expected) in [
        // 1 / (1 + 2 + 2), and 1 / (1 + 2).
        (4, vec![(0, 1, 0.2), (2, 3, 1.0 / 3.0)]),
        (
            5,
            vec![(0, 4, 1.0), (0, 1, 0.2), (1, 4, 0.2), (2, 3, 1.0 / 3.0)],
        ),
    ] {
        place.write("in.jsonl", lines_of(records[..count].iter().cloned()));
        let pairs = place.pairs("in.jsonl --unit tokens --weights rarity --threshold 0.2");
        let row = |pair: &Value| {
            let row = |name: &str| pair[name].as_u64().unwrap();
            (
                row("row_a"),
                row("row_b"),
                pair["similarity"].as_f64().unwrap(),
            )
        };
        let mut found: Vec<(u64, u64, f64)> = pairs.iter().map(row).collect();
        let mut expected = expected;
        found.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        expected.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        assert_eq!(found, expected);
    }
}

#[test]
fn joins_find_all_pairs_by_rarity() {
    for (seed, count, items) in [(1, 250, 30), (2, 200, 4000)] {
        let sets = baskets(seed, count, items);
        let truth = similarities(&sets);
        let place = Place::new();
        place.write("in.jsonl", token_records(&sets));
        for threshold in [0.3, 0.5, 0.8, 0.95] {
            let options =
                format!("in.jsonl --unit tokens --weights rarity --threshold {threshold}");
            let pairs = place.pairs(&format!("{options} --candidates join --threads 1"));
            check(&pairs, &truth, threshold);
            for same in ["--threads 4 --batch-mib 1", "--hold-mib 0"] {
                assert!(place.pairs(&format!("{options} {same}")) == pairs, "{same}");
            }
        }
    }
}

/// Texts with boilerplate in all of them: what is in every document weighs nothing.
fn texts() -> Vec<String> {
    let boilerplate = text(999, 80);
    let mut texts = Vec::new();
    for family in 0..25 {
        let own = text(family, 60);
        for member in 0..3 {
            texts.push(format!(
                "{boilerplate} {}",
                edited(&own, 100 * family + member, 1)
            ));
        }
    }
    texts
}

fn shingles(texts: &[String]) -> Sets {
    let of_text = |text: &String| {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.windows(3).map(|window| window.join(" ")).collect()
    };
    texts.iter().map(of_text).collect()
}

#[test]
fn texts_are_compared_by_rarity() {
    let texts = texts();
    let truth = similarities(&shingles(&texts));
    let place = Place::new();
    let records = texts.iter().enumerate();
    let records = lines_of(records.map(|(id, text)| json!({"id": id, "text": text})));
    place.write("in.jsonl", &records);
    let options = "--size 3 --weights rarity --threshold 0.6";
    let joined = place.pairs(&format!("in.jsonl {options} --candidates join"));
    assert!(joined.len() > 20);
    check(&joined, &truth, 0.6);
    // Without weights, the boilerplate makes all of them similar.
    let unweighted = place.pairs("in.jsonl --size 3 --threshold 0.3 --candidates join");
    assert_eq!(unweighted.len(), texts.len() * (texts.len() - 1) / 2);

    // 64 bands of 2 miss a pair of 0.6 once in 10^12 times.
    let lsh = format!("{options} --bands 64 --rows 2");
    assert!(place.pairs(&format!("in.jsonl {lsh}")) == joined);
    for same in [
        "--threads 1",
        "--threads 4 --batch-mib 1 --hold-mib 0",
        "--backend scalar",
        "--scheme affine64",
        "--scheme datasketch",
    ] {
        assert!(
            place.pairs(&format!("in.jsonl {lsh} {same}")) == joined,
            "{same}"
        );
    }
    let run = place.run_with_stdin(&format!("pairs - --format jsonl {lsh} -o -"), &records);
    let of_stdin = crate::support::parse_lines(&run.succeeded().stdout);
    assert_eq!(of_stdin.len(), joined.len());
    for (a, b) in of_stdin.iter().zip(&joined) {
        assert_eq!(
            (&a["id_a"], &a["id_b"], &a["similarity"]),
            (&b["id_a"], &b["id_b"], &b["similarity"])
        );
    }
}

#[test]
fn dedup_by_rarity_ignores_boilerplate() {
    let texts = texts();
    let place = Place::new();
    place.write("a.jsonl", crate::support::numbered_lines(&texts[..40], 0));
    place.write("b.jsonl", crate::support::numbered_lines(&texts[40..], 40));
    place.write("empty.jsonl", "");
    let options = "dedup a.jsonl b.jsonl empty.jsonl --size 3 --threshold 0.35";
    let run = place
        .run(&format!("{options} --weights rarity -o out"))
        .succeeded();
    for phrase in [
        "weights  rarity",
        "rarity-weighted shingles of 3 words",
        "distinct documents",
    ] {
        assert!(run.stderr.contains(phrase), "{phrase}: {}", run.stderr);
    }
    assert_eq!(
        run.stderr.matches("holds no records").count(),
        1,
        "{}",
        run.stderr
    );
    let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
    assert_eq!(report["parameters"]["weights"], "rarity");
    assert_eq!(report["parameters"]["count"], false);
    assert_eq!(report["counts"]["kept"], 25);
    place.run(&format!("{options} -o equal")).succeeded();
    let report: Value = serde_json::from_slice(&place.read("equal/report.json")).unwrap();
    assert!(report["parameters"]["weights"].is_null());
    assert!(report["counts"]["kept"].as_u64().unwrap() < 25);
}

#[test]
fn shingles_of_all_documents_make_none_similar() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        lines_of([["a", "b"], ["b", "a"]].map(|tokens| json!({"tokens": tokens}))),
    );
    let run = place.run("dedup in.jsonl --unit tokens --weights rarity -o out");
    let counted = "counted 2 shingles of 2 distinct documents; ";
    assert!(run.stderr.contains(counted), "{}", run.stderr);
    run.succeeded();
    let report: Value = serde_json::from_slice(&place.read("out/report.json")).unwrap();
    assert_eq!(report["counts"]["without_shingles"], 2);
    assert_eq!(report["counts"]["kept"], 2);
    place.write("one.jsonl", lines_of([json!({"tokens": ["a"]})]));
    let run = place.run("dedup one.jsonl --unit tokens --weights rarity --dry-run");
    let counted = "counted 1 shingle of 1 distinct document; ";
    assert!(run.stderr.contains(counted), "{}", run.stderr);
}

#[test]
fn documents_of_little_weight_have_signatures() {
    let place = Place::new();
    // "yes" is in 20 of 21 distinct documents, and weighs 0.07.
    let texts = (0..20).map(|i| "yes ".repeat(i + 2));
    let repeats = (0..5).map(|_| "yes ".repeat(2));
    let texts = texts.chain(repeats).chain(["no".to_owned()]);
    place.write(
        "in.jsonl",
        lines_of(texts.map(|text| json!({ "text": text }))),
    );
    let weights = "in.jsonl --unit words --size 1 --weights rarity";
    for (candidates, warned) in [("", false), ("--candidates lsh", true)] {
        let run = place.run(&format!(
            "dedup {weights} {candidates} --dry-run --report json"
        ));
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        let counts = &report["counts"];
        assert_eq!(counts["identical"], 5, "{candidates}");
        assert_eq!(counts["without_shingles"], 0, "{candidates}");
        assert_eq!(counts["kept"], 2, "{candidates}");
        let warning = "fewer similar pairs are found than stated";
        assert_eq!(run.stderr.contains(warning), warned, "{candidates}");
    }
}

#[test]
fn weights_by_rarity_refuse_what_they_cannot_do() {
    let place = Place::new();
    let sets = baskets(6, 12_000, 100_000_000);
    place.write("in.jsonl", token_records(&sets));
    let pairs = "pairs in.jsonl --unit tokens --weights rarity -o -";
    for (options, phrases) in [
        ("--count", &["--count", "--weights"][..]),
        ("--weights-field w", &["--weights-field", "--weights"]),
        ("--distance l1 --within 2", &["--distance", "--weights"]),
        ("--weight-scale 4", &["--weight-scale"]),
        ("--hash murmur3-32", &["--hash"]),
    ] {
        place.run(&format!("{pairs} {options}")).refused(2, phrases);
    }
    let sign = "sign in.jsonl --unit tokens --weights rarity -o s.npy";
    place.run(sign).refused(2, &["all documents of a run"]);
    assert!(!place.holds("s.npy"));
    for method in ["join", "lsh"] {
        let run = place.run(&format!("{pairs} --candidates {method} --join-mib 1"));
        run.refused(1, &["--join-mib", "1 MiB"]);
    }
}
