//! What a document holds of each item: the class of a hit, and its evidence.

mod alignment;

mod candidate;

mod class;

mod hit;

use std::collections::BTreeMap;
use std::ops::Range;

use self::alignment::{align, most_words, slack, window};
use self::candidate::explained;
pub(crate) use self::candidate::{Candidate, at_best};
use crate::asked::Place;
use crate::class::ItemPart;
use crate::document::Document;
use crate::findings::{Findings, PartOfQuestion};
use crate::part::{Detail, Kind, Part};
use crate::scan::{Contain, GramPlaces, Grams};

/// The most words between two n-grams of a candidate.
const GAP: usize = 40;

/// Places where a question that its passage leads to is looked for, the nearest ones.
const NEAREST: usize = 8;

/// A document whose items are being decided.
struct Deciding<'a> {
    contain: &'a Contain,
    document: Document<'a>,
    /// All n-grams found.
    found: GramPlaces,
    /// The passages found.
    passages: BTreeMap<usize, &'a Grams>,
    /// What documents are compared with, of the questions compared so far.
    details: BTreeMap<usize, Detail>,
    candidates: Vec<Candidate>,
}

/// A question, and the words of the document among which it is looked for.
struct Asked<'a> {
    question: usize,
    window: Range<usize>,
    /// N-grams of the question there.
    grams: &'a [(usize, u32)],
}

/// What a document has of a question at a place.
struct Added {
    part: PartOfQuestion,
    /// The words of the document from the first to the last in place.
    words: Range<usize>,
}

impl Contain {
    /// The items of a document with these n-grams of parts, of all that were found.
    pub(crate) fn decide(
        &self,
        document: Document<'_>,
        parts: &[(usize, Grams)],
        found: &[(usize, u32)],
    ) -> Findings {
        let found_of_kind = |kind: Kind| {
            let found = parts.iter().filter(move |(part, grams)| {
                let part = &self.parts[*part];
                part.kind == kind && self.is_candidate(part, grams)
            });
            found.map(|(part, grams)| (*part, grams))
        };
        let mut deciding = Deciding {
            contain: self,
            document,
            found: GramPlaces::new(found),
            passages: found_of_kind(Kind::Passage).collect(),
            details: BTreeMap::new(),
            candidates: Vec::new(),
        };
        let mut parts: Vec<PartOfQuestion> = Vec::new();
        for (number, grams) in found_of_kind(Kind::Question) {
            parts.extend(deciding.add_question(number, grams));
        }
        for (number, grams) in found_of_kind(Kind::Options) {
            deciding.add_by_options(&self.parts[number], grams);
        }
        deciding.add_by_passages();
        let Deciding {
            candidates,
            passages,
            ..
        } = deciding;
        let mut hits = at_best(explained(candidates));
        for (number, grams) in passages {
            let part = &self.parts[number];
            for item in part.items.iter().map(|item| *item as usize) {
                hits.entry(item)
                    .or_insert_with(|| self.passage_hit(item, part, document, grams));
            }
        }
        Findings {
            hits: hits.into_values().collect(),
            parts,
            grams: Vec::new(),
        }
    }
}

impl Deciding<'_> {
    /// Adds a question at each place where its n-grams lie. Returns what the document has of it.
    fn add_question(&mut self, question: usize, grams: &Grams) -> Option<PartOfQuestion> {
        let contain = self.contain;
        let part = &contain.parts[question];
        let mut most: Option<PartOfQuestion> = None;
        let clusters = grams.chunk_by(|a, b| b.0 - a.0 <= GAP);
        // Taken from the end: the first one first.
        let mut clusters: Vec<&[(usize, u32)]> = clusters.collect();
        clusters.reverse();
        while let Some(grams) = clusters.pop() {
            if !contain.is_candidate(part, grams) {
                continue;
            }
            // A passage leads to its questions, where these do not tell their items.
            let items = part.items.iter().map(|item| *item as usize);
            let items = items.filter(|item| {
                let has_passage = contain.item_parts[*item].passage.is_some();
                !(has_passage && part.needs_more())
            });
            let asked = Asked {
                question,
                window: window(part, self.document, grams),
                grams,
            };
            let Some(added) = self.add(asked, items) else {
                continue;
            };
            most = Some(added.part.or_better(most));
            // Further copies may stand right before it or behind it.
            let before = grams.partition_point(|(at, _)| *at < added.words.start);
            let behind = grams.partition_point(|(at, _)| *at < added.words.end);
            clusters.extend(
                [&grams[behind..], &grams[..before]]
                    .into_iter()
                    .filter(|rest| rest.len() < grams.len()),
            );
        }
        most
    }

    /// Adds the item of a question with options where n-grams of these lie.
    fn add_by_options(&mut self, options: &Part, grams: &Grams) {
        let item = options.items[0] as usize;
        let question = self.contain.item_parts[item].question;
        let part = &self.contain.parts[question];
        let question_grams = self.found.in_part(part);
        for grams in grams.chunk_by(|a, b| b.0 - a.0 <= GAP) {
            if !self.contain.is_candidate(options, grams) {
                continue;
            }
            let (first, last) = (grams[0].0, grams[grams.len() - 1].0);
            // Other options may stand before these.
            let before = part.len() + slack(part) + most_words(&self.contain.items[item]);
            let start = first.saturating_sub(before);
            let end = (last + self.contain.table.size()).min(self.document.len());
            self.add_within(question, start..end, &question_grams, item);
        }
    }

    /// Adds the items of the passages found whose questions do not tell them.
    fn add_by_passages(&mut self) {
        let contain = self.contain;
        let passages: Vec<(usize, Range<usize>)> = self
            .passages
            .iter()
            .map(|(passage, grams)| (*passage, contain.extent(grams)))
            .collect();
        for (passage, extent) in passages {
            for item in contain.parts[passage]
                .items
                .iter()
                .map(|item| *item as usize)
            {
                let question = contain.item_parts[item].question;
                let part = &contain.parts[question];
                if !part.needs_more() {
                    continue;
                }
                let grams = self.found.in_part(part);
                for window in self.near(part, &grams, &extent) {
                    self.add_within(question, window, &grams, item);
                }
            }
        }
    }

    /// The words of the document among which the question of a passage may lie, which has these n-grams, the nearest first.
    fn near(&self, part: &Part, grams: &Grams, passage: &Range<usize>) -> Vec<Range<usize>> {
        let clusters = grams.chunk_by(|a, b| b.0 - a.0 <= GAP);
        let mut windows: Vec<Range<usize>> = clusters
            .map(|cluster| window(part, self.document, cluster))
            .collect();
        let distance = |window: &Range<usize>| {
            let behind = window.start.saturating_sub(passage.end);
            behind.max(passage.start.saturating_sub(window.end))
        };
        windows.sort_by_key(|window| (distance(window), window.start));
        windows.truncate(NEAREST);
        if part.grams.is_empty() {
            // Shorter than an n-gram: right behind the passage, or right before it.
            let room = part.len() + slack(part);
            windows.push(passage.end..(passage.end + room).min(self.document.len()));
            windows.push(passage.start.saturating_sub(room)..passage.start);
        }
        windows
    }

    /// Adds an item whose question, which has these n-grams, may lie among these words.
    fn add_within(&mut self, question: usize, window: Range<usize>, grams: &Grams, item: usize) {
        let [first, end] =
            [window.start, window.end].map(|word| grams.partition_point(|(at, _)| *at < word));
        let asked = Asked {
            question,
            window,
            grams: &grams[first..end],
        };
        self.add(asked, std::iter::once(item));
    }

    /// Adds these items of a question where it lies among some words. Returns what the document has of it there, if that is half.
    fn add(&mut self, asked: Asked<'_>, items: impl Iterator<Item = usize>) -> Option<Added> {
        let contain = self.contain;
        let part = &contain.parts[asked.question];
        let detail = self.details.entry(asked.question);
        let detail = detail.or_insert_with(|| part.detail(contain.table.size()));
        let aligned = align(part, detail, self.document, asked.window.clone());
        let place = Place {
            part,
            detail,
            items: &contain.items,
            document: self.document,
            aligned: &aligned,
        };
        let mut has_options = false;
        for item in items {
            if let Some(candidate) = contain.candidate(item, place, asked.grams, &self.passages) {
                has_options |= candidate.hit.parts.contains(&ItemPart::Options);
                self.candidates.push(candidate);
            }
        }
        let part = PartOfQuestion::new(asked.question, place, has_options)?;
        let words = aligned.range()?;
        Some(Added { part, words })
    }
}
