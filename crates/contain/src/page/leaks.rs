//! The sections of leaking documents, benchmarks and items.

use maud::{Markup, html};

use crate::report::{BenchmarkReport, LeakedItem};
use crate::shown::ShownHit;
use simgpu::progress::{counted, grouped};
use simgpu_page::{name, short};

use super::{LISTED, Shown, row};

impl Shown<'_> {
    /// The files and documents that ask items.
    pub(super) fn leaking(&self) -> Markup {
        let files = &self.report.leaking_files;
        html! {
            @if !files.is_empty() {
                section id="leaking" {
                    h2 { "Where items leak" }
                    p.note {
                        "Files by documents that ask items, then documents by the items that they ask: "
                        (grouped(self.documents.len() as u64)) " of " (counted(self.report.counts.documents.contaminated, "document"))
                        ". All are in hits.jsonl or hits.parquet."
                    }
                    div.scroll { table.rows {
                        thead { tr { th.number { "documents" } th.number { "hits" } th { "file" } } }
                        tbody {
                            @for of in files.iter().take(LISTED) {
                                tr {
                                    td.number data-name="documents" { (grouped(of.documents)) }
                                    td.number data-name="hits" { (grouped(of.hits)) }
                                    td.long data-name="file" { span { (name(&of.file)) } }
                                }
                            }
                        }
                    } }
                    div.scroll { table.rows {
                        thead { tr { th.number { "items" } th { "document" } } }
                        tbody {
                            @for document in self.documents {
                                tr {
                                    td.number data-name="items" { (grouped(document.items)) }
                                    td.long data-name="document" { span { (self.place(document.row)) } }
                                }
                            }
                        }
                    } }
                }
            }
        }
    }

    /// Hits that lack one condition.
    pub(super) fn near_misses(&self) -> Markup {
        let hits: Vec<&ShownHit> = self.examples.near_misses().collect();

        html! {
            @if !self.report.near_misses.is_empty() {
                section id="near" {
                    h2 { "Near misses" }
                    p.note { "Hits that lack one condition of a contaminated document. No document is removed for one, though it may be for another item." }
                    div.scroll { table.rows {
                        thead { tr { th.number { "hits" } th { "condition" } th { "what is missing or differs" } } }
                        tbody {
                            @for near in &self.report.near_misses {
                                tr {
                                    td.number data-name="hits" { (grouped(near.hits)) }
                                    td data-name="condition" { code { (near.lacks) } }
                                    td.long data-name="what is missing or differs" { span { (near.lack.explained()) } }
                                }
                            }
                        }
                    } }
                    @for hit in hits { (self.hit(hit)) }
                }
            }
        }
    }

    /// Items of several records.
    pub(super) fn merged(&self) -> Markup {
        let merged = &self.report.merged_items;
        html! {
            @if !merged.is_empty() {
                section id="merged" {
                    h2 { "Items of several records" }
                    p.note { "The records of each have the same words, and texts or options that differ. A hit names the first of them." }
                    div.scroll { table.rows {
                        thead { tr { th { "benchmark" } th { "item" } th { "other records" } } }
                        tbody {
                            @for of in merged.iter().take(LISTED) {
                                tr {
                                    td data-name="benchmark" { (name(&of.benchmark)) }
                                    td data-name="item" { span { (name(&of.item)) } }
                                    td.long data-name="other records" { span { (name(&short(&of.merged.join(", ")))) } }
                                }
                            }
                        }
                    } }
                    @if self.report.counts.merged_items > LISTED as u64 { p.note { "The others are in items.jsonl." } }
                }
            }
        }
    }

    /// A table of the benchmarks.
    pub(super) fn benchmarks(&self) -> Markup {
        let all = &self.report.benchmarks;
        html! {
            section id="benchmarks" {
                h2 { "Benchmarks" }
                p.note {
                    "Each item and document is counted once, in its most serious class. The bar is the share of the items that are asked: "
                    "score a model on the others, which items.jsonl lists."
                }
                div.scroll { table.rows {
                    thead { tr {
                        th { "benchmark" } th.number { "items" } th { "share asked" } th.number { "asked" } th.number { "passage" }
                        th.number { "short" } th.number { "template" } th.number { "not recognisable" } th.number { "documents that ask" }
                    } }
                    tbody { @for benchmark in all.iter().take(LISTED) { (row(benchmark)) } }
                } }
                @if all.len() > LISTED { p.note { "The others are in report.json." } }
            }
        }
    }

    /// The items that most documents ask.
    pub(super) fn leaked(&self) -> Markup {
        let all = self.report.benchmarks.iter();
        let leaked = all.flat_map(|of| of.most_leaked.iter().map(move |item| (of, item)));
        let mut leaked: Vec<(&BenchmarkReport, &LeakedItem)> = leaked.collect();
        leaked.sort_by_key(|(_, item)| std::cmp::Reverse(item.documents));
        leaked.truncate(LISTED);
        html! {
            @if !leaked.is_empty() {
                section id="leaked" {
                    h2 { "Most leaked items" }
                    p.note { "At most ten of each benchmark, with the number of documents that ask them." }
                    div.scroll { table.rows {
                        thead { tr { th.number { "documents" } th { "benchmark" } th { "item" } th { "question" } } }
                        tbody {
                            @for (benchmark, item) in leaked {
                                tr {
                                    td.number data-name="documents" { (grouped(item.documents)) }
                                    td data-name="benchmark" { (name(&benchmark.benchmark)) }
                                    td data-name="item" { span { (name(&item.item)) } }
                                    td.long data-name="question" { span { (name(self.question(item))) } }
                                }
                            }
                        }
                    } }
                }
            }
        }
    }

    pub(super) fn question(&self, item: &LeakedItem) -> &str {
        let item = self.contain.items().get(item.number);
        item.map_or("", |item| &*item.question)
    }
}
