//! The parts of all items: reads their words on all threads, and finds equal ones.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::by_hash::ByHash;
use super::class::{Rule, RuleOf};

use super::items::{Item, have_same_signs, number};
use super::part::{Kind, Part, Question, SHORT, weight};
use super::vocabulary::Vocabulary;
use super::word_hashes::WordHashes;
use super::words::{PlainText, Words};
use crate::error::Result;
use crate::simd::Isa;

/// Options that lead to an item: each of them stands where the item is.
const LEADING: usize = 2;

/// N-grams of these options below which they are indexed in each usual layout.
const FEW_NGRAMS: usize = 4;

/// The parts of an item.
#[derive(Debug, Default)]
pub(super) struct OfItem {
    pub(super) question: usize,
    pub(super) passage: Option<usize>,
    /// Its answers behind the question, for a rule that compares them.
    pub(super) answers: Vec<usize>,
}

/// A part of an item, whose words have no numbers yet.
pub(super) struct ReadPart {
    kind: Kind,
    text: Arc<str>,
    escapes: PlainText,
    /// Where the words begin in the text without escapes, and their hashes.
    words: Vec<(usize, u64)>,
    is_bare_statement: bool,
}

impl ReadPart {
    /// The parts of an item: the question first.
    pub(super) fn all_of(item: &Item, rule: Rule, words: &mut WordHashes) -> Vec<Self> {
        let passage = (!item.passage.is_empty()).then(|| (Kind::Passage, item.passage.clone()));
        let answers = behind_question(item, rule).map(|text| (Kind::Answer, text.into()));
        let texts = [(Kind::Question, item.question.clone())].into_iter();
        let texts = texts.chain(passage).chain(answers);
        let read = texts.map(|(kind, text)| ReadPart::of(kind, text, words));
        let mut read: Vec<Self> = read.collect();
        let few = weight(&item.question, read[0].words.len()) < SHORT;
        let needs_options = few || !item.passage.is_empty();
        if rule.of.weighs_evidence() && needs_options {
            for text in with_options(item, rule.size) {
                read.push(ReadPart::of(Kind::Options, text.into(), words));
            }
        }
        read
    }

    fn of(kind: Kind, text: Arc<str>, words: &mut WordHashes) -> Self {
        let mut escapes = PlainText::default();
        words.read(Isa::best(), escapes.read(&text));
        let starts = words.starts.iter().copied();
        let count = words.starts.len();
        ReadPart {
            kind,
            words: starts.zip(words.hashes.iter().copied()).collect(),
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
            .map(|it| (Words::of(it).len() + 1).saturating_sub(size));
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
    pub(super) of_items: Vec<OfItem>,
    /// Bytes of their texts, equal ones each time.
    pub(super) bytes: usize,
    of_words: ByHash,
}

impl Parts {
    /// Adds the parts of the next item, whose number is `item`.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for 2^32 parts.
    pub(super) fn add(&mut self, item: u32, parts: Vec<ReadPart>) -> Result<()> {
        let mut of_item = OfItem::default();
        for read in parts {
            let kind = read.kind;
            self.bytes += read.text.len();
            if kind == Kind::Options {
                let mut part = self.part(read);
                part.items.push(item);
                self.options.push(part);
                continue;
            }
            let part = self.add_part(read)?;
            self.parts[part].items.push(item);
            match kind {
                Kind::Question => of_item.question = part,
                Kind::Passage => of_item.passage = Some(part),
                Kind::Answer => of_item.answers.push(part),
                Kind::Options => {}
            }
        }
        self.of_items.push(of_item);
        Ok(())
    }

    /// Adds a part, unless there is an equal one. Returns its number.
    fn add_part(&mut self, read: ReadPart) -> Result<usize> {
        let part = self.part(read);
        let hash = xxh3_64(bytemuck::cast_slice(&part.numbers));
        let is_same = |other: u32| {
            let other = &self.parts[other as usize];
            other.kind == part.kind
                && other.numbers == part.numbers
                && have_same_signs(&other.text, &part.text)
        };
        if let Some(part) = self.of_words.find(hash, is_same) {
            return Ok(part as usize);
        }
        let number = number(self.parts.len())?;
        self.of_words.add(hash, number);
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
            is_bare_statement,
        } = read;
        let plain = escapes.plain(&text);
        let words = words.into_iter();
        let numbers = words.map(|(start, hash)| self.vocabulary.add(hash, plain, start));
        let numbers: Vec<u32> = numbers.collect();
        Part::new(kind, text, is_bare_statement, numbers)
    }
}

/// For a rule that compares answers: each answer behind the last words of the question, so that every n-gram has a word of it.
fn behind_question(item: &Item, rule: Rule) -> impl Iterator<Item = String> {
    let answers = item.variants.iter().flat_map(|variant| &variant.answers);
    let answers = answers.filter(move |_| rule.of == RuleOf::Datatrove);
    answers.map(move |answer| {
        let question = Words::of(&item.question);
        let words: Vec<&str> = question.iter().collect();
        let last = &words[words.len().saturating_sub(rule.size - 1)..];
        format!("{} {answer}", last.join(" "))
    })
}
