//! Frequent passages, and pieces beside their sources.

use std::ops::Range;

use maud::{Markup, html};

use super::{PassagesPage, share, unit_name};
use crate::excerpts::Excerpt;
use crate::{FrequentPassage, PassageExample};
use simgpu::progress::{counted, grouped};
use simgpu_files::place;
use simgpu_page::{Piece, Room, words};

/// How much is shown of a passage and what stands around it.
const PASSAGE: Room = Room {
    bytes: 5_000,
    lines: 60,
};

/// How much is shown of the beginning of a frequent passage.
const BEGINNING: Room = Room {
    bytes: 600,
    lines: 8,
};

impl PassagesPage<'_> {
    /// The most frequent passages, by their beginnings.
    pub(super) fn frequent(&self) -> Markup {
        let frequent = &self.report.overview.frequent;
        // Excerpts of examples come first, two of each.
        let first = 2 * self.report.overview.examples.len();
        html! {
            @if !frequent.is_empty() {
                section id="frequent" {
                    h2 { "The most frequent passages" }
                    p.note {
                        "Each by its beginning, with the number of pieces whose source begins there. What occurs so often is boilerplate, "
                        "a list that many documents share, or copies of one document."
                    }
                    @for (of, number) in frequent.iter().zip(first..) { (self.frequent_one(of, number)) }
                }
            }
        }
    }

    fn frequent_one(&self, of: &FrequentPassage, number: usize) -> Markup {
        let unit = unit_name(self.report.parameters.unit);
        html! {
            article {
                p.score {
                    @if of.at_least { "at least " }
                    strong { (grouped(of.pieces)) } " pieces, " (share(of.pieces, self.report.counts.pieces)) " of all, of at least " (counted(of.length, unit))
                }
                p.who { b { "source" } " " (place(&of.source)) ", from " (self.place_in(of.start, of.end)) }
                @if let Some(excerpt) = self.excerpts.get(number) {
                    p.words { bdi { (words(&beginning(excerpt), BEGINNING)) } }
                }
            }
        }
    }

    /// A part of a document in words.
    fn place_in(&self, start: u64, end: u64) -> Markup {
        let unit = match self.report.parameters.unit {
            "tokens" => "token",
            _ => "byte",
        };
        html! { (unit) " " (grouped(start)) " to " (grouped(end)) }
    }

    /// Pieces beside their sources.
    pub(super) fn examples(&self) -> Markup {
        let marked = match self.report.parameters.action {
            "cut" => "What was cut is marked on the left, and what it repeats on the right.",
            _ => "The passage is marked on the left, and what it repeats on the right.",
        };
        html! {
            (self.kind("shortest", "The shortest passages", html! {
                (marked) " If such passages should stay, raise " code { "--min-length" } "."
            }))
            (self.kind("inexact", "Passages whose bytes differ", html! {
                "Their units are equal, but not all that stands between them. " code { "--bytes-equal" } " leaves out such passages."
            }))
            (self.kind("random", "Passages at random", html! {
                (marked) " They are the same in every run."
            }))
        }
    }

    fn kind(&self, why: &str, title: &str, note: Markup) -> Markup {
        let examples = self.report.overview.examples.iter().enumerate();
        let examples: Vec<_> = examples.filter(|(_, of)| of.why == why).collect();
        html! {
            @if !examples.is_empty() {
                section id=(why) {
                    h2 { (title) }
                    p.note { (note) }
                    @for (number, example) in examples { (self.example(example, 2 * number)) }
                }
            }
        }
    }

    /// A piece and its source, whose excerpts have this number and the next one.
    fn example(&self, example: &PassageExample, number: usize) -> Markup {
        let [piece, source] = [number, number + 1].map(|number| self.excerpts.get(number));
        let is_cut = self.report.parameters.action == "cut";
        let head = |excerpt: Option<&Excerpt>| match excerpt {
            Some(excerpt) if excerpt.is_removed => "in a removed document",
            Some(excerpt) if is_cut && excerpt.cuts.is_empty() => "repeats, but was not cut",
            _ if is_cut => "cut",
            _ => "repeats",
        };
        html! {
            article {
                p.score {
                    strong { (counted(example.length, unit_name(self.report.parameters.unit))) }
                    @if !example.exact { ", bytes differ" }
                    @if (&example.document.file, example.document.row) == (&example.source.file, example.source.row) && example.document.reference == example.source.reference { ", in the same document" }
                }
                div.texts {
                    div {
                        p.who { b { (head(piece)) } " " (place(&example.document)) ", " (self.place_in(example.start, example.end)) }
                        @if let Some(excerpt) = piece {
                            @let marks = if is_cut && !excerpt.is_removed { excerpt.cuts.clone() } else { vec![excerpt.part.clone()] };
                            p.words { bdi { (words(&marked(excerpt, &marks), PASSAGE)) } }
                        }
                    }
                    div {
                        p.who { b { "source" } " " (place(&example.source)) ", " (self.place_in(example.source_start, example.source_end)) }
                        @if let Some(excerpt) = source {
                            p.words { bdi { (words(&marked(excerpt, std::slice::from_ref(&excerpt.part)), PASSAGE)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The beginning of the passage alone.
fn beginning(excerpt: &Excerpt) -> Vec<Piece<'_>> {
    let Some((start, text)) = excerpt.parts.first() else {
        return Vec::new();
    };
    let within = |at: usize| at.saturating_sub(*start).min(text.len());
    let shown = text.get(within(excerpt.part.start)..within(excerpt.part.end));
    vec![Piece::Same(shown.unwrap_or_default())]
}

/// The parts of an excerpt, with marks on some bytes of the text.
fn marked<'a>(excerpt: &'a Excerpt, marks: &[Range<usize>]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (start, text) in &excerpt.parts {
        if *start > at {
            pieces.push(Piece::Gap(start - at));
        }
        let mut from = 0;
        for mark in marks {
            let within = |at: usize| at.saturating_sub(*start).min(text.len());
            let (start, end) = (within(mark.start).max(from), within(mark.end));
            // Places of a text that has changed may be within characters.
            let (Some(before), Some(marked)) = (text.get(from..start), text.get(start..end)) else {
                continue;
            };
            if !marked.is_empty() {
                pieces.extend([Piece::Same(before), Piece::Other(marked)]);
                from = end;
            }
        }
        pieces.push(Piece::Same(&text[from..]));
        at = start + text.len();
    }
    if excerpt.bytes > at {
        pieces.push(Piece::Gap(excerpt.bytes - at));
    }
    pieces
}
