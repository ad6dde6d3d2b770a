//! Numbers: quantities such as prices.

use super::likeness::{Likeness, ValuePair, share, up_to, whole};
use super::{Kind, KindRow, Noise};

/// The least share of the values that are numbers, and of those that are written as quantities.
const LEAST: f64 = 0.9;
const LEAST_MARKED: f64 = 0.3;

/// Greatest relative differences of numbers that are close, near and far.
const MOST: [f64; 3] = [0.01, 0.05, 0.2];

/// What stands before or after a number.
const UNITS: [&str; 40] = [
    "", "%", "$", "us$", "usd", "ca$", "c$", "cad", "a$", "au$", "aud", "nz$", "nzd", "€", "eur",
    "euro", "£", "gbp", "chf", "fr", "sfr", "¥", "jpy", "cny", "rmb", "₹", "rs", "inr", "kr",
    "sek", "nok", "dkk", "zł", "pln", "r$", "brl", "₩", "krw", "₽", "rub",
];

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Number,
    name: "number",
    is_found: |values| {
        share(values, |value| parsed(value).is_some()) >= LEAST
            && share(values, |value| {
                parsed(value).is_some_and(|number| number.is_marked)
            }) >= LEAST_MARKED
    },
    clean: |text| Some(parsed(text)?.value.to_string()),
    likeness,
    parts: whole,
    noise: Noise::Always,
};

struct Parsed {
    value: f64,
    /// Whether it is written as a quantity: with a unit, a fraction or separated thousands.
    is_marked: bool,
}

/// The number that a text is, whose units and thousands may be written in many ways.
fn parsed(text: &str) -> Option<Parsed> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let (first, last) = (text.find(is_digit)?, text.rfind(is_digit)? + 1);
    let (before, digits, after) = (&text[..first], &text[first..last], &text[last..]);
    let (before, is_fraction) = match before.strip_suffix('.') {
        Some(before) => (before, true),
        None => (before, false),
    };
    let is_negative = before.contains('-');
    let unit = |text: &str, signs: &[char]| {
        let unit = text.trim_matches(signs);
        UNITS.iter().position(|known| *known == unit)
    };
    let units = [
        unit(before, &[' ', '-', '+'])?,
        unit(after, &[' ', '-', '.', ','])?,
    ];
    let (whole, fraction) = if is_fraction {
        ("", Some(digits))
    } else {
        split_fraction(digits)
    };
    let fraction = fraction.unwrap_or_default();
    if !fraction.chars().all(is_digit) {
        return None;
    }
    let groups = groups_of(whole)?;
    let is_marked = units.iter().any(|unit| *unit > 0)
        || !fraction.is_empty()
        || groups.len() > 1 && !whole.contains(' ');
    let value: f64 = format!("{}.{fraction}", groups.concat()).parse().ok()?;
    let value = if is_negative { -value } else { value };
    value.is_finite().then_some(Parsed { value, is_marked })
}

/// What stands before and after the decimal sign: the last of points and commas if both occur; else a single point, and a single
/// comma unless three digits follow at most three others.
fn split_fraction(digits: &str) -> (&str, Option<&str>) {
    let Some(last) = digits.rfind(['.', ',']) else {
        return (digits, None);
    };
    let (whole, fraction) = (&digits[..last], &digits[last + 1..]);
    let is_repeated = whole.contains(&digits[last..=last]);
    let is_thousands = digits[last..].starts_with(',')
        && !whole.contains(['.', ' ', '\''])
        && !whole.starts_with('0')
        && whole.len() <= 3
        && fraction.len() == 3;
    if is_repeated || is_thousands {
        (digits, None)
    } else {
        (whole, Some(fraction))
    }
}

/// The groups of three digits of a whole number, the first of which may be shorter; or all its digits.
fn groups_of(whole: &str) -> Option<Vec<&str>> {
    let groups: Vec<&str> = whole.split([' ', '\'', ',', '.']).collect();
    let has_only_digits = groups
        .iter()
        .all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let separators = whole.bytes().filter(|byte| !byte.is_ascii_digit());
    let mut separators: Vec<u8> = separators.collect();
    separators.dedup();
    let is_grouped = match &groups[..] {
        [_] => true,
        [first, rest @ ..] => {
            matches!(first.len(), 1..=3)
                && !first.starts_with('0')
                && rest.iter().all(|group| group.len() == 3)
        }
        [] => false,
    };
    (has_only_digits && is_grouped && separators.len() <= 1).then_some(groups)
}

fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let [Ok(a), Ok(b)] = [pair.a, pair.b].map(str::parse::<f64>) else {
        return Likeness::Other;
    };
    up_to((a - b).abs() / a.abs().max(b.abs()), MOST)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn numbers_are_found() {
        for values in [
            &["$12.99", "$5", "1,299.00 USD"][..],
            &["12.5", "7", "0.25", "1000"],
            &["1'299.00", "CHF 5.-"],
            &["5 %", "12,5 %"],
            &["-0.5", ".75"],
        ] {
            assert_eq!(kind_of(values), Kind::Number, "{values:?}");
        }
        for values in [
            &["1980", "1999"][..],
            &["12", "12a", "7"],
            &["007", "12"],
            &["1.2.3", "10.4.2"],
            &["1 299", "500"],
            &["12 kg", "5 kg"],
            &["192.168.0.1", "10.0.0.255"],
        ] {
            assert_ne!(kind_of(values), Kind::Number, "{values:?}");
        }
    }

    #[test]
    fn ways_to_write_a_number_are_equal() {
        for (text, expected) in [
            ("$1,299.00", "1299"),
            ("1.299,00 €", "1299"),
            ("1 299", "1299"),
            ("chf 1'299.-", "1299"),
            ("1,299", "1299"),
            ("1.299", "1.299"),
            ("1,29", "1.29"),
            ("0,299", "0.299"),
            ("-$5.50", "-5.5"),
            ("$-5.50", "-5.5"),
            (".5", "0.5"),
            ("1,234,567", "1234567"),
            ("1.234.567", "1234567"),
        ] {
            assert_eq!((ROW.clean)(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "$",
            "1,29,3",
            "1 29",
            "12,34.5,6",
            "1e5",
            "5 apples",
            "é5é",
            "1..2",
            "0 123",
        ] {
            assert_eq!((ROW.clean)(text), None, "{text}");
        }
        assert_eq!((ROW.clean)(&"9".repeat(400)), None);
    }

    #[test]
    fn likeness_is_the_relative_difference() {
        use Likeness::{Close, Far, Near, Other};
        for (a, b, expected) in [
            ("100", "101", Close),
            ("100", "$105", Near),
            ("100", "120", Far),
            ("100", "130", Other),
            ("0", "1", Other),
            ("5", "-5", Other),
            ("100", "unknown price", Other),
        ] {
            assert_eq!(compare_as(Kind::Number, a, b), expected, "{a} {b}");
        }
    }
}
