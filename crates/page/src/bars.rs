//! A chart of upright bars.
//!
//! Bars grow with the square root of their counts, so that a few can be seen beside many.

use maud::{Markup, html};

use super::scale::{px, ticks_of_counts};
use simgpu::progress::grouped;

/// The width of the drawing. A unit is a CSS pixel on the narrowest screen.
const WIDTH: f64 = 360.0;

/// Where the bars are from left to right.
const SIDES: [f64; 2] = [52.0, WIDTH - 8.0];

/// The height of the highest bar.
const HEIGHT: f64 = 110.0;

/// The lower ends of the bars.
const BASE: f64 = 140.0;

/// A bar.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bar {
    /// What stands below its left edge, or below its middle.
    #[doc(hidden)]
    pub label: Option<String>,
    /// What it counts, for those who point at it.
    #[doc(hidden)]
    pub title: String,
    #[doc(hidden)]
    pub count: u64,
}

/// Bars of equal width, from left to right.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bars<'a> {
    #[doc(hidden)]
    pub title: &'a str,
    #[doc(hidden)]
    pub bars: &'a [Bar],
    /// What each bar counts, above the axis.
    #[doc(hidden)]
    pub counts: &'a str,
    /// What the labels are, below the axis.
    #[doc(hidden)]
    pub unit: &'a str,
    /// Whether labels stand below left edges.
    #[doc(hidden)]
    pub labels_edges: bool,
    /// A line at so many bars from the left, and its name.
    #[doc(hidden)]
    pub line: Option<(f64, String)>,
}

impl Bars<'_> {
    #[doc(hidden)]
    pub fn draw(&self) -> Markup {
        let middle = f64::midpoint(SIDES[0], SIDES[1]);
        html! {
            figure {
                svg viewBox={ "0 0 " (px(WIDTH)) " " (px(BASE + 34.0)) } role="img" {
                    title { (self.title) }
                    text x=(px(SIDES[0])) y="13" { tspan.strong { (self.counts) } }
                    (self.all())
                    @if let Some((at, name)) = &self.line { (self.line_at(*at, name)) }
                    line.axis x1=(px(SIDES[0])) x2=(px(SIDES[1])) y1=(px(BASE)) y2=(px(BASE)) {}
                    text.middle x=(px(middle)) y=(px(BASE + 29.0)) { (self.unit) }
                }
            }
        }
    }

    /// Where the left edge of a bar is.
    fn x(&self, bar: f64) -> f64 {
        SIDES[0] + bar * (SIDES[1] - SIDES[0]) / self.bars.len().max(1) as f64
    }

    fn all(&self) -> Markup {
        let most = self.bars.iter().map(|bar| bar.count).max();
        let most = most.unwrap_or_default().max(1);
        let height = |count: u64| HEIGHT * (count as f64 / most as f64).sqrt();
        let width = self.x(1.0) - self.x(0.0);
        html! {
            @for count in ticks_of_counts(most) {
                @let y = BASE - height(count);
                line.grid x1=(px(SIDES[0])) x2=(px(SIDES[1])) y1=(px(y)) y2=(px(y)) {}
                text.end x=(px(SIDES[0] - 4.0)) y=(px(y + 4.0)) { (grouped(count)) }
            }
            @for (at, bar) in self.bars.iter().enumerate() {
                @let x = self.x(at as f64);
                @if bar.count > 0 {
                    rect.bar.kind0 x=(px(x + 0.4)) y=(px(BASE - height(bar.count))) width=(px(width - 0.8)) height=(px(height(bar.count))) {
                        title { (bar.title) }
                    }
                }
                @if let Some(label) = &bar.label {
                    @let x = if self.labels_edges { x } else { x + width / 2.0 };
                    text.middle x=(px(x)) y=(px(BASE + 14.0)) { (label) }
                }
            }
        }
    }

    fn line_at(&self, at: f64, name: &str) -> Markup {
        let x = self.x(at);
        let anchor = match x {
            x if x < 90.0 => "start",
            x if x > WIDTH - 50.0 => "end",
            _ => "middle",
        };
        html! {
            line.threshold x1=(px(x)) x2=(px(x)) y1="24" y2=(px(BASE)) {}
            text.strong x=(px(x)) y="26" text-anchor=(anchor) { (name) }
        }
    }
}

/// How the heights of bars follow from numbers.
#[doc(hidden)]
pub fn square_root() -> Markup {
    html! { li { "The height of a bar is the square root of its number, so that few can be seen beside many." } }
}

/// A share as a bar.
#[doc(hidden)]
pub fn share_bar(share: f64) -> Markup {
    html! {
        svg.part viewBox="0 0 100 10" preserveAspectRatio="none" role="img" {
            rect.track x="0" y="0" width="100" height="10" {}
            rect.kind0 x="0" y="0" width=(px(100.0 * share)) height="10" {}
        }
    }
}
