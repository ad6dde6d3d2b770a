//! The report of a search for passages as a page: report.html, which needs neither scripts nor other files.
//!
//! ```text
//! lengths     how long passages are
//! sources     what is covered of each input file, and of single documents
//! examples    frequent passages, and pieces beside their sources
//! parameters  what was asked for, and the command that asks for it again
//! ```
//!
//! The page follows from the report and the excerpts, so that equal inputs and options make equal bytes.

mod lengths;

mod sources;

mod examples;

mod parameters;

use maud::{Markup, html};

use super::excerpts::Excerpts;
use super::report::{CutCounts, PassageReport};
use simgpu::progress::{counted, grouped};
use simgpu_files::skipped_records;
use simgpu_page::{Page, SKIPPED, percent, repeated_ids};

/// A report and parts of texts.
struct PassagesPage<'a> {
    report: &'a PassageReport,
    excerpts: &'a Excerpts,
}

impl PassageReport {
    /// The report as a page of HTML: the contents of `report.html`.
    pub(super) fn page(&self, excerpts: &Excerpts) -> String {
        let shown = PassagesPage {
            report: self,
            excerpts,
        };
        let covered = percent(self.counts.covered_share());
        let page = Page {
            title: &format!("{covered} of the text repeats"),
            header: html! {
                (shown.summary())
                (shown.headlines())
            },
            main: html! {
                (shown.lengths())
                (shown.sources())
                (shown.frequent())
                (shown.most_covered())
                (shown.examples())
                (shown.parameters())
                (skipped_records(&self.skipped))
            },
            footer: "The numbers of this page are in report.json, and all passages in passages.jsonl or passages.parquet.",
        };
        page.render()
    }
}

/// The share of a part.
fn share(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

impl PassagesPage<'_> {
    /// What was done, in a sentence or two.
    fn summary(&self) -> Markup {
        let counts = &self.report.counts;
        let documents = counts.records - counts.skipped;
        let parameters = &self.report.parameters;
        html! {
            p {
                "simgpu passages looked for " (self.passages()) " that occur "
                @match parameters.occurrences { "all" => "elsewhere", _ => "earlier" }
                @match counts.reference {
                    Some(_) if parameters.only_against => " in the reference: ",
                    Some(_) => " in the inputs or in the reference: ",
                    None => " in the inputs: ",
                }
                (counted(documents, "document")) " read, " (grouped(counts.skipped)) " " (SKIPPED)
                @if let Some(reference) = counts.reference { ", " (grouped(reference)) " of the reference" }
                ". "
                @match parameters.action {
                    "cut" => "They were cut out of the texts.",
                    "drop" => "Documents that are mostly passages were removed.",
                    "mark" => "Each record got a field with their places.",
                    _ => "They were listed, and nothing was removed.",
                }
                (repeated_ids(counts.repeated_ids))
            }
        }
    }

    /// What a passage is, in words.
    fn passages(&self) -> String {
        let parameters = &self.report.parameters;
        let length = parameters.min_length;
        match parameters.unit {
            unit @ ("lines" | "paragraphs") => {
                format!("{unit} of at least {}", counted(length, "character"))
            }
            unit => format!("parts of at least {}", counted(length, unit_name(unit))),
        }
    }

    /// The main figures.
    fn headlines(&self) -> Markup {
        let counts = &self.report.counts;
        let documents = counts.records - counts.skipped;
        html! {
            ul.headlines {
                li {
                    strong { (share(counts.covered_bytes, counts.bytes)) } br;
                    "of the bytes are passages: " (grouped(counts.covered_bytes)) " of " (grouped(counts.bytes))
                }
                li {
                    strong { (grouped(counts.spans)) } br;
                    (if counts.spans == 1 { "stretch is" } else { "stretches are" }) " covered, in " (grouped(counts.covered_documents)) " of " (counted(documents, "document"))
                }
                li {
                    strong { (grouped(counts.pieces)) } br;
                    (if counts.pieces == 1 { "piece" } else { "pieces" }) ", each with one source: " (grouped(counts.within_document)) " in the same document"
                    @if let Some(from) = counts.from_reference { ", " (grouped(from)) " in the reference" }
                    "; " (grouped(counts.inexact)) " differ from it in bytes between the units"
                }
                @if let Some(cut) = &counts.cut { (removed(cut, counts.bytes)) }
            }
        }
    }
}

/// What was cut and removed, and lost.
fn removed(cut: &CutCounts, bytes: u64) -> Markup {
    html! {
        li {
            strong { (share(cut.cut_bytes + cut.removed_bytes, bytes)) } br;
            "of the bytes were removed"
            @if cut.cuts > 0 { ": " (counted(cut.cuts, "cut")) " in " (counted(cut.cut_documents, "document")) " took " (counted(cut.cut_bytes, "byte")) }
            @if cut.removed > 0 { "; " (counted(cut.removed, "document")) " of " (counted(cut.removed_bytes, "byte")) " removed whole" }
            @if cut.cuts > 0 && cut.uncut_bytes > 0 { "; " (counted(cut.uncut_bytes, "byte")) " of passages stay, as parts of words, lines or characters" }
        }
        li {
            @match cut.lost_of_units {
                0 => { strong { "nothing" } br; "is lost: nothing was removed" }
                all => {
                    strong { "lost " (share(cut.lost_units, all)) } br;
                    "of what was cut or removed stands in no kept passage: " (grouped(cut.lost_units)) " of " (counted(all, "unit"))
                }
            }
        }
    }
}

/// The singular of a unit.
fn unit_name(unit: &str) -> &str {
    match unit {
        "code" => "token of code",
        "chars" => "character",
        other => other.strip_suffix('s').unwrap_or(other),
    }
}
