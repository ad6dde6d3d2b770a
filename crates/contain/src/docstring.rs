//! The docstring of a question that is code to complete.
//!
//! Such a question asks nothing: its description and examples tell what to write. Another programming language has them in a
//! comment, with another signature, so that the docstring alone decides.

use std::ops::Range;

/// What of a question describes the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Docstring {
    /// Bytes of the docstring, without its quotation marks.
    pub(super) whole: Range<usize>,
    /// Those before its first example.
    pub(super) description: Range<usize>,
    /// Bytes of the names in it that other languages spell in another way: those with an underscore.
    pub(super) names: Vec<Range<usize>>,
}

/// Marks around a docstring or a comment.
const MARKS: &[(&str, &str)] = &[("\"\"\"", "\"\"\""), ("'''", "'''"), ("/*", "*/")];

/// What an example begins with.
const EXAMPLES: &[&str] = &[">>>", "Example", "For example", "example:", "Input:"];

/// The docstring of a question, the last of several, if it is code.
pub(super) fn docstring(text: &str) -> Option<Docstring> {
    if !text.lines().any(is_code) {
        return None;
    }
    let found = MARKS.iter().find_map(|(opens, closes)| {
        let mut last = None;
        let mut at = 0;
        while let Some(start) = text[at..].find(opens).map(|start| at + start + opens.len()) {
            let end = text[start..]
                .find(closes)
                .map_or(text.len(), |end| start + end);
            last = Some(start..end);
            at = (end + closes.len()).min(text.len());
        }
        last
    });
    let whole = found?;
    let inner = &text[whole.clone()];
    let examples = EXAMPLES.iter().filter_map(|example| inner.find(example));
    // A docstring that begins with an example has no description.
    let end = examples.filter(|at| !inner[..*at].trim().is_empty()).min();
    let description = whole.start..end.map_or(whole.end, |end| whole.start + end);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(start) = inner[at..].find(is_part).map(|start| at + start) {
        at = inner[start..]
            .find(|c| !is_part(c))
            .map_or(inner.len(), |end| start + end);
        if inner[start..at].contains('_') {
            names.push(whole.start + start..whole.start + at);
        }
    }
    Some(Docstring {
        description,
        names,
        whole,
    })
}

/// Whether a line begins or ends as code does.
fn is_code(line: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "def ",
        "class ",
        "fn ",
        "pub fn ",
        "func ",
        "function ",
        "const ",
        "public ",
        "import ",
        "#include",
    ];
    let line = line.trim();
    BEGINNINGS
        .iter()
        .any(|beginning| line.starts_with(beginning))
        || line.ends_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docstrings_of_code_are_found() {
        let described =
            |text: &str| docstring(text).map(|found| text[found.description].trim().to_owned());
        for (text, expected) in [
            (
                "def add(x, y):\n    \"\"\"Add two numbers.\n    >>> add(1, 2)\n    3\n    \"\"\"\n",
                Some("Add two numbers."),
            ),
            ("def f():\n    ''' Sum of all '''", Some("Sum of all")),
            ("/* Sum of all */\nint f(int x) {", Some("Sum of all")),
            (
                "def f():\n    \"\"\" first \"\"\"\n\ndef g():\n    \"\"\" second",
                Some("second"),
            ),
            ("def f(): return 1", None),
            ("He said: \"\"\"Why?\"\"\"", None),
        ] {
            assert_eq!(described(text).as_deref(), expected, "{text}");
        }
    }
}
