//! `simgpu dedup`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simgpu::io::{OutputFolder, check_output_outside};
use simgpu::pipeline::{Clustering, KeepPolicy};
use simgpu::progress::Progress;

use crate::arguments::{InputArguments, RunArguments, SearchArguments};
use crate::{environment, terminal as progress};

/// Keep one document of each group of near-duplicates
///
/// Writes into the output folder: kept/ (what is left of each input, record by record as it came, under
/// its name, in its format and compression), removed.jsonl (each removed document with the kept one, their
/// similarity and how it was found), report.json (counts, parameters, clusters) and run.json (times,
/// memory, machine).
///
/// The texts are read twice and never held whole.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArguments,

    /// Folder for the results
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// Replace the results of an earlier run
    #[arg(long)]
    overwrite: bool,

    /// Which document of a group is kept
    #[arg(long, value_enum, default_value = "first", help_heading = "Search")]
    keep: KeepArgument,

    /// How groups are formed
    #[arg(long, value_enum, default_value = "greedy", help_heading = "Search")]
    cluster: ClusterArgument,

    #[command(flatten)]
    search: SearchArguments,

    #[command(flatten)]
    run: RunArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeepArgument {
    /// The earliest
    First,
    /// The one with the longest text
    Longest,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClusterArgument {
    /// A document goes only if it is similar to a kept one
    Greedy,
    /// One document of each connected component is kept
    Connected,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let start = std::time::Instant::now();
    let run = arguments.run.resolve(&arguments.input)?;
    let search = arguments.search.resolve(&run.signing.scheme)?;
    let output = &arguments.output;
    check_output_outside(arguments.input.names(), output)?;
    let folder = OutputFolder::open(output, arguments.overwrite)?;
    let inputs = arguments.input.find(&folder.partial().join("stdin"))?;
    inputs.check_spared_by(std::slice::from_ref(output))?;
    run.terminal.announce(&run.signing, Some(&search));
    let task = simgpu::jobs::Dedup {
        search,
        clustering: match arguments.cluster {
            ClusterArgument::Greedy => Clustering::Greedy,
            ClusterArgument::Connected => Clustering::Connected,
        },
        keep: match arguments.keep {
            KeepArgument::First => KeepPolicy::First,
            KeepArgument::Longest => KeepPolicy::Longest,
        },
    };
    let environment = |timings: &_| environment::of_run(&run, timings, start);
    let outcome = run.over(&arguments.input, &inputs, |source| {
        simgpu::jobs::dedup(source, &run.signing.scheme, &task, folder, &environment)
    })?;
    let counts = &outcome.counts;
    run.terminal.summary(|lines| {
        progress::documents(lines, counts);
        lines.row("kept", progress::share(counts.kept, counts.documents));
        lines.row("removed", progress::share(counts.removed, counts.documents));
        progress::comparisons(lines, &outcome);
        lines.row("clusters", progress::clusters(counts));
        progress::times(lines, &outcome, start);
        lines.row("written to", arguments.output.display().to_string());
    });
    if counts.largest_cluster * 100 > counts.documents {
        let share = progress::share(counts.largest_cluster, counts.documents);
        run.terminal.warn(&format!(
            "the largest cluster holds {share} documents, more than 1 %; look at it in report.json before you trust the result"
        ));
    }
    Ok(())
}
