//! Charts of throughput.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::bars::{Bar, Dots, bars, dots};
use super::chart::{Axis, Plot};
use super::mark::{LOOKS, Mark, legend};
use super::scale::Scale;
use crate::Stage;
use crate::case::Case;
use crate::cases::MeasuredCase;
use crate::summary::table::{digits, percent};
use crate::summary::{Signed, compare_with_peers, growing, on_threads};

/// Groups values by name, in the order of first occurrence.
pub(super) fn group_by_name<T>(
    values: impl IntoIterator<Item = (String, T)>,
) -> Vec<(String, Vec<T>)> {
    let mut groups: Vec<(String, Vec<T>)> = Vec::new();
    for (name, value) in values {
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, group)) => group.push(value),
            None => groups.push((name, vec![value])),
        }
    }
    groups
}

fn bar(name: String, case: &MeasuredCase<'_>, value: f64, unit: &str) -> Bar {
    Bar {
        name,
        value,
        deviation: case.deviation(),
        shown: format!(
            "{} {unit} ± {}",
            digits(value, 3),
            percent(case.deviation())
        ),
        look: look_of(&case.case.backend),
    }
}

/// The colour of a backend.
pub(super) fn look_of(backend: &str) -> usize {
    match backend {
        "scalar" => 7,
        "simd" => 0,
        "gpu" => 1,
        _ => 2,
    }
}

pub(super) fn panels(groups: &[(String, Vec<Bar>)], description: &str) -> Markup {
    let values = groups
        .iter()
        .flat_map(|(_, bars)| bars.iter().map(Bar::reach));
    let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    html! {
        div.figures { @for (name, rows) in groups { (bars(name, description, rows, most)) } }
    }
}

/// Signing speed of each backend, by scheme.
pub(super) fn backends(cases: &[MeasuredCase<'_>]) -> Option<Markup> {
    let signed = Signed::of(cases)?;
    let bar = |case: &MeasuredCase<'_>| {
        let name = format!("{}, {}", case.computer(), case.case.threads());
        let bar = bar(name, case, case.shingles_per_s() / 1e6, "M/s");
        (case.case.scheme.clone(), bar)
    };
    let groups = group_by_name(signed.at_base().into_iter().map(bar));
    Some(panels(&groups, "Million shingles per second by backend"))
}

/// Signing speed from texts, by input.
pub(super) fn texts(cases: &[MeasuredCase<'_>]) -> Option<Markup> {
    let texts = cases
        .iter()
        .filter(|case| case.is_own() && case.case.stage == Stage::SignTexts);
    let bar = |case: &MeasuredCase<'_>| {
        let Case { scheme, input, .. } = &case.case;
        let name = format!("{}, {}", case.computer(), case.case.threads());
        let speed = case.text_bytes_per_s().unwrap_or(f64::NAN) / 1e6;
        (format!("{scheme}, {input}"), bar(name, case, speed, "MB/s"))
    };
    let groups = group_by_name(texts.map(bar));
    (!groups.is_empty()).then(|| panels(&groups, "Megabytes of text per second"))
}

/// One line per name, over sizes.
struct Growth {
    title: String,
    x: &'static str,
    y: &'static str,
    /// Per name: size, value, and deviation as a share of the value.
    series: Vec<(String, Vec<[f64; 3]>)>,
    /// Which series share a plot if there are too many for one: those of equal strings.
    together: fn(&str) -> &str,
}

impl Growth {
    /// Draws the series with several sizes, at most [`LOOKS`] per plot, all on the same scales.
    fn draw(mut self) -> Option<Markup> {
        self.series.retain(|(_, points)| points.len() > 1);
        for (_, points) in &mut self.series {
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        }
        let all = || self.series.iter().flat_map(|(_, points)| points);
        let ticks = || all().map(|point| point[0]);
        let ends = all().flat_map(|[_, value, deviation]| {
            [value * (1.0 - deviation), value * (1.0 + deviation)]
        });
        let x = Axis::new(self.x, Scale::log(ticks()).wider(0.03).with_ticks(ticks()));
        let y = Axis::new(self.y, Scale::log(ends).wider(0.06));
        let is_split = self.series.len() > LOOKS;
        let plot = |series: &[(String, Vec<[f64; 3]>)]| {
            let marks = series
                .iter()
                .enumerate()
                .flat_map(|(look, (name, points))| marks(look, name, points));
            let group = series.first().map_or("", |(name, _)| (self.together)(name));
            let plot = Plot {
                title: if is_split && !group.is_empty() {
                    format!("{}, {group}", self.title)
                } else {
                    self.title.clone()
                },
                description: format!("{} by {}", self.y, self.x),
                x: x.clone(),
                y: y.clone(),
                marks: marks.collect(),
            };
            let names: Vec<String> = series.iter().map(|(name, _)| name.clone()).collect();
            html! { div.with-legend { (plot.draw()) (legend(&names)) } }
        };
        let groups: Vec<&[_]> = if is_split {
            let together =
                |a: &(String, _), b: &(String, _)| (self.together)(&a.0) == (self.together)(&b.0);
            self.series.chunk_by(together).collect()
        } else {
            vec![&self.series]
        };
        let plots = groups.iter().flat_map(|group| group.chunks(LOOKS));
        let is_some = !self.series.is_empty();
        is_some.then(|| html! { @for series in plots { (plot(series)) } })
    }
}

fn marks(look: usize, name: &str, points: &[[f64; 3]]) -> Vec<Mark> {
    let line = Mark::Line {
        look,
        points: points.iter().map(|[x, y, _]| [*x, *y]).collect(),
    };
    let whisker = |[x, y, deviation]: &[f64; 3]| Mark::Whisker {
        look,
        at: [*x, y * (1.0 - deviation), y * (1.0 + deviation)],
    };
    let point = |[x, y, _]: &[f64; 3]| Mark::Point {
        look,
        at: [*x, *y],
        tooltip: format!("{name}, {x}: {}", digits(*y, 3)),
    };
    let drawn = points.iter().map(whisker).chain(points.iter().map(point));
    std::iter::once(line).chain(drawn).collect()
}

/// Signing speed over one of the sizes.
fn signing(
    signed: &[&MeasuredCase<'_>],
    size: impl Fn(&Case) -> f64,
) -> Vec<(String, Vec<[f64; 3]>)> {
    let mut series = group_by_name(signed.iter().map(|case| {
        let Case { scheme, .. } = &case.case;
        let name = format!("{scheme}, {}, {}", case.computer(), case.case.threads());
        (
            name,
            [size(&case.case), case.shingles_per_s(), case.deviation()],
        )
    }));
    for (_, points) in &mut series {
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        points.dedup_by(|a, b| a[0] == b[0]);
    }
    series
}

/// The scheme at the start of the name of a series.
fn scheme_of(name: &str) -> &str {
    name.split(',').next().unwrap_or_default()
}

pub(super) fn lengths(cases: &[MeasuredCase<'_>]) -> Option<Markup> {
    let growth = Growth {
        title: "Speed by length".to_owned(),
        x: "shingles per document",
        y: "shingles/s",
        series: signing(&Signed::of(cases)?.all_lengths(), |case| {
            case.shingles as f64
        }),
        together: scheme_of,
    };
    growth.draw()
}

pub(super) fn slots(cases: &[MeasuredCase<'_>]) -> Option<Markup> {
    let growth = Growth {
        title: "Speed by slots".to_owned(),
        x: "slots per signature (K)",
        y: "shingles/s",
        series: signing(&Signed::of(cases)?.all_slots(), |case| {
            f64::from(case.num_perm)
        }),
        together: scheme_of,
    };
    growth.draw()
}

/// Speed by threads, relative to the fewest threads.
pub(super) fn threads(cases: &[MeasuredCase<'_>]) -> Option<Markup> {
    let named = on_threads(cases).into_iter().map(|case| {
        let mut alike = case.case.clone();
        alike.threads = 0;
        let Case {
            stage,
            scheme,
            input,
            ..
        } = &alike;
        let name = [stage.name(), scheme, &case.computer()]
            .join(" ")
            .trim()
            .to_owned();
        let name = if input.is_empty() {
            name
        } else {
            format!("{name} on {input}")
        };
        (
            alike,
            name,
            [
                f64::from(case.case.threads),
                case.documents_per_s(),
                case.deviation(),
            ],
        )
    });
    let mut series: BTreeMap<Case, (String, Vec<[f64; 3]>)> = BTreeMap::new();
    for (alike, name, point) in named {
        series
            .entry(alike)
            .or_insert_with(|| (name, Vec::new()))
            .1
            .push(point);
    }
    let mut series: Vec<(String, Vec<[f64; 3]>)> = series.into_values().collect();
    for (_, points) in &mut series {
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let first = points.first().map_or(1.0, |point| point[1]);
        points.iter_mut().for_each(|point| point[1] /= first);
    }
    let growth = Growth {
        title: "Speed by threads".to_owned(),
        x: "threads",
        y: "speed relative to the fewest threads",
        series,
        together: |_| "",
    };
    growth.draw()
}

pub(super) fn growth(cases: &[MeasuredCase<'_>]) -> Option<Markup> {
    let growth = Growth {
        title: "Cost by documents".to_owned(),
        x: "documents",
        y: "ns per document",
        series: group_by_name(growing(cases).map(|case| {
            let Case {
                stage,
                scheme,
                input,
                threads,
                ..
            } = &case.case;
            let computer = case.computer();
            let parts = [stage.name(), scheme, &computer, input];
            let parts = parts.into_iter().filter(|part| !part.is_empty());
            let parts = parts.collect::<Vec<_>>().join(" ");
            let name = format!("{}, threads: {threads}", parts.trim());
            (
                name,
                [
                    case.case.documents as f64,
                    1e9 / case.documents_per_s(),
                    case.deviation(),
                ],
            )
        })),
        together: |_| "",
    };
    growth.draw()
}

/// Speed of simgpu relative to other tools, by stage.
pub(super) fn peers(
    cases: &[MeasuredCase<'_>],
    is_shown: impl Fn(Stage) -> bool,
) -> Option<Markup> {
    let shown = compare_with_peers(cases)
        .into_iter()
        .filter(|comparison| is_shown(comparison.peer.stage));
    let stages = group_by_name(shown.map(|comparison| {
        let Case {
            stage,
            input,
            shingles,
            num_perm,
            ..
        } = &comparison.peer;
        let title = format!("{}, {input}", stage.name());
        let row = format!("{} / {}", comparison.scheme, comparison.peer_name());
        let tooltip = format!("{shingles} shingles, K = {num_perm}");
        (title, (row, (comparison.ratio, tooltip)))
    }));
    let rows = |cells: &[(String, (f64, String))]| -> Vec<Dots> {
        let groups = group_by_name(cells.iter().cloned()).into_iter();
        groups.map(|(name, ratios)| Dots { name, ratios }).collect()
    };
    let description = "Documents per second of simgpu over those of the other tool: one dot per cell, logarithmic, with a line at 1";
    (!stages.is_empty()).then(|| {
        html! { div.figures { @for (title, cells) in &stages { (dots(title, description, &rows(cells))) } } }
    })
}
