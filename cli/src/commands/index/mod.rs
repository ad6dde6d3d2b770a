//! `simgpu index`: documents that were seen, in a folder.

mod add;

mod build;

mod manage;

mod query;

pub use manage::stats_of;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use simgpu_files::{HitsOutput, IndexOutcome, RunOptions};
use simgpu_index::Index;
use simgpu_io::Inputs;

use crate::arguments::{Caller, InputArguments, modes_of_files, unit_modes};
use crate::options::Given;
use crate::outputs::ReportArgument;
use crate::streams::is_stream;
use crate::terminal::{Lines, counted, grouped};
use crate::{Usage, terminal};

/// Ask which documents were seen before, of an index that stays on disk
///
/// An index is a folder. It keeps the keys of the bands of each document and, to verify, its signature or its shingles; or, with
/// --kind exact, its shingles alone. It keeps no text. One process at a time may have it open to write it. Processes that may
/// only read its files can have it open at the same time.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub struct IndexArguments {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, Subcommand)]
enum IndexCommand {
    Build(Box<build::IndexBuildArguments>),
    Add(add::IndexAddArguments),
    Query(query::IndexQueryArguments),
    Delete(manage::DeleteArguments),
    Compact(manage::CompactArguments),
    Stats(manage::StatsArguments),
    Verify(manage::VerifyArguments),
    Export(manage::ExportArguments),
    Snapshot(manage::SnapshotArguments),
}

/// The folder of an index.
#[derive(Args, Debug)]
struct FolderArguments {
    /// Folder of the index
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
}

impl FolderArguments {
    fn open(&self) -> anyhow::Result<Index> {
        Ok(Index::open(&self.index)?)
    }
}

/// Refuses what an index does not have: weights.
fn check_weights(input: &InputArguments) -> anyhow::Result<()> {
    let given = [
        ("weights", input.weights.is_some()),
        ("weights_field", input.weights_field.is_some()),
        ("weight_scale", input.weight_scale.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Usage::error(&format!(
            "an index takes no weights; omit `{name}`"
        ))),
        None => Ok(()),
    }
}

/// Checks the options of inputs whose documents go into an index, or are looked up in it, and finds the files.
fn find(index: &Index, input: &InputArguments, caller: &Caller<'_>) -> anyhow::Result<Inputs> {
    check_weights(input)?;
    input.check_fields()?;
    let unit = &index.engine().shingler().shingling().unit;
    caller
        .given
        .check(&[unit_modes(unit), &*input.modes()].concat())?;
    let inputs = input.find(index.engine())?;
    caller.given.check(&modes_of_files(&inputs))?;
    Ok(inputs)
}

/// Where hits go.
#[derive(Args, Debug)]
struct HitsArguments {
    /// File of JSON Lines for the results, one line per record; - writes to stdout, each line as soon as it is known
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long)]
    overwrite: bool,
}

impl HitsArguments {
    /// Refuses a report on stdout beside the results, which are called so in messages.
    fn check(&self, report: Option<ReportArgument>, results: &str) -> anyhow::Result<()> {
        let is_stdout = self.output.as_deref().is_some_and(is_stream);
        if is_stdout && report.is_some() {
            Err(Usage::error(&format!(
                "`output` - writes the {results} to stdout and nothing else; omit `report`, or name an output file"
            )))
        } else {
            Ok(())
        }
    }

    /// Runs with the output; `None` writes nothing.
    fn with_output<T>(
        &self,
        run: impl FnOnce(HitsOutput<'_>) -> simgpu::Result<T>,
    ) -> simgpu::Result<T> {
        let temporary = &std::env::temp_dir();
        match &self.output {
            None => run(HitsOutput::Stream {
                target: &mut std::io::sink(),
                temporary,
            }),
            Some(path) if is_stream(path) => run(HitsOutput::Stream {
                target: &mut std::io::stdout(),
                temporary,
            }),
            Some(path) => run(HitsOutput::File(path)),
        }
    }

    fn options<'a>(&self, caller: &Caller<'a>) -> RunOptions<'a> {
        RunOptions {
            overwrite: self.overwrite,
            ..caller.options()
        }
    }

    fn summarise(&self, lines: &mut Lines) {
        match &self.output {
            Some(path) if is_stream(path) => lines.row("written to", "stdout"),
            Some(path) => lines.row("written to", path.display().to_string()),
            None => {}
        }
    }
}

/// The lines of a summary that all runs have.
fn summary(outcome: &IndexOutcome) -> Lines {
    let counts = &outcome.counts;
    let mut lines = Lines::default();
    lines.row("documents", grouped(counts.documents - counts.skipped));
    if counts.skipped > 0 {
        lines.row("skipped", counted(counts.skipped, "bad record"));
    }
    lines
}

/// Adds what a run added.
fn summarise_added(lines: &mut Lines, outcome: &IndexOutcome) {
    lines.row("added", counted(outcome.counts.added, "document"));
    if outcome.counts.known_ids > 0 {
        let known = counted(outcome.counts.known_ids, "document");
        lines.row(
            "known",
            format!("{known} left out, whose ids another document has"),
        );
    }
}

/// Adds what a run found.
fn summarise_seen(lines: &mut Lines, outcome: &IndexOutcome) {
    let seen = counted(outcome.counts.seen, "document");
    let hits = counted(outcome.counts.hits, "pair");
    lines.row("seen", format!("{seen}, in {hits}"));
}

/// Adds the time that a run took.
fn summarise_time(lines: &mut Lines, outcome: &IndexOutcome) {
    terminal::stage_times(lines, &outcome.timings, outcome.elapsed_s);
}

/// Adds where an index is.
fn summarise_index(lines: &mut Lines, folder: &Path) {
    lines.row("index", folder.display().to_string());
}

pub(crate) fn run(
    arguments: &IndexArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    match &arguments.command {
        IndexCommand::Build(arguments) => build::run(arguments, given, command),
        IndexCommand::Add(arguments) => add::run(arguments, given, command),
        IndexCommand::Query(arguments) => query::run(arguments, given, command),
        IndexCommand::Delete(arguments) => manage::delete(arguments, given, command),
        IndexCommand::Compact(arguments) => manage::compact(arguments, given, command),
        IndexCommand::Stats(arguments) => manage::stats(arguments),
        IndexCommand::Verify(arguments) => manage::verify(arguments, given, command),
        IndexCommand::Export(arguments) => manage::export(arguments, given, command),
        IndexCommand::Snapshot(arguments) => manage::snapshot(arguments, given, command),
    }
}
