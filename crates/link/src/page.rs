//! The report of links as a page: report.html, which needs neither scripts nor other files.
//!
//! ```text
//! scores     the histogram of scores
//! points     what each field says
//! evidence   what each field of one file says, and what pairs share
//! nearby     what another threshold would change
//! sizes      entities of each size
//! examples   pairs next to the threshold
//! ```
//!
//! The page follows from the report alone, so that the command, Python and whoever has a report render the same bytes.
//! maud escapes every value; charts are SVG.

mod scores;

mod points;

mod evidence;

mod nearby;

mod sizes;

mod examples;

#[cfg(test)]
mod tests;

use maud::{Markup, html};

use crate::evidence::LeftOut;
use crate::report::{FileReport, LinkReport};
use simgpu::progress::{counted, grouped};
use simgpu_page::{Page, SKIPPED, listed, name, names, percent, scored, skipped};

impl LinkReport {
    /// The report as a page of HTML: the contents of `report.html`. Has no scripts and names no other files.
    pub fn page(&self) -> String {
        let page = Page {
            title: &self.title(),
            header: html! {
                p { "simgpu link compared " strong { (listed(&self.parameters.fields)) } "." }
                (self.headlines())
            },
            main: html! {
                (self.scores())
                (self.other_thresholds())
                (self.pairs_at_threshold())
                (self.entities_by_size())
                (self.points_of_fields())
                (self.evidence_of_fields())
                (self.records())
                (self.parameters())
                (self.skipped())
            },
            footer: "All numbers of this page are in report.json, and all links in links.jsonl.",
        };
        page.render()
    }

    /// Whether the records of one collection are linked to those of another.
    fn has_two(&self) -> bool {
        self.files.len() > 1
    }

    fn title(&self) -> String {
        let names: Vec<String> = self.files.iter().map(|file| names(&file.names)).collect();
        match &names[..] {
            [a, b] => format!("Links between {a} and {b}"),
            _ => format!("Links within {}", names.concat()),
        }
    }

    /// The main figures.
    fn headlines(&self) -> Markup {
        let (counts, estimate) = (&self.counts, &self.estimate);
        html! {
            ul.headlines {
                li {
                    strong { (grouped(counts.links)) } " " (if counts.links == 1 { "link" } else { "links" }) br;
                    @if self.has_two() {
                        "between " (grouped(counts.records_a)) " and " (grouped(counts.records_b)) " records"
                    } @else {
                        "among " (counted(counts.records_a, "record"))
                    }
                }
                li { (self.precision()) }
                @if self.has_two() { li { (self.share()) } }
                @if estimate.expected_precision.is_some() { (self.recall()) }
                @if !self.has_two() {
                    li {
                        strong { (grouped(counts.entities)) } br;
                        (if counts.entities == 1 { "entity" } else { "entities" }) " of two or more records"
                    }
                }
                li { (self.decision()) }
            }
        }
    }

    /// How many links are expected to be right.
    fn precision(&self) -> Markup {
        let estimate = &self.estimate;
        html! {
            @match estimate.expected_precision {
                Some(precision) => {
                    strong { (percent(precision)) } br;
                    (range(estimate.precision_range))
                    @if self.has_two() {
                        "of the links are expected to be right"
                    } @else {
                        "of the pairs within entities are expected to be right"
                    }
                }
                None => {
                    strong { "cannot tell" } br;
                    "how many of the links are right"
                    @if self.has_nothing_to_link() {
                        ": no records that differ are linked"
                    } @else if let Some(because) = &estimate.unknown_because { ": " (because) }
                }
            }
        }
    }

    /// How many pairs of the same thing are expected to be found.
    fn recall(&self) -> Markup {
        let estimate = &self.estimate;
        let what = if self.has_two() {
            "of the pairs of the same thing are expected to be links"
        } else {
            "of the pairs of the same thing are expected to be within entities"
        };
        html! {
            @match (estimate.expected_recall, estimate.recall_range) {
                (Some(recall), shares) => li { strong { "some " (percent(recall)) } br; (range(shares)) (what) }
                (None, Some([least, most])) => li {
                    strong { (percent(least)) " to " (percent(most)) } br;
                    (what)
                    @if let Some(because) = &estimate.recall_unknown_because { ": " (because) }
                }
                (None, None) => @if let Some(because) = &estimate.recall_unknown_because {
                    li { strong { "not known" } br; "how many pairs of the same thing are missed: " (because) }
                }
            }
        }
    }

    /// How links were decided.
    fn decision(&self) -> Markup {
        let estimate = &self.estimate;
        let because = self.score_because.as_ref();
        html! {
            @if self.has_nothing_to_link() {
                strong { "nothing to link" } br;
                @let because = estimate.unknown_because.as_deref().unwrap_or_default();
                (because.strip_prefix("nothing to link: ").unwrap_or(because))
            } @else if self.score == "evidence" {
                strong { "by evidence" } br;
                "by what all fields say together, without a threshold"
                @let strong = self.fields_used("strong");
                @if !strong.is_empty() { ", mostly " (strong.join(", ")) }
            } @else {
                strong { (scored(estimate.threshold)) } br;
                "threshold: least score of a link by " (self.score) ", " (self.choice())
                @match because {
                    Some(_) if because == estimate.unknown_because.as_ref() => "; evidence is too weak to decide",
                    Some(because) if self.evidence.is_some() => { "; not by evidence: " (because) }
                    Some(because) => { "; " (because) }
                    None => "",
                }
            }
        }
    }

    /// How many records of the smaller collection have a partner.
    fn share(&self) -> Markup {
        html! {
            @match self.parameters.share.or(self.estimate.share) {
                Some(share) => {
                    strong { (percent(share)) } br;
                    "of the records of " (self.smaller()) " have a partner, "
                    (if self.parameters.share.is_some() { "as given" } else { "estimated" })
                }
                None => {
                    strong { "cannot tell" } br;
                    "how many of the records of " (self.smaller()) " have a partner"
                }
            }
        }
    }

    /// The collection whose records the share counts.
    fn smaller(&self) -> &'static str {
        let is_one_to_one = self.parameters.matching == Some("one-to-one");
        if is_one_to_one && self.counts.records_b < self.counts.records_a {
            "B"
        } else {
            "A"
        }
    }

    /// How the threshold was chosen.
    fn choice(&self) -> &'static str {
        let parameters = &self.parameters;
        match (parameters.threshold, parameters.share) {
            (Some(_), _) => "as given",
            (None, Some(_)) => "chosen by the given share and the runners-up",
            (None, None) if self.has_two() => "chosen by the runners-up",
            (None, None) => match self.score {
                "points" => "chosen so that such a pair is right with a probability of 99 %",
                "textbook" => "chosen so that as many pairs reach it as with the score of texts",
                _ => "chosen as the lowest point between unrelated and related pairs",
            },
        }
    }

    /// What was compared with what.
    fn records(&self) -> Markup {
        let counts = &self.counts;
        let number = |of: &dyn Fn(&FileReport) -> u64| html! { @for file in &self.files { td.number { (grouped(of(file))) } } };
        let skipped = |file: &FileReport| file.skipped.len() as u64;
        let sides = ["A", "B"].into_iter().zip(&self.files);
        html! {
            section {
                h2 { "Records" }
                div.scroll { table {
                    thead { tr { th {} @for (side, file) in sides { th.number { (side) ": " bdi { (names(&file.names)) } } } } }
                    tbody {
                        tr { th { "read" } (number(&|file| file.records)) }
                        tr { th { (SKIPPED) } (number(&skipped)) }
                        tr { th { "compared" } (number(&|file| file.records - skipped(file))) }
                        tr { th { "with the id of an earlier one" } (number(&|file| file.repeated_ids)) }
                    }
                } }
                ul.sentences {
                    li {
                        (counted(counts.candidate_pairs, "candidate pair")) " scored: "
                        @match self.floor {
                            Some(floor) => { "all pairs whose weighted words have a cosine of at least " (scored(floor)) "." }
                            None => "pairs that share a value, a word or two values.",
                        }
                    }
                    @if counts.empty > 0 {
                        li { (counted(counts.empty, "record")) " without a word in these fields: never linked." }
                    }
                    @if counts.equal_records > 0 {
                        li { (counted(counts.equal_records, "record")) " equal to an earlier one of the same file in all fields: compared once, with it." }
                        @if counts.equal_links > 0 { li { (counted(counts.equal_links, "link")) " of all links lead between such equal records." } }
                    }
                    @if let Some(evidence) = self.evidence.as_ref().filter(|_| self.score == "evidence") { (left_out(&evidence.left_out)) }
                    @for other in self.files.iter().flat_map(|file| &file.other_delimiters) {
                        li { (name(&other.file)) " is read with the delimiter " code { (other.delimiter) } ": with the stated one, its header lacks fields." }
                    }
                    @for warning in &self.warnings { li { b { "Warning: " } (warning) "." } }
                }
            }
        }
    }

    fn parameters(&self) -> Markup {
        let parameters = &self.parameters;
        let given = |number: Option<f64>| {
            number.map_or("not given".to_owned(), |number| number.to_string())
        };
        let equivalents = match parameters.equivalents {
            0 => "none".to_owned(),
            names => format!("{} replaced by an equal one", counted(names, "name")),
        };
        html! {
            section {
                h2 { "Parameters" }
                div.scroll { table { tbody {
                    tr { th { "fields" } td.long { (listed(&parameters.fields)) } }
                    @if let Some(fields) = &parameters.fields_b { tr { th { "in B" } td.long { (listed(fields)) } } }
                    tr { th { "id field" } td.long { (parameters.id_field) } }
                    @if let Some(field) = &parameters.id_field_b { tr { th { "in B" } td.long { (field) } } }
                    @if let Some(matching) = parameters.matching { tr { th { "match" } td { (matching) } } }
                    tr { th { "score" } td { (parameters.score) @if parameters.score != self.score { ": " (self.score) } } }
                    tr { th { "threshold" } td { (given(parameters.threshold)) } }
                    @if self.has_two() { tr { th { "share" } td { (given(parameters.share)) } } }
                    tr { th { "equivalents" } td { (equivalents) } }
                } } }
            }
        }
    }

    /// The bad records.
    fn skipped(&self) -> Markup {
        let all = self.files.iter().flat_map(|file| &file.skipped);
        skipped(all.map(|bad| (&*bad.file, bad.row, &*bad.problem)))
    }
}

/// The least and the greatest share, in brackets.
fn range(range: Option<[f64; 2]>) -> Markup {
    html! {
        @if let Some([least, most]) = range { "(" (percent(least)) " to " (percent(most)) ") " }
    }
}

/// What the bounds on candidates left out.
fn left_out(left_out: &LeftOut) -> Markup {
    html! {
        @if left_out.groups > 0 {
            li {
                (counted(left_out.groups, "group")) " of records that share too common a value, with "
                (counted(left_out.pairs, "pair")) ", left out: "
                @match left_out.records {
                    0 => "all their records share something rarer with others, too.",
                    records => { (counted(records, "record")) " of them share nothing rarer." }
                }
            }
        }
        @if left_out.not_drawn > 0 {
            li { (counted(left_out.not_drawn, "pair")) " of large groups left out, for which others of the group were drawn." }
        }
    }
}
