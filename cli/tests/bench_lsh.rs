//! The exact join of the measurement agrees with an independent one, and pipelines find most of its pairs.

use std::path::Path;

use crate::support::truth;
use simgpu::pipeline::{Banding, Shingling};
use simgpu::scheme::Scheme;
use simgpu::search::Verification;
use simgpu_bench::BenchCorpus;
use simgpu_bench::error::SigningFunction;
use simgpu_bench::lsh::{
    EvaluationCorpus, PipelineSettings, exact_sets, measure_candidates, similar_pairs,
};

#[test]
fn exact_join_agrees_with_join_of_strings() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/driver-docs.jsonl.zst");
    let strings = truth::Sets::read(&file).unwrap();
    let corpus = BenchCorpus::read(None).unwrap();
    let hashes = exact_sets(&corpus.texts, &Shingling::default()).unwrap();
    for threshold in [0.8, 0.5] {
        let pairs = similar_pairs(&hashes, threshold);
        let ours = pairs.iter().map(|pair| (pair.lo, pair.hi, pair.similarity));
        let theirs = truth::similar_pairs(&strings, threshold);
        let theirs = theirs
            .iter()
            .map(|pair| (pair.lo, pair.hi, pair.similarity));
        assert!(pairs.len() > 100 && ours.eq(theirs), "{threshold}");
    }
}

#[test]
fn pipelines_find_most_true_pairs_and_no_others() {
    let documents = EvaluationCorpus::of(&BenchCorpus::read(None).unwrap()).unwrap();
    let truth = documents.truth(0.8);
    let pipeline = PipelineSettings {
        scheme: Scheme::default(),
        seed: 1,
        verification: Verification::Exact,
        removes: true,
    };
    let found = documents.find(&truth, &pipeline).unwrap();
    let recall = found.true_found as f64 / found.true_pairs as f64;
    assert!((recall - found.expected_recall).abs() < 0.01, "{found:?}");
    assert_eq!(found.false_found, 0);
    let (kept, of_truth) = (found.kept.unwrap(), found.kept_by_truth.unwrap());
    assert!(
        kept >= of_truth && kept - of_truth < found.documents / 100,
        "{found:?}"
    );
}

#[test]
fn joins_find_all_true_pairs_and_no_others() {
    let documents = EvaluationCorpus::of(&BenchCorpus::read(None).unwrap()).unwrap();
    let found = documents.join(&documents.truth(0.8)).unwrap();
    assert!(found.true_pairs > 100, "{found:?}");
    assert_eq!((found.true_found, found.false_found), (found.true_pairs, 0));
    assert_eq!(found.kept, found.kept_by_truth);
}

#[test]
fn candidates_follow_the_s_curve() {
    let banding = Banding::new(16, 8, 128).unwrap();
    let function = SigningFunction::of(Scheme::default());
    let rows = measure_candidates(&function, 128, &[banding], 500).unwrap();
    assert_eq!(rows.len(), 11);
    for row in &rows {
        let share = row.candidates as f64 / row.pairs as f64;
        // Twice the range, which one row in ten thousand exceeds.
        let reach = row.high_share - row.low_share;
        assert!(
            (share - row.expected_share).abs() <= reach.max(0.005),
            "{row:?}"
        );
    }
}
