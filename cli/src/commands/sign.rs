//! `simgpu sign`.

use std::path::PathBuf;

use clap::Args;
use simgpu::io::OutputFile;
use simgpu::jobs::SignaturesFormat;

use crate::arguments::{InputArguments, RunArguments, Spool, check_folder_of};
use crate::terminal as progress;
use crate::usage;

/// Compute the signature of every document
///
/// Writes one row a document, in order: a table of id and signature with the parameters in its metadata
/// (.parquet), or the matrix of shape (documents, num_perm), which holds no ids, with the parameters beside
/// it (.npy and .npy.json).
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

    /// File for the signatures, in the format of its ending: .parquet or .npy
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    overwrite: bool,

    #[command(flatten)]
    run: RunArguments,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let start = std::time::Instant::now();
    let run = arguments.run.resolve(&arguments.input)?;
    SignaturesFormat::of_path(&arguments.output).map_err(usage)?;
    check_folder_of(&arguments.output)?;
    let spool = Spool::beside(&arguments.output, arguments.input.names());
    let inputs = arguments.input.find(spool.path())?;
    inputs.check_spared_by(&OutputFile::names(&arguments.output))?;
    run.terminal.announce(&run.signing, None);
    let outcome = run.over(&arguments.input, &inputs, |source| {
        simgpu::jobs::sign_files(
            source,
            &run.signing.scheme,
            &arguments.output,
            arguments.overwrite,
        )
    })?;
    run.terminal.summary(|lines| {
        progress::documents(lines, &outcome.counts);
        progress::times(lines, &outcome, start);
        lines.row("written to", arguments.output.display().to_string());
    });
    Ok(())
}
