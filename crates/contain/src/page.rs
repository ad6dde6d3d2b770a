//! The report of a search for items as a page: report.html, which needs neither scripts nor other files.
//!
//! The page follows from the report and the hits that are shown, so that equal inputs and options make equal bytes.

mod parameters;

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::class::{Class, ItemPart};
use super::lack::Lack;
use super::report::{
    BenchmarkReport, ByClass, ContainReport, FoundAt, LeakedItem, LeakingDocument,
};
use super::scan::Contain;
use super::shown::{Examples, ShownHit};
use simgpu::progress::{counted, grouped};
use simgpu_files::skipped_records;
use simgpu_page::{Page, Piece, Room, command, listed, name, percent, share_bar, short, words};

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

    /// The files and documents that ask items.
    fn leaking(&self) -> Markup {
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
    fn near_misses(&self) -> Markup {
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
    fn merged(&self) -> Markup {
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
    fn benchmarks(&self) -> Markup {
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
    fn leaked(&self) -> Markup {
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

    fn question(&self, item: &LeakedItem) -> &str {
        let item = self.contain.items().get(item.number);
        item.map_or("", |item| &*item.question)
    }

    /// Hits of each class beside their items.
    fn examples(&self) -> Markup {
        html! {
            (self.class(Class::Contaminated, "Asked", "The question is asked here: such documents are contaminated."))
            (self.near_misses())
            (self.class(Class::Passage, "Passages", "Public text that an item quotes, or much of a question, and the question is not asked."))
            (self.class(Class::Short, "Too little to decide", "The item is too short to recognise, or a statement here, not a question. No document is removed for one."))
            (self.class(Class::Template, "Templates", "Only wording that other items share, or too little of this item."))
        }
    }

    fn class(&self, class: Class, title: &str, note: &str) -> Markup {
        let hits: Vec<&ShownHit> = self.examples.with_class(class).collect();
        html! {
            @if !hits.is_empty() {
                section id=(class.name()) {
                    h2 { (title) }
                    p.note { (note) " Hits at random, each of another item, with what was found marked on both sides. They are the same in every run." }
                    @for hit in hits { (self.hit(hit)) }
                }
            }
        }
    }

    fn hit(&self, shown: &ShownHit) -> Markup {
        let hit = &shown.hit;
        let item = &self.contain.items()[hit.item];
        let is_question = hit.lacks != [Lack::Question];
        let text = if is_question {
            &item.question
        } else {
            &item.passage
        };
        let parts: Vec<String> = hit
            .parts
            .iter()
            .map(|part| part.name().to_owned())
            .collect();
        let sample = &shown.sample;
        let rest = hit.bytes.len() - sample.text.len();
        let mut pieces = vec![Piece::Same(&sample.before), Piece::Other(&sample.text)];
        if rest > 0 {
            pieces.push(Piece::Gap(rest));
        }
        pieces.push(Piece::Same(&sample.after));
        html! {
            article {
                p.score {
                    strong { (percent(hit.score)) }
                    @if hit.ngrams == 0 { " of the words" } @else { " of the n-grams, weighted by rarity: " (grouped(hit.found as u64)) " of " (grouped(hit.ngrams as u64)) }
                    @if !parts.is_empty() { "; found: " (listed(&parts)) }
                    @if !hit.lacks.is_empty() { "; not asked: " (listed(&hit.lacks.iter().map(|lack| lack.explained().to_owned()).collect::<Vec<_>>())) }
                }
                div.texts {
                    div {
                        p.who { b { "document" } " " (self.place(shown.row)) }
                        p.words { bdi { (words(&pieces, TEXT)) } }
                    }
                    div {
                        p.who {
                            b { (if is_question { ItemPart::Question } else { ItemPart::Passage }.name()) }
                            " " (name(&item.benchmark)) ", " (name(item.id()))
                        }
                        p.words { bdi { (words(&marked(text, &hit.item_bytes), TEXT)) } }
                        @if is_question && hit.parts.contains(&ItemPart::Passage) {
                            p.who { b { (ItemPart::Passage.name()) } }
                            p.words { bdi { (words(&[Piece::Same(&item.passage)], TEXT)) } }
                        }
                    }
                }
            }
        }
    }

    /// The place of a document.
    fn place(&self, row: u32) -> Markup {
        html! {
            @if let Some(at) = self.at.get(&row) {
                (name(&serde_json::from_str::<String>(at.id.get()).unwrap_or_else(|_| at.id.get().to_owned())))
                " (" (name(&at.file)) ", row " (grouped(at.row)) ")"
            }
        }
    }

    /// The public phrases.
    fn public(&self) -> Markup {
        let phrases = &self.report.public_phrases;
        html! {
            @if !phrases.is_empty() {
                section id="public" {
                    h2 { "Public phrases" }
                    p.note {
                        "Most of a question, in documents of several files that have something else instead of its rest. With " code { "--phrases" }
                        ", a document that has the phrase alone is not contaminated."
                    }
                    (table(phrases.iter().map(|of| (&*of.phrase, of.documents, format!("{}, {}", of.benchmark, of.item))), "item"))
                }
            }
        }
    }

    /// The most frequent phrases: what to ignore.
    fn frequent(&self) -> Markup {
        let phrases = &self.report.frequent_phrases;
        html! {
            @if !phrases.is_empty() {
                section id="frequent" {
                    h2 { "Frequent phrases, to ignore" }
                    p.note {
                        "Words of items that most documents have outside of items that they ask. Write those that say nothing of an item into a file, one a line, and pass it by "
                        code { "--ignore" } "; " code { "--suggest-ignore" } " writes such a file, ignore.txt, with all of them."
                    }
                    (table(phrases.iter().map(|of| (&*of.phrase, of.documents, counted(of.in_parts, "question or passage"))), "occurs in"))
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
