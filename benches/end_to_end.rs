//! How fast `simgpu dedup` is on whole corpora, from its start to its exit, and what its stages take.
//!
//! Every run is a process of its own, after one that warms up the file cache. MB/s are decompressed input
//! bytes by the seconds of the whole process.
//!
//!     cargo bench --bench end_to_end -- FOLDER_OR_FILES... [--runs 7] [--threads 2] [--results DIR]

#![allow(clippy::print_stdout, reason = "a measurement prints its table")]

#[allow(dead_code, reason = "what other measurements share is there, too")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use support::{Results, corpora, corpus_name, csv, markdown};

/// Measures simgpu dedup, with its default options, from start to exit
#[derive(Debug, Parser)]
struct Arguments {
    /// Files that simgpu reads, or folders of JSON Lines
    #[arg(value_name = "FOLDER_OR_FILE")]
    corpora: Vec<PathBuf>,

    /// Runs of each corpus and verification
    #[arg(long, default_value = "7", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Threads of a run
    #[arg(long, default_value = "2")]
    threads: u32,

    /// Folder for the results [default: results/<date>-<machine>]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// What cargo bench passes, and cargo test does not
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.corpora.is_empty() || !arguments.bench {
        println!(
            "name corpora to measure speed: cargo bench --bench end_to_end -- FOLDER_OR_FILE..."
        );
        return Ok(());
    }
    let mut tables = Tables::open(&arguments)?;
    for corpus in corpora(&arguments.corpora)? {
        for verify in ["signature", "exact"] {
            let measured = Measured::of(&corpus, verify, &arguments)?;
            tables.add(&measured)?;
            println!(
                "{} with --verify {verify}: {}",
                measured.corpus,
                measured.in_short()
            );
        }
    }
    println!(
        "\n{}\n{}",
        markdown(&tables.totals),
        markdown(&tables.stages)
    );
    println!("written to {}", tables.results.folder().display());
    Ok(())
}

/// One process.
struct Run {
    wall_s: f64,
    /// Decompressed bytes of input.
    input_bytes: u64,
    documents: u64,
    peak_memory_bytes: Option<u64>,
    stages: Vec<Stage>,
}

/// What run.json says of a stage, or of a part of the stage before it.
#[derive(Deserialize)]
struct Stage {
    stage: String,
    elapsed_s: f64,
    bytes: u64,
    is_part: bool,
}

impl Run {
    fn of(corpus: &Path, verify: &str, threads: u32, output: &Path) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct RunFile {
            peak_memory_bytes: Option<u64>,
            stages: Vec<Stage>,
        }
        #[derive(Deserialize)]
        struct Report {
            counts: Counts,
        }
        #[derive(Deserialize)]
        struct Counts {
            documents: u64,
            bytes: u64,
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_simgpu"));
        command.arg("dedup").arg(corpus).arg("--output").arg(output);
        command.args(["--threads", &threads.to_string(), "--verify", verify]);
        command.args(["--overwrite", "--quiet"]);
        let start = Instant::now();
        let status = command.status()?;
        let wall_s = start.elapsed().as_secs_f64();
        if !status.success() {
            bail!("{command:?} failed with {status}");
        }
        let run: RunFile = read_json(&output.join("run.json"))?;
        let report: Report = read_json(&output.join("report.json"))?;
        Ok(Run {
            wall_s,
            input_bytes: report.counts.bytes,
            documents: report.counts.documents,
            peak_memory_bytes: run.peak_memory_bytes,
            stages: run.stages,
        })
    }

    fn megabytes_per_s(&self) -> f64 {
        self.input_bytes as f64 / 1e6 / self.wall_s
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(path)?;
    serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
}

/// All runs of one corpus with one verification, which have the same stages.
struct Measured {
    corpus: String,
    verify: &'static str,
    threads: u32,
    runs: Vec<Run>,
}

impl Measured {
    fn of(corpus: &Path, verify: &'static str, arguments: &Arguments) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let run = || Run::of(corpus, verify, arguments.threads, folder.path());
        run().context("the warm-up")?;
        Ok(Measured {
            corpus: corpus_name(corpus),
            verify,
            threads: arguments.threads,
            runs: (0..arguments.runs)
                .map(|_| run())
                .collect::<Result<_, _>>()?,
        })
    }

    fn in_short(&self) -> String {
        let speed = Spread::of(self.runs.iter().map(Run::megabytes_per_s));
        format!(
            "{:.1} MB/s ({:.1} to {:.1})",
            speed.median, speed.min, speed.max
        )
    }

    fn first(&self) -> &Run {
        &self.runs[0]
    }

    /// The row of a summary.
    fn total(&self) -> Vec<String> {
        let speed = Spread::of(self.runs.iter().map(Run::megabytes_per_s));
        let memory = self.runs.iter().filter_map(|run| run.peak_memory_bytes);
        let memory = memory.max().map(|peak| format!("{:.1}", peak as f64 / 1e6));
        vec![
            self.corpus.clone(),
            self.verify.to_owned(),
            self.threads.to_string(),
            self.runs.len().to_string(),
            self.first().documents.to_string(),
            format!("{:.1}", self.first().input_bytes as f64 / 1e6),
            format!("{:.1}", speed.median),
            format!("{:.1}", speed.min),
            format!("{:.1}", speed.max),
            memory.unwrap_or_else(|| "unknown".to_owned()),
        ]
    }

    /// A row for each stage and each part of one, with the median of its times.
    fn stages(&self) -> impl Iterator<Item = Vec<String>> {
        let mut whole = "";
        let stages = self.first().stages.iter().enumerate();
        stages.map(move |(i, stage)| {
            let name = if stage.is_part {
                format!("{whole}: {}", stage.stage)
            } else {
                whole = &stage.stage;
                stage.stage.clone()
            };
            let times = self.runs.iter().map(|run| run.stages[i].elapsed_s);
            let median_s = Spread::of(times).median;
            let speed = (stage.bytes > 0).then(|| stage.bytes as f64 / 1e6 / median_s);
            vec![
                self.corpus.clone(),
                self.verify.to_owned(),
                name,
                format!("{median_s:.3}"),
                speed.map_or_else(String::new, |speed| format!("{speed:.1}")),
            ]
        })
    }

    /// The whole process and its stages, run by run.
    fn all(&self) -> impl Iterator<Item = Vec<String>> {
        (1..).zip(&self.runs).flat_map(|(number, run)| {
            let process = Stage {
                stage: "process".to_owned(),
                elapsed_s: run.wall_s,
                bytes: run.input_bytes,
                is_part: false,
            };
            let row = |stage: &Stage| {
                vec![
                    self.corpus.clone(),
                    self.verify.to_owned(),
                    self.threads.to_string(),
                    number.to_string(),
                    stage.stage.clone(),
                    stage.is_part.to_string(),
                    stage.elapsed_s.to_string(),
                    stage.bytes.to_string(),
                    run.peak_memory_bytes
                        .map_or_else(String::new, |peak| peak.to_string()),
                ]
            };
            let mut rows = vec![row(&process)];
            rows.extend(run.stages.iter().map(row));
            rows
        })
    }
}

/// Where repeated measurements lie.
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Spread {
            median: f64::midpoint(low, high),
            min: sorted[0],
            max: sorted[sorted.len() - 1],
        }
    }
}

/// The rows so far: run by run, and in short.
struct Tables {
    results: Results,
    all: Vec<Vec<String>>,
    totals: Vec<Vec<String>>,
    stages: Vec<Vec<String>>,
}

const ALL: [&str; 9] = [
    "corpus",
    "verify",
    "threads",
    "run",
    "stage",
    "is_part",
    "elapsed_s",
    "bytes",
    "peak_memory_bytes",
];

const TOTALS: [&str; 10] = [
    "corpus",
    "verify",
    "threads",
    "runs",
    "documents",
    "MB",
    "median MB/s",
    "least MB/s",
    "most MB/s",
    "peak memory in MB",
];

const STAGES: [&str; 5] = ["corpus", "verify", "stage", "median s", "MB/s"];

impl Tables {
    fn open(arguments: &Arguments) -> anyhow::Result<Self> {
        let files = ["end_to_end.csv", "end_to_end.md"];
        Ok(Tables {
            results: Results::open(arguments.results.clone(), &files)?,
            all: vec![ALL.map(str::to_owned).into()],
            totals: vec![TOTALS.map(str::to_owned).into()],
            stages: vec![STAGES.map(str::to_owned).into()],
        })
    }

    /// Adds what was measured and writes all of it again, so that a run that is broken off leaves what it
    /// had.
    fn add(&mut self, measured: &Measured) -> anyhow::Result<()> {
        self.all.extend(measured.all());
        self.totals.push(measured.total());
        self.stages.extend(measured.stages());
        self.results.write("end_to_end.csv", &csv(&self.all)?)?;
        let (totals, stages) = (markdown(&self.totals), markdown(&self.stages));
        let text = format!("{ABOVE_TABLES}\n{totals}\n{BETWEEN_TABLES}\n{stages}");
        self.results.write("end_to_end.md", &text)
    }
}

const ABOVE_TABLES: &str = "\
# `simgpu dedup`, from start to exit

    cargo bench --bench end_to_end -- FOLDER_OR_FILES...

Shingles of 5 words, 128 permutations, threshold 0.8; each run is a process, after one to warm up. MB/s are
decompressed input bytes by the seconds of the whole process.
";

const BETWEEN_TABLES: &str = "\
The stages, and what of a stage went to its parts, by the medians of their times.
";
