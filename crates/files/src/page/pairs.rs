//! Removed documents beside those that they were removed for.

use maud::{Markup, html};
use rayon::prelude::*;

use super::ShownReport;
use crate::samples::Sample;
use simgpu::clock::in_parallel;
use simgpu::progress::grouped;
use simgpu_io::{Example, ExampleDocument, id_text};
use simgpu_page::{Piece, Room, differences, name, percent, words};

/// How much is shown of the text of one side.
const SIDE: Room = Room {
    bytes: 5_000,
    lines: 60,
};

impl ShownReport<'_> {
    /// The removed documents with the lowest similarities.
    pub(super) fn pairs_at_threshold(&self) -> Markup {
        self.section("threshold", "Doubtful pairs: the least similar ones", html! {
            "These removed documents are the least similar to those that they were removed for, at most two of each cluster. "
            "Marked words are not in the other text, or in another place there. A shingle counts once, however often a text repeats it. "
            "If such documents should have stayed, raise " code { "--threshold" } "."
        })
    }

    /// The removed documents that lose the most.
    pub(super) fn losses(&self) -> Markup {
        self.section("lost", "Removed documents that lose the most", html! {
            "The kept document lacks this share of the removed one's shingles: words marked on the left are not in it, or in another place. Pairs that are shown above are left out."
        })
    }

    /// Some removed documents, at random.
    pub(super) fn random_pairs(&self) -> Markup {
        self.section("random", "Removed documents at random", html! {
            "Chosen at random among those that are not identical to the kept one; the same in every run."
        })
    }

    fn section(&self, why: &str, title: &str, note: Markup) -> Markup {
        let examples: Vec<&Example> = self.examples(why).collect();
        html! {
            @if !examples.is_empty() {
                section id=(why) {
                    h2 { (title) }
                    p.note { (note) }
                    @for pair in self.all(&examples) { (pair) }
                }
            }
        }
    }

    /// The examples that are shown for a reason.
    pub(super) fn examples(&self, why: &str) -> impl Iterator<Item = &Example> {
        let examples = self.report.examples.iter();
        examples.filter(move |example| example.why == why)
    }

    /// Pairs, each with both texts.
    pub(super) fn all(&self, examples: &[&Example]) -> Vec<Markup> {
        // To find what differs takes most of the time of a page.
        in_parallel(|| {
            examples
                .par_iter()
                .map(|example| self.pair(example))
                .collect()
        })
    }

    fn pair(&self, example: &Example) -> Markup {
        let (other, similarity) = match &example.via {
            Some(via) => (via, example.via_similarity),
            None => (&example.kept, example.similarity),
        };
        let samples = [&example.removed, other].map(|of| self.samples.get(of));
        let heads = [
            html! { b { "removed" } " " (place(&example.removed)) },
            match &example.via {
                Some(via) if via.place() != example.kept.place() => {
                    html! {
                        b { "next on the chain" } " to the kept " (place(&example.kept)) ": " (place(via))
                    }
                }
                _ => html! { b { "kept" } " " (place(other)) },
            },
        ];
        html! {
            article {
                p.score {
                    @match similarity {
                        Some(similarity) => { "similarity " strong { (format!("{similarity:.3}")) } },
                        None => "similarity unknown",
                    }
                    @if let Some(lost) = example.lost { ", lost " strong { (percent(lost)) } " of the removed document's shingles" }
                    @if example.found_by == "identical" { ", identical" }
                    @if example.removed.id.get() == other.id.get() { "; two documents with the same id: file and row tell them apart" }
                }
                (texts(heads, samples))
            }
        }
    }
}

/// Which document it is.
#[doc(hidden)]
pub fn place(document: &ExampleDocument) -> Markup {
    html! { (name(&id_text(&document.id))) " in " (name(&document.file)) ", row " (grouped(document.row)) @if document.index { " of the index" } @else if document.reference { " of the reference" } }
}

/// Two documents side by side: their texts, with what differs marked, if both are there.
pub(super) fn texts(heads: [Markup; 2], samples: [Option<&Sample>; 2]) -> Markup {
    let [Some(a), Some(b)] = samples else {
        return html! { div.texts { @for head in heads { p.who { (head) } } } };
    };
    let samples = [a, b];
    let is_cut = samples
        .iter()
        .any(|sample| sample.bytes > sample.text.len() as u64);
    let found = differences(&samples[0].text, &samples[1].text, !is_cut);
    let note = match (&found, is_cut) {
        (Some(_), _) => None,
        (None, false) => Some("No word differs."),
        (None, true) => Some(
            "No word differs in the beginnings of both texts, which are all that the page has.",
        ),
    };
    let sides = found.unwrap_or_else(|| samples.map(|sample| vec![Piece::Same(&sample.text)]));
    html! {
        @if let Some(note) = note { p.note { (note) } }
        div.texts {
            @for ((head, sample), pieces) in heads.iter().zip(samples).zip(&sides) {
                div {
                    p.who { (head) ", " (grouped(sample.bytes)) " bytes" }
                    p.words { bdi { (words(pieces, SIDE)) } }
                }
            }
        }
    }
}
