//! The report of a search for items as a page: report.html, which needs neither scripts nor other files.
//!
//! The page follows from the report and the hits that are shown, so that equal inputs and options make equal bytes.

mod leaks;

mod hits;

mod parameters;

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::class::Class;
use crate::lack::Lack;
use crate::report::{BenchmarkReport, ByClass, ContainReport, FoundAt, LeakingDocument};
use crate::scan::Contain;
use crate::shown::Examples;
use simgpu::progress::{counted, grouped};
use simgpu_files::skipped_records;
use simgpu_page::{Page, Piece, Room, command, name, percent, share_bar, short};

/// How much is shown of a text.
const TEXT: Room = Room {
    bytes: 5_000,
    lines: 60,
};

/// Benchmarks in tables, at most.
const LISTED: usize = 50;

/// A report, and what it does not say.
struct Shown<'a> {
    report: &'a ContainReport,
    contain: &'a Contain,
    examples: &'a Examples,
    /// The documents that ask most items.
    documents: &'a [LeakingDocument],
    /// Where these documents and those of the examples are.
    at: &'a BTreeMap<u32, FoundAt>,
}

impl ContainReport {
    /// The report as a page of HTML: the contents of `report.html`.
    pub(super) fn page(
        &self,
        contain: &Contain,
        examples: &Examples,
        documents: &[LeakingDocument],
        at: &BTreeMap<u32, FoundAt>,
    ) -> String {
        let shown = Shown {
            report: self,
            contain,
            examples,
            documents,
            at,
        };
        let counts = &self.counts;
        let page = Page {
            title: &format!(
                "{} of {} {} asked",
                grouped(counts.found_items.contaminated),
                counted(counts.items, "item"),
                if counts.found_items.contaminated == 1 {
                    "is"
                } else {
                    "are"
                },
            ),
            header: html! {
                (shown.summary())
                (shown.headlines())
            },
            main: html! {
                (shown.next())
                (shown.leaking())
                (shown.benchmarks())
                (shown.leaked())
                (shown.examples())
                (shown.merged())
                (shown.public())
                (shown.frequent())
                (shown.parameters())
                (skipped_records(&self.skipped))
            },
            footer: "The numbers of this page are in report.json, all hits in hits.jsonl or hits.parquet, and all items in items.jsonl.",
        };
        page.render()
    }
}

/// The documents that are asked or hold something, in words.
fn class_counts(counts: &ByClass) -> [(Class, u64); 4] {
    [
        (Class::Contaminated, counts.contaminated),
        (Class::Passage, counts.passage),
        (Class::Short, counts.short),
        (Class::Template, counts.template),
    ]
}

impl Shown<'_> {
    /// What was done, in a sentence or two.
    fn summary(&self) -> Markup {
        let counts = &self.report.counts;
        let documents = counts.records - counts.skipped;
        html! {
            p {
                "simgpu contain looked for the items of "
                (counted(self.report.benchmarks.len() as u64, "benchmark")) " in " (counted(documents, "document"))
                @if counts.skipped > 0 { ", and skipped " (counted(counts.skipped, "bad record")) }
                ". "
                @match self.report.parameters.action {
                    "drop" => "Documents with hits of the chosen classes were left out.",
                    "cut" => "What hits of the chosen classes found was cut out of the texts.",
                    "mark" => "Each record got a field with the places of hits of the chosen classes.",
                    _ => "They were listed, and nothing was removed.",
                }
                " "
                @match self.report.phrases {
                    _ if !self.contain.rule.of.weighs_evidence() => {
                        "Any n-gram in common with an item counts, by the rule of others."
                    }
                    "given" => {
                        "Public phrases were excused by the counts of an earlier reading: "
                        (counted(counts.excused, "hit")) "."
                    }
                    _ => {
                        "No hit was excused because its words are frequent: to excuse public phrases, run again with "
                        code { "--phrases" } " and the phrases.parquet of this run."
                    }
                }
            }
        }
    }

    /// The main figures.
    fn headlines(&self) -> Markup {
        let counts = &self.report.counts;
        let documents = counts.records - counts.skipped;
        let files = counts.leaking_files;
        let removable = &counts.removable;
        html! {
            ul.headlines {
                li {
                    strong { (counted(counts.found_items.contaminated, "item")) } br;
                    "of " (grouped(counts.items)) " are asked: " (share(counts.found_items.contaminated, counts.items))
                }
                li {
                    strong { (counted(counts.documents.contaminated, "document")) } br;
                    "of " (grouped(documents)) " ask them" @if files > 0 { ", in " (counted(files, "file")) }
                }
                li {
                    strong { (grouped(counts.near_misses)) (if counts.near_misses == 1 { " near miss" } else { " near misses" }) } br;
                    "hits that lack one condition: read some of them below"
                }
                @if removable.dropped > 0 {
                    li {
                        strong { (counted(removable.dropped, "document")) } br;
                        "of " (counted(removable.dropped_bytes, "byte")) " would be removed by " code { "--action drop" }
                        "; or " (counted(removable.cut_bytes, "byte")) ", in " (counted(removable.cuts, "cut")) ", by " code { "--action cut" }
                    }
                }
                li {
                    strong { (counted(counts.undecidable_items, "item")) } br;
                    "cannot be recognised, even in a document that holds all of them: too short, or shared with other items"
                    @if counts.merged_items > 0 { ". " (counted(counts.merged_items, "item")) " stand for several records with the same words" }
                }
                @if let Some(cut) = &counts.cut {
                    li {
                        strong { (share(cut.cut_bytes + cut.removed_bytes, counts.bytes)) } br;
                        "of the bytes were removed"
                        @if cut.cuts > 0 { ": " (counted(cut.cuts, "cut")) " in " (counted(cut.cut_documents, "document")) " took " (counted(cut.cut_bytes, "byte")) }
                        @if counts.removed.unwrap_or(0) > 0 { "; " (counted(counts.removed.unwrap_or(0), "document")) " of " (counted(cut.removed_bytes, "byte")) " removed whole" }
                    }
                }
            }
        }
    }

    /// What to do next.
    fn next(&self) -> Markup {
        let counts = &self.report.counts;
        let is_report = self.report.parameters.action == "report";
        html! {
            section id="next" {
                h2 { "What to do next" }
                @if counts.documents.contaminated == 0 {
                    p { "No document asks an item, so there is nothing to remove." @if counts.near_misses > 0 { " Read the near misses below." } }
                } @else if is_report {
                    p { "Read some of the questions under Asked. Then write the records without these documents:" }
                    (command("contain INPUT… --against ITEMS -o CLEAN --action drop", &[], &[]))
                    p.note {
                        "Pass the other options of this run, too: Parameters, below, has them. "
                        code { "--action cut" } " removes what is marked from the documents instead, and " code { "--action mark" }
                        " writes all records with the places found. Nothing was removed by this run."
                    }
                } @else {
                    p { "The records were written to kept/. Score models on the items that no document asks: items.jsonl lists them." }
                }
            }
        }
    }
}

impl Lack {
    /// What is missing, in words.
    fn explained(self) -> &'static str {
        match self {
            Lack::Sentence => "too little of the asking sentence",
            Lack::Edges => "its first or last words",
            Lack::AskingWord => "its asking word",
            Lack::OneSentence => "a question or paragraph ends within its asking sentence",
            Lack::Opposite => "a negation, an opposite, or another operation or modal",
            Lack::Content => "too few of its own words",
            Lack::Gap => "too many words missing in a row",
            Lack::Figures => "other figures",
            Lack::Signs => "other signs",
            Lack::Names => "other names",
            Lack::Own => "too few rare n-grams",
            Lack::Statement => "a statement here",
            Lack::Phrase => "a public phrase alone",
            Lack::Passage => "without its passage and options",
            Lack::Options => "without its options",
            Lack::Better => "another question fits better",
            Lack::Question => "the passage alone",
            Lack::Undecidable => "its words are those of many items",
        }
    }
}

/// A table of phrases.
fn table<'a>(rows: impl Iterator<Item = (&'a str, u64, String)>, of: &'static str) -> Markup {
    html! {
        div.scroll { table.rows {
            thead { tr { th.number { "documents" } th { "phrase" } th { (of) } } }
            tbody {
                @for (phrase, documents, where_) in rows {
                    tr {
                        td.number data-name="documents" { (grouped(documents)) }
                        td.long data-name="phrase" { span { (name(phrase)) } }
                        td data-name=(of) { span { (name(&where_)) } }
                    }
                }
            }
        } }
    }
}

fn row(of: &BenchmarkReport) -> Markup {
    let asked = of.found_items.contaminated;
    html! {
        tr {
            td data-name="benchmark" { span { (name(&short(&of.benchmark))) } }
            td.number data-name="items" { (grouped(of.items)) }
            td.share data-name="share asked" { (share_bar(asked as f64 / of.items.max(1) as f64)) " " (share(asked, of.items)) }
            @for (class, count) in class_counts(&of.found_items) {
                td.number data-name=(if class == Class::Contaminated { "asked" } else { class.name() }) { (grouped(count)) }
            }
            td.number data-name="not recognisable" { (grouped(of.undecidable_items)) }
            td.number data-name="documents that ask" { (grouped(of.documents.contaminated)) }
        }
    }
}

/// The share of a part.
fn share(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

/// A text with a mark on some of its bytes.
fn marked<'a>(text: &'a str, mark: &std::ops::Range<usize>) -> Vec<Piece<'a>> {
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    vec![
        Piece::Same(part(0..mark.start)),
        Piece::Other(part(mark.clone())),
        Piece::Same(part(mark.end..text.len())),
    ]
}
