//! Large groups of similar documents.

use serde_json::Value;

use super::{CLUSTERINGS, POLICIES, id_in};
use crate::support::{Place, Results, edited, parse_lines, text};

// Large buckets

/// Fifty texts of 400 words, each with one edit.
fn near_identical() -> Vec<String> {
    let one = text(1, 400);
    (0..50).map(|seed| edited(&one, seed, 1)).collect()
}

#[test]
fn one_group_leaves_nothing_out() {
    let texts = near_identical();
    let place = Place::with_texts(&texts);
    for keep in POLICIES {
        for cluster in CLUSTERINGS {
            for verify in ["signature", "exact"] {
                let options = format!("--keep {keep} --cluster {cluster} --verify {verify}");
                let results = place.dedup(&format!("in.jsonl --max-bucket 4 {options}"));
                let counts = ["kept", "removed", "omitted_pairs"].map(|name| results.count(name));
                assert_eq!(counts, [1, 49, 0], "{options}");
                // One comparison per removed document.
                assert_eq!(results.count("candidate_pairs"), 49, "{options}");
            }
        }
    }
}

/// More documents than the default of `--max-bucket`.
const MANY: u64 = 4_200;

#[test]
fn a_large_group_takes_little_memory() {
    let one = text(1, 100);
    let place = Place::with_texts((0..MANY).map(|seed| edited(&one, seed, 1)));
    let results = place.dedup("in.jsonl --threshold 0.7");
    let counts = ["kept", "omitted_pairs"].map(|name| results.count(name));
    assert_eq!(counts, [1, 0]);
    assert!(results.count("candidate_pairs") < MANY);
    let run: Value = serde_json::from_slice(&place.read("out/run.json")).unwrap();
    let peak_bytes = run["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak_bytes < 100_000_000, "{peak_bytes}");
}

#[test]
fn pairs_of_large_groups_are_all_found() {
    let one = text(1, 20);
    let near = Place::with_texts((0..MANY).map(|i| format!("{one} own{i}")));
    let same = Place::with_texts((0..MANY).map(|_| &one));
    let pairs = |place: &Place, options: &str| {
        let run = place.run(&format!(
            "pairs in.jsonl {options} --dry-run --report json --quiet"
        ));
        let report: Value = serde_json::from_slice(&run.succeeded().stdout).unwrap();
        report["counts"]["similar_pairs"].as_u64().unwrap()
    };
    let all = MANY * (MANY - 1) / 2;
    // Any two share 16 of 18 shingles, and so one of the bands.
    assert_eq!(pairs(&near, "--bands 64 --rows 2"), all);
    assert_eq!(pairs(&same, ""), all);
    assert_eq!(pairs(&same, "--identical star"), MANY - 1);
}

#[test]
fn dedup_reports_how_many_pairs_it_omits() {
    let texts = near_identical();
    let place = Place::with_texts(&texts);
    // Above the similarity of the texts, all are kept, and share their buckets.
    let options = "in.jsonl --threshold 0.999 --bands 16 --rows 8";
    let all_pairs = 50 * 49 / 2;
    for cluster in CLUSTERINGS {
        let options = format!("{options} --cluster {cluster}");
        let unbounded = place.dedup(&options);
        let counts = ["kept", "candidate_pairs", "omitted_pairs", "large_buckets"];
        assert_eq!(
            counts.map(|name| unbounded.count(name)),
            [50, all_pairs, 0, 0]
        );
        let run = place
            .run(&format!(
                "dedup {options} -o bounded --overwrite --max-bucket 4 --quiet"
            ))
            .succeeded();
        // A warning of what a result lacks is printed with --quiet, too.
        assert!(run.stderr.starts_with("warning: up to "), "{}", run.stderr);
        assert!(run.stderr.contains("--max-bucket"), "{}", run.stderr);
        let bounded = Results::of(&place.path("bounded"));
        let (compared, omitted) = (
            bounded.count("candidate_pairs"),
            bounded.count("omitted_pairs"),
        );
        assert!(compared < all_pairs, "{compared}");
        assert!(compared + omitted >= all_pairs, "{compared} {omitted}");
        let stated = format!("up to {omitted} pairs");
        assert!(
            run.stderr.replace(',', "").contains(&stated),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn identical_documents_form_stars_on_request() {
    let mut texts = vec![text(1, 50); 10];
    texts.push(edited(&texts[0], 1, 1));
    let place = Place::with_texts(texts);
    let all = place.pairs("in.jsonl --threshold 0.5");
    assert_eq!(all.len(), 10 * 9 / 2 + 10);
    let star = place.pairs("in.jsonl --threshold 0.5 --identical star");
    assert_eq!(star.len(), 10);
    assert!(star.iter().all(|pair| id_in(pair, "row_a") == 0));
}

#[test]
fn too_many_pairs_end_with_exit_code_3() {
    let place = Place::with_texts(vec![text(1, 50); 10]);
    for quiet in ["", "--quiet"] {
        for output in ["p.jsonl", "p.csv", "p.parquet", "-"] {
            let overwrite = if output == "-" { "" } else { "--overwrite" };
            let run = place.run(&format!(
                "pairs in.jsonl -o {output} {overwrite} --max-pairs 7 {quiet}"
            ));
            assert_eq!(run.code, Some(3), "{output}: {}", run.stderr);
            assert!(run.stderr.contains("--max-pairs"), "{}", run.stderr);
        }
    }
    assert_eq!(parse_lines(&place.read("p.jsonl")).len(), 7);
    // As many as there are is not too many.
    place
        .run("pairs in.jsonl -o p.jsonl --overwrite --max-pairs 45")
        .succeeded();
}
