//! How sure a median is of runs on a machine that others share.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::CONFIDENCE;
use crate::bench::cases::Measured;
use crate::bench::statistics::{median, median_absolute_deviation};
use crate::bench::{ErrorCell, Run};

/// Standard deviation of a normal distribution over its median absolute deviation.
const DEVIATION: f64 = 1.482_6;

/// Standard error of the median of normal values over that of their mean: sqrt(pi / 2).
const OF_MEDIAN: f64 = 1.253_314;

/// Blocks of neighbouring rounds.
const BLOCKS: usize = 3;

/// Runs of a case from which on their noise can be told.
const LEAST_RUNS: usize = 3;

/// The share of its folder's usual noise that every case has at least.
const LEAST_SHARE: f64 = 0.5;

/// How long a case takes, as a logarithm, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Median of the logarithms of the seconds of a pass.
    pub(super) center: f64,
    /// Its standard error; NaN of fewer than [`LEAST_RUNS`] runs.
    pub(super) error: f64,
    /// Degrees of freedom of that.
    freedom: f64,
}

impl Level {
    /// The level of a case, of seconds over those of the reference if they are
    /// divided by it.
    pub(super) fn of(case: &Measured<'_>, divides: bool) -> Self {
        let references = case.runs.iter().filter_map(|run| run.reference_s);
        // The median: a reference is so short that a single one may well be disturbed.
        let reference = match divides {
            true => median(&references.collect::<Vec<f64>>()),
            false => 1.0,
        };
        let logs = case.runs.iter().map(|run| (run.pass_s() / reference).ln());
        let logs: Vec<f64> = logs.collect();
        let error = match logs.len() {
            0..LEAST_RUNS => f64::NAN,
            _ => within(&logs).max(between(&logs)),
        };
        Level {
            center: median(&logs),
            error,
            freedom: (logs.len() as f64 - 1.0).max(1.0),
        }
    }
}

/// The standard error of a median by what single values differ by.
fn within(logs: &[f64]) -> f64 {
    OF_MEDIAN * DEVIATION * median_absolute_deviation(logs) / (logs.len() as f64).sqrt()
}

/// The standard error of the mean of blocks of neighbours, by what their medians differ by; 0 where blocks would be
/// single values.
fn between(logs: &[f64]) -> f64 {
    if logs.len() < 2 * BLOCKS {
        return 0.0;
    }
    let bound = |block: usize| block * logs.len() / BLOCKS;
    let medians: Vec<f64> = (0..BLOCKS)
        .filter_map(|i| logs.get(bound(i)..bound(i + 1)))
        .map(median)
        .collect();
    let mean = medians.iter().sum::<f64>() / BLOCKS as f64;
    let squares: f64 = medians.iter().map(|median| (median - mean).powi(2)).sum();
    (squares / (BLOCKS as f64 - 1.0) / BLOCKS as f64).sqrt()
}

/// Levels of a folder, none of which is much surer than is usual there.
pub(super) fn at_least_usual(mut levels: Vec<Level>) -> Vec<Level> {
    let errors: Vec<f64> = levels
        .iter()
        .map(|level| level.error)
        .filter(|error| !error.is_nan())
        .collect();
    let least = LEAST_SHARE * median(&errors);
    for level in &mut levels {
        if !level.error.is_nan() {
            level.error = level.error.max(least);
        }
    }
    levels
}

/// How far the difference of two levels may be off, by Student's distribution; NaN where it is not known.
pub(super) fn reach(a: Level, b: Level) -> f64 {
    let quantile = StudentsT::new(0.0, 1.0, a.freedom + b.freedom);
    let quantile = quantile.map(|student| student.inverse_cdf(0.5 + CONFIDENCE / 2.0));
    quantile.unwrap_or(f64::NAN) * a.error.hypot(b.error)
}

/// How many standard errors an error may differ by.
pub(super) fn normal_reach() -> f64 {
    Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

/// The standard error of the logarithm of a root mean square error, by the interval of its ratio.
pub(super) fn log_error(cell: &ErrorCell) -> Option<f64> {
    let (low, high) = cell.error_ratio_low.zip(cell.error_ratio_high)?;
    let width = (high / low).ln();
    // An interval of 95 % is so many standard errors wide.
    (low > 0.0 && width > 0.0).then_some(width / 3.919_928)
}

/// How long the reference loop took in B, over A.
pub(super) fn reference_ratio(a: &[Run], b: &[Run]) -> Option<f64> {
    let references = |runs: &[Run]| {
        runs.iter()
            .filter_map(|run| run.reference_s)
            .collect::<Vec<f64>>()
    };
    let ratio = median(&references(b)) / median(&references(a));
    ratio.is_finite().then_some(ratio)
}
