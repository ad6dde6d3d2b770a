//! Words as spaCy's rule-based tokenizer cuts them.
//!
//! spaCy cuts each stretch between white space alone, and then matches its special cases against the tokens of the
//! whole text. So spaCy is asked once per stretch, and its answer is remembered ([`Tokenizer::learn`]). In English,
//! ASCII letters alone are one word unless an exception says otherwise: such stretches need no answer.
//!
//! A special case that spans white space does not apply, but it can hide one that would apply. It can only match
//! where two neighbouring tokens of a special case meet across white space (the edges of [`Tokenizer`]). Such texts
//! are left to spaCy.
//!
//! spaCy's tokenizer took 84 % of datatrove's stage.

use std::collections::{HashMap, HashSet};

use super::simplify::is_space;

/// Memory for remembered stretches, in bytes of their text. All are forgotten beyond.
const MEMORY: usize = 64 << 20;

/// spaCy fails on the name of its first attribute; datatrove then removes it and tries again.
const FAILS: &str = "IS_ALPHA";

/// The tokens of one stretch.
#[derive(Debug)]
pub struct Cut {
    /// Joined by one space: no token has white space.
    pub tokens: Box<str>,
    /// The number of its first token among those that can end a meeting; 0 for others.
    pub first: u32,
    /// The number of its last token among those that can begin a meeting; 0 for others.
    pub last: u32,
}

/// The words of one text.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The words, joined by one space.
    joined: String,
    /// The place of each word's first byte.
    starts: Vec<usize>,
}

impl Words {
    pub(super) fn clear(&mut self) {
        self.joined.clear();
        self.starts.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, word: &str) {
        if !self.starts.is_empty() {
            self.joined.push(' ');
        }
        self.starts.push(self.joined.len());
        self.joined.push_str(word);
    }

    /// Each word.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.joined_runs(1)
    }

    /// Each run of `n` consecutive words, joined by one space.
    pub(super) fn joined_runs(&self, n: usize) -> impl Iterator<Item = &str> {
        let ends = self.starts.iter().skip(n).map(|start| start - 1);
        let ends = ends.chain([self.joined.len()]);
        let starts = if n == 0 || n > self.starts.len() {
            &[]
        } else {
            &self.starts[..]
        };
        starts
            .iter()
            .zip(ends)
            .map(|(start, end)| &self.joined[*start..end])
    }
}

/// The outcome of [`Tokenizer::cut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordsCut {
    /// All words are there.
    Done,
    /// spaCy has not yet been asked about some stretches.
    Unknown,
    /// A special case could span white space: leave the text to spaCy.
    BySpacy,
}

/// Cuts texts with the stretches known so far.
#[derive(Debug)]
pub struct Tokenizer {
    /// Whether ASCII letters alone are one word, but for exceptions.
    letters_are_words: bool,
    exceptions: Vec<Box<str>>,
    /// Pairs of tokens that a special case has side by side: numbers of [`Cut::last`] and [`Cut::first`].
    edges: HashSet<(u32, u32)>,
    /// `None` for an exception that spaCy has not yet been asked about.
    known: HashMap<Box<str>, Option<Cut>>,
    known_bytes: usize,
}

impl Tokenizer {
    /// A tokenizer for a language. `exceptions` are its special cases, and `edges` the pairs of tokens that a special case
    /// has side by side.
    pub fn new(
        letters_are_words: bool,
        exceptions: Vec<Box<str>>,
        edges: HashSet<(u32, u32)>,
    ) -> Self {
        let mut tokenizer = Tokenizer {
            letters_are_words,
            exceptions,
            edges,
            known: HashMap::new(),
            known_bytes: 0,
        };
        tokenizer.forget();
        tokenizer
    }

    fn forget(&mut self) {
        let exceptions = self.exceptions.iter();
        self.known = exceptions.map(|word| (word.clone(), None)).collect();
        self.known_bytes = 0;
    }

    /// Forgets all stretches if there are too many. Not while a batch is read: its texts would be asked about for ever.
    pub(super) fn limit(&mut self) {
        if self.known_bytes > MEMORY {
            self.forget();
        }
    }

    /// Remembers spaCy's answer about `stretch`.
    pub fn learn(&mut self, stretch: &str, cut: Cut) {
        self.known_bytes += stretch.len() + cut.tokens.len() + size_of::<Option<Cut>>();
        self.known.insert(stretch.into(), Some(cut));
    }

    /// Cuts `text` into `words`, or adds to `unknown` what spaCy must be asked first.
    pub(super) fn cut(
        &self,
        text: &str,
        words: &mut Words,
        unknown: &mut HashSet<Box<str>>,
    ) -> WordsCut {
        words.clear();
        if text.contains(FAILS) {
            return WordsCut::BySpacy;
        }
        let (mut outcome, mut last) = (WordsCut::Done, 0);
        for stretch in text.split(is_space).filter(|stretch| !stretch.is_empty()) {
            match self.known.get(stretch) {
                Some(Some(cut)) => {
                    if last != 0 && cut.first != 0 && self.edges.contains(&(last, cut.first)) {
                        return WordsCut::BySpacy;
                    }
                    last = cut.last;
                    cut.tokens.split(' ').for_each(|token| words.push(token));
                }
                None if self.letters_are_words && is_letters(stretch) => {
                    last = 0;
                    words.push(stretch);
                }
                None | Some(None) => {
                    last = 0;
                    outcome = WordsCut::Unknown;
                    if !unknown.contains(stretch) {
                        unknown.insert(stretch.into());
                    }
                }
            }
        }
        outcome
    }
}

fn is_letters(stretch: &str) -> bool {
    stretch.bytes().all(|byte| byte.is_ascii_alphabetic())
}
