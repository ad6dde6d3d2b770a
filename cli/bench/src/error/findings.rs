//! Which schemes deviate from what theory expects, and where: from the cells alone.
//!
//! If every scheme is sound, one in a hundred folders shows a *finding* of each kind: probabilities are compared with
//! [`SIGNIFICANCE`] over the number of cells (Bonferroni). The bound holds for dependent cells, and cells do depend on
//! each other, since all schemes sign the same pairs. Pooled coverage is not a test: it has fixed limits, which few
//! trials can exceed by chance.
//!
//! Deviations below the resolution of the trials are not found. Values of 22 bits, for example, shift estimates by 0.01
//! for sets of 100,000 elements, but by 0.001 for 10,000, which is a thirtieth of the standard error of 128 slots.

use std::collections::BTreeMap;
use std::fmt;

use crate::record::once;
use crate::statistics::{chi_square_tail, student_p};
use crate::{ErrorCell, Varied};

/// Probability of a finding of one kind in a folder of sound schemes.
const SIGNIFICANCE: f64 = 0.01;

/// Least and greatest pooled coverage of the stated 95 % intervals.
const COVERAGE: std::ops::RangeInclusive<f64> = 0.93..=0.97;

/// Least probability that is written as a number.
const LEAST_SHOWN: f64 = 1e-99;

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The mean error is not 0.
    Bias,
    /// Matches vary more than those of independent slots.
    Dispersion,
    /// Matches of independent slots do not fit a binomial.
    Fit,
    /// The stated 95 % intervals of a mixing scheme with independent slots cover less than 93 % or more than 97 % over
    /// all cells of 128 or more slots whose similarity is neither 0 nor 1.
    Coverage,
}

/// A deviation of one scheme on one input, or on all inputs for coverage.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Kind of deviation.
    pub fault: Fault,
    /// The scheme.
    pub scheme: String,
    /// Whether it is expected: without mixing, linear permutations are biased on arithmetic progressions.
    pub is_known: bool,
    /// The cell with the greatest deviation.
    pub worst: ErrorCell,
    /// Bias, dispersion, probability of the fit, or pooled coverage.
    pub figure: f64,
    /// Number of deviating cells.
    pub cells: usize,
}

impl fmt::Display for Finding {
    /// A sentence such as `mersenne31 is biased on arithmetic progressions: -0.067 at J = 0.50 (1000 elements, 128
    /// slots), and in 11 more cells`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { scheme, figure, .. } = self;
        let scheme = match self.worst.tool.as_str() {
            "simgpu" => scheme.clone(),
            tool => format!("{scheme} of {tool}"),
        };
        let input = match self.worst.input.as_str() {
            "random" => "random hashes",
            "interval" => "dense integers",
            "progression" => "arithmetic progressions",
            "zipf" => "shingles of Zipf-distributed words",
            "edits" => "edited texts",
            "counts" => "bags of counted elements",
            "stars" => "sets weighted by stars",
            "exponential" => "sets of exponential weights",
            "pareto" => "sets of Pareto weights",
            other => other,
        };
        match self.fault {
            Fault::Bias => write!(f, "{scheme} is biased on {input}: {figure:+.3}")?,
            Fault::Dispersion => write!(
                f,
                "matches of {scheme} vary too much on {input}: {figure:.2} times the variance of independent slots"
            )?,
            Fault::Fit if *figure < LEAST_SHOWN => write!(
                f,
                "matches of {scheme} are not binomial on {input}: p < {LEAST_SHOWN:e}"
            )?,
            Fault::Fit => write!(
                f,
                "matches of {scheme} are not binomial on {input}: p = {figure:.0e}"
            )?,
            Fault::Coverage => {
                let percent = 100.0 * figure;
                return write!(
                    f,
                    "the 95 % intervals of {scheme} cover {percent:.1} % of {} cells",
                    self.cells
                );
            }
        }
        let cell = &self.worst;
        let elements = cell.set_size;
        let slots = cell.num_perm;
        write!(
            f,
            " at J = {:.2} ({elements} elements, {slots} slots",
            cell.similarity
        )?;
        if cell.slot_bits < 32 {
            write!(f, " of {} bits", cell.slot_bits)?;
        }
        match self.cells {
            1 => f.write_str(")"),
            cells => write!(f, "), and in {} more cells", cells - 1),
        }
    }
}

/// All findings, unexpected ones first, by kind and scheme. A bias implies deviations of fit and dispersion on the same
/// input, which are left out.
pub fn findings(cells: &[ErrorCell]) -> Vec<Finding> {
    let cells = &once(cells);
    let dispersion = |cell: &ErrorCell| cell.dispersion.unwrap_or(f64::NAN);
    let fit = |cell: &ErrorCell| cell.fit_p.unwrap_or(f64::NAN);
    let mut findings = significant(cells, Fault::Bias, bias_p, |cell| cell.bias);
    let mut others = significant(cells, Fault::Dispersion, dispersion_p, dispersion);
    others.extend(significant(cells, Fault::Fit, |cell| cell.fit_p, fit));
    others.retain(|other| {
        let of = |it: &Finding| {
            (
                it.worst.tool.clone(),
                it.scheme.clone(),
                it.worst.input.clone(),
            )
        };
        findings.iter().all(|bias| of(bias) != of(other))
    });
    findings.append(&mut others);
    findings.extend(coverages(cells));
    findings.sort_by_key(|it| (it.is_known, it.fault, it.scheme.clone()));
    findings
}

/// Probability of so large a bias for an unbiased scheme.
fn bias_p(cell: &ErrorCell) -> Option<f64> {
    // A sum of equal numbers leaves a rounding error.
    const ROUNDING: f64 = 1e-12;
    if cell.trials < 2 || cell.bias.abs() < ROUNDING {
        return None;
    }
    let t = cell.bias / cell.bias_standard_error;
    Some(student_p(t, cell.trials as f64 - 1.0))
}

/// Probability of so large a dispersion for binomial matches. A sample variance is approximately chi-square distributed
/// with degrees of freedom that depend on the kurtosis of the samples.
fn dispersion_p(cell: &ErrorCell) -> Option<f64> {
    let chance = match cell.slot_bits {
        bits @ 0..32 => 0.5f64.powf(f64::from(bits)),
        _ => 0.0,
    };
    let probability = cell.similarity + (1.0 - cell.similarity) * chance;
    let variance_of_slot = probability * (1.0 - probability);
    let trials = cell.trials as f64;
    if trials < 2.0 || variance_of_slot <= 0.0 || is_mixture(cell) {
        return None;
    }
    let kurtosis = (1.0 - 6.0 * variance_of_slot) / (f64::from(cell.num_perm) * variance_of_slot);
    // Relative variance of a sample variance: 2 / (n - 1) + kurtosis / n. Of chi-square: 2 / degrees.
    let degrees = 2.0 / (2.0 / (trials - 1.0) + kurtosis / trials);
    Some(chi_square_tail(degrees * cell.dispersion?, degrees))
}

/// Whether similarities differ much between trials, as for edits of short texts. Matches then follow a mixture of
/// binomials.
fn is_mixture(cell: &ErrorCell) -> bool {
    cell.input == "edits" && cell.varied == Varied::Data && cell.set_size < 32
}

/// For each scheme and input, the worst of the cells whose probability is below the Bonferroni limit.
fn significant(
    cells: &[&ErrorCell],
    fault: Fault,
    probability: impl Fn(&ErrorCell) -> Option<f64>,
    figure: impl Fn(&ErrorCell) -> f64,
) -> Vec<Finding> {
    let tested: Vec<(&ErrorCell, f64)> = cells
        .iter()
        .filter_map(|cell| Some((*cell, probability(cell)?)))
        .collect();
    let limit = SIGNIFICANCE / tested.len() as f64;
    let mut flagged: BTreeMap<(&str, &str, &str), Vec<&ErrorCell>> = BTreeMap::new();
    for (cell, _) in tested.iter().filter(|(_, p)| *p < limit) {
        let key = (&*cell.tool, &*cell.scheme, &*cell.input);
        flagged.entry(key).or_default().push(*cell);
    }
    let finding = |cells: Vec<&ErrorCell>| {
        let excess = |cell: &ErrorCell| match fault {
            Fault::Fit => -figure(cell),
            _ => figure(cell).abs(),
        };
        let worst = cells
            .iter()
            .copied()
            .max_by(|a, b| excess(a).total_cmp(&excess(b)))?;
        Some(Finding {
            fault,
            scheme: worst.scheme.clone(),
            is_known: !worst.is_mixed && matches!(&*worst.input, "interval" | "progression"),
            worst: worst.clone(),
            figure: figure(worst),
            cells: cells.len(),
        })
    };
    flagged.into_values().filter_map(finding).collect()
}

/// Mixing schemes with independent slots whose pooled coverage is outside the limits.
fn coverages(cells: &[&ErrorCell]) -> Vec<Finding> {
    let mut schemes: BTreeMap<(&str, &str), Vec<&ErrorCell>> = BTreeMap::new();
    let is_tested = |cell: &&ErrorCell| cell.is_mixed && cell.has_independent_slots;
    for cell in cells.iter().copied().filter(is_tested).filter(is_pooled) {
        let key = (&*cell.tool, &*cell.scheme);
        schemes.entry(key).or_default().push(cell);
    }
    let finding = |cells: Vec<&ErrorCell>| {
        let (coverage, _) = pooled_coverage(&cells)?;
        let off = |cell: &ErrorCell| (cell.coverage - cell.coverage_expected).abs();
        let worst = cells.iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
        (!COVERAGE.contains(&coverage)).then(|| Finding {
            fault: Fault::Coverage,
            scheme: worst.scheme.clone(),
            is_known: false,
            figure: coverage,
            cells: cells.len(),
            worst: (*worst).clone(),
        })
    };
    schemes.into_values().filter_map(finding).collect()
}

/// Least slots for which stated intervals are expected to have their stated coverage.
pub(crate) const LEAST_SLOTS_OF_COVERAGE: u32 = 128;

/// Whether a cell counts towards pooled coverage. Matches at similarities 0 and 1 are certain.
fn is_pooled(cell: &&ErrorCell) -> bool {
    cell.num_perm >= LEAST_SLOTS_OF_COVERAGE && cell.similarity > 0.0 && cell.similarity < 1.0
}

/// Share of trials whose stated 95 % interval contains the similarity, measured and for binomial matches, over cells of
/// 128 or more slots whose similarity is neither 0 nor 1. `None` without such a cell.
pub(crate) fn pooled_coverage(cells: &[&ErrorCell]) -> Option<(f64, f64)> {
    let pooled = || cells.iter().copied().filter(is_pooled);
    let trials: f64 = pooled().map(|cell| cell.trials as f64).sum();
    let mean = |of: fn(&ErrorCell) -> f64| {
        let shares = pooled().map(|cell| cell.trials as f64 * of(cell));
        shares.sum::<f64>() / trials
    };
    (trials > 0.0).then(|| {
        (
            mean(|cell| cell.coverage),
            mean(|cell| cell.coverage_expected),
        )
    })
}
