//! Finds items in a document.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::class::{Class, Hit, Rule};
use super::document::Document;
use super::findings::Findings;
use super::items::{ITEMS, Item, ItemRecord, items_of};
use super::part::{Kind, OWN, Part, TEMPLATE};
use super::parts::{OfItem, Parts, ReadPart};
use super::table::{Search, Table};
use super::vocabulary::Vocabulary;
use super::word_hashes::WordHashes;
use super::words::{PlainText, Words};
use crate::clock::in_parallel;
use crate::error::{Error, Result};

/// The most bytes of all questions and passages: numbers of words and n-grams have 32 bits.
const MOST_BYTES: usize = u32::MAX as usize;

/// Items whose words are read at a time.
const BATCH: usize = 1 << 12;

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
    pub(super) items: Vec<Item>,
    pub(super) rule: Rule,
    pub(super) parts: Vec<Part>,
    pub(super) of_items: Vec<OfItem>,
    pub(super) table: Table,
    /// N-grams that count as those of a template.
    pub(super) ignored: BTreeSet<u32>,
    pub(super) vocabulary: Vocabulary,
}

/// Memory that is used again from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    plain: PlainText,
    search: Search,
}

/// N-grams of a part in a document: their first words there, and their numbers.
pub(super) type Grams = Vec<(usize, u32)>;

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
        let mut all = Parts::default();
        for (batch, first) in items.chunks(BATCH).zip((0u32..).step_by(BATCH)) {
            let read = |words: &mut _, item| ReadPart::all_of(item, rule, words);
            let read = batch.par_iter().map_init(WordHashes::default, read);
            let read: Vec<Vec<ReadPart>> = in_parallel(|| read.collect());
            for (number, parts) in (first..).zip(read) {
                all.add(number, parts)?;
            }
        }
        let Parts {
            vocabulary,
            mut parts,
            of_items,
            bytes,
            ..
        } = all;
        if bytes > MOST_BYTES {
            return Err(Error::Parameter {
                name: ITEMS,
                value: format!("{bytes} bytes of text"),
                expected: "less than 4 GiB".to_owned(),
            });
        }
        let table = Table::of(&mut parts, &vocabulary, rule.size);
        let mut contain = Contain {
            items,
            rule,
            parts,
            of_items,
            table,
            ignored: BTreeSet::new(),
            vocabulary,
        };
        contain.complete_parts();
        Ok(contain)
    }

    /// Completes the parts, when it is known which n-grams open candidates.
    fn complete_parts(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        let complete = |part: &mut Part| part.complete(self.rule.size, |gram| !self.opens(gram));
        in_parallel(|| parts.par_iter_mut().for_each(complete));
        self.parts = parts;
    }

    /// Ignores phrases: their n-grams count as those of a template, which open no hit and are no evidence.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a phrase with fewer words than an n-gram.
    pub fn with_ignored<'a>(mut self, phrases: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let (mut plain, mut search) = (PlainText::default(), Search::default());
        for phrase in phrases {
            let words = Words::of(phrase);
            if words.len() < self.rule.size {
                return Err(Error::Parameter {
                    name: "`ignore`",
                    value: format!("{phrase:?}"),
                    expected: format!("phrases of at least {} words", self.rule.size),
                });
            }
            self.find(plain.read(phrase), &mut search);
            self.ignored
                .extend(search.found.iter().map(|(_, gram)| *gram));
        }
        self.complete_parts();
        Ok(self)
    }

    /// The items, in the order of their first records.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether an item can be found as contaminated by its question alone: it has 8 words, 5 of them outside the template, is
    /// no bare statement, and has enough n-grams of its own. By a rule of others, whether it has an n-gram.
    pub fn is_decidable(&self, item: usize) -> bool {
        let Some(of_item) = self.of_items.get(item) else {
            return false;
        };
        if !self.rule.of.weighs_evidence() {
            return self.has_ngrams(of_item);
        }
        let part = &self.parts[of_item.question];
        let own = part.distinct_grams().into_iter();
        let own = own.filter(|gram| self.is_own(*gram));
        !part.is_short() && own.count() >= self.rule.min_ngrams
    }

    /// The number of distinct n-grams.
    pub fn ngrams(&self) -> usize {
        self.table.len()
    }

    /// Finds the items in a document, by the number of the item; each once, at the place where most of it is, with further places.
    pub fn scan(&self, text: &str) -> Vec<Hit> {
        self.read(text, &mut Scratch::default()).hits
    }

    /// The same, with memory that is used again and with what counts for public phrases: see
    /// [`Spread::add`](super::Spread::add).
    pub fn read(&self, text: &str, scratch: &mut Scratch) -> Findings {
        let Scratch { plain, search } = scratch;
        self.find(plain.read(text), search);
        let Search {
            words,
            numbers,
            found,
            ..
        } = search;
        found.retain(|(_, gram)| self.opens(*gram));
        let mut findings = Findings::default();
        if found.is_empty() {
            return findings;
        }
        let by_part = self.by_part(found);
        let document = Document::new(text, plain, (words, numbers), &self.vocabulary);
        if !self.rule.of.weighs_evidence() {
            return self.overlaps(document, &by_part);
        }
        let is_candidate = |(part, grams): &(usize, Grams)| {
            let part = &self.parts[*part];
            self.is_candidate(part, grams)
        };
        if by_part.iter().any(is_candidate) {
            findings = self.decide(document, &by_part);
        }
        let asked = findings.hits.iter();
        let asked: Vec<&Hit> = asked
            .filter(|hit| hit.class == Class::Contaminated)
            .collect();
        let is_asked = |at: usize| {
            let mut places = asked.iter().flat_map(|hit| hit.places());
            places.any(|bytes| bytes.contains(&document.start(at)))
        };
        let grams = found.iter().filter(|(at, _)| !is_asked(*at));
        findings.grams = grams.map(|(_, gram)| *gram).collect();
        findings.grams.sort_unstable();
        findings.grams.dedup();
        findings
    }

    /// Finds the n-grams of items in a text without escapes.
    pub(super) fn find(&self, plain: &str, search: &mut Search) {
        self.table
            .find(plain, (&self.parts, &self.vocabulary), search);
    }

    /// Whether an n-gram opens a candidate: it is no template, which rules of others do not know, and nothing says to ignore
    /// it.
    fn opens(&self, gram: u32) -> bool {
        let is_template = || self.table.parts(gram).len() > TEMPLATE;
        !(self.ignored.contains(&gram) || self.rule.of.weighs_evidence() && is_template())
    }

    pub(super) fn is_own(&self, gram: u32) -> bool {
        self.table.parts(gram).len() <= OWN && self.opens(gram)
    }

    /// The n-grams of each part that open a candidate, in order.
    fn by_part(&self, found: &[(usize, u32)]) -> Vec<(usize, Grams)> {
        let mut all: Vec<(u32, usize, u32)> = found
            .iter()
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
    pub(super) fn is_candidate(&self, part: &Part, grams: &[(usize, u32)]) -> bool {
        let distinct = distinct(grams) as f64;
        match part.kind {
            Kind::Question => distinct >= part.least_grams(),
            Kind::Passage => distinct >= (0.1 * part.rare as f64).max(4.0),
            Kind::Answer => false,
        }
    }
}

/// The number of distinct n-grams.
pub(super) fn distinct(grams: &[(usize, u32)]) -> usize {
    let mut grams: Vec<u32> = grams.iter().map(|(_, gram)| *gram).collect();
    grams.sort_unstable();
    grams.dedup();
    grams.len()
}
