//! Cells of errors: their names, their places, and how they compare.

use std::collections::{BTreeSet, HashMap};

use crate::ErrorCell;
use crate::cases::MeasuredCase;
use crate::error::{LEAST_SLOTS_OF_COVERAGE, pooled_coverage};
use crate::statistics::mean;
use crate::summary::table::{Table, count, digits_if, percent};
use crate::tables::Tables;

/// Least width of a whole slot; slots of fewer bits are packed.
const WHOLE_SLOT_BITS: u32 = 32;

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
    pub(super) fn z(&self) -> f64 {
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

/// The row of the cells of one name; `None` without cells.
pub(super) fn name_errors(cells: &[&ErrorCell]) -> Option<[String; 13]> {
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
pub(super) fn squared_ratio(cells: &[&ErrorCell]) -> Option<f64> {
    let ratios: Vec<f64> = cells.iter().filter_map(|cell| cell.error_ratio).collect();
    let squares: f64 = ratios.iter().map(|ratio| ratio * ratio).sum();
    (!ratios.is_empty()).then(|| squares / ratios.len() as f64)
}

impl ErrorCell {
    /// Whether both cells differ only in scheme and slots.
    pub(crate) fn is_pair_of(&self, other: &ErrorCell) -> bool {
        self.input == other.input && self.is_alike(other, 1e-6)
    }

    /// Whether set size and varied quantity are equal, and similarities differ by less than `tolerance`.
    pub(super) fn is_alike(&self, other: &ErrorCell, tolerance: f64) -> bool {
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

/// The cells of pairs that several backends signed, by scheme, from slow backends to fast ones. The fastest instructions of
/// the CPU signed them first.
pub(crate) fn compared(cells: &[ErrorCell]) -> Vec<&ErrorCell> {
    let mut computers: HashMap<_, BTreeSet<String>> = HashMap::new();
    for cell in cells {
        let same_kind = computers.entry((cell.kind(), cell.trials)).or_default();
        same_kind.insert(cell.computer());
    }
    let is_compared = |cell: &&ErrorCell| {
        let same_kind = computers.get(&(cell.kind(), cell.trials));
        same_kind.is_some_and(|computers| computers.len() > 1)
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

/// Of the pairs that several backends signed, a cell of the similarity whose errors are shown next to speeds.
pub(crate) fn compared_cell(cells: &[ErrorCell]) -> Option<&ErrorCell> {
    let from_half = |cell: &&ErrorCell| (cell.similarity - 0.5).abs();
    let compared = compared(cells).into_iter();
    compared.min_by(|a, b| from_half(a).total_cmp(&from_half(b)))
}

/// The root mean square error of what computed a case, if it was measured.
pub(crate) fn error_of(tables: &Tables, case: &MeasuredCase<'_>) -> Option<f64> {
    let shown = compared_cell(&tables.errors)?;
    let is_it = |cell: &&ErrorCell| {
        cell.is_pair_of(shown)
            && cell.num_perm == case.case.num_perm
            && cell.tool == case.case.tool
            && cell.scheme == case.case.scheme
            && cell.computer() == case.computer()
    };
    let mut cells = compared(&tables.errors).into_iter();
    cells.find(is_it).map(|cell| cell.root_mean_square_error)
}

/// A similarity as the size of a pivot column.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "similarities are from 0 to 1"
)]
pub(crate) fn hundredths(similarity: f64) -> u64 {
    (similarity * 100.0).round() as u64
}

/// Names the columns of similarities from column `from` on.
pub(crate) fn name_similarities(table: &mut Table, from: usize) {
    for size in table.header.iter_mut().skip(from) {
        *size = format!("J = 0.{size:0>2}");
    }
}
