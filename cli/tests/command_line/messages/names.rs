//! Messages name parameters that exist.

use std::cell::RefCell;
use std::path::Path;

use clap::CommandFactory;
use simgpu::error::spell;

#[test]
fn messages_name_existing_flags_and_values() {
    let command = simgpu_cli::Cli::command();
    let subcommands = simgpu_cli::options::commands(&command);
    let arguments = || {
        let commands = subcommands.iter();
        commands.flat_map(|(_, command)| command.get_arguments())
    };
    let mut found = 0;
    for message in messages_of_library() {
        for (name, value) in parameters_in(&message) {
            found += 1;
            // The command spells one name as a subcommand.
            if name == "selftest" && value.is_none() {
                assert!(subcommands.iter().any(|(command, _)| *command == name));
                continue;
            }
            // Deduplications that are divided among machines, and pages of those in memory, have no command here. How pairs with an
            // index are verified follows from other options.
            if ["component_mib", "data", "id", "index_verification"].contains(&&*name) {
                continue;
            }
            let flag = name.replace('_', "-");
            let mut arguments = arguments()
                .filter(|argument| argument.get_long() == Some(&flag))
                .peekable();
            assert!(arguments.peek().is_some(), "no --{flag}: {message}");
            // A value may follow only at run time: `unit={unit}`.
            let Some(value) = value.filter(|value| !value.contains('{')) else {
                continue;
            };
            let is_possible = arguments.any(|argument| {
                let values = argument.get_possible_values();
                values.is_empty() || values.iter().any(|possible| possible.get_name() == value)
            });
            assert!(is_possible, "no --{flag} {value}: {message}");
        }
    }
    assert!(found >= 8, "{found} parameters in all messages");
}

/// The parameters in back quotes, with their values.
fn parameters_in(message: &str) -> Vec<(String, Option<String>)> {
    let parameters = RefCell::new(Vec::new());
    spell(message, |name, value| {
        let parameter = (name.to_owned(), value.map(str::to_owned));
        parameters.borrow_mut().push(parameter);
        String::new()
    });
    parameters.into_inner()
}

/// Every string literal in the sources of the library, except documentation and the reasons of lints.
fn messages_of_library() -> Vec<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")];
    let mut messages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let source = std::fs::read_to_string(path).unwrap();
                messages.extend(string_literals(&source));
            }
        }
    }
    messages
}

/// The string literals of Rust source, except documentation and the reasons of lints. Escapes remain.
fn string_literals(source: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['/', '\'', '"']) {
        let (before, after) = rest.split_at(at);
        if after.starts_with("//") {
            rest = after.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(character) = after.strip_prefix('\'') {
            // A character such as '"', '\'' or '\u{1b}', or a lifetime.
            let skipped = match character.strip_prefix('\\') {
                Some(escape) => escape[1..].find('\'').map(|end| end + 3),
                None => {
                    let length = character.chars().next().map_or(0, char::len_utf8);
                    character[length..].starts_with('\'').then_some(length + 1)
                }
            };
            rest = &character[skipped.unwrap_or(0)..];
        } else if let Some(text) = after.strip_prefix('"') {
            let fences = before.len() - before.trim_end_matches('#').len();
            let is_raw = before[..before.len() - fences].ends_with('r');
            let end = if is_raw {
                text.find(&format!("\"{}", "#".repeat(fences))).unwrap()
            } else {
                let mut is_escaped = false;
                let is_end = |letter: char| {
                    let is_end = letter == '"' && !is_escaped;
                    is_escaped = letter == '\\' && !is_escaped;
                    is_end
                };
                text.find(is_end).unwrap()
            };
            let code = before.trim_end();
            if !code.ends_with("reason =") && !code.ends_with("doc =") {
                literals.push(text[..end].to_owned());
            }
            rest = &text[end + 1..];
        } else {
            rest = &after[1..];
        }
    }
    literals
}

#[test]
fn string_literals_are_told_from_comments() {
    let source = r##"
        // "a comment" and a lifetime's 'quote
        fn f<'a>(c: char) { g("one \"quoted\" `a`", '"', '\'', '\u{22}', r#"raw "two""#, 'é') }
        #[expect(lint, reason = "no message")]
        #[doc = "no message either"]
        const C: &str = "three // no comment"; /* a / alone */
    "##;
    let literals = string_literals(source);
    assert_eq!(
        literals,
        [
            r#"one \"quoted\" `a`"#,
            r#"raw "two""#,
            "three // no comment"
        ]
    );
    let parameters = parameters_in("pass `unit=tokens`, no `size`");
    let expected = [("unit", Some("tokens")), ("size", None)];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
    assert_eq!(parameters, expected);
}
