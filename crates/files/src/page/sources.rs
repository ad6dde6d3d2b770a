//! What is kept and removed of each source.

use maud::{Markup, html};

use super::ShownReport;
use simgpu::progress::grouped;
use simgpu_io::{RemovedFor, SourceReport};
use simgpu_page::{name, percent, px};

/// Sources in the table, at most.
const LISTED: usize = 30;

/// Sources of kept documents that are named for each source, at most.
const LISTED_FOR: usize = 3;

impl ShownReport<'_> {
    /// A table of the sources, each with a bar.
    pub(super) fn sources(&self) -> Markup {
        // Those that lose the most documents, in the order of the report.
        let all = &self.report.sources;
        let mut most_removed: Vec<usize> = (0..all.len()).collect();
        most_removed.sort_by_key(|at| (std::cmp::Reverse(all[*at].removed), *at));
        most_removed.truncate(LISTED);
        most_removed.sort_unstable();
        let field = self
            .report
            .dedup
            .as_ref()
            .and_then(|dedup| dedup.source_field.as_ref());
        html! {
            @if !all.is_empty() {
                section id="sources" {
                    h2 { "Sources" }
                    p.note {
                        @match field {
                            Some(field) => { "A source is a value of the field " (name(field)) ". " }
                            None => "A source is an input file. ",
                        }
                        "In the bar of a source, "
                        span.key.kind0 {} " is the share removed because the same source has a near-duplicate, and "
                        span.key.kind1 {} " the share removed because another source has one."
                    }
                    div.scroll { table.rows {
                        thead { tr {
                            th { "source" } th.number { "documents" } th.number { "kept" } th.number { "removed" } th { "share removed" }
                            th.number { "lost" } th { "removed in favour of" }
                        } }
                        tbody { @for at in &most_removed { (row(&all[*at])) } }
                    } }
                    @if all.len() > LISTED { p.note { "The others are in report.json." } }
                    p.note { "lost: the share of their shingles that removed documents have and the kept ones lack. Documents that are identical to the kept one are left out." }
                }
            }
        }
    }
}

fn row(source: &SourceReport) -> Markup {
    html! {
        tr {
            td data-name="source" { (title(source.source.as_deref(), source.others)) }
            td.number data-name="documents" { (grouped(source.documents)) }
            td.number data-name="kept" { (grouped(source.kept)) }
            td.number data-name="removed" { (grouped(source.removed)) }
            td.share data-name="share removed" { (bar(source)) " " (percent(source.removed as f64 / source.documents.max(1) as f64)) }
            td.number data-name="lost" { (source.lost.map_or("–".to_owned(), percent)) }
            td.long data-name="in favour of" { span {
                @for (i, of) in source.removed_for.iter().take(LISTED_FOR).enumerate() {
                    @if i > 0 { ", " }
                    @match (of.kept_in, is_itself(of, source)) {
                        (Some("index"), _) => "the index",
                        (Some(_), _) => "the reference",
                        (None, true) => "the same source",
                        (None, false) => (title(of.source.as_deref(), of.others)),
                    }
                    ": " (grouped(of.removed))
                }
                @if source.removed_for.len() > LISTED_FOR { ", …" }
            } }
        }
    }
}

/// Whether documents were removed in favour of their own source.
fn is_itself(of: &RemovedFor, source: &SourceReport) -> bool {
    of.kept_in.is_none() && (&of.source, of.others) == (&source.source, source.others)
}

/// The name of a source, or of further ones.
fn title(source: Option<&str>, others: Option<u64>) -> Markup {
    html! {
        @match (source, others) {
            (Some(source), _) => (name(source)),
            (None, Some(others)) => { (grouped(others)) " others" }
            (None, None) => i { "without a value" },
        }
    }
}

/// The share of a source that is removed: for documents of the same source, and for those of others.
fn bar(source: &SourceReport) -> Markup {
    let own = source.removed_for.iter();
    let own = own.filter(|of| is_itself(of, source));
    let own: u64 = own.map(|of| of.removed).sum();
    let width = |removed: u64| 100.0 * removed as f64 / source.documents.max(1) as f64;
    html! {
        svg.part viewBox="0 0 100 10" preserveAspectRatio="none" role="img" {
            rect.track x="0" y="0" width="100" height="10" {}
            rect.kind0 x="0" y="0" width=(px(width(own))) height="10" {}
            rect.kind1 x=(px(width(own))) y="0" width=(px(width(source.removed - own))) height="10" {}
        }
    }
}
