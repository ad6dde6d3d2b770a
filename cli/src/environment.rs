//! The command line of this process.

/// The command line; invalid UTF-8 is replaced.
pub(crate) fn command() -> Vec<String> {
    let arguments = std::env::args_os();
    let text = arguments.map(|argument| argument.to_string_lossy().into_owned());
    text.collect()
}
