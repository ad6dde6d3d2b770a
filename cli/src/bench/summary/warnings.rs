//! What makes figures doubtful, and what to try.

use super::table::{Table, percent, seconds};
use super::{Section, Topic};
use crate::bench::cases::Measured;
use crate::bench::statistics::{median, median_absolute_deviation};

/// Runs of a case from which on a median says something.
const LEAST_RUNS: usize = 5;

/// Modified z-scores beyond this are outliers (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993).
const OUTLIER: f64 = 3.5;

/// An outlier is worth a warning if it is so far from the median, as a share of it.
const OUTLIER_EFFECT: f64 = 0.15;

/// The clock is unsteady if the middle 80 % of all references span so much, as a share of their median.
const UNSTEADY: f64 = 0.1;

/// Cases that a warning names.
const NAMED: usize = 3;

pub(super) fn section(cases: &[Measured<'_>]) -> Section {
    let mut table = Table::new(["what was seen", "what to try"]);
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

/// A warning about some cases, of which the first are named.
fn about(cases: &[&Measured<'_>], seen: &str, advice: &str) -> Warning {
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

fn unsteady(cases: &[Measured<'_>]) -> Warning {
    let runs = cases.iter().flat_map(|case| &case.runs);
    let mut references: Vec<f64> = runs.filter_map(|run| run.reference_s).collect();
    references.sort_by(f64::total_cmp);
    let tenth = references.len() / 10;
    let (least, greatest) = (references.get(tenth)?, references.iter().nth_back(tenth)?);
    let spread = (greatest - least) / median(&references);
    (spread > UNSTEADY).then(|| {
        let (spread, least) = (percent(spread), seconds(*least));
        [
            format!("The clock is unsteady: a fixed loop took {least} to {} ({spread} of its median) in the middle 80 % of runs.", seconds(*greatest)),
            "Set the CPU's governor to performance, plug in the charger, end other programs, and measure again.".to_owned(),
        ]
    })
}

fn first_slow(cases: &[Measured<'_>]) -> Warning {
    let is_slow = |case: &&Measured<'_>| {
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
    // One first run is as likely to be disturbed as any other.
    let is_usual = slow.len() * 10 > cases.len();
    let seen = "Cases whose first run was much slower than the others";
    about(
        &slow,
        seen,
        "Caches were cold: wait until the disk is quiet, and measure again.",
    )
    .filter(|_| is_usual)
}

fn outliers(cases: &[Measured<'_>]) -> Warning {
    let has_many = |case: &&Measured<'_>| {
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
        "Other programs took the core: measure on a quiet machine. Medians bear a few of them.",
    )
}

fn few(cases: &[Measured<'_>]) -> Warning {
    let few: Vec<_> = cases
        .iter()
        .filter(|case| case.runs.len() < LEAST_RUNS)
        .collect();
    let seen = "Cases with fewer than five runs";
    about(
        &few,
        seen,
        "Measure longer, without --quick, or fewer cases: --parts, --backends, --schemes, --lengths.",
    )
}

fn differing(cases: &[Measured<'_>]) -> Warning {
    let has_several = |case: &&Measured<'_>| {
        case.runs
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.checksum != b.checksum))
    };
    let differing: Vec<_> = cases.iter().filter(has_several).collect();
    let seen = "Cases whose runs did not compute the same";
    about(
        &differing,
        seen,
        "Do not trust this machine: run simgpu selftest.",
    )
}

/// How far each value is from the median, in units of the standard deviation that the median absolute deviation
/// comes to for a normal distribution (Iglewicz and Hoaglin 1993, with its factor of 0.6745). Where that is 0, so are
/// the scores of values at the median, and the others are infinite.
fn modified_z_scores(values: &[f64]) -> Vec<f64> {
    let center = median(values);
    let deviation = median_absolute_deviation(values);
    let score = |value: &f64| match value - center {
        0.0 => 0.0,
        distance => 0.6745 * distance / deviation,
    };
    values.iter().map(score).collect()
}
