//! The `simgpu` command as a library, so that other packages can ship the same command. Arguments are
//! resolved here, once; nothing below sees a flag.

mod arguments;

pub mod bench;

mod commands;

mod environment;

mod outputs;

mod parameters;

mod stop;

mod streams;

mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(feature = "gpu")]
use commands::devices;
use commands::{
    bench as bench_command, compare, completions, dedup, man, pairs, selftest, sign, tune,
};
use parameters::with_flags;

/// Find near-duplicate documents by MinHash and LSH
#[derive(Debug, Parser)]
#[command(
    name = "simgpu",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
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
    Completions(completions::Arguments),
    Man(man::Arguments),
}

/// Wrong usage that clap does not detect: arguments that conflict, or unknown names.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl Usage {
    /// A usage error with this message.
    fn error(text: &str) -> anyhow::Error {
        anyhow::Error::new(Usage(text.to_owned()))
    }
}

/// A search that ended at its maximum number of pairs. What it found was written.
#[derive(Debug)]
struct Incomplete {
    pairs: u64,
}

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "incomplete: the search ended at --max-pairs, after {} pairs; raise --max-pairs, raise --threshold, or pass --identical star",
            indicatif::HumanCount(self.pairs)
        )
    }
}

impl std::error::Error for Incomplete {}

/// Turns an error of the library about parameters into a usage error.
fn usage(error: simgpu::Error) -> anyhow::Error {
    Usage::error(&with_flags(&error.to_string()))
}

/// Runs the command.
///
/// # Errors
/// A usage error, or any failure of the command; [`fail`] prints it.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Dedup(arguments) => dedup::run(&arguments),
        Command::Pairs(arguments) => pairs::run(&arguments),
        Command::Sign(arguments) => sign::run(&arguments),
        Command::Bench(arguments) => bench_command::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        #[cfg(feature = "gpu")]
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Selftest(arguments) => selftest::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    }
}

/// Prints the error and returns the exit code: 2 for usage, 3 for an incomplete result, 130 or 143 for a signal, 1 for
/// everything else.
/// A closed pipe on stdout is no error.
#[allow(clippy::print_stderr, reason = "stderr is where errors go")]
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let library_error = error.downcast_ref::<simgpu::Error>();
    if let (Some(simgpu::Error::Stopped), Some(signal)) = (library_error, stop::signal()) {
        eprintln!("simgpu: stopped by {signal} before the run was complete");
        return ExitCode::from(signal.exit_code());
    }
    match library_error {
        Some(error) => eprintln!("simgpu: {}", with_flags(&error.to_string())),
        None => eprintln!("simgpu: {error:#}"),
    }
    if error.is::<Usage>() {
        eprintln!("For more information, try '--help'.");
        ExitCode::from(2)
    } else if error.is::<Incomplete>() {
        ExitCode::from(3)
    } else {
        ExitCode::FAILURE
    }
}

/// Whether the reader of stdout closed the pipe.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| match cause.downcast_ref() {
        Some(simgpu::Error::Io { cause, .. }) => is_broken(cause),
        _ => cause.downcast_ref().is_some_and(is_broken),
    })
}
