//! How far estimates are off: tables.

use std::collections::{BTreeSet, HashMap};

use super::table::{Table, count, digits, digits_if, percent, pivot};
use super::{Section, Topic};
use crate::ErrorCell;
use crate::cases::MeasuredCase;
use crate::error::{LEAST_SLOTS_OF_COVERAGE, pooled_coverage};
use crate::record::once;
use crate::statistics::mean;
use crate::tables::Tables;
use simgpu::scheme::DEFAULT_NUM_PERM;

/// Least width of a whole slot; slots of fewer bits are packed.
const WHOLE_SLOT_BITS: u32 = 32;

pub(super) fn sections(tables: &Tables) -> Vec<Section> {
    let once = once(&tables.errors);
    let cells = || once.iter().copied().filter(|cell| cell.is_whole());
    vec![
        errors(cells().collect()),
        error_backends(&tables.errors),
        error_sizes(cells().collect()),
        error_inputs(&cells().collect::<Vec<_>>()),
        error_slots(cells().collect()),
        bits(&once),
    ]
}

impl ErrorCell {
    /// Whether slots keep all their bits.
    pub(crate) fn is_whole(&self) -> bool {
        self.slot_bits >= WHOLE_SLOT_BITS
    }

    /// The scheme, preceded by the tool if that is not simgpu.
    pub(crate) fn name(&self) -> String {
        match self.tool.as_str() {
            "simgpu" => self.scheme.clone(),
            tool => format!("{tool} {}", self.scheme).trim().to_owned(),
        }
    }

    /// The bias over its standard error; 0 without bias.
    fn z(&self) -> f64 {
        match self.bias {
            0.0 => 0.0,
            bias => bias / self.bias_standard_error,
        }
    }

    /// Root mean square error of independent permutations.
    pub(crate) fn ideal(&self) -> f64 {
        let similarity = self.similarity;
        (similarity * (1.0 - similarity) / f64::from(self.num_perm.max(1))).sqrt()
    }
}

/// Distinct values, in the order of their first occurrence.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// The most frequent value; the greatest of several.
pub(crate) fn usual<T: Copy + Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    let longest = values.chunk_by(T::eq).max_by_key(|equal| equal.len());
    longest.and_then(|equal| equal.first().copied())
}

fn errors(cells: Vec<&ErrorCell>) -> Section {
    let header = [
        "scheme",
        "computed by",
        "slots",
        "mixed",
        "cells",
        "worst bias",
        "z",
        "at",
        "95 % intervals cover",
        "expected",
        "dispersion",
        "least fit p",
        "x cells",
    ];
    let mut table = Table::new(header);
    for name in distinct(cells.iter().map(|cell| cell.name())) {
        let cells: Vec<&ErrorCell> = cells
            .iter()
            .filter(|cell| cell.name() == name)
            .copied()
            .collect();
        if let Some(row) = name_errors(&cells) {
            table.push(row);
        }
    }
    Section {
        topic: Topic::Errors,
        note: format!(
            "Estimate - exact similarity, over all cells of a scheme. z is the bias over its standard error, for the cell with the \
             greatest z. Coverage is over all trials with 0 < J < 1 and K >= {LEAST_SLOTS_OF_COVERAGE}. Dispersion is the variance of matches over that of \
             independent slots, averaged over the same cells; fast and rensa are below 1. fit p is the probability that binomial \
             matches fit at most as well, for the worst cell; x cells is its Bonferroni bound."
        ),
        table,
    }
}

/// The row of the cells of one name; `None` without cells.
fn name_errors(cells: &[&ErrorCell]) -> Option<[String; 13]> {
    let worst = cells
        .iter()
        .max_by(|a, b| a.z().abs().total_cmp(&b.z().abs()))?;
    let fit_p = cells
        .iter()
        .filter_map(|cell| cell.fit_p)
        .min_by(f64::total_cmp);
    let fitted = cells.iter().filter(|cell| cell.fit_p.is_some()).count();
    let (coverage, expected) = pooled_coverage(cells).unzip();
    let yes_no = |is, yes: &str, no: &str| if is { yes.to_owned() } else { no.to_owned() };
    Some([
        worst.name(),
        worst.computer(),
        yes_no(worst.has_independent_slots, "independent", "dependent"),
        yes_no(worst.is_mixed, "yes", "no"),
        cells.len().to_string(),
        format!("{:+.4}", worst.bias),
        format!("{:+.1}", worst.z()),
        place(worst),
        coverage.map(percent).unwrap_or_default(),
        expected.map(percent).unwrap_or_default(),
        digits_if(dispersion(cells), 3),
        digits_if(fit_p, 2),
        digits_if(fit_p.map(|p| (p * fitted as f64).min(1.0)), 2),
    ])
}

/// Position of a cell, in words.
fn place(cell: &ErrorCell) -> String {
    let ErrorCell {
        input,
        set_size,
        similarity,
        num_perm,
        ..
    } = cell;
    let varied = match cell.varied {
        crate::Varied::Seeds => "seeds",
        crate::Varied::Data => "data",
    };
    format!(
        "{input}, n = {}, J = {similarity:.2}, K = {num_perm}, {varied} varied",
        count(*set_size)
    )
}

/// Mean ratio of the variance of matches to that of a binomial.
fn dispersion(cells: &[&ErrorCell]) -> Option<f64> {
    let counted = cells
        .iter()
        .filter(|cell| cell.num_perm >= LEAST_SLOTS_OF_COVERAGE);
    let dispersions: Vec<f64> = counted.filter_map(|cell| cell.dispersion).collect();
    (!dispersions.is_empty()).then(|| mean(&dispersions))
}

/// Mean over similarities of the squared error over that of independent permutations.
fn squared_ratio(cells: &[&ErrorCell]) -> Option<f64> {
    let ratios: Vec<f64> = cells.iter().filter_map(|cell| cell.error_ratio).collect();
    let squares: f64 = ratios.iter().map(|ratio| ratio * ratio).sum();
    (!ratios.is_empty()).then(|| squares / ratios.len() as f64)
}

fn error_sizes(cells: Vec<&ErrorCell>) -> Section {
    let num_perm = usual(cells.iter().map(|cell| cell.num_perm)).unwrap_or_default();
    let cells: Vec<&ErrorCell> = cells
        .into_iter()
        .filter(|cell| cell.num_perm == num_perm)
        .collect();
    let rows = distinct(cells.iter().map(|cell| (cell.name(), cell.input.clone())));
    let sizes: BTreeSet<u64> = cells.iter().map(|cell| cell.set_size).collect();
    let cell = |(name, input): &(String, String), size: u64| {
        let is_here = |cell: &&&ErrorCell| {
            cell.set_size == size && cell.input == *input && cell.name() == *name
        };
        let here: Vec<&ErrorCell> = cells.iter().filter(is_here).copied().collect();
        let ratio = digits(squared_ratio(&here)?, 3);
        Some((vec![name.clone(), input.clone()], size, ratio))
    };
    let cells = rows
        .iter()
        .flat_map(|row| sizes.iter().filter_map(move |size| cell(row, *size)));
    Section {
        topic: Topic::ErrorSizes,
        note: format!(
            "Squared error over that of independent permutations, J (1 - J) / K, by elements per set: mean over similarities, K = {num_perm}."
        ),
        table: pivot(&["scheme", "input"], cells),
    }
}

fn error_slots(cells: Vec<&ErrorCell>) -> Section {
    let Some(swept) = swept(&cells) else {
        return Section {
            topic: Topic::ErrorSlots,
            note: String::new(),
            table: Table::default(),
        };
    };
    let cell = |cell: &&ErrorCell| {
        let error = digits(cell.root_mean_square_error, 3);
        let ratio = digits_if(cell.error_ratio, 3);
        (
            vec![cell.name()],
            cell.num_perm.into(),
            format!("{error} ({ratio})"),
        )
    };
    Section {
        topic: Topic::ErrorSlots,
        note: format!(
            "Root mean square error by slots, with its ratio to sqrt(J (1 - J) / K) in parentheses, for {} sets of {} elements, J = {:.2}.",
            swept.input,
            count(swept.set_size),
            swept.similarity
        ),
        table: pivot(
            &["scheme"],
            cells
                .iter()
                .filter(|other| swept.is_pair_of(other))
                .map(cell),
        ),
    }
}

impl ErrorCell {
    /// Whether both cells differ only in scheme and slots.
    pub(crate) fn is_pair_of(&self, other: &ErrorCell) -> bool {
        self.input == other.input && self.is_alike(other, 1e-6)
    }

    /// Whether set size and varied quantity are equal, and similarities differ by less than `tolerance`.
    fn is_alike(&self, other: &ErrorCell, tolerance: f64) -> bool {
        self.varied == other.varied
            && self.set_size == other.set_size
            && (self.similarity - other.similarity).abs() < tolerance
    }
}

/// A cell of the kind of pair with the most numbers of slots; `None` if no kind has several.
pub(crate) fn swept<'a>(cells: &[&'a ErrorCell]) -> Option<&'a ErrorCell> {
    let kind = |cell: &&'a ErrorCell| {
        let similarity = cell.similarity.to_bits();
        (cell.input.as_str(), cell.varied, cell.set_size, similarity)
    };
    let mut slots: HashMap<_, BTreeSet<u32>> = HashMap::new();
    for cell in cells {
        slots.entry(kind(cell)).or_default().insert(cell.num_perm);
    }
    let most = slots.values().map(BTreeSet::len).max();
    let most = most.filter(|most| *most > 1)?;
    let is_most = |cell: &&&'a ErrorCell| slots.get(&kind(cell)).map(BTreeSet::len) == Some(most);
    cells.iter().find(is_most).copied()
}

/// Bias of one kind of pair on each input, by scheme.
fn error_inputs(cells: &[&ErrorCell]) -> Section {
    let swept = swept(cells);
    // Similarities of real texts only come close to the requested one.
    let is_shown = |cell: &&&ErrorCell| {
        cell.num_perm == DEFAULT_NUM_PERM && swept.is_some_and(|swept| cell.is_alike(swept, 0.01))
    };
    let shown: Vec<&&ErrorCell> = cells.iter().filter(is_shown).collect();
    let inputs = distinct(shown.iter().map(|cell| cell.input.as_str()));
    let header = ["scheme", "mixed"]
        .into_iter()
        .chain(inputs.iter().copied());
    let mut table = Table::new(header);
    for name in distinct(shown.iter().map(|cell| cell.name())) {
        let of_scheme = || shown.iter().filter(|cell| cell.name() == name);
        let is_mixed = of_scheme().any(|cell| cell.is_mixed);
        let bias = |input: &&str| {
            let mut here = of_scheme().filter(|cell| cell.input == *input);
            let bias = |cell: &&&ErrorCell| format!("{:+.4} ({:+.1})", cell.bias, cell.z());
            here.next().map(bias).unwrap_or_default()
        };
        let is_mixed = if is_mixed { "yes" } else { "no" };
        let names = [name.clone(), is_mixed.to_owned()];
        table.push(names.into_iter().chain(inputs.iter().map(bias)));
    }
    let size = swept.map_or(0, |swept| swept.set_size);
    let similarity = swept.map_or(0.0, |swept| swept.similarity);
    Section {
        topic: Topic::ErrorInputs,
        note: format!(
            "Estimate - exact similarity at J = {similarity:.2}, with its ratio to the standard error in parentheses: sets of {} elements, \
             K = {DEFAULT_NUM_PERM}, over seeds. Schemes that do not mix are biased if shingle hashes are an arithmetic progression; real hashes are not.",
            count(size)
        ),
        table,
    }
}

/// Packed slots, by scheme.
fn bits(cells: &[&ErrorCell]) -> Section {
    let packed: Vec<&ErrorCell> = cells
        .iter()
        .copied()
        .filter(|cell| !cell.is_whole())
        .collect();
    let table = by_similarity(&["scheme", "bits", "K"], &packed, |cell| {
        vec![
            cell.name(),
            cell.slot_bits.to_string(),
            cell.num_perm.to_string(),
        ]
    });
    Section {
        topic: Topic::Bits,
        note: "Root mean square error of estimates from the low b bits of slots, by similarity J. In parentheses, its ratio to that of independent slots: \
               sqrt(P (1 - P) / K) / (1 - 2^-b), where slots agree with probability P = J + (1 - J) / 2^b. Worst z is the \
               greatest bias over its standard error of all similarities."
            .to_owned(),
        table,
    }
}

/// Errors by similarity: one row per different names.
fn by_similarity(
    header: &[&str],
    cells: &[&ErrorCell],
    names: impl Fn(&ErrorCell) -> Vec<String>,
) -> Table {
    let mut shown = Vec::new();
    for of in distinct(cells.iter().map(|cell| names(cell))) {
        let of_row = || cells.iter().filter(|cell| names(cell) == of).copied();
        let z = of_row()
            .map(ErrorCell::z)
            .max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let (covered, _) = pooled_coverage(&of_row().collect::<Vec<_>>()).unzip();
        let mut row = of.clone();
        row.push(z.map(|z| format!("{z:+.1}")).unwrap_or_default());
        row.push(covered.map(percent).unwrap_or_default());
        for cell in of_row() {
            let error = digits(cell.root_mean_square_error, 3);
            let ratio = digits_if(cell.error_ratio, 3);
            shown.push((
                row.clone(),
                hundredths(cell.similarity),
                format!("{error} ({ratio})"),
            ));
        }
    }
    let header = [header, &["worst z", "95 % intervals cover"]].concat();
    let mut table = pivot(&header, shown.into_iter());
    name_similarities(&mut table, header.len());
    table
}

/// The cells of pairs that several backends signed, by scheme, from slow backends to fast ones. The fastest instructions of
/// the CPU signed them first.
pub(crate) fn compared(cells: &[ErrorCell]) -> Vec<&ErrorCell> {
    let mut computers: HashMap<_, BTreeSet<String>> = HashMap::new();
    for cell in cells {
        let of_kind = computers.entry((cell.kind(), cell.trials)).or_default();
        of_kind.insert(cell.computer());
    }
    let is_compared = |cell: &&ErrorCell| {
        let of_kind = computers.get(&(cell.kind(), cell.trials));
        of_kind.is_some_and(|computers| computers.len() > 1)
    };
    let mut compared: Vec<&ErrorCell> = cells.iter().filter(is_compared).collect();
    let schemes = distinct(compared.iter().map(|cell| cell.name()));
    let first = compared.first().map(|cell| cell.computer());
    compared.sort_by_cached_key(|cell| {
        let scheme = schemes.iter().position(|name| *name == cell.name());
        let backends = ["scalar", "simd", "gpu", "hybrid"];
        let backend = backends.iter().position(|name| *name == cell.backend);
        (scheme, backend, Some(cell.computer()) == first)
    });
    compared
}

/// Of the pairs that several backends signed, the similarity whose errors stand beside speeds: a cell of it.
pub(super) fn compared_cell(cells: &[ErrorCell]) -> Option<&ErrorCell> {
    let from_half = |cell: &&ErrorCell| (cell.similarity - 0.5).abs();
    let compared = compared(cells).into_iter();
    compared.min_by(|a, b| from_half(a).total_cmp(&from_half(b)))
}

/// The root mean square error of what computed a case, if it was measured.
pub(super) fn error_of(tables: &Tables, case: &MeasuredCase<'_>) -> Option<f64> {
    let beside = compared_cell(&tables.errors)?;
    let is_it = |cell: &&ErrorCell| {
        cell.is_pair_of(beside)
            && cell.num_perm == case.case.num_perm
            && cell.tool == case.case.tool
            && cell.scheme == case.case.scheme
            && cell.computer() == case.computer()
    };
    let mut cells = compared(&tables.errors).into_iter();
    cells.find(is_it).map(|cell| cell.root_mean_square_error)
}

fn error_backends(cells: &[ErrorCell]) -> Section {
    let compared = compared(cells);
    let place = compared.first().map_or_else(String::new, |cell| {
        format!(
            "{} {} sets of {} elements, K = {}",
            count(cell.trials),
            cell.input,
            count(cell.set_size),
            cell.num_perm
        )
    });
    let names = |cell: &ErrorCell| vec![cell.name(), cell.computer()];
    Section {
        topic: Topic::ErrorBackends,
        note: format!(
            "Root mean square error of estimates by similarity J, with its ratio to that of independent permutations in \
             parentheses, for the same pairs signed by each backend: {place}. Worst z is the greatest bias over its standard \
             error. Backends that compute the same signatures have the same errors."
        ),
        table: by_similarity(&["scheme", "computed by"], &compared, names),
    }
}

/// A similarity as the size of a pivot column.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "similarities are from 0 to 1"
)]
pub(super) fn hundredths(similarity: f64) -> u64 {
    (similarity * 100.0).round() as u64
}

/// Names the columns of similarities from column `from` on.
pub(super) fn name_similarities(table: &mut Table, from: usize) {
    for size in table.header.iter_mut().skip(from) {
        *size = format!("J = 0.{size:0>2}");
    }
}
