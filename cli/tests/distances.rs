//! Searches by Hamming and L1 distance against comparisons of all pairs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Numbers, Place, lines_of};

type List = Vec<usize>;

/// Lists of tokens with repeats: many are edited copies of others, and many are short or empty.
fn lists(seed: u64, count: usize, longest: usize, tokens: usize) -> Vec<List> {
    let mut numbers = Numbers(seed);
    let mut lists: Vec<List> = Vec::new();
    for _ in 0..count {
        let mut list: List = match numbers.below(3) {
            0 if !lists.is_empty() => lists[numbers.below(lists.len())].clone(),
            _ => {
                let len = numbers.below(longest + 1);
                (0..len).map(|_| numbers.below(tokens)).collect()
            }
        };
        for _ in 0..numbers.below(3) {
            let at = numbers.below(list.len() + 1);
            match numbers.below(4) {
                0 => list.insert(at, numbers.below(tokens)),
                1 if at < list.len() => {
                    list.remove(at);
                }
                _ if at < list.len() => list[at] = numbers.below(tokens),
                _ => {}
            }
        }
        lists.push(list);
    }
    lists
}

type Between = fn(&List, &List) -> Option<u64>;

fn hamming(a: &List, b: &List) -> Option<u64> {
    let differing = a.iter().zip(b).filter(|(a, b)| a != b).count();
    (a.len() == b.len()).then_some(differing as u64)
}

#[allow(clippy::unnecessary_wraps, reason = "a distance may be undefined")]
fn l1(a: &List, b: &List) -> Option<u64> {
    let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
    a.iter()
        .for_each(|token| *counts.entry(*token).or_default() += 1);
    b.iter()
        .for_each(|token| *counts.entry(*token).or_default() -= 1);
    Some(counts.values().map(|count| count.unsigned_abs()).sum())
}

fn records(lists: &[List]) -> Vec<u8> {
    let records = lists.iter().enumerate().map(|(id, list)| {
        let tokens: Vec<String> = list.iter().map(|token| format!("t{token}")).collect();
        json!({"id": id, "tokens": tokens})
    });
    lines_of(records)
}

/// Pairs of ids with their distance.
type Found = BTreeMap<(u64, u64), u64>;

fn by_brute_force(lists: &[List], distance: Between, within: u64) -> Found {
    let ids = || (0u64..).zip(lists);
    let pairs = ids().flat_map(|a| ids().map(move |b| (a, b)));
    let pairs = pairs.filter(|((a, _), (b, _))| a < b);
    let measured = pairs.filter_map(|((a, of_a), (b, of_b))| Some(((a, b), distance(of_a, of_b)?)));
    measured
        .filter(|(_, distance)| *distance <= within)
        .collect()
}

fn found(pairs: &[Value]) -> Found {
    let number = |pair: &Value, name: &str| pair[name].as_u64().unwrap();
    let pairs_of = pairs.iter().map(|pair| {
        assert!(pair.get("similarity").is_none());
        let ids = (number(pair, "id_a"), number(pair, "id_b"));
        (ids, number(pair, "distance"))
    });
    pairs_of.collect()
}

const DISTANCES: [(&str, Between); 2] = [("hamming", hamming), ("l1", l1)];

#[test]
fn searches_find_all_pairs_within_a_distance() {
    for (seed, count, longest, tokens) in [(1, 250, 6, 5), (2, 250, 25, 300), (3, 200, 40, 12)] {
        let lists = lists(seed, count, longest, tokens);
        let place = Place::new();
        place.write("in.jsonl", records(&lists));
        for (name, distance) in DISTANCES {
            for within in [0, 1, 2, 3, 7, 20, 1000] {
                let expected = by_brute_force(&lists, distance, within);
                let options = format!("in.jsonl --unit tokens --distance {name} --within {within}");
                let pairs = place.pairs(&format!("{options} --threads 1"));
                assert_eq!(pairs.len(), expected.len(), "{options}");
                assert!(found(&pairs) == expected, "{options}");
                for same in [
                    "--threads 4 --batch-mib 1",
                    "--hold-mib 0 --candidates join",
                ] {
                    assert!(place.pairs(&format!("{options} {same}")) == pairs, "{same}");
                }
            }
        }
    }
}

/// Lists of one token differ from each other and from the empty list, and share nothing.
#[test]
fn lists_that_share_nothing_may_be_near() {
    let place = Place::new();
    let lists: [&[&str]; 5] = [&[], &["a"], &["b"], &[], &["c", "d"]];
    let records = lists.iter().map(|tokens| json!({"tokens": tokens}));
    place.write("in.jsonl", lines_of(records));
    let rows = |options: &str| -> Vec<(u64, u64, u64)> {
        let pairs = place.pairs(&format!("in.jsonl --unit tokens {options}"));
        let number = |pair: &Value, name: &str| pair[name].as_u64().unwrap();
        let row = |pair: &Value| {
            (
                number(pair, "row_a"),
                number(pair, "row_b"),
                number(pair, "distance"),
            )
        };
        pairs.iter().map(row).collect()
    };
    assert_eq!(rows("--distance hamming --within 0"), [(0, 3, 0)]);
    assert_eq!(
        rows("--distance hamming --within 1"),
        [(0, 3, 0), (1, 2, 1)]
    );
    assert_eq!(rows("--distance l1 --within 0"), [(0, 3, 0)]);
    let mut near = rows("--distance l1 --within 1");
    near.sort_unstable();
    assert_eq!(
        near,
        [(0, 1, 1), (0, 2, 1), (0, 3, 0), (1, 3, 1), (2, 3, 1)]
    );
    assert_eq!(rows("--distance l1 --within 2").len(), 5 + 1 + 2);
    assert_eq!(rows("--distance l1 --within 3").len(), 10);
}

#[test]
fn summary_and_report_name_the_distance() {
    let place = Place::new();
    place.write("in.jsonl", records(&lists(4, 100, 10, 20)));
    let options = "pairs in.jsonl --unit tokens --distance l1 --within 3 -o p.jsonl";
    let run = place.run(options).succeeded();
    for phrase in [
        "distance  l1, within 3",
        "100 %: an exact join misses no similar pair",
        "100 %: every distance is exact",
        "exact join within l1 distance 3",
    ] {
        assert!(run.stderr.contains(phrase), "{phrase}: {}", run.stderr);
    }
    let report: Value = serde_json::from_slice(&place.read("p.jsonl.report.json")).unwrap();
    let parameters = &report["parameters"];
    assert_eq!(parameters["distance"], "l1");
    assert_eq!(parameters["within"], 3);
    assert_eq!(parameters["candidates"], "join");
    assert_eq!(parameters["count"], true);
    assert!(parameters["threshold"].is_null());
    assert_eq!(report["counts"]["without_shingles"], 0);
}

#[test]
fn a_distance_refuses_what_it_has_no_use_for() {
    let place = Place::new();
    place.write("in.jsonl", records(&lists(5, 20, 10, 20)));
    place.write("text.jsonl", "{\"text\": \"a\"}\n");
    let hamming = "pairs in.jsonl --unit tokens --distance hamming --within 2";
    for (options, phrases) in [
        ("--threshold 0.5", &["--threshold"][..]),
        ("--threshold 0.8", &["--threshold"]),
        ("--candidates lsh", &["exact join", "--candidates"]),
        ("--verify signature", &["exact", "--verify"]),
        ("--bands 16 --rows 8", &["omit --bands and --rows\n"]),
        ("--seed 7", &["computes no signatures; omit --seed\n"]),
        ("--seed 7 --scheme fast", &["omit --scheme and --seed\n"]),
        ("--count", &["--count", "--distance"]),
        ("--weights-field w", &["--weights-field", "--distance"]),
        ("--size 2", &["single tokens", "--size 1"]),
    ] {
        let run = place.run(&format!("{hamming} {options} -o -"));
        run.refused(2, phrases);
    }
    let l1 = "pairs text.jsonl --distance l1";
    for (command, phrases) in [
        (format!("{l1} -o -"), &["--within"][..]),
        (
            "pairs text.jsonl --within 2 -o -".to_owned(),
            &["--distance"],
        ),
        (format!("{l1} --within 2 -o -"), &["--unit tokens"]),
        (format!("{l1} --within -1 -o -"), &["-1"]),
    ] {
        place.run(&command).refused(2, phrases);
    }
    for command in ["dedup in.jsonl -o out", "sign in.jsonl -o s.npy"] {
        for option in ["--distance l1", "--distance=hamming", "--within 2"] {
            let run = place.run(&format!("{command} --unit tokens {option}"));
            let run = run.refused(2, &["is an option of simgpu pairs\n"]);
            assert!(!run.error().contains("--isa"), "{}", run.error());
        }
    }
    place
        .run("sign in.jsonl --unit tokens -o s.npy")
        .succeeded();
    let stored = "pairs --signatures s.npy --distance l1 --within 2 -o -";
    place.run(stored).refused(2, &["--signatures"]);
}

/// No option leads to a backend that the search then refuses.
#[cfg(feature = "gpu")]
#[test]
fn a_join_has_no_use_for_a_device() {
    let place = Place::new();
    place.write("in.jsonl", records(&lists(5, 20, 10, 20)));
    let of_join = "dedup in.jsonl --unit tokens --candidates join -o out";
    let of_distance = "pairs in.jsonl --unit tokens --distance l1 --within 2 -o -";
    for (options, named) in [
        ("--device 5", "omit --device"),
        ("--device 5 --backend gpu", "omit --backend and --device"),
    ] {
        for command in [of_join, of_distance] {
            let run = place.run(&format!("{command} {options}"));
            let run = run.refused(2, &["computes no signatures", named]);
            assert!(!run.error().contains("add --backend"), "{}", run.error());
        }
    }
}

#[test]
fn a_search_by_distance_goes_on_on_disk() {
    let place = Place::new();
    place.write("in.jsonl", records(&lists(6, 12_000, 40, 100_000_000)));
    let options = "--unit tokens --distance l1 --within 1 -o -";
    let run = |memory: &str| {
        let command = format!("pairs in.jsonl {options} --join-mib {memory}");
        place.run(&command).succeeded()
    };
    let on_disk = run("1");
    assert!(on_disk.stderr.contains("on disk"), "{}", on_disk.stderr);
    assert!(on_disk.stdout == run("1024").stdout);
}
