//! `simgpu dedup`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use simgpu::jobs::{Dedup, Verification};
use simgpu::pipeline::{Clustering, KeepPolicy};
use simgpu::progress::Progress;

use crate::arguments::{HoldArguments, InputArguments, RunArguments, SearchArguments, on_threads};
use crate::{stop, terminal};

/// Keep one document of each group of near-duplicates
///
/// Writes these files to the output folder when the run is complete:
///
/// kept/: the kept records of each input, under the same name, in the same format and compression.
///
/// removed.jsonl: one line per removed document, with the document kept instead and their similarity.
///
/// report.json: counts, parameters and clusters; identical in every run with the same input and options.
///
/// run.json: times, memory and machine.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

    /// Folder for the results
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// Replace the results of an earlier run in this folder
    #[arg(long)]
    overwrite: bool,

    /// Which document of each cluster to keep
    #[arg(
        long,
        value_enum,
        value_name = "DOCUMENT",
        default_value = "first",
        help_heading = "Search"
    )]
    keep: KeepArgument,

    /// How to form clusters of near-duplicates
    #[arg(
        long,
        value_enum,
        value_name = "METHOD",
        default_value = "greedy",
        help_heading = "Search"
    )]
    cluster: ClusterArgument,

    #[command(flatten)]
    search: SearchArguments,

    /// Maximum number of documents of one LSH bucket to compare a further document with; a warning counts the
    /// pairs that this leaves out
    #[arg(
        long,
        value_name = "N",
        default_value = "4096",
        help_heading = "Search"
    )]
    max_bucket: NonZeroUsize,

    #[command(flatten)]
    run: RunArguments,

    #[command(flatten)]
    hold: HoldArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeepArgument {
    /// The first in the order of the inputs
    First,
    /// The one with the longest text; if several are equally long, the first
    Longest,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClusterArgument {
    /// Remove a document only if it is similar to a kept one
    Greedy,
    /// Keep one document of each set of documents that chains of similar pairs connect
    Connected,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    stop::listen()?;
    let start = Instant::now();
    let mut settings = arguments.run.resolve(&arguments.input)?;
    let task = Dedup {
        search: arguments
            .search
            .resolve(settings.engine.scheme(), Verification::Exact)?,
        clustering: match arguments.cluster {
            ClusterArgument::Greedy => Clustering::Greedy,
            ClusterArgument::Connected => Clustering::Connected,
        },
        keep: match arguments.keep {
            KeepArgument::First => KeepPolicy::First,
            KeepArgument::Longest => KeepPolicy::Longest,
        },
        max_bucket: arguments.max_bucket.get(),
    };
    let inputs = arguments.input.find()?;
    settings.choose_hardware(&inputs)?;
    let terminal = &settings.terminal;
    terminal.announce(&settings.engine, Some(&task.search));
    let run = settings
        .over(&arguments.input, &inputs)
        .held_bytes(arguments.hold.held_bytes())
        .started(start)
        .overwrite(arguments.overwrite);
    let outcome = on_threads(settings.threads, || run.dedup(&task, &arguments.output))?;
    let counts = &outcome.report.counts;
    terminal.summary(|lines| {
        terminal::documents(lines, &outcome.report);
        lines.row("kept", terminal::share(counts.kept, counts.documents));
        lines.row("removed", terminal::share(counts.removed, counts.documents));
        terminal::comparisons(lines, &outcome);
        lines.row("clusters", terminal::clusters(counts));
        terminal::times(lines, &outcome);
        lines.row("written to", arguments.output.display().to_string());
    });
    if counts.largest_cluster * 100 > counts.documents {
        let share = terminal::share(counts.largest_cluster, counts.documents);
        terminal.warn(&format!(
            "the largest cluster has more than 1 % of all documents: {share}; check it in report.json before you use the result"
        ));
    }
    Ok(())
}
