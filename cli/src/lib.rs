//! The `simgpu` command as a library, so that whatever ships the command ships this one. Arguments are
//! resolved here, once, and nothing below sees a flag.

mod arguments;

pub mod bench;

mod commands;

mod environment;

mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(feature = "gpu")]
use commands::devices;
use commands::{bench as bench_command, compare, dedup, pairs, selftest, sign, tune};

/// Finds near-duplicate documents, and more generally similar sets, by MinHash and LSH.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Dedup(dedup::Arguments),
    Pairs(pairs::Arguments),
    Sign(sign::Arguments),
    Bench(bench_command::Arguments),
    Tune(tune::Arguments),
    Compare(compare::Arguments),
    #[cfg(feature = "gpu")]
    Devices(devices::Arguments),
    Selftest(selftest::Arguments),
}

/// Arguments that do not go together, found after they were parsed one by one.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Turns an error about parameters into one about usage.
fn usage(error: simgpu::Error) -> anyhow::Error {
    anyhow::Error::new(Usage(error.to_string()))
}

/// Runs the command.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Dedup(arguments) => dedup::run(arguments),
        Command::Pairs(arguments) => pairs::run(arguments),
        Command::Sign(arguments) => sign::run(arguments),
        Command::Bench(arguments) => bench_command::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        #[cfg(feature = "gpu")]
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Selftest(arguments) => selftest::run(&arguments),
    }
}

/// Says what went wrong: exit code 2 for usage, 1 for everything else.
#[allow(clippy::print_stderr, reason = "stderr is where errors go")]
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    // The library's errors tell their causes themselves.
    if error.is::<simgpu::Error>() {
        eprintln!("simgpu: {error}");
    } else {
        eprintln!("simgpu: {error:#}");
    }
    if error.is::<Usage>() {
        eprintln!("For more information, try '--help'.");
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}

/// Whoever read our output has read enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
