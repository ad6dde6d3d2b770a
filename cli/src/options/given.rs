//! Options that a call gave, and the check that each can act.

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};

use super::mode::Mode;
use super::table::{commands, row_of};
use crate::{Cli, Usage};

/// The options that a call gives, by name.
#[derive(Clone, Debug, Default)]
pub struct Given {
    command: String,
    options: Vec<String>,
}

impl Given {
    /// These options of a command.
    pub fn new(command: &str, options: impl IntoIterator<Item = String>) -> Self {
        Given {
            command: command.to_owned(),
            options: options.into_iter().collect(),
        }
    }

    /// The options on the command line, in the order of the help.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let all = Cli::command();
        let commands = commands(&all);
        let (mut name, mut matches) = (String::new(), matches);
        let command = loop {
            let Some((word, inner)) = matches.subcommand() else {
                return Given::default();
            };
            name = format!("{name} {word}").trim_start().to_owned();
            matches = inner;
            if let Some((_, command)) = commands.iter().find(|(it, _)| *it == name) {
                break command;
            }
        };
        let options = command.get_arguments();
        let is_given = |option: &&clap::Arg| {
            matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
        };
        Given::new(&name, options.filter(is_given).filter_map(parameter))
    }

    /// Whether one of these options is given.
    pub(crate) fn has_any(&self, options: &[&str]) -> bool {
        self.options.iter().any(|given| options.contains(&&**given))
    }

    /// Refuses options that cannot act in one of these modes.
    ///
    /// # Errors
    /// A usage error that names all options which the first such mode leaves idle.
    pub fn check(&self, modes: &[Mode]) -> anyhow::Result<()> {
        for mode in modes {
            let is_idle = |option: &&String| {
                row_of(&self.command, option).is_some_and(|row| row.idle_in.contains(mode))
            };
            let idle: Vec<_> = self.options.iter().filter(is_idle).collect();
            if !idle.is_empty() {
                return Err(Usage::error(&mode.refusal(&idle)));
            }
        }
        Ok(())
    }
}

/// The name of an option as a parameter: `batch_mib` for `--batch-mib`.
pub fn parameter(option: &clap::Arg) -> Option<String> {
    option.get_long().map(|long| long.replace('-', "_"))
}
