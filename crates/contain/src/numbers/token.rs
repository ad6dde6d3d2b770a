//! A word of a text, as it stands there.

use std::borrow::Cow;
use std::ops::Range;

/// A word of a text.
#[derive(Clone, Debug)]
pub(crate) struct Token<'a> {
    /// In lower case.
    pub(crate) word: Cow<'a, str>,
    /// As it stands in the text.
    pub(crate) written: &'a str,
    /// The text that follows it.
    pub(crate) following: &'a str,
}

impl<'a> Token<'a> {
    /// The word that stands at these bytes of a text.
    pub(crate) fn new(word: Cow<'a, str>, text: &'a str, span: Range<usize>) -> Self {
        Token {
            word,
            written: &text[span.clone()],
            following: &text[span.end..],
        }
    }
}
