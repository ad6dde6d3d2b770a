//! The command that repeats a run.

use maud::{Markup, html};

use super::visible::name;
use simgpu_base::encoding::quoted;

/// An option of the command and its value.
#[doc(hidden)]
pub type Choice = (&'static str, String);

/// A command with its options, and a table of them and of others that follow from the inputs.
#[doc(hidden)]
pub fn command(start: &str, choices: &[Choice], stated: &[Choice]) -> Markup {
    html! {
        p.command { code { "simgpu " (start) @for (option, value) in choices { " " (argument(option, value)) } } }
        div.scroll { table { tbody {
            @for (option, value) in choices.iter().chain(stated) { tr { th { (option.trim_start_matches('-')) } td.long { (name(value)) } } }
        } } }
    }
}

/// An option as it is passed to a shell.
fn argument(option: &str, value: &str) -> String {
    match value {
        "" => option.to_owned(),
        value => format!("{option} {}", quoted(value)),
    }
}

/// One option for each of the fields that a parameter joins.
#[doc(hidden)]
pub fn push_fields(option: &'static str, joined: &str, choices: &mut Vec<Choice>) {
    let fields = joined.split(", ");
    choices.extend(fields.map(|field| (option, field.to_owned())));
}

/// Options without a value, as far as they are set.
#[doc(hidden)]
pub fn push_flags(flags: &[(&'static str, bool)], choices: &mut Vec<Choice>) {
    let set = flags.iter().filter(|(_, is_set)| *is_set);
    choices.extend(set.map(|(flag, _)| (*flag, String::new())));
}
