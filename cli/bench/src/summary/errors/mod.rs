//! How far estimates are off: tables.

mod cells;

use std::collections::BTreeSet;

use simgpu::scheme::DEFAULT_NUM_PERM;

use super::table::{Table, count, digits, digits_if, percent, pivot};
use super::{Section, Topic};
use crate::ErrorCell;
use crate::error::{LEAST_SLOTS_OF_COVERAGE, pooled_coverage};
use crate::record::once;
use crate::tables::Tables;

pub(crate) use cells::{compared, distinct, swept, usual};
pub(super) use cells::{compared_cell, error_of, hundredths, name_similarities};

use cells::{name_errors, squared_ratio};

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
        let scheme_cells = || shown.iter().filter(|cell| cell.name() == name);
        let is_mixed = scheme_cells().any(|cell| cell.is_mixed);
        let bias = |input: &&str| {
            let mut here = scheme_cells().filter(|cell| cell.input == *input);
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
    let table = similarity_table(&["scheme", "bits", "K"], &packed, |cell| {
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
fn similarity_table(
    header: &[&str],
    cells: &[&ErrorCell],
    names: impl Fn(&ErrorCell) -> Vec<String>,
) -> Table {
    let mut shown = Vec::new();
    for of in distinct(cells.iter().map(|cell| names(cell))) {
        let row_cells = || cells.iter().filter(|cell| names(cell) == of).copied();
        let z = row_cells()
            .map(ErrorCell::z)
            .max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let (covered, _) = pooled_coverage(&row_cells().collect::<Vec<_>>()).unzip();
        let mut row = of.clone();
        row.push(z.map(|z| format!("{z:+.1}")).unwrap_or_default());
        row.push(covered.map(percent).unwrap_or_default());
        for cell in row_cells() {
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
        table: similarity_table(&["scheme", "computed by"], &compared, names),
    }
}
