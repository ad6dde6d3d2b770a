//! `simgpu pairs`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use simgpu::io::PairsFormat;
use simgpu::jobs::{Outcome, PairsOutput, SignatureFile, SignatureRun, Verification};

use crate::arguments::{HoldArguments, InputArguments, RunArguments, SearchArguments, on_threads};
use crate::outputs::{Destination, OutputArguments, summarise_limit};
use crate::terminal::{self, Terminal};
use crate::{Usage, stop, usage};

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
/// Writes one record per pair, sorted by position in the inputs: id_a, id_b, similarity, file_a, row_a, file_b,
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

    #[command(flatten)]
    run: RunArguments,

    #[command(flatten)]
    hold: HoldArguments,
}

impl Arguments {
    /// Where the pairs go.
    fn destination(&self) -> anyhow::Result<Destination<'_>> {
        self.outputs.destination(self.output.as_ref())
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
    let settings = arguments.run.resolve(&arguments.input)?;
    let search = arguments.search.resolve(settings.engine.scheme())?;
    let inputs = arguments.input.find()?;
    settings.terminal.announce(&settings.engine, Some(&search));
    let mut run = settings
        .over(&arguments.input, &inputs)
        .held_bytes(arguments.hold.held_bytes())
        .overwrite(arguments.outputs.overwrite());
    if let Some(level) = arguments.outputs.compression_level() {
        run = run.compression_level(level);
    }
    let destination = arguments.destination()?;
    let outcome = on_threads(settings.threads, || {
        with_output(destination, |output| run.pairs(&search, output))
    })?;
    summarise(&settings.terminal, &outcome, arguments, start)
}

/// Finds pairs among stored signatures.
fn run_on_signatures(
    arguments: &Arguments,
    signatures: &Path,
    start: Instant,
) -> anyhow::Result<()> {
    let terminal = arguments.run.terminal();
    let signatures = SignatureFile::open(signatures)?;
    let search = arguments.search.resolve(signatures.scheme())?;
    if search.verification == Verification::Exact {
        return Err(Usage::error(
            "--verify exact needs documents; pass them as INPUT instead of --signatures, or use --verify signature",
        ));
    }
    terminal.announce_signatures(&signatures, &search);
    let mut run = SignatureRun::new(signatures)
        .overwrite(arguments.outputs.overwrite())
        .progress(&terminal);
    if let Some(level) = arguments.outputs.compression_level() {
        run = run.compression_level(level);
    }
    let destination = arguments.destination()?;
    let outcome = on_threads(arguments.run.threads(), || {
        with_output(destination, |output| run.pairs(&search, output))
    })?;
    summarise(&terminal, &outcome, arguments, start)
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
fn summarise(
    terminal: &Terminal,
    outcome: &Outcome,
    arguments: &Arguments,
    start: Instant,
) -> anyhow::Result<()> {
    arguments.outputs.print_report(outcome)?;
    let destination = arguments.destination()?;
    terminal.summary(|lines| {
        terminal::documents(lines, &outcome.report.counts);
        summarise_limit(lines, outcome);
        terminal::comparisons(lines, outcome);
        terminal::times(lines, outcome, start);
        destination.summarise(lines);
    });
    Ok(())
}
