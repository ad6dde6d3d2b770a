//! `simgpu sign`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use simgpu::io::SignaturesFormat;

use crate::arguments::{InputArguments, RunArguments, on_threads};
use crate::outputs::summarise_limit;
use crate::{stop, terminal, usage};

/// Compute the MinHash signature of every document
///
/// Writes one row per document, in the order of the inputs. The ending of the output selects the format:
///
/// .parquet: a table of ids and signatures, with the parameters in its metadata.
///
/// .npy: a matrix of shape (documents, num_perm) without ids, with the parameters in .npy.json beside it.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

    /// File for the signatures; its ending selects the format: .parquet or .npy
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    overwrite: bool,

    #[command(flatten)]
    run: RunArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen()?;
    let start = Instant::now();
    let mut settings = arguments.run.resolve(&arguments.input)?;
    SignaturesFormat::of_path(&arguments.output).map_err(usage)?;
    let inputs = arguments.input.find()?;
    settings.choose_hardware(&inputs)?;
    settings.terminal.announce(&settings.engine, None);
    let run = settings
        .over(&arguments.input, &inputs)
        .started(start)
        .overwrite(arguments.overwrite);
    let outcome = on_threads(settings.threads, || run.sign(&arguments.output))?;
    settings.terminal.summary(|lines| {
        terminal::documents(lines, &outcome.report);
        summarise_limit(lines, &outcome);
        terminal::times(lines, &outcome);
        lines.row("written to", arguments.output.display().to_string());
    });
    Ok(())
}
