//! `simgpu pairs`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use simgpu::io::OutputFile;
use simgpu::jobs::{Outcome, PairsFormat, SignatureFile, Verification};

use crate::arguments::{
    InputArguments, RunArguments, SearchArguments, Spool, check_folder_of, on_threads,
};
use crate::terminal::{self as progress, Terminal};
use crate::usage;

/// What the documents decide, or decided when they were signed.
const OF_DOCUMENTS: [&str; 20] = [
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

/// Find all similar pairs, with their similarity
///
/// Writes id_a, id_b, similarity, file_a, row_a, file_b, row_b of each pair, by ascending rows.
#[derive(Args, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required(false)))]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

    /// Read this file of signatures, which sign wrote, in the place of documents: .parquet, or .npy with
    /// its .npy.json; documents with equal signatures then are identical
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_DOCUMENTS)]
    signatures: Option<PathBuf>,

    /// File for the pairs, in the format of its ending: .jsonl, .csv or .parquet; - is JSON Lines on
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
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let start = Instant::now();
    if arguments.output.as_os_str() != "-" {
        PairsFormat::of_path(&arguments.output).map_err(usage)?;
        check_folder_of(&arguments.output)?;
    }
    if let Some(signatures) = &arguments.signatures {
        return run_on_signatures(&arguments, signatures, start);
    }
    if arguments.input.names().is_empty() {
        return Err(usage(simgpu::Error::Conflict(
            "there is nothing to read; name documents as INPUT, or --signatures FILE".to_owned(),
        )));
    }
    let run = arguments.run.resolve(&arguments.input)?;
    let search = arguments.search.resolve(&run.signing.scheme)?;
    let spool = Spool::beside(&arguments.output, arguments.input.names());
    let inputs = arguments.input.find(spool.path())?;
    inputs.check_spared_by(&OutputFile::names(&arguments.output))?;
    run.terminal.announce(&run.signing, Some(&search));
    let outcome = run.over(&arguments.input, &inputs, |source| {
        simgpu::jobs::find_pairs(source, &search, &arguments.output, arguments.overwrite)
    })?;
    summarise(&run.terminal, &outcome, &arguments.output, start);
    Ok(())
}

/// The same from signatures.
fn run_on_signatures(
    arguments: &Arguments,
    signatures: &Path,
    start: Instant,
) -> anyhow::Result<()> {
    let terminal = arguments.run.terminal();
    let signatures = SignatureFile::open(signatures)?;
    let search = arguments.search.resolve(signatures.scheme())?;
    if search.verification == Verification::Exact {
        return Err(usage(simgpu::Error::Conflict(
            "--verify exact needs the documents, and --signatures has none; name them as INPUT, or verify by signature"
                .to_owned(),
        )));
    }
    signatures.check_spared_by(&OutputFile::names(&arguments.output))?;
    terminal.announce_signatures(&signatures, &search);
    let outcome = on_threads(arguments.run.threads(), || {
        simgpu::jobs::find_pairs_of_signatures(
            signatures,
            &search,
            &terminal,
            &arguments.output,
            arguments.overwrite,
        )
    })?;
    summarise(&terminal, &outcome, &arguments.output, start);
    Ok(())
}

fn summarise(terminal: &Terminal, outcome: &Outcome, output: &Path, start: Instant) {
    terminal.summary(|lines| {
        progress::documents(lines, &outcome.counts);
        progress::comparisons(lines, outcome);
        progress::times(lines, outcome, start);
        lines.row("written to", output.display().to_string());
    });
}
