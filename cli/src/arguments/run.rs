//! Settings of runs over files: their engine, memory and temporary files.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use simgpu::engine::{Engine, EngineBuilder};
use simgpu::pipeline::{Distance, Weighting};
use simgpu_files::{Run, RunOptions};
use simgpu_io::Inputs;

use super::inputs::InputArguments;
use super::numbers::{memory_size, whole_number};
use super::process::ProcessArguments;
use super::signing::{SigningArguments, WeightsArgument, open};
use crate::Usage;

/// How to compute signatures from documents, with how much of the machine.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// How to sign.
    #[command(flatten)]
    pub sign: SigningArguments,

    /// Maximum text that waits for earlier text, in MiB, in addition to 1 MiB per thread; never changes a result
    #[arg(
        long,
        value_name = "MIB",
        value_parser = whole_number::<NonZeroUsize>,
        default_value = "16",
        help_heading = "Machine"
    )]
    pub batch_mib: NonZeroUsize,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,
}

/// Settings of a run over files.
pub(crate) struct RunSettings {
    pub(crate) engine: Engine,
    /// Builds the engine again once the size of the inputs is known; `None` if the backend has a name.
    builder: Option<EngineBuilder>,
    batch_bytes: usize,
}

impl RunArguments {
    /// The settings of a run. `distance` is that of the search, if it goes by distance.
    pub(crate) fn resolve(
        &self,
        input: &InputArguments,
        distance: Option<Distance>,
        known: Option<&Engine>,
    ) -> anyhow::Result<RunSettings> {
        let weighting = weighting([
            ("distance", distance.map(Distance::weighting)),
            ("count", self.sign.counted()),
            ("weights_field", input.weight_scale()?.map(Weighting::Given)),
            ("weights", input.weights.map(WeightsArgument::weighting)),
        ])?;
        let mut builder = self.sign.builder(weighting)?;
        if let Some(known) = known {
            let shingler = known.shingler();
            builder = builder
                .shingling(shingler.shingling().clone())
                .scheme(known.scheme().clone())
                .hash(shingler.hash());
        }
        let engine = open(builder.clone().work_bytes(0))?;
        input.check_fields()?;
        Ok(RunSettings {
            engine,
            builder: self.sign.machine.is_auto().then_some(builder),
            batch_bytes: self.batch_bytes(),
        })
    }
}

/// How much a shingle weighs, by the one option that says so.
fn weighting<const N: usize>(options: [(&str, Option<Weighting>); N]) -> anyhow::Result<Weighting> {
    let mut named = options
        .into_iter()
        .filter_map(|(name, weighting)| Some((name, weighting?)));
    match (named.next(), named.next()) {
        (Some((first, _)), Some((second, _))) => Err(Usage::error(&format!(
            "`{first}` and `{second}` exclude each other; omit one of them"
        ))),
        (Some((_, weighting)), None) => Ok(weighting),
        (None, _) => Ok(Weighting::Equal),
    }
}

impl RunSettings {
    /// Lets `auto` choose the hardware for these inputs.
    pub(crate) fn choose_hardware(&mut self, inputs: &Inputs) -> anyhow::Result<()> {
        if let Some(builder) = self.builder.take() {
            self.engine = open(match inputs.text_bytes() {
                Some(bytes) => builder.work_bytes(bytes),
                None => builder,
            })?;
        }
        Ok(())
    }

    /// A run over inputs.
    pub(crate) fn over<'a>(
        &'a self,
        arguments: &InputArguments,
        inputs: &'a Inputs,
        options: RunOptions<'a>,
    ) -> Run<'a> {
        Run {
            batch_bytes: self.batch_bytes,
            ..arguments.over(&self.engine, inputs, options)
        }
    }
}

impl RunArguments {
    /// Sets what a run over inputs takes that signs nothing.
    pub(crate) fn set<'a>(&self, run: Run<'a>) -> Run<'a> {
        Run {
            batch_bytes: self.batch_bytes(),
            ..run
        }
    }

    fn batch_bytes(&self) -> usize {
        self.batch_mib.get().saturating_mul(1 << 20)
    }
}

/// How much to hold in memory. Separate from the search, so that help lists it with the other limits of the machine.
#[derive(Debug, Args)]
pub struct HoldArguments {
    /// Memory for what grows with the number of documents, such as 4GiB; a run that needs more spills to disk, in
    /// --temp-dir; never changes a result [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Machine")]
    pub memory: Option<u64>,

    /// Folder for temporary files [default: next to the results; for results on stdout, the system's]
    #[arg(long, value_name = "DIR", value_parser = local_folder, help_heading = "Machine")]
    pub temp_dir: Option<PathBuf>,

    /// Start over where a run with the same output was stopped [default: resume from its last checkpoint]
    #[arg(long, help_heading = "Machine")]
    pub restart: bool,

    /// Maximum decompressed input to hold in memory, in MiB; larger input is read twice; never changes a
    /// result
    #[arg(
        long,
        value_name = "MIB",
        default_value = "128",
        help_heading = "Machine"
    )]
    pub hold_mib: u32,
}

/// The memory for one record, of commands that hold no more of their input or all of it.
#[derive(Clone, Copy, Debug, Args)]
pub struct RecordMemoryArguments {
    /// Memory for the record that is read, such as 4GiB: a record that takes more than a quarter is an error; never changes
    /// a result [default: 60 % of the memory that this process may use]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, help_heading = "Machine")]
    pub memory: Option<u64>,
}

impl RecordMemoryArguments {
    /// Sets it for a run over documents.
    pub(crate) fn set<'a>(&self, run: Run<'a>) -> Run<'a> {
        Run {
            memory: self.memory,
            ..run
        }
    }
}

impl HoldArguments {
    /// Sets how much a run holds in memory, where the rest goes, and whether it resumes.
    pub(crate) fn set<'a>(&self, run: Run<'a>) -> Run<'a> {
        Run {
            held_bytes: u64::from(self.hold_mib) << 20,
            restart: self.restart,
            memory: self.memory,
            temporary: self.temp_dir.clone(),
            ..run
        }
    }
}

/// A folder of this machine.
pub(crate) fn local_folder(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match simgpu::error::local_folder(&path) {
        Some(remedy) => Err(remedy),
        None => Ok(path),
    }
}
