//! Identifiers: digits, or letters and digits, that name something, such as a number of social security, a DOI or an ISBN.

use super::likeness::{Likeness, ValuePair, ValueSample, letters, mean, share, whole};
use super::{Kind, KindRow, Noise};

/// Values of more digits than this share of their letters and digits, on average, are identifiers; single words with letters and
/// digits of fewer are.
const DIGITS: f64 = 0.5;
const DIGITS_OF_WORDS: f64 = 0.3;

/// The least share of the values that have the form.
const LEAST: f64 = 0.8;

/// From so many words on, values must be of digits only.
const WORDS: f64 = 3.0;

/// What stands before an identifier.
const SCHEMES: [&str; 8] = [
    "https://",
    "http://",
    "dx.doi.org/",
    "doi.org/",
    "doi:",
    "isbn-13",
    "isbn-10",
    "isbn",
];

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Identifier,
    name: "identifier",
    is_found,
    clean,
    likeness,
    parts: whole,
    noise: Noise::Always,
};

fn is_found(values: &[ValueSample<'_>]) -> bool {
    let words = mean(values, |value| {
        value.plain.split_whitespace().count() as f64
    });
    let has_no_letter = |value: &str| !value.contains(char::is_alphabetic);
    let digits = mean(values, |value| digits(value.words));
    let is_mixed = |value: &str| {
        let has = |of: fn(char) -> bool| value.contains(of);
        !value.contains([' ', '@', ':'])
            && has(|letter| letter.is_ascii_digit())
            && has(char::is_alphabetic)
    };
    let is_doi = |value: &str| value.contains('/') && without_scheme(value).starts_with("10.");
    digits > DIGITS && (words < WORDS || share(values, has_no_letter) > LEAST)
        || digits > DIGITS_OF_WORDS && share(values, is_mixed) > LEAST
        || share(values, is_doi) > LEAST
}

/// The share of digits in the letters and digits of a value.
fn digits(words: &str) -> f64 {
    let letters = words.chars().filter(|letter| *letter != ' ');
    let digits = letters.clone().filter(char::is_ascii_digit).count();
    digits as f64 / letters.count().max(1) as f64
}

fn without_scheme(text: &str) -> &str {
    SCHEMES.iter().fold(text, |text, scheme| {
        text.strip_prefix(scheme).unwrap_or(text)
    })
}

fn clean(text: &str) -> Option<String> {
    let identifier = letters(without_scheme(text));
    (!identifier.is_empty()).then_some(identifier)
}

/// Longer identifiers may have more edits.
fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let shorter = pair.a.chars().count().min(pair.b.chars().count());
    match pair.edits() {
        0 | 1 if shorter >= 3 => Likeness::Close,
        0..=2 if shorter >= 5 => Likeness::Near,
        0..=3 if shorter >= 6 => Likeness::Far,
        _ => Likeness::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn identifiers_are_found() {
        for values in [
            &["441 668 18", "5551234"][..],
            &["123-45-6789", "987 65 4321"],
            &["978-3-16-148410-0", "9783161484100"],
            &["https://doi.org/10.1000/abcdef", "doi:10.1000/ghijkl"],
            &["WH1000XM4", "DSC-H50"],
            &["12", "12a", "7"],
            &["1980", "1999"],
            &["8001", "3011"],
            &["315-324", "12--15"],
            &["3f2a9c1e", "00ff13ab"],
        ] {
            assert_eq!(kind_of(values), Kind::Identifier, "{values:?}");
        }
        for values in [
            &["ann", "bob7"][..],
            &["12 Elm", "4 Oak"],
            &["Windows 95", "Word 97"],
            &["10.1 inch screen", "10.5 inch screen"],
        ] {
            assert_ne!(kind_of(values), Kind::Identifier, "{values:?}");
        }
    }

    #[test]
    fn separators_and_schemes_are_forgiven() {
        for (a, b) in [
            ("978-3-16-148410-0", "isbn 9783161484100"),
            ("123-45-6789", "123 45 6789"),
            ("https://doi.org/10.1000/xyz", "doi:10.1000/xyz"),
            ("https://dx.doi.org/10.1000/xyz", "10.1000/xyz"),
        ] {
            assert_eq!(clean(a), clean(b), "{a} {b}");
        }
        assert_eq!(clean("--"), None);
    }

    #[test]
    fn longer_identifiers_may_have_more_edits() {
        use Likeness::{Close, Far, Near, Other};
        for (a, b, expected) in [
            ("123456", "123457", Close),
            ("123456", "123465", Close),
            ("123456", "123477", Near),
            ("123456", "123777", Far),
            ("123456", "129999", Other),
            ("123", "124", Close),
            ("1234", "1256", Other),
            ("12", "13", Other),
        ] {
            assert_eq!(compare_as(Kind::Identifier, a, b), expected, "{a} {b}");
        }
    }
}
