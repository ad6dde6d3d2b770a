//! What two texts have in common, word by word.
//!
//! Words are those of Unicode, and white space does not count. A common beginning is not compared word by word. After it,
//! words that occur once in each text divide both into short parts (patience diff, by the crate `similar`), so that a long
//! insertion does not hide what follows. Where there are few such words, fewer words are compared: the comparison of a part
//! (Myers) takes time that grows with the square of its differences. There is no deadline, because the result would depend
//! on the machine.

use std::collections::HashMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

/// Words that are compared on each side, after the common beginning.
const COMPARED: usize = 8000;

/// The same where few words divide the texts.
const COMPARED_AT_ONCE: usize = 1000;

/// Few are fewer than one of so many.
const FEW: usize = 50;

/// Words that are shown of a long run of one text that the other lacks: at its beginning, and at its end.
const SHOWN: [usize; 2] = [40, 8];

/// Words that are shown before and after a difference.
const CONTEXT: usize = 12;

/// Letters of a word, at most: longer ones are cut into several.
const LETTERS: usize = 40;

/// A piece of one of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Piece<'a> {
    /// In both texts.
    Same(&'a str),
    /// Not in the other text.
    Other(&'a str),
    /// So many words that both texts have, and that are not shown.
    Omitted(usize),
    /// So many words that the other text lacks, and that are not shown.
    OmittedOther(usize),
    /// So many bytes that are not shown.
    Gap(usize),
    /// The rest of the text, which is not compared.
    Rest,
}

/// The pieces of two texts; `None` if they have the same words. Unless both are whole, a text may go on after its end, so
/// that nothing is said of words there that the other lacks.
#[doc(hidden)]
pub fn differences<'a>(a: &'a str, b: &'a str, is_whole: bool) -> Option<[Vec<Piece<'a>>; 2]> {
    let texts = [a, b];
    let common = common_beginning(a, b);
    let mut words = texts.map(|text| words(&text[common..]));
    if !has_dividers([&words[0].0, &words[1].0]) {
        for (words, is_cut) in &mut words {
            *is_cut |= words.len() > COMPARED_AT_ONCE;
            words.truncate(COMPARED_AT_ONCE);
        }
    }
    let keys =
        [0, 1].map(|side| -> Vec<&str> { words[side].0.iter().map(|word| word.key).collect() });
    let is_cut = words[0].1 || words[1].1 || !is_whole;
    let mut steps = capture_diff_slices(Algorithm::Patience, &keys[0], &keys[1]);
    let is_equal = |step: &DiffOp| matches!(step, DiffOp::Equal { .. });
    if is_cut {
        // Words beyond the compared ones may belong to the last ones; if nothing is the same, all are shown.
        let end = steps.iter().rposition(is_equal).map_or(0, |last| last + 1);
        if end > 0 || words.iter().any(|(words, _)| words.is_empty()) {
            steps.truncate(end);
        }
    }
    if steps.iter().all(is_equal) && words.iter().all(|(_, is_cut)| !is_cut) {
        return None;
    }
    let pieces = [0, 1].map(|side| {
        let text = texts[side];
        let mut pieces = Pieces {
            text: &text[common..],
            pieces: Vec::new(),
        };
        pieces.beginning(&text[..common], !steps.is_empty());
        let count = steps.len();
        for (at, step) in steps.iter().enumerate() {
            let (_, old, new) = step.as_tag_tuple();
            let step_words = &words[side].0[if side == 0 { old } else { new }];
            match step {
                DiffOp::Equal { .. } => {
                    pieces.same(
                        step_words,
                        at == 0 && common == 0,
                        at + 1 == count && !is_cut,
                    );
                }
                _ => pieces.other(step_words),
            }
        }
        if is_cut {
            pieces.pieces.push(Piece::Rest);
        }
        pieces.pieces
    });
    Some(pieces)
}

/// Whether words that occur once in each text are not few.
fn has_dividers(texts: [&[Word<'_>]; 2]) -> bool {
    let mut counts: HashMap<&str, [u32; 2]> = HashMap::new();
    for (side, words) in texts.into_iter().enumerate() {
        for word in words {
            counts.entry(word.key).or_default()[side] += 1;
        }
    }
    let dividers = counts.values().filter(|count| **count == [1, 1]).count();
    dividers * FEW >= texts[0].len().max(texts[1].len())
}

/// A word, and where it is with the white space after it.
#[derive(Clone, Copy)]
struct Word<'a> {
    key: &'a str,
    start: usize,
    end: usize,
}

/// The first words of a text, and whether there are more. White space before the first one belongs to it.
fn words(text: &str) -> (Vec<Word<'_>>, bool) {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut end = 0;
    for piece in text.split_word_bounds() {
        if piece.chars().all(char::is_whitespace) {
            end += piece.len();
            if let Some(word) = words.last_mut() {
                word.end = end;
            }
            continue;
        }
        for key in parts(piece) {
            if words.len() == COMPARED {
                return (words, true);
            }
            let start = words.last().map_or(0, |word| word.end);
            end += key.len();
            words.push(Word { key, start, end });
        }
    }
    (words, false)
}

/// A word in parts of at most [`LETTERS`].
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let mut letters = rest.char_indices();
        let end = letters.nth(LETTERS).map_or(rest.len(), |(at, _)| at);
        let (part, other) = rest.split_at(end);
        rest = other;
        (!part.is_empty()).then_some(part)
    })
}

/// The length of the beginning that both texts have, up to the end of a word.
fn common_beginning(a: &str, b: &str) -> usize {
    let bytes = a.bytes().zip(b.bytes());
    let equal = bytes.take_while(|(a, b)| a == b).count();
    if equal == a.len() && equal == b.len() {
        return equal;
    }
    let mut before = a.as_bytes()[..equal].iter();
    // ASCII, so that the next byte begins a character.
    before
        .rposition(u8::is_ascii_whitespace)
        .map_or(0, |at| at + 1)
}

/// The pieces of one text.
struct Pieces<'a> {
    /// The text after the common beginning.
    text: &'a str,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Pieces<'a> {
    /// The beginning that both texts have: its first words, and those before the first difference.
    fn beginning(&mut self, text: &'a str, is_followed: bool) {
        let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
        let last = if is_followed { CONTEXT } else { 0 };
        if words.len() <= CONTEXT + last + 1 {
            return self.push_same(text);
        }
        let (first, rest) = words.split_at(CONTEXT);
        let (omitted, last) = rest.split_at(rest.len() - last);
        let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
        let omitted = omitted.iter().filter(|word| !word.trim().is_empty());
        self.push_same(&text[..length(first)]);
        self.pieces.push(Piece::Omitted(omitted.count()));
        self.push_same(&text[text.len() - length(last)..]);
    }

    /// Words that both texts have. Those far from differences are left out.
    fn same(&mut self, words: &[Word<'_>], is_first: bool, is_last: bool) {
        let before = if is_first { 0 } else { CONTEXT };
        let after = if is_last { 0 } else { CONTEXT };
        if words.len() <= before + after + 1 {
            return self.push_same(self.joined(words));
        }
        let (first, rest) = words.split_at(before);
        let (omitted, last) = rest.split_at(rest.len() - after);
        self.push_same(self.joined(first));
        self.pieces.push(Piece::Omitted(omitted.len()));
        self.push_same(self.joined(last));
    }

    fn other(&mut self, words: &[Word<'_>]) {
        let [before, after] = SHOWN;
        if words.is_empty() {
            return;
        }
        if words.len() <= before + after + 1 {
            return self.pieces.push(Piece::Other(self.joined(words)));
        }
        let (first, rest) = words.split_at(before);
        let (omitted, last) = rest.split_at(rest.len() - after);
        self.pieces.extend([
            Piece::Other(self.joined(first)),
            Piece::OmittedOther(omitted.len()),
            Piece::Other(self.joined(last)),
        ]);
    }

    fn push_same(&mut self, text: &'a str) {
        if !text.is_empty() {
            self.pieces.push(Piece::Same(text));
        }
    }

    /// The text of words that follow each other.
    fn joined(&self, words: &[Word<'_>]) -> &'a str {
        match words {
            [] => "",
            [first, ..] => &self.text[first.start..words[words.len() - 1].end],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::scheme::fmix64;

    /// The words of all pieces, those that are omitted as their number.
    fn shown(pieces: &[Piece<'_>]) -> String {
        let shown = pieces.iter().map(|piece| match piece {
            Piece::Same(text) => (*text).to_owned(),
            Piece::Other(text) => format!("[{text}]"),
            Piece::Omitted(words) => format!("({words})"),
            Piece::OmittedOther(words) => format!("[({words})]"),
            Piece::Gap(bytes) => format!("({bytes} bytes)"),
            Piece::Rest => "...".to_owned(),
        });
        shown.collect()
    }

    fn both(a: &str, b: &str) -> Option<[String; 2]> {
        differences(a, b, true).map(|sides| sides.map(|pieces| shown(&pieces)))
    }

    #[test]
    fn words_that_differ_are_found() {
        let some = |a: &str, b: &str| Some([a.to_owned(), b.to_owned()]);
        assert_eq!(both("a rose is", "a rose  is\n"), None);
        assert_eq!(both("", ""), None);
        assert_eq!(both("a b c", "a x c"), some("a [b ]c", "a [x ]c"));
        assert_eq!(both("a b", "a"), some("a [b]", "a"));
        assert_eq!(both("", "a"), some("", "[a]"));
        // The hidden words are those of both sides.
        let many = |word: &str| format!("{}{word} {}", "a ".repeat(40), "b ".repeat(40));
        let [left, right] = both(&many("x"), &many("y")).unwrap();
        assert_eq!(left, right.replace("[y ]", "[x ]"));
        let twelve = "a ".repeat(12);
        assert!(left.starts_with(&format!("{twelve}(16){twelve}")), "{left}");
        assert!(left.ends_with("(28)"), "{left}");
    }

    /// With no more words than are shown, both texts come back whole, and what is the same is a common subsequence.
    #[test]
    fn pieces_are_the_whole_texts() {
        for seed in 0..500u64 {
            let words = |side: u64| -> String {
                let words = ["a ", "b ", "c\n", "\u{4e2d}", "d, "];
                let word = |at: u64| {
                    let random = fmix64(seed * 64 + side * 32 + at) % 5;
                    words[usize::try_from(random).unwrap()]
                };
                (0..fmix64(seed * 2 + side) % 10).map(word).collect()
            };
            let [a, b] = [0, 1].map(words);
            let Some(sides) = differences(&a, &b, true) else {
                let blank = |text: &str| text.split_whitespace().collect::<String>();
                assert_eq!(blank(&a), blank(&b));
                continue;
            };
            let same = [&sides[0], &sides[1]].map(|pieces| {
                let of = pieces.iter().filter_map(|piece| match piece {
                    Piece::Same(text) => Some(*text),
                    _ => None,
                });
                of.collect::<String>()
                    .split_whitespace()
                    .collect::<String>()
            });
            assert_eq!(same[0], same[1]);
            for (pieces, text) in sides.iter().zip([&a, &b]) {
                assert_eq!(&shown(pieces).replace(['[', ']'], ""), text);
            }
        }
    }

    #[test]
    fn long_texts_end_with_the_rest() {
        let long = |seed: u64| -> String {
            (0..5000)
                .map(|at| format!("{} ", fmix64(seed << 32 | at) % 50))
                .collect()
        };
        let texts = [long(1), long(2)];
        for pieces in differences(&texts[0], &texts[1], true).unwrap() {
            assert_eq!(pieces.last(), Some(&Piece::Rest));
        }
        let one = "x".repeat(1 << 20);
        assert_eq!(both(&one, &one), None);
        let other = "y".repeat(1 << 20);
        let pieces = differences(&one, &other, true).unwrap();
        let omitted = COMPARED_AT_ONCE - SHOWN[0] - SHOWN[1];
        let [
            Piece::Other(text),
            Piece::OmittedOther(words),
            Piece::Other(_),
            Piece::Rest,
        ] = pieces[0][..]
        else {
            panic!("{:?}", pieces[0]);
        };
        assert_eq!((text.len(), words), (SHOWN[0] * LETTERS, omitted));
    }

    #[test]
    fn nothing_is_said_of_what_may_follow() {
        let cut = |a: &str, b: &str| {
            differences(a, b, false).map(|sides| sides.map(|pieces| shown(&pieces)))
        };
        let some = |a: &str, b: &str| Some([a.to_owned(), b.to_owned()]);
        assert_eq!(cut("a b c", "a x c d"), some("a [b ]c...", "a [x ]c ..."));
        assert_eq!(cut("a b c", "a b c d e"), None);
        assert_eq!(cut("a b ", "a b c d e"), None);
    }

    /// What follows a long insertion is found to be the same.
    #[test]
    fn an_insertion_does_not_hide_what_follows() {
        let own = |from: u64| -> String {
            (from..from + 2000)
                .map(|word| format!("w{word} "))
                .collect()
        };
        let [left, right] = both(&own(0), &(own(9000) + &own(0))).unwrap();
        assert!(left.ends_with("(1988)"), "{left}");
        assert!(right.starts_with("[w9000 "), "{right}");
        assert!(
            right.contains("[(1952)]") && right.ends_with("(1988)"),
            "{right}"
        );
    }
}
