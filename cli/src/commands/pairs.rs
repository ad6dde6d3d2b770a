//! `simgpu pairs`.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use simgpu::io::PairsFormat;
use simgpu::jobs::{
    Identical, Outcome, Pairs, PairsOutput, SignatureFile, SignatureRun, Verification,
};
use simgpu::scheme::Scheme;

use crate::arguments::{
    Caller, HoldArguments, InputArguments, RunArguments, SearchArguments, on_threads,
};
use crate::outputs::{Destination, OutputArguments, summarise_limit};
use crate::terminal::Lines;
use crate::{Incomplete, Usage, stop, terminal, usage};

/// Arguments that signatures already fix, or that concern documents only.
const DOCUMENT_ARGUMENTS: [&str; 26] = [
    "inputs",
    "format",
    "text_field",
    "tokens_field",
    "id_field",
    "unique_ids",
    "on_bad_record",
    "limit",
    "include",
    "exclude",
    "unit",
    "size",
    "stop_words",
    "lowercase",
    "strip_punctuation",
    "keep_whitespace",
    "count",
    "weights_field",
    "weight_scale",
    "scheme",
    "hash",
    "num_perm",
    "seed",
    "backend",
    "isa",
    "batch_mib",
];

/// Find all pairs of near-duplicates, with their similarity
///
/// Writes one record per pair, in the order of the inputs: id_a, id_b, similarity, file_a, row_a, file_b,
/// row_b. Rows count from 0 in each file.
#[derive(Args, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required(false)))]
pub struct Arguments {
    /// The input.
    #[command(flatten)]
    pub input: InputArguments,

    /// Read signatures written by `simgpu sign` instead of documents: .parquet, or .npy with its .npy.json;
    /// documents with equal signatures count as identical
    #[arg(long, value_name = "FILE", conflicts_with_all = DOCUMENT_ARGUMENTS)]
    pub signatures: Option<PathBuf>,

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
        default_value = "1000000000",
        help_heading = "Search"
    )]
    pub max_pairs: NonZeroU64,

    /// How to sign, and with how much of the machine.
    #[command(flatten)]
    pub run: RunArguments,

    /// How much input to hold in memory.
    #[command(flatten)]
    pub hold: HoldArguments,
}

/// The value of `--identical`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum IdenticalArgument {
    /// All of them; identical documents also have the same partners
    All,
    /// Each identical document with the first of them; only this first one has other partners
    Star,
}

impl Arguments {
    /// Where the pairs go.
    fn destination(&self) -> anyhow::Result<Destination<'_>> {
        self.outputs.destination(self.output.as_ref())
    }

    fn task(&self, scheme: &Scheme, unless_given: Verification) -> anyhow::Result<Pairs> {
        let sign = self.signatures.is_none().then_some(&self.run.sign);
        Ok(Pairs {
            search: self.search.resolve(scheme, unless_given, sign)?,
            identical: match self.identical {
                IdenticalArgument::All => Identical::All,
                IdenticalArgument::Star => Identical::Star,
            },
            max_pairs: self.max_pairs.get(),
        })
    }

    /// Finds pairs, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`Run::pairs`](simgpu::jobs::Run::pairs)
    /// and [`SignatureRun::pairs`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        if let Destination::Path(path) = self.destination()? {
            PairsFormat::of_path(path).map_err(usage)?;
        }
        match &self.signatures {
            Some(signatures) => self.execute_on_signatures(signatures, caller),
            None => self.execute_on_documents(caller),
        }
    }

    fn execute_on_documents(&self, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        if self.input.inputs.is_empty() {
            return Err(Usage::error(
                "no input; pass documents as INPUT, or --signatures FILE",
            ));
        }
        let mut settings = self.run.resolve(&self.input)?;
        let task = self.task(settings.engine.scheme(), Verification::Exact)?;
        let inputs = self.input.find()?;
        settings.choose_hardware(&inputs)?;
        terminal::announce(caller.progress, &settings.engine, Some(&task.search));
        let mut run = settings
            .over(&self.input, &inputs, caller)
            .held_bytes(self.hold.held_bytes())
            .overwrite(self.outputs.overwrite);
        if let Some(level) = self.outputs.compression_level {
            run = run.compression_level(level);
        }
        let destination = self.destination()?;
        Ok(with_output(destination, |output| run.pairs(&task, output))?)
    }

    fn execute_on_signatures(
        &self,
        signatures: &Path,
        caller: &Caller<'_>,
    ) -> anyhow::Result<Outcome> {
        let signatures = SignatureFile::open(signatures)?;
        let task = self.task(signatures.scheme(), Verification::Signature)?;
        if task.search.verification == Verification::Exact {
            return Err(Usage::error(
                "`verify=exact` needs documents; pass them as INPUT instead of --signatures, or use `verify=signature`",
            ));
        }
        terminal::announce_signatures(caller.progress, &signatures, &task.search);
        let mut run = SignatureRun::new(signatures)
            .started(caller.start)
            .overwrite(self.outputs.overwrite)
            .progress(caller.progress);
        if let Some(level) = self.outputs.compression_level {
            run = run.compression_level(level);
        }
        let destination = self.destination()?;
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

pub(crate) fn run(arguments: &Arguments, command: &[String]) -> anyhow::Result<()> {
    stop::listen()?;
    let start = Instant::now();
    let terminal = arguments.run.terminal();
    let caller = Caller {
        progress: &terminal,
        command,
        start,
    };
    let outcome = on_threads(arguments.run.threads()?, || arguments.execute(&caller))?;
    arguments.outputs.print_report(&outcome)?;
    terminal.summary(&arguments.summary(&outcome)?);
    match incomplete(&outcome) {
        Some(message) => Err(anyhow::Error::new(Incomplete(message))),
        None => Ok(()),
    }
}

/// What is wrong if the search ended before all pairs were written.
fn incomplete(outcome: &Outcome) -> Option<String> {
    (outcome.report.complete == Some(false)).then(|| {
        format!(
            "incomplete: the search ended at `max_pairs`, after {} pairs; raise `max_pairs`, raise `threshold`, or pass `identical=star`",
            indicatif::HumanCount(outcome.report.counts.similar_pairs)
        )
    })
}

/// Runs with the output for this destination.
fn with_output<T>(
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
