//! What makes figures doubtful, and what to try.

use super::table::{Table, percent, seconds};
use super::{Section, Topic};
use crate::cases::MeasuredCase;
use crate::statistics::{median, median_absolute_deviation};

/// Least runs of a case for a meaningful median.
const LEAST_RUNS: usize = 5;

/// Modified z-scores beyond this are outliers (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993).
const OUTLIER: f64 = 3.5;

/// Least distance of an outlier from the median, as a share of it, for a warning.
const OUTLIER_EFFECT: f64 = 0.15;

/// Least span of the middle 80 % of reference times, as a share of their median, of an unsteady clock.
const UNSTEADY: f64 = 0.1;

/// Most cases that a warning names.
const NAMED: usize = 3;

pub(super) fn section(cases: &[MeasuredCase<'_>]) -> Section {
    let mut table = Table::new(["symptom", "what to try"]);
    for warning in [
        unsteady(cases),
        first_slow(cases),
        outliers(cases),
        few(cases),
        differing(cases),
    ] {
        table.rows.extend(warning.map(Vec::from));
    }
    Section {
        topic: Topic::Warnings,
        note: String::new(),
        table,
    }
}

type Warning = Option<[String; 2]>;

/// A warning about some cases, with the names of the first.
fn about(cases: &[&MeasuredCase<'_>], seen: &str, advice: &str) -> Warning {
    let named: Vec<String> = cases
        .iter()
        .take(NAMED)
        .map(|case| case.case.describe())
        .collect();
    let more = match cases.len().checked_sub(NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!("; and {more} more"),
    };
    let what = format!("{seen}: {} ({}{more})", cases.len(), named.join("; "));
    (!cases.is_empty()).then(|| [what, advice.to_owned()])
}

fn unsteady(cases: &[MeasuredCase<'_>]) -> Warning {
    let runs = cases.iter().flat_map(|case| &case.runs);
    let mut references: Vec<f64> = runs.filter_map(|run| run.reference_s).collect();
    references.sort_by(f64::total_cmp);
    let tenth = references.len() / 10;
    let (least, greatest) = (references.get(tenth)?, references.iter().nth_back(tenth)?);
    let spread = (greatest - least) / median(&references);
    (spread > UNSTEADY).then(|| {
        let (spread, least) = (percent(spread), seconds(*least));
        [
            format!("The clock is unsteady: in the middle 80 % of runs, a fixed loop took {least} to {} (spread: {spread} of the median).", seconds(*greatest)),
            "Set the CPU governor to performance, plug in the charger, end other programs, and measure again.".to_owned(),
        ]
    })
}

fn first_slow(cases: &[MeasuredCase<'_>]) -> Warning {
    let is_slow = |case: &&MeasuredCase<'_>| {
        let pass_s = case.pass_s();
        let scores = modified_z_scores(&pass_s);
        let (Some(first), Some(score)) = (pass_s.first(), scores.first()) else {
            return false;
        };
        pass_s.len() >= LEAST_RUNS
            && *score > OUTLIER
            && *first > (1.0 + OUTLIER_EFFECT) * median(&pass_s)
    };
    let slow: Vec<_> = cases.iter().filter(is_slow).collect();
    // A single slow first run is as likely as any other slow run.
    let is_usual = slow.len() * 10 > cases.len();
    let seen = "Cases whose first run was much slower than the others";
    about(
        &slow,
        seen,
        "Caches were cold: wait until the disk is idle, and measure again.",
    )
    .filter(|_| is_usual)
}

fn outliers(cases: &[MeasuredCase<'_>]) -> Warning {
    let has_many = |case: &&MeasuredCase<'_>| {
        let pass_s = case.pass_s();
        let center = median(&pass_s);
        let scores = modified_z_scores(&pass_s);
        let is_far = |(seconds, score): &(&f64, &f64)| {
            score.abs() > OUTLIER && (*seconds / center - 1.0).abs() > OUTLIER_EFFECT
        };
        let far = pass_s.iter().zip(&scores).filter(is_far).count();
        far > 0 && pass_s.len() >= LEAST_RUNS
    };
    let disturbed: Vec<_> = cases.iter().filter(has_many).collect();
    let seen = "Cases with runs far from their median";
    about(
        &disturbed,
        seen,
        "Other programs used the core: measure on an idle machine. Medians tolerate a few outliers.",
    )
}

fn few(cases: &[MeasuredCase<'_>]) -> Warning {
    let few: Vec<_> = cases
        .iter()
        .filter(|case| case.runs.len() < LEAST_RUNS)
        .collect();
    let seen = "Cases with fewer than five runs";
    about(
        &few,
        seen,
        "Measure without --quick, or fewer cases: --parts, --backends, --schemes, --lengths.",
    )
}

fn differing(cases: &[MeasuredCase<'_>]) -> Warning {
    let has_several = |case: &&MeasuredCase<'_>| {
        case.runs
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.checksum != b.checksum))
    };
    let differing: Vec<_> = cases.iter().filter(has_several).collect();
    let seen = "Cases whose runs computed different results";
    about(
        &differing,
        seen,
        "Do not trust this machine: run simgpu selftest.",
    )
}

/// Modified z-scores: distances from the median over the standard deviation that the median absolute deviation implies
/// for a normal distribution (Iglewicz and Hoaglin 1993, factor 0.6745). If it is 0, values off the median have
/// infinite scores.
fn modified_z_scores(values: &[f64]) -> Vec<f64> {
    let center = median(values);
    let deviation = median_absolute_deviation(values);
    let score = |value: &f64| match value - center {
        0.0 => 0.0,
        distance => 0.6745 * distance / deviation,
    };
    values.iter().map(score).collect()
}
