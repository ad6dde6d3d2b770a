//! How long a run took, and how much memory.

use std::fmt::Write as _;

use simgpu::machine::peak_memory_bytes;
use simgpu::progress::{StageTime, Timings};
use simgpu_files::Outcome;
use simgpu_ratings::RatingsOutcome;

use super::numbers::{OTHER, duration, rate, size};
use super::summary::Lines;

/// Stages shorter than this would show as `0.00 s`.
const SHOWN_S: f64 = 0.005;

/// Adds the time of each stage, the total time, and the peak memory. Merges short stages into `other`.
pub(crate) fn times(lines: &mut Lines, outcome: &Outcome) {
    let elapsed_s = outcome.elapsed_s;
    let since = match outcome.resumed {
        0 => rate(outcome.report.counts.bytes, elapsed_s),
        _ => "since the run went on".to_owned(),
    };
    let total = format!("{}, {since}", duration(elapsed_s));
    times_and_total(lines, &outcome.timings, total);
}

/// The same for a run without a rate.
pub(crate) fn stage_times(lines: &mut Lines, timings: &Timings, elapsed_s: f64) {
    times_and_total(lines, timings, duration(elapsed_s));
}

fn times_and_total(lines: &mut Lines, timings: &Timings, total: String) {
    let is_other = |time: &StageTime| time.stage == OTHER || time.elapsed_s < SHOWN_S;
    let mut other_s = 0.0;
    let mut shows_parts = true;
    for time in &timings.0 {
        if time.is_part {
            if shows_parts && time.elapsed_s >= SHOWN_S {
                lines.row("", format!("  {} {}", time.stage, duration(time.elapsed_s)));
            }
            continue;
        }
        shows_parts = !is_other(time);
        if is_other(time) {
            other_s += time.elapsed_s;
            continue;
        }
        let mut value = duration(time.elapsed_s);
        if time.bytes > 0 {
            let _ = write!(value, ", {}", rate(time.bytes, time.elapsed_s));
        }
        lines.row(time.stage, value);
    }
    if other_s >= SHOWN_S {
        lines.row(OTHER, duration(other_s));
    }
    lines.row("total", total);
    let on_disk = timings.0.iter().filter_map(|time| time.on_disk);
    let written: u64 = on_disk.map(|used| used.written_bytes).sum();
    if written > 0 {
        lines.row(
            "on disk",
            format!("{} written to temporary files", size(written)),
        );
    }
    peak_memory(lines);
}

/// Adds the times of stages that read ratings and find neighbours.
pub(crate) fn times_of_ratings(lines: &mut Lines, outcome: &RatingsOutcome) {
    for time in &outcome.timings.0 {
        if time.stage != OTHER && time.elapsed_s >= SHOWN_S {
            lines.row(time.stage, duration(time.elapsed_s));
        }
    }
    lines.row("total", duration(outcome.elapsed_s));
    peak_memory(lines);
}

fn peak_memory(lines: &mut Lines) {
    if let Some(peak) = peak_memory_bytes() {
        lines.row("peak memory", size(peak));
    }
}
