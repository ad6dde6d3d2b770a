//! Finds the words of a text and hashes them, without a string per word.
//!
//! [`Words`](super::words::Words) says what a word is. Nearly all words of most texts are runs of ASCII letters and digits,
//! which bit masks of 64 bytes find. A run with an apostrophe, a comma between digits or a character that is not ASCII is
//! *odd*: it is read character by character, as `Words` does.
//!
//! A text is read in pieces that end behind a byte that no word has. A piece in lower case stays in the first-level cache
//! until its words are hashed, many at a time.

use std::ops::Range;

use crate::words::{ends_word, push_word, word_start};
use simgpu::scheme::words_v1;
use simgpu::simd::words::hash_words;
use simgpu::simd::{Isa, Kernel, Lanes};

/// Bytes of a piece, unless no byte of so many can end it.
const PIECE: usize = 4096;

/// Bytes of a piece with numbers of 32 bits. Letters in lower case may have more bytes.
const MOST: usize = 1 << 30;

/// Bytes that a kernel reads at once.
const BLOCK: usize = 64;

/// Bytes that a hash of a word may read behind it.
const BEHIND: usize = 16;

/// The words of a piece of a text, as hashes of `words-v1`. Its memory is used again from piece to piece.
#[derive(Debug, Default)]
pub(super) struct WordHashes {
    /// Where each word of the text begins.
    pub(super) starts: Vec<usize>,
    /// The hash of each word in lower case.
    pub(super) hashes: Vec<u64>,
    runs: Runs,
    /// The letters of odd runs.
    odd: String,
    /// The words of a piece with odd runs, as bytes of `runs.lower`.
    words: Vec<[u32; 2]>,
}

impl WordHashes {
    /// Forgets all words.
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.hashes.clear();
    }

    /// Replaces the words by those of a text without escapes.
    pub(super) fn read(&mut self, isa: Isa, plain: &str) {
        self.clear();
        let mut end = 0;
        while end < plain.len() {
            end = self.add_piece(isa, plain, end);
        }
    }

    /// Adds the words of the piece of a text that begins at a byte. Returns its end.
    pub(super) fn add_piece(&mut self, isa: Isa, text: &str, first: usize) -> usize {
        let end = piece_end(text.as_bytes(), first);
        if end - first > MOST {
            self.add_one_by_one(text, first..end);
            return end;
        }
        self.runs.find(isa, &text.as_bytes()[first..end]);
        if self.runs.odd().is_empty() {
            let words = self.runs.words();
            let starts = words.iter().map(|[start, _]| first + *start as usize);
            self.starts.extend(starts);
            hash_words(isa, &self.runs.lower, words, &mut self.hashes);
        } else {
            self.add_with_odd_runs(text, first);
            hash_words(isa, &self.runs.lower, &self.words, &mut self.hashes);
        }
        end
    }

    /// Adds the words between two bytes, whose numbers may not fit 32 bits.
    fn add_one_by_one(&mut self, text: &str, Range { start: mut at, end }: Range<usize>) {
        while let Some(start) = word_start(text, at, end) {
            self.odd.clear();
            at = push_word(text, start, &mut self.odd);
            self.starts.push(start);
            self.hashes.push(words_v1::word(self.odd.as_bytes()));
        }
    }

    /// Lists the words of a piece. Letters of odd runs stand behind it.
    #[allow(clippy::cast_possible_truncation, reason = "a piece is short")]
    fn add_with_odd_runs(&mut self, text: &str, first: usize) {
        self.words.clear();
        self.odd.clear();
        let behind = self.runs.lower.len();
        let mut odd = self.runs.odd().iter().copied().peekable();
        for [start, end] in self.runs.words() {
            if odd.peek().is_none_or(|at| at >= end) {
                self.starts.push(first + *start as usize);
                self.words.push([*start, *end]);
                continue;
            }
            while odd.next_if(|at| at < end).is_some() {}
            let (mut at, end) = (first + *start as usize, first + *end as usize);
            while let Some(start) = word_start(text, at, end) {
                let letters = behind + self.odd.len();
                at = push_word(text, start, &mut self.odd);
                self.starts.push(start);
                let end = behind + self.odd.len();
                self.words.push([letters as u32, end as u32]);
            }
        }
        let lower = &mut self.runs.lower;
        lower.extend_from_slice(self.odd.as_bytes());
        lower.extend_from_slice(&[0; BEHIND]);
    }
}

/// The end of a piece: behind the last byte that no word has of the next ones, or else behind the first one further on.
fn piece_end(text: &[u8], first: usize) -> usize {
    let Some(piece) = text.get(first..first + PIECE) else {
        return text.len();
    };
    let last = piece.iter().rposition(ends_word);
    let last = last.map(|at| first + at + 1);
    let next = || text[first + PIECE..].iter().position(ends_word);
    last.or_else(|| next().map(|at| first + PIECE + at + 1))
        .unwrap_or(text.len())
}

/// Runs of bytes that words are made of.
#[derive(Debug, Default)]
struct Runs {
    /// The bytes, letters of ASCII in lower case, and some behind them.
    lower: Vec<u8>,
    /// Where runs begin and end, in turn, and room: to fill it with zeros for each piece takes long.
    changes: Vec<u32>,
    /// Where odd bytes are, all of them in runs, and room.
    odd: Vec<u32>,
    /// The numbers of changes and odd bytes.
    counts: (usize, usize),
}

impl Runs {
    fn find(&mut self, isa: Isa, piece: &[u8]) {
        let padded = piece.len().next_multiple_of(BLOCK) + BLOCK;
        self.lower.resize(padded, 0);
        // Every byte may be a change, and a kernel writes behind the last one.
        if self.changes.len() < padded + BLOCK {
            self.changes.resize(padded + BLOCK, 0);
            self.odd.resize(padded + BLOCK, 0);
        }
        self.counts = isa.run(FindRuns { piece, runs: self });
    }

    /// The runs, as bytes of the piece.
    fn words(&self) -> &[[u32; 2]] {
        self.changes[..self.counts.0].as_chunks().0
    }

    fn odd(&self) -> &[u32] {
        &self.odd[..self.counts.1]
    }
}

struct FindRuns<'a> {
    piece: &'a [u8],
    runs: &'a mut Runs,
}

impl Kernel for FindRuns<'_> {
    /// The numbers of changes and odd bytes.
    type Output = (usize, usize);

    #[allow(
        clippy::cast_possible_truncation,
        reason = "a piece has less than 4 GiB"
    )]
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> (usize, usize) {
        let FindRuns { piece, runs } = self;
        let (mut changes, mut odds) = (0, 0);
        let mut before = Before::default();
        // One block more: it ends a run that goes on up to the end of the piece.
        for (i, lower) in runs.lower.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
            let rest = piece.get(i * BLOCK..).unwrap_or_default();
            let mut last = [0; BLOCK];
            let block = match rest.first_chunk::<BLOCK>() {
                Some(block) => block,
                None => {
                    last[..rest.len()].copy_from_slice(rest);
                    &last
                }
            };
            let c = lanes.load_bytes(block);
            let with_case = lanes.with_bits(c, 0x20);
            lanes.store_bytes(with_case, lower);
            let letter = lanes.bits(lanes.is_among(with_case, b'a', 26));
            let digit = lanes.bits(lanes.is_among(c, b'0', 10));
            let wide = lanes.bits(lanes.is_among(c, 0x80, 128));
            let quote = lanes.bits(lanes.is(c, b'\''));
            let comma = lanes.bits(lanes.is(c, b','));
            let word = letter | digit | wide;
            // The byte behind the block counts as one that is joined: a run may end with an apostrophe or a comma.
            let joins =
                |between: u64, before: u64| (between << 1 | before) & (between >> 1 | 1 << 63);
            let odd = wide | quote & joins(word, before.word) | comma & joins(digit, before.digit);
            let in_run = word | odd;
            let change = in_run ^ (in_run << 1 | before.in_run);
            if let Some(room) = runs.changes[changes..].first_chunk_mut() {
                changes += lanes.places(change, (i * BLOCK) as u32, room);
            }
            if odd != 0
                && let Some(room) = runs.odd[odds..].first_chunk_mut()
            {
                odds += lanes.places(odd, (i * BLOCK) as u32, room);
            }
            before = Before {
                word: word >> 63,
                digit: digit >> 63,
                in_run: in_run >> 63,
            };
        }
        (changes, odds)
    }
}

/// The classes of the last byte of a block, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    word: u64,
    digit: u64,
    in_run: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::words::Words;

    /// Compares all words with those of `Words` on every instruction set.
    fn check(text: &str) {
        let words = Words::read_plain(text);
        let starts: Vec<usize> = (0..words.len()).map(|i| words.span(i).start).collect();
        let hashes: Vec<u64> = words
            .iter()
            .map(|word| words_v1::word(word.as_bytes()))
            .collect();
        for isa in Isa::available() {
            let mut found = WordHashes::default();
            found.read(*isa, text);
            assert_eq!(found.starts, starts, "{isa}: {text:?}");
            assert!(found.hashes == hashes, "{isa}: {text:?}");
            found.clear();
            found.add_one_by_one(text, 0..text.len());
            assert!(found.starts == starts && found.hashes == hashes, "{text:?}");
        }
    }

    #[test]
    fn long_words_and_texts_without_words_are_read() {
        for text in [
            "", "\0", " ", "'", ",", "’", "a", "Z9", "\0a\0b\0", "1,000", "''", "1,", "a'",
        ] {
            check(text);
        }
        for len in [15, 16, 17, 63, 64, 65, 4095, 4096, 4097, 9000] {
            for word in ["A", "é", "’", "1", "'", ",", "中", "a'", "1,"] {
                check(&word.repeat(len));
                check(&format!("{} b", word.repeat(len)));
                check(&format!("b {}", word.repeat(len)));
            }
        }
    }

    /// What words may begin, end or be joined with.
    const PARTS: &[&str] = &[
        "a",
        "Z",
        "word",
        "WORDS",
        "7",
        "1,000",
        "12,345,678",
        "1,0000",
        ",",
        "'",
        "’",
        "' ",
        "'s",
        "’s",
        "_",
        "-",
        ".",
        " ",
        "\n",
        "\0",
        "\u{7f}",
        "é",
        "É",
        "İ",
        "ß",
        "中",
        "😀",
        "\u{301}",
        "\u{a0}",
        "٣",
        "Ⅷ",
        "@",
        "[",
        "`",
        "{",
        "/",
        ":",
    ];

    proptest! {
        #[test]
        fn words_are_those_that_are_read_one_by_one(
            parts in prop::collection::vec(prop::sample::select(PARTS), 0..60), before in 0usize..70,
        ) {
            check(&format!("{}{}", "x".repeat(before), parts.concat()));
        }

        #[test]
        fn words_at_ends_of_pieces_are_those_that_are_read_one_by_one(
            parts in prop::collection::vec(prop::sample::select(PARTS), 0..30),
            filler in prop::sample::select(&["x", "é", "’", " ", "word ", "1,", "a'"][..]), short in 0usize..80,
        ) {
            let filler = filler.repeat((PIECE - short) / filler.len());
            check(&format!("{filler}{}", parts.concat()));
        }
    }
}
