//! `simgpu completions`.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::Cli;
use crate::streams::print;

/// Print the completions of a shell
///
/// Write them where the shell looks for them, for example:
///
/// simgpu completions bash > ~/.local/share/bash-completion/completions/simgpu
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments) -> anyhow::Result<()> {
    // `generate` panics if a write fails, so it writes to memory.
    let mut script = Vec::new();
    generate(arguments.shell, &mut Cli::command(), "simgpu", &mut script);
    Ok(print(&script)?)
}
