//! The sections of hits and of phrases.

use maud::{Markup, html};

use crate::class::{Class, ItemPart};
use crate::lack::Lack;
use crate::shown::ShownHit;
use simgpu::progress::{counted, grouped};
use simgpu_page::{Piece, listed, name, percent, words};

use super::{Shown, TEXT, marked, table};

impl Shown<'_> {
    /// Hits of each class beside their items.
    pub(super) fn examples(&self) -> Markup {
        html! {
            (self.class(Class::Contaminated, "Asked", "The question is asked here: such documents are contaminated."))
            (self.near_misses())
            (self.class(Class::Passage, "Passages", "Public text that an item quotes, or much of a question, and the question is not asked."))
            (self.class(Class::Short, "Too little to decide", "The item is too short to recognise, or a statement here, not a question. No document is removed for one."))
            (self.class(Class::Template, "Templates", "Only wording that other items share, or too little of this item."))
        }
    }

    pub(super) fn class(&self, class: Class, title: &str, note: &str) -> Markup {
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

    pub(super) fn hit(&self, shown: &ShownHit) -> Markup {
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
    pub(super) fn place(&self, row: u32) -> Markup {
        html! {
            @if let Some(at) = self.at.get(&row) {
                (name(&serde_json::from_str::<String>(at.id.get()).unwrap_or_else(|_| at.id.get().to_owned())))
                " (" (name(&at.file)) ", row " (grouped(at.row)) ")"
            }
        }
    }

    /// The public phrases.
    pub(super) fn public(&self) -> Markup {
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
    pub(super) fn frequent(&self) -> Markup {
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
