//! Dates and times in texts.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// The seconds and nanoseconds since 1970 of a date, or of a date and a time (RFC 3339). Without an offset, the
/// time is UTC; without a time, it is midnight.
pub(super) fn instant(text: &str) -> Option<(i64, u32)> {
    let of = |seconds, nanoseconds| Some((seconds, nanoseconds));
    if let Ok(date) = DateTime::parse_from_rfc3339(text) {
        return of(date.timestamp(), date.timestamp_subsec_nanos());
    }
    let date = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let date = match date {
        Some(date) => date,
        None => NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()?
            .and_hms_opt(0, 0, 0)?,
    };
    let date = date.and_utc();
    of(date.timestamp(), date.timestamp_subsec_nanos())
}
