//! Rows of a name, a number and a picture of it: bars, and dots next to a line.

use maud::{Markup, html};

use super::figure::{WIDTH, figure, px};
use super::mark::marker;
use super::scale::Scale;
use crate::summary::table::digits;

/// Height of a row: a line of text with the picture below.
const ROW: f64 = 34.0;

/// Most letters of a name and the number next to it.
const MOST_LETTERS: usize = 58;

/// A number as a bar.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: f64,
    /// Median absolute deviation, as a share of the value.
    pub(super) deviation: f64,
    pub(super) shown: String,
    pub(super) look: usize,
}

impl Bar {
    /// Where the bar or its whisker ends.
    pub(super) fn reach(&self) -> f64 {
        let deviation = Some(self.deviation).filter(|deviation| deviation.is_finite());
        self.value * (1.0 + deviation.unwrap_or(0.0))
    }
}

/// Bars below each other. `most` is the longest bar of all figures side by side.
pub(super) fn bars(title: &str, description: &str, bars: &[Bar], most: f64) -> Markup {
    let width = |value: f64| {
        let share = value / most;
        WIDTH
            * if share.is_finite() {
                share.clamp(0.0, 1.0)
            } else {
                0.0
            }
    };
    let content = html! {
        @for (row, bar) in bars.iter().enumerate() {
            @let top = ROW * row as f64;
            @let reach = bar.value * if bar.deviation.is_finite() { bar.deviation } else { 0.0 };
            @let ends = [bar.value - reach, bar.value + reach].map(width);
            text x="0" y=(px(top + 12.0)) { (short(&bar.name, &bar.shown)) }
            text.end x=(px(WIDTH)) y=(px(top + 12.0)) { (bar.shown) }
            rect.rail x="0" y=(px(top + 17.0)) width=(px(WIDTH)) height="10" {}
            rect class={ "bar look" (bar.look) } x="0" y=(px(top + 17.0)) width=(px(width(bar.value))) height="10" {
                title { (bar.name) ": " (bar.shown) }
            }
            path.whisker d={ "M" (px(ends[0])) "," (px(top + 22.0)) "H" (px(ends[1]))
                "M" (px(ends[0])) "," (px(top + 19.0)) "v6M" (px(ends[1])) "," (px(top + 19.0)) "v6" } {}
        }
    };
    figure(title, description, ROW * bars.len() as f64, &content)
}

/// Ratios of one kind, shown as dots.
#[derive(Clone, Debug)]
pub(super) struct Dots {
    pub(super) name: String,
    /// Each with its tooltip.
    pub(super) ratios: Vec<(f64, String)>,
}

/// Ratios as dots on logarithmic lines, with a line at 1; simgpu is ahead to the right of it.
pub(super) fn dots(title: &str, description: &str, rows: &[Dots]) -> Markup {
    let all = || {
        rows.iter()
            .flat_map(|row| row.ratios.iter().map(|ratio| ratio.0))
    };
    let scale = Scale::log(all().chain([0.8, 1.25])).wider(0.04);
    let place = |ratio: f64| 8.0 + scale.at(ratio) * (WIDTH - 16.0);
    let height = ROW * rows.len() as f64;
    let content = html! {
        line.axis x1=(px(place(1.0))) x2=(px(place(1.0))) y1="0" y2=(px(height)) {}
        @for (row, Dots { name, ratios }) in rows.iter().enumerate() {
            @let top = ROW * row as f64;
            @let most = ratios.iter().map(|ratio| ratio.0).fold(0.0, f64::max);
            @let least = ratios.iter().map(|ratio| ratio.0).fold(f64::INFINITY, f64::min);
            line.grid x1="0" x2=(px(WIDTH)) y1=(px(top + 23.0)) y2=(px(top + 23.0)) {}
            rect.under x="0" y=(px(top)) width=(px(WIDTH)) height="16" {}
            text x="0" y=(px(top + 12.0)) { (short(name, &range(least, most))) }
            text.end x=(px(WIDTH)) y=(px(top + 12.0)) { (range(least, most)) }
            @for (ratio, tooltip) in ratios {
                @let look = if *ratio < 1.0 { 1 } else { 0 };
                (marker(look, place(*ratio), top + 23.0, &format!("{tooltip}: {}", digits(*ratio, 3))))
            }
        }
    };
    figure(title, description, height, &content)
}

fn range(least: f64, most: f64) -> String {
    match (digits(least, 2), digits(most, 2)) {
        (least, most) if least == most => format!("{least} x"),
        (least, most) => format!("{least} to {most} x"),
    }
}

/// A name short enough to leave room for its number.
fn short(name: &str, number: &str) -> String {
    let letters = MOST_LETTERS.saturating_sub(number.chars().count());
    match name.char_indices().nth(letters) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default().trim_end()),
    }
}
