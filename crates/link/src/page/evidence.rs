//! What the fields of one file say of its records, and what pairs share.

use maud::{Markup, html};

use super::points::points;
use crate::evidence::{ClassEvidence, EvidenceReport, FieldEvidence};
use crate::report::LinkReport;
use simgpu::progress::counted;
use simgpu_page::{listed, percent};

/// Classes that are listed, at most.
const LISTED: usize = 12;

impl LinkReport {
    /// What each field says, and what pairs share, where evidence was looked for.
    pub(super) fn evidence_of_fields(&self) -> Markup {
        let Some(evidence) = &self.evidence else {
            return html! {};
        };
        html! {
            section {
                h2 { "Evidence" }
                @if self.score == "evidence" { (rule()) } @else {
                    p.note { "The evidence of the fields together was not enough to decide by it; this is what it was." }
                }
                div.scroll { table {
                    thead { tr { th { "field" } th { "kind" } th { "used as" } th.number { "bits" } th.number { "missing" } } }
                    tbody { @for field in &evidence.fields { (self.field(field)) } }
                } }
                @if evidence.equal_by_chance > 0 {
                    p { "Equality of all fields is no evidence for " (counted(evidence.equal_by_chance, "record")) ": so many are equal by chance." }
                }
                h3 { "What pairs of records share" }
                p.note { "The null: pairs of different things that agree by chance, whose number is known, or share some fields, as a household does. The rest is the same thing." }
                (self.classes(evidence))
                @if evidence.fields.iter().any(|field| !field.levels.is_empty()) {
                    h3 { "What the levels of each field say" }
                    p.note { "Points are bits: log2(same / different). One more doubles the odds. Equal values are split by rarity: a higher number is rarer." }
                    div.fields { @for field in &evidence.fields { (self.levels(field)) } }
                }
            }
        }
    }

    fn name(&self, field: usize) -> &str {
        self.parameters.fields.get(field).map_or("", String::as_str)
    }

    fn field(&self, field: &FieldEvidence) -> Markup {
        let others: Vec<String> = field
            .copy_of
            .iter()
            .map(|other| self.name(*other).to_owned())
            .collect();
        let copy = format!("not used: its words stand in {}", listed(&others));
        let used = match field.used {
            "strong" => "strong: equality by chance is rare",
            "weak" => "weak",
            "doubted" => "doubted: it differs where all others agree",
            "noise" => "not used: it never agrees where others do",
            "copy" => &copy,
            "empty" => "not used: hardly any values, or one only",
            "too many fields" => "not used: there are too many fields",
            other => other,
        };
        html! {
            tr {
                th { bdi { (self.name(field.field)) } }
                td { (field.kind.unwrap_or("–")) }
                td { (used) }
                @if field.used != "empty" {
                    td.number { (format!("{:.1}", field.bits)) }
                    td.number { (percent(field.missing)) }
                } @else { td.number { "–" } td.number { "–" } }
            }
        }
    }

    fn classes(&self, evidence: &EvidenceReport) -> Markup {
        let shared = |class: &ClassEvidence| match &class.shares[..] {
            _ if class.is_same => "all fields: the same thing".to_owned(),
            [] => "nothing: they agree by chance".to_owned(),
            shares => {
                let names: Vec<String> = shares
                    .iter()
                    .map(|field| self.name(*field).to_owned())
                    .collect();
                format!("only {}", listed(&names))
            }
        };
        let expected = |class: &ClassEvidence| class.pairs >= 1.0 || class.is_same;
        html! {
            div.scroll { table {
                thead { tr { th { "pairs that share" } th.number { "expected" } } }
                tbody {
                    @for class in evidence.classes.iter().filter(|class| expected(class)).take(LISTED) {
                        tr { td { bdi { (shared(class)) } } td.number { (format!("{:.0}", class.pairs)) } }
                    }
                }
            } }
        }
    }

    fn levels(&self, field: &FieldEvidence) -> Markup {
        html! {
            @if !field.levels.is_empty() {
                div.scroll { table {
                    thead { tr { th { bdi { (self.name(field.field)) } } th.number { "same" } th.number { "different" } th.number { "points" } } }
                    tbody {
                        @for level in &field.levels {
                            tr {
                                td { (level.level) }
                                td.number { (share(level.of_same)) }
                                td.number { (share(level.of_different)) }
                                td.number { strong { (points(level.points)) } }
                            }
                        }
                    }
                } }
            }
        }
    }
}

/// The rule, in short.
fn rule() -> Markup {
    html! {
        p.note {
            "Records are one entity if all fields together say so: each level of likeness has points, learned without labelled pairs. "
            "Pairs of different things agree by chance, or share some fields, as a household shares an address: each such set of fields is an "
            "explanation of its own, and takes points away. Two groups of records join if the pairs between them speak for it on average."
        }
    }
}

/// A share, of which small ones count, too.
fn share(share: f64) -> String {
    format!("{:.4} %", 100.0 * share)
}
