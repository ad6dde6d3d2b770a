//! `simgpu pairs --verify exact` against the exact pairs: no false pair, and a recall that the S-curve predicts.
//! `simgpu bench --full` measures the same on any corpus.

use std::collections::HashSet;
use std::path::Path;

use crate::support::recall::{Recall, Task};
use crate::support::truth::{Sets, ShingleNumbers, TruePair, similar_pairs};
use proptest::prelude::*;
use simgpu::search::Verification;

const SEEDS: u32 = 20;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Checks recall and precision, and prints a row of a table for each.
#[allow(clippy::print_stdout, reason = "the table is for results/")]
fn check(corpus: &Path) {
    let sets = Sets::read(corpus).unwrap();
    let of = |recall: &Recall| {
        format!(
            "{} | {:.4} | {:.4} | {:+.2}",
            recall.true_pairs,
            recall.expected,
            recall.mean(),
            recall.difference()
        )
    };
    for (threshold, verification) in [
        (0.8, Verification::Exact),
        (0.8, Verification::Signature),
        (0.5, Verification::Exact),
    ] {
        let truth = similar_pairs(&sets, threshold);
        assert!(truth.len() > 100, "too few pairs to judge: {}", truth.len());
        let task = Task {
            corpus,
            threshold,
            truth: &truth,
            verification,
        };
        let recall = Recall::measure(task, SEEDS).unwrap();
        let (stated, measured) = recall.mean_precisions();
        println!(
            "| {} | {threshold} | {} | {} | {} | {stated:.4} | {measured:.4} |",
            corpus.file_name().unwrap().display(),
            verification.name(),
            of(&recall),
            recall.near.as_deref().map(of).unwrap(),
        );
        assert_eq!(recall.fault(), None, "{threshold}: {recall:?}");
    }
}

#[test]
fn driver_docs_are_found_as_predicted() {
    check(&repository().join("examples/driver-docs.jsonl.zst"));
}

/// Checks a corpus that lies beside the repository, if it is there.
#[allow(clippy::print_stdout, reason = "a skipped test prints why")]
fn check_shared(name: &str) {
    let corpus = repository().join("../shared/data").join(name);
    if corpus.exists() {
        check(&corpus);
    } else {
        println!("skipped: ../shared/data is not there");
    }
}

#[test]
fn licenses_are_found_as_predicted() {
    check_shared("licenses.jsonl.zst");
}

#[test]
#[ignore = "takes minutes; for the table in results/"]
fn other_corpora_are_found_as_predicted() {
    for name in ["driver-docs", "terms-of-service", "arxiv-abstracts"] {
        check_shared(&format!("{name}.jsonl.zst"));
    }
}

#[test]
fn shingles_are_five_words() {
    let shingles = |text: &str| ShingleNumbers::default().of_text(text);
    assert_eq!(shingles("a b c d e"), [0]);
    assert_eq!(shingles("a, b\n\n c-d (e) f."), [0, 1]);
    assert_eq!(shingles("to be or not to be or not to"), [0, 1, 2, 3, 0]);
    assert_eq!(shingles("three words only"), [0]);
    assert!(shingles(" \u{3000}...\n").is_empty());
}

#[test]
fn each_shingle_has_one_number() {
    let mut numbers = ShingleNumbers::default();
    assert_eq!(numbers.of_text("a b c d e"), [0]);
    assert_eq!(numbers.of_text("a b c d"), [1]);
    assert_eq!(numbers.of_text("A b c d e"), [2]);
    assert_eq!(numbers.of_text("z a\u{a0}b \t c. d? e!"), [3, 0]);
}

/// The join by its definition.
fn all_pairs(sets: &[Vec<u32>], threshold: f64) -> Vec<TruePair> {
    let sets: Vec<HashSet<u32>> = sets
        .iter()
        .map(|set| set.iter().copied().collect())
        .collect();
    let mut pairs = Vec::new();
    for (hi, b) in (0..).zip(&sets) {
        for (lo, a) in (0..hi).zip(&sets) {
            let (shared, union) = (a.intersection(b).count(), a.union(b).count());
            let similarity = shared as f64 / union as f64;
            // No set is similar to an empty one: 0 / 0 is NaN, which reaches no threshold.
            if similarity >= threshold {
                pairs.push(TruePair { lo, hi, similarity });
            }
        }
    }
    pairs.sort_by_key(|pair| (pair.lo, pair.hi));
    pairs
}

/// Intervals, each without a few of its elements.
fn subsets() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let subset = (
        0u32..6,
        1u32..25,
        prop::collection::hash_set(0u32..30, 0..5),
    );
    let subset = subset.prop_map(|(start, len, without)| {
        let all = start..start + len;
        all.filter(|element| !without.contains(element)).collect()
    });
    prop::collection::vec(subset, 0..60)
}

fn sparse_sets() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0u32..12, 0..8), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_join_finds_all_pairs(
        corpus in prop_oneof![subsets(), sparse_sets()],
        threshold in prop_oneof![
            prop::sample::select(vec![0.1, 0.2, 1.0 / 3.0, 0.5, 0.6, 0.75, 0.8, 0.9, 1.0]),
            0.01..1.0,
        ],
    ) {
        let mut sets = Sets::default();
        for set in &corpus {
            sets.push(set.clone());
        }
        prop_assert_eq!(similar_pairs(&sets, threshold), all_pairs(&corpus, threshold));
    }
}
