//! Finds the words of a text: UAX #29 words that contain an alphanumeric character.
//!
//! `unicode_segmentation` is correct for every text, at about 60 MB/s. Most characters of most corpora are ASCII,
//! Western letters or typographic marks. For these, the rules of UAX #29 reduce to runs of word characters with
//! one character of lookahead, and [`runs`](super::runs) finds them in bit masks of the text. All other
//! characters are *complex*. Only stretches that touch a complex character go to the library.
//!
//! A stretch starts at the word before the complex character, or else at the one character or the white space
//! before it. It ends at the next ASCII character that no rule joins to anything. Both ends are boundaries in
//! any context, so the library finds the same words in the stretch as in the whole text. Property tests check
//! this over alphabets chosen to break it.
//!
//! Tried and rejected: a table lookup per byte. It reached three quarters of the speed, because its loop exits
//! are unpredictable branches.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::normalise::Normalise;
use super::runs::{Before, CHUNK, Runs};
use super::word_class::{Class, class_at};
use crate::simd::Isa;

/// Receives the words of a text in order.
pub(super) trait WordSink {
    /// Receives words as starts and ends in `text`, a part of the whole text.
    fn words(&mut self, text: &[u8], words: &[[u32; 2]]);

    /// Receives one word.
    fn word(&mut self, word: &[u8]);
}

/// Calls a function with each word.
pub(super) struct Each<F>(pub(super) F);

impl<F: FnMut(&[u8])> WordSink for Each<F> {
    fn words(&mut self, text: &[u8], words: &[[u32; 2]]) {
        for [start, end] in words {
            (self.0)(&text[*start as usize..*end as usize]);
        }
    }

    fn word(&mut self, word: &[u8]) {
        (self.0)(word);
    }
}

/// Calls `emit` with each word of `text` in order.
///
/// With `merge_blanks`, a run of white space counts as one space, as in [`Normalise`].
pub fn for_each_word(text: &str, merge_blanks: bool, emit: impl FnMut(&str)) {
    for_each_word_with(Isa::best(), text, merge_blanks, emit);
}

fn for_each_word_with(isa: Isa, text: &str, merge_blanks: bool, mut emit: impl FnMut(&str)) {
    // Words begin and end at character boundaries, so this never fails.
    let mut sink = Each(|word: &[u8]| emit(std::str::from_utf8(word).unwrap_or_default()));
    Words::default().find(isa, text, merge_blanks, &mut sink);
}

/// Finds the words of texts. Reuses its memory from text to text.
#[derive(Debug, Default)]
pub(super) struct Words {
    runs: Runs,
    /// A stretch with merged white space.
    merged: String,
}

/// How to treat a run.
enum Run {
    Word,
    /// Underscores only, or part of a stretch already processed.
    Skip,
    /// Contains a complex character.
    Stretch,
}

impl Words {
    /// Passes the words of `text` to `sink`.
    pub(super) fn find(
        &mut self,
        isa: Isa,
        text: &str,
        merge_blanks: bool,
        sink: &mut impl WordSink,
    ) {
        let bytes = text.as_bytes();
        let mut before = Before::default();
        // Start of the run that continues into the next chunk, and end of the last stretch.
        let (mut open, mut done) = (None, 0);
        self.runs.complex.clear();
        for first in (0..bytes.len()).step_by(CHUNK) {
            let end = bytes.len().min(first + CHUNK);
            let count = self.runs.find(isa, bytes, first, end, &mut before);
            // Moved out, because `self` is borrowed below.
            let mut found = std::mem::take(&mut self.runs.changes);
            let mut changes = &mut found[..count];
            if let (Some(start), [end, ..]) = (open, &*changes) {
                let run = start..first + *end as usize;
                open = None;
                changes = &mut changes[1..];
                self.emit_run(text, run, merge_blanks, &mut done, sink);
            }
            let (words, rest) = changes.as_chunks_mut::<2>();
            if let [start] = rest {
                open = Some(first + *start as usize);
            }
            let plain = self.runs.complex.is_empty() && !self.runs.has_underscore && done <= first;
            let mut kept = words.len();
            if !plain {
                kept = 0;
                for i in 0..words.len() {
                    let run = words[i].map(|at| first + at as usize);
                    match self.classify(bytes, run[0]..run[1], done) {
                        Run::Word => {
                            words[kept] = words[i];
                            kept += 1;
                        }
                        Run::Skip => {}
                        Run::Stretch => {
                            sink.words(&bytes[first..], &words[..kept]);
                            kept = 0;
                            done = self.find_by_library(text, run[0]..run[1], merge_blanks, sink);
                        }
                    }
                }
            }
            sink.words(&bytes[first..], &words[..kept]);
            self.runs.changes = found;
        }
        if let Some(start) = open {
            self.emit_run(text, start..bytes.len(), merge_blanks, &mut done, sink);
        }
    }

    fn emit_run(
        &mut self,
        text: &str,
        run: Range<usize>,
        merge_blanks: bool,
        done: &mut usize,
        sink: &mut impl WordSink,
    ) {
        match self.classify(text.as_bytes(), run.clone(), *done) {
            Run::Word => sink.word(&text.as_bytes()[run]),
            Run::Skip => {}
            Run::Stretch => *done = self.find_by_library(text, run, merge_blanks, sink),
        }
    }

    fn classify(&mut self, text: &[u8], run: Range<usize>, done: usize) -> Run {
        if run.start < done {
            return Run::Skip;
        }
        if !self.runs.complex.is_empty() {
            // Complex characters before the run are done.
            while self.runs.complex.front().is_some_and(|at| *at < run.start) {
                self.runs.complex.pop_front();
            }
            if self.runs.complex.front().is_some_and(|at| *at < run.end) {
                return Run::Stretch;
            }
        }
        if text[run.start] == b'_' && text[run].iter().all(|byte| *byte == b'_') {
            Run::Skip
        } else {
            Run::Word
        }
    }

    /// Finds the words of the stretch around a run by the library. Returns the end of the stretch.
    #[cold]
    fn find_by_library(
        &mut self,
        text: &str,
        run: Range<usize>,
        merge_blanks: bool,
        sink: &mut impl WordSink,
    ) -> usize {
        let end = end_of_stretch(text, run.end);
        let mut stretch = &text[start_of_context(text, run.start)..end];
        if merge_blanks && stretch.contains(char::is_whitespace) {
            Normalise::default().apply(stretch, &mut self.merged);
            stretch = &self.merged;
        }
        for word in stretch.unicode_words() {
            sink.word(word.as_bytes());
        }
        end
    }
}

/// Whether a byte is an ASCII character with a boundary on both sides in any context: not a word character, not
/// one that joins others, and not `"`, which joins Hebrew letters.
fn is_hard(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"_'.:,;\"".contains(&byte)
}

/// Start of the context that may join a complex character at `i`: the character before it, or a run of white
/// space. No word ends there.
fn start_of_context(text: &str, i: usize) -> usize {
    if class_at(text.as_bytes(), i).0 != Class::Complex {
        return i;
    }
    let blanks = text[..i].trim_end().len();
    if blanks < i {
        return blanks;
    }
    let before = text[..i].chars().next_back();
    i - before.map_or(0, char::len_utf8)
}

/// The next ASCII character from `i` on with a boundary on both sides. Skips white space after non-ASCII white
/// space, because the two may merge.
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

    use super::super::word_class::is_simple;
    use super::*;

    fn library_words(text: &str, merge_blanks: bool) -> Vec<String> {
        let mut normalised = String::new();
        Normalise {
            keep_whitespace: !merge_blanks,
            ..Normalise::default()
        }
        .apply(text, &mut normalised);
        normalised.unicode_words().map(str::to_owned).collect()
    }

    /// Finds words on every instruction set and checks that they agree.
    fn fast(text: &str, merge_blanks: bool) -> Vec<String> {
        let on = |isa| {
            let mut words = Vec::new();
            for_each_word_with(isa, text, merge_blanks, |word| words.push(word.to_owned()));
            words
        };
        let words = on(Isa::available()[0]);
        for isa in &Isa::available()[1..] {
            assert_eq!(on(*isa), words, "{isa}: {text:?}");
        }
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

    /// All classes of the boundary rules, and characters that join across ASCII.
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
        "‘",
        "“",
        "—",
        "…",
        "•",
        "™",
        "©",
        "²",
        "²\u{ad}",
        "ü",
        "Σ",
        "ж",
        "\u{483}",
        "한",
        "ừ",
        "€",
        "×",
        "\u{2024}",
        "\u{2027}",
        "\u{200a}",
    ];

    /// Pieces that shift the following text to any offset in a block or a chunk.
    const LONG: &[&str] = &[
        "twelve bytes",
        "a paragraph of sixty-four bytes, the length of one block of text",
        "________________________________",
        "’’’’’’’’’’’’’’’’’’’’’’’’’’’’’’’’",
        "éééééééééééééééééééééééééééééééé",
        "don’t l’été “naïve” 1’000’000.5 – ",
    ];

    /// Checks each simple character between pairs of other characters.
    #[test]
    fn simple_characters_match_the_library() {
        let mut simple: Vec<char> = ('\u{80}'..'\u{ac00}').filter(|c| is_simple(*c)).collect();
        assert!(simple.len() > 1900, "{}", simple.len());
        simple.extend("가힣한하갛각간갂".chars());
        let differs = |c: &char| {
            // One side: all kinds. Other side: characters that join or may be joined.
            let all = || NASTY.iter().copied();
            let few = [
                "", "x", "1", "'", "\u{301}", "א", "ア", "\u{200d}", " ", "’", "_",
            ];
            let differs = |text: String| {
                let mut words = Vec::new();
                for_each_word(&text, false, |word| words.push(word.to_owned()));
                words != library_words(&text, false)
            };
            few.iter().any(|few| {
                all().any(|any| {
                    differs(format!("{few}{c}{any}")) || differs(format!("{any}{c}{few}"))
                })
            })
        };
        simple.retain(differs);
        assert_eq!(simple, Vec::<char>::new());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn both_paths_find_the_same_words(
            pieces in prop::collection::vec(prop::sample::select(NASTY), 0..14),
            merge_blanks: bool,
        ) {
            let text = pieces.concat();
            prop_assert_eq!(fast(&text, merge_blanks), library_words(&text, merge_blanks), "{:?}", text);
        }

        #[test]
        fn both_paths_find_the_same_words_over_blocks(
            pieces in prop::collection::vec(
                prop_oneof![prop::sample::select(NASTY), prop::sample::select(LONG)], 0..40),
            merge_blanks: bool,
        ) {
            let text = pieces.concat();
            prop_assert_eq!(fast(&text, merge_blanks), library_words(&text, merge_blanks), "{:?}", text);
        }

        #[test]
        fn both_paths_find_the_same_words_over_chunks(
            pieces in prop::collection::vec(
                prop_oneof![prop::sample::select(NASTY), prop::sample::select(LONG)], 0..20),
            filler in prop::sample::select(&["x", "é", "’", "_", " ", "word ", "東", "\u{301}", "’a", "한 "][..]),
            short in 0..80usize,
            merge_blanks: bool,
        ) {
            let mut text = filler.repeat((CHUNK - short) / filler.len());
            text.push_str(&pieces.concat());
            prop_assert_eq!(fast(&text, merge_blanks), library_words(&text, merge_blanks), "{:?}", text);
        }

        #[test]
        fn both_paths_find_the_same_words_of_any_text(text in "\\PC{0,40}", merge_blanks: bool) {
            prop_assert_eq!(fast(&text, merge_blanks), library_words(&text, merge_blanks));
        }
    }
}
