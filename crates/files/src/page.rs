//! The report of a deduplication, or of a search for pairs, as a page: report.html, which needs neither scripts nor other
//! files.
//!
//! ```text
//! sources       what is kept and removed of each source
//! similarities  how similar the removed documents are, or the pairs
//! pairs         removed documents beside the kept ones
//! clusters      sizes, and the largest clusters
//! found         what the page of a search for pairs shows
//! parameters    what was asked for, and the command that asks for it again
//! ```
//!
//! The page follows from the report and the samples, so that equal inputs and options make equal bytes.

mod sources;

mod similarities;

mod pairs;

mod clusters;

mod found;

mod parameters;

#[doc(hidden)]
pub use pairs::place;

use maud::{Markup, html};

use super::samples::Samples;
use simgpu::progress::{counted, grouped};
use simgpu_io::{DedupParameters, Report, SimilarityBin, SkippedRecord};
use simgpu_page::{Page, SKIPPED, listed, name, percent, repeated_ids, skipped, visible};

/// A report and the texts of its documents.
struct ShownReport<'a> {
    report: &'a Report,
    samples: &'a Samples,
    /// Whether documents and results are in memory, and there are no files.
    is_in_memory: bool,
}

/// The bad records.
#[doc(hidden)]
pub fn skipped_records(records: &[SkippedRecord]) -> Markup {
    let rows = records.iter();
    skipped(rows.map(|bad| (&*bad.file, bad.row, &*bad.problem)))
}

/// A report as a page of HTML: the contents of `report.html`.
pub(crate) fn report_page(report: &Report, samples: &Samples) -> String {
    let shown = ShownReport {
        report,
        samples,
        is_in_memory: false,
    };
    match &report.overview {
        Some(overview) => shown.page_of_pairs(overview),
        None => shown.page_of_removals(),
    }
}

/// The same for a deduplication in memory.
pub(crate) fn report_page_in_memory(report: &Report, samples: &Samples) -> String {
    let shown = ShownReport {
        report,
        samples,
        is_in_memory: true,
    };
    shown.page_of_removals()
}

impl ShownReport<'_> {
    /// The page of a deduplication.
    fn page_of_removals(&self) -> String {
        let title = self.title();
        let page = Page {
            title: &title,
            header: html! {
                (self.summary())
                (self.headlines())
                (self.warnings())
                (self.contents())
            },
            main: html! {
                (self.similarities())
                @if !self.is_in_memory { (self.sources()) }
                (self.pairs_at_threshold())
                (self.losses())
                (self.clusters())
                (self.random_pairs())
                (self.parameters())
                (skipped_records(&self.report.skipped))
            },
            footer: if self.is_in_memory {
                "Rows count from 0."
            } else {
                "The numbers of this page are in report.json, all removed documents in removed.jsonl or removed.parquet, and the texts in samples.jsonl."
            },
        };
        page.render()
    }

    fn title(&self) -> String {
        let counts = &self.report.counts;
        format!(
            "{} of {} removed",
            grouped(counts.removed),
            counted(counts.documents, "document")
        )
    }

    /// Links to the sections, since the pairs need many screens.
    fn contents(&self) -> Markup {
        let has_examples = |why| self.examples(why).next().is_some();
        let sections = [
            (
                "sources",
                "sources",
                !self.report.sources.is_empty() && !self.is_in_memory,
            ),
            ("threshold", "doubtful pairs", has_examples("threshold")),
            ("lost", "the most lost", has_examples("lost")),
            (
                "clusters",
                "clusters",
                !self.report.largest_clusters.is_empty(),
            ),
            ("random", "removed at random", has_examples("random")),
            ("parameters", "parameters", true),
        ];
        let shown: Vec<_> = sections.iter().filter(|(.., is_shown)| *is_shown).collect();
        html! {
            p.note {
                "Below: "
                @for (i, (id, title, _)) in shown.iter().enumerate() {
                    @if i > 0 { ", " }
                    a href=(format!("#{id}")) { (title) }
                }
                "."
            }
        }
    }

    /// What is unusual about the result.
    fn warnings(&self) -> Markup {
        html! {
            @for warning in &self.report.warnings {
                p.warning { b { "Warning: " } bdi { (visible(&warning.to_string())) } "." }
            }
        }
    }

    /// What was done, in a sentence.
    fn summary(&self) -> Markup {
        let counts = &self.report.counts;
        html! {
            p {
                @match self.pairs_file() {
                    None => "simgpu dedup looked for near-duplicates: ",
                    Some(pairs) => { "simgpu dedup removed documents by the similar pairs in " (name(pairs)) ", which an earlier run had found: " },
                }
                (grouped(counts.documents)) " documents = "
                (grouped(counts.kept)) " kept + " (grouped(counts.removed)) " removed + " (grouped(counts.skipped)) " " (SKIPPED) ". "
                (self.which_stays())
                (repeated_ids(counts.repeated_ids))
            }
        }
    }

    /// Which of several similar documents is kept.
    fn which_stays(&self) -> Markup {
        let Some(dedup) = &self.report.dedup else {
            return html! {};
        };
        let preferred = dedup
            .prefer_source
            .iter()
            .map(|source| visible(source).into_owned());
        let preferred: Vec<String> = preferred.collect();
        html! {
            "Of similar documents, "
            @if self.report.counts.index.is_some() { "one of the index stays if there is any, else " }
            @if self.report.counts.reference.is_some() { "one of the reference stays if there is any, else " }
            @if !preferred.is_empty() { "one of " bdi { (listed(&preferred)) } " stays if there is any, else " }
            @match (&dedup.keep_by, dedup.keep) {
                (Some(field), _) => { "the first by " (name(field)) " stays." }
                (None, "longest") => "the longest stays.",
                (None, DedupParameters::KEEPS_LARGEST) => "the one with the most shingles stays.",
                (None, _) => "the first in the inputs stays.",
            }
        }
    }

    /// The main figures.
    fn headlines(&self) -> Markup {
        let counts = &self.report.counts;
        let share = |part: u64| percent(part as f64 / counts.documents.max(1) as f64);
        html! {
            ul.headlines {
                li {
                    strong { (share(counts.removed)) } br;
                    "of the documents are removed: " (grouped(counts.removed)) " of " (grouped(counts.documents))
                }
                li { (self.lost()) }
                @if let Some(dropped) = counts.dropped {
                    li {
                        strong { (grouped(dropped)) } br;
                        "are removed for no other, because they have no shingles, or too few"
                    }
                }
                li { (self.recall()) }
                li {
                    strong { (grouped(counts.clusters)) } br;
                    "clusters of two or more documents, of which one is kept; the largest has " (counted(counts.largest_cluster, "document"))
                    @if counts.clusters > 0 { ", " (share(counts.largest_cluster)) " of all" }
                }
            }
        }
    }

    /// What the removed documents had that the kept ones lack.
    fn lost(&self) -> Markup {
        let counts = &self.report.counts;
        let whole = self.whole_copies();
        html! {
            @match (counts.removed, counts.lost_shingles, counts.removed_shingles) {
                (0, ..) => { strong { "nothing" } br; "is lost: no document was removed" }
                (_, Some(lost), Some(shingles @ 1..)) => {
                    strong { "lost " (percent(lost as f64 / shingles as f64)) } br;
                    "of the shingles of removed documents" (self.shingles()) " are not in the kept ones. Documents that are identical to the kept one are left out"
                    @if self.is_greedy() {
                        ". " (grouped(whole)) " of " (grouped(counts.removed)) " removed documents have the same shingles as the kept one"
                    }
                }
                (_, Some(_), _) if counts.unknown_losses == Some(0) => {
                    strong { "nothing" } br;
                    "is lost: all removed documents are identical to the kept one"
                }
                _ if self.pairs_file().is_some() => { strong { "cannot tell" } br; "what is lost: a list of pairs does not say; a run that searches does" }
                _ => { strong { "cannot tell" } br; "what is lost; " code { "--verify exact" } " compares the documents" }
            }
        }
    }

    /// What a shingle is, where a few words say it.
    fn shingles(&self) -> Markup {
        let parameters = &self.report.parameters;
        let unit = match &*parameters.unit {
            "words" => "words in a row",
            "chars" => "characters in a row",
            "bytes" => "bytes in a row",
            "tokens" => "tokens in a row",
            "code" => "words, numbers or signs in a row",
            _ => return html! {},
        };
        match parameters.size {
            Some(size) if size > 1 => html! { " (each " (size) " " (unit) ")" },
            _ => html! {},
        }
    }

    /// Whether each removed document is compared with its kept one, and not with another on a chain.
    fn is_greedy(&self) -> bool {
        let dedup = self.report.dedup.as_ref();
        dedup.is_some_and(|dedup| dedup.cluster == "greedy")
    }

    /// The removed documents with a similarity of 1.
    fn whole_copies(&self) -> u64 {
        let is_whole = |bin: &&SimilarityBin| bin.similarity >= 1.0;
        let mut whole = self.report.histogram.iter().filter(is_whole);
        whole.next().map_or(0, |bin| bin.removed)
    }

    /// How many of the similar pairs the run finds, and whether what it finds is right.
    fn recall(&self) -> Markup {
        let report = self.report;
        let Some(search) = &report.parameters.search else {
            return html! {};
        };
        html! {
            @match &*search.candidates {
                "join" => {
                    strong { "100 %" } br;
                    @if search.within.is_some() { "of the pairs within the distance" } @else { "of the pairs at or above the threshold" }
                    " are found: the search is exact"
                }
                _ if !search.recall_by_size_ratio.is_empty() => {
                    strong { (percent(search.recall_at_threshold)) } br;
                    "of the documents just at the threshold that are contained in one twice as large are expected to be found"
                    @for (ratio, recall) in search.recall_by_size_ratio.iter().filter(|(ratio, _)| **ratio > 2) {
                        ", " (percent(*recall)) " in one " (ratio) " times as large"
                    }
                }
                _ => {
                    strong { (percent(search.recall_at_threshold)) } br;
                    "of the pairs just at the threshold are expected to be found, and more of those above it"
                    @if let Some(among_inputs) = search.input_recall_at_threshold {
                        "; among the inputs, " (percent(among_inputs))
                    }
                }
            }
            @match (&*search.verify, report.expected_precision) {
                ("exact", _) if search.within.is_some() => "; every distance is computed exactly",
                ("exact", _) if search.index_verify.is_some() => {
                    "; similarities among the inputs are computed exactly, those with documents of the index are estimates"
                }
                ("exact", _) => "; every similarity is computed exactly",
                (_, Some(precision)) => { "; " (percent(precision)) " of the pairs found are expected to be similar" }
                ("none", None) => "; pairs are not verified, so that some may be less similar",
                _ => "; similarities are estimates",
            }
            @if report.counts.omitted_pairs > 0 {
                ". Up to " (counted(report.counts.omitted_pairs, "pair")) " were not compared, because of " code { "--max-bucket" }
            }
        }
    }
}
