//! How long passages are.

use maud::{Markup, html};

use super::{PassagesPage, share, unit_name};
use simgpu::progress::{counted, grouped};
use simgpu_page::{Bar, Bars, short_number, square_root};

/// The width of all bars of the chart, in pixels, and that of a letter of their labels.
const WIDTHS: [usize; 2] = [300, 7];

impl PassagesPage<'_> {
    /// The histogram of pieces by length.
    pub(super) fn lengths(&self) -> Markup {
        let bins = &self.report.overview.lengths;
        let pieces = self.report.counts.pieces;
        let unit = unit_name(self.report.parameters.unit);
        html! {
            section {
                h2 { "How long are the passages?" }
                @match &bins[..] {
                    [] => p { "No passage was found." },
                    [first, ..] => div.beside {
                        (self.chart())
                        ul.sentences {
                            li { "Each piece counts once, with its length in " (plural(unit)) ". A piece is a part of a passage with one source." }
                            li {
                                b { (share(first.pieces, pieces)) } " of them are shorter than " (counted(2 * first.least, unit)) "."
                                @if first.least > 1 { " Look at the " a href="#shortest" { "shortest ones" } ": if they say things that should stay, raise " code { "--min-length" } "." }
                            }
                            (square_root())
                        }
                    }
                }
            }
        }
    }

    fn chart(&self) -> Markup {
        let bins = &self.report.overview.lengths;
        let (first, last) = match (bins.first(), bins.last()) {
            (Some(first), Some(last)) => (first.least, last.least),
            _ => return html! {},
        };
        let doubled = std::iter::successors(Some(first), |least| least.checked_mul(2));
        let leasts: Vec<u64> = doubled.take_while(|least| *least <= last).collect();
        let labels: Vec<String> = leasts.iter().map(|least| short(*least)).collect();
        // As many labels as there is room for.
        let longest = labels.iter().map(|label| label.chars().count()).max();
        let [width, letter] = WIDTHS;
        let step = (letter * (longest.unwrap_or(0) + 1) * labels.len()).div_ceil(width);
        let bars: Vec<Bar> = leasts
            .into_iter()
            .zip(labels)
            .enumerate()
            .map(|(at, (least, label))| {
                let bin = bins.iter().find(|bin| bin.least == least);
                let count = bin.map_or(0, |bin| bin.pieces);
                let range = match least {
                    1 => "1".to_owned(),
                    _ => format!("{} to {}", grouped(least), grouped(2 * least - 1)),
                };
                Bar {
                    label: (at % step.max(1) == 0).then_some(label),
                    title: format!("{range}: {}", counted(count, "piece")),
                    count,
                }
            })
            .collect();
        let unit = format!(
            "length from this many {} on",
            plural(unit_name(self.report.parameters.unit))
        );
        let chart = Bars {
            title: "Pieces by length",
            bars: &bars,
            counts: "Pieces of each length",
            unit: &unit,
            labels_edges: true,
            line: None,
        };
        chart.draw()
    }
}

fn plural(unit: &str) -> String {
    match unit {
        "token of code" => "tokens of code".to_owned(),
        other => format!("{other}s"),
    }
}

/// A number that needs little room: 1.6k.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", short_number((number / 100) as f64 / 10.0)),
        _ => format!("{}M", short_number((number / 100_000) as f64 / 10.0)),
    }
}
