//! Numbers for people: counts, sizes, rates and durations.

use std::time::Duration;

use indicatif::HumanCount;

/// A count of things: `1 document`, `2 documents`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", HumanCount(count))
}

/// A number with its digits in groups: `7,200`.
pub(crate) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of bytes: `512 bytes`, `23.4 kB`, `1.23 GB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return counted(bytes, "byte");
    }
    let mut size = bytes as f64 / 1e3;
    let mut unit = 0;
    // Values that round to 1,000 take the next unit.
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1e3;
        unit += 1;
    }
    let decimals = if size < 9.995 {
        2
    } else {
        usize::from(size < 99.95)
    };
    format!("{size:.decimals$} {}", UNITS[unit])
}

/// A number rounded to an integer, with its digits in groups.
pub(super) fn rounded(number: f64) -> HumanCount {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "documents and megabytes per second are far below 2^64"
    )]
    HumanCount(number.round() as u64)
}

/// The name of the time that no other stage accounts for.
pub(super) const OTHER: &str = "other";

/// Least time of a rate: the clock may not have moved yet, and no rate is infinite.
pub(super) const LEAST_S: f64 = 1e-3;

/// Bytes per second: `7.3 MB/s`, `1,234 MB/s`.
pub(super) fn rate(bytes: u64, elapsed_s: f64) -> String {
    let megabytes = bytes as f64 / 1e6 / elapsed_s.max(LEAST_S);
    if megabytes < 10.0 {
        format!("{megabytes:.1} MB/s")
    } else {
        format!("{} MB/s", rounded(megabytes))
    }
}

/// A time: `1.23 s`, `2 min 05 s`, `3 h 20 min`.
pub(super) fn duration(elapsed_s: f64) -> String {
    if elapsed_s < 60.0 {
        return format!("{elapsed_s:.2} s");
    }
    let seconds = Duration::from_secs_f64(elapsed_s).as_secs();
    let minutes = seconds / 60;
    if minutes < 60 {
        format!("{minutes} min {:02} s", seconds % 60)
    } else {
        format!("{} h {:02} min", minutes / 60, minutes % 60)
    }
}

/// A count, and its share of the whole in percent.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    format!("{} ({percent:.1} %)", HumanCount(part))
}
