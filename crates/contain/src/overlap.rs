//! Rules of others: any n-gram in common makes a document contaminated.
//!
//! The words are those of the own rule, so that results differ by the rules alone: GPT-3 split at white space, datatrove
//! takes the words of a tokenizer and figures as one sign, and s1 takes tokens of a model.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::class::{Class, ItemPart, RuleOf};
use crate::decide::{Candidate, at_best};
use crate::document::Document;
use crate::findings::Findings;
use crate::part::{Kind, Part};
use crate::parts::ItemParts;
use crate::scan::{Contain, Grams};
use crate::words::Words;

/// Characters that GPT-3's rule cuts on both sides of what it finds, and which a piece that stays has at least.
const MARGIN: usize = 200;

/// Pieces beyond which GPT-3's rule leaves a document out.
const MOST_PIECES: usize = 10;

impl RuleOf {
    /// The part of an item whose n-grams it compares, if it is of a kind that it does.
    fn part(self, kind: Kind) -> Option<ItemPart> {
        match (self, kind) {
            (RuleOf::Gpt3 | RuleOf::S1, Kind::Question) => Some(ItemPart::Question),
            (RuleOf::Gpt3, Kind::Passage) => Some(ItemPart::Passage),
            (RuleOf::Datatrove, Kind::Answer) => Some(ItemPart::Answer),
            _ => None,
        }
    }
}

/// A run of n-grams that a document shares with a part of an item.
struct Overlap<'a> {
    item: usize,
    part: &'a Part,
    /// All n-grams of the part in the document.
    grams: &'a Grams,
    /// The words of the run in the document.
    words: Range<usize>,
}

impl Contain {
    /// Whether an item has an n-gram by a rule of others.
    pub(super) fn has_ngrams(&self, parts_of_item: &ItemParts) -> bool {
        let parts = [parts_of_item.question]
            .into_iter()
            .chain(parts_of_item.passage);
        let mut parts = parts.chain(parts_of_item.answers.iter().copied());
        parts.any(|part| {
            let part = &self.parts[part];
            self.rule.of.part(part.kind).is_some() && !part.grams.is_empty()
        })
    }

    /// The items with an n-gram in a document, by a rule of others. A place is a run of n-grams that overlap or touch.
    pub(super) fn overlaps(&self, document: Document<'_>, found: &[(usize, Grams)]) -> Findings {
        let size = self.table.size();
        let (mut candidates, mut all) = (Vec::new(), BTreeSet::new());
        let mut parts_of: BTreeSet<(usize, ItemPart)> = BTreeSet::new();
        for (number, grams) in found {
            let part = &self.parts[*number];
            let Some(parts_of_item) = self.rule.of.part(part.kind) else {
                continue;
            };
            all.extend(grams.iter().map(|(_, gram)| *gram));
            for item in part.items.iter().map(|item| *item as usize) {
                parts_of.insert((item, parts_of_item));
                for run in grams.chunk_by(|a, b| b.0 <= a.0 + size) {
                    let overlap = Overlap {
                        item,
                        part,
                        grams,
                        words: run[0].0..run[run.len() - 1].0 + size,
                    };
                    candidates.push(self.candidate_of(overlap, document));
                }
            }
        }
        let mut hits = at_best(candidates);
        for (item, part) in parts_of {
            if let Some(hit) = hits.get_mut(&item) {
                hit.parts.push(part);
            }
        }
        Findings {
            hits: hits.into_values().collect(),
            parts: Vec::new(),
            grams: all.into_iter().collect(),
        }
    }

    /// An item at one of the places of its n-grams.
    fn candidate_of(&self, overlap: Overlap<'_>, document: Document<'_>) -> Candidate {
        let Overlap {
            item,
            part,
            grams,
            words,
        } = overlap;
        let size = self.table.size();
        let here: BTreeSet<u32> = grams
            .iter()
            .filter(|(at, _)| words.contains(at))
            .map(|(_, gram)| *gram)
            .collect();
        let mut covered = vec![false; part.len()];
        let places = part.grams.iter().enumerate();
        for (at, _) in places.filter(|(_, gram)| here.contains(gram)) {
            covered[at..at + size].fill(true);
        }
        let in_place = covered.iter().filter(|is_covered| **is_covered).count();
        let first = covered.iter().position(|is_covered| *is_covered);
        let last = covered.iter().rposition(|is_covered| *is_covered);
        let mut hit = self.hit(item, part, document, grams);
        hit.class = Class::Contaminated;
        hit.content = [in_place, part.len()];
        hit.bytes = document.original(words.clone());
        if let (Some(first), Some(last)) = (first, last) {
            hit.item_bytes = Words::read(&part.text).span_of(first..last + 1);
        }
        Candidate {
            hit,
            aligned: in_place as f64 / part.len() as f64,
            count: in_place,
            context: 0.0,
            words,
        }
    }
}

/// What GPT-3's rule cuts where it found these places, which ascend: 200 characters on both sides, too, and pieces of fewer
/// than 200 characters. `None` if more than ten pieces stay: then it leaves the document out.
pub(super) fn gpt3_cuts(text: &str, places: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let before = |at: usize| {
        let mut chars = text[..at].char_indices().rev();
        chars.nth(MARGIN - 1).map_or(0, |(start, _)| start)
    };
    let behind = |at: usize| {
        let mut chars = text[at..].char_indices();
        chars
            .nth(MARGIN)
            .map_or(text.len(), |(start, _)| at + start)
    };
    let is_short = |piece: &str| piece.chars().nth(MARGIN - 1).is_none();
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for place in places {
        let (start, end) = (before(place.start), behind(place.end));
        let last = cuts.last().map_or(0, |cut| cut.end);
        match cuts.last_mut() {
            Some(cut) if start <= last || is_short(&text[last..start]) => {
                cut.end = cut.end.max(end)
            }
            None if is_short(&text[..start]) => cuts.push(0..end),
            _ => cuts.push(start..end),
        }
    }
    if let Some(cut) = cuts.last_mut()
        && is_short(&text[cut.end..])
    {
        cut.end = text.len();
    }
    let edges = [
        cuts.first().is_some_and(|cut| cut.start > 0),
        cuts.last().is_some_and(|cut| cut.end < text.len()),
    ];
    let inner = cuts.len().saturating_sub(1);
    let pieces = inner + edges.into_iter().filter(|is_there| *is_there).count();
    (pieces <= MOST_PIECES).then_some(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpt3_cuts_two_hundred_characters_around() {
        let text = "é".repeat(3_000);
        let bytes = |ends: &[(usize, usize)]| -> Vec<Range<usize>> {
            ends.iter().map(|(start, end)| 2 * start..2 * end).collect()
        };
        // What is left at the beginning, between two cuts or at the end goes, too, if it is shorter.
        for (places, expected) in [
            (&[(1_000, 1_010)][..], &[(800, 1_210)][..]),
            (&[(300, 310), (900, 910)], &[(0, 1_110)]),
            (&[(300, 310), (1_000, 1_010)], &[(0, 510), (800, 1_210)]),
            (&[(2_500, 2_601)], &[(2_300, 3_000)]),
            (&[], &[]),
        ] {
            assert_eq!(gpt3_cuts(&text, &bytes(places)), Some(bytes(expected)));
        }
    }

    #[test]
    fn gpt3_leaves_out_what_falls_into_more_than_ten_pieces() {
        let text = "a".repeat(20_000);
        for (count, stays) in [(9, true), (10, false)] {
            let places = (1..=count).map(|i| i * 1_000..i * 1_000 + 10);
            let cuts = gpt3_cuts(&text, &places.collect::<Vec<_>>());
            assert_eq!(cuts.is_some(), stays, "{count}");
        }
    }
}
