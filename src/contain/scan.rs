//! Finds items in a document.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::align::Alignment;
use super::asked::{Document, Place};
use super::items::{ITEMS, Item, ItemRecord, Variant, items_of};
use super::part::{Kind, OWN, Part, TEMPLATE, Vocabulary};
use super::table::Table;
use super::words::Words;
use crate::error::{Error, Result};

/// The most words between two n-grams of a candidate.
const GAP: usize = 40;

/// The most bytes of all questions and passages: numbers of words and n-grams have 32 bits.
const MOST_BYTES: usize = u32::MAX as usize;

/// What a document holds of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The document asks the question.
    Contaminated,
    /// It holds text that the item quotes, or much of the question, and does not ask it.
    Passage,
    /// Too little to decide: the item is short, or an open sentence that is a statement here.
    Short,
    /// It shares what other items have, too.
    Template,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 4] = [
        Class::Contaminated,
        Class::Passage,
        Class::Short,
        Class::Template,
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Class::Contaminated => "contaminated",
            Class::Passage => "passage",
            Class::Short => "short",
            Class::Template => "template",
        }
    }
}

/// A part of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemPart {
    /// The question: half of its words outside the template.
    Question,
    /// The passage.
    Passage,
    /// The options.
    Options,
    /// An answer, right behind the question and its options.
    Answer,
}

impl ItemPart {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            ItemPart::Question => "question",
            ItemPart::Passage => "passage",
            ItemPart::Options => "options",
            ItemPart::Answer => "answer",
        }
    }
}

/// What decides whether an item is in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Words of an n-gram; default 5.
    pub size: usize,
    /// The least share of a question's words outside the template that a contaminated document has; default 0.7.
    pub threshold: f64,
    /// The fewest n-grams that at most two questions or passages have, which a contaminated document has; default 2.
    pub min_ngrams: usize,
}

impl Default for Rule {
    fn default() -> Self {
        Rule {
            size: 5,
            threshold: 0.7,
            min_ngrams: 2,
        }
    }
}

impl Rule {
    fn check(self) -> Result<()> {
        let refuse = |name, value: String, expected: &str| {
            Err(Error::Parameter {
                name,
                value,
                expected: expected.to_owned(),
            })
        };
        if !(2..=32).contains(&self.size) {
            return refuse("`size`", self.size.to_string(), "from 2 to 32 words");
        }
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return refuse(
                "`threshold`",
                self.threshold.to_string(),
                "a share above 0, up to 1",
            );
        }
        Ok(())
    }
}

/// An item at a place of a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The number of the item in [`Contain::items`].
    pub item: usize,
    /// What the document holds of it.
    pub class: Class,
    /// The share of the n-grams found, weighted by ln(parts / parts that have the n-gram), from 0 to 1; of the passage where
    /// the question is not found.
    pub score: f64,
    /// The parts found, in order, each once.
    pub parts: Vec<ItemPart>,
    /// Bytes of the document, from the first to the last word found.
    pub bytes: Range<usize>,
    /// Bytes of the question, or of the passage where the question is not found.
    pub item_bytes: Range<usize>,
    /// Distinct n-grams found.
    pub found: usize,
    /// Distinct n-grams of the question or passage.
    pub ngrams: usize,
    /// The rarest n-grams found, and how many questions and passages have each; at most three, the first of several.
    pub rarest: Vec<(String, usize)>,
}

/// Finds items of benchmarks in documents: which document asks which question.
///
/// ```
/// use simgpu::contain::{Class, Contain, ItemRecord, Rule};
///
/// let question = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?";
/// let record = ItemRecord { question: question.to_owned(), ..ItemRecord::default() };
/// let contain = Contain::new([record], Rule::default())?;
/// let hits = contain.scan(&format!("We were asked this: {question} Nobody knew."));
/// assert_eq!((hits[0].class, &hits[0].bytes), (Class::Contaminated, &(20..123)));
/// assert!(contain.scan("A robe of blue fiber.").is_empty());
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Debug)]
pub struct Contain {
    items: Vec<Item>,
    rule: Rule,
    parts: Vec<Part>,
    /// The question and the passage of each item.
    of_items: Vec<(usize, Option<usize>)>,
    table: Table,
    vocabulary: Vocabulary,
}

/// Memory that is used again from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    words: Words,
    hashes: Vec<u64>,
    found: Vec<(usize, u32)>,
}

/// N-grams of a part in a document: their first words there, and their numbers.
type Grams = Vec<(usize, u32)>;

impl Contain {
    /// The items of these records. Records with one id are one item, and so are those with equal words in question and
    /// passage.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a rule out of range, without records, for records with one id and different questions, and
    /// for 4 GiB of text or more.
    pub fn new(records: impl IntoIterator<Item = ItemRecord>, rule: Rule) -> Result<Self> {
        rule.check()?;
        let items = items_of(records)?;
        let (mut parts, mut of_items): (Vec<Part>, Vec<(usize, Option<usize>)>) =
            Default::default();
        let mut vocabulary = Vocabulary::default();
        let mut of_words: BTreeMap<(Kind, Vec<u32>), usize> = BTreeMap::new();
        let mut bytes = 0usize;
        for (number, item) in (0u32..).zip(&items) {
            let mut part = |kind, text: &str| {
                bytes += text.len();
                let words = Words::of(text);
                let numbers = vocabulary.add(&words);
                let part = *of_words.entry((kind, numbers.clone())).or_insert_with(|| {
                    parts.push(Part::new(kind, text, words, numbers));
                    parts.len() - 1
                });
                parts[part].items.push(number);
                part
            };
            let question = part(Kind::Question, &item.question);
            let passage = (!item.passage.is_empty()).then(|| part(Kind::Passage, &item.passage));
            parts[question].add_answers(item);
            of_items.push((question, passage));
        }
        if bytes > MOST_BYTES {
            return Err(Error::Parameter {
                name: ITEMS,
                value: format!("{bytes} bytes of text"),
                expected: "less than 4 GiB".to_owned(),
            });
        }
        let table = Table::of(&mut parts, rule.size);
        let is_template = |gram: u32| table.parts(gram).len() > TEMPLATE;
        for part in &mut parts {
            part.complete(rule.size, is_template);
        }
        Ok(Contain {
            items,
            rule,
            parts,
            of_items,
            table,
            vocabulary,
        })
    }

    /// The items, in the order of their first records.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether an item can be found as contaminated by its question alone: it has 8 words, 5 of them outside the template, is
    /// no bare statement, and has enough n-grams of its own.
    pub fn is_decidable(&self, item: usize) -> bool {
        let Some((question, _)) = self.of_items.get(item) else {
            return false;
        };
        let part = &self.parts[*question];
        let own: BTreeSet<u32> = part
            .grams
            .iter()
            .copied()
            .filter(|gram| self.is_own(*gram))
            .collect();
        !is_short(part) && own.len() >= self.rule.min_ngrams
    }

    /// The number of distinct n-grams.
    pub fn ngrams(&self) -> usize {
        self.table.len()
    }

    /// Finds the items in a document, by the number of the item; each once, at the place where most of it is.
    pub fn scan(&self, text: &str) -> Vec<Hit> {
        self.scan_with(text, &mut Scratch::default())
    }

    /// The same, with memory that is used again.
    pub fn scan_with(&self, text: &str, scratch: &mut Scratch) -> Vec<Hit> {
        let Scratch {
            words,
            hashes,
            found,
        } = scratch;
        words.read(text);
        self.table.find(words, hashes, found);
        if !self
            .by_part(found)
            .iter()
            .any(|(part, grams)| self.is_candidate(&self.parts[*part], grams))
        {
            return Vec::new();
        }
        let numbers = self.vocabulary.numbers(words);
        let document = Document {
            text,
            words,
            numbers: &numbers,
        };
        found.retain(|(at, gram)| self.is_equal(document, *at, *gram));
        self.decide(document, &self.by_part(found))
    }

    /// Whether the words of an n-gram stand at a place of a document.
    fn is_equal(&self, document: Document<'_>, at: usize, gram: u32) -> bool {
        let (part, place) = self.table.first[gram as usize];
        let place = place as usize;
        let size = self.table.size();
        self.parts[part as usize].numbers[place..place + size] == document.numbers[at..at + size]
    }

    fn is_template(&self, gram: u32) -> bool {
        self.table.parts(gram).len() > TEMPLATE
    }

    fn is_own(&self, gram: u32) -> bool {
        self.table.parts(gram).len() <= OWN
    }

    /// The n-grams of each part that open a candidate, in order.
    fn by_part(&self, found: &[(usize, u32)]) -> Vec<(usize, Grams)> {
        let open = found.iter().filter(|(_, gram)| !self.is_template(*gram));
        let mut all: Vec<(u32, usize, u32)> = open
            .flat_map(|(at, gram)| {
                self.table
                    .parts(*gram)
                    .iter()
                    .map(|part| (*part, *at, *gram))
            })
            .collect();
        all.sort_unstable();
        let groups = all.chunk_by(|a, b| a.0 == b.0).map(|group| {
            let grams = group.iter().map(|(_, at, gram)| (*at, *gram));
            (group[0].0 as usize, grams.collect())
        });
        groups.collect()
    }

    /// Whether enough n-grams of a part are in the document.
    fn is_candidate(&self, part: &Part, grams: &[(usize, u32)]) -> bool {
        let distinct = distinct(grams) as f64;
        match part.kind {
            Kind::Question => distinct >= part.least_grams(),
            Kind::Passage => distinct >= (0.1 * part.rare as f64).max(4.0),
        }
    }

    fn decide(&self, document: Document<'_>, found: &[(usize, Grams)]) -> Vec<Hit> {
        let found = found
            .iter()
            .filter(|(part, grams)| self.is_candidate(&self.parts[*part], grams));
        let (passages, questions): (Vec<_>, Vec<_>) =
            found.partition(|(part, _)| self.parts[*part].kind == Kind::Passage);
        let passages: BTreeMap<usize, &Grams> = passages
            .into_iter()
            .map(|(part, grams)| (*part, grams))
            .collect();
        let mut best: BTreeMap<usize, Candidate> = BTreeMap::new();
        for (number, grams) in questions {
            let part = &self.parts[*number];
            for cluster in grams.chunk_by(|a, b| b.0 - a.0 <= GAP) {
                if !self.is_candidate(part, cluster) {
                    continue;
                }
                let aligned = align(part, document, cluster);
                let place = Place {
                    part,
                    document,
                    aligned: &aligned,
                };
                for item in &part.items {
                    let item = *item as usize;
                    let Some(candidate) = self.candidate(item, place, cluster, &passages) else {
                        continue;
                    };
                    let is_better = |known: &Candidate| candidate.rank() < known.rank();
                    if best.get(&item).is_none_or(is_better) {
                        best.insert(item, candidate);
                    }
                }
            }
        }
        let mut hits = explained(best);
        for (number, grams) in passages {
            let part = &self.parts[number];
            for item in part.items.iter().map(|item| *item as usize) {
                hits.entry(item)
                    .or_insert_with(|| self.passage_hit(item, part, document, grams));
            }
        }
        hits.into_values().collect()
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
            .1
            .and_then(|part| passages.get(&part).copied());
        let own = cluster.iter().filter(|(_, gram)| self.is_own(*gram));
        let own = own.map(|(_, gram)| gram).collect::<BTreeSet<_>>().len();
        let best = self.items[item].variants.iter().map(|variant| {
            let options = options_end(variant, place.document.words, &range);
            let class = self.class(
                item,
                (place, variant),
                own,
                options.is_some(),
                passage.is_some(),
            );
            (class, options, variant)
        });
        let (class, options, variant) =
            best.min_by_key(|(class, options, _)| (*class, options.is_none()))?;
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
        if variant.answers.iter().any(|answer| {
            answer_follows(answer, place.document.words, options.unwrap_or(range.end))
        }) {
            parts.push(ItemPart::Answer);
        }
        let (first, last) = (
            place.aligned.pairs().next()?.0,
            place.aligned.pairs().next_back()?.0,
        );
        let mut hit = self.hit(item, place.part, place.document, cluster);
        hit.class = class;
        hit.parts = parts;
        hit.bytes = place.document.words.span_of(words);
        hit.item_bytes = place.part.words.span_of(first..last + 1);
        Some(Candidate {
            hit,
            aligned: place.aligned.count() as f64 / place.part.words.len() as f64,
            words: range,
        })
    }

    /// The first class that holds.
    fn class(
        &self,
        item: usize,
        (place, variant): (Place<'_>, &Variant),
        own: usize,
        has_options: bool,
        has_passage: bool,
    ) -> Class {
        let part = place.part;
        let threshold = self.rule.threshold;
        if self.of_items[item].1.is_some() {
            let strict = place.is_strict(threshold);
            return match (strict, has_passage) {
                (true, _) if has_options => Class::Contaminated,
                (true, true) if own >= self.rule.min_ngrams => Class::Contaminated,
                (_, true) => Class::Passage,
                (true, false) => Class::Short,
                (false, false) => Class::Template,
            };
        }
        if is_short(part) {
            let is_whole = place.aligned.share(0..part.words.len()) >= 0.9;
            return match has_options && is_whole && place.is_asked() {
                true => Class::Contaminated,
                false => Class::Short,
            };
        }
        if place.is_asked() && place.is_enough(threshold) && own >= self.rule.min_ngrams {
            return match !has_options && place.is_statement(variant) {
                true => Class::Short,
                false => Class::Contaminated,
            };
        }
        match place.content_share() >= 0.5 && own >= 4 {
            true => Class::Passage,
            false => Class::Template,
        }
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
        hit.parts = vec![ItemPart::Passage];
        hit.bytes = document.words.span_of(self.extent(grams));
        hit.item_bytes = part.words.span_of(first..last + self.table.size());
        hit
    }

    /// The evidence for a part in these n-grams; class, parts and places are left to the caller.
    fn hit(&self, item: usize, part: &Part, document: Document<'_>, grams: &[(usize, u32)]) -> Hit {
        const LISTED: usize = 3;
        let weight =
            |gram: &u32| (self.parts.len() as f64 / self.table.parts(*gram).len() as f64).ln();
        let all: BTreeSet<u32> = part.grams.iter().copied().collect();
        let found: BTreeSet<u32> = grams.iter().map(|(_, gram)| *gram).collect();
        let [of_found, of_all] = [&found, &all].map(|grams| grams.iter().map(weight).sum::<f64>());
        let mut rarest: Vec<(usize, usize, u32)> = Vec::new();
        for (at, gram) in grams {
            if !rarest.iter().any(|(_, _, known)| known == gram) {
                rarest.push((self.table.parts(*gram).len(), *at, *gram));
            }
        }
        rarest.sort_unstable();
        let rarest = rarest.into_iter().take(LISTED).map(|(count, at, _)| {
            let words = (at..at + self.table.size()).map(|i| document.words.word(i));
            (words.collect::<Vec<_>>().join(" "), count)
        });
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
            item_bytes: 0..0,
            found: found.len(),
            ngrams: all.len(),
            rarest: rarest.collect(),
        }
    }
}

/// A hit before those that lie at one place are compared.
struct Candidate {
    hit: Hit,
    /// The share of the question's words that is in place.
    aligned: f64,
    /// The words of the question in the document.
    words: Range<usize>,
}

impl Candidate {
    /// The best is the least.
    fn rank(&self) -> (Class, std::cmp::Reverse<u64>) {
        // Shares are not negative: their bits are in their order.
        (self.hit.class, std::cmp::Reverse(self.aligned.to_bits()))
    }
}

/// Where questions that differ by a few words lie at one place, the best aligned one explains it.
fn explained(candidates: BTreeMap<usize, Candidate>) -> BTreeMap<usize, Hit> {
    let asked: Vec<(f64, Range<usize>)> = candidates
        .values()
        .filter(|candidate| candidate.hit.class == Class::Contaminated)
        .map(|candidate| (candidate.aligned, candidate.words.clone()))
        .collect();
    let hits = candidates.into_iter().map(|(item, mut candidate)| {
        let Range { start, end } = candidate.words;
        let is_explained = asked.iter().any(|(aligned, other)| {
            let shared = end.min(other.end).saturating_sub(start.max(other.start));
            *aligned > candidate.aligned + 1e-9 && 2 * shared > end - start
        });
        if candidate.hit.class == Class::Contaminated && is_explained {
            candidate.hit.class = Class::Template;
        }
        (item, candidate.hit)
    });
    hits.collect()
}

fn distinct(grams: &[(usize, u32)]) -> usize {
    grams
        .iter()
        .map(|(_, gram)| gram)
        .collect::<BTreeSet<_>>()
        .len()
}

/// Whether a question has too little to be decided without its options.
fn is_short(part: &Part) -> bool {
    part.words.len() < 8 || part.content.len() < 5 || part.is_bare_statement()
}

/// Aligns a part with the place where a cluster of its n-grams lies.
fn align(part: &Part, document: Document<'_>, cluster: &[(usize, u32)]) -> Alignment {
    let words = part.words.len();
    let place = |(at, gram): (usize, u32)| {
        let of_part = part.grams.iter().position(|other| *other == gram);
        (at, of_part.unwrap_or(0))
    };
    let slack = 10 + words / 10;
    let (first, of_first) = place(cluster[0]);
    let (last, of_last) = place(cluster[cluster.len() - 1]);
    let start = first.saturating_sub(of_first + slack);
    let end = (last + words - of_last + slack).min(document.words.len());
    Alignment::of(&part.numbers, document.numbers, start..end)
}

/// The end of the options, if two of them and three of five, with four words in all, stand as they are in the words behind the
/// question, or right before it.
fn options_end(variant: &Variant, words: &Words, question: &Range<usize>) -> Option<usize> {
    const BEFORE: usize = 20;
    let options: Vec<Words> = variant
        .options
        .iter()
        .map(|option| Words::of(option))
        .collect();
    let all: usize = options.iter().map(Words::len).sum();
    let behind = question.end..(question.end + all * 3 / 2 + 30).min(words.len());
    let before = question.start.saturating_sub(BEFORE)..question.start;
    let (mut found, mut letters, mut end) = (0, 0, 0);
    for option in options.iter().filter(|option| option.len() > 0) {
        let at = [&behind, &before]
            .into_iter()
            .find_map(|room| find(option, words, room));
        if let Some(at) = at {
            found += 1;
            letters += option.len();
            end = end.max(at + option.len());
        }
    }
    let least = (0.6 * variant.options.len() as f64).max(2.0);
    (found as f64 >= least && letters >= 4).then_some(end)
}

/// Where all words of a text stand in a range of others.
fn find(text: &Words, words: &Words, room: &Range<usize>) -> Option<usize> {
    let last = room.end.checked_sub(text.len())?;
    (room.start..=last).find(|at| (0..text.len()).all(|i| words.word(at + i) == text.word(i)))
}

/// Whether an answer stands in the words behind the question or its options.
fn answer_follows(answer: &str, words: &Words, end: usize) -> bool {
    const BEHIND: usize = 5;
    let answer = Words::of(answer);
    let room = end..(end + BEHIND + answer.len()).min(words.len());
    answer.len() > 0 && find(&answer, words, &room).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROBE: &str = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?";

    fn record(question: &str) -> ItemRecord {
        ItemRecord {
            question: question.to_owned(),
            ..ItemRecord::default()
        }
    }

    fn contain(records: impl IntoIterator<Item = ItemRecord>) -> Contain {
        Contain::new(records, Rule::default()).unwrap()
    }

    fn classes(contain: &Contain, text: &str) -> Vec<(usize, Class)> {
        contain
            .scan(text)
            .iter()
            .map(|hit| (hit.item, hit.class))
            .collect()
    }

    /// The windows of so many words, as texts without punctuation.
    fn windows(text: &str, size: usize) -> Vec<(usize, String)> {
        let words: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        words
            .windows(size)
            .map(|window| window.join(" "))
            .enumerate()
            .collect()
    }

    /// Texts of few words, so that n-grams repeat.
    fn texts(mut state: u64, count: usize, most: u64) -> Vec<String> {
        let mut next = |end: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let mut text = |_| {
            let words = 1 + next(most);
            (0..words)
                .map(|_| format!("W{}", next(4)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        (0..count).map(&mut text).collect()
    }

    #[test]
    fn the_table_finds_the_ngrams_that_comparing_all_finds() {
        for (seed, size) in [(1, 2), (2, 3), (3, 5), (4, 7)] {
            let questions = texts(seed, 12, 30);
            let rule = Rule {
                size,
                ..Rule::default()
            };
            let contain = Contain::new(questions.iter().map(|text| record(text)), rule).unwrap();
            for document in texts(seed + 10, 20, 60) {
                let (mut words, mut found) = (Words::default(), Vec::new());
                words.read(&document);
                contain.table.find(&words, &mut Vec::new(), &mut found);
                let found: Vec<(usize, Vec<usize>)> = found
                    .iter()
                    .map(|(at, gram)| {
                        let parts = contain.table.parts(*gram).iter();
                        (*at, parts.map(|part| *part as usize).collect())
                    })
                    .collect();
                let holds = |question: &String, gram: &String| {
                    windows(question, size)
                        .iter()
                        .any(|(_, other)| other == gram)
                };
                let mut expected = Vec::new();
                for (at, gram) in windows(&document, size) {
                    // Equal questions are one part, at the place of the first.
                    let mut distinct = Vec::new();
                    for question in &questions {
                        if !distinct.contains(&question) {
                            distinct.push(question);
                        }
                    }
                    let parts = distinct
                        .iter()
                        .enumerate()
                        .filter(|(_, question)| holds(question, &gram));
                    let parts: Vec<usize> = parts.map(|(part, _)| part).collect();
                    if !parts.is_empty() {
                        expected.push((at, parts));
                    }
                }
                assert_eq!(found, expected, "{document}");
            }
        }
    }

    #[test]
    fn evidence_is_confirmed_by_the_texts() {
        let questions = texts(5, 40, 40);
        let contain = contain(questions.iter().map(|text| record(text)));
        let mut hits = 0;
        for (i, document) in texts(6, 40, 60).iter().enumerate() {
            let document = format!("{document}. {} Then: {document}", questions[i]);
            for hit in contain.scan(&document) {
                hits += 1;
                let question = &contain.items()[hit.item].question;
                let of_question: BTreeSet<String> = windows(question, 5)
                    .into_iter()
                    .map(|(_, gram)| gram)
                    .collect();
                let of_document: Vec<String> = windows(&document, 5)
                    .into_iter()
                    .map(|(_, gram)| gram)
                    .collect();
                assert_eq!(hit.ngrams, of_question.len());
                let shared = of_question
                    .iter()
                    .filter(|gram| of_document.contains(gram))
                    .count();
                assert!((1..=shared).contains(&hit.found), "{hit:?}");
                let parts = |gram: &String| {
                    let distinct: BTreeSet<&String> = questions.iter().collect();
                    distinct
                        .iter()
                        .filter(|text| windows(text, 5).iter().any(|(_, other)| other == gram))
                        .count()
                };
                for (gram, count) in &hit.rarest {
                    assert!(of_question.contains(gram) && of_document.contains(gram));
                    assert_eq!(*count, parts(gram));
                }
                // Both spans begin and end with a word that the other text has.
                let ends = |text: &str| {
                    let words = windows(text, 1);
                    [words[0].1.clone(), words[words.len() - 1].1.clone()]
                };
                assert_eq!(
                    ends(&document[hit.bytes.clone()]),
                    ends(&question[hit.item_bytes.clone()])
                );
                assert!((0.0..=1.0).contains(&hit.score));
            }
        }
        assert!(hits > 40, "{hits}");
    }

    #[test]
    fn whoever_asks_is_contaminated_and_whoever_states_is_not() {
        let contain = contain([record(ROBE)]);
        let asks = [
            format!("Our reader wrote: {ROBE} We do not know."),
            ROBE.to_uppercase().replace([',', '.'], ""),
            ROBE.split(' ').collect::<Vec<_>>().join("\n> "),
            ROBE.replace(' ', "&#32;").replace('?', "&#63;"),
            ROBE.replace("blue fiber", "green wool"),
        ];
        for text in asks {
            assert_eq!(
                classes(&contain, &text),
                [(0, Class::Contaminated)],
                "{text}"
            );
        }
        let states = [
            "A robe takes 2 bolts of blue fiber and half that much white fiber. That makes 3 bolts in total.",
            "A robe takes 2 bolts of blue fiber and half that much white fiber. It was sold at the market. How many were sold?",
            "A robe takes 4 bolts of blue fiber and half that much white fiber.",
        ];
        for text in states {
            assert!(
                classes(&contain, text)
                    .iter()
                    .all(|(_, class)| *class != Class::Contaminated),
                "{text}"
            );
        }
        assert_eq!(classes(&contain, "A robe takes 2 bolts."), []);
    }

    #[test]
    fn what_many_items_share_is_their_template() {
        let nouns = [
            "rose", "lily", "tulip", "daisy", "aster", "iris", "peony", "lotus", "poppy", "clover",
        ];
        let frame = "Read the following short text with care and then answer in one word";
        let ask = |noun: &str| {
            format!(
                "{frame}: how often did the old {noun} of our {noun} farm near {noun} hill open its {noun} flowers?"
            )
        };
        let contain = contain(nouns.map(|noun| record(&ask(noun))));
        let page = format!(
            "{frame}, as we were taught at school: how often did the old hop open? Nobody knew."
        );
        assert_eq!(classes(&contain, &page), []);
        let found = classes(&contain, &ask("lily"));
        assert_eq!(found, [(1, Class::Contaminated)]);
    }

    #[test]
    fn a_passage_alone_is_no_contamination() {
        let passage = "Four score and seven years ago our fathers brought forth on this continent a new nation conceived in liberty";
        let question = "According to the speaker in this text, on what idea was the nation of his fathers founded?";
        let record = ItemRecord {
            passage: passage.to_owned(),
            answer: "Liberty".to_owned(),
            ..record(question)
        };
        let contain = contain([record]);
        let hits = contain.scan(&format!("He began: {passage}."));
        assert_eq!(
            (hits[0].class, &hits[0].parts[..]),
            (Class::Passage, &[ItemPart::Passage][..])
        );
        let hits = contain.scan(&format!("{passage}.\n\n{question}\nLiberty"));
        let parts = [ItemPart::Question, ItemPart::Passage, ItemPart::Answer];
        assert_eq!(
            (hits[0].class, &hits[0].parts[..]),
            (Class::Contaminated, &parts[..])
        );
    }

    #[test]
    fn open_sentences_need_options_or_the_end_of_the_line() {
        let options = [
            "the heart of the cell",
            "a wall of the cell",
            "a store of sugar",
            "a kind of virus",
        ];
        let question =
            "In the cells of plants and animals the organelle that holds most of the genes is";
        let contain = contain([ItemRecord {
            options: options.map(str::to_owned).to_vec(),
            answer: options[0].to_owned(),
            ..record(question)
        }]);
        let listed = options.map(|option| format!("- {option}")).join("\n");
        for (text, class) in [
            (
                format!("{question} the nucleus, which divides first."),
                Class::Short,
            ),
            (format!("{question} {}", options[0]), Class::Short),
            (format!("{question}\n{listed}"), Class::Contaminated),
            (format!("{question}:\n\nNext"), Class::Contaminated),
        ] {
            assert_eq!(classes(&contain, &text), [(0, class)], "{text}");
        }
    }

    #[test]
    fn rules_out_of_range_are_refused() {
        let rules = [(1, 0.7), (33, 0.7), (5, 0.0), (5, 1.5), (5, f64::NAN)];
        for (size, threshold) in rules {
            let rule = Rule {
                size,
                threshold,
                ..Rule::default()
            };
            assert!(Contain::new([record("Why?")], rule).is_err());
        }
        assert!(Contain::new([], Rule::default()).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_scanned(
            question in r"([a-cA]{1,2}[ ,.?_\u{85}\u{2003}:\n]{1,3}){1,12}(__|\?|[.]|)", before in r"[a-cé\u{85}\u{A0}&;<br>?._ \n]{0,20}", after in r"[a-c(\x22?._ \n-]{0,20}",
        ) {
            let options = vec!["a b c".to_owned(), String::new(), "?".to_owned()];
            let record = ItemRecord { options, answer: "a".to_owned(), passage: "a b a b a b".to_owned(), ..record(&question) };
            let other = ItemRecord { passage: String::new(), ..record.clone() };
            let contain = contain([record, other]);
            for text in [format!("{before}{question}{after}"), question.clone() + &question] {
                for hit in contain.scan(&text) {
                    proptest::prop_assert!(text.get(hit.bytes.clone()).is_some_and(|text| !text.is_empty()));
                    proptest::prop_assert!(hit.found <= hit.ngrams);
                }
            }
        }
    }
}
