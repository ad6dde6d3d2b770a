//! `simgpu index build`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simgpu::pipeline::Measure;
use simgpu::scheme::Scheme;
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu_files::{IndexOutcome, Run, SignatureFile, SignatureRun};

use super::add::OnKnownIdArgument;
use super::{FolderArguments, check_weights, summarise_added, summarise_index, summarise_time};
use crate::arguments::{
    BandingArguments, Caller, InputArguments, RunArguments, memory_size, modes_of_files,
};
use crate::commands::execute;
use crate::options::{Given, Mode};
use crate::outputs::ReportArgument;
use crate::streams::print;
use crate::{Usage, terminal};

/// Build an index of documents
///
/// With --kind lsh it finds documents of at least the threshold that share a band, with --kind exact all of them: what pairs
/// --against finds with --candidates lsh and join. The id of a document is that of its record; if the first record has none, all
/// ids are FILE:ROW. The input /dev/null makes an empty index.
#[derive(Args, Debug)]
#[command(mut_arg("inputs", |inputs| inputs.required(false)))]
#[command(mut_arg("weights", |weights| weights.hide(true)))]
#[command(mut_arg("weights_field", |weights| weights.hide(true)))]
#[command(mut_arg("weight_scale", |weights| weights.hide(true)))]
pub(super) struct IndexBuildArguments {
    /// The input.
    #[command(flatten)]
    input: InputArguments,

    /// Read signatures written by `simgpu sign` instead of documents: .parquet, or .npy with its .npy.json; their scheme and
    /// shingles are those of the index
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    signatures: Option<PathBuf>,

    /// The index: a folder that does not exist or is empty.
    #[command(flatten)]
    folder: FolderArguments,

    /// How documents are found
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        default_value = "lsh",
        help_heading = "Search"
    )]
    kind: KindArgument,

    /// How similar two documents are; needs --kind exact [default: jaccard]
    #[arg(long, value_enum, value_name = "MEASURE", help_heading = "Search")]
    measure: Option<IndexMeasureArgument>,

    /// What the index finds.
    #[command(flatten)]
    banding: BandingArguments,

    /// How to verify, and so what the index keeps of a document; --kind exact is always exact
    #[arg(
        long,
        value_enum,
        value_name = "METHOD",
        default_value = "signature",
        help_heading = "Search"
    )]
    verify: IndexVerifyArgument,

    /// What happens to a document whose id an earlier one has
    #[arg(long, value_enum, value_name = "ACTION", default_value = "fail")]
    on_known_id: OnKnownIdArgument,

    /// Memory to work in, such as 1GiB, with another 256 MiB for a cache; a record that takes more than a quarter is an
    /// error [default: 128MiB, and records of any size that fits]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Machine")]
    memory: Option<u64>,

    /// Folder for temporary files, some 400 bytes per document [default: the folder of the index]
    #[arg(long, value_name = "DIR", value_parser = crate::arguments::local_folder, help_heading = "Machine")]
    temp_dir: Option<PathBuf>,

    /// Start over where a build in the same folder was stopped [default: resume from its last checkpoint]
    #[arg(long, help_heading = "Machine")]
    restart: bool,

    /// Print the counts to stdout
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    report: Option<ReportArgument>,

    /// How to sign, and with how much of the machine.
    #[command(flatten)]
    run: RunArguments,
}

/// The value of `--kind`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum KindArgument {
    /// By bands of signatures: of any length and number, and misses some
    Lsh,
    /// By shingles, without signatures: misses none; for texts of up to some hundred shingles
    Exact,
}

/// The value of `--measure`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum IndexMeasureArgument {
    /// Share of the shingles of either document that both have
    Jaccard,
    /// Share of the shingles of the smaller document that the larger has; hits have the shares of both
    Contained,
}

/// The value of `--verify`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum IndexVerifyArgument {
    /// Estimate the similarity from signatures of 8 bits per slot
    Signature,
    /// Compute it from the shingles, of 8 bytes each
    Exact,
}

/// Bytes of memory that a build from signatures works in, unless told otherwise.
const MEMORY: u64 = 128 << 20;

impl IndexBuildArguments {
    fn search(&self, scheme: &Scheme) -> anyhow::Result<Search> {
        let measure = match self.measure {
            Some(IndexMeasureArgument::Contained) => Measure::Contained,
            Some(IndexMeasureArgument::Jaccard) | None => Measure::Jaccard,
        };
        let (threshold, banding) = self.banding.resolve(scheme, measure)?;
        let (candidates, verification) = match (self.kind, self.verify) {
            (KindArgument::Lsh, IndexVerifyArgument::Signature) => {
                (CandidateMethod::Lsh, Verification::Signature)
            }
            (KindArgument::Lsh, IndexVerifyArgument::Exact) => {
                (CandidateMethod::Lsh, Verification::Exact)
            }
            (KindArgument::Exact, _) => (CandidateMethod::Join, Verification::Exact),
        };
        Ok(Search {
            measure,
            candidates,
            ..Search::through_lsh(threshold, banding, verification)
        })
    }

    fn execute_on_signatures(
        &self,
        signatures: &Path,
        caller: &Caller<'_>,
    ) -> anyhow::Result<IndexOutcome> {
        caller.given.check(&[Mode::Signatures])?;
        if let IndexVerifyArgument::Exact = self.verify {
            return Err(Usage::error(
                "`verify=exact` needs documents; pass them as INPUT instead of --signatures, or use `verify=signature`",
            ));
        }
        let signatures = SignatureFile::open(signatures)?;
        let search = self.search(signatures.scheme())?;
        terminal::announce_signatures(caller.progress, &signatures, &search);
        let run = SignatureRun {
            options: caller.options(),
            on_known_id: self.on_known_id.resolve(),
            ..SignatureRun::new(signatures)
        };
        let memory = usize::try_from(self.memory.unwrap_or(MEMORY))
            .map_err(|_| Usage::error("`memory` is more than a process can address"))?;
        let temporary = self.temp_dir.as_deref();
        Ok(run.build_index(&self.folder.index, &search, memory, temporary)?)
    }

    fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<IndexOutcome> {
        if let Some(signatures) = &self.signatures {
            return self.execute_on_signatures(signatures, caller);
        }
        if self.input.inputs.is_empty() {
            return Err(Usage::error(
                "no input; pass documents as INPUT, /dev/null for an empty index, or --signatures FILE",
            ));
        }
        check_weights(&self.input)?;
        let given = caller.given;
        let kind = match self.kind {
            KindArgument::Lsh => Mode::LshIndex,
            KindArgument::Exact => Mode::ExactIndex,
        };
        given.check(&[kind])?;
        given.check(&[self.run.sign.modes()?, self.input.modes()].concat())?;
        let mut settings = self.run.resolve(&self.input, None, None)?;
        let search = self.search(settings.engine.scheme())?;
        let inputs = self.input.find_or_none(&settings.engine)?;
        given.check(&modes_of_files(&inputs))?;
        match self.kind {
            KindArgument::Lsh => {
                settings.choose_hardware(&inputs)?;
                terminal::announce(caller.progress, &settings.engine, None);
            }
            KindArgument::Exact => {
                terminal::announce(caller.progress, &settings.engine, Some(&search));
            }
        }
        let run = Run {
            restart: self.restart,
            memory: self.memory,
            on_known_id: self.on_known_id.resolve(),
            temporary: self.temp_dir.clone(),
            ..settings.over(&self.input, &inputs, caller.options())
        };
        Ok(run.build_index(&self.folder.index, &search)?)
    }
}

pub(super) fn run(
    arguments: &IndexBuildArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.run.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    if arguments.report.is_some() {
        print(outcome.to_json())?;
    }
    let mut lines = super::summary(&outcome);
    summarise_added(&mut lines, &outcome);
    summarise_time(&mut lines, &outcome);
    summarise_index(&mut lines, &arguments.folder.index);
    terminal.summary(&lines);
    Ok(())
}
