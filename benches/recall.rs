//! Recall and precision of `simgpu pairs --verify exact` on whole corpora, against exact truth.
//!
//! For each corpus and threshold all true pairs are found by an independent join. The command then runs
//! once a seed; every pair that it reports is looked up, and the mean recall over seeds is compared with
//! what the S-curve predicts for the true pairs.
//!
//!     cargo bench --bench recall -- FOLDER_OR_FILES... [--seeds 20] [--thresholds 0.8,0.5] [--results DIR]

#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

#[path = "../tests/support/recall.rs"]
mod recall;
#[allow(dead_code, reason = "what other measurements share is there, too")]
mod support;
#[path = "../tests/support/truth.rs"]
mod truth;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use recall::{Recall, Task};
use support::{Results, corpora, corpus_name, csv, markdown};
use truth::{Sets, similar_pairs};

/// Compares the pairs that simgpu finds with all pairs that there are
#[derive(Debug, Parser)]
struct Arguments {
    /// Files of JSON Lines, plain or zstd, with a field `text`, or folders of them
    #[arg(value_name = "FOLDER_OR_FILE")]
    corpora: Vec<PathBuf>,

    /// Runs of each corpus and threshold
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u32).range(2..))]
    seeds: u32,

    /// Thresholds, separated by commas
    #[arg(long, default_value = "0.8,0.5", value_delimiter = ',')]
    thresholds: Vec<f64>,

    /// Folder for the results [default: results/<date>-<machine>]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// What cargo bench passes, and cargo test does not
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.corpora.is_empty() || !arguments.bench {
        println!("name corpora to measure recall: cargo bench --bench recall -- FOLDER_OR_FILE...");
        return Ok(ExitCode::SUCCESS);
    }
    let corpora = corpora(&arguments.corpora)?;
    let mut tables = Tables::open(arguments.results.clone())?;
    let mut faults = Vec::new();
    for corpus in &corpora {
        let name = corpus_name(corpus);
        let start = Instant::now();
        let sets = Sets::read(corpus)?;
        println!(
            "{name}: {} documents, read in {:.1} s",
            sets.len(),
            seconds(start)
        );
        for threshold in &arguments.thresholds {
            let row = Row::measure(corpus, &sets, *threshold, arguments.seeds)?;
            faults.extend(
                row.recall
                    .fault()
                    .map(|fault| format!("{name} at {threshold}: {fault}")),
            );
            tables.add(&row)?;
        }
    }
    println!("\n{}", markdown(&tables.summary));
    println!("written to {}", tables.results.folder().display());
    for fault in &faults {
        println!("{fault}");
    }
    Ok(ExitCode::from(u8::from(!faults.is_empty())))
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

/// One corpus at one threshold.
struct Row {
    corpus: String,
    threshold: f64,
    documents: usize,
    recall: Recall,
}

impl Row {
    fn measure(corpus: &Path, sets: &Sets, threshold: f64, seeds: u32) -> anyhow::Result<Self> {
        let start = Instant::now();
        let truth = similar_pairs(sets, threshold);
        let (pairs, joined_s) = (truth.len(), seconds(start));
        println!("  at {threshold}: {pairs} true pairs, found in {joined_s:.1} s");
        let task = Task {
            corpus,
            threshold,
            truth: &truth,
        };
        let start = Instant::now();
        let recall = Recall::measure(task, seeds)?;
        println!("  {seeds} seeds in {:.1} s", seconds(start));
        Ok(Row {
            corpus: corpus_name(corpus),
            threshold,
            documents: sets.len(),
            recall,
        })
    }
}

/// The rows so far, in full and to be read.
struct Tables {
    results: Results,
    full: Vec<Vec<String>>,
    summary: Vec<Vec<String>>,
}

const FULL: [&str; 15] = [
    "corpus",
    "threshold",
    "bands",
    "rows",
    "documents",
    "true_pairs",
    "seeds",
    "mean_found_pairs",
    "mean_recall",
    "expected_recall",
    "recall_deviation",
    "standard_error",
    "difference_standard_errors",
    "precision",
    "wrong_similarities",
];

const SUMMARY: [&str; 13] = [
    "corpus",
    "threshold",
    "bands x rows",
    "documents",
    "true pairs",
    "seeds",
    "found",
    "expected",
    "deviation",
    "standard error",
    "difference",
    "precision",
    "wrong similarities",
];

impl Tables {
    fn open(folder: Option<PathBuf>) -> anyhow::Result<Self> {
        Ok(Tables {
            results: Results::open(folder, &["recall.csv", "recall.md"])?,
            full: vec![FULL.map(str::to_owned).into()],
            summary: vec![SUMMARY.map(str::to_owned).into()],
        })
    }

    /// Adds a row and writes all of them again, so that a run that is broken off leaves what it had.
    fn add(&mut self, row: &Row) -> anyhow::Result<()> {
        self.full.push(full(row));
        self.summary.push(summary(row));
        self.results.write("recall.csv", &csv(&self.full)?)?;
        let text = format!("{ABOVE_TABLE}\n{}\n{BELOW_TABLE}", markdown(&self.summary));
        self.results.write("recall.md", &text)
    }
}

fn full(row: &Row) -> Vec<String> {
    let recall = &row.recall;
    let found: u64 = recall.found.iter().sum();
    let seeds = recall.found.len();
    vec![
        row.corpus.clone(),
        row.threshold.to_string(),
        recall.banding.bands().to_string(),
        recall.banding.rows().to_string(),
        row.documents.to_string(),
        recall.true_pairs.to_string(),
        seeds.to_string(),
        (found as f64 / seeds as f64).to_string(),
        recall.mean().to_string(),
        recall.expected.to_string(),
        recall.deviation().to_string(),
        recall.standard_error().to_string(),
        recall.difference().to_string(),
        recall.precision().to_string(),
        recall.wrong_similarities.to_string(),
    ]
}

fn summary(row: &Row) -> Vec<String> {
    let recall = &row.recall;
    let deviation = if recall.all_seeds_agree() {
        "0 (all alike)".to_owned()
    } else {
        format!("{:.6}", recall.deviation())
    };
    vec![
        row.corpus.clone(),
        row.threshold.to_string(),
        format!("{} x {}", recall.banding.bands(), recall.banding.rows()),
        row.documents.to_string(),
        recall.true_pairs.to_string(),
        recall.found.len().to_string(),
        format!("{:.6}", recall.mean()),
        format!("{:.6}", recall.expected),
        deviation,
        format!("{:.6}", recall.standard_error()),
        format!("{:+.2}", recall.difference()),
        recall.precision().to_string(),
        recall.wrong_similarities.to_string(),
    ]
}

const ABOVE_TABLE: &str = "\
# Recall of `simgpu pairs --verify exact`

    cargo bench --bench recall -- FOLDER_OR_FILES...
";

const BELOW_TABLE: &str = "\
True pairs are all pairs whose Jaccard similarity reaches the threshold, documents of the same shingles
included, found by an independent exact join. Found is the share of them that a seed reports, on average;
expected is the mean over true pairs of 1 - (1 - s^r)^b. The deviation is over seeds, the standard error
is the deviation / sqrt(seeds), and the difference of found and expected is given in standard errors. Where
every seed found as many, and so without a deviation, the standard error is that of pairs found
independently of each other. Wrong similarities are those not equal to intersection / union in the last bit.
";
