//! The words of a text: UAX #29 words that hold an alphanumeric character.
//!
//! `unicode_segmentation` is right about every text, at about 60 MB/s. Most bytes of most corpora
//! are ASCII, where the rules of UAX #29 come down to runs of word characters and one character of
//! lookahead. So the loop below finds runs in a bit mask of the text, and hands over to the library
//! only the stretches that touch a non-ASCII character. A stretch reaches from the word (or, if there
//! is none, from the one character or the blanks) before the first non-ASCII character to the next
//! ASCII character that no rule joins to anything. Both ends are boundaries whatever stands around
//! them, so the library finds the same words in the stretch as in the whole text; a proptest says so
//! over an alphabet chosen to break it. Tried and rejected: a table lookup a byte, whose loop ends
//! where no branch predictor expects it, at three quarters of the speed.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use wide::u8x16;

use super::Normalise;

/// A word where it stands: the bytes from its first one to the end of the text, and its length.
///
/// Who hashes or copies words can then read a fixed number of bytes, which is far quicker than a
/// loop whose length no branch predictor can guess.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) onwards: &'a [u8],
    pub(super) len: usize,
}

impl<'a> Word<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.onwards[..self.len]
    }
}

/// Calls `emit` with each word of `text` in order.
///
/// With `merge_blanks` a run of white space counts as one blank, as [`Normalise`] has it.
pub fn for_each_word(text: &str, merge_blanks: bool, mut emit: impl FnMut(&str)) {
    let mut words = Words::default();
    words.find(text, merge_blanks);
    for word in words.iter(text) {
        // Words end between characters; were it not so, nothing would be emitted.
        emit(std::str::from_utf8(word.bytes()).unwrap_or_default());
    }
}

/// The words of a text, in memory that is used again from text to text.
#[derive(Debug, Default)]
pub(super) struct Words {
    blocks: Vec<Classes>,
    /// Starts and ends of runs, in turn.
    boundaries: Vec<usize>,
    /// Start and length of each word in the text, or, from the end of the text on, in `merged`.
    spans: Vec<(usize, usize)>,
    /// Stretches in which blanks had to be merged.
    merged: String,
}

impl Words {
    /// Finds the words of `text`.
    pub(super) fn find(&mut self, text: &str, merge_blanks: bool) {
        let bytes = text.as_bytes();
        self.classify(bytes);
        self.mark_runs();
        self.spans.clear();
        self.merged.clear();
        let boundaries = std::mem::take(&mut self.boundaries);
        let mut non_ascii = self.next_non_ascii(0);
        let mut done = 0;
        for [start, end] in boundaries.as_chunks().0 {
            let (start, end) = (*start, *end);
            if start < done {
                continue;
            }
            if non_ascii < end {
                done = end_of_stretch(text, end);
                self.find_by_library(text, start_of_context(bytes, start)..done, merge_blanks);
                non_ascii = self.next_non_ascii(done);
            } else if bytes[start] != b'_' || bytes[start..end].iter().any(|byte| *byte != b'_') {
                self.spans.push((start, end - start));
            }
        }
        self.boundaries = boundaries;
    }

    /// The words found in `text`.
    #[inline]
    pub(super) fn iter<'a>(&'a self, text: &'a str) -> impl ExactSizeIterator<Item = Word<'a>> {
        self.spans.iter().map(|(start, len)| Word {
            onwards: match text.as_bytes().get(*start..) {
                Some(onwards) if *start < text.len() => onwards,
                _ => &self.merged.as_bytes()[start - text.len()..],
            },
            len: *len,
        })
    }
    #[cold]
    fn find_by_library(&mut self, text: &str, stretch: Range<usize>, merge_blanks: bool) {
        let start = stretch.start;
        let stretch = &text[stretch];
        let in_stretch = |(at, word): (usize, &str)| (at, word.len());
        if merge_blanks && stretch.contains(char::is_whitespace) {
            let mut merged = String::new();
            Normalise::default().apply(stretch, &mut merged);
            let offset = text.len() + self.merged.len();
            let words = merged.unicode_word_indices().map(in_stretch);
            self.spans.extend(words.map(|(at, len)| (offset + at, len)));
            self.merged.push_str(&merged);
        } else {
            let words = stretch.unicode_word_indices().map(in_stretch);
            self.spans.extend(words.map(|(at, len)| (start + at, len)));
        }
    }

    fn classify(&mut self, bytes: &[u8]) {
        self.blocks.clear();
        let (blocks, rest) = bytes.as_chunks::<64>();
        let mut last = [0; 64];
        last[..rest.len()].copy_from_slice(rest);
        self.blocks.extend(blocks.iter().map(Classes::of));
        self.blocks.push(Classes::of(&last));
    }

    /// Finds the runs: word characters, and what joins them.
    fn mark_runs(&mut self) {
        self.boundaries.clear();
        let (mut before, mut was_in_run) = (Classes::default(), 0);
        for (i, block) in self.blocks.iter().enumerate() {
            let after = self.blocks.get(i + 1).copied().unwrap_or_default();
            // Bit k of `left(x)` says what the character before k is, of `right(x)` the one after.
            let left = |of: fn(&Classes) -> u64| of(block) << 1 | of(&before) >> 63;
            let right = |of: fn(&Classes) -> u64| of(block) >> 1 | of(&after) << 63;
            let letters = left(|c| c.letter) & right(|c| c.letter);
            let digits = left(|c| c.digit) & right(|c| c.digit);
            let joined = block.joins_letters & letters
                | block.joins_digits & digits
                | (block.joins_letters | block.joins_digits) & right(|c| c.non_ascii);
            let in_run = block.letter | block.digit | block.underscore | block.non_ascii | joined;
            let mut changes = in_run ^ (in_run << 1 | was_in_run);
            while changes != 0 {
                let change = 64 * i + changes.trailing_zeros() as usize;
                self.boundaries.push(change);
                changes &= changes - 1;
            }
            was_in_run = in_run >> 63;
            before = *block;
        }
        if was_in_run == 1 {
            self.boundaries.push(64 * self.blocks.len());
        }
    }

    /// The next non-ASCII byte from `i` on.
    fn next_non_ascii(&self, i: usize) -> usize {
        let first = i / 64;
        for (block, classes) in self.blocks.iter().enumerate().skip(first) {
            let from = if block == first { !0 << (i % 64) } else { !0 };
            if classes.non_ascii & from != 0 {
                return 64 * block + (classes.non_ascii & from).trailing_zeros() as usize;
            }
        }
        usize::MAX
    }
}

/// What 64 bytes are to the word-boundary rules, one bit a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Classes {
    letter: u64,
    digit: u64,
    /// Joins letters and digits, but is no word alone.
    underscore: u64,
    /// Part of a non-ASCII character.
    non_ascii: u64,
    /// `'`, `.` and `:` between two letters.
    joins_letters: u64,
    /// `'`, `.`, `,` and `;` between two digits.
    joins_digits: u64,
}

impl Classes {
    fn of(block: &[u8; 64]) -> Self {
        let mut classes = Classes::default();
        let (quarters, _) = block.as_chunks::<16>();
        for (quarter, shift) in quarters.iter().zip([0, 16, 32, 48]) {
            let c = u8x16::new(*quarter);
            let is = |byte: u8| c.simd_eq(u8x16::splat(byte));
            // c - first wraps for what lies before the range, so one comparison finds a range.
            let within = |c: u8x16, first: u8, len: u8| {
                let from_first = c - u8x16::splat(first);
                from_first.min(u8x16::splat(len - 1)).simd_eq(from_first)
            };
            let bits = |mask: u8x16| u64::from(mask.to_bitmask()) << shift;
            let joins_both = is(b'\'') | is(b'.');
            classes.letter |= bits(within(c | u8x16::splat(0x20), b'a', 26));
            classes.digit |= bits(within(c, b'0', 10));
            classes.underscore |= bits(is(b'_'));
            classes.non_ascii |= bits(c);
            classes.joins_letters |= bits(joins_both | is(b':'));
            classes.joins_digits |= bits(joins_both | is(b',') | is(b';'));
        }
        classes
    }
}

/// Whether an ASCII character is a boundary on both sides, whatever stands there: not a word
/// character, none that joins some, and not `"`, which joins Hebrew letters.
fn is_hard(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"_'.:,;\"".contains(&byte)
}

/// Where the context begins that can join a non-ASCII character at `i`: one character before it, or a
/// run of white space. No word ends there.
fn start_of_context(bytes: &[u8], i: usize) -> usize {
    if bytes[i].is_ascii() {
        return i;
    }
    let blanks = bytes[..i]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0B)
        .count();
    i - blanks.max(1).min(i)
}

/// The next ASCII character from `i` on that is a boundary on both sides. White space that follows
/// non-ASCII white space is not, for the two may merge.
fn end_of_stretch(text: &str, mut i: usize) -> usize {
    let bytes = text.as_bytes();
    while i < bytes.len() {
        if is_hard(bytes[i]) {
            let blank = char::from(bytes[i]).is_whitespace();
            let after_wide_blank = || {
                let before = text[..i].chars().next_back();
                before.is_some_and(|c| !c.is_ascii() && c.is_whitespace())
            };
            if !blank || !after_wide_blank() {
                return i;
            }
        }
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_library(text: &str, merge_blanks: bool) -> Vec<String> {
        let mut normalised = String::new();
        Normalise {
            keep_whitespace: !merge_blanks,
            ..Normalise::default()
        }
        .apply(text, &mut normalised);
        normalised.unicode_words().map(str::to_owned).collect()
    }

    fn fast(text: &str, merge_blanks: bool) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, merge_blanks, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_of_english() {
        assert_eq!(
            fast(
                "Don't pay $1,234.50 for _x_y_ or __: a.b.c at 10:30, e.g.",
                true
            ),
            [
                "Don't", "pay", "1,234.50", "for", "_x_y_", "or", "a.b.c", "at", "10", "30", "e.g"
            ]
        );
    }

    #[test]
    fn words_of_other_scripts() {
        assert_eq!(
            fast("naïve “don’t” 東京タワー", true),
            ["naïve", "don’t", "東", "京", "タワー"]
        );
    }

    /// Every class of the boundary rules, with neighbours that join across ASCII.
    const NASTY: &[&str] = &[
        "a",
        "Z",
        "7",
        "_",
        "'",
        ".",
        ":",
        ",",
        ";",
        "\"",
        "-",
        "/",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\u{b}",
        "\0",
        "é",
        "’",
        "·",
        "\u{301}",
        "\u{200d}",
        "\u{200b}",
        "\u{ad}",
        "Ⓜ",
        "☺",
        "👩",
        "🏽",
        "🇩",
        "🇪",
        "א",
        "ב",
        "״",
        "ア",
        "カ",
        "東",
        "ก",
        "٣",
        "٫",
        "\u{3000}",
        "\u{a0}",
        "\u{202f}",
        "\u{2028}",
        "\u{85}",
        "‿",
        "\u{1f1e6}",
        "ß",
        "word",
        "1.5",
        "e.g.",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn both_paths_give_the_same_words(
            pieces in prop::collection::vec(prop::sample::select(NASTY), 0..14),
            merge_blanks: bool,
        ) {
            let text = pieces.concat();
            prop_assert_eq!(fast(&text, merge_blanks), by_library(&text, merge_blanks), "{:?}", text);
        }

        #[test]
        fn both_paths_give_the_same_words_of_any_text(text in "\\PC{0,40}", merge_blanks: bool) {
            prop_assert_eq!(fast(&text, merge_blanks), by_library(&text, merge_blanks));
        }
    }
}
