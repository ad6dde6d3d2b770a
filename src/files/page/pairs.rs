//! Removed documents beside those that they were removed for.

use maud::{Markup, html};
use rayon::prelude::*;

use super::{Shown, name};
use crate::files::samples::Sample;
use crate::io::{Example, ExampleDocument, id_text};
use crate::page::{Piece, differences, is_hidden, percent, visible};
use crate::progress::grouped;

/// How much is shown of the text of one side.
const SIDE: Room = Room {
    bytes: 5_000,
    lines: 60,
};

/// How much of a text is shown at most.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Bytes of HTML.
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

impl Shown<'_> {
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
        examples
            .par_iter()
            .map(|example| self.pair(example))
            .collect()
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
pub(super) fn place(document: &ExampleDocument) -> Markup {
    html! { (name(&id_text(&document.id))) " in " (name(&document.file)) ", row " (grouped(document.row)) @if document.reference { " of the reference" } }
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

/// The words of one side, with the line breaks of the text.
pub(super) fn words(pieces: &[Piece<'_>], most: Room) -> Markup {
    let mut left = most;
    let mut shown = Vec::new();
    for piece in pieces {
        let (part, is_whole) = match piece {
            Piece::Same(text) => {
                // Lines of blanks before a text say nothing.
                let text = if shown.is_empty() {
                    text.trim_start()
                } else {
                    text
                };
                let (text, is_whole) = cut(text, left);
                (html! { (text) }, is_whole)
            }
            Piece::Other(text) => {
                // Blanks after a word are not marked.
                let words = text.trim_end();
                let (shown, is_whole) = cut(words, left);
                let blanks = if is_whole { &text[words.len()..] } else { "" };
                (html! { mark { (shown) } (blanks) }, is_whole)
            }
            Piece::Omitted(words) => (omitted(*words, "identical words"), true),
            Piece::OmittedOther(words) => {
                (html! { mark { (omitted(*words, "more words")) } }, true)
            }
            Piece::Rest => (html! { i { " … the rest is not compared here" } }, true),
        };
        let lines = part.0.bytes().filter(|byte| *byte == b'\n').count();
        left.bytes = left.bytes.saturating_sub(part.0.len());
        left.lines = left.lines.saturating_sub(lines);
        shown.push(part);
        if left.bytes == 0 || left.lines == 0 || !is_whole {
            shown.push(html! { i { " … the rest is not shown" } });
            break;
        }
    }
    html! { @for part in shown { (part) } }
}

fn omitted(words: usize, what: &str) -> Markup {
    html! { i { " … " (grouped(words as u64)) " " (what) " … " } }
}

/// The beginning of a text as it is shown, for which there is room, and whether that is all.
fn cut(text: &str, most: Room) -> (String, bool) {
    let Room {
        bytes: mut left,
        mut lines,
    } = most;
    let beyond = text.char_indices().find(|(_, letter)| {
        let bytes = match letter {
            '&' | '<' | '>' | '"' => 6,
            letter if is_hidden(*letter) => 14,
            letter => letter.len_utf8(),
        };
        let is_beyond = bytes > left || (*letter == '\n' && lines <= 1);
        left = left.saturating_sub(bytes);
        lines -= usize::from(*letter == '\n' && lines > 0);
        is_beyond
    });
    let end = beyond.map_or(text.len(), |(at, _)| at);
    (visible(&text[..end]).into_owned(), end == text.len())
}
