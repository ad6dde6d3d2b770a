//! Error ratios by set size and similarity, as a map in colours.

use maud::{Markup, html};

use super::chart::{WIDTH, figure, px, tick_label};
use crate::bench::ErrorCell;
use crate::bench::summary::table::digits;

/// Similarities that are asked for. Cells stand where the nearest is.
const SIMILARITIES: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

const LEFT: f64 = 54.0;
const TOP: f64 = 20.0;
const ROW: f64 = 24.0;
const BOTTOM: f64 = 40.0;

/// A ratio of so much, or of one over it, has the strongest colour.
const STRONGEST: f64 = 2.0;

/// The map of some cells, which have an error ratio each.
pub(super) fn heat_map(title: &str, cells: &[&ErrorCell]) -> Markup {
    let mut sizes: Vec<u64> = cells.iter().map(|cell| cell.set_size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let width = (WIDTH - LEFT) / SIMILARITIES.len() as f64;
    let bottom = TOP + ROW * sizes.len() as f64;
    let content = html! {
        text x="2" y="13" { "elements of each set" }
        @for (row, size) in sizes.iter().enumerate() {
            @let top = TOP + ROW * row as f64;
            text.end x=(px(LEFT - 6.0)) y=(px(top + 16.0)) { (tick_label(*size as f64)) }
            @for (column, similarity) in SIMILARITIES.iter().enumerate() {
                @let left = LEFT + width * column as f64;
                @if let Some(ratio) = pooled(cells, *size, *similarity) {
                    (tile([left, top], width, ratio, &format!("{size} elements, J about {similarity}")))
                }
            }
        }
        @for (column, similarity) in SIMILARITIES.iter().enumerate() {
            text.middle x=(px(LEFT + width * (column as f64 + 0.5))) y=(px(bottom + 16.0)) { (similarity) }
        }
        text.middle x=(px(f64::midpoint(LEFT, WIDTH))) y=(px(bottom + 33.0)) { "Jaccard similarity" }
    };
    let description =
        "Root mean square error over that of independent permutations, by set size and similarity";
    figure(title, description, bottom + BOTTOM, &content)
}

/// Below 1 in one colour and above in another, the stronger the farther.
fn tile([left, top]: [f64; 2], width: f64, ratio: f64, says: &str) -> Markup {
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
            title { (says) ": " (digits(ratio, 3)) }
        }
        text.middle x=(px(left + width / 2.0)) y=(px(top + 16.0)) { (shown) }
    }
}

/// The root of the mean squared ratio of all cells at one place.
fn pooled(cells: &[&ErrorCell], size: u64, similarity: f64) -> Option<f64> {
    let is_here =
        |cell: &&&ErrorCell| cell.set_size == size && nearest(cell.similarity) == similarity;
    let ratios = cells
        .iter()
        .filter(is_here)
        .filter_map(|cell| cell.error_ratio);
    let squares: Vec<f64> = ratios
        .filter(|ratio| ratio.is_finite())
        .map(|ratio| ratio * ratio)
        .collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    (!squares.is_empty()).then(|| mean.sqrt())
}

fn nearest(similarity: f64) -> f64 {
    let distance = |asked: &f64| (asked - similarity).abs();
    let nearest = SIMILARITIES
        .into_iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.unwrap_or(similarity)
}
