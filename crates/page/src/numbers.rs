//! Numbers and names as people read them.

use simgpu::progress::counted;

/// Names that are listed, at most.
const LISTED: usize = 4;

/// Letters of a value that are shown, at most.
const LETTERS: usize = 300;

/// A share in per cent.
#[doc(hidden)]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A score, a similarity or a number of points.
#[doc(hidden)]
pub fn scored(score: f64) -> String {
    match score.abs() {
        small if small < 10.0 => format!("{score:.3}"),
        _ => format!("{score:.1}"),
    }
}

/// Names with commas between them.
#[doc(hidden)]
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// The names of the files of a collection.
#[doc(hidden)]
pub fn names(files: &[String]) -> String {
    match files.split_at_checked(LISTED) {
        Some((first, more)) if !more.is_empty() => {
            format!(
                "{} and {} more",
                first.join(", "),
                counted(more.len() as u64, "file")
            )
        }
        _ => listed(files),
    }
}

/// A value short enough for a table.
#[doc(hidden)]
pub fn short(value: &str) -> String {
    match value.char_indices().nth(LETTERS) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
    }
}
