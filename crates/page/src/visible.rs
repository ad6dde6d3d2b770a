//! Texts as a page shows them.

use std::borrow::Cow;
use std::fmt::Write as _;

use maud::{Markup, html};

use super::numbers::short;

/// Whether a character is not seen itself, and changes how others are seen: controls, and marks of direction. White space is
/// as it is.
pub(crate) fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A text in which characters that are not seen are named: `⟨U+202E⟩`.
#[doc(hidden)]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) {
            let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(letter));
        } else {
            shown.push(letter)
        }
    }
    shown.into()
}

/// A name or an id from the input, apart from the text around it.
#[doc(hidden)]
pub fn name(name: &str) -> Markup {
    html! { bdi { (visible(&short(name))) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_named() {
        for (text, shown) in [
            ("a\tb\nc", "a\tb\nc"),
            ("a\0b", "a⟨U+0000⟩b"),
            ("\u{202e}evil", "⟨U+202E⟩evil"),
            ("שלום", "שלום"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
