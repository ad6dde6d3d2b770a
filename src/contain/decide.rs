//! What a document holds of each item: the class of a hit, and its evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::align::Alignment;
use super::asked::Place;
use super::class::{Class, Hit, ItemPart};
use super::document::Document;
use super::findings::{Findings, PartOfQuestion};
use super::items::Variant;
use super::lack::Lack;
use super::options::{answer_follows, options_end};
use super::part::{Kind, Part};
use super::scan::{Contain, Grams};
use super::words::Words;

/// The most words between two n-grams of a candidate.
const GAP: usize = 40;

/// What is known of an item at a place.
#[derive(Clone, Copy)]
struct Around<'a> {
    variant: &'a Variant,
    /// Distinct n-grams that at most two parts have.
    own: usize,
    has_options: bool,
    /// Whether the document has the item's passage; `None` for an item without one.
    has_passage: Option<bool>,
}

impl Contain {
    /// The items of a document with these n-grams of parts.
    pub(super) fn decide(&self, document: Document<'_>, found: &[(usize, Grams)]) -> Findings {
        let found = found
            .iter()
            .filter(|(part, grams)| self.is_candidate(&self.parts[*part], grams));
        let (passages, questions): (Vec<_>, Vec<_>) =
            found.partition(|(part, _)| self.parts[*part].kind == Kind::Passage);
        let passages: BTreeMap<usize, &Grams> = passages
            .into_iter()
            .map(|(part, grams)| (*part, grams))
            .collect();
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut parts: Vec<PartOfQuestion> = Vec::new();
        for (number, grams) in questions {
            let part = &self.parts[*number];
            let detail = part.detail(self.table.size());
            let mut most: Option<PartOfQuestion> = None;
            for cluster in grams.chunk_by(|a, b| b.0 - a.0 <= GAP) {
                if !self.is_candidate(part, cluster) {
                    continue;
                }
                let aligned = align(part, document, cluster);
                let place = Place {
                    part,
                    detail: &detail,
                    items: &self.items,
                    document,
                    aligned: &aligned,
                };
                let mut has_options = false;
                for item in &part.items {
                    let item = *item as usize;
                    let Some(candidate) = self.candidate(item, place, cluster, &passages) else {
                        continue;
                    };
                    has_options |= candidate.hit.parts.contains(&ItemPart::Options);
                    candidates.push(candidate);
                }
                if let Some(here) = PartOfQuestion::of(*number, place, has_options) {
                    most = Some(here.or_better(most));
                }
            }
            parts.extend(most);
        }
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

    /// The item at a place, if a variant of it can be decided.
    fn candidate(
        &self,
        item: usize,
        place: Place<'_>,
        cluster: &[(usize, u32)],
        passages: &BTreeMap<usize, &Grams>,
    ) -> Option<Candidate> {
        let range = place.aligned.range()?;
        let passage = self.of_items[item]
            .passage
            .and_then(|part| passages.get(&part).copied());
        let own = cluster.iter().filter(|(_, gram)| self.is_own(*gram));
        let own = own.map(|(_, gram)| gram).collect::<BTreeSet<_>>().len();
        let best = self.items[item].variants.iter().map(|variant| {
            let options = options_end(variant, place.document, &range);
            let around = Around {
                variant,
                own,
                has_options: options.is_some(),
                has_passage: self.of_items[item].passage.map(|_| passage.is_some()),
            };
            (self.class(place, around), options, variant)
        });
        let ((class, lacks), options, variant) =
            best.min_by_key(|((class, _), options, _)| (*class, options.is_none()))?;
        let mut words = range.clone();
        words.end = words.end.max(options.unwrap_or(0));
        let mut parts = Vec::new();
        if place.content_share() >= 0.5 || class == Class::Contaminated {
            parts.push(ItemPart::Question);
        }
        if let Some(grams) = passage {
            parts.push(ItemPart::Passage);
            if class == Class::Contaminated {
                let of_passage = self.extent(grams);
                words = words.start.min(of_passage.start)..words.end.max(of_passage.end);
            }
        }
        if options.is_some() {
            parts.push(ItemPart::Options);
        }
        if variant
            .answers
            .iter()
            .any(|answer| answer_follows(answer, place.document, options.unwrap_or(range.end)))
        {
            parts.push(ItemPart::Answer);
        }
        let (first, last) = (
            place.aligned.pairs().next()?.0,
            place.aligned.pairs().next_back()?.0,
        );
        let mut hit = self.hit(item, place.part, place.document, cluster);
        hit.class = class;
        hit.lacks = lacks;
        hit.content[0] = place.content_in_place();
        hit.parts = parts;
        hit.bytes = place.document.span_of(words);
        hit.item_bytes = place.detail.words.span_of(first..last + 1);
        Some(Candidate {
            hit,
            aligned: place.aligned.count() as f64 / place.part.len() as f64,
            words: range,
        })
    }

    /// The first class that holds, and what is missing for a contaminated document.
    fn class(&self, place: Place<'_>, around: Around<'_>) -> (Class, Vec<Lack>) {
        let Around {
            variant,
            own,
            has_options,
            has_passage,
        } = around;
        let (threshold, min_ngrams) = (self.rule.threshold, self.rule.min_ngrams);
        if let Some(has_passage) = has_passage {
            let mut lacks = place.lacks_of_strict(threshold);
            let is_strict = lacks.is_empty();
            if !(has_options || has_passage && own >= min_ngrams) {
                lacks.push(Lack::Passage);
            }
            let class = match (lacks.is_empty(), has_passage) {
                (true, _) => Class::Contaminated,
                (false, true) => Class::Passage,
                (false, false) if is_strict => Class::Short,
                (false, false) => Class::Template,
            };
            return (class, lacks);
        }
        if place.part.is_short() {
            let mut lacks = place.lacks_of_short();
            if !has_options {
                lacks.push(Lack::Options);
            }
            let class = match lacks.is_empty() {
                true => Class::Contaminated,
                false => Class::Short,
            };
            return (class, lacks);
        }
        let mut lacks = place.lacks(threshold);
        if own < min_ngrams {
            lacks.push(Lack::Own);
        }
        let is_asked = lacks.is_empty();
        // The options are evidence of their own.
        if !has_options && place.is_statement(variant) {
            lacks.push(Lack::Statement);
        }
        if !has_options && !place.has_rest() {
            lacks.push(Lack::Phrase);
        }
        let class = match &lacks[..] {
            [] => Class::Contaminated,
            [Lack::Statement, ..] if is_asked => Class::Short,
            _ if place.content_share() >= 0.5 && own >= 4 => Class::Passage,
            _ => Class::Template,
        };
        (class, lacks)
    }

    /// The words of a document from the first to the last of these n-grams.
    fn extent(&self, grams: &Grams) -> Range<usize> {
        let start = grams.first().map_or(0, |(at, _)| *at);
        let end = grams.last().map_or(0, |(at, _)| at + self.table.size());
        start..end
    }

    fn passage_hit(&self, item: usize, part: &Part, document: Document<'_>, grams: &Grams) -> Hit {
        let found: BTreeSet<u32> = grams.iter().map(|(_, gram)| *gram).collect();
        let places = part
            .grams
            .iter()
            .enumerate()
            .filter(|(_, gram)| found.contains(gram));
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        let (first, last) = (
            places.first().copied().unwrap_or(0),
            places.last().copied().unwrap_or(0),
        );
        let mut hit = self.hit(item, part, document, grams);
        hit.class = Class::Passage;
        hit.lacks = vec![Lack::Question];
        hit.parts = vec![ItemPart::Passage];
        hit.bytes = document.span_of(self.extent(grams));
        hit.item_bytes = Words::of(&part.text).span_of(first..last + self.table.size());
        hit
    }

    /// The evidence for a part in these n-grams; class, parts and places are left to the caller.
    pub(super) fn hit(
        &self,
        item: usize,
        part: &Part,
        document: Document<'_>,
        grams: &[(usize, u32)],
    ) -> Hit {
        const LISTED: usize = 3;
        let weight =
            |gram: &u32| (self.parts.len() as f64 / self.table.parts(*gram).len() as f64).ln();
        let all = part.distinct_grams();
        let mut first: Vec<(u32, usize)> = grams.iter().map(|(at, gram)| (*gram, *at)).collect();
        first.sort_unstable();
        first.dedup_by_key(|(gram, _)| *gram);
        let found: Vec<u32> = first.iter().map(|(gram, _)| *gram).collect();
        let [of_found, of_all] = [&found, &all].map(|grams| grams.iter().map(weight).sum::<f64>());
        let count = |(gram, at): &(u32, usize)| (self.table.parts(*gram).len(), *at, *gram);
        let mut rarest: Vec<(usize, usize, u32)> = first.iter().map(count).collect();
        rarest.sort_unstable();
        let rarest = rarest
            .into_iter()
            .take(LISTED)
            .map(|(count, at, _)| (document.joined(at..at + self.table.size()), count));
        Hit {
            item,
            class: Class::Template,
            score: match of_all > 0.0 {
                true => of_found / of_all,
                // Where all items have the same n-grams, none is rarer.
                false => found.len() as f64 / all.len() as f64,
            },
            parts: Vec::new(),
            bytes: 0..0,
            also: Vec::new(),
            item_bytes: 0..0,
            found: found.len(),
            ngrams: all.len(),
            content: [0, part.content],
            own: found.iter().filter(|gram| self.is_own(**gram)).count(),
            lacks: Vec::new(),
            rarest: rarest.collect(),
        }
    }
}

/// A hit before those that lie at one place are compared.
pub(super) struct Candidate {
    pub(super) hit: Hit,
    /// The share of the question's words that is in place.
    pub(super) aligned: f64,
    /// The words of the question in the document.
    pub(super) words: Range<usize>,
}

impl Candidate {
    /// The best is the least.
    fn rank(&self) -> (Class, std::cmp::Reverse<u64>) {
        // Shares are not negative: their bits are in their order.
        (self.hit.class, std::cmp::Reverse(self.aligned.to_bits()))
    }
}

/// Where questions that differ by a few words lie at one place, the best aligned one explains it.
fn explained(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let asked = candidates
        .iter()
        .filter(|candidate| candidate.hit.class == Class::Contaminated);
    let asked: Vec<(f64, Range<usize>)> = asked
        .map(|candidate| (candidate.aligned, candidate.words.clone()))
        .collect();
    for candidate in &mut candidates {
        let Range { start, end } = candidate.words;
        let is_explained = asked.iter().any(|(aligned, other)| {
            let shared = end.min(other.end).saturating_sub(start.max(other.start));
            *aligned > candidate.aligned + 1e-9 && 2 * shared > end - start
        });
        if candidate.hit.class == Class::Contaminated && is_explained {
            candidate.hit.class = Class::Template;
            candidate.hit.lacks = vec![Lack::Better];
        }
    }
    candidates
}

/// The hit of each item at its best place, the first of equals, with the further places of its class.
pub(super) fn at_best(candidates: Vec<Candidate>) -> BTreeMap<usize, Hit> {
    let mut of_item: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        of_item
            .entry(candidate.hit.item)
            .or_default()
            .push(candidate);
    }
    let hits = of_item.into_iter().filter_map(|(item, mut places)| {
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

/// Aligns a part with the place where a cluster of its n-grams lies.
fn align(part: &Part, document: Document<'_>, cluster: &[(usize, u32)]) -> Alignment {
    let words = part.len();
    let place = |(at, gram): (usize, u32)| {
        let of_part = part.grams.iter().position(|other| *other == gram);
        (at, of_part.unwrap_or(0))
    };
    let slack = 10 + words / 10;
    let (first, of_first) = place(cluster[0]);
    let (last, of_last) = place(cluster[cluster.len() - 1]);
    let start = first.saturating_sub(of_first + slack);
    let end = (last + words - of_last + slack).min(document.len());
    Alignment::of(&part.numbers, &document.numbers(start..end), start)
}
