//! Which true pairs whole pipelines find.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Instant;

use serde::Deserialize;

use super::truth::{TruePair, exact_sets, kept_greedily, similar_pairs};
use crate::corpus::{temporary_folder, write_texts};
use crate::{BenchCorpus, PipelineResult};
use simgpu::backend::Backend;
use simgpu::engine::Engine;
use simgpu::pipeline::{Banding, ErrorWeights, Shingling};
use simgpu::scheme::Scheme;
use simgpu::search::{CandidateMethod, Dedup, Pairs, Search, Verification};
use simgpu::store::WorkFolder;
use simgpu::{Error, Result};
use simgpu_files::{PairsOutput, Run, RunOptions};
use simgpu_io::Inputs;

/// A corpus in one file, in which rows are document numbers, with the exact set of each document.
#[derive(Debug)]
pub struct EvaluationCorpus {
    name: String,
    len: usize,
    sets: Vec<Vec<u64>>,
    inputs: Inputs,
    folder: WorkFolder,
}

/// All pairs at a threshold, by exact search.
#[derive(Debug)]
pub struct Truth {
    threshold: f64,
    pairs: Vec<TruePair>,
    kept: u64,
}

/// Settings of a pipeline.
#[derive(Clone, Debug)]
pub struct PipelineSettings {
    /// Scheme of the signatures.
    pub scheme: Scheme,
    /// Seed of its coefficients.
    pub seed: u32,
    /// How candidates are verified.
    pub verification: Verification,
    /// Whether to remove near-duplicates as well, and count the documents kept.
    pub removes: bool,
}

/// A line of a file of pairs.
#[derive(Deserialize)]
struct Line {
    row_a: u32,
    row_b: u32,
}

impl EvaluationCorpus {
    /// Writes a corpus to one file and computes its exact sets.
    ///
    /// # Errors
    /// [`Error::Io`] if a temporary file cannot be written.
    pub fn of(corpus: &BenchCorpus) -> Result<Self> {
        let folder = temporary_folder()?;
        let path = folder.path().join("documents.jsonl.zst");
        write_texts(&path, corpus.texts.iter())?;
        Ok(EvaluationCorpus {
            name: corpus.name.clone(),
            len: corpus.texts.len(),
            sets: exact_sets(&corpus.texts, &Shingling::default())?,
            inputs: Inputs::find(&[path], None)?,
            folder,
        })
    }

    /// All pairs at a threshold.
    pub fn truth(&self, threshold: f64) -> Truth {
        let pairs = similar_pairs(&self.sets, threshold);
        Truth {
            threshold,
            kept: kept_greedily(self.len, &pairs),
            pairs,
        }
    }

    /// Runs a pipeline and compares its pairs with the truth.
    ///
    /// # Errors
    /// Errors of the stages.
    pub fn find(&self, truth: &Truth, pipeline: &PipelineSettings) -> Result<PipelineResult> {
        let scheme = pipeline.scheme.clone().with_seed(pipeline.seed);
        // All schemes get the same banding, so that they are comparable.
        let banding =
            Banding::for_threshold(truth.threshold, scheme.num_perm(), ErrorWeights::VERIFIED)?;
        let search = Search::through_lsh(truth.threshold, banding, pipeline.verification);
        let engine = Engine::builder()
            .shingling(Shingling::default())
            .scheme(scheme.clone())
            .backend(Backend::Simd)
            .build()?;
        let found = self.found_pairs(&engine, &search, truth)?;
        let kept = pipeline
            .removes
            .then(|| self.kept(&engine, &search))
            .transpose()?;
        let detection = search.detection(scheme.num_perm());
        let probabilities = truth.pairs.iter();
        let probabilities = probabilities.map(|pair| detection.probability(pair.similarity));
        Ok(PipelineResult {
            scheme: scheme.to_string(),
            num_perm: u32::try_from(scheme.num_perm()).unwrap_or(u32::MAX),
            bands: u32::try_from(banding.bands()).unwrap_or(u32::MAX),
            rows: u32::try_from(banding.rows()).unwrap_or(u32::MAX),
            verification: pipeline.verification.name().to_owned(),
            seed: pipeline.seed,
            // Without true pairs, recall is 1.
            expected_recall: match truth.pairs.len() {
                0 => 1.0,
                len => probabilities.sum::<f64>() / len as f64,
            },
            kept,
            kept_by_truth: kept.map(|_| truth.kept),
            ..found
        })
    }

    /// Runs an exact join and compares its pairs with the truth.
    ///
    /// # Errors
    /// Errors of the stages.
    pub fn join(&self, truth: &Truth) -> Result<PipelineResult> {
        let engine = Engine::builder().backend(Backend::Simd).build()?;
        let search = Search {
            candidates: CandidateMethod::Join,
            ..Search::new(truth.threshold, engine.scheme())?
        };
        let found = self.found_pairs(&engine, &search, truth)?;
        Ok(PipelineResult {
            kept: Some(self.kept(&engine, &search)?),
            kept_by_truth: Some(truth.kept),
            ..found
        })
    }

    /// Numbers of true and false pairs found, as the result of a join.
    fn found_pairs(
        &self,
        engine: &Engine,
        search: &Search,
        truth: &Truth,
    ) -> Result<PipelineResult> {
        let output = self.folder.path().join("pairs.jsonl");
        let start = Instant::now();
        Run {
            held_bytes: u64::MAX,
            options: RunOptions {
                overwrite: true,
                ..RunOptions::default()
            },
            ..Run::new(engine, &self.inputs)
        }
        .pairs(&Pairs::new(search.clone()), PairsOutput::File(&output))?;
        let elapsed_s = start.elapsed().as_secs_f64();
        let file = File::open(&output).map_err(Error::io("open", &output))?;
        let (mut true_found, mut false_found) = (0, 0);
        for line in BufReader::new(file).lines() {
            let line = line.map_err(Error::io("read", &output))?;
            let pair: Line = serde_json::from_str(&line)
                .map_err(|error| Error::io("read", &output)(error.into()))?;
            let rows = (pair.row_a, pair.row_b);
            match truth
                .pairs
                .binary_search_by_key(&rows, |pair| (pair.lo, pair.hi))
            {
                Ok(_) => true_found += 1,
                Err(_) => false_found += 1,
            }
        }
        Ok(PipelineResult {
            tool: "simgpu".to_owned(),
            corpus: self.name.clone(),
            scheme: "exact join".to_owned(),
            num_perm: 0,
            bands: 0,
            rows: 0,
            verification: Verification::Exact.name().to_owned(),
            threshold: truth.threshold,
            seed: 0,
            documents: self.len as u64,
            true_pairs: truth.pairs.len() as u64,
            true_found,
            false_found,
            expected_recall: 1.0,
            kept: None,
            kept_by_truth: None,
            elapsed_s: Some(elapsed_s),
        })
    }

    /// Number of documents kept, the first of each group.
    fn kept(&self, engine: &Engine, search: &Search) -> Result<u64> {
        // Large buckets are compared in full.
        let task = Dedup {
            max_bucket: usize::MAX,
            ..Dedup::new(search.clone())
        };
        let outcome = Run {
            held_bytes: u64::MAX,
            options: RunOptions {
                overwrite: true,
                ..RunOptions::default()
            },
            ..Run::new(engine, &self.inputs)
        }
        .dedup(&task, &self.folder.path().join("kept"))?;
        Ok(outcome.report.counts.kept)
    }
}
