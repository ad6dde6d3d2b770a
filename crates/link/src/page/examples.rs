//! Pairs next to the threshold, the links on one side and the rejected pairs on the other.

use maud::{Markup, html};
use serde_json::Value;

use super::points::{WHOLE, points};
use crate::report::LinkReport;
use simgpu::progress::counted;
use simgpu_page::{scored, short};

impl LinkReport {
    /// The accepted and rejected pairs next to the threshold.
    pub(super) fn pairs_at_threshold(&self) -> Markup {
        let with = |accepted: bool| {
            let examples = self.examples.iter();
            examples.filter(move |example| example["accepted"] == accepted)
        };
        // Both lists are by descending score.
        let mut links: Vec<&Value> = with(true).collect();
        links.reverse();
        html! {
            @if !self.examples.is_empty() {
                section {
                    h2 { (if self.score == "evidence" { "Pairs to look at" } else { "Pairs at the threshold" }) }
                    p.note {
                        @if self.score == "evidence" {
                            "Look here first: the links that the evidence is weakest for, and the best pairs of two entities."
                        } @else {
                            "Look here first: if rejected pairs describe the same thing, lower the threshold of " (precise(self.estimate.threshold)) "; if links do not, raise it."
                        }
                    }
                    div.sides {
                        div {
                            h3 { "Links with the lowest scores" }
                            @for example in links { (self.pair(example)) }
                        }
                        div {
                            h3 { "Rejected pairs with the highest scores" @if self.score != "evidence" { " below the threshold" } }
                            @for example in with(false) { (self.pair(example)) }
                        }
                    }
                }
            }
        }
    }

    fn pair(&self, example: &Value) -> Markup {
        html! {
            article {
                p.score { "score " strong { (exact(&example["score"])) } }
                (self.both_records(example))
                p.note { (why(example)) }
            }
        }
    }

    /// The fields of both records, and what each says.
    fn both_records(&self, example: &Value) -> Markup {
        let sides = if self.has_two() {
            ["A", "B"]
        } else {
            ["first", "other"]
        };
        let ids = ["id_a", "id_b"].map(|name| plain(&example[name]));
        let values = |side: usize, field: usize| {
            let value = example["values"][side][field].as_str();
            short(value.unwrap_or_default())
        };
        let has_levels = example["levels"].is_object();
        let has_points = example["points"].is_object();
        html! {
            div.scroll { table {
                thead { tr {
                    th { "field" }
                    @for (side, id) in sides.iter().zip(&ids) { th.value { (side) ": " bdi { (short(id)) } } }
                    th.number { "similarity" }
                    @if has_levels { th { "level" } }
                    @if has_points { th.number { "points" } }
                } }
                tbody {
                    @for (i, name) in self.parameters.fields.iter().enumerate() {
                        tr {
                            th { bdi { (name) } }
                            td.value { bdi { (values(0, i)) } }
                            td.value { bdi { (values(1, i)) } }
                            td.number { (number(&example["similarities"][name])) }
                            @if has_levels { td { (plain(&example["levels"][name])) } }
                            @if has_points { td.number { (signed(&example["points"][name])) } }
                        }
                    }
                    @if has_levels { (last_row("chance and related things", None, &example["other_points"])) }
                    @if example["whole_points"].is_number() {
                        (last_row(WHOLE, Some(&example["similarity"]), &example["whole_points"]))
                    }
                }
            } }
        }
    }
}

/// The row of what all fields together say. Without a similarity, fields have a column for levels.
fn last_row(name: &str, similarity: Option<&Value>, whole: &Value) -> Markup {
    html! {
        tr {
            th colspan="3" { (name) }
            @match similarity {
                Some(similarity) => td.number { (number(similarity)) },
                None => { td {} td {} }
            }
            td.number { (signed(whole)) }
        }
    }
}

/// What both records share, and the next best pair.
fn why(example: &Value) -> Markup {
    // What the rejected pair lost a record to, mostly.
    let is_better = example["runner_up"]["score"].as_f64() > example["score"].as_f64();
    html! {
        "Rarest words, or parts of words, that both have: "
        @for (i, shared) in example["shared"].as_array().into_iter().flatten().enumerate() {
            @if i > 0 { ", " }
            b { bdi { (plain(&shared["symbol"])) } }
            " (" (counted(shared["records"].as_u64().unwrap_or_default(), "record")) ")"
        }
        "."
        br;
        @match example["runner_up"].as_object() {
            Some(other) => {
                (if is_better { "Better pair of one of them: " } else { "Runner-up: " }) bdi { (short(&plain(&other["id_a"]))) } " and " bdi { (short(&plain(&other["id_b"]))) }
                ", score " (exact(&other["score"])) "."
            }
            None => "Neither record has another candidate.",
        }
    }
}

/// A number, or a dash for one that is missing.
fn number(value: &Value) -> String {
    value.as_f64().map_or("–".to_owned(), scored)
}

/// Points, or a dash.
fn signed(value: &Value) -> String {
    value.as_f64().map_or("–".to_owned(), points)
}

/// A score with one more digit than elsewhere, so that it differs from the threshold.
fn precise(score: f64) -> String {
    match score.abs() {
        small if small < 10.0 => format!("{score:.4}"),
        _ => format!("{score:.2}"),
    }
}

/// The same, or a dash for one that is missing.
fn exact(value: &Value) -> String {
    value.as_f64().map_or("–".to_owned(), precise)
}

/// A text or an integer.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
