//! The usual text of a number, a date or a time: the same one, whichever format holds the value.
//!
//! A price is `1.50` in CSV, `1.5` in JSON and a decimal in Parquet; a date has a time in one table and none in another. Records
//! are compared by texts, so that equal values need equal texts:
//!
//! ```text
//! numbers     digits without zeros at the end of a fraction, and without an exponent: 98765, -0.5
//! dates       1980-03-04
//! times       1980-03-04 12:30:00.5: in UTC, without zeros at the end of a fraction; at midnight, a date
//! of day      12:30:00.5
//! durations   2 days 12:30:00.5
//! ```

use std::borrow::Cow;

use chrono::{DateTime, NaiveDateTime, NaiveTime, Timelike};

use super::decimal::Decimal;

/// The longest text that may be a number or a date: that of a float of 64 bits.
const LONGEST: usize = 400;

/// The usual text of a value. A string is a number only if it looks like one: `007` and `1E5` are not, and a number of a format
/// with types always is.
#[doc(hidden)]
pub fn usual(text: &str, is_typed: bool) -> Cow<'_, str> {
    let trimmed = text.trim();
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let may_be = match trimmed.as_bytes() {
        [b'.' | b'-', second, ..] => is_digit(second) || *second == b'.',
        [first, ..] => is_digit(first),
        [] => false,
    };
    if !may_be || trimmed.len() > LONGEST {
        return Cow::Borrowed(text);
    }
    let found = number(trimmed, is_typed)
        .or_else(|| instant(trimmed))
        .or_else(|| time_of_day(trimmed))
        .or_else(|| days(trimmed));
    found.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// A number with a fraction or an exponent, or minus zero.
fn number(text: &str, is_typed: bool) -> Option<String> {
    let magnitude = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (magnitude, None),
    };
    let whole = mantissa.split_once('.').map(|(whole, _)| whole);
    let has_zeros = |whole: &str| whole.len() > 1 && whole.starts_with('0');
    let is_plain = whole.is_none() && exponent.is_none() && magnitude != "0";
    // A code such as 1E5 is no number, but a program writes 1e+05 or 1.5e5.
    let is_code = exponent.is_some_and(|power| whole.is_none() && !power.starts_with(['+', '-']));
    if is_plain
        || has_zeros(whole.unwrap_or(mantissa))
        || mantissa.ends_with('.')
        || is_code && !is_typed
    {
        return None;
    }
    Some(Decimal::parse(text)?.plain())
}

/// A date with a time, and perhaps an offset; without one, it is UTC.
fn instant(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if !matches!(
        bytes,
        [_, _, _, _, b'-', _, _, b'-', _, _, b'T' | b't' | b' ', ..]
    ) {
        return None;
    }
    let text = format!("{} {}", text.get(..10)?, text.get(11..)?);
    let utc = ["Z", "z", " UTC", "UTC"]
        .iter()
        .find_map(|zone| text.strip_suffix(zone));
    let format = "%Y-%m-%d %H:%M:%S%.f";
    match NaiveDateTime::parse_from_str(utc.unwrap_or(&text), format) {
        Ok(instant) => Some(text_of_instant(instant)),
        Err(_) => DateTime::parse_from_str(&text, &format!("{format}%#z"))
            .ok()
            .map(|instant| text_of_instant(instant.naive_utc())),
    }
}

/// A time of day with a fraction.
fn time_of_day(text: &str) -> Option<String> {
    let is_time = matches!(text.as_bytes(), [_, _, b':', _, _, b':', _, _, b'.', ..]);
    let time = is_time.then(|| NaiveTime::parse_from_str(text, "%H:%M:%S%.f").ok());
    time.flatten().map(text_of_day)
}

/// A number of days and a time, as Python and pandas write a duration.
fn days(text: &str) -> Option<String> {
    let (days, time) = text.split_once(" day")?;
    let time = time.strip_prefix('s').unwrap_or(time);
    let time = time.trim_start_matches([',', ' ']);
    // The sign is that of the whole time, also of `-00:30:00`.
    let (is_negative, time) = match time.as_bytes().first() {
        Some(b'-') => (true, &time[1..]),
        Some(b'+') => (false, &time[1..]),
        _ => (false, time),
    };
    let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| -> Option<i128> {
        let number: u32 = is_number(part).then(|| part.parse().ok())??;
        Some(number.into())
    };
    let parts: Vec<i128> = whole.split(':').map(number).collect::<Option<_>>()?;
    let &[hours, minutes @ 0..60, seconds @ 0..60] = &parts[..] else {
        return None;
    };
    if fraction.len() > 9 || !is_number(fraction) {
        return None;
    }
    let nanoseconds: i128 = format!("{fraction:0<9}").parse().ok()?;
    let time = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanoseconds;
    let days: i32 = days.parse().ok()?;
    let days = i128::from(days) * 86_400_000_000_000;
    Some(text_of_duration(if is_negative {
        days - time
    } else {
        days + time
    }))
}

/// The text of an instant in UTC.
pub(super) fn text_of_instant(instant: NaiveDateTime) -> String {
    match (instant.num_seconds_from_midnight(), instant.nanosecond()) {
        (0, 0) => instant.date().to_string(),
        _ => format!("{} {}", instant.date(), text_of_day(instant.time())),
    }
}

/// The text of a time of day.
pub(super) fn text_of_day(time: NaiveTime) -> String {
    without_zeros(&time.format("%H:%M:%S%.9f").to_string())
}

/// The text of a duration.
pub(super) fn text_of_duration(nanoseconds: i128) -> String {
    const SECOND: u128 = 1_000_000_000;
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let (seconds, fraction) = (all / SECOND, all % SECOND);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
    let days = match days {
        0 => String::new(),
        days => format!("{days} days "),
    };
    let time = format!("{hours:02}:{minutes:02}:{seconds:02}.{fraction:09}");
    format!("{sign}{days}{}", without_zeros(&time))
}

/// A text with a fraction, without zeros at its end.
fn without_zeros(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn all_are(expected: &str, texts: &[&str]) {
        for text in texts {
            assert_eq!(usual(text, false), expected, "{text}");
        }
    }

    #[test]
    fn equal_numbers_have_one_text() {
        all_are(
            "98765",
            &[
                "98765",
                "98765.0",
                "98765.000",
                " 98765.00 ",
                "9.8765e4",
                "987650e-1",
            ],
        );
        all_are("1.5", &["1.5", "1.50", "1.5e+00", "0.15e1"]);
        all_are("-0.5", &["-0.5", "-.5", "-0.50", "-5.0e-1"]);
        all_are("0", &["0", "0.0", "-0", "-0.00", "0e+5"]);
        all_are("0.00001", &["1e-05", "0.00001", "1.0E-5"]);
        all_are(
            "98765432109876543210",
            &["98765432109876543210", "98765432109876543210.0"],
        );
        all_are(&format!("1{}", "0".repeat(300)), &["1e+300", "1.0e300"]);
        assert_eq!(usual("1e5", true), "100000");
        assert_eq!(usual("1E400000", true), "1e400000");
    }

    #[test]
    fn what_only_looks_like_a_number_stays() {
        for text in [
            "007", "00.5", "1E5", "12e3", "10.0.0.1", "1.2.3", "5.", "-", "-.", "+41.5", "1,5",
            "12/5", "1-2", "", " ", "٣.٥", "1.5 kg", "12:30", "1980-03", "0x1p3", "v1.10", "-0abc",
            "1e", "..", "- 1",
        ] {
            assert_eq!(usual(text, false), text);
        }
    }

    #[test]
    fn equal_times_have_one_text() {
        all_are(
            "1980-03-04 12:30:00",
            &[
                "1980-03-04 12:30:00",
                "1980-03-04T12:30:00Z",
                "1980-03-04T12:30:00.000000000Z",
                "1980-03-04 13:30:00+01:00",
                "1980-03-04 13:30:00.0+0100",
                "1980-03-04 14:30:00+02",
                "1980-03-04 12:30:00 UTC",
            ],
        );
        all_are(
            "1980-03-04 12:30:00.25",
            &["1980-03-04 12:30:00.250", "1980-03-04t12:30:00.25z"],
        );
        all_are(
            "1980-03-04",
            &[
                "1980-03-04",
                "1980-03-04T00:00:00",
                "1980-03-04 00:00:00.000+00:00",
            ],
        );
        all_are("12:30:00", &["12:30:00", "12:30:00.000"]);
        all_are("12:30:00.5", &["12:30:00.5", "12:30:00.500000"]);
        all_are(
            "2 days 02:03:04.5",
            &[
                "2 days 02:03:04.500000",
                "2 days, 2:03:04.5",
                "2 days +02:03:04.5",
            ],
        );
        all_are(
            "02:03:04",
            &["0 days 02:03:04", "0 days 02:03:04.000000000"],
        );
        all_are("-02:00:00", &["-1 days +22:00:00", "-1 day, 22:00:00"]);
        all_are("21:30:00", &["1 day -02:30:00", "1 days -2:30:00.0"]);
        all_are("23:30:00", &["1 day -00:30:00"]);
        for text in [
            "1980-02-30 12:30:00",
            "1980-03-04 25:00:00",
            "1980-03-04 hello",
            "2 days off",
            "1980-03-04 ж",
        ] {
            assert_eq!(usual(text, false), text);
        }
    }
}
