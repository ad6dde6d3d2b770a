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

use maud::{Markup, html};

use crate::evidence::LeftOut;
use crate::write::{FileReport, LinkReport};
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::links::{LinkCounts, Nearby, ScoreBin};
    use crate::points::{FieldPoints, LevelPoints};
    use crate::threshold::Estimate;
    use crate::write::{EntityRecord, EntitySizes, HistogramBin, LinkParameters};

    /// The points of a field by its similarity.
    fn levels() -> Vec<LevelPoints> {
        let level = |least, of_same, of_different, points| LevelPoints {
            least,
            of_same,
            of_different,
            points,
        };
        vec![
            level(Some(0.0), 0.05, 0.8, -4.0),
            level(Some(0.5), 0.2, 0.1, 1.0),
            level(Some(0.9), 0.75, 0.1, 2.91),
            level(None, 0.1, 0.1, 0.0),
        ]
    }

    /// The pairs of each half point.
    fn histogram() -> Vec<HistogramBin> {
        let bins = (-40..=60).map(|score: i32| {
            let pairs = ScoreBin {
                accepted: u64::from(score.unsigned_abs()),
                runners_up: u64::from((60 - score).unsigned_abs().pow(2)),
            };
            HistogramBin::new(f64::from(score) / 2.0, pairs)
        });
        bins.collect()
    }

    /// A report whose score is points.
    fn report() -> LinkReport {
        let names = ["name <b>", "year"].map(str::to_owned);
        LinkReport {
            simgpu_report: 1,
            command: "link",
            counts: LinkCounts {
                records_a: 1_234_567,
                records_b: 1000,
                links: 1,
                equal_records: 4,
                cut_records: 2,
                crowded_records: 3,
                ..LinkCounts::default()
            },
            parameters: LinkParameters {
                fields: names.to_vec(),
                fields_b: None,
                id_field: "id".to_owned(),
                id_field_b: None,
                matching: Some("one-to-one"),
                score: "points",
                threshold: None,
                share: Some(0.5),
                equivalents: 0,
            },
            score: "points",
            score_because: None,
            floor: Some(0.1),
            estimate: Estimate {
                share: Some(0.5),
                unknown_because: Some("runners-up score as high".to_owned()),
                ..Estimate::at_threshold(3.25)
            },
            warnings: vec!["2 records <were> searched".to_owned()],
            points: Some(Vec::from([Some(0), None].map(|field| FieldPoints {
                field,
                levels: levels(),
            }))),
            contest: None,
            evidence: None,
            bin_width: 0.5,
            histogram: histogram(),
            nearby: Vec::from([(2.925, 3, Some(0.875)), (3.575, 1, None)].map(
                |(threshold, links, expected_precision)| Nearby {
                    threshold,
                    links,
                    entities: None,
                    expected_precision,
                },
            )),
            entity_sizes: vec![],
            examples: vec![json!({
                "id_a": "1", "id_b": 2, "score": 3.5, "similarities": {"name <b>": 0.75, "year": null},
                "points": {"name <b>": 3.5, "year": 0.0}, "shared": [{"symbol": "bo_", "records": 2}],
                "runner_up": null, "accepted": true, "values": [["Bob", "1990"], ["Bob J.", ""]],
            })],
            files: ["a.csv", "b.csv"]
                .map(|name| FileReport {
                    names: vec![name.to_owned()],
                    records: 1000,
                    repeated_ids: 0,
                    empty_files: vec![],
                    not_read: simgpu_io::NotRead::default(),
                    other_delimiters: vec![],
                    skipped: vec![],
                })
                .into(),
        }
    }

    #[test]
    fn points_have_a_table() {
        let page = report().page();
        for expected in [
            "Points of each field",
            "<td>0.5 to below 0.9</td><td class=\"number\">20.00 %</td><td class=\"number\">10.00 %</td>",
            "<strong>+2.91</strong>",
            "<strong>-4.00</strong>",
            "missing in a record",
            "whole record",
            "name &lt;b&gt;",
            "per point",
            "each of which doubles the odds",
            "<td class=\"number\">+3.50</td>",
            "1,234,567",
            "50.0 %</strong><br>of the records of B have a partner, as given",
            "cannot tell",
            "runners-up score as high",
            "4 records equal to an earlier one",
            "<b>Warning: </b>2 records &lt;were&gt; searched.",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        assert!(!page.contains("<b>\""));
    }

    #[test]
    fn other_thresholds_have_a_table() {
        let page = report().page();
        for expected in [
            "<th>10 % lower</th><td class=\"number\">2.925</td><td class=\"number\">3</td><td class=\"number\">2 more</td><td class=\"number\">87.5 %</td>",
            "<th>10 % higher</th><td class=\"number\">3.575</td><td class=\"number\">1</td><td class=\"number\">the same</td><td class=\"number\">cannot tell</td>",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    #[test]
    fn entities_have_an_example_of_each_size() {
        let record = |id: &str, values: [&str; 2]| EntityRecord {
            id: id.to_owned(),
            values: values.map(str::to_owned).into(),
        };
        let mut report = report();
        report.files.truncate(1);
        report.entity_sizes = vec![EntitySizes {
            least: 5,
            most: 9,
            entities: 1234,
            records: 8000,
            example_records: 7,
            example: vec![record("a<1>", ["Ann", "1990"]), record("7", ["Anne", ""])],
        }];
        let page = report.page();
        for expected in [
            "5 to 9 records: 1,234 entities, 8,000 records",
            "a&lt;1&gt;",
            "And 5 more records of this entity.",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
