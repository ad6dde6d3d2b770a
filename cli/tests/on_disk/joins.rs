//! Exact joins on disk.

use serde_json::{Value, json};

use super::INPUT;
use super::places::{ON_DISK, assert_same, place};
use crate::support::{Numbers, lines_of};

const TOKENS: &str = "in --unit tokens --on-bad-record skip";

#[test]
fn joins_are_the_same() {
    let place = place();
    for cluster in ["greedy", "connected"] {
        for options in [
            format!("{INPUT} --candidates join"),
            format!("{INPUT} --candidates join --threshold 0.5 --keep longest"),
            format!("{INPUT} --candidates join --keep-by score --threads 5"),
            format!("{INPUT} --candidates join --count --threads 1"),
            format!("{INPUT} --candidates join --weights rarity"),
            format!("{TOKENS} --candidates join --weights-field weights"),
            format!("{TOKENS} --candidates join --count --threshold 0.9"),
            format!("{TOKENS} --candidates auto --threshold 0.7"),
        ] {
            assert_same(&place, &format!("{options} --cluster {cluster}"));
            let report: Value = serde_json::from_slice(&place.read("disk/report.json")).unwrap();
            assert_eq!(report["parameters"]["candidates"], "join", "{options}");
        }
    }
}

/// Whether the shingles of a join and its index take too much memory does not depend on `memory`.
#[test]
fn joins_that_take_too_much_are_left_out_on_disk_too() {
    let place = place();
    for (documents, kinds, options, candidates, reason) in [
        (8_000, 20_000, "--join-mib 2", "join", "exact join"),
        (
            8_000,
            20_000,
            "--join-mib 1",
            "lsh",
            "the index of an exact join",
        ),
        (
            12_000,
            20_000,
            "--join-mib 1",
            "lsh",
            "the shingles of an exact join",
        ),
    ] {
        let mut numbers = Numbers(9);
        let mut tokens: Vec<String> = Vec::new();
        let records = (0..documents).map(|i| {
            match i % 10 {
                9 => tokens[0] = numbers.below(kinds).to_string(),
                _ => tokens = (0..12).map(|_| numbers.below(kinds).to_string()).collect(),
            }
            json!({"tokens": tokens})
        });
        place.write("many/in.jsonl", lines_of(records));
        let options = format!("many --unit tokens {options}");
        assert_same(&place, &options);
        let report: Value = serde_json::from_slice(&place.read("disk/report.json")).unwrap();
        assert_eq!(report["parameters"]["candidates"], candidates, "{options}");
        for memory in ["--memory 1GiB", ON_DISK] {
            let run = place.run(&format!("dedup {options} --dry-run {memory}"));
            let said = format!(
                "candidates: {}",
                if candidates == "join" {
                    ""
                } else {
                    "LSH, because "
                }
            );
            let said = said + reason;
            assert!(run.stderr.contains(&said), "{}", run.stderr);
        }
    }
}

#[test]
fn pairs_of_joins_are_the_same() {
    let place = place();
    let mut numbers = Numbers(3);
    let short = (0..600).map(|_| {
        let tokens = (0..numbers.below(5)).map(|_| numbers.below(40).to_string());
        json!({"tokens": tokens.collect::<Vec<String>>()})
    });
    place.write("short/in.jsonl", lines_of(short));
    for options in [
        &format!("{INPUT} --candidates join --identical star"),
        &format!("{INPUT} --candidates join --threshold 0.6 --max-pairs 300"),
        &format!("{TOKENS} --candidates join --weights-field weights"),
        &format!("{TOKENS} --candidates join --identical star --max-pairs 90"),
        &format!("{TOKENS} --distance l1 --within 6"),
        &format!("{TOKENS} --distance hamming --within 3 --max-pairs 200"),
        "short --unit tokens --distance l1 --within 2",
        "short --unit tokens --distance l1 --within 3 --max-pairs 5000",
        "short --unit tokens --distance hamming --within 2",
        "short --unit tokens --distance hamming --within 1 --identical star --threads 5",
    ] {
        let run = |memory: &str| {
            let command = format!("pairs {options} --output pairs.jsonl --overwrite {memory}");
            let run = place.run(&command);
            let is_on_disk = run.stderr.contains("goes on on disk");
            let report = place.read("pairs.jsonl.report.json");
            (run.code, place.read("pairs.jsonl"), report, is_on_disk)
        };
        let in_memory = run("--memory 1GiB");
        assert!(in_memory.1.len() > 1_000 && !in_memory.3, "{options}");
        let on_disk = run("--memory 24KiB");
        assert!(on_disk.3, "{options}");
        let shown = String::from_utf8_lossy(&on_disk.2).into_owned();
        assert!(
            on_disk.0 == in_memory.0 && on_disk.1 == in_memory.1,
            "{options}: {shown}"
        );
        assert!(on_disk.2 == in_memory.2, "{options}: {shown}");
    }
}
