//! Hits at places of questions, of which each item keeps its best.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::class::Around;
use crate::asked::Place;
use crate::class::{Class, Hit, ItemPart};
use crate::items::Variant;
use crate::lack::Lack;
use crate::options::{FoundOptions, answer_follows, find_options};
use crate::scan::{Contain, Grams};

/// A hit before those that lie at one place are compared.
pub(crate) struct Candidate {
    pub(crate) hit: Hit,
    /// The share of the question's words that is in place.
    pub(crate) aligned: f64,
    /// The number of these words.
    pub(crate) count: usize,
    /// The share of the passage's n-grams found, plus 1 if all options are found.
    pub(crate) context: f64,
    /// The words of the question in the document.
    pub(crate) words: Range<usize>,
}

impl Candidate {
    /// The best is the least.
    fn rank(&self) -> (Class, std::cmp::Reverse<u64>) {
        // Shares are not negative: their bits are in their order.
        (self.hit.class, std::cmp::Reverse(self.aligned.to_bits()))
    }
}

/// How well a question fits its place: the share of its words there, in millionths; their number, since a question that another
/// one contains also has all its words there; and how much of its passage and options is found.
type Fit = (u64, usize, u64);

impl Candidate {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shares from 0 to 2"
    )]
    fn fit(&self) -> Fit {
        let millionths = |share: f64| (share * 1e6) as u64;
        (
            millionths(self.aligned),
            self.count,
            // A passage with a few other words is as good as another.
            (self.context * 8.0).round() as u64,
        )
    }
}

impl Contain {
    /// The item at a place, if a variant of it can be decided.
    pub(super) fn candidate(
        &self,
        item: usize,
        place: Place<'_>,
        grams: &[(usize, u32)],
        passages: &BTreeMap<usize, &Grams>,
    ) -> Option<Candidate> {
        /// The least share of a question whose words stand in many items, or are few.
        const LEAST: f64 = 0.5;
        let range = place.aligned.range()?;
        let is_led = place.part.needs_more();
        if is_led && place.aligned.share(0..place.part.len()) < LEAST {
            return None;
        }
        let passage = self.passage_beside(item, &range, passages);
        let decided = self.decide_variant(item, place, grams, passage)?;
        let end = decided.options.map_or(range.end, |options| options.end);
        let mut words = range.start..range.end.max(end);
        if let Some(grams) = passage
            && decided.class == Class::Contaminated
        {
            let passage = self.extent(grams);
            words = words.start.min(passage.start)..words.end.max(passage.end);
        }
        let (first, last) = (
            place.aligned.pairs().next()?.0,
            place.aligned.pairs().next_back()?.0,
        );
        let mut hit = self.hit(item, place.part, place.document, grams);
        hit.class = decided.class;
        if hit.ngrams == 0 {
            // Shorter than an n-gram.
            hit.score = place.aligned.share(0..place.part.len());
        }
        hit.content[0] = place.content_in_place();
        hit.parts = decided.parts(place, passage.is_some(), end);
        hit.bytes = place.document.original(words);
        hit.item_bytes = place.detail.original(first..last + 1);
        let has_all_options = decided.options.is_some_and(|options| options.is_exhaustive);
        hit.lacks = decided.lacks;
        Some(Candidate {
            hit,
            aligned: place.aligned.count() as f64 / place.part.len() as f64,
            count: place.aligned.count(),
            context: self.share_of_passage(item, passage) + f64::from(u8::from(has_all_options)),
            words: range,
        })
    }

    /// The n-grams of an item's passage that a document has beside a place of the question.
    fn passage_beside<'p>(
        &self,
        item: usize,
        question: &Range<usize>,
        passages: &BTreeMap<usize, &'p Grams>,
    ) -> Option<&'p Grams> {
        let part = self.item_parts[item].passage?;
        let grams = passages.get(&part).copied()?;
        // A passage may contain the question, which alone is no evidence of the passage.
        let elsewhere = grams.iter().filter(|(at, _)| !question.contains(at));
        let elsewhere: Grams = elsewhere.copied().collect();
        self.is_candidate(&self.parts[part], &elsewhere)
            .then_some(grams)
    }

    /// The variant of an item with the first class, of equals one with its options.
    fn decide_variant(
        &self,
        item: usize,
        place: Place<'_>,
        grams: &[(usize, u32)],
        passage: Option<&Grams>,
    ) -> Option<DecidedVariant<'_>> {
        let range = place.aligned.range()?;
        let passage_grams = passage.into_iter().flatten();
        let own = grams.iter().chain(passage_grams).map(|(_, gram)| *gram);
        let own: BTreeSet<u32> = own.filter(|gram| self.is_own(*gram)).collect();
        let decided = self.items[item].variants.iter().map(|variant| {
            let options = find_options(variant, place.document, &range);
            let around = Around {
                variant,
                own: own.len(),
                options,
                has_passage: self.item_parts[item].passage.map(|_| passage.is_some()),
                is_shared: self.items[item].is_shared(),
            };
            let (class, lacks) = self.class(place, around);
            DecidedVariant {
                variant,
                class,
                lacks,
                options,
            }
        });
        decided.min_by_key(|decided| (decided.class, decided.options.is_none()))
    }
}

/// A variant of an item, and what a document has of it at a place.
struct DecidedVariant<'a> {
    variant: &'a Variant,
    class: Class,
    lacks: Vec<Lack>,
    options: Option<FoundOptions>,
}

impl DecidedVariant<'_> {
    /// The parts of the item that the document has. Its question and options end at the word `end`.
    fn parts(&self, place: Place<'_>, has_passage: bool, end: usize) -> Vec<ItemPart> {
        let mut parts = Vec::new();
        let is_asked = self.class == Class::Contaminated;
        if place.content_share() >= 0.5 || is_asked || place.part.needs_more() {
            parts.push(ItemPart::Question);
        }
        if has_passage {
            parts.push(ItemPart::Passage);
        }
        if self.options.is_some() {
            parts.push(ItemPart::Options);
        }
        let mut answers = self.variant.answers.iter();
        if answers.any(|answer| answer_follows(answer, place.document, end)) {
            parts.push(ItemPart::Answer);
        }
        parts
    }
}

/// Where questions that differ by a few words lie at one place, the one that fits best explains it.
pub(super) fn explained(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let asked = candidates
        .iter()
        .filter(|candidate| candidate.hit.class == Class::Contaminated);
    let asked: Vec<(Fit, Range<usize>)> = asked
        .map(|candidate| (candidate.fit(), candidate.words.clone()))
        .collect();
    for candidate in &mut candidates {
        let Range { start, end } = candidate.words;
        let is_explained = asked.iter().any(|(fit, other)| {
            let shared = end.min(other.end).saturating_sub(start.max(other.start));
            *fit > candidate.fit() && 2 * shared > end - start
        });
        if candidate.hit.class == Class::Contaminated && is_explained {
            candidate.hit.class = Class::Template;
            candidate.hit.lacks = vec![Lack::Better];
        }
    }
    candidates
}

/// The hit of each item at its best place, the first of equals, with the further places of its class.
pub(crate) fn at_best(candidates: Vec<Candidate>) -> BTreeMap<usize, Hit> {
    let mut places_of_item: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        places_of_item
            .entry(candidate.hit.item)
            .or_default()
            .push(candidate);
    }
    let hits = places_of_item.into_iter().filter_map(|(item, mut places)| {
        // The sort keeps the order of equals.
        places.sort_by_key(Candidate::rank);
        let mut places = places.into_iter().map(|candidate| candidate.hit);
        let mut best = places.next()?;
        for place in places.filter(|place| place.class == best.class) {
            let is_apart = best
                .places()
                .all(|other| other.end <= place.bytes.start || place.bytes.end <= other.start);
            if is_apart {
                best.also.push(place.bytes);
            }
        }
        best.also.sort_unstable_by_key(|bytes| bytes.start);
        Some((item, best))
    });
    hits.collect()
}
