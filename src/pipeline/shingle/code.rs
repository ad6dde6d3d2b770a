//! Finds the tokens of program text: words, numbers and single other characters.

use super::pieces::is_word;

/// Calls `emit` with each token of a text in order; see [`Unit::Code`](super::Unit::Code). No token holds white space.
pub(super) fn for_each_code_token(text: &str, mut emit: impl FnMut(&[u8])) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'0'..=b'9' => end_of_number(text, at),
            _ => end_of_word(text, at),
        };
        if end > at {
            emit(&bytes[at..end]);
            at = end;
            continue;
        }
        // No character of a word starts here.
        let other = text[at..].chars().next().unwrap_or_default();
        let end = at + other.len_utf8();
        if !other.is_whitespace() {
            emit(&bytes[at..end]);
        }
        at = end;
    }
}

/// The end of the run of letters, digits and underscores that starts at `at`; `at` itself without one.
fn end_of_word(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at) {
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => at += 1,
            Some(byte) if !byte.is_ascii() => match text[at..].chars().next() {
                Some(other) if is_word(other) => at += other.len_utf8(),
                _ => return at,
            },
            _ => return at,
        }
    }
}

/// The end of the number that starts at `at` with a digit. Letters of a suffix or of another base belong to it.
fn end_of_number(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_decimal = |from: usize, to: usize| {
        let mut digits = bytes[from..to].iter();
        digits.all(|byte| byte.is_ascii_digit() || *byte == b'_')
    };
    let (mut start, mut end) = (at, end_of_word(text, at));
    if bytes.get(end) == Some(&b'.') && is_digit(end + 1) && is_decimal(start, end) {
        start = end + 1;
        end = end_of_word(text, start);
    }
    let has_exponent = matches!(bytes[end - 1], b'e' | b'E') && is_decimal(start, end - 1);
    let has_sign = matches!(bytes.get(end), Some(b'+' | b'-')) && is_digit(end + 1);
    if has_exponent && has_sign {
        end_of_word(text, end + 1)
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        for_each_code_token(text, |token| {
            tokens.push(String::from_utf8(token.to_vec()).unwrap());
        });
        tokens
    }

    #[test]
    fn operators_are_tokens_of_their_own() {
        assert_eq!(
            tokens("if (a_1 >= b)\n\t{ x->y += \"n°\"; } // 東京"),
            [
                "if", "(", "a_1", ">", "=", "b", ")", "{", "x", "-", ">", "y", "+", "=", "\"", "n",
                "°", "\"", ";", "}", "/", "/", "東京"
            ]
        );
        assert_eq!(tokens(" \r\n\t\u{a0}\u{3000}"), [""; 0]);
    }

    #[test]
    fn numbers_hold_their_point_and_exponent() {
        for (number, count) in [
            ("0", 1),
            ("1_000.25", 1),
            ("1.5e-3", 1),
            ("2E+10f64", 1),
            ("1e5", 1),
            ("0xFF_u8", 1),
            ("1.", 2),
            (".5", 2),
            ("1..2", 4),
            ("1.e5", 3),
            ("1.0.0", 3),
            ("0xe+1", 3),
            ("1e+", 2),
            ("1e5.3", 3),
            ("1.5e3.4", 3),
            ("v.1", 3),
            ("-1", 2),
            ("1.2e", 1),
            ("1.x", 3),
            ("x1.5", 3),
        ] {
            assert_eq!(tokens(number).len(), count, "{number}");
        }
    }

    /// Whether all of it is a word, a number or a single other character: the definition, spelled out.
    fn is_token(token: &str) -> bool {
        let is_word_all = |part: &str| part.chars().all(is_word);
        let is_decimal =
            |part: &str| !part.is_empty() && part.chars().all(|c| matches!(c, '0'..='9' | '_'));
        let starts_with_digit = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
        let mut chars = token.chars();
        if let (Some(only), None) = (chars.next(), chars.next())
            && !is_word(only)
        {
            return !only.is_whitespace();
        }
        if is_word_all(token) {
            return !token.is_empty();
        }
        if !starts_with_digit(token) {
            return false;
        }
        let is_tail = |part: &str| starts_with_digit(part) && is_word_all(part);
        // With a sign of the exponent: what is before it ends in e, after at most one point.
        let signed = token.split_once(['+', '-']).is_some_and(|(before, after)| {
            let mantissa = before.strip_suffix(['e', 'E']);
            mantissa.is_some_and(|mantissa| match mantissa.split_once('.') {
                Some((whole, fraction)) => {
                    is_decimal(whole) && starts_with_digit(fraction) && is_decimal(fraction)
                }
                None => is_decimal(mantissa),
            }) && is_tail(after)
        });
        let with_point = token
            .split_once('.')
            .is_some_and(|(whole, fraction)| is_decimal(whole) && is_tail(fraction));
        signed || with_point
    }

    /// The longest token at each place, found by trying all ends.
    fn expected_tokens(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            let longest = ends.rev().find(|end| is_token(&rest[..*end]));
            match longest {
                Some(end) => {
                    found.push(rest[..end].to_owned());
                    rest = &rest[end..];
                }
                None => {
                    let blank = rest.chars().next().unwrap();
                    assert!(blank.is_whitespace(), "{rest:?}");
                    rest = &rest[blank.len_utf8()..];
                }
            }
        }
        found
    }

    const HOSTILE: &[&str] = &[
        "0", "1", "9", "_", "e", "E", "x", "f", ".", "+", "-", " ", "\n", "\t", "\r\n", "\0", "\"",
        "é", "e\u{301}", "東", "٣", "²", "\u{a0}", "\u{200b}", "\u{feff}", "😀", "<", "=", "\\",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn tokens_are_the_longest_of_the_definition(
            pieces in prop::collection::vec(prop::sample::select(HOSTILE), 0..24)
        ) {
            let text = pieces.concat();
            prop_assert_eq!(tokens(&text), expected_tokens(&text));
        }

        #[test]
        fn white_space_between_tokens_changes_none(
            pieces in prop::collection::vec(prop::sample::select(HOSTILE), 0..24),
            blank in prop::sample::select(&[" ", "\n\n\t", "\u{3000}"][..])
        ) {
            let found = tokens(&pieces.concat());
            prop_assert_eq!(tokens(&format!("{blank}{}{blank}", found.join(blank))), found);
        }
    }
}
