//! `simgpu sign`.

use std::path::PathBuf;

use clap::Args;
use simgpu::error::Conflict;
use simgpu_files::{Outcome, RunOptions};
use simgpu_io::SignaturesFormat;

use super::execute;
use crate::arguments::{
    Caller, InputArguments, RecordMemoryArguments, RunArguments, modes_of_files,
};
use crate::options::Given;
use crate::outputs::summarise_limit;
use crate::terminal::Lines;
use crate::{terminal, usage};

/// Compute the MinHash signature of every document
///
/// Writes one row per document, in the order of the inputs. The ending of the output selects the format:
///
/// .parquet: a table of ids and signatures, with the parameters in its metadata.
///
/// .npy: a matrix of shape (documents, num_perm) without ids, with the parameters in .npy.json beside it.
#[derive(Args, Debug)]
#[command(mut_arg("weights", |weights| weights.hide(true)))]
pub struct SignArguments {
    /// The input.
    #[command(flatten)]
    pub input: InputArguments,

    /// File for the signatures; its ending selects the format: .parquet or .npy
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    pub overwrite: bool,

    /// How to sign, and with how much of the machine.
    #[command(flatten)]
    pub run: RunArguments,

    /// The memory for one record.
    #[command(flatten)]
    pub memory: RecordMemoryArguments,
}

impl SignArguments {
    /// Signs, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`Run::sign`](simgpu_files::Run::sign).
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<Outcome> {
        if self.input.weights.is_some() {
            return Err(usage(Conflict::RarityOfRun.into()));
        }
        let given = caller.given;
        given.check(&[self.run.sign.modes()?, self.input.modes()].concat())?;
        let mut settings = self.run.resolve(&self.input, None, None)?;
        SignaturesFormat::of_path(&self.output).map_err(usage)?;
        let inputs = self.input.find(&settings.engine)?;
        given.check(&modes_of_files(&inputs))?;
        settings.choose_hardware(&inputs)?;
        terminal::announce(caller.progress, &settings.engine, None);
        let options = RunOptions {
            overwrite: self.overwrite,
            ..caller.options()
        };
        let run = self
            .memory
            .set(settings.over(&self.input, &inputs, options));
        Ok(run.sign(&self.output)?)
    }

    /// The lines of the summary.
    pub fn summary(&self, outcome: &Outcome) -> Lines {
        let mut lines = Lines::default();
        terminal::documents(&mut lines, &outcome.report);
        summarise_limit(&mut lines, outcome);
        terminal::times(&mut lines, outcome);
        lines.row("written to", self.output.display().to_string());
        lines
    }
}

pub(crate) fn run(
    arguments: &SignArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.run.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    terminal.summary(&arguments.summary(&outcome));
    Ok(())
}
