//! The whole page.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use super::table::draw_table;
use super::{quality, speed};
use crate::cases::{MeasuredCase, cases};
use crate::stage::Stage;
use crate::summary::table::digits;
use crate::summary::{Section, Topic, compare_with_peers};
use crate::tables::Tables;

const STYLE: &str = include_str!("style.css");

/// Contents of report.html: one file without scripts or external resources.
pub(crate) fn page(environment: &Value, tables: &Tables, sections: &[Section]) -> String {
    let cases = cases(&tables.runs);
    let known = |what: &str| environment[what].as_str().unwrap_or_default();
    let title = format!("simgpu bench {} {}", known("date"), known("cpu"));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "simgpu bench" }
                    p { (known("cpu")) ", " (known("date")) }
                    (headlines(&cases))
                    nav {
                        @for section in sections {
                            a href={ "#" (anchor(section.topic)) } { (section.topic.title()) } " "
                        }
                    }
                }
                main { @for part in sections { (section(part, chart(part.topic, &cases, tables))) } }
            }
        }
    };
    page.into_string()
}

fn anchor(topic: Topic) -> String {
    topic.title().to_lowercase().replace(' ', "-")
}

/// The chart of a section, if it has one.
fn chart(topic: Topic, cases: &[MeasuredCase<'_>], tables: &Tables) -> Option<Markup> {
    match topic {
        Topic::Backends => speed::backends(cases),
        Topic::Lengths => speed::lengths(cases),
        Topic::Slots => speed::slots(cases),
        Topic::Threads => speed::threads(cases),
        Topic::Texts => speed::texts(cases),
        Topic::Growth => speed::growth(cases),
        Topic::ErrorBackends => quality::error_backends(tables),
        Topic::ErrorSizes => quality::heat_maps(tables),
        Topic::ErrorSlots => quality::error_slots(tables),
        Topic::Curve => quality::curves(tables),
        Topic::Peers => speed::peers(cases, |stage| stage != Stage::Dedup),
        Topic::PeersDedup => speed::peers(cases, |stage| stage == Stage::Dedup),
        Topic::Machine
        | Topic::Findings
        | Topic::Stages
        | Topic::Dedup
        | Topic::Device
        | Topic::Errors
        | Topic::ErrorInputs
        | Topic::Bits
        | Topic::Found
        | Topic::Warnings
        | Topic::Absent => None,
    }
}

/// What the chart shows in addition to the table.
fn caption(topic: Topic) -> &'static str {
    match topic {
        Topic::Backends => {
            "Bars show million shingles/s on one scale; whiskers show ± one median absolute deviation."
        }
        Topic::ErrorBackends => {
            "Bars show the ratio, the mean over similarities, on one scale; whiskers show 95 % intervals."
        }
        Topic::ErrorSizes => {
            "The maps show its root, over all inputs whose similarity is within 0.03 of that of the column: blue below 1, orange above."
        }
        Topic::ErrorSlots => {
            "Whiskers show 95 % intervals; in the left chart, schemes stand side by side at each K."
        }
        Topic::Curve => "One marker per scheme; markers of schemes that follow the theory overlap.",
        Topic::Peers | Topic::PeersDedup => {
            "One marker per cell: a dot right of the line where simgpu is ahead, a square where it is behind."
        }
        _ => "",
    }
}

fn section(Section { topic, note, table }: &Section, chart: Option<Markup>) -> Markup {
    html! {
        section id=(anchor(*topic)) {
            h2 { (topic.title()) }
            @if !note.is_empty() { p.note { (note) @if chart.is_some() { " " (caption(*topic)) } } }
            @match chart {
                Some(chart) => {
                    (chart)
                    details { summary { "Table" } (draw_table(*topic, table)) }
                }
                None => (draw_table(*topic, table)),
            }
        }
    }
}

/// The main figures.
fn headlines(cases: &[MeasuredCase<'_>]) -> Markup {
    let fastest = |stage: Stage, speed: &dyn Fn(&MeasuredCase<'_>) -> Option<f64>| {
        let ours = cases
            .iter()
            .filter(|case| case.is_own() && case.case.stage == stage);
        let speeds = ours.filter_map(|case| Some((speed(case)?, case)));
        let finite = speeds.filter(|(speed, _)| speed.is_finite());
        finite.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let threads = |case: &MeasuredCase<'_>| case.case.threads();
    let updates = fastest(Stage::Sign, &|case| case.updates_per_s());
    let texts = fastest(Stage::SignTexts, &|case| case.text_bytes_per_s());
    let dedup = fastest(Stage::Dedup, &|case| case.text_bytes_per_s());
    let comparisons = compare_with_peers(cases);
    let behind = comparisons
        .iter()
        .filter(|comparison| comparison.is_behind())
        .count();
    html! {
        ul.headlines {
            @if let Some((speed, case)) = updates {
                li { strong { (digits(speed / 1e9, 3)) } " G updates/s" br; (case.case.scheme) ", " (case.computer()) ", " (threads(case)) }
            }
            @if let Some((speed, case)) = texts {
                li { strong { (digits(speed / 1e6, 3)) } " MB/s from text" br; (case.case.scheme) ", " (case.case.input) ", " (case.computer()) ", " (threads(case)) }
            }
            @if let Some((speed, case)) = dedup {
                li { strong { (digits(speed / 1e6, 3)) } " MB/s end to end" br; (case.case.input) ", " (case.computer()) ", " (threads(case)) }
            }
            @if !comparisons.is_empty() {
                li { strong { (comparisons.len() - behind) " of " (comparisons.len()) } " cells ahead" br; "of other tools" }
            }
        }
    }
}
