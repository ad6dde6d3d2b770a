//! A folder as a page: report.html, with charts that need no script.
//!
//! ```text
//! chart     scales and axes
//! mark      what is between them, and legends
//! bars      rows of a name, a number and a picture of it
//! heat      a map in colours
//! speed     which charts there are of throughput
//! quality   which charts there are of errors, and of what is found
//! shown     tables, and lists of sentences
//! ```

mod chart;

mod mark;

mod bars;

mod heat;

mod speed;

mod quality;

mod shown;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use self::shown::shown;
use super::Stage;
use super::cases::{Measured, cases};
use super::folder::Tables;
use super::summary::table::digits;
use super::summary::{Section, Topic, beside};

const STYLE: &str = include_str!("style.css");

/// report.html: one file, without script, that asks for nothing else.
pub fn page(environment: &Value, tables: &Tables, sections: &[Section]) -> String {
    let cases = cases(&tables.runs);
    let said = |what: &str| environment[what].as_str().unwrap_or_default();
    let title = format!("simgpu bench {} {}", said("date"), said("cpu"));
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
                    p { (said("cpu")) ", " (said("date")) }
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

/// The chart of a section, if its table has a shape to see.
fn chart(topic: Topic, cases: &[Measured<'_>], tables: &Tables) -> Option<Markup> {
    match topic {
        Topic::Backends => speed::backends(cases),
        Topic::Lengths => speed::lengths(cases),
        Topic::Slots => speed::slots(cases),
        Topic::Threads => speed::threads(cases),
        Topic::Texts => speed::texts(cases),
        Topic::Growth => speed::growth(cases),
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

/// What the chart shows beside the table.
fn caption(topic: Topic) -> &'static str {
    match topic {
        Topic::Backends => {
            "Bars are million shingles/s, all on one scale; whiskers are ± one median absolute deviation."
        }
        Topic::ErrorSizes => {
            "The maps show the root of that, over all inputs whose similarity is within 0.03 of the column's: blue is below 1, orange above."
        }
        Topic::ErrorSlots => {
            "Whiskers are 95 % intervals; on the left schemes stand side by side at each K."
        }
        Topic::Curve => "A marker is a scheme: those that agree with theory lie on each other.",
        Topic::Peers | Topic::PeersDedup => {
            "A dot is a cell; right of the line simgpu is ahead, and a square is a cell in which it is behind."
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
                    details { summary { "Table" } (shown(*topic, table)) }
                }
                None => (shown(*topic, table)),
            }
        }
    }
}

/// The figures that one looks for first.
fn headlines(cases: &[Measured<'_>]) -> Markup {
    let fastest = |stage: Stage, speed: &dyn Fn(&Measured<'_>) -> Option<f64>| {
        let ours = cases
            .iter()
            .filter(|case| case.is_own() && case.case.stage == stage);
        let speeds = ours.filter_map(|case| Some((speed(case)?, case)));
        let finite = speeds.filter(|(speed, _)| speed.is_finite());
        finite.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let threads = |case: &Measured<'_>| match case.case.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let updates = fastest(Stage::Sign, &|case| case.updates_per_s());
    let texts = fastest(Stage::SignTexts, &|case| case.text_bytes_per_s());
    let dedup = fastest(Stage::Dedup, &|case| case.text_bytes_per_s());
    let beside = beside(cases);
    let behind = beside.iter().filter(|beside| beside.is_behind()).count();
    html! {
        ul.headlines {
            @if let Some((speed, case)) = updates {
                li { strong { (digits(speed / 1e9, 3)) } " G updates/s" br; (case.case.scheme) ", " (case.computer()) ", " (threads(case)) }
            }
            @if let Some((speed, case)) = texts {
                li { strong { (digits(speed / 1e6, 3)) } " MB/s from text" br; (case.case.scheme) ", " (case.case.input) ", " (threads(case)) }
            }
            @if let Some((speed, case)) = dedup {
                li { strong { (digits(speed / 1e6, 3)) } " MB/s end to end" br; (case.case.input) ", " (threads(case)) }
            }
            @if !beside.is_empty() {
                li { strong { (beside.len() - behind) " of " (beside.len()) } " cells ahead" br; "of other tools" }
            }
        }
    }
}
