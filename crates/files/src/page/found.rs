//! The page of a search for pairs.

use maud::{Markup, html};
use rayon::prelude::*;

use super::pairs::{place, texts};
use super::{ShownReport, skipped_records};
use simgpu::clock::in_parallel;
use simgpu::progress::{counted, grouped};
use simgpu_io::{ExampleDocument, PairExample, PairsBin, PairsOfSources, PairsOverview};
use simgpu_page::{
    Bar, Bars, Page, SKIPPED, name, percent, repeated_ids, share_bar, short_number, square_root,
};

/// Pairs of files in the table, at most.
const LISTED: usize = 30;

impl ShownReport<'_> {
    /// The page of similar pairs.
    pub(super) fn page_of_pairs(&self, overview: &PairsOverview) -> String {
        let counts = &self.report.counts;
        let title = format!(
            "{} among {}",
            counted(counts.similar_pairs, "similar pair"),
            counted(counts.documents, "document")
        );
        let page = Page {
            title: &title,
            header: html! {
                (self.summary_of_pairs())
                (self.headlines_of_pairs(overview))
                @if self.report.complete == Some(false) {
                    p.warning { b { "Warning: " } "the search ended at " code { "--max-pairs" } ": there are more pairs, and this page shows only those that were found." }
                }
            },
            main: html! {
                @match self.distance() {
                    Some((name, within)) => (self.distances(name, within, &overview.histogram)),
                    None => (self.similarities()),
                }
                (self.pairs_of_sources(&overview.sources))
                (self.doubtful_pairs(overview))
                (self.pairs_at_random(overview))
                (self.parameters())
                (skipped_records(&self.report.skipped))
            },
            footer: "The numbers of this page are in the report beside the file of pairs, whose name ends in .report.json, and all pairs in that file.",
        };
        page.render()
    }

    /// The name of the distance that the search goes by, and the greatest one of a pair.
    fn distance(&self) -> Option<(&str, u64)> {
        let search = self.report.parameters.search.as_ref()?;
        search.distance.as_deref().zip(search.within)
    }

    fn summary_of_pairs(&self) -> Markup {
        let counts = &self.report.counts;
        html! {
            p {
                "simgpu pairs looked for near-duplicates: "
                (counted(counts.documents - counts.skipped, "document")) " compared"
                @match counts.reference {
                    Some(reference) => { " with " (grouped(reference)) " of the reference" },
                    None => " with each other",
                }
                ", " (grouped(counts.skipped)) " " (SKIPPED) "."
                (repeated_ids(counts.repeated_ids))
            }
        }
    }

    fn headlines_of_pairs(&self, overview: &PairsOverview) -> Markup {
        let counts = &self.report.counts;
        let is_known = !overview.histogram.is_empty();
        let is_equal = |bin: &&PairsBin| bin.similarity == Some(1.0) || bin.distance == Some(0);
        let equal = overview.histogram.iter().find(is_equal);
        let equal = equal.map_or(0, |bin| bin.pairs);
        html! {
            ul.headlines {
                li {
                    strong { (grouped(counts.similar_pairs)) } br;
                    (if counts.similar_pairs == 1 { "pair" } else { "pairs" })
                    @match self.distance() {
                        Some((name, within)) => { " with a " (distance_name(name)) " distance of at most " (grouped(within)) },
                        None => { " with a similarity of at least " (short_number(self.threshold().unwrap_or_default())) },
                    }
                }
                @match self.distance() {
                    // Where distances have wide bins, the first one has more than equal lists.
                    Some((_, within)) if within <= 100 && is_known => li { strong { (grouped(equal)) } br; "of them have a distance of 0" },
                    None if is_known => li { strong { (grouped(equal)) } br; "of them have a similarity of 1: " (self.equality()) },
                    _ => {},
                }
                li { (self.recall()) }
            }
        }
    }

    /// What a similarity of 1 says.
    pub(super) fn equality(&self) -> &'static str {
        if self.is_contained() {
            "the larger document has all shingles of the smaller one"
        } else {
            "all shingles in common"
        }
    }

    /// The pairs by distance.
    fn distances(&self, name: &str, within: u64, bins: &[PairsBin]) -> Markup {
        let width = within / 100 + 1;
        let bars = within / width + 1;
        // Labels need some room.
        let step = [1, 2, 5, 10, 20].into_iter().find(|step| bars <= 12 * step);
        let step = step.unwrap_or(50);
        let bars: Vec<Bar> = (0..bars)
            .map(|at| {
                let least = at * width;
                let bin = bins.iter().find(|bin| bin.distance == Some(least));
                let count = bin.map_or(0, |bin| bin.pairs);
                let range = match width {
                    1 => grouped(least),
                    _ => format!(
                        "{} to {}",
                        grouped(least),
                        grouped((least + width - 1).min(within))
                    ),
                };
                Bar {
                    label: (at % step == 0).then(|| grouped(least)),
                    title: format!("{range}: {}", counted(count, "pair")),
                    count,
                }
            })
            .collect();
        let chart = Bars {
            title: "Pairs by distance",
            bars: &bars,
            counts: "Pairs of each distance",
            unit: "distance",
            labels_edges: width > 1,
            line: None,
        };
        html! {
            section {
                h2 { "Is the greatest distance right?" }
                @if bins.is_empty() { p { "No pair was found." } }
                @else {
                    div.beside {
                        (chart.draw())
                        ul.sentences {
                            li { "Each pair counts once, with its " (distance_name(name)) " distance." }
                            li {
                                "Look at the " a href="#threshold" { "doubtful pairs" } ": if they are not duplicates, lower " code { "--within" } "."
                            }
                            (square_root())
                        }
                    }
                }
            }
        }
    }

    /// Which files have pairs.
    fn pairs_of_sources(&self, sources: &[PairsOfSources]) -> Markup {
        let all = self.report.counts.similar_pairs.max(1);
        html! {
            @if !sources.is_empty() {
                section {
                    h2 { "Sources" }
                    p.note { "A source is an input file. The bar is the share of all pairs that these two files have, or that one file has within itself." }
                    div.scroll { table.rows {
                        thead { tr { th { "first document in" } th { "second document in" } th.number { "pairs" } th { "share" } } }
                        tbody {
                            @for of in sources.iter().take(LISTED) {
                                @let share = of.pairs as f64 / all as f64;
                                tr {
                                    td data-name="first in" {
                                        @match &of.source_a { Some(a) => (name(a)), None => "the reference" }
                                    }
                                    td data-name="second in" {
                                        @if of.source_a.as_ref() == Some(&of.source_b) { "itself" } @else { (name(&of.source_b)) }
                                    }
                                    td.number data-name="pairs" { (grouped(of.pairs)) }
                                    td.share data-name="share" { (share_bar(share)) " " (percent(share)) }
                                }
                            }
                        }
                    } }
                    @if sources.len() > LISTED { p.note { "Others are in the report." } }
                }
            }
        }
    }

    fn doubtful_pairs(&self, overview: &PairsOverview) -> Markup {
        let option = match self.distance() {
            Some(_) => html! { "lower " code { "--within" } },
            None => html! { "raise " code { "--threshold" } },
        };
        self.section_of_pairs(overview, "threshold", "Doubtful pairs: the least similar ones", html! {
            "At most two pairs with the same first document. Marked words are not in the other text, or in another place there. If such documents are not duplicates, " (option) "."
        })
    }

    fn pairs_at_random(&self, overview: &PairsOverview) -> Markup {
        self.section_of_pairs(
            overview,
            "random",
            "Pairs at random",
            html! {
                "Chosen at random among those that differ; the same in every run."
            },
        )
    }

    fn section_of_pairs(
        &self,
        overview: &PairsOverview,
        why: &str,
        title: &str,
        note: Markup,
    ) -> Markup {
        let examples = overview.examples.iter();
        let examples: Vec<&PairExample> = examples.filter(|example| example.why == why).collect();
        // To find what differs takes most of the time of a page.
        let pairs = examples.par_iter().map(|of| self.pair_of(of));
        let pairs: Vec<Markup> = in_parallel(|| pairs.collect());
        html! {
            @if !pairs.is_empty() {
                section id=(why) {
                    h2 { (title) }
                    p.note { (note) }
                    @for pair in pairs { (pair) }
                }
            }
        }
    }

    fn pair_of(&self, example: &PairExample) -> Markup {
        let head =
            |word: &str, document: &ExampleDocument| html! { b { (word) } " " (place(document)) };
        let heads = [head("first", &example.a), head("second", &example.b)];
        html! {
            article {
                p.score {
                    @match (example.similarity, example.distance) {
                        (Some(similarity), _) => { "similarity " strong { (format!("{similarity:.3}")) } },
                        (None, Some(distance)) => { "distance " strong { (grouped(distance)) } },
                        (None, None) => "similarity unknown",
                    }
                    @if example.a.id.get() == example.b.id.get() { "; two documents with the same id: file and row tell them apart" }
                }
                (texts(heads, [&example.a, &example.b].map(|of| self.samples.get(of))))
            }
        }
    }
}

/// A distance in words.
fn distance_name(name: &str) -> &str {
    match name {
        "hamming" => "Hamming",
        "l1" => "L1",
        other => other,
    }
}
