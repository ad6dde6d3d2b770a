//! The parts of items: distinct questions and distinct passages, with what of a question asks.

use std::ops::Range;
use std::sync::Arc;

use crate::class::Rule;
use crate::docstring::docstring;
use crate::letters::is_divided;
use crate::numbers::{Token, values};
use crate::sentences::{Asks, IMPERATIVES, WH, asking, asks_here};
use crate::words::{PlainText, Words};

/// N-grams of more parts than this are the template of a benchmark: they open no candidate.
pub(super) const TEMPLATE: usize = 8;

/// N-grams of at most so many parts are a part's own.
pub(super) const OWN: usize = 2;

/// Words of a question that is long enough to be recognised without its options.
pub(super) const SHORT: usize = 8;

/// Words of a question that is long enough to be recognised word for word.
const LONG: usize = 20;

/// Words outside the template that recognise a question, at least.
pub(super) const LEAST_CONTENT: usize = 5;

/// How many parts share an n-gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commonness {
    /// At most [`OWN`].
    Own,
    /// At most [`TEMPLATE`].
    Few,
    /// More, or it is to be ignored.
    Template,
}

/// Which part of an item a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Question,
    Passage,
    /// A question with its options behind it, of an item that needs them to be recognised.
    Options,
    /// The last words of a question with an answer behind them, for a rule of others.
    Answer,
}

/// A distinct question, or a distinct passage. The rest is read again from its text where a document holds some of it:
/// [`Detail`].
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) text: Arc<str>,
    /// The numbers of the words.
    pub(super) numbers: Vec<u32>,
    /// The items that have it.
    pub(super) items: Vec<u32>,
    /// The n-gram that begins with each word.
    pub(super) grams: Vec<u32>,
    /// Where n-grams of the template begin.
    template: Vec<u32>,
    /// The number of distinct n-grams.
    pub(super) distinct: usize,
    /// The number of words outside the template.
    pub(super) content: usize,
    /// N-grams that open a candidate.
    pub(super) rare: usize,
    /// Words that documents with most of the question lack: all but a public phrase. Empty where none is known.
    pub(super) rest: Vec<usize>,
    /// The number of words, where letters of scripts without spaces count half.
    weight: usize,
    /// Whether it is a short statement that asks nothing.
    is_bare_statement: bool,
    /// Whether what is its own does not suffice to recognise it: all of it stands in many parts.
    pub(super) is_template: bool,
    /// Whether many questions contain it: an instruction.
    pub(super) is_instruction: bool,
}

/// What a document is compared with that holds some of a part.
#[derive(Debug)]
pub(super) struct Detail {
    text: Arc<str>,
    escapes: PlainText,
    /// The words, as bytes of the text without escapes.
    pub(super) words: Words,
    /// Words outside the template.
    pub(super) content: Vec<usize>,
    pub(super) question: Question,
    /// Whether the text has numbers, in figures or in words.
    pub(super) has_numbers: bool,
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
    /// The words of the docstring, if it is code to complete.
    pub(super) docstring: Option<Vec<usize>>,
}

impl Question {
    fn read(text: &str, words: &Words) -> Self {
        let within = |bytes: Range<usize>| {
            let is_within = move |i: &usize| {
                let span = words.span(*i);
                span.start < bytes.end && span.end > bytes.start
            };
            (0..words.len()).filter(is_within).collect::<Vec<usize>>()
        };
        let (bytes, mut asks) = asking(text);
        // A comment of a few words is no task.
        let found = docstring(text).filter(|found| within(found.whole.clone()).len() >= SHORT);
        // A question beside a comment of code asks by itself.
        let is_question = asks == Asks::Mark
            && found.as_ref().is_some_and(|found| {
                bytes.start >= found.whole.end || bytes.end <= found.whole.start
            });
        if let Some(found) = found
            && !is_question
        {
            let is_of_name = |word: Range<usize>| {
                let mut names = found.names.iter();
                names.any(|name| name.start <= word.start && word.end <= name.end)
            };
            let mut docstring = within(found.whole.clone());
            docstring.retain(|i| !is_of_name(words.span(*i)));
            return Question {
                asks: Asks::Open,
                sentence: within(found.description),
                asking: Vec::new(),
                blank: None,
                docstring: Some(docstring),
            };
        }
        let sentence = within(bytes);
        let mut phrase_end = 0;
        let asking = sentence.iter().copied().filter(|i| {
            let (word, start) = (words.word(*i), words.span(*i).start);
            phrase_end = phrase_end.max(start + asks_here(&text[start..]));
            start < phrase_end
                || WH.contains(&word)
                || IMPERATIVES.contains(&word)
                || word == "following"
        });
        let asking: Vec<usize> = asking.collect();
        let behind = |blank: usize| (0..words.len()).find(|i| words.span(*i).start > blank);
        let blank = find_blank(text).map(|blank| behind(blank).unwrap_or(words.len()));
        if blank == Some(words.len()) && (asks == Asks::Words || asking.is_empty()) {
            // A blank at the end makes an open sentence.
            asks = Asks::Open;
        }
        Question {
            asks,
            sentence,
            asking,
            blank,
            docstring: None,
        }
    }

    /// Whether a text with so many words is a short statement that asks nothing.
    pub(super) fn is_bare_statement(text: &str, words: usize) -> bool {
        // What asks is told last: it takes longest.
        let is_short = words < 12 && text.trim_end().ends_with(['.', '!', '。', '！']);
        is_short && {
            let question = Question::read(text, &Words::read(text));
            question.asks == Asks::Open && question.blank.is_none()
        }
    }
}

/// The number of words of a text, where letters of scripts without spaces count half.
pub(super) fn weight(text: &str, words: usize) -> usize {
    if text.is_ascii() {
        return words;
    }
    let divided = text.chars().filter(|c| is_divided(*c)).count();
    words - divided.min(words) / 2
}

/// Where a question has a blank to fill in: underscores, or empty brackets.
pub(super) fn find_blank(text: &str) -> Option<usize> {
    let brackets = text.match_indices(['(', '（']).find(|(at, bracket)| {
        let inner = &text[at + bracket.len()..];
        let rest = inner.trim_start();
        rest.starts_with('）') || rest.len() < inner.len() && rest.starts_with(')')
    });
    let brackets = brackets.map(|(at, _)| at);
    text.find("__").into_iter().chain(brackets).min()
}

impl Detail {
    /// The text without escapes.
    pub(super) fn plain(&self) -> &str {
        self.escapes.plain(&self.text)
    }

    /// A word.
    pub(super) fn token(&self, i: usize) -> Token<'_> {
        Token::new(self.words.word(i).into(), self.plain(), self.words.span(i))
    }

    /// The bytes of all words of this range, which is not empty, in the text with its escapes.
    pub(super) fn original(&self, words: Range<usize>) -> Range<usize> {
        self.escapes.original(self.words.span_of(words))
    }
}

impl Part {
    pub(super) fn new(
        kind: Kind,
        text: Arc<str>,
        numbers: Vec<u32>,
        weight: usize,
        is_bare_statement: bool,
    ) -> Self {
        Part {
            kind,
            text,
            numbers,
            items: Vec::new(),
            grams: Vec::new(),
            template: Vec::new(),
            distinct: 0,
            content: 0,
            rare: 0,
            rest: Vec::new(),
            weight,
            is_bare_statement,
            is_template: false,
            is_instruction: false,
        }
    }

    /// What a document is compared with. `size` is that of n-grams.
    pub(super) fn detail(&self, size: usize) -> Detail {
        let mut escapes = PlainText::default();
        let plain = escapes.read(&self.text);
        let words = Words::read_plain(plain);
        let question = Question::read(plain, &words);
        let content = self.content(size);
        let content = match &question.docstring {
            // Another language has another signature, and another form of the name.
            Some(docstring) => content
                .filter(|i| docstring.binary_search(i).is_ok())
                .collect(),
            None => content.collect(),
        };
        let mut detail = Detail {
            text: self.text.clone(),
            content,
            question,
            words,
            escapes,
            has_numbers: false,
        };
        let tokens = (0..detail.words.len()).map(|i| detail.token(i));
        detail.has_numbers = !values(tokens).is_empty();
        detail
    }

    /// The words outside the template.
    fn content(&self, size: usize) -> impl Iterator<Item = usize> {
        let mut is_frame = vec![self.grams.is_empty(); self.len()];
        for at in self.template.iter().map(|at| *at as usize) {
            is_frame[at..at + size].fill(true);
        }
        (0..self.len()).filter(move |i| !is_frame[*i])
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of n-grams of so many words, equal ones each time.
    pub(super) fn places(&self, size: usize) -> usize {
        (self.len() + 1).saturating_sub(size)
    }

    /// The n-grams, each once, ascending.
    pub(super) fn distinct_grams(&self) -> Vec<u32> {
        let mut grams = self.grams.clone();
        grams.sort_unstable();
        grams.dedup();
        grams
    }

    /// Completes the part when all n-grams are known. `commonness` says how many parts share one.
    pub(super) fn complete(&mut self, rule: Rule, commonness: impl Fn(u32) -> Commonness) {
        let known = self.grams.iter().map(|gram| (*gram, commonness(*gram)));
        let mut known: Vec<(u32, Commonness)> = known.collect();
        let places = (0u32..).zip(&known);
        let template = places.filter(|(_, (_, commonness))| *commonness == Commonness::Template);
        self.template = template.map(|(at, _)| at).collect();
        known.sort_unstable_by_key(|(gram, _)| *gram);
        known.dedup_by_key(|(gram, _)| *gram);
        let count = |is: fn(Commonness) -> bool| {
            let counted = known.iter().filter(|(_, commonness)| is(*commonness));
            counted.count()
        };
        self.distinct = known.len();
        self.rare = count(|commonness| commonness != Commonness::Template);
        let own = count(|commonness| commonness == Commonness::Own);
        self.content = self.content(rule.size).count();
        self.is_template = self.content < LEAST_CONTENT || own < rule.min_ngrams;
    }

    /// How many distinct n-grams lie together in a candidate.
    pub(super) fn least_grams(&self) -> f64 {
        /// The least share of the question's n-grams.
        const FLOOR: f64 = 0.05;
        let distinct = self.distinct as f64;
        (FLOOR * distinct).max(2.0).min(distinct)
    }

    /// Whether all its words in a row recognise it, though each n-gram of them stands in many parts.
    pub(super) fn is_told_verbatim(&self) -> bool {
        self.weight >= LONG && !self.is_instruction
    }

    /// Whether only its passage or its options, or all its words in a row, recognise its item.
    pub(super) fn needs_more(&self) -> bool {
        self.is_template || self.is_short()
    }

    /// Whether it has too few words to be recognised without its options.
    pub(super) fn is_short(&self) -> bool {
        self.has_few_words() || self.is_bare_statement
    }

    pub(super) fn has_few_words(&self) -> bool {
        self.weight < SHORT
    }
}
