//! Recall and precision of `simgpu pairs`, against the exact pairs.
//!
//! A pair of similarity s becomes a candidate with probability 1 - (1 - s^r)^b, over the draws of the
//! permutations (Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, 3.4.2). Exact verification then keeps
//! it; verification by signature keeps it if its estimate reaches the threshold (`Detection`). The expected recall
//! over all true pairs is the mean of those probabilities, even where pairs depend on each other. Its standard error
//! is estimated from the seeds.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use simgpu::pipeline::{Banding, ErrorWeights};
use simgpu::scheme::Scheme;
use simgpu::search::{Search, Verification};

use super::truth::TruePair;

/// The command line's default.
const NUM_PERM: usize = 128;

/// How many standard errors the mean may lie off.
const TOLERANCE: f64 = 4.0;

/// The pairs that `simgpu pairs` is to find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    /// A file of JSON Lines.
    pub(crate) corpus: &'a Path,
    pub(crate) threshold: f64,
    /// All true pairs, by ascending rows.
    pub(crate) truth: &'a [TruePair],
    pub(crate) verification: Verification,
}

/// Pairs that lie less than this above the threshold are also judged by themselves.
const NEAR: f64 = 0.02;

/// How far the stated precision may lie off, as docs/output.md says.
const PRECISION_TOLERANCE: f64 = 0.05;

/// The pairs found, over seeds.
#[derive(Clone, Debug)]
pub(crate) struct Recall {
    pub(crate) banding: Banding,
    pub(crate) true_pairs: usize,
    /// The mean recall that the S-curve predicts.
    pub(crate) expected: f64,
    /// True pairs found, per seed.
    pub(crate) found: Vec<u64>,
    /// The precision that each run states, and the one that it has.
    pub(crate) precisions: Vec<(f64, f64)>,
    /// The same of the pairs near the threshold alone.
    pub(crate) near: Option<Box<Recall>>,
    verification: Verification,
    /// False or repeated pairs, over all seeds.
    pub(crate) false_pairs: u64,
    /// True pairs with a wrong similarity, over all seeds.
    pub(crate) wrong_similarities: u64,
    /// The standard error of the mean if pairs were found independently of each other.
    independent_error: f64,
}

impl Recall {
    /// Runs the command once for each seed from 1 to `seeds` and compares its output with the truth.
    pub(crate) fn measure(task: Task<'_>, seeds: u32) -> anyhow::Result<Self> {
        let mut recall = Recall::expected(task, seeds)?;
        let folder = tempfile::tempdir()?;
        for seed in 1..=seeds {
            let output = folder.path().join("pairs.jsonl");
            let mut command = Command::new(env!("CARGO_BIN_EXE_simgpu"));
            command.arg("pairs").arg(task.corpus);
            command.arg("--output").arg(&output);
            command.args(["--threshold", &task.threshold.to_string()]);
            command.args(["--seed", &seed.to_string()]);
            command.args(["--verify", task.verification.name()]);
            command.args(["--overwrite", "--quiet"]);
            let status = command.status()?;
            if !status.success() {
                bail!("{command:?} failed with {status}");
            }
            recall.compare(task, &output)?;
        }
        Ok(recall)
    }

    fn expected(task: Task<'_>, seeds: u32) -> anyhow::Result<Self> {
        let banding = Banding::for_threshold(task.threshold, NUM_PERM, ErrorWeights::VERIFIED)?;
        let near: Vec<TruePair> = task
            .truth
            .iter()
            .filter(|pair| pair.similarity < task.threshold + NEAR)
            .copied()
            .collect();
        let mut recall = Recall::of(task.truth, task, banding, seeds)?;
        recall.near = Some(Box::new(Recall::of(&near, task, banding, seeds)?));
        Ok(recall)
    }

    fn of(
        truth: &[TruePair],
        task: Task<'_>,
        banding: Banding,
        seeds: u32,
    ) -> anyhow::Result<Self> {
        let mut search = Search::new(task.threshold, &Scheme::default())?;
        search.verification = task.verification;
        let detection = search.detection(NUM_PERM);
        let chance = |pair: &TruePair| match task.verification {
            Verification::Exact => s_curve(pair.similarity, banding.bands(), banding.rows()),
            _ => detection.probability(pair.similarity),
        };
        let chances: Vec<f64> = truth.iter().map(chance).collect();
        let count = truth.len().max(1) as f64;
        let variance = chances.iter().map(|chance| chance * (1.0 - chance));
        let variance = variance.sum::<f64>();
        Ok(Recall {
            banding,
            true_pairs: truth.len(),
            expected: chances.iter().sum::<f64>() / count,
            found: Vec::new(),
            precisions: Vec::new(),
            near: None,
            verification: task.verification,
            false_pairs: 0,
            wrong_similarities: 0,
            independent_error: variance.sqrt() / count / f64::from(seeds).sqrt(),
        })
    }

    /// Looks up every pair that one seed reported.
    fn compare(&mut self, task: Task<'_>, output: &Path) -> anyhow::Result<()> {
        let truth = task.truth;
        #[derive(Deserialize)]
        struct Line<'a> {
            row_a: u32,
            row_b: u32,
            // As text: serde_json's float may be off by the last bit.
            #[serde(borrow)]
            similarity: &'a RawValue,
        }
        let (mut found, mut near, mut reported) = (0, 0, 0u64);
        let mut seen = HashSet::new();
        for line in BufReader::new(File::open(output)?).lines() {
            let line = line?;
            reported += 1;
            let pair: Line<'_> = serde_json::from_str(&line).with_context(|| line.clone())?;
            let rows = (pair.row_a, pair.row_b);
            let at = truth.binary_search_by_key(&rows, |pair| (pair.lo, pair.hi));
            match at {
                Ok(at) if seen.insert(rows) => {
                    let similarity: f64 = pair.similarity.get().parse()?;
                    let is_exact = self.verification == Verification::Exact;
                    self.wrong_similarities +=
                        u64::from(is_exact && similarity != truth[at].similarity);
                    found += 1;
                    near += u64::from(truth[at].similarity < task.threshold + NEAR);
                }
                _ => self.false_pairs += 1,
            }
        }
        self.found.push(found);
        if let Some(of_near) = &mut self.near {
            of_near.found.push(near);
        }
        let report = std::fs::read(format!("{}.report.json", output.display()))?;
        let report: Value = serde_json::from_slice(&report)?;
        if let Some(stated) = report["expected_precision"].as_f64() {
            self.precisions
                .push((stated, found as f64 / (reported as f64).max(1.0)));
        }
        Ok(())
    }

    /// The mean recall over seeds.
    pub(crate) fn mean(&self) -> f64 {
        self.recalls().sum::<f64>() / self.found.len() as f64
    }

    /// The standard deviation of the recall over seeds.
    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares = self.recalls().map(|recall| (recall - mean).powi(2));
        (squares.sum::<f64>() / (self.found.len() as f64 - 1.0).max(1.0)).sqrt()
    }

    /// The standard error of the mean: from the deviation over seeds, or, if that is zero, the error of
    /// independent pairs.
    pub(crate) fn standard_error(&self) -> f64 {
        if self.all_seeds_agree() {
            self.independent_error
        } else {
            self.deviation() / (self.found.len() as f64).sqrt()
        }
    }

    /// Whether every seed found the same number of pairs, so that the deviation is zero.
    pub(crate) fn all_seeds_agree(&self) -> bool {
        self.found.windows(2).all(|found| found[0] == found[1])
    }

    /// How many standard errors the mean lies above the prediction.
    pub(crate) fn difference(&self) -> f64 {
        let difference = self.mean() - self.expected;
        // Such a difference is rounding.
        if difference.abs() < 1e-12 {
            0.0
        } else {
            difference / self.standard_error()
        }
    }

    /// The share of reported pairs that are true.
    pub(crate) fn precision(&self) -> f64 {
        let found: u64 = self.found.iter().sum();
        match found + self.false_pairs {
            0 => 1.0,
            reported => found as f64 / reported as f64,
        }
    }

    /// The fault, if there is one.
    pub(crate) fn fault(&self) -> Option<String> {
        if let Some(near) = &self.near
            && near.true_pairs > 0
            && let Some(fault) = near.recall_fault()
        {
            return Some(format!("near the threshold: {fault}"));
        }
        let (stated, measured) = self.mean_precisions();
        if (stated - measured).abs() > PRECISION_TOLERANCE {
            return Some(format!(
                "a stated precision of {stated:.4}, and {measured:.4}"
            ));
        }
        let is_exact = self.verification == Verification::Exact;
        if is_exact && (self.false_pairs > 0 || self.wrong_similarities > 0) {
            return Some(format!(
                "{} false pairs, a precision of {:.6}, and {} wrong similarities",
                self.false_pairs,
                self.precision(),
                self.wrong_similarities
            ));
        }
        self.recall_fault()
    }

    /// The precision that the runs state, and the one that they have, on average.
    pub(crate) fn mean_precisions(&self) -> (f64, f64) {
        let seeds = self.precisions.len().max(1) as f64;
        let sum = |of: fn(&(f64, f64)) -> f64| self.precisions.iter().map(of).sum::<f64>() / seeds;
        (sum(|both| both.0), sum(|both| both.1))
    }

    fn recall_fault(&self) -> Option<String> {
        let difference = self.difference();
        let is_off = difference.is_nan() || difference.abs() > TOLERANCE;
        is_off.then(|| {
            format!(
                "a mean recall of {:.6} where {} bands of {} rows give {:.6}: {difference:+.2} standard errors off",
                self.mean(),
                self.banding.bands(),
                self.banding.rows(),
                self.expected
            )
        })
    }

    fn recalls(&self) -> impl Iterator<Item = f64> {
        // With no true pairs, nothing is missed.
        let share = |found: &u64| match self.true_pairs {
            0 => 1.0,
            pairs => *found as f64 / pairs as f64,
        };
        self.found.iter().map(share)
    }
}

/// The probability that two sets of similarity `s` agree in all rows of a band.
fn s_curve(s: f64, bands: usize, rows: usize) -> f64 {
    1.0 - (1.0 - s.powf(rows as f64)).powf(bands as f64)
}
