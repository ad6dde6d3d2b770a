//! Points, lines and areas between the axes of a chart, and legends.

use maud::{Markup, html};

use super::figure::px;
use super::scale::Scale;

/// Number of distinct looks; further series repeat them.
pub(super) const LOOKS: usize = 8;

/// A shape between two axes.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// A line through points.
    Line { look: usize, points: Vec<[f64; 2]> },
    /// A theoretical curve: a thin dashed line.
    Theory { points: Vec<[f64; 2]> },
    /// The area between two lines: x, low, high.
    Band { points: Vec<[f64; 3]> },
    /// A marker with its tooltip.
    Point {
        look: usize,
        at: [f64; 2],
        tooltip: String,
    },
    /// An interval: x, low, high.
    Whisker { look: usize, at: [f64; 3] },
}

impl Mark {
    pub(super) fn draw(&self, x: &Scale, y: &Scale) -> Markup {
        let place = |[a, b]: &[f64; 2]| format!("{},{}", px(x.at(*a)), px(y.at(*b)));
        let path = |points: &[[f64; 2]]| points.iter().map(place).collect::<Vec<_>>().join(" ");
        match self {
            Mark::Line { look, points } => html! {
                polyline class={ "line look" (look % LOOKS) } points=(path(points)) {}
            },
            Mark::Theory { points } => html! { polyline.theory points=(path(points)) {} },
            Mark::Band { points } => {
                let lows = points.iter().map(|[x, low, _]| [*x, *low]);
                let highs = points.iter().rev().map(|[x, _, high]| [*x, *high]);
                let around: Vec<[f64; 2]> = lows.chain(highs).collect();
                html! { polygon.band points=(path(&around)) {} }
            }
            Mark::Point {
                look,
                at: [a, b],
                tooltip,
            } => marker(*look, x.at(*a), y.at(*b), tooltip),
            Mark::Whisker {
                look,
                at: [at, low, high],
            } => {
                let (at, low, high) = (x.at(*at), y.at(*low), y.at(*high));
                html! {
                    line class={ "whisker look" (look % LOOKS) } x1=(px(at)) x2=(px(at)) y1=(px(low)) y2=(px(high)) {}
                }
            }
        }
    }
}

/// A marker. Each look has its own shape, so that colour alone never distinguishes two.
pub(super) fn marker(look: usize, x: f64, y: f64, tooltip: &str) -> Markup {
    let look = look % LOOKS;
    let path = match look {
        0 => "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
        1 => "M-3.5,-3.5h7v7h-7z",
        2 => "M0,-5l4.6,8h-9.2z",
        3 => "M0,-5l5,5l-5,5l-5,-5z",
        4 => "M0,5l4.6,-8h-9.2z",
        5 => "M-4,-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",
        6 => "M-5,-2h10v4h-10z",
        _ => "M-2,-5h4v10h-4z",
    };
    // A group holds the position, so that the style sheet can scale the marker in place.
    html! {
        g transform={ "translate(" (px(x)) " " (px(y)) ")" } {
            path class={ "marker look" (look) } d=(path) {
                @if !tooltip.is_empty() { title { (tooltip) } }
            }
        }
    }
}

/// The symbol of a series in a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LegendSample {
    /// Marker on a line.
    Line,
    /// Marker only.
    Marker,
    /// Theoretical curve.
    Theory,
    /// Area.
    Band,
}

/// Legend of series with lines.
pub(super) fn legend(names: &[String]) -> Markup {
    let names = names.iter().enumerate();
    samples(names.map(|(look, name)| (LegendSample::Line, look, name.as_str())))
}

/// Legend of series without lines, followed by other symbols.
pub(super) fn legend_of_markers(names: &[String], beside: &[(LegendSample, &str)]) -> Markup {
    let markers = names.iter().enumerate();
    let markers = markers.map(|(look, name)| (LegendSample::Marker, look, name.as_str()));
    samples(markers.chain(beside.iter().map(|(sample, name)| (*sample, 0, *name))))
}

fn samples<'a>(samples: impl Iterator<Item = (LegendSample, usize, &'a str)>) -> Markup {
    html! {
        ul.legend {
            @for (sample, look, name) in samples {
                li {
                    svg width="30" height="14" viewBox="0 0 30 14" aria-hidden="true" {
                        @match sample {
                            LegendSample::Line => {
                                polyline class={ "line look" (look % LOOKS) } points="0,7 30,7" {}
                                (marker(look, 15.0, 7.0, ""))
                            }
                            LegendSample::Marker => (marker(look, 15.0, 7.0, "")),
                            LegendSample::Theory => polyline.theory points="0,7 30,7" {},
                            LegendSample::Band => rect.band x="0" y="2" width="30" height="10" {},
                        }
                    }
                    span { (name) }
                }
            }
        }
    }
}
