//! Error ratios by set size and similarity, as a map in colours.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::figure::{WIDTH, figure, px};
use super::scale::tick_label;
use crate::summary::table::{count, digits};
use crate::{ErrorCell, Varied};

/// Similarities with a column: the requested ones, and the only one between 0 and 1 of sets of two elements.
const SIMILARITIES: [f64; 8] = [0.1, 0.3, 1.0 / 3.0, 0.5, 0.7, 0.8, 0.9, 0.95];

/// Greatest distance of a cell from the similarity of its column. Small sets have few similarities.
const NEAR: f64 = 0.03;

const LEFT: f64 = 54.0;
const TOP: f64 = 20.0;
const ROW: f64 = 24.0;
const BOTTOM: f64 = 40.0;

/// This ratio and its inverse have the strongest colour.
const STRONGEST: f64 = 2.0;

/// The map of some cells with error ratios; `None` if none is near a column.
pub(super) fn heat_map(title: &str, cells: &[&ErrorCell]) -> Option<Markup> {
    let tiles = tiles(cells);
    if tiles.is_empty() {
        return None;
    }
    let rows: BTreeSet<u64> = tiles.keys().map(|(size, _)| *size).collect();
    let columns: BTreeSet<usize> = tiles.keys().map(|(_, column)| *column).collect();
    let width = (WIDTH - LEFT) / columns.len().max(1) as f64;
    let left = |column: usize| LEFT + width * columns.range(..column).count() as f64;
    let top = |size: u64| TOP + ROW * rows.range(..size).count() as f64;
    let bottom = TOP + ROW * rows.len() as f64;
    let content = html! {
        text x="2" y="13" { "elements per set" }
        @for size in &rows {
            text.end x=(px(LEFT - 6.0)) y=(px(top(*size) + 16.0)) { (tick_label(*size as f64)) }
        }
        @for ((size, column), pooled) in &tiles {
            (tile([left(*column), top(*size)], width, *size, pooled))
        }
        @for column in &columns {
            @let similarity = SIMILARITIES.get(*column).copied().unwrap_or_default();
            text.middle x=(px(left(*column) + width * 0.5)) y=(px(bottom + 16.0)) { (digits(similarity, 2).trim_end_matches('0')) }
        }
        text.middle x=(px(f64::midpoint(LEFT, WIDTH))) y=(px(bottom + 33.0)) { "Jaccard similarity" }
    };
    let description =
        "Root mean square error over that of independent permutations, by set size and similarity";
    Some(figure(title, description, bottom + BOTTOM, &content))
}

/// Cells at one position.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pooled {
    squares: f64,
    cells: u32,
    /// Least and greatest measured similarity.
    similarity: [f64; 2],
}

impl Pooled {
    /// Root of the mean squared ratio.
    fn ratio(&self) -> f64 {
        (self.squares / f64::from(self.cells)).sqrt()
    }

    /// Measured similarities, as text.
    fn measured(&self) -> String {
        let [least, most] = self.similarity.map(|similarity| format!("{similarity:.3}"));
        if least == most {
            least
        } else {
            format!("{least} to {most}")
        }
    }
}

/// Pooled cells by set size and column.
fn tiles(cells: &[&ErrorCell]) -> BTreeMap<(u64, usize), Pooled> {
    let mut tiles: BTreeMap<(u64, usize), Pooled> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| has_one_similarity(cell)) {
        let ratio = cell.error_ratio.filter(|ratio| ratio.is_finite());
        let (Some(ratio), Some(column)) = (ratio, column(cell.similarity)) else {
            continue;
        };
        let tile = tiles.entry((cell.set_size, column)).or_insert(Pooled {
            squares: 0.0,
            cells: 0,
            similarity: [cell.similarity; 2],
        });
        let [least, most] = tile.similarity;
        tile.squares += ratio * ratio;
        tile.cells += 1;
        tile.similarity = [least.min(cell.similarity), most.max(cell.similarity)];
    }
    tiles
}

/// Whether all pairs of a cell have one similarity. Texts drawn anew for each trial do not: no two sets of their size
/// have their mean similarity.
fn has_one_similarity(cell: &ErrorCell) -> bool {
    let shared = 2.0 * cell.set_size as f64 * cell.similarity / (1.0 + cell.similarity);
    cell.varied == Varied::Seeds || (shared - shared.round()).abs() < 1e-6 * shared.max(1.0)
}

/// The nearest column within [`NEAR`].
fn column(similarity: f64) -> Option<usize> {
    let distances = SIMILARITIES.map(|named| (named - similarity).abs());
    let nearest = distances
        .into_iter()
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1));
    nearest
        .filter(|(_, distance)| *distance <= NEAR)
        .map(|(column, _)| column)
}

/// A coloured cell: one colour below 1 and another above, stronger with distance.
fn tile([left, top]: [f64; 2], width: f64, size: u64, pooled: &Pooled) -> Markup {
    let ratio = pooled.ratio();
    let strength = (ratio.ln() / STRONGEST.ln()).abs().min(1.0);
    let side = if ratio < 1.0 { "below" } else { "above" };
    let shown = if ratio < 9.995 {
        format!("{ratio:.2}")
    } else {
        digits(ratio, 2)
    };
    html! {
        rect class={ "tile " (side) } x=(px(left + 1.0)) y=(px(top + 1.0)) width=(px(width - 2.0)) height=(px(ROW - 2.0))
            fill-opacity=(format!("{:.2}", 0.05 + 0.6 * strength)) {
            title { (count(size)) " elements, J = " (pooled.measured()) ", cells: " (pooled.cells) "; " (digits(ratio, 3)) }
        }
        text.middle x=(px(left + width / 2.0)) y=(px(top + 16.0)) { (shown) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_take_near_similarities() {
        assert_eq!(column(0.1), Some(0));
        assert_eq!(column(0.306), Some(1));
        assert_eq!(column(1.0 / 3.0), Some(2));
        assert_eq!(column(0.778), Some(5));
        assert_eq!(column(0.94), Some(7));
        for none in [0.0, 1.0 / 15.0, 5.0 / 11.0, 0.6, 0.99, 1.0, f64::NAN] {
            assert_eq!(column(none), None, "{none}");
        }
    }
}
