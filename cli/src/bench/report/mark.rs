//! What is drawn between the axes of a chart, and the legend that names it.

use maud::{Markup, html};

use super::chart::{Scale, px};

/// Series that look different from each other. More of them begin again.
pub(super) const LOOKS: usize = 8;

/// Something that is drawn between two axes.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// A line through points.
    Line { look: usize, points: Vec<[f64; 2]> },
    /// What theory says: a thin dashed line.
    Theory { points: Vec<[f64; 2]> },
    /// The area between two lines over the same places: x, low, high.
    Band { points: Vec<[f64; 3]> },
    /// A marker, and what it says when it is pointed at.
    Point {
        look: usize,
        at: [f64; 2],
        says: String,
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
                says,
            } => marker(*look, x.at(*a), y.at(*b), says),
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

/// A marker: each look has its own shape, so that none is told by its colour alone.
pub(super) fn marker(look: usize, x: f64, y: f64, says: &str) -> Markup {
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
    // The place is on a group of its own, so that the style sheet can make the marker smaller where it stands.
    html! {
        g transform={ "translate(" (px(x)) " " (px(y)) ")" } {
            path class={ "marker look" (look) } d=(path) {
                @if !says.is_empty() { title { (says) } }
            }
        }
    }
}

/// What a legend shows of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    /// Its marker on its line.
    Line,
    /// Its marker alone.
    Marker,
    /// What theory says.
    Theory,
    /// The area that has most of it.
    Band,
}

/// Names of series, with what they look like.
pub(super) fn legend(names: &[String]) -> Markup {
    let names = names.iter().enumerate();
    samples(names.map(|(look, name)| (Sample::Line, look, name.as_str())))
}

/// Names of series that have no line, and of what is drawn beside them.
pub(super) fn legend_of_markers(names: &[String], beside: &[(Sample, &str)]) -> Markup {
    let markers = names.iter().enumerate();
    let markers = markers.map(|(look, name)| (Sample::Marker, look, name.as_str()));
    samples(markers.chain(beside.iter().map(|(sample, name)| (*sample, 0, *name))))
}

fn samples<'a>(samples: impl Iterator<Item = (Sample, usize, &'a str)>) -> Markup {
    html! {
        ul.legend {
            @for (sample, look, name) in samples {
                li {
                    svg width="30" height="14" viewBox="0 0 30 14" aria-hidden="true" {
                        @match sample {
                            Sample::Line => {
                                polyline class={ "line look" (look % LOOKS) } points="0,7 30,7" {}
                                (marker(look, 15.0, 7.0, ""))
                            }
                            Sample::Marker => (marker(look, 15.0, 7.0, "")),
                            Sample::Theory => polyline.theory points="0,7 30,7" {},
                            Sample::Band => rect.band x="0" y="2" width="30" height="10" {},
                        }
                    }
                    span { (name) }
                }
            }
        }
    }
}
