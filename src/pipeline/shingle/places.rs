//! Where the units of a text are.

use std::ops::Range;

use super::code::for_each_code_token;
use super::words::{WordSink, Words};
use crate::scheme::words_v1;
use crate::simd::Isa;
use crate::simd::words::hash_words;

/// Finds where the units of texts are. Reuses its memory from text to text.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct UnitPlaces {
    words: Words,
}

impl UnitPlaces {
    /// Calls `emit` with the bytes of each word of a text as it is, in order ([`Unit::Words`](super::Unit::Words)).
    #[doc(hidden)]
    pub fn for_each_word(&mut self, isa: Isa, text: &str, emit: impl FnMut(Range<usize>)) {
        let mut sink = Placed {
            text: text.as_bytes(),
            emit,
        };
        // Blanks are not merged, so that each word is a part of the text.
        self.words.find(isa, text, false, &mut sink);
    }

    /// Appends where the words of a text of less than 4 GiB are, as starts and ends in bytes, and their hashes of `words-v1`.
    #[doc(hidden)]
    pub fn hash_words(
        &mut self,
        isa: Isa,
        text: &str,
        places: &mut Vec<[u32; 2]>,
        hashes: &mut Vec<u64>,
    ) {
        let mut sink = Hashed {
            isa,
            text: text.as_bytes(),
            places,
            hashes,
        };
        self.words.find(isa, text, false, &mut sink);
    }
}

/// Calls `emit` with the bytes of each token of program text, in order ([`Unit::Code`](super::Unit::Code)).
#[doc(hidden)]
pub fn place_code_tokens(text: &str, mut emit: impl FnMut(Range<usize>)) {
    for_each_code_token(text, |token| emit(place(text.as_bytes(), token)));
}

/// Calls `emit` with the bytes of each line of a text that is not blank, without white space around it, in order.
#[doc(hidden)]
pub fn place_lines(text: &str, mut emit: impl FnMut(Range<usize>)) {
    for line in text.split('\n').map(str::trim) {
        if !line.is_empty() {
            emit(place(text.as_bytes(), line.as_bytes()));
        }
    }
}

/// Calls `emit` with the bytes of each paragraph of a text, in order: lines between blank ones, without white space around
/// them all.
#[doc(hidden)]
pub fn place_paragraphs(text: &str, mut emit: impl FnMut(Range<usize>)) {
    let mut open: Option<Range<usize>> = None;
    for line in text.split('\n') {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            open.take().into_iter().for_each(&mut emit);
            continue;
        }
        let line = place(text.as_bytes(), trimmed.as_bytes());
        open = match open {
            Some(paragraph) => Some(paragraph.start..line.end),
            None => Some(line),
        };
    }
    open.into_iter().for_each(emit);
}

/// Where a part of a text is.
fn place(text: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

struct Placed<'a, F> {
    text: &'a [u8],
    emit: F,
}

impl<F: FnMut(Range<usize>)> WordSink for Placed<'_, F> {
    fn words(&mut self, text: &[u8], words: &[[u32; 2]]) {
        let first = place(self.text, text).start;
        for [start, end] in words {
            (self.emit)(first + *start as usize..first + *end as usize);
        }
    }

    fn word(&mut self, word: &[u8]) {
        (self.emit)(place(self.text, word));
    }
}

struct Hashed<'a> {
    isa: Isa,
    text: &'a [u8],
    places: &'a mut Vec<[u32; 2]>,
    hashes: &'a mut Vec<u64>,
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a text has less than 4 GiB"
)]
impl WordSink for Hashed<'_> {
    fn words(&mut self, text: &[u8], words: &[[u32; 2]]) {
        let first = place(self.text, text).start as u32;
        let words_of_text = words.iter().map(|word| word.map(|at| first + at));
        self.places.extend(words_of_text);
        hash_words(self.isa, text, words, self.hashes);
    }

    fn word(&mut self, word: &[u8]) {
        let Range { start, end } = place(self.text, word);
        self.places.push([start as u32, end as u32]);
        self.hashes.push(words_v1::word(word));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    #[test]
    fn lines_and_paragraphs_are_trimmed() {
        let text = " a b\r\n\tc \n\n \n  d\n";
        let (mut lines, mut paragraphs) = (Vec::new(), Vec::new());
        place_lines(text, |place| lines.push(&text[place]));
        place_paragraphs(text, |place| paragraphs.push(&text[place]));
        assert_eq!(lines, ["a b", "c", "d"]);
        assert_eq!(paragraphs, ["a b\r\n\tc", "d"]);
    }

    proptest! {
        #[test]
        fn words_and_tokens_are_where_they_are_said(
            parts in prop::collection::vec(
                prop::sample::select(&["a", "don’t", " ", "\n", "1.5e-3", "東京", "é\u{301}", "_", "x.y", "\u{3000}"][..]),
                0..60,
            ),
        ) {
            let text = parts.concat();
            let mut words = Vec::new();
            UnitPlaces::default().for_each_word(Isa::best(), &text, |place| {
                words.push((place.start, &text[place]));
            });
            let library_words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
            prop_assert_eq!(&words, &library_words);
            let (mut places, mut hashes) = (Vec::new(), Vec::new());
            UnitPlaces::default().hash_words(Isa::best(), &text, &mut places, &mut hashes);
            let library_words = library_words.into_iter();
            let (expected, expected_hashes): (Vec<_>, Vec<_>) = library_words
                .map(|(start, word)| {
                    let place = [start, start + word.len()].map(|at| u32::try_from(at).unwrap());
                    (place, words_v1::word(word.as_bytes()))
                })
                .unzip();
            prop_assert_eq!((places, hashes), (expected, expected_hashes));
            let mut next = 0;
            place_code_tokens(&text, |place| {
                assert!(text[next..place.start].trim().is_empty());
                next = place.end;
            });
            prop_assert!(text[next..].trim().is_empty());
        }
    }
}
