//! What a document holds of each item: the class of a hit, and its evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::align::Alignment;
use super::asked::Place;
use super::class::{Class, Hit, ItemPart};
use super::document::Document;
use super::findings::{Findings, PartOfQuestion};
use super::items::{Item, Variant};
use super::lack::Lack;
use super::numbers::{Number, numbers};
use super::options::{FoundOptions, answer_follows, find_options};
use super::part::{Detail, Kind, Part};
use super::scan::{Contain, GramPlaces, Grams, distinct};
use super::words::Words;

/// The most words between two n-grams of a candidate.
const GAP: usize = 40;

/// Places where a question that its passage leads to is looked for, the nearest ones.
const NEAREST: usize = 8;

/// What is known of an item at a place.
#[derive(Clone, Copy)]
struct Around<'a> {
    variant: &'a Variant,
    /// Distinct n-grams that at most two parts have, of the question and of the passage that is here.
    own: usize,
    options: Option<FoundOptions>,
    /// Whether the document has the item's passage; `None` for an item without one.
    has_passage: Option<bool>,
    /// Whether signs alone tell the item from many others.
    is_shared: bool,
}

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
    pub(super) fn decide(
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

    /// The first class that holds, and what is missing for a contaminated document.
    fn class(&self, place: Place<'_>, around: Around<'_>) -> (Class, Vec<Lack>) {
        if around.is_shared {
            return (Class::Short, vec![Lack::Undecidable]);
        }
        if let Some(has_passage) = around.has_passage {
            return self.class_beside_passage(place, around, has_passage);
        }
        if place.part.needs_more() {
            return class_of_short(place, around);
        }
        let Around { variant, own, .. } = around;
        let mut lacks = place.lacks(self.rule.threshold);
        if own < self.rule.min_ngrams {
            lacks.push(Lack::Own);
        }
        let is_asked = lacks.is_empty();
        // The options are evidence of their own, and a docstring is no statement.
        let asks = place.detail.question.docstring.is_none();
        if around.options.is_none() && asks && place.is_statement(variant) {
            lacks.push(Lack::Statement);
        }
        if around.options.is_none() && !place.has_rest() {
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

    /// The same of a question about a passage: such questions are short and alike, so that the passage or the options tell them.
    fn class_beside_passage(
        &self,
        place: Place<'_>,
        around: Around<'_>,
        has_passage: bool,
    ) -> (Class, Vec<Lack>) {
        let is_template = place.part.needs_more();
        let mut lacks = if is_template {
            place.lacks_of_template()
        } else {
            place.lacks_of_strict(self.rule.threshold)
        };
        let is_asked = lacks.is_empty();
        let has_options = around
            .options
            .is_some_and(|options| options.is_exhaustive || !is_template);
        if !has_options && !has_passage {
            lacks.push(Lack::Passage);
        } else if !has_options && around.own < self.rule.min_ngrams {
            lacks.push(Lack::Own);
        }
        let class = if lacks.is_empty() {
            Class::Contaminated
        } else if has_passage {
            Class::Passage
        } else if is_asked {
            Class::Short
        } else {
            Class::Template
        };
        (class, lacks)
    }

    /// The share of the n-grams of an item's passage that are found; 0 without one.
    fn share_of_passage(&self, item: usize, found: Option<&Grams>) -> f64 {
        let passage = self.item_parts[item].passage;
        let all = passage.map_or(0, |passage| self.parts[passage].distinct);
        found.map_or(0, |grams| distinct(grams)) as f64 / all.max(1) as f64
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
        hit.bytes = document.original(self.extent(grams));
        hit.item_bytes = Words::read(&part.text).span_of(first..last + self.table.size());
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
        // The sum of nothing is -0.
        let sum = |grams: &Vec<u32>| {
            grams
                .iter()
                .map(weight)
                .fold(0.0, |sum, weight| sum + weight)
        };
        let [weight_found, weight_all] = [&found, &all].map(sum);
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
            score: if weight_all > 0.0 {
                weight_found / weight_all
            } else {
                // Where all items have the same n-grams, none is rarer.
                found.len() as f64 / all.len().max(1) as f64
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

impl Contain {
    /// The item at a place, if a variant of it can be decided.
    fn candidate(
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
        let passage = self.item_parts[item].passage.and_then(|part| {
            let grams = passages.get(&part).copied()?;
            // A passage may contain the question, which alone is no evidence of the passage.
            let elsewhere = grams.iter().filter(|(at, _)| !range.contains(at));
            let elsewhere: Grams = elsewhere.copied().collect();
            self.is_candidate(&self.parts[part], &elsewhere)
                .then_some(grams)
        });
        let passage_grams = passage.into_iter().flatten();
        let own = grams.iter().chain(passage_grams).map(|(_, gram)| *gram);
        let own: BTreeSet<u32> = own.filter(|gram| self.is_own(*gram)).collect();
        let best = self.items[item].variants.iter().map(|variant| {
            let options = find_options(variant, place.document, &range);
            let around = Around {
                variant,
                own: own.len(),
                options,
                has_passage: self.item_parts[item].passage.map(|_| passage.is_some()),
                is_shared: self.items[item].is_shared(),
            };
            (self.class(place, around), options, variant)
        });
        let ((class, lacks), options, variant) =
            best.min_by_key(|((class, _), options, _)| (*class, options.is_none()))?;
        let end = options.map_or(range.end, |options| options.end);
        let mut words = range.start..range.end.max(end);
        let mut parts = Vec::new();
        if place.content_share() >= 0.5 || class == Class::Contaminated || is_led {
            parts.push(ItemPart::Question);
        }
        if let Some(grams) = passage {
            parts.push(ItemPart::Passage);
            if class == Class::Contaminated {
                let passage = self.extent(grams);
                words = words.start.min(passage.start)..words.end.max(passage.end);
            }
        }
        if options.is_some() {
            parts.push(ItemPart::Options);
        }
        if variant
            .answers
            .iter()
            .any(|answer| answer_follows(answer, place.document, end))
        {
            parts.push(ItemPart::Answer);
        }
        let (first, last) = (
            place.aligned.pairs().next()?.0,
            place.aligned.pairs().next_back()?.0,
        );
        let mut hit = self.hit(item, place.part, place.document, grams);
        hit.class = class;
        hit.lacks = lacks;
        if hit.ngrams == 0 {
            // Shorter than an n-gram.
            hit.score = place.aligned.share(0..place.part.len());
        }
        hit.content[0] = place.content_in_place();
        hit.parts = parts;
        hit.bytes = place.document.original(words);
        hit.item_bytes = place.detail.original(first..last + 1);
        Some(Candidate {
            hit,
            aligned: place.aligned.count() as f64 / place.part.len() as f64,
            count: place.aligned.count(),
            context: self.share_of_passage(item, passage)
                + f64::from(u8::from(
                    options.is_some_and(|options| options.is_exhaustive),
                )),
            words: range,
        })
    }
}

/// A hit before those that lie at one place are compared.
pub(super) struct Candidate {
    pub(super) hit: Hit,
    /// The share of the question's words that is in place.
    pub(super) aligned: f64,
    /// The number of these words.
    pub(super) count: usize,
    /// The share of the passage's n-grams found, plus 1 if all options are found.
    pub(super) context: f64,
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

/// Where questions that differ by a few words lie at one place, the one that fits best explains it.
fn explained(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
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
pub(super) fn at_best(candidates: Vec<Candidate>) -> BTreeMap<usize, Hit> {
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

/// The words of a document among which a question lies that has a cluster of n-grams there.
fn window(part: &Part, document: Document<'_>, cluster: &[(usize, u32)]) -> Range<usize> {
    let words = part.len();
    let place = |(at, gram): (usize, u32)| {
        let in_part = part.grams.iter().position(|other| *other == gram);
        (at, in_part.unwrap_or(0))
    };
    let (first, first_in_part) = place(cluster[0]);
    let (last, last_in_part) = place(cluster[cluster.len() - 1]);
    let start = first.saturating_sub(first_in_part + slack(part));
    let end = (last + words - last_in_part + slack(part)).min(document.len());
    start..end
}

/// Aligns a question with words of a document. A number is one symbol, however it is written.
fn align(part: &Part, detail: &Detail, document: Document<'_>, window: Range<usize>) -> Alignment {
    let first = window.start;
    let words = document.numbers(window.clone());
    if !detail.has_numbers {
        return Alignment::new(&part.numbers, &words, first);
    }
    let mut values = BTreeMap::new();
    let item = (0..part.len()).map(|i| detail.token(i));
    let (item, item_places) = with_numbers(&part.numbers, &numbers(item), &mut values);
    let tokens = window.map(|at| document.token(at));
    let (words, word_places) = with_numbers(&words, &numbers(tokens), &mut values);
    Alignment::new(&item, &words, 0).expand(&item_places, &word_places, first)
}

/// Words with a symbol for each number instead of its words, and the words of each. Equal values have one symbol.
fn with_numbers(
    words: &[u32],
    numbers: &[Number],
    values: &mut BTreeMap<String, u32>,
) -> (Vec<u32>, Vec<Range<usize>>) {
    /// The first symbol of a number: vocabularies are smaller.
    const FIRST: u32 = 1 << 31;
    let (mut symbols, mut ranges) = (Vec::new(), Vec::new());
    let mut push = |symbol: u32, words: Range<usize>| {
        symbols.push(symbol);
        ranges.push(words);
    };
    let mut at = 0;
    // A numeral of Rome stays a word: a text in small letters has it as one. Both numbers of a fraction have one word.
    let numbers: Vec<&Number> = numbers.iter().filter(|number| !number.is_roman).collect();
    for same in numbers.chunk_by(|a, b| a.words == b.words) {
        let range = same[0].words.clone();
        (at..range.start).for_each(|i| push(words[i], i..i + 1));
        let value = same.iter().map(|number| &*number.value);
        let value = value.collect::<Vec<_>>().join("/");
        let next = FIRST + u32::try_from(values.len()).unwrap_or(0);
        at = range.end;
        push(*values.entry(value).or_insert(next), range);
    }
    (at..words.len()).for_each(|i| push(words[i], i..i + 1));
    (symbols, ranges)
}

/// The words of the options of an item, in the variant that has most.
fn most_words(item: &Item) -> usize {
    let words = |variant: &Variant| {
        let options = variant.options.iter();
        options.map(|option| Words::read(option).len()).sum()
    };
    item.variants.iter().map(words).max().unwrap_or(0)
}

/// Words on each side of a question's place that are also compared with it.
fn slack(part: &Part) -> usize {
    10 + part.len() / 10
}

/// The class of a short question, or of one whose words stand in many items: its options tell it, or all its words in a row.
fn class_of_short(place: Place<'_>, around: Around<'_>) -> (Class, Vec<Lack>) {
    let is_short = place.part.is_short();
    let mut lacks = if is_short {
        place.lacks_of_short()
    } else {
        place.lacks_of_template()
    };
    let options = around.options;
    let has_options =
        options.is_some_and(|options| options.is_exhaustive || !place.part.is_template);
    let is_verbatim = || !is_short && place.part.is_told_verbatim() && place.is_verbatim();
    if !has_options && !is_verbatim() {
        lacks.push(Lack::Options);
    }
    let class = if lacks.is_empty() {
        Class::Contaminated
    } else {
        Class::Short
    };
    (class, lacks)
}
