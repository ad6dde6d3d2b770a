//! `simgpu pairs`.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simgpu::pipeline::Within;
use simgpu::scheme::Scheme;
use simgpu::search::{Identical, Pairs, Search, Verification};
use simgpu_files::{Outcome, PairsOutput, Run, SignatureFile, SignatureRun};
use simgpu_io::PairsFormat;

use super::execute;
use crate::arguments::{
    AgainstArguments, Caller, DistanceArgument, HoldArguments, InputArguments, RunArguments,
    SearchArguments, SigningArguments, modes_of_files, modes_of_method, modes_of_search,
    requested_distance, whole_number, whole_number_or_0,
};
use crate::options::{Given, Mode};
use crate::outputs::{Destination, OutputArguments, summarise_limit};
use crate::terminal::{Lines, counted};
use crate::{Incomplete, Usage, terminal, usage};

/// Find all pairs of near-duplicates, with their similarity
///
/// Writes one record per pair, in the order of the inputs: id_a, id_b, similarity (or distance), file_a, row_a,
/// file_b, row_b. Rows count from 0 in each file. Identical documents are ordered as if each were the first of them.
#[derive(Args, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required(false)))]
pub struct PairsArguments {
    /// The input.
    #[command(flatten)]
    pub input: InputArguments,

    /// What the input is compared with.
    #[command(flatten)]
    pub against: AgainstArguments,

    /// Read signatures written by `simgpu sign` instead of documents: .parquet, or .npy with its .npy.json;
    /// documents with equal signatures count as identical
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    pub signatures: Option<PathBuf>,

    /// Which pairs to find, and where they go.
    #[command(flatten)]
    pub pairs: PairSearchArguments,

    /// How to sign, and with how much of the machine.
    #[command(flatten)]
    pub run: RunArguments,

    /// How much input to hold in memory.
    #[command(flatten)]
    pub hold: HoldArguments,

    /// Whether to show the pairs.
    #[command(flatten)]
    pub page: PageArguments,
}

/// Whether to show the pairs on a page.
#[derive(Args, Debug)]
pub struct PageArguments {
    /// Write a page that shows the pairs, with texts of some, beside their file: FILE.report.html; reads those texts again
    #[arg(long, help_heading = "Output")]
    pub page: bool,

    /// Show no texts on the page, which then names documents alone
    #[arg(long, help_heading = "Output")]
    pub no_samples: bool,
}

impl PageArguments {
    /// The modes that they lead to.
    fn modes(&self) -> &'static [Mode] {
        if self.page { &[] } else { &[Mode::NoPage] }
    }
}

/// Which pairs to find, and where they go: in documents, or in signatures.
#[derive(Args, Debug)]
pub struct PairSearchArguments {
    /// File for the pairs; its ending selects the format: .jsonl, .csv or .parquet; .jsonl and .csv can be
    /// compressed: .jsonl.zst, .csv.gz; - writes JSON Lines to stdout
    #[arg(long, short, value_name = "FILE", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// What to write.
    #[command(flatten)]
    pub outputs: OutputArguments,

    /// Which pairs to search for.
    #[command(flatten)]
    pub search: SearchArguments,

    /// Search by distance instead of similarity, by an exact join, which misses no pair; needs --unit tokens and
    /// --within
    #[arg(
        long,
        value_enum,
        value_name = "DISTANCE",
        requires = "within",
        help_heading = "Search"
    )]
    pub distance: Option<DistanceArgument>,

    /// Greatest distance of a pair, a whole number; needs --distance
    #[arg(
        long,
        value_name = "D",
        value_parser = whole_number_or_0::<u64>,
        allow_negative_numbers = true,
        requires = "distance",
        help_heading = "Search"
    )]
    pub within: Option<u64>,

    /// Which pairs to write.
    #[command(flatten)]
    pub written: WrittenArguments,
}

/// Which of the similar pairs to write.
#[derive(Args, Debug)]
pub struct WrittenArguments {
    /// Which pairs of identical documents to write
    #[arg(
        long,
        value_enum,
        value_name = "PAIRS",
        default_value = "all",
        help_heading = "Search"
    )]
    pub identical: IdenticalArgument,

    /// Stop after this many pairs, with exit code 3
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroU64>,
        default_value = "1000000000",
        help_heading = "Search"
    )]
    pub max_pairs: NonZeroU64,
}

impl WrittenArguments {
    /// A search for pairs.
    pub fn task(&self, search: Search) -> Pairs {
        Pairs {
            search,
            identical: match self.identical {
                IdenticalArgument::All => Identical::All,
                IdenticalArgument::Star => Identical::Star,
            },
            max_pairs: self.max_pairs.get(),
        }
    }
}

/// The value of `--identical`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum IdenticalArgument {
    /// All of them; identical documents also have the same partners
    All,
    /// Each identical document with the first of them; only this first one has other partners
    Star,
}

impl PairSearchArguments {
    /// Where the pairs go. Refuses a file whose ending is no format.
    fn destination(&self) -> anyhow::Result<Destination<'_>> {
        let destination = self.outputs.destination(self.output.as_ref())?;
        if let Destination::Path(path) = destination {
            PairsFormat::of_path(path).map_err(usage)?;
        }
        Ok(destination)
    }

    /// The distance to search by.
    fn within(&self) -> anyhow::Result<Option<Within>> {
        requested_distance(self.distance, self.within)
    }

    fn task(&self, scheme: &Scheme, sign: Option<&SigningArguments>) -> anyhow::Result<Pairs> {
        let search = self.search.resolve(scheme, sign, self.within()?)?;
        Ok(self.written.task(search))
    }

    /// Finds the pairs of signatures in a file, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`SignatureRun::pairs`].
    pub fn execute_on_signatures(
        &self,
        signatures: &Path,
        caller: &Caller<'_>,
    ) -> anyhow::Result<Outcome> {
        let destination = self.destination()?;
        caller.given.check(&[Mode::Signatures])?;
        caller.given.check(destination.modes())?;
        let signatures = SignatureFile::open(signatures)?;
        let task = self.task(signatures.scheme(), None)?;
        if task.search.verification == Verification::Exact {
            return Err(Usage::error(
                "`verify=exact` needs documents; pass them as INPUT instead of --signatures, or use `verify=signature`",
            ));
        }
        terminal::announce_signatures(caller.progress, &signatures, &task.search);
        let run = SignatureRun {
            options: self.outputs.options(caller),
            ..SignatureRun::new(signatures)
        };
        Ok(with_output(destination, |output| run.pairs(&task, output))?)
    }

    /// The lines of the summary.
    ///
    /// # Errors
    /// Those of the output's name.
    pub fn summary(&self, outcome: &Outcome) -> anyhow::Result<Lines> {
        let mut lines = Lines::default();
        terminal::documents(&mut lines, &outcome.report);
        summarise_limit(&mut lines, outcome);
        terminal::comparisons(&mut lines, outcome);
        terminal::times(&mut lines, outcome);
        self.destination()?.summarise(&mut lines);
        Ok(lines)
    }
}

impl PairsArguments {
    /// Finds pairs, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`Run::pairs`](simgpu_files::Run::pairs)
    /// and [`SignatureRun::pairs`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        match &self.signatures {
            Some(signatures) => self.pairs.execute_on_signatures(signatures, caller),
            None => self.execute_on_documents(caller),
        }
    }

    fn execute_on_documents(&self, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        let destination = self.pairs.destination()?;
        let references = self.against.resolve()?;
        references.check_no_index("find the pairs with `simgpu index query`")?;
        if self.input.inputs.is_empty() {
            return Err(Usage::error(
                "no input; pass documents as INPUT, or --signatures FILE",
            ));
        }
        let within = self.pairs.within()?;
        let distance = within.map(|within| within.distance);
        let given = caller.given;
        // First: what a join has no use for need not be valid.
        given.check(modes_of_method(self.pairs.search.candidates, within))?;
        let task = self
            .pairs
            .task(&self.run.sign.scheme()?, Some(&self.run.sign))?;
        let sign = self.run.sign.modes()?;
        let input = references.modes(&self.input);
        let page = self.page.modes();
        given.check(&[&sign, &*input, destination.modes(), page].concat())?;
        if task.search.verification != Verification::Exact {
            given.check(&[Mode::ReadOnce])?;
        }
        let mut settings = self.run.resolve(&self.input, distance, None)?;
        given.check(modes_of_search(&task.search, &settings.engine)?)?;
        let inputs = self.input.find(&settings.engine)?;
        given.check(&modes_of_files(&inputs))?;
        let reference = references.find(&self.input, &settings.engine)?;
        settings.choose_hardware(&inputs)?;
        terminal::announce(caller.progress, &settings.engine, Some(&task.search));
        let options = self.pairs.outputs.options(caller);
        let run = self.hold.set(settings.over(&self.input, &inputs, options));
        let run = Run {
            page: self.page.page,
            samples: !self.page.no_samples,
            ..run
        };
        let engine = &settings.engine;
        let run = (self.against).set(run, reference.as_ref(), &self.input, engine);
        Ok(with_output(destination, |output| run.pairs(&task, output))?)
    }
}

pub(crate) fn run(
    arguments: &PairsArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.run.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    let pairs = &arguments.pairs;
    pairs
        .outputs
        .shown
        .print_report(|bytes| outcome.report.write_json(bytes))?;
    terminal.summary(&pairs.summary(&outcome)?);
    match incomplete(&outcome) {
        Some(message) => Err(anyhow::Error::new(Incomplete(message))),
        None => Ok(()),
    }
}

/// What is wrong if the search ended before all pairs were written.
fn incomplete(outcome: &Outcome) -> Option<String> {
    let search = outcome.report.parameters.search.as_ref();
    let fewer = match search.and_then(|search| search.within) {
        None => "raise `threshold`",
        Some(_) => "lower `within`",
    };
    (outcome.report.complete == Some(false)).then(|| {
        format!(
            "incomplete: the search ended at `max_pairs`, after {}; raise `max_pairs`, {fewer}, or pass `identical=star`",
            counted(outcome.report.counts.similar_pairs, "pair")
        )
    })
}

/// Runs with the output for this destination.
pub(super) fn with_output<T>(
    destination: Destination<'_>,
    run: impl FnOnce(PairsOutput<'_>) -> simgpu::Result<T>,
) -> simgpu::Result<T> {
    let temporary = &std::env::temp_dir();
    match destination {
        Destination::Path(path) => run(PairsOutput::File(path)),
        Destination::Stdout => run(PairsOutput::Stream {
            target: &mut std::io::stdout(),
            temporary,
        }),
        Destination::Nowhere => run(PairsOutput::Nowhere { temporary }),
    }
}
