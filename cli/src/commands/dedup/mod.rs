//! `simgpu dedup`.

mod clusters;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simgpu::engine::Engine;
use simgpu::error::Conflict;
use simgpu::progress::Progress as _;
use simgpu::scheme::Scheme;
use simgpu::search::{Dedup, Verification};
use simgpu_files::{Action, DedupOutput, Outcome, PairsFile, Run};
use simgpu_index::{Durability, Index};
use simgpu_io::{FieldPath, KeepBy, RemovedFormat};

use super::execute;
use crate::arguments::{
    AgainstArguments, Caller, HoldArguments, InputArguments, References, RunArguments,
    SHINGLE_OPTIONS, SIGNATURE_OPTIONS, SearchArguments, globs, modes_of_files, modes_of_method,
    modes_of_search,
};
use crate::options::{Given, Mode};
use crate::outputs::{Destination, OutputArguments, summarise_limit};
use crate::terminal::Lines;
use crate::{terminal, usage};

pub use clusters::{ClusterArgument, ClusterArguments, KeepArgument, ShortArguments};

/// Keep one document of each group of near-duplicates
///
/// Writes these files to the output folder when the run is complete:
///
/// kept/: the kept records of each input, under the same name, in the same format and compression.
///
/// removed.jsonl (or .jsonl.zst, .parquet): one line per removed document, with the document kept instead and their similarity.
///
/// clusters.parquet: one row per document, with its cluster and whether it is kept.
///
/// samples.jsonl: the beginnings of some texts, at most 2 MB in all, which report.html shows.
///
/// report.html: a page that shows what was removed and why; it needs no network.
///
/// report.json: counts, parameters and clusters; identical in every run with the same input and options.
///
/// run.json: times, memory and machine.
#[derive(Args, Debug)]
pub struct DedupArguments {
    /// The input.
    #[command(flatten)]
    pub input: InputArguments,

    /// What the input is compared with.
    #[command(flatten)]
    pub against: AgainstArguments,

    /// Add the kept documents to the index of --against once the results are complete: ids must be unique, and none of theirs
    /// may be in the index
    #[arg(long, help_heading = "Output", conflicts_with = "dry_run")]
    pub add: bool,

    /// Remove documents by a file of `simgpu pairs` over the same inputs, with its FILE.report.json beside it, instead of
    /// searching: no shingles and no signatures are computed
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub from_pairs: Option<PathBuf>,

    /// Folder for the results; - writes the kept records to stdout, and no other file, if all inputs are JSON
    /// Lines
    #[arg(long, short, value_name = "DIR", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// What to write.
    #[command(flatten)]
    pub outputs: OutputArguments,

    /// Format of the file of removed documents
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub removed_format: Option<RemovedFormatArgument>,

    /// What to do with the documents to remove
    #[arg(
        long,
        value_enum,
        value_name = "ACTION",
        default_value = "drop",
        help_heading = "Output"
    )]
    pub action: ActionArgument,

    /// Write no texts: neither samples.jsonl nor the texts on the page, which then names documents alone
    #[arg(long, help_heading = "Output")]
    pub no_samples: bool,

    /// Field whose value is the source of a document, for the counts by source [default: the input file]
    #[arg(long, value_name = "FIELD", help_heading = "Output")]
    pub source_field: Option<String>,

    /// How to form clusters.
    #[command(flatten)]
    pub clusters: ClusterArguments,

    /// Which documents are too short.
    #[command(flatten)]
    pub short: ShortArguments,

    /// Keep the document with the largest value of this field (FIELD:asc: the smallest); ties go to the first.
    /// Numbers, dates (RFC 3339) and strings are compared as such; a missing value comes last
    #[arg(long, value_name = "FIELD", help_heading = "Search")]
    pub keep_by: Option<String>,

    /// Keep documents of files that match the first pattern rather than others, then those that match the
    /// second; among the rest, --keep-by and --keep decide
    #[arg(
        long,
        value_name = "GLOB,GLOB",
        value_delimiter = ',',
        help_heading = "Search"
    )]
    pub prefer_source: Vec<String>,

    /// Which pairs to search for.
    #[command(flatten)]
    pub search: SearchArguments,

    /// How to sign, and with how much of the machine.
    #[command(flatten)]
    pub run: RunArguments,

    /// How much input to hold in memory.
    #[command(flatten)]
    pub hold: HoldArguments,
}

/// The value of `--removed-format`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RemovedFormatArgument {
    /// removed.jsonl
    Jsonl,
    /// removed.jsonl.zst, compressed with zstd
    #[value(name = "jsonl.zst")]
    JsonlZst,
    /// removed.parquet
    Parquet,
}

/// The value of `--action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ActionArgument {
    /// Write the kept records without them
    Drop,
    /// Only list them: write no kept/
    Report,
}

impl DedupArguments {
    /// Where the results go.
    fn destination(&self) -> anyhow::Result<Destination<'_>> {
        self.outputs.destination(self.output.as_ref())
    }

    /// The modes that can be told before the engine is opened.
    fn modes(&self, references: &References<'_>) -> anyhow::Result<Vec<Mode>> {
        let output = self.destination()?.modes();
        let (sign, input) = (self.run.sign.modes()?, references.modes(&self.input));
        Ok([&sign, &*input, output].concat())
    }

    /// Sets the options of a run that decide which documents are kept and what is written.
    fn set_output<'a>(&self, run: Run<'a>) -> anyhow::Result<Run<'a>> {
        let keeps_longest = matches!(self.clusters.keep, KeepArgument::Longest);
        if self.keep_by.is_some() && keeps_longest {
            return Err(usage(Conflict::KeepTwice.into()));
        }
        Ok(Run {
            keep_by: self.keep_by.as_deref().map(KeepBy::new),
            prefer_source: globs("prefer_source", &self.prefer_source)?,
            source_field: self.source_field.as_deref().map(FieldPath::new),
            samples: !self.no_samples,
            removed_format: match self.removed_format {
                Some(RemovedFormatArgument::Parquet) => RemovedFormat::Parquet,
                Some(RemovedFormatArgument::JsonlZst) => RemovedFormat::JsonLinesZstd,
                Some(RemovedFormatArgument::Jsonl) | None => RemovedFormat::JsonLines,
            },
            action: match self.action {
                ActionArgument::Drop => Action::Drop,
                ActionArgument::Report => Action::Report,
            },
            ..run
        })
    }

    fn task(&self, search: &SearchArguments, scheme: &Scheme) -> anyhow::Result<Dedup> {
        let search = search.resolve(scheme, Some(&self.run.sign), None)?;
        Ok(Dedup {
            short: self.short.documents(),
            ..self.clusters.task(search)
        })
    }

    /// Deduplicates, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`Run::dedup`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        match &self.from_pairs {
            Some(pairs) => self.execute_from_pairs(pairs, caller),
            None => self.execute_by_search(caller),
        }
    }

    /// Removes documents by pairs that an earlier run has found.
    fn execute_from_pairs(&self, pairs: &Path, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        let given = caller.given;
        given.check(&[Mode::FromPairs])?;
        let destination = self.destination()?;
        given.check(destination.modes())?;
        let pairs = PairsFile::open(pairs)?;
        let inputs = self.input.find(pairs.engine())?;
        given.check(&modes_of_files(&inputs))?;
        terminal::announce_pairs(caller.progress, &pairs);
        let run = Run {
            options: self.outputs.options(caller),
            ..pairs.run(&inputs)
        };
        let run = self.hold.set(self.run.set(run));
        let task = self.clusters.task(pairs.search().clone());
        write(self.set_output(run)?, &task, destination)
    }

    fn execute_by_search(&self, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        let given = caller.given;
        // First: what a join has no use for need not be valid.
        given.check(modes_of_method(self.search.candidates, None))?;
        let own_scheme = self.run.sign.scheme()?;
        let references = self.against.resolve()?;
        given.check(&self.modes(&references)?)?;
        let indexes: Vec<Index> = references
            .indexes
            .iter()
            .map(|folder| Ok(Index::open(folder)?.durability(Durability::OnSync)))
            .collect::<anyhow::Result<_>>()?;
        let known = indexes.first();
        let gives_engine = given.has_any(&SHINGLE_OPTIONS) || given.has_any(&SIGNATURE_OPTIONS);
        let known_engine = known.map(Index::engine).filter(|_| !gives_engine);
        let scheme = known_engine.map_or(&own_scheme, Engine::scheme);
        let task = match known {
            Some(index) => {
                let search = self.search.with_defaults_from(index, scheme, given);
                let mut task = self.task(&search, scheme)?;
                if self.search.verify.is_none() {
                    task.search.index_verification = Some(index.search().verification);
                }
                task
            }
            None => self.task(&self.search, scheme)?,
        };
        let mut settings = self.run.resolve(&self.input, None, known_engine)?;
        given.check(modes_of_search(&task.search, &settings.engine)?)?;
        let destination = self.destination()?;
        let copies =
            self.action == ActionArgument::Drop && !matches!(destination, Destination::Nowhere);
        if !copies && task.search.verification != Verification::Exact {
            given.check(&[Mode::ReadOnce])?;
        }
        let inputs = self.input.find(&settings.engine)?;
        given.check(&modes_of_files(&inputs))?;
        let reference = references.find(&self.input, &settings.engine)?;
        settings.choose_hardware(&inputs)?;
        if let Some(index) = known {
            let folder = index.folder().display();
            let taken = if known_engine.is_some() {
                "options"
            } else {
                "threshold and bands"
            };
            let signs = index.search().verification == Verification::Signature;
            let exact = if signs && task.search.verification == Verification::Exact {
                "; pairs among the inputs are compared exactly, those with the index by signature"
            } else {
                ""
            };
            let notice =
                format!("{taken} that are not given are those of the index {folder}{exact}");
            caller.progress.tell(&notice);
        }
        terminal::announce(caller.progress, &settings.engine, Some(&task.search));
        let options = self.outputs.options(caller);
        let run = self.hold.set(settings.over(&self.input, &inputs, options));
        let run = self.set_output(run)?;
        let engine = &settings.engine;
        let run = (self.against).set(run, reference.as_ref(), &self.input, engine);
        let mut run = Run {
            adds_kept: self.add,
            ..run
        };
        for index in &indexes {
            run.against_index(index);
        }
        write(run, &task, destination)
    }

    /// The lines of the summary.
    ///
    /// # Errors
    /// Those of the output's name.
    pub fn summary(&self, outcome: &Outcome) -> anyhow::Result<Lines> {
        let counts = &outcome.report.counts;
        let mut lines = Lines::default();
        terminal::documents(&mut lines, &outcome.report);
        summarise_limit(&mut lines, outcome);
        lines.row("kept", terminal::share(counts.kept, counts.documents));
        let removed = match self.action {
            ActionArgument::Drop => "removed",
            ActionArgument::Report => "to remove",
        };
        lines.row(removed, terminal::share(counts.removed, counts.documents));
        if let Some(removed) = counts.removed_for_reference {
            let share = terminal::share(removed, counts.documents);
            lines.row("", format!("of these {share} for the reference"));
        }
        if let Some(removed) = counts.removed_for_index {
            let share = terminal::share(removed, counts.documents);
            lines.row("", format!("of these {share} for the index"));
        }
        if self.add {
            lines.row("added", terminal::counted(counts.kept, "document"));
        }
        terminal::comparisons(&mut lines, outcome);
        if let Some(lost) = terminal::lost(&outcome.report) {
            lines.row("lost", lost);
        }
        lines.row("clusters", terminal::clusters(counts));
        if let Some(sources) = terminal::sources(&outcome.report.sources) {
            lines.row("sources", sources);
        }
        terminal::times(&mut lines, outcome);
        self.destination()?.summarise(&mut lines);
        Ok(lines)
    }

    /// Warnings of what is unusual about the result.
    ///
    /// # Errors
    /// Those of the output's name.
    pub fn warnings(&self, outcome: &Outcome) -> anyhow::Result<Vec<String>> {
        let place = match self.destination()? {
            Destination::Path(_) => "in report.json ",
            Destination::Stdout | Destination::Nowhere => "",
        };
        let unusual = outcome.report.warnings.iter();
        let warnings =
            unusual.map(|unusual| format!("{unusual}; check it {place}before you use the result"));
        Ok(warnings.collect())
    }
}

/// Runs with the output for this destination.
fn write(run: Run<'_>, task: &Dedup, destination: Destination<'_>) -> anyhow::Result<Outcome> {
    let temporary = &std::env::temp_dir();
    Ok(match destination {
        Destination::Path(folder) => run.dedup(task, folder),
        Destination::Stdout => {
            let target = &mut std::io::stdout();
            run.dedup(task, DedupOutput::Stream { target, temporary })
        }
        Destination::Nowhere => run.dedup(task, DedupOutput::Nowhere { temporary }),
    }?)
}

pub(crate) fn run(
    arguments: &DedupArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.run.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    arguments
        .outputs
        .shown
        .print_report(|bytes| outcome.report.write_json(bytes))?;
    terminal.summary(&arguments.summary(&outcome)?);
    for warning in arguments.warnings(&outcome)? {
        terminal.warn(&warning);
    }
    Ok(())
}
