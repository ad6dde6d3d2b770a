//! Splits texts as Python's `\W` does.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Splits a text at every character other than a letter, number or underscore, like Python's
/// `re.split(r"\W", text)`. Includes empty pieces: n separators make n + 1 pieces.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c))
}

/// Python's `\w`: general category L or N, or an underscore. Marks are excluded, so a combining accent splits
/// its word.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_match_python() {
        let cut = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(cut("a, b"), ["a", "", "b"]);
        assert_eq!(cut(""), [""]);
        assert_eq!(cut("?!"), ["", "", ""]);
        assert_eq!(cut("snake_case x²½ⅷ"), ["snake_case", "x²½ⅷ"]);
        assert_eq!(cut("caf\u{e9} cafe\u{301}s"), ["café", "cafe", "s"]);
        assert_eq!(cut("हिन्दी"), ["ह", "न", "द", ""]);
        assert_eq!(cut("日本、語"), ["日本", "語"]);
    }
}
