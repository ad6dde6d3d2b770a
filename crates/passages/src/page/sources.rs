//! What is covered of each input file, and of single documents.

use maud::{Markup, html};

use super::PassagesPage;
use crate::{CoveredDocument, CoveredSource};
use simgpu::progress::grouped;
use simgpu_files::place;
use simgpu_page::{name, percent, share_bar};

/// Files in the table, at most.
const LISTED: usize = 30;

impl PassagesPage<'_> {
    /// A table of the input files.
    pub(super) fn sources(&self) -> Markup {
        // Those with the most covered bytes, in the order of the report.
        let all = &self.report.overview.sources;
        let mut most: Vec<usize> = (0..all.len()).collect();
        most.sort_by_key(|at| (std::cmp::Reverse(all[*at].covered_bytes), *at));
        most.truncate(LISTED);
        most.sort_unstable();
        let has_reference = self.report.counts.reference.is_some();
        html! {
            @if !all.is_empty() {
                section {
                    h2 { "Sources" }
                    p.note { "A source is an input file. The bar is the share of its bytes that is passages; the last columns say where the sources of its pieces are." }
                    div.scroll { table.rows {
                        thead { tr {
                            th { "source" } th.number { "documents" } th.number { "with passages" } th.number { "bytes" } th { "share covered" }
                            th.number { "pieces from itself" } th.number { "from other inputs" }
                            @if has_reference { th.number { "from the reference" } }
                        } }
                        tbody {
                            @for at in &most { (row(&all[*at])) }
                            @if all.len() > 1 { (row(&self.sum())) }
                        }
                    } }
                    @if all.len() > LISTED { p.note { "The others are in report.json." } }
                }
            }
        }
    }

    /// All files as one.
    fn sum(&self) -> CoveredSource {
        let counts = &self.report.counts;
        let all = &self.report.overview.sources;
        CoveredSource {
            documents: counts.records - counts.skipped,
            covered_documents: counts.covered_documents,
            bytes: counts.bytes,
            covered_bytes: counts.covered_bytes,
            pieces: counts.pieces,
            within_source: all.iter().map(|source| source.within_source).sum(),
            from_reference: counts.from_reference,
            ..CoveredSource::default()
        }
    }

    /// The documents with the most covered bytes.
    pub(super) fn most_covered(&self) -> Markup {
        let documents = &self.report.overview.most_covered;
        html! {
            @if !documents.is_empty() {
                section {
                    h2 { "Documents with the most repeated text" }
                    div.scroll { table.rows {
                        thead { tr { th { "document" } th.number { "bytes" } th.number { "of passages" } th { "share covered" } } }
                        tbody { @for document in documents { (covered(document)) } }
                    } }
                }
            }
        }
    }
}

fn row(source: &CoveredSource) -> Markup {
    let from_reference = source.from_reference.unwrap_or(0);
    let others = source.pieces - source.within_source - from_reference;
    html! {
        tr {
            td data-name="source" {
                @match (&source.source, source.others) {
                    (Some(source), _) => (name(source)),
                    (None, Some(others)) => { (grouped(others)) " others" }
                    (None, None) => b { "in sum" },
                }
            }
            td.number data-name="documents" { (grouped(source.documents)) }
            td.number data-name="with passages" { (grouped(source.covered_documents)) }
            td.number data-name="bytes" { (grouped(source.bytes)) }
            td.share data-name="share covered" { (bar(source.covered_bytes, source.bytes)) }
            td.number data-name="from itself" { (grouped(source.within_source)) }
            td.number data-name="from others" { (grouped(others)) }
            @if let Some(from) = source.from_reference { td.number data-name="from the reference" { (grouped(from)) } }
        }
    }
}

fn covered(document: &CoveredDocument) -> Markup {
    html! {
        tr {
            td.long data-name="document" { span { (place(&document.document)) } }
            td.number data-name="bytes" { (grouped(document.bytes)) }
            td.number data-name="of passages" { (grouped(document.covered_bytes)) }
            td.share data-name="share covered" { (bar(document.covered_bytes, document.bytes)) }
        }
    }
}

/// A share as a bar and a number.
fn bar(part: u64, whole: u64) -> Markup {
    let share = part as f64 / whole.max(1) as f64;
    html! { (share_bar(share)) " " (percent(share)) }
}
