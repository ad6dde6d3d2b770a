//! How certain a time is on a shared machine.
//!
//! When one measurement was divided into six consecutive stretches, the medians of one case differed by up to a half,
//! whether or not they were divided by the time of the clock loop; the least times of nearly all cases differed by less
//! than a tenth. So two measurements are compared by their least times, and the noise of a case is how far the third-
//! smallest of the least times of six stretches exceeds the smallest.

use crate::cases::MeasuredCase;
use crate::statistics::{median, normal_reach};
use crate::{ErrorCell, TimedRun};

/// Number of stretches of consecutive rounds.
const STRETCHES: usize = 6;

/// Rank, from 0, of the least time of a stretch that confirms the overall least.
const CONFIRMS: usize = 2;

/// How far a ratio may be off, in multiples of the combined noise of both cases.
const REACH: f64 = 2.0;

/// Logarithm of the undisturbed time of a case, and its noise.
///
/// Other programs only add to a time, and they do so in stretches: medians of two measurements of a case can differ by
/// half, while least times agree within one percent. The least times of other stretches show how certain the overall
/// least is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Logarithm of the least seconds per pass.
    pub(super) least: f64,
    /// Excess of the third least time of a stretch; NaN for fewer stretches.
    noise: f64,
}

impl Level {
    /// Level of the first `runs` runs of a case. Both sides need the same number, since more runs have a lower least.
    pub(super) fn of(case: &MeasuredCase<'_>, runs: usize) -> Self {
        let pass_s = case.pass_s();
        let logs: Vec<f64> = pass_s.iter().take(runs).map(|pass_s| pass_s.ln()).collect();
        let stretches = STRETCHES.min(logs.len());
        let bound = |stretch: usize| stretch * logs.len() / stretches.max(1);
        let mut leasts: Vec<f64> = (0..stretches)
            .filter_map(|i| logs.get(bound(i)..bound(i + 1)))
            .filter_map(|stretch| stretch.iter().copied().min_by(f64::total_cmp))
            .collect();
        leasts.sort_by(f64::total_cmp);
        let least = leasts.first().copied().unwrap_or(f64::NAN);
        let confirmed = leasts.get(CONFIRMS).copied().unwrap_or(f64::NAN);
        Level {
            least,
            noise: confirmed - least,
        }
    }
}

/// Levels with noise of at least the median noise of their folder.
pub(super) fn at_least_usual(mut levels: Vec<Level>) -> Vec<Level> {
    let known = levels.iter().map(|level| level.noise);
    let known: Vec<f64> = known.filter(|noise| !noise.is_nan()).collect();
    let usual = median(&known);
    for level in &mut levels {
        if !level.noise.is_nan() {
            level.noise = level.noise.max(usual);
        }
    }
    levels
}

/// How far the difference of two levels may be off; NaN if unknown.
pub(super) fn reach(a: Level, b: Level) -> f64 {
    REACH * a.noise.hypot(b.noise)
}

/// Standard error of the logarithm of a root mean square error, from the interval of its ratio.
pub(super) fn log_error(cell: &ErrorCell) -> Option<f64> {
    let (low, high) = cell.error_ratio_low.zip(cell.error_ratio_high)?;
    let width = (high / low).ln();
    (low > 0.0 && width > 0.0).then_some(width / (2.0 * normal_reach(0.95)))
}

/// Least seconds of the reference loop, B over A: the inverse ratio of clock rates.
pub(super) fn reference_ratio(a: &[TimedRun], b: &[TimedRun]) -> Option<f64> {
    let least = |runs: &[TimedRun]| {
        let references = runs.iter().filter_map(|run| run.reference_s);
        references.min_by(f64::total_cmp)
    };
    let ratio = least(b)? / least(a)?;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}
