//! The words of a text as items and documents are compared by: lower case, NFKC, without punctuation.
//!
//! HTML entities, tags, escapes of JSON and signs of LaTeX are undone first, since a document may hold an item in any of these
//! forms. A word is a run of letters and digits; scripts that write no spaces between words are divided (`letters.rs`).
//! Apostrophes within a word and commas within a number vanish; all other punctuation separates. Every word knows its bytes in
//! the text as it is.

mod plain;

#[cfg(test)]
mod tests;

use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

pub(crate) use self::plain::PlainText;
use crate::letters::{Joins, letter_at};

/// The words of a text, and where each is.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// All words, one after another.
    letters: String,
    /// Where each word ends in `letters`.
    ends: Vec<usize>,
    /// Bytes of the text.
    spans: Vec<Range<usize>>,
}

impl Words {
    pub(crate) fn read(text: &str) -> Self {
        let mut plain = PlainText::default();
        let mut words = Words::read_plain(plain.read(text));
        for span in &mut words.spans {
            *span = plain.original(span.clone());
        }
        words
    }

    /// The same of a text whose escapes stand for themselves.
    pub(crate) fn read_plain(text: &str) -> Self {
        let (mut words, mut at) = (Words::default(), 0);
        while let Some(start) = word_start(text, at, text.len()) {
            at = push_word(text, start, &mut words.letters);
            words.ends.push(words.letters.len());
            words.spans.push(start..at);
        }
        words
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn word(&self, i: usize) -> &str {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[start..self.ends[i]]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.word(i))
    }

    /// All words, with a blank between two.
    pub(crate) fn joined(&self) -> String {
        self.iter().collect::<Vec<_>>().join(" ")
    }

    /// The bytes of a word in the text.
    pub(crate) fn span(&self, i: usize) -> Range<usize> {
        self.spans[i].clone()
    }

    /// The bytes of all words of this range, which is not empty.
    pub(crate) fn span_of(&self, words: Range<usize>) -> Range<usize> {
        self.spans[words.start].start..self.spans[words.end - 1].end
    }
}

/// Where the first word begins between two bytes of a text.
pub(crate) fn word_start(text: &str, mut at: usize, end: usize) -> Option<usize> {
    while at < end {
        let letter = letter_at(text, at);
        if letter.is_some_and(|letter| letter.joins != Joins::Mark) {
            return Some(at);
        }
        at += width_at(text.as_bytes(), at);
    }
    None
}

/// Appends the letters of the word that begins at a byte of a text. Returns its end.
pub(crate) fn push_word(text: &str, at: usize, letters: &mut String) -> usize {
    let end = word_end(text, at);
    push_letters(&text[at..end], letters);
    end
}

/// Appends the letters of a word: in lower case, in the compatibility form NFKC, without apostrophes, commas and marks.
fn push_letters(word: &str, letters: &mut String) {
    let before = letters.len();
    if word.is_ascii() {
        for run in word.split(['\'', ',']) {
            letters.push_str(run);
        }
        letters[before..].make_ascii_lowercase();
        return;
    }
    if is_nfkc_quick(word.chars()) == IsNormalized::Yes {
        let lower = word.chars().flat_map(char::to_lowercase);
        letters.extend(lower.filter(|c| c.is_alphanumeric()));
    } else if !word.nfkc().any(|c| c == FRACTION_SLASH) {
        let lower = word.nfkc().flat_map(char::to_lowercase);
        letters.extend(lower.filter(|c| c.is_alphanumeric()));
    }
    if letters.len() == before {
        // A fraction, whose figures side by side would be another number, or a letter that NFKC makes a mark of.
        letters.push_str(word);
    }
}

/// What NFKC puts between the figures of a fraction such as a half.
const FRACTION_SLASH: char = '\u{2044}';

/// The end of the word that begins at a byte of a text.
pub(crate) fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    if let Some(end) = grouped_number(bytes, at) {
        return end;
    }
    let mut word: Option<Joins> = None;
    while let Some(letter) = letter_at(text, at) {
        let is_mark = letter.joins == Joins::Mark;
        if word.is_some_and(|before| !is_mark && !letter.joins.continues(before)) {
            return at;
        }
        if !is_mark {
            word = Some(letter.joins);
        }
        at += letter.width;
        if word != Some(Joins::Run) {
            continue;
        }
        // Most letters of most texts.
        let ascii = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric());
        at += ascii.count();
        if letter_at(text, at).is_none() {
            let mark = apostrophe(&bytes[at..]);
            let behind = letter_at(text, at + mark);
            if mark == 0 || behind.is_none_or(|letter| letter.joins != Joins::Run) {
                return at;
            }
            at += mark;
        }
    }
    at
}

/// Whether the word that begins at a byte of a text is this one.
pub(crate) fn is_word(text: &str, at: usize, word: &str) -> bool {
    let rest = &text.as_bytes()[at..];
    if let Some((letters, behind)) = rest.split_at_checked(word.len())
        && word.is_ascii()
        && letters.is_ascii()
        && behind.first().is_none_or(ends_word)
    {
        return letters.eq_ignore_ascii_case(word.as_bytes());
    }
    let mut letters = String::new();
    push_word(text, at, &mut letters);
    letters == word
}

/// Whether every word ends before such a byte.
pub(crate) fn ends_word(byte: &u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"',".contains(byte)
}

/// The width of the character that begins here.
fn width_at(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        0..0x80 => 1,
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    }
}

/// The width of an apostrophe at the beginning; 0 without one.
fn apostrophe(bytes: &[u8]) -> usize {
    match bytes {
        [b'\'', ..] => 1,
        [0xE2, 0x80, 0x99, ..] | [0xEF, 0xBC, 0x87, ..] => 3,
        _ => 0,
    }
}

/// The end of a number like 12,345,678 that begins here, if there is one.
fn grouped_number(bytes: &[u8], at: usize) -> Option<usize> {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits = (0..4).take_while(|i| is_digit(at + i)).count();
    if !(1..=3).contains(&digits) {
        return None;
    }
    let (mut end, mut found) = (at + digits, None);
    while bytes.get(end) == Some(&b',') && (1..=3).all(|i| is_digit(end + i)) {
        end += 4;
        if !is_digit(end) {
            found = Some(end);
        }
    }
    found
}
