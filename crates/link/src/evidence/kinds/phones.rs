//! Numbers of phones.

use std::borrow::Cow;

use super::likeness::{Likeness, ValuePair, share};
use super::{Kind, KindRow, Noise};

/// The least share of the values that may be numbers of phones, and of those that are written as such.
const LEAST: f64 = 0.9;
const LEAST_MARKED: f64 = 0.5;

/// Digits of a number that is found to be that of a phone, and of one that is compared as such.
const DIGITS: std::ops::RangeInclusive<usize> = 7..=15;
const LEAST_DIGITS: usize = 5;

/// Digits at the end that numbers with and without a prefix share.
const LOCAL: usize = 7;

/// Countries' prefixes of two digits; those of North America and Russia have one, all others three (ITU-T E.164).
const COUNTRIES: [u8; 44] = [
    20, 27, 30, 31, 32, 33, 34, 36, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56,
    57, 58, 60, 61, 62, 63, 64, 65, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98,
];

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Phone,
    name: "phone",
    is_found,
    clean: |text| national(number_in(text)?),
    likeness,
    parts,
    noise: Noise::Always,
};

fn is_found(values: &[super::likeness::ValueSample<'_>]) -> bool {
    let is_possible =
        |value: &str| number_in(value).is_some_and(|number| DIGITS.contains(&digits(number).len()));
    let marked = share(values, |value| is_possible(value) && is_marked(value));
    let zero = share(values, |value| is_possible(value) && has_zero(value));
    share(values, is_possible) >= LEAST && (marked >= LEAST_MARKED || marked + zero >= LEAST)
}

/// The number without words around it and without an extension.
fn number_in(text: &str) -> Option<&str> {
    let text = text
        .trim_start_matches("phone")
        .trim_start_matches("tel")
        .trim_start_matches([':', '.', ' ']);
    let end = text.find(['x', 'e', '#']).unwrap_or(text.len());
    let number = text[..end].trim();
    let is_of_number = |letter: char| {
        letter.is_ascii_digit() || matches!(letter, '+' | '(' | ')' | '-' | '.' | '/' | ' ')
    };
    number.chars().all(is_of_number).then_some(number)
}

fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

/// Whether a number is written as that of a phone.
fn is_marked(value: &str) -> bool {
    let groups: Vec<&str> = value
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let has_prefix = groups.len() > 1 && lengths[0] > 1 && value.starts_with('0');
    value.starts_with('+')
        || value.starts_with('(')
        || has_prefix
        || matches!(lengths[..], [3, 3, 4] | [1, 3, 3, 4])
}

/// Whether a number is of digits only and begins with one zero, as those of a country do.
fn has_zero(value: &str) -> bool {
    let is_national = value.starts_with('0') && !value.starts_with("00");
    is_national
        && (9..=11).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// The digits without the prefix of a country and without leading zeros.
fn national(number: &str) -> Option<String> {
    let digits = digits(number);
    let abroad = if number.starts_with('+') {
        Some(&*digits)
    } else {
        digits.strip_prefix("00")
    };
    let national = match abroad {
        Some(abroad) => abroad.get(country(abroad)..)?,
        None if digits.len() == 11 && digits.starts_with('1') => &digits[1..],
        None => &digits,
    };
    let national = national.trim_start_matches('0');
    (national.len() >= LEAST_DIGITS).then(|| national.to_owned())
}

/// The digits of the country's prefix.
fn country(abroad: &str) -> usize {
    let two: Option<u8> = abroad.get(..2).and_then(|two| two.parse().ok());
    match abroad.as_bytes() {
        [b'1' | b'7', ..] => 1,
        _ if two.is_some_and(|two| COUNTRIES.contains(&two)) => 2,
        _ => 3,
    }
}

fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let (shorter, longer) = if pair.a.len() <= pair.b.len() {
        (pair.a, pair.b)
    } else {
        (pair.b, pair.a)
    };
    match pair.edits() {
        0 | 1 => Likeness::Close,
        _ if shorter.len() >= LOCAL && longer.ends_with(shorter) => Likeness::Close,
        2 => Likeness::Near,
        3 => Likeness::Far,
        _ => Likeness::Other,
    }
}

/// The digits at the end.
fn parts(value: &str) -> Vec<Cow<'_, str>> {
    let start = value.len().saturating_sub(LOCAL);
    vec![Cow::Borrowed(value.get(start..).unwrap_or(value))]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn phones_are_found() {
        for values in [
            &["+41 44 668 18 00", "0446681800", "044 668 18 01"][..],
            &["(555) 123-4567", "555-123-9876"],
            &["310/246-1501", "1-310-246-1502"],
            &["0446681800", "0791234567"],
            &["+1 555 123 4567 x12", "tel: +1 555 123 4568"],
        ] {
            assert_eq!(kind_of(values), Kind::Phone, "{values:?}");
        }
        for values in [
            &["4929002668", "3685401610"][..],
            &["123-45-6789", "987-65-4321"],
            &["978-3-16-148410-0", "0-306-40615-2"],
            &["0306406152", "1861972717", "080442957x"],
            &["00012345", "00012346"],
            &["192.168.10.12", "10.120.130.14"],
            &["555-1234", "100-0001"],
            &["0.1234567", "0.7654321"],
        ] {
            assert_ne!(kind_of(values), Kind::Phone, "{values:?}");
        }
    }

    #[test]
    fn prefixes_are_forgiven() {
        for text in [
            "+41 44 668 18 00",
            "0041446681800",
            "+41 (0)44 668 18 00",
            "044/668-18-00",
            "0446681800",
            "446681800",
        ] {
            assert_eq!((ROW.clean)(text).as_deref(), Some("446681800"), "{text}");
        }
        for text in [
            "+1 (555) 123-4567",
            "1-555-123-4567",
            "555.123.4567",
            "555 123 4567 ext. 89",
        ] {
            assert_eq!((ROW.clean)(text).as_deref(), Some("5551234567"), "{text}");
        }
        assert_eq!((ROW.clean)("+354 555 1234").as_deref(), Some("5551234"));
        for text in ["", "+", "00", "+4", "call me", "12 34", "+é", "१२३४५६७८"] {
            assert_eq!((ROW.clean)(text), None, "{text}");
        }
    }

    #[test]
    fn edits_and_missing_prefixes_are_levels() {
        use Likeness::{Close, Far, Near, Other};
        for (other, expected) in [
            ("044 668 18 01", Close),
            ("044 668 81 00", Close),
            ("668 18 00", Close),
            ("41446681800", Close),
            ("044 668 18 22", Near),
            ("044 668 12 22", Far),
            ("079 123 45 67", Other),
        ] {
            assert_eq!(
                compare_as(Kind::Phone, "+41 44 668 18 00", other),
                expected,
                "{other}"
            );
        }
    }
}
