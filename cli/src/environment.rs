//! How this process was called.

/// The command line, as far as it is text.
pub(crate) fn command() -> Vec<String> {
    let arguments = std::env::args_os();
    let text = arguments.map(|argument| argument.to_string_lossy().into_owned());
    text.collect()
}
