//! The signs before a word: of arithmetic, comparison, sets and logic. They are evidence like figures.
//!
//! A sign counts between two figures or single letters, or right before one. What a line begins with is a list, a quotation or
//! a change, and no sign; where a line ends between two words, nothing is known.

use std::ops::Range;

use crate::letters::{is_divided, is_raised};
use crate::numbers::is_in_words;
use crate::words::Words;

/// What stands between a word and the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// Signs that mean the same are one: `-`, en dash and U+2212; `*`, `×` and `·`; `/` and `÷`; `<=` and `≤`. A power is `^`.
    pub(super) signs: String,
    /// Whether punctuation stands there.
    has_punctuation: bool,
}

impl Signs {
    /// Whether there are other signs than at the other place, or none on one side alone: unless punctuation, which a text may
    /// write as a dash, stands there instead.
    pub(super) fn differ(&self, other: &Signs) -> bool {
        let instead = |empty: &Signs, full: &Signs| {
            empty.signs.is_empty()
                && empty.has_punctuation
                && full.signs == "-"
                && !full.has_punctuation
        };
        self.signs != other.signs && !instead(self, other) && !instead(other, self)
    }
}

/// The signs between a word and the one before it; `None` where a line ends between them.
pub(super) fn signs(plain: &str, before: Range<usize>, word: Range<usize>) -> Option<Signs> {
    let between = &plain[before.end..word.start];
    if between.contains('\n') {
        return None;
    }
    let mut found = Signs {
        signs: String::new(),
        has_punctuation: between.contains([',', ';', ':', '|', '?', '!', '"', '\'', '“', '”'])
            || between.contains(". "),
    };
    let signs = &mut found.signs;
    if plain[word.clone()].starts_with(is_raised) {
        signs.push('^');
    }
    if between.is_ascii() && !between.bytes().any(|byte| b"+-*/=<>^~!".contains(&byte)) {
        return Some(found);
    }
    // Hyphens join the words of a number.
    let is_joined = [&before, &word]
        .into_iter()
        .all(|word| is_in_words(&plain[word.clone()]));
    let is_right_plain = is_plain_operand(plain, word.clone());
    let [is_left, is_right] = [before, word].map(|word| is_operand(plain, word));
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
        let Some(sign) = sign else {
            continue;
        };
        let is_before_operand =
            is_right_plain && between[end..].chars().all(|c| "([{$\\".contains(c));
        let before = between[..at].chars().next_back();
        let blanks = blanks_around(between, at..end);
        let is_tight = between.len() == end - at;
        let counts = match sign {
            // Emphasis, as in `a *b* c`, has a space on one side alone, and `**` is none.
            '*' if c == '*' && (before == Some('*') || next == Some('*') || blanks == 1) => false,
            '-' if is_tight && (is_joined || !is_left) => false,
            '*' | '+' | '^' if is_tight => true,
            '<' | '>' | '≤' | '≥' | '≠' if blanks != 1 => true,
            '-' | '+' | '±' | '¬' | '√' if is_before_operand => true,
            _ => is_left && is_right,
        };
        if counts {
            signs.push(sign);
        }
    }
    Some(found)
}

/// Whether a word is a figure, a single letter, or another name of a value in a formula.
fn is_operand(plain: &str, word: Range<usize>) -> bool {
    is_plain_operand(plain, word.clone()) || is_variable(&plain[word])
}

/// Whether a word is one of these but for variables of several letters.
fn is_plain_operand(plain: &str, word: Range<usize>) -> bool {
    let is_command = plain[..word.start].ends_with('\\');
    let word = &plain[word];
    let mut letters = word.chars();
    let is_letter = letters
        .next()
        .is_some_and(|c| c.is_alphabetic() && !is_divided(c))
        && letters.next().is_none();
    is_command
        || is_letter
        || word.contains(char::is_numeric)
        || FUNCTIONS.contains(&word)
        || is_in_words(word)
}

/// Whether a word is a variable of a few capitals: without a vowel, since a text may be in capitals.
fn is_variable(word: &str) -> bool {
    const CAPITALS: usize = 3;
    let is_consonant = |byte: u8| byte.is_ascii_uppercase() && !b"AEIOUY".contains(&byte);
    word.len() <= CAPITALS && word.bytes().all(is_consonant)
}

/// Names of functions and constants in formulas.
const FUNCTIONS: &[&str] = &[
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "sqrt", "lim", "max", "min",
    "gcd", "lcm", "det", "dim", "deg", "pi",
];

/// On how many sides of a sign a space stands.
fn blanks_around(between: &str, sign: Range<usize>) -> usize {
    let before = between[..sign.start].chars().next_back();
    let behind = between[sign.end..].chars().next();
    let blank = |c: Option<char>| usize::from(c.is_some_and(char::is_whitespace));
    blank(before) + blank(behind)
}

/// The signs before all words of a text.
pub(super) fn all_signs(plain: &str, words: &Words) -> Vec<Option<Signs>> {
    let pairs = (1..words.len()).map(|i| signs(plain, words.span(i - 1), words.span(i)));
    pairs.collect()
}

/// The sign that a character is.
fn canonical(c: char) -> Option<char> {
    Some(match c {
        '-' | '⁻' | '\u{2212}' | '\u{2013}' | '\u{2010}' | '\u{2011}' | '\u{FF0D}' | '\u{FE63}' => {
            '-'
        }
        '+' | '⁺' | '\u{FF0B}' => '+',
        '*' | '×' | '·' | '⋅' | '∗' | '∙' | '\u{FF0A}' => '*',
        '/' | '÷' | '∕' | '\u{2044}' | '\u{FF0F}' => '/',
        '=' | '\u{FF1D}' => '=',
        '<' | '\u{FF1C}' => '<',
        '>' | '\u{FF1E}' => '>',
        '≤' | '⩽' | '≦' => '≤',
        '≥' | '⩾' | '≧' => '≥',
        '≠' | '±' | '^' | '√' | '∧' | '∨' | '¬' | '→' | '↔' | '⊃' | '≡' | '∪' | '∩' | '∈' | '∉'
        | '⊂' | '⊆' => c,
        '~' => '¬',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signs before the last word.
    fn last(text: &str) -> Option<Signs> {
        all_signs(text, &Words::read_plain(text)).pop().flatten()
    }

    #[test]
    fn signs_stand_between_or_before_figures_and_letters() {
        for (text, expected) in [
            ("3 - 4", "-"),
            ("3\u{2212}4", "-"),
            ("3 \u{2013} 4", "-"),
            ("is -17", "-"),
            ("12, -17", "-"),
            ("is 17", ""),
            ("is - 17", ""),
            ("well-known", ""),
            ("CLEAR-CUT", ""),
            ("twenty-five", ""),
            ("COVID-19", ""),
            ("3 **4", ""),
            ("one/three", "/"),
            ("3*4", "*"),
            ("3 × 4", "*"),
            ("3 *4", ""),
            ("is **17", ""),
            ("x <= 4", "≤"),
            ("x ≤ 4", "≤"),
            ("x != 4", "≠"),
            ("x ÷ (2", "/"),
            ("x^2", "^"),
            ("x²", "^"),
            ("x)²", "^"),
            ("10⁻⁵", "^-"),
            ("10^-5", "^-"),
            ("x) / (1", "/"),
            ("ab+cd", "+"),
            ("\\alpha - \\beta", "-"),
            ("TX − XT", "-"),
            ("3 * sin", "*"),
            ("12, 17", ""),
        ] {
            assert_eq!(
                last(text).map(|found| found.signs).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        assert_eq!(last("12\n- 17"), None);
    }

    #[test]
    fn punctuation_may_be_a_dash() {
        for (a, b, differ) in [
            ("12, 17", "12 - 17", false),
            ("12, -17", "12, 17", true),
            ("12 + 17", "12, 17", true),
            ("12 - 17", "12 17", true),
            ("12 - 17", "12 + 17", true),
            ("12 - 17", "12 \u{2013} 17", false),
        ] {
            let [a_signs, b_signs] = [a, b].map(|text| last(text).unwrap());
            assert_eq!(a_signs.differ(&b_signs), differ, "{a} {b}");
            assert_eq!(b_signs.differ(&a_signs), differ, "{a} {b}");
        }
    }
}
