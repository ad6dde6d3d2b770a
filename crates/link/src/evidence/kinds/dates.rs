//! Dates: a day, with or without a time.

use super::likeness::{Likeness, ValuePair, edits, share, words};
use super::{Kind, KindRow, Noise};

/// The least share of the values that are dates.
const LEAST: f64 = 0.8;

/// The years of dates without separators, such as `19800304`.
const YEARS: std::ops::Range<u32> = 1500..2100;

/// Of a year of two digits, those from here on are of the 20th century, others of the 21st.
const CENTURY_FROM: u32 = 30;

/// The first letters of the months.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Date,
    name: "date",
    is_found: |values| {
        share(values, |value| {
            clean(value).is_some_and(|date| date.len() >= 10)
        }) > LEAST
    },
    clean,
    likeness,
    parts: words,
    noise: Noise::OfThings,
};

/// Year, month and day, and the time unless it is midnight; of a month or a year, these alone.
fn clean(text: &str) -> Option<String> {
    let (day, time) = split_time(text);
    let mut cleaned = day_of(day)?;
    if let Some(time) = time.filter(|time| time.bytes().any(|byte| (b'1'..=b'9').contains(&byte))) {
        cleaned.push(' ');
        cleaned.push_str(time);
    }
    Some(cleaned)
}

/// A day, and the time after it.
fn split_time(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else {
        return (text, None);
    };
    let (day, hour) = text[..colon].split_at(
        text[..colon]
            .trim_end_matches(|l: char| l.is_ascii_digit())
            .len(),
    );
    let is_time = |time: &str| {
        let known = |byte: u8| byte.is_ascii_digit() || b":.z+- ".contains(&byte);
        matches!(hour.len(), 1 | 2) && time.bytes().all(known)
    };
    match (day.strip_suffix([' ', 't']), &text[day.len()..]) {
        (Some(before), time) if is_time(time) => (before.trim_end(), Some(time)),
        _ => (text, None),
    }
}

fn day_of(text: &str) -> Option<String> {
    let separated = |letter: char| matches!(letter, '-' | '/' | '.' | ',' | ' ');
    let parts: Vec<&str> = text
        .split(separated)
        .filter(|part| !part.is_empty())
        .collect();
    let number = |part: &str| {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            part.parse::<u32>().ok()
        } else {
            None
        }
    };
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let [year, month, day] = match (&parts[..], &lengths[..]) {
        ([y, m, d], [4, 1 | 2, 1 | 2]) => [number(y)?, number(m)?, number(d)?],
        ([d, m, y], [1 | 2, 1 | 2, 4]) => [number(y)?, number(m)?, number(d)?],
        ([d, m, y], [1 | 2, 1 | 2, 2]) if text.len() == 8 || text.contains(['/', '-']) => {
            short(number(d)?, number(m)?, number(y)?)?
        }
        ([whole], [8]) if whole.is_ascii() => {
            let [y, m, d] = [&whole[..4], &whole[4..6], &whole[6..]].map(number);
            [y.filter(|year| YEARS.contains(year))?, m?, d?]
        }
        ([year, month], [4, 1 | 2]) => {
            return Some(format!("{:04} {:02}", number(year)?, number(month)?));
        }
        ([year], [4]) => return Some(format!("{:04}", number(year)?)),
        ([a, b, y], [_, _, 4]) => named(a, b, number(y)?)?,
        _ => return None,
    };
    Some(format!("{year:04} {month:02} {day:02}"))
}

/// A date with a year of two digits.
fn short(day: u32, month: u32, year: u32) -> Option<[u32; 3]> {
    let century = if year >= CENTURY_FROM { 1900 } else { 2000 };
    let is_day = (1..=31).contains(&day.max(month)) && (1..=12).contains(&day.min(month));
    is_day.then_some([century + year, month, day])
}

/// A date whose month is a word: `4 March 1980`, `March 4th, 1980`.
fn named(a: &str, b: &str, year: u32) -> Option<[u32; 3]> {
    let month = |word: &str| MONTHS.iter().position(|month| word.starts_with(month));
    let day = |part: &str| {
        let digits = part.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        digits
            .parse::<u32>()
            .ok()
            .filter(|day| (1..=31).contains(day))
    };
    let (month, day) = match (month(a), month(b)) {
        (Some(month), None) => (month, day(b)?),
        (None, Some(month)) => (month, day(a)?),
        _ => return None,
    };
    Some([year, u32::try_from(month).ok()? + 1, day])
}

fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let [a, b] = [pair.a, pair.b].map(parts_of);
    let ([year, month, day], [other_year, other_month, other_day]) = (a, b);
    let is_exchanged = year == other_year && month == other_day && day == other_month;
    let years = || [year, other_year].map(|year| year.parse::<i32>().ok());
    let is_year_off = month == other_month
        && day == other_day
        && !day.is_empty()
        && matches!(years(), [Some(year), Some(other)] if year.abs_diff(other) == 1);
    let equal = a
        .iter()
        .zip(b)
        .filter(|(part, other)| *part == other)
        .count();
    if is_exchanged || is_year_off {
        return Likeness::Close;
    }
    let days = [pair.a, pair.b].map(day_in);
    let edits = if days == [pair.a, pair.b] {
        pair.edits()
    } else {
        edits(days[0], days[1])
    };
    match edits {
        0 | 1 => Likeness::Close,
        2 => Likeness::Near,
        _ if equal >= 2 => Likeness::Near,
        3 => Likeness::Far,
        _ => Likeness::Other,
    }
}

/// A value without its time.
fn day_in(value: &str) -> &str {
    match value.as_bytes() {
        [_, _, _, _, b' ', _, _, b' ', _, _, b' ', ..] => &value[..10],
        _ => value,
    }
}

/// Year, month and day of a value; the others are empty where it has no such form.
fn parts_of(value: &str) -> [&str; 3] {
    let day = day_in(value);
    // Most values have this form, which takes no search.
    if let (10, Some([year, month, day_of_month])) = (day.len(), digits_of(day)) {
        return [year, month, day_of_month];
    }
    let mut parts = day.split(' ');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The parts of a day of ten letters if all are digits.
fn digits_of(day: &str) -> Option<[&str; 3]> {
    let parts = [day.get(..4)?, day.get(5..7)?, day.get(8..)?];
    let has_only_digits = parts
        .iter()
        .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    (has_only_digits && [4, 7].iter().all(|at| day.as_bytes()[*at] == b' ')).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn dates_are_found() {
        for values in [
            &["1980-03-04", "1.2.1990"][..],
            &["19800304", "19991231"],
            &["03/04/80", "25/12/99"],
            &["4 March 1980", "Dec 25th, 1999"],
            &["1980-03-04 12:30:00.5", "1999-12-25"],
            &["1980-03-04T00:00:00Z", "1999-12-25T01:02"],
        ] {
            assert_eq!(kind_of(values), Kind::Date, "{values:?}");
        }
        for values in [
            &["1980", "1999"][..],
            &["1.2.3", "4.5.6"],
            &["12345678", "87654321"],
            &["1.2.80", "4.5.80"],
            &["4 Marsh 12", "1 May 7"],
            &["99/99/99", "31/31/31"],
        ] {
            assert_ne!(kind_of(values), Kind::Date, "{values:?}");
        }
    }

    #[test]
    fn forms_of_a_day_are_equal() {
        for text in [
            "1980-03-04",
            "1980/3/4",
            "04.03.1980",
            "4-3-1980",
            "19800304",
            "4/3/80",
            "4 mar 1980",
            "march 4th, 1980",
            "1980-03-04t00:00:00z",
            "1980-03-04 00:00",
        ] {
            assert_eq!(clean(text).as_deref(), Some("1980 03 04"), "{text}");
        }
        assert_eq!(
            clean("1980-03-04 12:30").as_deref(),
            Some("1980 03 04 12:30")
        );
        assert_eq!(clean("1980-03").as_deref(), Some("1980 03"));
        assert_eq!(clean("4/3/29").as_deref(), Some("2029 03 04"));
        for text in [
            "",
            "1980 march",
            "a:b",
            ":",
            "1é:00",
            "32 may 1980",
            "été 1 1980",
            "१२३४",
        ] {
            assert_eq!(clean(text), None, "{text}");
        }
    }

    #[test]
    fn exchanged_parts_years_and_edits_are_forgiven() {
        use Likeness::{Close, Far, Near, Other};
        for (a, b, expected) in [
            ("1980-03-04", "1980-04-03", Close),
            ("1980-03-04", "1980-03-05", Close),
            ("1980-03-04", "1979-03-04", Close),
            ("2000-01-01", "1999-01-01", Close),
            ("1980-03-04", "1980-03-04 10:00", Close),
            ("1980-03-04", "1980-03-27", Near),
            ("1980-03-04", "1991-03-04", Near),
            ("1980-03-04", "1980-03", Near),
            ("1980-03-04", "1981-03-16", Far),
            ("1980-03-04", "1980-12-25", Other),
            ("1980-03-04", "1955-12-25", Other),
            ("1980", "1985", Close),
        ] {
            assert_eq!(compare_as(Kind::Date, a, b), expected, "{a} {b}");
        }
    }
}
