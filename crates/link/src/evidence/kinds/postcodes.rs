//! Postcodes with letters, or with a part after a hyphen.

use super::likeness::{Likeness, ValuePair, letters, share, whole};
use super::{Kind, KindRow, Noise};

/// The least share of the values that have the form of postcodes.
const LEAST: f64 = 0.8;

/// Where so many values are of five digits and a hyphen before four more, those of five digits are postcodes, too.
const LEAST_OF_NINE: f64 = 0.1;

/// Letters and digits of a postcode, at most.
const MOST_LETTERS: usize = 10;

/// Forms of postcodes, `a` for a letter and `9` for a digit, without blanks: of Britain, Canada and the Netherlands; of Poland,
/// Portugal and Brazil; and with the country before them.
const FORMS: [&str; 14] = [
    "a99aa",
    "a999aa",
    "aa99aa",
    "aa999aa",
    "a9a9aa",
    "aa9a9aa",
    "a9a9a9",
    "9999aa",
    "99-999",
    "9999-999",
    "99999-999",
    "a-9999",
    "a-99999",
    "aa-9999",
];
const FIVE: &str = "99999";
const NINE: &str = "99999-9999";

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Postcode,
    name: "postcode",
    is_found,
    clean,
    likeness,
    parts: whole,
    noise: Noise::Always,
};

fn is_found(values: &[super::likeness::ValueSample<'_>]) -> bool {
    let nine = share(values, |value| form(value) == NINE);
    let five = share(values, |value| form(value) == FIVE);
    let others = share(values, |value| FORMS.contains(&&*form(value)));
    let american = if nine >= LEAST_OF_NINE {
        nine + five
    } else {
        0.0
    };
    others + american >= LEAST
}

fn form(text: &str) -> String {
    let letters = text
        .chars()
        .filter(|letter| *letter != ' ')
        .take(MOST_LETTERS + 1);
    let form = letters.map(|letter| match letter {
        'a'..='z' => 'a',
        '0'..='9' => '9',
        other => other,
    });
    form.collect()
}

/// The letters and digits, without the country before a hyphen.
fn clean(text: &str) -> Option<String> {
    let code = match text.split_once('-') {
        Some((country, code))
            if country.len() <= 3 && country.bytes().all(|byte| byte.is_ascii_lowercase()) =>
        {
            code
        }
        _ => text,
    };
    let code = letters(code);
    (1..=MOST_LETTERS).contains(&code.len()).then_some(code)
}

fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let (a, b) = (pair.a, pair.b);
    let [length_a, length_b] = [a, b].map(|code| code.chars().count());
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let rest = length_a.max(length_b) - shared;
    match pair.edits() {
        0 | 1 => Likeness::Close,
        _ if shared >= 4 && shared == length_a.min(length_b) => Likeness::Close,
        _ if rest <= 2 && shared >= 2 => Likeness::Near,
        _ if rest <= 3 && shared >= 2 => Likeness::Far,
        _ => Likeness::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn postcodes_are_found() {
        for values in [
            &["SW1A 1AA", "m1 1ae", "B338TH"][..],
            &["K1A 0B1", "v6b4y8"],
            &["1012 AB", "9999ZZ"],
            &["12345-6789", "12345", "90210"],
            &["00-950", "31-042"],
            &["D-80331", "CH-8001"],
        ] {
            assert_eq!(kind_of(values), Kind::Postcode, "{values:?}");
        }
        for values in [
            &["8001", "3011"][..],
            &["12345", "90210"],
            &["12", "12a"],
            &["123-45-6789", "987-65-4321"],
            &["AB-123-CD", "EF-456-GH"],
            &["1980", "1999"],
        ] {
            assert_ne!(kind_of(values), Kind::Postcode, "{values:?}");
        }
        for text in ["", "-", "a-", "a very long text", "日本日本日本"] {
            assert_eq!(clean(text), None, "{text}");
        }
    }

    #[test]
    fn a_shared_beginning_is_a_level() {
        use Likeness::{Close, Far, Near, Other};
        for (a, b, expected) in [
            ("sw1a 1aa", "sw1a 1ab", Close),
            ("sw1a 1aa", "sw1a1aaa", Close),
            ("sw1a 1aa", "ws1a 1aa", Close),
            ("sw1a 1aa", "sw1a 1bz", Near),
            ("sw1a 1aa", "sw1a 9bz", Far),
            ("sw1a 1aa", "sw9b 7cc", Other),
            ("12345", "12345-6789", Close),
            ("12345", "12378", Near),
            ("d-80331", "ch-80339", Close),
        ] {
            assert_eq!(compare_as(Kind::Postcode, a, b), expected, "{a} {b}");
        }
    }
}
