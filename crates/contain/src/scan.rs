//! Finds items in a document.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use rayon::prelude::*;

use crate::class::{Class, Hit, Rule};
use crate::document::Document;
use crate::findings::Findings;
use crate::items::{ITEMS, Item, ItemRecord, groups};
use crate::options::tells_options_apart;
use crate::part::{Commonness, Kind, OWN, Part, TEMPLATE};
use crate::parts::{ItemParts, Parts};
use crate::table::{Table, TableSearch};
use crate::vocabulary::Vocabulary;
use crate::words::{PlainText, Words};
use simgpu::clock::in_parallel;
use simgpu::error::{Error, Result};
use simgpu::pipeline::Mixed;

/// The most bytes of all questions and passages: numbers of words and n-grams have 32 bits.
const MOST_BYTES: usize = u32::MAX as usize;

/// Finds items of benchmarks in documents: which document asks which question.
///
/// ```
/// use simgpu_contain::{Class, Contain, ItemRecord, Rule};
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
    pub(super) item_parts: Vec<ItemParts>,
    pub(super) table: Table,
    /// N-grams that count as those of a template.
    pub(super) ignored: BTreeSet<u32>,
    /// The rarest n-grams of questions that are all template, which are compared where a document has one of these.
    leads: HashMap<u32, Vec<u32>, BuildHasherDefault<Mixed>>,
    pub(super) vocabulary: Vocabulary,
}

/// Memory that is used again from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    plain: PlainText,
    search: TableSearch,
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
        let (items, all) = Parts::read(groups(records)?, rule)?;
        let Parts {
            vocabulary,
            mut parts,
            options,
            item_parts,
            bytes,
            ..
        } = all;
        parts.extend(options);
        if bytes > MOST_BYTES {
            return Err(Error::Parameter {
                name: ITEMS,
                value: format!("{bytes} bytes of text"),
                expected: "less than 4 GiB".to_owned(),
            });
        }
        let table = Table::new(&mut parts, &vocabulary, rule.size);
        let mut contain = Contain {
            items,
            rule,
            parts,
            item_parts,
            table,
            ignored: BTreeSet::new(),
            leads: HashMap::default(),
            vocabulary,
        };
        contain.complete_parts();
        Ok(contain)
    }

    /// Completes the parts, when it is known which n-grams open candidates.
    fn complete_parts(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        let complete = |part: &mut Part| part.complete(self.rule, |gram| self.commonness(gram));
        in_parallel(|| parts.par_iter_mut().for_each(complete));
        self.parts = parts;
        self.find_leads();
    }

    /// Finds the leads to questions that are all template, and which of these are an instruction that many questions contain.
    fn find_leads(&mut self) {
        const LEADS: usize = 2;
        self.leads.clear();
        let mut instructions = Vec::new();
        for (number, part) in (0u32..).zip(&self.parts) {
            let is_led = part.kind == Kind::Question && part.is_template && !part.is_short();
            if !is_led || !self.rule.of.weighs_evidence() {
                continue;
            }
            let mut grams = part.distinct_grams();
            grams.retain(|gram| !self.ignored.contains(gram));
            grams.sort_by_key(|gram| self.table.parts(*gram).len());
            grams.truncate(LEADS);
            let Some(rarest) = grams.first() else {
                continue;
            };
            let others = self
                .table
                .parts(*rarest)
                .iter()
                .map(|other| &self.parts[*other as usize]);
            let contains = |other: &&Part| {
                let mut windows = other.numbers.windows(part.len());
                other.len() > part.len() && windows.any(|window| window == part.numbers)
            };
            if others.filter(contains).nth(TEMPLATE).is_some() {
                instructions.push(number as usize);
            }
            for gram in grams {
                self.leads.entry(gram).or_default().push(number);
            }
        }
        for number in instructions {
            self.parts[number].is_instruction = true;
        }
    }

    /// Ignores phrases: their n-grams count as those of a template, which open no hit and are no evidence.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a phrase with fewer words than an n-gram.
    pub fn with_ignored<'a>(mut self, phrases: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let (mut plain, mut search) = (PlainText::default(), TableSearch::default());
        for phrase in phrases {
            let words = Words::read(phrase);
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

    /// Whether an item can be found as contaminated where a document holds all of it. Its question suffices if it has 8 words,
    /// 5 of them outside the template, is no bare statement, and has enough n-grams of its own, or if it has 20 words that are
    /// not only an instruction of many items; else its passage or its options must tell it. An item whose words many records
    /// share, so that only their signs differ, is never found. By a rule of others, whether it has an n-gram.
    pub fn is_decidable(&self, item: usize) -> bool {
        let Some(parts) = self.item_parts.get(item) else {
            return false;
        };
        if !self.rule.of.weighs_evidence() {
            return self.has_ngrams(parts);
        }
        let part = &self.parts[parts.question];
        let item = &self.items[item];
        let has_options = || item.variants.iter().any(tells_options_apart);
        if item.is_shared() {
            return false;
        }
        match parts.passage {
            Some(passage) => !self.parts[passage].is_template || has_options(),
            None if part.is_short() => has_options(),
            None => !part.is_template || part.is_told_verbatim() || has_options(),
        }
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
        let TableSearch {
            words,
            numbers,
            found,
            ..
        } = search;
        let mut findings = Findings::default();
        let grams_by_part = self.grams_by_part(found);
        if grams_by_part.is_empty() {
            return findings;
        }
        let document = Document::new(text, plain, words, numbers, &self.vocabulary);
        if !self.rule.of.weighs_evidence() {
            return self.overlaps(document, &grams_by_part);
        }
        let is_candidate = |(part, grams): &(usize, Grams)| {
            let part = &self.parts[*part];
            self.is_candidate(part, grams)
        };
        if grams_by_part.iter().any(is_candidate) {
            findings = self.decide(document, &grams_by_part, found);
        }
        let asked = findings.hits.iter();
        let asked: Vec<&Hit> = asked
            .filter(|hit| hit.class == Class::Contaminated)
            .collect();
        let is_asked = |at: usize| {
            let mut places = asked.iter().flat_map(|hit| hit.places());
            places.any(|bytes| bytes.contains(&document.start(at)))
        };
        let opens = |gram: u32| self.opens(gram) && !self.table.parts(gram).is_empty();
        let grams = found
            .iter()
            .filter(|(at, gram)| opens(*gram) && !is_asked(*at));
        findings.grams = grams.map(|(_, gram)| *gram).collect();
        findings.grams.sort_unstable();
        findings.grams.dedup();
        findings
    }

    /// Finds the n-grams of items in a text without escapes.
    pub(super) fn find(&self, plain: &str, search: &mut TableSearch) {
        self.table
            .find(plain, &self.parts, &self.vocabulary, search);
    }

    /// How many parts share an n-gram. Rules of others know no template.
    fn commonness(&self, gram: u32) -> Commonness {
        if self.ignored.contains(&gram) {
            return Commonness::Template;
        }
        self.commonness_among(self.table.parts(gram))
    }

    /// How many parts share an n-gram that these have, which is not ignored.
    fn commonness_among(&self, parts: &[u32]) -> Commonness {
        match parts.len() {
            ..=OWN => Commonness::Own,
            parts if parts > TEMPLATE && self.rule.of.weighs_evidence() => Commonness::Template,
            _ => Commonness::Few,
        }
    }

    /// Whether an n-gram opens a candidate: it is no template, and nothing says to ignore it.
    fn opens(&self, gram: u32) -> bool {
        self.commonness(gram) != Commonness::Template
    }

    pub(super) fn is_own(&self, gram: u32) -> bool {
        self.commonness(gram) == Commonness::Own
    }

    /// The n-grams of each part that open a candidate, in order, and all n-grams of parts that a lead or options lead to.
    fn grams_by_part(&self, found: &[(usize, u32)]) -> Vec<(usize, Grams)> {
        /// N-grams of more questions with options than this lead to none of them.
        const SHARED: usize = 64;
        let mut all: Vec<(u32, usize, u32)> = Vec::new();
        let mut led = BTreeSet::new();
        for (at, gram) in found {
            let (parts, options) = self.table.parts_and_options(*gram);
            let is_ignored = self.ignored.contains(gram);
            if !is_ignored && self.commonness_among(parts) != Commonness::Template {
                all.extend(parts.iter().map(|part| (*part, *at, *gram)));
            }
            led.extend(self.leads.get(gram).into_iter().flatten().copied());
            if !is_ignored && options.len() <= SHARED {
                all.extend(options.iter().map(|part| (*part, *at, *gram)));
            }
        }
        all.retain(|(part, ..)| !led.contains(part));
        if !led.is_empty() {
            let places = GramPlaces::new(found);
            for part in led {
                let grams = places.in_part(&self.parts[part as usize]).into_iter();
                all.extend(grams.map(|(at, gram)| (part, at, gram)));
            }
        }
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
            Kind::Question if part.is_template => distinct >= 0.8 * part.distinct as f64,
            Kind::Question => distinct >= part.least_grams(),
            Kind::Options => distinct >= 2.0 || distinct >= part.distinct as f64,
            Kind::Passage => distinct >= (0.1 * part.rare as f64).max(4.0),
            Kind::Answer => false,
        }
    }
}

/// Where the n-grams found are, by n-gram.
pub(crate) struct GramPlaces(Vec<(u32, usize)>);

impl GramPlaces {
    pub(super) fn new(found: &[(usize, u32)]) -> Self {
        let mut places: Vec<(u32, usize)> = found.iter().map(|(at, gram)| (*gram, *at)).collect();
        places.sort_unstable();
        GramPlaces(places)
    }

    /// Those that a part has, template or not, in order.
    pub(super) fn in_part(&self, part: &Part) -> Grams {
        let grams = part.distinct_grams().into_iter();
        let mut found: Grams = grams
            .flat_map(|gram| {
                let first = self.0.partition_point(|(of, _)| *of < gram);
                let same = self.0[first..]
                    .iter()
                    .take_while(move |(of, _)| *of == gram);
                same.map(|(gram, at)| (*at, *gram))
            })
            .collect();
        found.sort_unstable();
        found
    }
}

/// The number of distinct n-grams.
pub(super) fn distinct(grams: &[(usize, u32)]) -> usize {
    let mut grams: Vec<u32> = grams.iter().map(|(_, gram)| *gram).collect();
    grams.sort_unstable();
    grams.dedup();
    grams.len()
}
