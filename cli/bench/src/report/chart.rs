//! Charts as SVG: two axes and the marks between them.
//!
//! Charts are as wide as a narrow screen. Wide screens stretch them, and the style sheet shrinks their letters by the
//! same factor, so that labels are as large as the text around them on both.

use maud::{Markup, html};

use super::figure::{WIDTH, figure, px};
use super::mark::Mark;
use super::scale::Scale;

/// Height of a plot.
const HEIGHT: f64 = 236.0;

/// Margins between the edges of a plot and its axes.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;

/// Approximate width of a letter in a label.
const LETTER: f64 = 7.0;

/// An axis with its label.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) scale: Scale,
}

impl Axis {
    pub(super) fn new(label: &str, scale: Scale) -> Self {
        Axis {
            label: label.to_owned(),
            scale,
        }
    }
}

/// A chart: marks between two axes.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    /// Title above the chart.
    pub(super) title: String,
    /// Description for screen readers.
    pub(super) description: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) marks: Vec<Mark>,
}

impl Plot {
    /// Draws the chart as SVG under its title.
    pub(super) fn draw(&self) -> Markup {
        let x = self.x.scale.clone().on(LEFT, WIDTH - RIGHT);
        let y = self.y.scale.clone().on(HEIGHT - BOTTOM, TOP);
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let content = html! {
            @for (place, label) in y.labels(|_| 8.0) {
                line.grid x1=(px(LEFT)) x2=(px(right)) y1=(px(place)) y2=(px(place)) {}
                text.end x=(px(LEFT - 6.0)) y=(px(place + 4.0)) { (label) }
            }
            // Labels are centred on their ticks and must stay within the chart.
            @for (place, label) in x.labels(|label| label.chars().count() as f64 * LETTER) {
                line.tick x1=(px(place)) x2=(px(place)) y1=(px(bottom)) y2=(px(bottom + 4.0)) {}
                text.middle x=(px(place)) y=(px(bottom + 17.0)) { (label) }
            }
            line.axis x1=(px(LEFT)) x2=(px(right)) y1=(px(bottom)) y2=(px(bottom)) {}
            text x="2" y="13" { (self.y.label) }
            text.middle x=(px(f64::midpoint(LEFT, right))) y=(px(HEIGHT - 7.0)) { (self.x.label) }
            @for mark in &self.marks { (mark.draw(&x, &y)) }
        };
        figure(&self.title, &self.description, HEIGHT, &content)
    }
}
