//! Two folders beside each other, with their noise taken into account.
//!
//! Of each case the least time is compared, since what others do on a shared machine only adds to it. Its noise is by how
//! much the third least of six stretches of rounds exceeds it, and never less than is usual in its folder: twice that of both
//! is how far a ratio may be off.
//! Medians, divided by the reference loop or not, can move by a third from one short measurement to the next.

mod noise;

mod text;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use self::noise::{Level, reach};
use super::cases::{Measured, cases};
use super::folder::Folder;
use super::record::Case;
use super::statistics::normal_reach;
use super::{ErrorCell, Found};

/// How probable it may be that chance alone makes any cell of errors differ. Cells of the same seeds are equal.
const SIGNIFICANCE: f64 = 0.01;

/// No ratio that is nearer to 1 than this is called a difference.
pub const LEAST_DIFFERENCE: f64 = 0.05;

/// A case whose ratio may be off by more than this shows no change that is worth a look.
const WORTH: f64 = 1.2;

/// What became of a case from A to B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B takes less time.
    Faster,
    /// B takes more time.
    Slower,
    /// No more than noise.
    Equal,
    /// There are too few runs to know their noise.
    Unknown,
}

/// A case that is in both folders.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The case.
    pub case: Case,
    /// Least seconds of a pass in A and in B, as they were measured.
    pub least_s: [f64; 2],
    /// Time of B over that of A, both by the least time of the reference loop in their folders.
    pub ratio: f64,
    /// An interval of `ratio`.
    pub interval: [f64; 2],
    /// What follows.
    pub verdict: Verdict,
    /// Whether both computed something else.
    pub has_other_checksum: bool,
}

/// A cell of errors that is in both folders.
#[derive(Clone, Debug, PartialEq)]
pub struct Erred {
    /// The cell, as it is in A.
    pub cell: ErrorCell,
    /// Bias of A and of B.
    pub bias: [f64; 2],
    /// The difference of biases over its standard error.
    pub bias_z: f64,
    /// Root mean square error of B over that of A; NaN where A has none.
    pub error_ratio: f64,
    /// The logarithm of `error_ratio` over its standard error; 0 where that is not known.
    pub error_z: f64,
    /// Whether neither differs by more than noise.
    pub is_equal: bool,
}

/// Two folders beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What A and B were measured on.
    pub environments: [Value; 2],
    /// Where they are.
    pub paths: [String; 2],
    /// Cases of both, in the order of A.
    pub timed: Vec<Timed>,
    /// Cases of only A and of only B.
    pub only: [Vec<Case>; 2],
    /// Cells of both, in the order of A.
    pub erred: Vec<Erred>,
    /// Cells of only A and of only B.
    pub only_erred: [usize; 2],
    /// What was found in A and otherwise in B, though nothing of it depends on time.
    pub found: Vec<[Found; 2]>,
    /// Least seconds of the reference loop, B over A; none where it was not measured.
    pub reference_ratio: Option<f64>,
}

/// Sets the rows of two folders side by side.
pub fn compare(a: &Folder, b: &Folder) -> Comparison {
    let (cases_a, cases_b) = (cases(&a.tables.runs), cases(&b.tables.runs));
    let reference_ratio = noise::reference_ratio(&a.tables.runs, &b.tables.runs);
    let (timed, only) = timed(&cases_a, &cases_b, reference_ratio.unwrap_or(1.0));
    let (erred, only_erred) = erred(&a.tables.errors, &b.tables.errors);
    Comparison {
        environments: [a.environment.clone(), b.environment.clone()],
        paths: [a, b].map(|folder| folder.path().display().to_string()),
        timed,
        only,
        erred,
        only_erred,
        found: found(&a.tables.found, &b.tables.found),
        reference_ratio,
    }
}

impl Timed {
    /// Whether noise would hide a slowdown by a fifth.
    pub fn is_noisy(&self) -> bool {
        let [low, high] = self.interval;
        self.verdict == Verdict::Equal && high / low > WORTH * WORTH
    }
}

impl Comparison {
    /// How many cases came to a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.timed
            .iter()
            .filter(|timed| timed.verdict == verdict)
            .count()
    }
}

fn timed(a: &[Measured<'_>], b: &[Measured<'_>], clock: f64) -> (Vec<Timed>, [Vec<Case>; 2]) {
    let of_b: HashMap<&Case, &Measured<'_>> = b.iter().map(|case| (&case.case, case)).collect();
    let has_a: HashSet<&Case> = a.iter().map(|case| &case.case).collect();
    let pairs: Vec<_> = a
        .iter()
        .filter_map(|case| Some((case, *of_b.get(&case.case)?)))
        .collect();
    let levels = |of: fn(&(&Measured<'_>, &Measured<'_>)) -> Level| {
        noise::at_least_usual(pairs.iter().map(of).collect())
    };
    let a_levels = levels(|(a, b)| Level::of(a, a.runs.len().min(b.runs.len())));
    let b_levels = levels(|(a, b)| Level::of(b, a.runs.len().min(b.runs.len())));
    let levels = a_levels.into_iter().zip(b_levels);
    let timed = pairs
        .iter()
        .zip(levels)
        .map(|((a, b), (level_a, level_b))| timed_pair([a, b], [level_a, level_b], clock));
    let only_a = a.iter().filter(|case| !of_b.contains_key(&case.case));
    let only_b = b.iter().filter(|case| !has_a.contains(&case.case));
    let cases_of = |case: &Measured<'_>| case.case.clone();
    (
        timed.collect(),
        [
            only_a.map(cases_of).collect(),
            only_b.map(cases_of).collect(),
        ],
    )
}

fn timed_pair([a, b]: [&Measured<'_>; 2], levels: [Level; 2], clock: f64) -> Timed {
    let [level_a, level_b] = levels;
    // A device has a clock of its own.
    let clock = if a.case.is_on_device() { 1.0 } else { clock };
    let difference = level_b.least - level_a.least - clock.ln();
    let reach = reach(level_a, level_b);
    let ratio = difference.exp();
    let interval = [(difference - reach).exp(), (difference + reach).exp()];
    let [low, high] = interval;
    let verdict = match reach.is_finite() {
        false => Verdict::Unknown,
        true if low > 1.0 && ratio > 1.0 + LEAST_DIFFERENCE => Verdict::Slower,
        true if high < 1.0 && ratio < 1.0 / (1.0 + LEAST_DIFFERENCE) => Verdict::Faster,
        true => Verdict::Equal,
    };
    Timed {
        case: a.case.clone(),
        least_s: [level_a.least.exp(), level_b.least.exp()],
        ratio,
        interval,
        verdict,
        has_other_checksum: a.checksum() != b.checksum(),
    }
}

/// What two cells have in common that measured the same.
type Cell<'a> = (&'a str, &'a str, u32, u32, &'a str, super::Varied, u64, i64);

fn key(cell: &ErrorCell) -> Cell<'_> {
    // Where data vary, so does their mean similarity, a little.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "similarities are from 0 to 1"
    )]
    let similarity = (cell.similarity * 100.0).round() as i64;
    (
        &cell.tool,
        &cell.scheme,
        cell.slot_bits,
        cell.num_perm,
        &cell.input,
        cell.varied,
        cell.set_size,
        similarity,
    )
}

fn erred(a: &[ErrorCell], b: &[ErrorCell]) -> (Vec<Erred>, [usize; 2]) {
    let of_b: BTreeMap<Cell<'_>, &ErrorCell> = b.iter().map(|cell| (key(cell), cell)).collect();
    let of_a: BTreeMap<Cell<'_>, &ErrorCell> = a.iter().map(|cell| (key(cell), cell)).collect();
    // Two tests a cell.
    let reach = normal_reach(1.0 - SIGNIFICANCE / (2 * a.len().max(1)) as f64);
    let pair = |a: &ErrorCell| Some(erred_pair(a, of_b.get(&key(a))?, reach));
    let only_a = of_a.keys().filter(|key| !of_b.contains_key(*key)).count();
    let only_b = of_b.keys().filter(|key| !of_a.contains_key(*key)).count();
    (a.iter().filter_map(pair).collect(), [only_a, only_b])
}

fn erred_pair(a: &ErrorCell, b: &ErrorCell, reach: f64) -> Erred {
    let standard_error = a.bias_standard_error.hypot(b.bias_standard_error);
    let over = |difference: f64, standard_error: f64| match difference {
        0.0 => 0.0,
        difference => difference / standard_error,
    };
    let bias_z = over(b.bias - a.bias, standard_error);
    let error_ratio = b.root_mean_square_error / a.root_mean_square_error;
    let error_z = match noise::log_error(a).zip(noise::log_error(b)) {
        Some((of_a, of_b)) => over(error_ratio.ln(), of_a.hypot(of_b)),
        None => 0.0,
    };
    let is_within = |z: f64| z.abs() <= reach;
    Erred {
        cell: a.clone(),
        bias: [a.bias, b.bias],
        bias_z,
        error_ratio,
        error_z,
        is_equal: is_within(bias_z) && is_within(error_z),
    }
}

/// Rows about the same runs of a pipeline that found something else.
fn found(a: &[Found], b: &[Found]) -> Vec<[Found; 2]> {
    let run = |row: &Found| {
        let (tool, corpus, scheme) = (row.tool.clone(), row.corpus.clone(), row.scheme.clone());
        let sizes = [row.num_perm, row.bands, row.rows, row.seed];
        (
            tool,
            corpus,
            scheme,
            row.verification.clone(),
            sizes,
            row.threshold.to_bits(),
            row.kept.is_some(),
        )
    };
    let of_b: HashMap<_, &Found> = b.iter().map(|row| (run(row), row)).collect();
    let other = |a: &Found| {
        let b = *of_b.get(&run(a))?;
        let counts = |row: &Found| {
            (
                row.documents,
                row.true_pairs,
                row.true_found,
                row.false_found,
                row.kept,
            )
        };
        (counts(a) != counts(b)).then(|| [a.clone(), b.clone()])
    };
    a.iter().filter_map(other).collect()
}
