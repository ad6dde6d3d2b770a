//! `simgpu pairs`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use simgpu::io::PairsFormat;
use simgpu::jobs::{Outcome, PairsOutput, SignatureFile, SignatureRun, Verification};

use crate::arguments::{HoldArguments, InputArguments, RunArguments, SearchArguments, on_threads};
use crate::streams::is_stream;
use crate::terminal::{self, Terminal};
use crate::{Usage, stop, usage};

/// Arguments that signatures already fix, or that concern documents only.
const DOCUMENT_ARGUMENTS: [&str; 20] = [
    "inputs",
    "format",
    "text_field",
    "tokens_field",
    "id_field",
    "unique_ids",
    "on_bad_record",
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

    /// File for the pairs; its ending selects the format: .jsonl, .csv or .parquet; - writes JSON Lines to
    /// stdout
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    overwrite: bool,

    #[command(flatten)]
    search: SearchArguments,

    #[command(flatten)]
    run: RunArguments,

    #[command(flatten)]
    hold: HoldArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen()?;
    let start = Instant::now();
    if !is_stream(&arguments.output) {
        PairsFormat::of_path(&arguments.output).map_err(usage)?;
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
    let search = arguments.search.resolve(settings.engine.scheme())?;
    let inputs = arguments.input.find()?;
    settings.choose_hardware(&inputs)?;
    settings.terminal.announce(&settings.engine, Some(&search));
    let run = settings
        .over(&arguments.input, &inputs)
        .held_bytes(arguments.hold.held_bytes())
        .started(start)
        .overwrite(arguments.overwrite);
    let outcome = on_threads(settings.threads, || {
        with_output(&arguments.output, |output| run.pairs(&search, output))
    })?;
    summarise(&settings.terminal, &outcome, &arguments.output);
    Ok(())
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
    let search = arguments.search.resolve(signatures.scheme())?;
    if search.verification == Verification::Exact {
        return Err(Usage::error(
            "--verify exact needs documents; pass them as INPUT instead of --signatures, or use --verify signature",
        ));
    }
    terminal.announce_signatures(&signatures, &search);
    let run = SignatureRun::new(signatures)
        .started(start)
        .overwrite(arguments.overwrite)
        .progress(&terminal);
    let outcome = on_threads(threads, || {
        with_output(&arguments.output, |output| run.pairs(&search, output))
    })?;
    summarise(&terminal, &outcome, &arguments.output);
    Ok(())
}

/// Runs with the output of this name: stdout if it is `-`.
fn with_output<T>(
    name: &Path,
    run: impl FnOnce(PairsOutput<'_>) -> simgpu::Result<T>,
) -> simgpu::Result<T> {
    if is_stream(name) {
        run(PairsOutput::Stream {
            target: &mut std::io::stdout(),
            temporary: &std::env::temp_dir(),
        })
    } else {
        run(PairsOutput::File(name))
    }
}

fn summarise(terminal: &Terminal, outcome: &Outcome, output: &Path) {
    terminal.summary(|lines| {
        terminal::documents(lines, &outcome.report);
        terminal::comparisons(lines, outcome);
        terminal::times(lines, outcome);
        lines.row("written to", output.display().to_string());
    });
}
