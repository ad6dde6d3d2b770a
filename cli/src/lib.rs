//! The `simgpu` command as a library, so that other packages can ship the same command, and offer its runs over files
//! under their own names. Arguments are resolved here, once; nothing below sees a flag.
//!
//! `arguments` and `outputs` resolve flags into working values, and `options` refuses those that cannot act. Each file
//! of `commands` is a subcommand; `execute` of the arguments of `dedup`, `pairs` and `sign` is what the Python package runs,
//! too: it fills the same arguments from keywords, so that options and defaults cannot differ. `terminal` writes to
//! stderr; stdout is data. `parameters` spells the library's parameters as flags.

pub mod arguments;

pub mod commands;

pub mod environment;

pub mod options;

pub mod outputs;

mod stop;

mod streams;

mod terminal;

mod threads;

use std::ffi::OsString;
use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use arguments::cores;
use commands::{
    compare, completions, contain, dedup, evaluate, index, link, man, pairs, passages, ratings,
    selftest, show, sign, tune,
};
use options::Given;
use simgpu::error::with_flags;
pub use terminal::Lines;
use terminal::print_error;
use threads::on_threads;

/// What the help of the program says of exit codes.
const EXIT_CODES: &str = "\
Exit codes: 0 on success, 1 after a failure, 2 for wrong usage, 3 if pairs ended at --max-pairs, 129, 130 or 143 after \
a signal. Warnings go to stderr, also with --quiet.";

/// The version of the program, and the profile with which it is built.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("SIMGPU_PROFILE"),
    " profile)"
);

/// Find near-duplicate documents by MinHash and LSH
#[derive(Debug, Parser)]
#[command(
    name = "simgpu",
    version,
    long_version = LONG_VERSION,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = EXIT_CODES
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Dedup(dedup::DedupArguments),
    Pairs(pairs::PairsArguments),
    Sign(sign::SignArguments),
    Ratings(Box<ratings::RatingsArguments>),
    Link(link::LinkArguments),
    Passages(passages::PassagesArguments),
    Contain(contain::ContainArguments),
    Index(index::IndexArguments),
    Evaluate(evaluate::EvaluateArguments),
    Show(show::ShowArguments),
    #[cfg(feature = "bench")]
    Bench(commands::bench::BenchArguments),
    Tune(tune::TuneArguments),
    Compare(compare::CompareArguments),
    #[cfg(feature = "gpu")]
    Devices(commands::devices::DevicesArguments),
    Selftest(selftest::SelftestArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
}

/// Wrong usage that clap does not detect: arguments that conflict, or unknown names.
#[derive(Debug)]
pub struct Usage(String);

impl Usage {
    /// The message, with parameters in back quotes ([`simgpu::error::spell`]).
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&with_flags(&self.0))
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
struct Incomplete(String);

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&with_flags(&self.0))
    }
}

impl std::error::Error for Incomplete {}

/// Turns an error of the library about parameters into a usage error.
fn usage(error: simgpu::Error) -> anyhow::Error {
    Usage::error(&error.to_string())
}

/// Runs the command with these arguments, of which the first is its name, and returns the exit code of the process: 2
/// for usage, 3 for an incomplete result, 129, 130 or 143 for a signal, 1 for every other failure.
///
/// Call it from a process that runs nothing else: the command listens for signals, prints, and reads stdin.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let lossy = |argument: &OsString| argument.to_string_lossy().into_owned();
    let command: Vec<String> = arguments.iter().map(lossy).collect();
    let ran = match Cli::command().try_get_matches_from(arguments) {
        Ok(matches) => run(&matches, &command),
        Err(error) => return print_parsing(&with_owners(error)),
    };
    // Nothing else flushes stdout if the process is not a Rust program.
    match ran.and_then(|()| Ok(streams::print("")?)) {
        Ok(()) => 0,
        Err(error) => fail(&error),
    }
}

/// The error, with the commands that have an option in place of a guess at another option.
fn with_owners(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let has_option = |command: &&clap::Command| {
        let mut names = command.get_arguments().filter_map(clap::Arg::get_long);
        names.any(|name| option.strip_prefix("--") == Some(name))
    };
    let command = Cli::command();
    let commands = options::commands(&command).into_iter();
    let owners = commands.filter(|(_, command)| has_option(command));
    let owners: Vec<_> = owners.map(|(name, _)| name).collect();
    if error.kind() == ErrorKind::UnknownArgument && !owners.is_empty() {
        let tip = format!("'{option}' is an option of simgpu {}", owners.join(", "));
        // The usage names the guess, too.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// Prints help, version, or wrong usage.
fn print_parsing(error: &clap::Error) -> u8 {
    // There is nowhere left to report a failure to.
    let _ = error.print();
    let _ = std::io::stdout().flush();
    u8::try_from(error.exit_code()).unwrap_or(1)
}

/// Runs the command that [`Cli`] matched. `command` is the command line, for `run.json`.
///
/// # Errors
/// A usage error, or any failure of the command.
pub fn run(matches: &ArgMatches, command: &[String]) -> anyhow::Result<()> {
    let given = &Given::of(matches);
    match Cli::from_arg_matches(matches)?.command {
        Command::Dedup(arguments) => dedup::run(&arguments, given, command),
        Command::Pairs(arguments) => pairs::run(&arguments, given, command),
        Command::Sign(arguments) => sign::run(&arguments, given, command),
        Command::Ratings(arguments) => ratings::run(&arguments, given, command),
        Command::Link(arguments) => link::run(&arguments, given, command),
        Command::Passages(arguments) => passages::run(&arguments, given, command),
        Command::Contain(arguments) => contain::run(&arguments, given, command),
        Command::Index(arguments) => index::run(&arguments, given, command),
        Command::Evaluate(arguments) => evaluate::run(&arguments, given, command),
        Command::Show(arguments) => show::run(&arguments),
        #[cfg(feature = "bench")]
        Command::Bench(arguments) => {
            threads::start_threads(cores())?;
            commands::bench::run(&arguments, given, command)
        }
        Command::Tune(arguments) => on_threads(cores(), || tune::run(&arguments, given))?,
        Command::Compare(arguments) => on_threads(cores(), || compare::run(&arguments, given))?,
        #[cfg(feature = "gpu")]
        Command::Devices(arguments) => commands::devices::run(&arguments),
        Command::Selftest(arguments) => on_threads(cores(), || selftest::run(&arguments, given))?,
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    }
}

/// Prints the error and returns the exit code. A closed pipe on stdout is no error.
fn fail(error: &anyhow::Error) -> u8 {
    if is_broken_pipe(error) {
        return 0;
    }
    let library_error = error.downcast_ref::<simgpu::Error>();
    let (ended_by, remedy) = match library_error {
        Some(simgpu::Error::Resumable { error, .. }) => {
            (Some(&**error), "; run the same command again to go on")
        }
        other => (other, ""),
    };
    if let (Some(simgpu::Error::Stopped), Some(signal)) = (ended_by, stop::signal()) {
        print_error(&format!(
            "simgpu: stopped by {signal} before the run was complete{remedy}"
        ));
        return signal.exit_code();
    }
    match library_error {
        Some(error) => print_error(&format!("simgpu: {}", with_flags(&error.to_string()))),
        None => print_error(&format!("simgpu: {error:#}")),
    }
    let is_parameter = matches!(library_error, Some(simgpu::Error::Parameter { .. }));
    if is_parameter || error.is::<Usage>() {
        print_error("For more information, try '--help'.");
        2
    } else if error.is::<Incomplete>() {
        3
    } else {
        1
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
