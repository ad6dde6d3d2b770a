//! A document that holds n-grams of items. Its words are read where they are compared with those of an item.

use std::cell::Cell;
use std::ops::Range;

use crate::numbers::Token;
use crate::vocabulary::{UNREAD, Vocabulary};
use crate::word_hashes::WordHashes;
use crate::words::{PlainText, is_word, push_word, word_end};

/// A document after the search for n-grams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    escapes: &'a PlainText,
    /// The text without escapes.
    pub(super) plain: &'a str,
    /// Where the words begin in the plain text, and their hashes.
    starts: &'a [usize],
    hashes: &'a [u64],
    /// The numbers of the words that were compared.
    numbers: &'a [Cell<u32>],
    vocabulary: &'a Vocabulary,
}

impl<'a> Document<'a> {
    pub(super) fn new(
        text: &'a str,
        escapes: &'a PlainText,
        words: &'a WordHashes,
        numbers: &'a mut [u32],
        vocabulary: &'a Vocabulary,
    ) -> Self {
        Document {
            escapes,
            plain: escapes.plain(text),
            starts: &words.starts,
            hashes: &words.hashes,
            numbers: Cell::from_mut(numbers).as_slice_of_cells(),
            vocabulary,
        }
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The numbers of these words.
    pub(super) fn numbers(&self, words: Range<usize>) -> Vec<u32> {
        let number = |at: usize| {
            let known = &self.numbers[at];
            if known.get() == UNREAD {
                let (hash, start) = (self.hashes[at], self.starts[at]);
                known.set(self.vocabulary.number(hash, self.plain, start));
            }
            known.get()
        };
        words.map(number).collect()
    }

    pub(super) fn word(&self, at: usize) -> String {
        self.joined(at..at + 1)
    }

    /// A word, also as it stands in the text without escapes.
    pub(super) fn token(&self, at: usize) -> Token<'a> {
        Token::new(self.word(at).into(), self.plain, self.span(at))
    }

    /// Whether this is the word.
    pub(super) fn is_word(&self, at: usize, word: &str) -> bool {
        is_word(self.plain, self.starts[at], word)
    }

    /// These words, with a blank between two.
    pub(super) fn joined(&self, words: Range<usize>) -> String {
        let mut joined = String::new();
        for at in words {
            if !joined.is_empty() {
                joined.push(' ');
            }
            push_word(self.plain, self.starts[at], &mut joined);
        }
        joined
    }

    /// Where a word begins in the text with its escapes.
    pub(super) fn start(&self, at: usize) -> usize {
        self.escapes
            .original(self.starts[at]..self.starts[at] + 1)
            .start
    }

    /// The bytes of a word in the text without escapes.
    pub(super) fn span(&self, at: usize) -> Range<usize> {
        self.starts[at]..word_end(self.plain, self.starts[at])
    }

    /// The bytes of all words of this range, which is not empty, in the text with its escapes.
    pub(super) fn original(&self, words: Range<usize>) -> Range<usize> {
        let end = word_end(self.plain, self.starts[words.end - 1]);
        self.escapes.original(self.starts[words.start]..end)
    }

    /// The text without escapes between two words.
    pub(super) fn between(&self, left: usize, right: usize) -> &'a str {
        &self.plain[self.span(left).end..self.starts[right]]
    }
}
