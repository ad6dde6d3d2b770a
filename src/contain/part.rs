//! The parts of items: distinct questions and distinct passages, with what of a question asks.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::items::Item;
use super::sentences::{Asks, IMPERATIVES, WH, asking};
use super::words::Words;

/// N-grams of more parts than this are the template of a benchmark: they open no candidate.
pub(super) const TEMPLATE: usize = 8;

/// N-grams of at most so many parts are a part's own.
pub(super) const OWN: usize = 2;

/// Which part of an item a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Question,
    Passage,
    /// The last words of a question with an answer behind them, for a rule of others.
    Answer,
}

/// A distinct question, or a distinct passage.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// Its words, once a document holds some of them.
    words: OnceLock<Words>,
    /// The numbers of the words.
    pub(super) numbers: Vec<u32>,
    /// The items that have it.
    pub(super) items: Vec<u32>,
    /// The n-gram that begins with each word.
    pub(super) grams: Vec<u32>,
    /// The number of distinct n-grams.
    pub(super) distinct: usize,
    /// Words outside the template.
    pub(super) content: Vec<usize>,
    /// N-grams that open a candidate.
    pub(super) rare: usize,
    /// Words that documents with most of the question lack: all but a public phrase. Empty where none is known.
    pub(super) rest: Vec<usize>,
    pub(super) question: Question,
}

/// What of a question asks.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) asks: Asks,
    /// The words of the asking sentence.
    pub(super) sentence: Vec<usize>,
    /// Those of them that ask.
    pub(super) asking: Vec<usize>,
    /// The first word behind a blank, if there is one.
    pub(super) blank: Option<usize>,
    /// The words of options and answers.
    pub(super) answers: BTreeSet<String>,
}

impl Question {
    pub(super) fn of(text: &str, words: &Words) -> Self {
        let (bytes, mut asks) = asking(text);
        let within = |i: &usize| {
            let span = words.span(*i);
            span.start < bytes.end && span.end > bytes.start
        };
        let sentence: Vec<usize> = (0..words.len()).filter(within).collect();
        let asking = sentence.iter().copied().filter(|i| {
            let word = words.word(*i);
            WH.contains(&word) || IMPERATIVES.contains(&word) || word == "following"
        });
        let asking: Vec<usize> = asking.collect();
        let behind = |blank: usize| (0..words.len()).find(|i| words.span(*i).start > blank);
        let blank = text.find("__");
        let blank = blank.map(|blank| behind(blank).unwrap_or(words.len()));
        if blank == Some(words.len()) && (asks == Asks::Words || asking.is_empty()) {
            // A blank at the end makes an open sentence.
            asks = Asks::Open;
        }
        Question {
            asks,
            sentence,
            asking,
            blank,
            answers: BTreeSet::new(),
        }
    }
}

impl Part {
    pub(super) fn new(kind: Kind, text: String, question: Question, numbers: Vec<u32>) -> Self {
        Part {
            kind,
            question,
            text,
            words: OnceLock::new(),
            numbers,
            items: Vec::new(),
            grams: Vec::new(),
            distinct: 0,
            content: Vec::new(),
            rare: 0,
            rest: Vec::new(),
        }
    }

    /// The words, in memory from the first call on.
    pub(super) fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(&self.text))
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of n-grams of so many words, equal ones each time.
    pub(super) fn places(&self, size: usize) -> usize {
        (self.len() + 1).saturating_sub(size)
    }

    /// Completes the part when all n-grams are known. `is_template` says which ones many parts share.
    pub(super) fn complete(&mut self, size: usize, is_template: impl Fn(u32) -> bool) {
        let mut distinct = self.grams.clone();
        distinct.sort_unstable();
        distinct.dedup();
        self.distinct = distinct.len();
        self.rare = distinct.iter().filter(|gram| !is_template(**gram)).count();
        let mut is_frame = vec![self.grams.is_empty(); self.len()];
        for (at, gram) in self.grams.iter().enumerate() {
            if is_template(*gram) {
                is_frame[at..at + size].fill(true);
            }
        }
        self.content = (0..self.len()).filter(|i| !is_frame[*i]).collect();
    }

    /// Adds the words of options and answers to a question.
    pub(super) fn add_answers(&mut self, items: &[Item]) {
        const BEGINNING: usize = 12;
        if self.kind != Kind::Question {
            return;
        }
        let variants = self
            .items
            .iter()
            .flat_map(|item| &items[*item as usize].variants);
        for text in variants.flat_map(|variant| variant.options.iter().chain(&variant.answers)) {
            let words = Words::of(text);
            self.question
                .answers
                .extend(words.iter().take(BEGINNING).map(str::to_owned));
        }
    }

    /// How many distinct n-grams lie together in a candidate.
    pub(super) fn least_grams(&self) -> f64 {
        /// The least share of the question's n-grams.
        const FLOOR: f64 = 0.05;
        let distinct = self.distinct as f64;
        (FLOOR * distinct).max(2.0).min(distinct)
    }

    /// Whether it is a short statement that asks nothing.
    pub(super) fn is_bare_statement(&self) -> bool {
        let question = &self.question;
        let ends = self.text.trim_end().ends_with(['.', '!']);
        question.asks == Asks::Open && question.blank.is_none() && ends && self.len() < 12
    }

    /// Whether it has too little to be decided without its options.
    pub(super) fn is_short(&self) -> bool {
        self.len() < 8 || self.content.len() < 5 || self.is_bare_statement()
    }
}
