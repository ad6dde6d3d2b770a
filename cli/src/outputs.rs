//! Arguments about outputs, which several commands share.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simgpu_files::{Outcome, RunOptions};

use crate::Usage;
use crate::arguments::Caller;
use crate::options::Mode;
use crate::streams::{is_stream, print};
use crate::terminal::{Lines, counted};

/// What a run writes, and where.
#[derive(Debug, Args)]
pub struct OutputArguments {
    /// Replace the results of an earlier run
    #[arg(long)]
    pub overwrite: bool,

    /// Level of compressed outputs: 1 to 22 for zstd, default 3; 0 to 9 for gzip and xz, default 6; 1 to 9 for
    /// bzip2, default 9
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub compression_level: Option<u32>,

    /// What is shown.
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// Whether a run writes files, and what it prints.
#[derive(Debug, Default, Args)]
pub struct ShownArguments {
    /// Do everything but write files; print the summary
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,

    /// Print the report to stdout, the same bytes as in the file
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub report: Option<ReportArgument>,
}

/// The value of `--report`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ReportArgument {
    /// JSON
    Json,
}

/// Where the results go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination<'a> {
    /// A file or folder.
    Path(&'a Path),
    Stdout,
    Nowhere,
}

impl OutputArguments {
    /// Where to write, if --output is `output`.
    pub(crate) fn destination<'a>(
        &self,
        output: Option<&'a PathBuf>,
    ) -> anyhow::Result<Destination<'a>> {
        match output {
            _ if self.shown.dry_run => Ok(Destination::Nowhere),
            None => Err(Usage::error("no output; pass `output`, or `dry_run`")),
            Some(output) if is_stream(output) => Ok(Destination::Stdout),
            Some(output) => Ok(Destination::Path(output)),
        }
    }

    /// The options of a run.
    pub(crate) fn options<'a>(&self, caller: &Caller<'a>) -> RunOptions<'a> {
        RunOptions {
            overwrite: self.overwrite,
            compression_level: self.compression_level,
            ..caller.options()
        }
    }
}

impl ShownArguments {
    /// Prints the report, if --report asks for it.
    pub(crate) fn print_report(
        &self,
        write_json: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(ReportArgument::Json) = self.report {
            let mut bytes = Vec::new();
            write_json(&mut bytes)?;
            print(&bytes)?;
        }
        Ok(())
    }
}

impl Destination<'_> {
    /// The modes that the destination leads to.
    pub(crate) fn modes(self) -> &'static [Mode] {
        match self {
            Destination::Stdout => &[Mode::Stdout],
            Destination::Path(_) | Destination::Nowhere => &[],
        }
    }

    /// Adds a line that says where the results are.
    pub(crate) fn summarise(&self, lines: &mut Lines) {
        match self {
            Destination::Path(path) => lines.row("written to", path.display().to_string()),
            Destination::Stdout => lines.row("written to", "stdout"),
            Destination::Nowhere => lines.row("written", "nothing (--dry-run)"),
        }
    }
}

/// The folder for temporary files of a run: the one that is given, or that of the system if the run has no output.
pub(crate) fn temporary(given: Option<&Path>, output: Option<&Path>) -> Option<PathBuf> {
    match (given, output) {
        (Some(folder), _) => Some(folder.to_owned()),
        (None, None) => Some(std::env::temp_dir()),
        (None, Some(_)) => None,
    }
}

/// Adds a line about --limit.
pub(crate) fn summarise_limit(lines: &mut Lines, outcome: &Outcome) {
    if let Some(limit) = outcome.report.parameters.limit {
        let records = counted(limit, "record");
        lines.row("limit", format!("the first {records} only"));
    }
}
