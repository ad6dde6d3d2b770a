//! How each case and cell changed from A to B.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::noise::{self, Level, reach};
use crate::case::Case;
use crate::cases::{MeasuredCase, cases};
use crate::folder::ResultsFolder;
use crate::record::{CellKind, ErrorCell, PipelineResult, once};
use crate::statistics::normal_reach;

/// Probability that chance alone makes any cell of errors differ. Cells of equal seeds are equal.
const SIGNIFICANCE: f64 = 0.01;

/// Least difference from 1 of a ratio that is slower or faster.
pub(super) const LEAST_DIFFERENCE: f64 = 0.05;

/// A case is noisy if its ratio may be off by more than this factor.
const NOISY: f64 = 1.2;

/// How a case changed from A to B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B takes less time.
    Faster,
    /// B takes more time.
    Slower,
    /// The difference is within noise.
    Equal,
    /// Too few runs to know the noise.
    Unknown,
}

/// A case in both folders.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseChange {
    /// The case.
    pub case: Case,
    /// Measured least seconds per pass in A and in B.
    pub least_s: [f64; 2],
    /// Time of B over that of A, each divided by the least time of the reference loop of its folder.
    pub ratio: f64,
    /// Interval of `ratio`.
    pub interval: [f64; 2],
    /// The conclusion.
    pub verdict: Verdict,
    /// Whether checksums differ.
    pub has_different_checksum: bool,
}

/// A cell of errors in both folders.
#[derive(Clone, Debug, PartialEq)]
pub struct CellChange {
    /// The cell in A.
    pub cell: ErrorCell,
    /// Bias of A and of B.
    pub bias: [f64; 2],
    /// Difference of biases over its standard error.
    pub bias_z: f64,
    /// Root mean square error of B over that of A; NaN if that of A is 0.
    pub error_ratio: f64,
    /// Logarithm of `error_ratio` over its standard error; 0 if unknown.
    pub error_z: f64,
    /// Whether bias and error are equal within noise.
    pub is_equal: bool,
}

/// Two folders side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderComparison {
    /// Machine and build of A and of B.
    pub environments: [Value; 2],
    /// Paths of A and B.
    pub paths: [String; 2],
    /// Cases of both, in the order of A.
    pub cases: Vec<CaseChange>,
    /// Cases of only A and of only B.
    pub only_cases: [Vec<Case>; 2],
    /// Cells of both, in the order of A.
    pub cells: Vec<CellChange>,
    /// Cells of only A and of only B.
    pub only_cells: [usize; 2],
    /// Rows of pipelines with different results in A and B. They do not depend on time.
    pub found: Vec<[PipelineResult; 2]>,
    /// Least seconds of the reference loop, B over A; `None` if it was not measured.
    pub reference_ratio: Option<f64>,
}

/// Compares the rows of two folders.
pub fn compare(a: &ResultsFolder, b: &ResultsFolder) -> FolderComparison {
    let (cases_a, cases_b) = (cases(&a.tables.runs), cases(&b.tables.runs));
    let reference_ratio = noise::reference_ratio(&a.tables.runs, &b.tables.runs);
    let (cases, only_cases) = compare_cases(&cases_a, &cases_b, reference_ratio.unwrap_or(1.0));
    let (cells, only_cells) = compare_cells(&a.tables.errors, &b.tables.errors);
    FolderComparison {
        environments: [a.environment.clone(), b.environment.clone()],
        paths: [a, b].map(|folder| folder.path().display().to_string()),
        cases,
        only_cases,
        cells,
        only_cells,
        found: changed_results(&a.tables.found, &b.tables.found),
        reference_ratio,
    }
}

impl CaseChange {
    /// Whether noise would hide a slowdown by a fifth.
    pub(super) fn is_noisy(&self) -> bool {
        let [low, high] = self.interval;
        self.verdict == Verdict::Equal && high / low > NOISY * NOISY
    }
}

impl FolderComparison {
    /// Number of cases with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.cases
            .iter()
            .filter(|change| change.verdict == verdict)
            .count()
    }
}

fn compare_cases(
    a: &[MeasuredCase<'_>],
    b: &[MeasuredCase<'_>],
    clock: f64,
) -> (Vec<CaseChange>, [Vec<Case>; 2]) {
    let cases_b: HashMap<&Case, &MeasuredCase<'_>> =
        b.iter().map(|case| (&case.case, case)).collect();
    let has_a: HashSet<&Case> = a.iter().map(|case| &case.case).collect();
    let pairs: Vec<_> = a
        .iter()
        .filter_map(|case| Some((case, *cases_b.get(&case.case)?)))
        .collect();
    let levels = |of: fn(&(&MeasuredCase<'_>, &MeasuredCase<'_>)) -> Level| {
        noise::at_least_usual(pairs.iter().map(of).collect())
    };
    let a_levels = levels(|(a, b)| Level::of(a, a.runs.len().min(b.runs.len())));
    let b_levels = levels(|(a, b)| Level::of(b, a.runs.len().min(b.runs.len())));
    let levels = a_levels.into_iter().zip(b_levels);
    let changes = pairs
        .iter()
        .zip(levels)
        .map(|((a, b), (level_a, level_b))| compare_case([a, b], [level_a, level_b], clock));
    let only_a = a.iter().filter(|case| !cases_b.contains_key(&case.case));
    let only_b = b.iter().filter(|case| !has_a.contains(&case.case));
    let cases_of = |case: &MeasuredCase<'_>| case.case.clone();
    (
        changes.collect(),
        [
            only_a.map(cases_of).collect(),
            only_b.map(cases_of).collect(),
        ],
    )
}

fn compare_case([a, b]: [&MeasuredCase<'_>; 2], levels: [Level; 2], clock: f64) -> CaseChange {
    let [level_a, level_b] = levels;
    let has_own_clock = a.case.is_on_device() && !a.case.is_on_software();
    let clock = if has_own_clock { 1.0 } else { clock };
    let difference = level_b.least - level_a.least - clock.ln();
    let reach = reach(level_a, level_b);
    let ratio = difference.exp();
    let interval = [(difference - reach).exp(), (difference + reach).exp()];
    let [low, high] = interval;
    let verdict = if !reach.is_finite() {
        Verdict::Unknown
    } else if low > 1.0 && ratio > 1.0 + LEAST_DIFFERENCE {
        Verdict::Slower
    } else if high < 1.0 && ratio < 1.0 / (1.0 + LEAST_DIFFERENCE) {
        Verdict::Faster
    } else {
        Verdict::Equal
    };
    CaseChange {
        case: a.case.clone(),
        least_s: [level_a.least.exp(), level_b.least.exp()],
        ratio,
        interval,
        verdict,
        has_different_checksum: a.checksum() != b.checksum(),
    }
}

/// What two measurements of the same cell share. What computed a cell counts only where several backends measured its
/// kind of pair, since machines differ in their instructions and older tables do not name them.
type CellKey<'a> = (CellKind<'a>, Option<String>);

fn keys(cells: &[ErrorCell]) -> Vec<(CellKey<'_>, &ErrorCell)> {
    let first = once(cells).into_iter();
    let first: HashMap<_, _> = first.map(|cell| (cell.kind(), cell.computer())).collect();
    let key = |cell: &'_ ErrorCell| {
        let computer = cell.computer();
        let is_first = first.get(&cell.kind()) == Some(&computer);
        (!is_first).then_some(computer)
    };
    cells
        .iter()
        .map(|cell| ((cell.kind(), key(cell)), cell))
        .collect()
}

fn compare_cells(a: &[ErrorCell], b: &[ErrorCell]) -> (Vec<CellChange>, [usize; 2]) {
    let (in_a, in_b) = (keys(a), keys(b));
    let cells_a: HashMap<&CellKey<'_>, &ErrorCell> =
        in_a.iter().map(|(key, it)| (key, *it)).collect();
    let cells_b: HashMap<&CellKey<'_>, &ErrorCell> =
        in_b.iter().map(|(key, it)| (key, *it)).collect();
    // Two tests per cell.
    let reach = normal_reach(1.0 - SIGNIFICANCE / (2 * a.len().max(1)) as f64);
    let pair =
        |(key, a): &(CellKey<'_>, &ErrorCell)| Some(compare_cell(a, cells_b.get(key)?, reach));
    let only_a = cells_a
        .keys()
        .filter(|key| !cells_b.contains_key(*key))
        .count();
    let only_b = cells_b
        .keys()
        .filter(|key| !cells_a.contains_key(*key))
        .count();
    (in_a.iter().filter_map(pair).collect(), [only_a, only_b])
}

fn compare_cell(a: &ErrorCell, b: &ErrorCell, reach: f64) -> CellChange {
    let standard_error = a.bias_standard_error.hypot(b.bias_standard_error);
    let over = |difference: f64, standard_error: f64| match difference {
        0.0 => 0.0,
        difference => difference / standard_error,
    };
    let bias_z = over(b.bias - a.bias, standard_error);
    let error_ratio = b.root_mean_square_error / a.root_mean_square_error;
    let error_z = match noise::log_error(a).zip(noise::log_error(b)) {
        Some((error_a, error_b)) => over(error_ratio.ln(), error_a.hypot(error_b)),
        None => 0.0,
    };
    let is_within = |z: f64| z.abs() <= reach;
    CellChange {
        cell: a.clone(),
        bias: [a.bias, b.bias],
        bias_z,
        error_ratio,
        error_z,
        is_equal: is_within(bias_z) && is_within(error_z),
    }
}

/// Rows of the same pipeline with different results.
fn changed_results(a: &[PipelineResult], b: &[PipelineResult]) -> Vec<[PipelineResult; 2]> {
    let run = |row: &PipelineResult| {
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
    let rows_b: HashMap<_, &PipelineResult> = b.iter().map(|row| (run(row), row)).collect();
    let changed = |a: &PipelineResult| {
        let b = *rows_b.get(&run(a))?;
        let counts = |row: &PipelineResult| {
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
    a.iter().filter_map(changed).collect()
}
