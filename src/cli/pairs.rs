//! `simgpu pairs`.

use std::path::PathBuf;

use clap::Args;
use simgpu::io::OutputFile;
use simgpu::pipeline;

use super::arguments::{InputArguments, SearchArguments, SignArguments, Spool};
use super::progress;

/// Find all similar pairs, with their similarity
///
/// Writes id_a, id_b, similarity, file_a, row_a, file_b, row_b of each pair, by ascending rows.
#[derive(Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

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
    sign: SignArguments,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let start = std::time::Instant::now();
    let signing = arguments.sign.resolve()?;
    let search = arguments.search.resolve(signing.scheme.num_perm())?;
    let spool = Spool::beside(&arguments.output, arguments.input.names());
    let inputs = arguments.input.find(spool.path())?;
    inputs.check_spared_by(&OutputFile::names(&arguments.output))?;
    signing.terminal.announce(&signing, Some(&search));
    let outcome = signing.run(&arguments.input, &inputs, |source| {
        pipeline::find_pairs(source, &search, &arguments.output, arguments.overwrite)
    })?;
    signing.terminal.summary(|lines| {
        progress::documents(lines, &outcome.counts);
        progress::comparisons(lines, &outcome);
        progress::times(lines, &outcome, start);
        lines.row("written to", arguments.output.display().to_string());
    });
    Ok(())
}
