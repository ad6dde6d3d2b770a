//! `simgpu sign`.

use std::path::PathBuf;

use clap::Args;
use simgpu::io::OutputFile;
use simgpu::pipeline;

use super::arguments::{InputArguments, SignArguments, Spool};
use super::progress;

/// Compute the signature of every document
///
/// Writes one row a document, in order: a table of id and signature with the parameters in its metadata
/// (.parquet), or the matrix of shape (documents, num_perm) with the parameters beside it (.npy and
/// .npy.json).
#[derive(Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

    /// File for the signatures, in the format of its ending: .parquet or .npy
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    overwrite: bool,

    #[command(flatten)]
    sign: SignArguments,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let start = std::time::Instant::now();
    let signing = arguments.sign.resolve()?;
    let spool = Spool::beside(&arguments.output, arguments.input.names());
    let inputs = arguments.input.find(spool.path())?;
    inputs.check_spared_by(&OutputFile::names(&arguments.output))?;
    signing.terminal.announce(&signing, None);
    let outcome = signing.run(&arguments.input, &inputs, |source| {
        pipeline::sign_files(
            source,
            &signing.scheme,
            &arguments.output,
            arguments.overwrite,
        )
    })?;
    signing.terminal.summary(|lines| {
        progress::documents(lines, &outcome.counts);
        progress::times(lines, &outcome, start);
        lines.row("written to", arguments.output.display().to_string());
    });
    Ok(())
}
