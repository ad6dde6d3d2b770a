//! How sure a time is on a machine that others share.

use crate::bench::cases::Measured;
use crate::bench::statistics::{median, normal_reach};
use crate::bench::{ErrorCell, Run};

/// Stretches of neighbouring rounds.
const STRETCHES: usize = 6;

/// Which of their least times confirms the least of all, from 0.
const CONFIRMS: usize = 2;

/// How far a ratio may be off, as so many times the noise of both cases.
const REACH: f64 = 2.0;

/// How long a case takes where nothing disturbs it, as a logarithm, and how sure that is.
///
/// What others do on a machine only adds to a time, and it comes in stretches: the median of a case can be half above that of
/// the next measurement, while the least times agree to a hundredth. How sure a least time is, other stretches of the
/// measurement tell, which came near it or did not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// The logarithm of the least seconds of a pass.
    pub(super) least: f64,
    /// By how much the third least of what the stretches came to is above that; NaN of fewer runs than that.
    noise: f64,
}

impl Level {
    /// That of the first `runs` of a case: the least of more runs is less.
    pub(super) fn of(case: &Measured<'_>, runs: usize) -> Self {
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

/// Levels of a folder, none of which is surer than is usual there.
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

/// How far the difference of two levels may be off; NaN where it is not known.
pub(super) fn reach(a: Level, b: Level) -> f64 {
    REACH * a.noise.hypot(b.noise)
}

/// The standard error of the logarithm of a root mean square error, by the interval of its ratio.
pub(super) fn log_error(cell: &ErrorCell) -> Option<f64> {
    let (low, high) = cell.error_ratio_low.zip(cell.error_ratio_high)?;
    let width = (high / low).ln();
    (low > 0.0 && width > 0.0).then_some(width / (2.0 * normal_reach(0.95)))
}

/// How long the reference loop took at least in B, over A: the ratio of their clocks.
pub(super) fn reference_ratio(a: &[Run], b: &[Run]) -> Option<f64> {
    let least = |runs: &[Run]| {
        let references = runs.iter().filter_map(|run| run.reference_s);
        references.min_by(f64::total_cmp)
    };
    let ratio = least(b)? / least(a)?;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}
