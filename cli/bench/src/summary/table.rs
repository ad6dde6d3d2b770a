//! Tables, and numbers in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A table to write as Markdown or HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// Names of the columns, with units.
    pub(crate) header: Vec<String>,
    /// Rows, each as long as the header.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Table {
            header: header.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row as long as the header; missing cells are empty.
    pub(crate) fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// Whether all cells of a column start with a number.
    pub(crate) fn is_number(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|row| row.get(column));
        let starts_number = |cell: &String| {
            cell.trim_start_matches(['+', '-'])
                .starts_with(|c: char| c.is_ascii_digit())
        };
        let is_none = |cell: &String| cell.is_empty() || cell == "-";
        cells().all(|cell| is_none(cell) || starts_number(cell)) && !cells().all(is_none)
    }

    /// Aligned Markdown: names to the left, numbers to the right.
    pub(crate) fn markdown(&self) -> String {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let escaped: Vec<Vec<String>> = lines()
            .map(|line| line.iter().map(|cell| escape(cell)).collect())
            .collect();
        // A column of numbers needs at least `-:`.
        let mut widths = vec![2; self.header.len()];
        for line in &escaped {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.chars().count().max(*width);
            }
        }
        let is_number: Vec<bool> = (0..widths.len()).map(|c| self.is_number(c)).collect();
        let mut text = String::new();
        for (i, line) in escaped.iter().enumerate() {
            for ((cell, &width), is_number) in line.iter().zip(&widths).zip(&is_number) {
                let _ = if *is_number {
                    write!(text, "| {cell:>width$} ")
                } else {
                    write!(text, "| {cell:<width$} ")
                };
            }
            text.push_str("|\n");
            if i == 0 {
                for (&width, is_number) in widths.iter().zip(&is_number) {
                    let end = if *is_number { ':' } else { '-' };
                    let _ = write!(text, "| {}{end} ", "-".repeat(width - 1));
                }
                text.push_str("|\n");
            }
        }
        text
    }
}

/// A cell of a pivot table: names of its row, size of its column, text.
pub(super) type PivotCell = (Vec<String>, u64, String);

/// One row per name, one column per size. The first cell of a position wins.
pub(super) fn pivot(names: &[&str], cells: impl Iterator<Item = PivotCell>) -> Table {
    pivot_of_several(names, cells, 1)
}

/// [`pivot`] without rows of fewer than `least` sizes.
pub(super) fn pivot_of_several(
    names: &[&str],
    cells: impl Iterator<Item = PivotCell>,
    least: usize,
) -> Table {
    let mut rows: Vec<(Vec<String>, BTreeMap<u64, String>)> = Vec::new();
    for (name, size, text) in cells {
        match rows.iter_mut().find(|(other, _)| *other == name) {
            Some((_, row)) => {
                row.entry(size).or_insert(text);
            }
            None => rows.push((name, BTreeMap::from([(size, text)]))),
        }
    }
    rows.retain(|(_, row)| row.len() >= least);
    let sizes: BTreeSet<u64> = rows
        .iter()
        .flat_map(|(_, row)| row.keys().copied())
        .collect();
    let names = names.iter().map(|name| (*name).to_owned());
    let mut table = Table::new(names.chain(sizes.iter().map(|size| count(*size))));
    for (name, row) in rows {
        let cell = |size| row.get(size).cloned().unwrap_or_default();
        table.push(name.into_iter().chain(sizes.iter().map(cell)));
    }
    table
}

/// Escapes what would end a cell.
fn escape(cell: &str) -> String {
    cell.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// Numbers from here on are whole, with commas.
const GROUPED: f64 = 1_000.0;

/// A number with `count` significant digits and no exponent; `-` if it is not finite.
pub(crate) fn digits(value: f64, count: u32) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let magnitude = match value.abs() {
        0.0 => 0.0,
        value => value.log10().floor(),
    };
    let decimals = f64::from(count) - 1.0 - magnitude;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 12"
    )]
    let decimals = decimals.clamp(0.0, 12.0) as usize;
    match value {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 2^53"
        )]
        value if (GROUPED..9e15).contains(&value) => self::count(value.round() as u64),
        value => format!("{value:.decimals$}"),
    }
}

/// [`digits`], or nothing for `None`.
pub(super) fn digits_if(value: Option<f64>, count: u32) -> String {
    value.map_or_else(String::new, |value| digits(value, count))
}

/// A share as a percentage with one decimal.
pub(crate) fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{:.1} %", 100.0 * share)
    } else {
        "-".to_owned()
    }
}

/// A count with commas between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in the most readable unit.
pub(crate) fn seconds(value: f64) -> String {
    let (factor, unit) = match value.abs() {
        value if value >= 1.0 => (1.0, "s"),
        value if value >= 1e-3 => (1e3, "ms"),
        value if value >= 1e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", digits(value * factor, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(digits(33.456, 3), "33.5");
        assert_eq!(digits(0.001_234_5, 3), "0.00123");
        assert_eq!(digits(123_456.0, 3), "123,456");
        assert_eq!(digits(1e300, 3).len(), 301);
        assert_eq!(digits(0.0, 3), "0.00");
        assert_eq!(digits(f64::NAN, 3), "-");
        assert_eq!(digits(1e-300, 3), "0.000000000000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(100), "100");
        assert_eq!(seconds(0.001_5), "1.50 ms");
        assert_eq!(percent(0.1234), "12.3 %");
    }

    #[test]
    fn tables_keep_their_shape() {
        let mut table = Table::new(["name", "K"]);
        table.push(["a|b", "64"]);
        table.push(["c\nd"]);
        let expected = "| name |  K |\n| ---- | -: |\n| a\\|b | 64 |\n| c d  |    |\n";
        assert_eq!(table.markdown(), expected);
    }
}
