//! The parts of all items: reads their words on all threads, and finds equal ones.

use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::class::{Rule, RuleOf};
use crate::hash_numbers::HashNumbers;

use crate::items::{Item, ItemRecord, Items, have_same_signs, number};
use crate::part::{Kind, Part, Question, weight};
use crate::vocabulary::Vocabulary;
use crate::word_hashes::WordHashes;
use crate::words::{PlainText, Words};
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu::simd::Isa;

/// Items whose words are read at a time.
const BATCH: usize = 1 << 12;

/// Options that lead to an item: each of them stands where the item is.
const LEADING: usize = 2;

/// N-grams of these options below which they are indexed in each usual layout.
const FEW_NGRAMS: usize = 4;

/// The parts of an item.
#[derive(Debug, Default)]
pub(super) struct ItemParts {
    pub(super) question: usize,
    pub(super) passage: Option<usize>,
    /// Its answers behind the question, for a rule that compares them.
    pub(super) answers: Vec<usize>,
}

/// A part of an item, whose words have no numbers yet.
struct ReadPart {
    kind: Kind,
    text: Arc<str>,
    escapes: PlainText,
    /// Where the words begin in the text without escapes, and their hashes.
    words: Vec<(usize, u64)>,
    /// A hash of the words.
    hash: u64,
    weight: usize,
    is_bare_statement: bool,
}

/// A group of records that may be a new item.
struct ReadGroup {
    records: Vec<ItemRecord>,
    question: ReadPart,
    passage: Option<ReadPart>,
}

impl ReadGroup {
    fn new(mut records: Vec<ItemRecord>, words: &mut WordHashes) -> Self {
        let texts = records.first_mut().map(|first| {
            [&mut first.question, &mut first.passage].map(|text| std::mem::take(text).into())
        });
        let [question, passage]: [Arc<str>; 2] = texts.unwrap_or_default();
        let mut read = |kind, text| ReadPart::new(kind, text, words);
        ReadGroup {
            records,
            question: read(Kind::Question, question),
            passage: (!passage.is_empty()).then(|| read(Kind::Passage, passage)),
        }
    }

    /// The texts of question and passage.
    fn texts(&self) -> [Arc<str>; 2] {
        let passage = self.passage.as_ref().map(|passage| passage.text.clone());
        [self.question.text.clone(), passage.unwrap_or_default()]
    }

    /// A hash of the benchmark, and of the words of question and passage.
    fn hash(&self) -> u64 {
        let benchmark = self.records.first().map_or("", |first| &first.benchmark);
        let passage = self.passage.as_ref();
        xxh3_64(bytemuck::cast_slice(&[
            xxh3_64(benchmark.as_bytes()),
            self.question.hash,
            passage.map_or(xxh3_64(&[]), |passage| passage.hash),
        ]))
    }
}

impl ReadPart {
    /// The parts that an item has beyond its question, which may have few words, and its passage.
    fn further(item: &Item, has_few_words: bool, rule: Rule, words: &mut WordHashes) -> Vec<Self> {
        let answers = behind_question(item, rule);
        let answers = answers.map(|text| ReadPart::new(Kind::Answer, text.into(), words));
        let mut read: Vec<Self> = answers.collect();
        let needs_options = has_few_words || !item.passage.is_empty();
        if rule.of.weighs_evidence() && needs_options {
            let texts = with_options(item, rule.size);
            read.extend(texts.map(|text| ReadPart::new(Kind::Options, text.into(), words)));
        }
        read
    }

    fn new(kind: Kind, text: Arc<str>, words: &mut WordHashes) -> Self {
        let mut escapes = PlainText::default();
        words.read(Isa::best(), escapes.read(&text));
        let starts = words.starts.iter().copied();
        let count = words.starts.len();
        ReadPart {
            kind,
            words: starts.zip(words.hashes.iter().copied()).collect(),
            hash: xxh3_64(bytemuck::cast_slice(&words.hashes)),
            weight: weight(&text, count),
            is_bare_statement: kind == Kind::Question && Question::is_bare_statement(&text, count),
            escapes,
            text,
        }
    }
}

/// The question with its first options behind it: as they are, and with letters before them where the options alone have few
/// n-grams.
fn with_options(item: &Item, size: usize) -> impl Iterator<Item = String> {
    let variants = item.variants.iter();
    let variants = variants.filter(|variant| variant.options.len() >= LEADING);
    variants.flat_map(move |variant| {
        let options = &variant.options[..LEADING];
        let ngrams = options
            .iter()
            .map(|it| (Words::read(it).len() + 1).saturating_sub(size));
        let layouts = 1 + usize::from(ngrams.sum::<usize>() < FEW_NGRAMS);
        (0..layouts).map(move |layout| {
            let mut text = item.question.to_string();
            for (letter, option) in ['A', 'B'].into_iter().zip(options) {
                text.push('\n');
                if layout == 1 {
                    text.extend([letter, ' ']);
                }
                text.push_str(option);
            }
            text
        })
    })
}

/// The distinct parts of items.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) vocabulary: Vocabulary,
    pub(super) parts: Vec<Part>,
    /// Those of [`Kind::Options`].
    pub(super) options: Vec<Part>,
    pub(super) item_parts: Vec<ItemParts>,
    /// Bytes of their texts, equal ones each time.
    pub(super) bytes: usize,
    part_numbers: HashNumbers,
}

impl Parts {
    /// The items of these groups of records, and their parts.
    ///
    /// # Errors
    /// [`Error::Parameter`](simgpu::Error::Parameter) for 2^32 items or parts.
    pub(super) fn read(groups: Vec<Vec<ItemRecord>>, rule: Rule) -> Result<(Vec<Item>, Self)> {
        let (mut items, mut all) = (Items::default(), Parts::default());
        let mut groups = groups.into_iter();
        while groups.len() > 0 {
            let batch: Vec<Vec<ItemRecord>> = groups.by_ref().take(BATCH).collect();
            let read = |words: &mut _, records| ReadGroup::new(records, words);
            let read = batch.into_par_iter().map_init(WordHashes::default, read);
            let read: Vec<ReadGroup> = in_parallel(|| read.collect());
            for group in read {
                let (texts, hash) = (group.texts(), group.hash());
                if items.add(group.records, texts, hash)? {
                    all.add(group.question, group.passage)?;
                }
            }
        }
        let Items { items, .. } = items;
        for (batch, first) in items.chunks(BATCH).zip((0..).step_by(BATCH)) {
            let item_parts = all.item_parts[first..].par_iter();
            let read = |words: &mut _, (item, parts): (_, &ItemParts)| {
                let has_few_words = all.parts[parts.question].has_few_words();
                ReadPart::further(item, has_few_words, rule, words)
            };
            let zipped = batch.par_iter().zip(item_parts);
            let read = zipped.map_init(WordHashes::default, read);
            let read: Vec<Vec<ReadPart>> = in_parallel(|| read.collect());
            for (item, parts) in (first..).zip(read) {
                all.add_further(item, parts)?;
            }
        }
        Ok((items, all))
    }

    /// Adds the parts of the next item.
    fn add(&mut self, question: ReadPart, passage: Option<ReadPart>) -> Result<()> {
        let item = number(self.item_parts.len())?;
        let question = self.add_part(question, item)?;
        let passage = passage.map(|passage| self.add_part(passage, item));
        self.item_parts.push(ItemParts {
            question,
            passage: passage.transpose()?,
            answers: Vec::new(),
        });
        Ok(())
    }

    /// Adds further parts of an item.
    fn add_further(&mut self, item: usize, parts: Vec<ReadPart>) -> Result<()> {
        let number = number(item)?;
        for read in parts {
            if read.kind == Kind::Options {
                self.bytes += read.text.len();
                let mut part = self.part(read);
                part.items.push(number);
                self.options.push(part);
            } else {
                let part = self.add_part(read, number)?;
                self.item_parts[item].answers.push(part);
            }
        }
        Ok(())
    }

    /// Adds a part of an item, unless there is an equal one. Returns its number.
    fn add_part(&mut self, read: ReadPart, item: u32) -> Result<usize> {
        self.bytes += read.text.len();
        let mut part = self.part(read);
        let hash = xxh3_64(bytemuck::cast_slice(&part.numbers));
        let is_same = |other: u32| {
            let other = &self.parts[other as usize];
            other.kind == part.kind
                && other.numbers == part.numbers
                && have_same_signs(&other.text, &part.text)
        };
        if let Some(part) = self.part_numbers.find(hash, is_same) {
            self.parts[part as usize].items.push(item);
            return Ok(part as usize);
        }
        let number = number(self.parts.len())?;
        self.part_numbers.add(hash, number);
        part.items.push(item);
        self.parts.push(part);
        Ok(number as usize)
    }

    /// A part whose words have numbers.
    fn part(&mut self, read: ReadPart) -> Part {
        let ReadPart {
            kind,
            text,
            escapes,
            words,
            weight,
            is_bare_statement,
            ..
        } = read;
        let plain = escapes.plain(&text);
        let words = words.into_iter();
        let numbers = words.map(|(start, hash)| self.vocabulary.add(hash, plain, start));
        let numbers: Vec<u32> = numbers.collect();
        Part::new(kind, text, numbers, weight, is_bare_statement)
    }
}

/// For a rule that compares answers: each answer behind the last words of the question, so that every n-gram has a word of it.
fn behind_question(item: &Item, rule: Rule) -> impl Iterator<Item = String> {
    let answers = item.variants.iter().flat_map(|variant| &variant.answers);
    let answers = answers.filter(move |_| rule.of == RuleOf::Datatrove);
    answers.map(move |answer| {
        let question = Words::read(&item.question);
        let words: Vec<&str> = question.iter().collect();
        let last = &words[words.len().saturating_sub(rule.size - 1)..];
        format!("{} {answer}", last.join(" "))
    })
}
