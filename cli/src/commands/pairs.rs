//! `simgpu pairs`.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use simgpu::io::PairsFormat;
use simgpu::jobs::{
    Identical, Outcome, Pairs, PairsOutput, SignatureFile, SignatureRun, Verification,
};
use simgpu::scheme::Scheme;

use crate::arguments::{HoldArguments, InputArguments, RunArguments, SearchArguments, on_threads};
use crate::outputs::{Destination, OutputArguments, summarise_limit};
use crate::terminal::{self, Terminal};
use crate::{Incomplete, Usage, stop, usage};

/// Arguments that signatures already fix, or that concern documents only.
const DOCUMENT_ARGUMENTS: [&str; 23] = [
    "inputs",
    "format",
    "text_field",
    "tokens_field",
    "id_field",
    "unique_ids",
    "on_bad_record",
    "limit",
    "include",
    "exclude",
    "unit",
    "size",
    "stop_words",
    "lowercase",
    "strip_punctuation",
    "keep_whitespace",
    "scheme",
    "hash",
    "num_perm",
    "seed",
    "backend",
    "isa",
    "batch_mib",
];

/// Find all pairs of near-duplicates, with their similarity
///
/// Writes one record per pair, in the order of the inputs: id_a, id_b, similarity, file_a, row_a, file_b,
/// row_b. Rows count from 0 in each file.
#[derive(Args, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required(false)))]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

    /// Read signatures written by `simgpu sign` instead of documents: .parquet, or .npy with its .npy.json;
    /// documents with equal signatures count as identical
    #[arg(long, value_name = "FILE", conflicts_with_all = DOCUMENT_ARGUMENTS)]
    signatures: Option<PathBuf>,

    /// File for the pairs; its ending selects the format: .jsonl, .csv or .parquet; .jsonl and .csv can be
    /// compressed: .jsonl.zst, .csv.gz; - writes JSON Lines to stdout
    #[arg(long, short, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,

    #[command(flatten)]
    outputs: OutputArguments,

    #[command(flatten)]
    search: SearchArguments,

    /// Which pairs of identical documents to write
    #[arg(
        long,
        value_enum,
        value_name = "PAIRS",
        default_value = "all",
        help_heading = "Search"
    )]
    identical: IdenticalArgument,

    /// Stop after this many pairs, with exit code 3
    #[arg(
        long,
        value_name = "N",
        default_value = "1000000000",
        help_heading = "Search"
    )]
    max_pairs: NonZeroU64,

    #[command(flatten)]
    run: RunArguments,

    #[command(flatten)]
    hold: HoldArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum IdenticalArgument {
    /// All of them; identical documents also have the same partners
    All,
    /// Each identical document with the first of them; only this first one has other partners
    Star,
}

impl Arguments {
    /// Where the pairs go.
    fn destination(&self) -> anyhow::Result<Destination<'_>> {
        self.outputs.destination(self.output.as_ref())
    }

    fn task(&self, scheme: &Scheme, unless_given: Verification) -> anyhow::Result<Pairs> {
        Ok(Pairs {
            search: self.search.resolve(scheme, unless_given)?,
            identical: match self.identical {
                IdenticalArgument::All => Identical::All,
                IdenticalArgument::Star => Identical::Star,
            },
            max_pairs: self.max_pairs.get(),
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen()?;
    let start = Instant::now();
    if let Destination::Path(path) = arguments.destination()? {
        PairsFormat::of_path(path).map_err(usage)?;
    }
    if let Some(signatures) = &arguments.signatures {
        return run_on_signatures(arguments, signatures, start);
    }
    if arguments.input.names().is_empty() {
        return Err(Usage::error(
            "no input; pass documents as INPUT, or --signatures FILE",
        ));
    }
    let mut settings = arguments.run.resolve(&arguments.input)?;
    let task = arguments.task(settings.engine.scheme(), Verification::Exact)?;
    let inputs = arguments.input.find()?;
    settings.choose_hardware(&inputs)?;
    settings
        .terminal
        .announce(&settings.engine, Some(&task.search));
    let mut run = settings
        .over(&arguments.input, &inputs)
        .held_bytes(arguments.hold.held_bytes())
        .started(start)
        .overwrite(arguments.outputs.overwrite());
    if let Some(level) = arguments.outputs.compression_level() {
        run = run.compression_level(level);
    }
    let destination = arguments.destination()?;
    let outcome = on_threads(settings.threads, || {
        with_output(destination, |output| run.pairs(&task, output))
    })?;
    summarise(&settings.terminal, &outcome, arguments)?;
    check_complete(&outcome)
}

/// Finds pairs among stored signatures.
fn run_on_signatures(
    arguments: &Arguments,
    signatures: &Path,
    start: Instant,
) -> anyhow::Result<()> {
    let threads = arguments.run.threads()?;
    let terminal = arguments.run.terminal();
    let signatures = SignatureFile::open(signatures)?;
    let task = arguments.task(signatures.scheme(), Verification::Signature)?;
    if task.search.verification == Verification::Exact {
        return Err(Usage::error(
            "--verify exact needs documents; pass them as INPUT instead of --signatures, or use --verify signature",
        ));
    }
    terminal.announce_signatures(&signatures, &task.search);
    let mut run = SignatureRun::new(signatures)
        .started(start)
        .overwrite(arguments.outputs.overwrite())
        .progress(&terminal);
    if let Some(level) = arguments.outputs.compression_level() {
        run = run.compression_level(level);
    }
    let destination = arguments.destination()?;
    let outcome = on_threads(threads, || {
        with_output(destination, |output| run.pairs(&task, output))
    })?;
    summarise(&terminal, &outcome, arguments)?;
    check_complete(&outcome)
}

/// Fails if the search ended before all pairs were written.
fn check_complete(outcome: &Outcome) -> anyhow::Result<()> {
    match outcome.report.complete {
        Some(false) => Err(anyhow::Error::new(Incomplete {
            pairs: outcome.report.counts.similar_pairs,
        })),
        _ => Ok(()),
    }
}

/// Runs with the output for this destination.
fn with_output<T>(
    destination: Destination<'_>,
    run: impl FnOnce(PairsOutput<'_>) -> simgpu::Result<T>,
) -> simgpu::Result<T> {
    let temporary = &std::env::temp_dir();
    match destination {
        Destination::Path(path) => run(PairsOutput::File(path)),
        Destination::Stdout => run(PairsOutput::Stream {
            target: &mut std::io::stdout(),
            temporary,
        }),
        Destination::Nowhere => run(PairsOutput::Nowhere { temporary }),
    }
}

/// Prints the report, if asked to, and the summary.
fn summarise(terminal: &Terminal, outcome: &Outcome, arguments: &Arguments) -> anyhow::Result<()> {
    arguments.outputs.print_report(outcome)?;
    let destination = arguments.destination()?;
    terminal.summary(|lines| {
        terminal::documents(lines, &outcome.report);
        summarise_limit(lines, outcome);
        terminal::comparisons(lines, outcome);
        terminal::times(lines, outcome);
        destination.summarise(lines);
    });
    Ok(())
}
