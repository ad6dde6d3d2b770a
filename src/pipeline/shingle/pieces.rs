//! Splits texts as Python's `\W` does.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Splits a text at every character other than a letter, number or underscore, like Python's
/// `re.split(r"\W", text)`. Includes empty pieces: n separators make n + 1 pieces.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c))
}

/// Splits a text at every character that is `\W` in the Python package `regex`, and leaves out empty pieces.
pub(super) fn full_pieces(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|c: char| !is_full_word(c));
    pieces.filter(|piece| !piece.is_empty())
}

/// `\w` in the Python package `regex`, which is that of Unicode's UTS #18: alphabetic characters, marks, decimal
/// numbers, connectors and the two joiners.
fn is_full_word(c: char) -> bool {
    use GeneralCategory::{ConnectorPunctuation, DecimalNumber};

    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphabetic()
        || c.general_category_group() == GeneralCategoryGroup::Mark
        || matches!(c.general_category(), ConnectorPunctuation | DecimalNumber)
        || matches!(c, '\u{200c}' | '\u{200d}')
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

    /// Results of `[t for t in regex.split(r"\W", text) if t]`.
    #[test]
    fn full_pieces_match_the_package_regex() {
        let cut = |text| full_pieces(text).collect::<Vec<_>>();
        assert_eq!(cut("a, b"), ["a", "b"]);
        assert_eq!(cut("?!"), [""; 0]);
        assert_eq!(cut("snake_case x²½ⅷ"), ["snake_case", "x", "ⅷ"]);
        assert_eq!(
            cut("cafe\u{301}s Ⓐ\u{203f}b"),
            ["cafe\u{301}s", "Ⓐ\u{203f}b"]
        );
        assert_eq!(cut("हिन्दी १२"), ["हिन्दी", "१२"]);
        assert_eq!(cut("x\u{200d}y 日本、語"), ["x\u{200d}y", "日本", "語"]);
    }

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
