//! The signs before a word: of arithmetic, comparison, sets and logic. They are evidence like figures.
//!
//! A sign counts between two figures or single letters, or right before one. What a line begins with is a list, a quotation or
//! a change, and no sign; where a line ends between two words, nothing is known.

use std::ops::Range;

/// The signs between a word and the one before it, where they are known.
///
/// Signs that mean the same are one: `-`, en dash and U+2212; `*`, `×` and `·`; `/` and `÷`; `<=` and `≤`. A power is `^`.
pub(super) fn signs(plain: &str, before: Range<usize>, word: Range<usize>) -> Option<String> {
    let between = &plain[before.end..word.start];
    if between.contains('\n') {
        return None;
    }
    if !is_operand(&plain[word.clone()]) {
        return Some(String::new());
    }
    let is_binary = is_operand(&plain[before]);
    let mut found = String::new();
    let mut chars = between.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let (mut sign, mut end) = (canonical(c), at + c.len_utf8());
        if next == Some('=') && matches!(c, '<' | '>' | '!' | '=') {
            chars.next();
            end += 1;
            sign = Some(match c {
                '<' => '≤',
                '>' => '≥',
                '!' => '≠',
                _ => '=',
            });
        }
        let is_before_operand = between[end..].chars().all(|c| "([{$".contains(c));
        match sign {
            // Emphasis, as in `a *b* c`, has a space on one side alone; and `**` is none or a power.
            Some('*') if c == '*' && (next == Some('*') || is_lopsided(between, at..end)) => {}
            Some(sign) if is_binary || is_before_operand && "-+±¬√".contains(sign) => found.push(sign),
            _ => {}
        }
    }
    if is_binary && plain[word].starts_with(is_raised) {
        found.push('^');
    }
    let is_known = !found.is_empty() || !between.contains([',', ';', ':', '|', '?', '!', '"', '\'', '“', '”']);
    let has_stop = between.contains(". ");
    (is_known && !(found.is_empty() && has_stop)).then_some(found)
}

/// Whether a word is a figure or a single letter.
fn is_operand(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| {
        c.is_numeric() || letters.next().is_none() && c.is_alphabetic() && !super::letters::is_divided(c)
    })
}

fn is_raised(c: char) -> bool {
    matches!(c, '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{2070}'..='\u{2079}')
}

fn is_lopsided(between: &str, sign: Range<usize>) -> bool {
    let is_blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
    let before = between[..sign.start].chars().next_back();
    let behind = between[sign.end..].chars().next();
    is_blank(before) != is_blank(behind)
}

/// The sign that a character is.
fn canonical(c: char) -> Option<char> {
    Some(match c {
        '-' | '\u{2212}' | '\u{2013}' | '\u{2010}' | '\u{2011}' | '\u{FF0D}' | '\u{FE63}' => '-',
        '+' | '\u{FF0B}' => '+',
        '*' | '×' | '·' | '⋅' | '∗' | '∙' | '\u{FF0A}' => '*',
        '/' | '÷' | '∕' | '\u{2044}' | '\u{FF0F}' => '/',
        '=' | '\u{FF1D}' => '=',
        '<' | '\u{FF1C}' => '<',
        '>' | '\u{FF1E}' => '>',
        '≤' | '⩽' | '≦' => '≤',
        '≥' | '⩾' | '≧' => '≥',
        '≠' | '±' | '^' | '√' | '∧' | '∨' | '¬' | '→' | '↔' | '⊃' | '≡' | '∪' | '∩' | '∈' | '∉' | '⊂' | '⊆' => c,
        '~' => '¬',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::words::Words;
    use super::*;

    /// The signs before the last word.
    fn last(text: &str) -> Option<String> {
        let words = Words::of_plain(text);
        let last = words.len() - 1;
        signs(text, words.span(last - 1), words.span(last))
    }

    #[test]
    fn signs_stand_between_or_before_figures_and_letters() {
        for (text, expected) in [
            ("3 - 4", Some("-")),
            ("3\u{2212}4", Some("-")),
            ("3 \u{2013} 4", Some("-")),
            ("is -17", Some("-")),
            ("is 17", Some("")),
            ("is - 17", Some("")),
            ("well-known", Some("")),
            ("3*4", Some("*")),
            ("3 × 4", Some("*")),
            ("3 *4", Some("")),
            ("is **17", Some("")),
            ("x <= 4", Some("≤")),
            ("x ≤ 4", Some("≤")),
            ("x != 4", Some("≠")),
            ("x ÷ (2", Some("/")),
            ("x^2", Some("^")),
            ("x²", Some("^")),
            ("x) / (1", Some("/")),
            ("12, 17", None),
            ("12. 17", None),
            ("12\n- 17", None),
        ] {
            assert_eq!(last(text).as_deref(), expected, "{text}");
        }
    }
}
