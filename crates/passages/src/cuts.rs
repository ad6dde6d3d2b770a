//! Which parts of texts are cut.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::units::{PassageUnit, PassageUnits};
use simgpu::pipeline::UnitPlaces;
use simgpu::simd::Isa;

/// To what a cut is shrunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snap {
    /// Whole words, and white space at one of its sides.
    #[default]
    Words,
    /// Whole lines, with their ends.
    Lines,
    /// The exact passage, without partial characters.
    None,
}

impl Snap {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Snap::Words => "words",
            Snap::Lines => "lines",
            Snap::None => "none",
        }
    }
}

/// What is cut out of documents, and which are removed.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Cuts {
    /// Bytes of the texts.
    cuts: Vec<[u32; 2]>,
    /// Where the cuts of each document end.
    ends: Vec<usize>,
    is_removed: Vec<bool>,
    /// Bytes of passages that stay in documents that stay: parts of words, lines or characters.
    pub(crate) uncut: u64,
}

impl Cuts {
    /// Adds the next document.
    #[doc(hidden)]
    pub fn push(&mut self, cuts: impl IntoIterator<Item = Range<usize>>) {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a text has less than 4 GiB"
        )]
        let packed = cuts
            .into_iter()
            .map(|cut| [cut.start as u32, cut.end as u32]);
        self.cuts.extend(packed);
        self.ends.push(self.cuts.len());
        self.is_removed.push(false);
    }

    /// Adds the next document, which is removed.
    #[doc(hidden)]
    pub fn push_dropped(&mut self) {
        self.ends.push(self.cuts.len());
        self.is_removed.push(true);
    }

    /// What is cut out of a document.
    pub(crate) fn cut_out(&self, document: usize) -> &[[u32; 2]] {
        let start = document
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.cuts[start..self.ends[document]]
    }

    pub(crate) fn is_removed(&self, document: usize) -> bool {
        self.is_removed[document]
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes that are cut out of documents that stay.
    pub(crate) fn bytes(&self) -> u64 {
        self.cuts
            .iter()
            .map(|[start, end]| u64::from(end - start))
            .sum()
    }
}

/// Bytes of spans outside of the cuts; both ascend.
pub(crate) fn uncut(spans: &[Range<usize>], cuts: &[Range<usize>]) -> u64 {
    let mut cuts = cuts.iter().peekable();
    let of_span = |span: &Range<usize>| {
        let mut bytes = span.len();
        while cuts.next_if(|cut| cut.end <= span.start).is_some() {}
        while let Some(cut) = cuts.peek().filter(|cut| cut.start < span.end) {
            bytes -= cut.end.min(span.end) - cut.start.max(span.start);
            if cut.end > span.end {
                break;
            }
            cuts.next();
        }
        bytes as u64
    };
    spans.iter().map(of_span).sum()
}

/// The most bytes of a character: a cut begins and ends nearer than this to its span before it is shrunk to words.
const CHARACTER: usize = 4;

/// Shrinks passages to cuts.
#[derive(Debug)]
#[doc(hidden)]
pub struct Shrinking {
    units: PassageUnits,
    snap: Snap,
    finder: UnitPlaces,
    /// The words at the borders of the spans: all words of a long text would take several times its memory.
    words: Vec<Range<usize>>,
}

impl Shrinking {
    #[doc(hidden)]
    pub fn new(units: PassageUnits, snap: Snap) -> Self {
        Shrinking {
            units,
            snap,
            finder: UnitPlaces::default(),
            words: Vec::new(),
        }
    }

    /// The cuts of a text, from spans that ascend and share nothing.
    #[doc(hidden)]
    pub fn cuts(&mut self, text: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
        self.words.clear();
        let finds_words = matches!(self.units.unit, PassageUnit::Chars | PassageUnit::Bytes);
        if finds_words && self.snap == Snap::Words {
            self.find_words(text, spans);
        }
        let mut cuts: Vec<Range<usize>> = Vec::with_capacity(spans.len());
        for span in spans {
            let from = cuts.last().map_or(0, |last| last.end);
            let cut = self.cut(text, from, span);
            if cut.start < cut.end {
                cuts.push(cut);
            }
        }
        cuts
    }

    /// Finds the words at the borders of spans. Looks through the lines there alone: no word goes over the end of a line, or
    /// depends on what is behind it.
    fn find_words(&mut self, text: &str, spans: &[Range<usize>]) {
        let borders = spans.iter().flat_map(|span| [span.start, span.end]);
        let mut borders = borders.peekable();
        let mut end = 0;
        while let Some(border) = borders.peek() {
            let lines = lines_around(
                text,
                end,
                border.saturating_sub(CHARACTER)..border + CHARACTER,
            );
            end = lines.end;
            let words = &mut self.words;
            self.finder
                .for_each_word(Isa::best(), &text[lines.clone()], |word| {
                    let word = lines.start + word.start..lines.start + word.end;
                    let is_behind = |border: &usize| border + CHARACTER <= word.start;
                    while borders.next_if(is_behind).is_some() {}
                    if borders
                        .peek()
                        .is_some_and(|border| *border < word.end + CHARACTER)
                    {
                        words.push(word);
                    }
                });
            let is_done = |border: &usize| border + CHARACTER <= end || end == text.len();
            while borders.next_if(is_done).is_some() {}
        }
    }

    fn cut(&self, text: &str, from: usize, span: &Range<usize>) -> Range<usize> {
        let whole = whole_characters(text, span.start.max(from)..span.end);
        match (self.units.unit, self.snap) {
            (PassageUnit::Lines | PassageUnit::Paragraphs, _) | (_, Snap::Lines) => {
                let lines = whole_lines(text, from, whole);
                match self.units.unit {
                    PassageUnit::Paragraphs => with_blank_lines(text, lines),
                    _ => lines,
                }
            }
            (_, Snap::None) => whole,
            (_, Snap::Words) => {
                let cut = whole_runs(text, outside_tags(text, self.whole_words(whole)));
                // A run, or the last word of a cut, may lie within a tag with attributes.
                with_blanks(text, from, outside_tags(text, unglued(text, cut)))
            }
        }
    }

    /// Whole words, where they are found.
    fn whole_words(&self, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
        let around = |at: usize| {
            let next = self.words.partition_point(|word| word.end <= at);
            self.words.get(next).filter(|word| word.start < at)
        };
        if let Some(word) = around(start) {
            start = word.end;
        }
        if let Some(word) = around(end) {
            end = word.start;
        }
        start..end.max(start)
    }
}

/// The lines with a part of a text, from a place on where a line begins.
fn lines_around(text: &str, from: usize, part: Range<usize>) -> Range<usize> {
    // The next beginning of a character: no line ends within one.
    let next = |at: usize| {
        let mut places = at.clamp(from, text.len())..text.len();
        places.find(|at| text.is_char_boundary(*at))
    };
    let [before, behind] = [part.start, part.end].map(|at| next(at).unwrap_or(text.len()));
    let start = text[from..before].rfind('\n');
    let end = text[behind..].find('\n');
    start.map_or(from, |at| from + at + 1)..end.map_or(text.len(), |at| behind + at + 1)
}

/// The whole characters of a range of bytes.
fn whole_characters(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    start..end.max(start)
}

/// The whole lines, of which white space at both ends does not count.
fn whole_lines(text: &str, from: usize, Range { start, end }: Range<usize>) -> Range<usize> {
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let start = if text[line..start].trim().is_empty() && line >= from {
        line
    } else {
        text[start..]
            .find('\n')
            .map_or(text.len(), |newline| start + newline + 1)
    };
    let rest = text[end..]
        .find('\n')
        .map_or(text.len(), |newline| end + newline + 1);
    let end = if text[end..rest].trim().is_empty() {
        rest
    } else {
        text[..end].rfind('\n').map_or(0, |newline| newline + 1)
    };
    start..end.max(start)
}

/// A paragraph with the blank lines behind it, if blank lines are before it, or nothing.
fn with_blank_lines(text: &str, Range { start, mut end }: Range<usize>) -> Range<usize> {
    let before = text[..start].trim_end_matches('\n').len();
    if before > 0 && start - before < 2 {
        return start..end;
    }
    while let Some(line) = text[end..].find('\n').map(|newline| end + newline + 1) {
        if !text[end..line].trim().is_empty() {
            break;
        }
        end = line;
    }
    start..end
}

/// Shrinks a cut that begins or ends within a tag of HTML or XML: half a tag would swallow the text behind it.
fn outside_tags(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    if let Some(tag) = tag_around(text.as_bytes(), start) {
        start = tag.end;
    }
    if let Some(tag) = tag_around(text.as_bytes(), end) {
        end = tag.start;
    }
    start..end.max(start)
}

/// Bytes on each side of a place that are looked through for the ends of a tag.
const TAG: usize = 1000;

/// The tag that goes on both sides of a place, if one does: `<`, then a letter, `/`, `!` or `?`, up to the next `>`.
fn tag_around(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at.saturating_sub(TAG);
    let start = from + memchr::memrchr2(b'<', b'>', &text[from..at])?;
    let opens = text[start] == b'<'
        && matches!(
            text.get(start + 1),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'!' | b'?')
        );
    let to = text.len().min(at + TAG);
    let end = at + memchr::memchr2(b'<', b'>', &text[at..to])?;
    (opens && text[end] == b'>').then_some(start..end + 1)
}

/// Bytes that are looked through for the end of a run.
const RUN: usize = 200;

/// Shrinks a cut that begins or ends within a run of letters, digits and signs, such as an address, a tag or a name with
/// dots: what is left of two such runs would make another one. Runs are of ASCII, since many scripts have no white space
/// between words, and end with the word that they are a part of; a longer one is no word.
fn whole_runs(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    let (before, after) = (&text.as_bytes()[..start], &text.as_bytes()[end..]);
    // Only a word with other letters goes on beyond a run.
    let is_other = |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii());
    if has_word(before.iter().rev()) {
        let cut = &text[start..end];
        let behind = run(cut.bytes()).unwrap_or(0);
        let word = if is_other(cut.as_bytes().get(behind)) {
            words_of(cut).find(|word| word.end > behind)
        } else {
            None
        };
        let word = word.filter(|word| word.start < behind);
        start += word.map_or(behind, |word| word.end);
    }
    if has_word(after.iter()) {
        let cut = &text[start..end];
        let from = cut.len() - run(cut.bytes().rev()).unwrap_or(0);
        let word = if is_other(cut.as_bytes()[..from].last()) {
            words_of(cut).rev().find(|word| word.start < from)
        } else {
            None
        };
        let word = word.filter(|word| word.end > from);
        end = start + word.map_or(from, |word| word.start);
    }
    start..end
}

/// The words of a text.
fn words_of(text: &str) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let words = text.unicode_word_indices();
    words.map(|(start, word)| start..start + word.len())
}

/// The bytes of the run that comes first; `None` if it is long.
fn run(bytes: impl Iterator<Item = u8>) -> Option<usize> {
    let bytes = bytes.take(RUN).take_while(u8::is_ascii_graphic);
    Some(bytes.count()).filter(|bytes| *bytes < RUN)
}

/// Whether the run that comes first has a letter or digit.
fn has_word<'a>(bytes: impl Iterator<Item = &'a u8>) -> bool {
    let mut bytes = bytes.take(RUN).take_while(|byte| byte.is_ascii_graphic());
    bytes.any(u8::is_ascii_alphanumeric)
}

/// Whether two words would be one if what is between them were cut.
fn is_glued(text: &str, cut: &Range<usize>) -> bool {
    let (before, after) = (&text[..cut.start], &text[cut.end..]);
    let edge = |(at, _): (usize, char)| at;
    let from = before
        .char_indices()
        .rev()
        .nth(1)
        .or(before.char_indices().next())
        .map_or(0, edge);
    let to = after.char_indices().nth(2).map_or(after.len(), edge);
    let joined = [&before[from..], &after[..to]].concat();
    let joint = before.len() - from;
    let mut words = joined.unicode_word_indices();
    words.any(|(start, word)| start < joint && joint < start + word.len())
}

/// Leaves what keeps the words around a cut apart: a white space at one of its ends, else its last words.
fn unglued(text: &str, Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    let is_blank = |char: Option<char>| char.is_some_and(char::is_whitespace);
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    if start == end || before.is_none() || after.is_none() || is_blank(before) || is_blank(after) {
        return start..end;
    }
    let of_end = text[start..end]
        .chars()
        .next_back()
        .filter(|char| char.is_whitespace());
    let of_start = text[start..end]
        .chars()
        .next()
        .filter(|char| char.is_whitespace());
    match (of_end, of_start) {
        (Some(blank), _) => end -= blank.len_utf8(),
        (None, Some(blank)) => start += blank.len_utf8(),
        (None, None) => {
            while start < end && is_glued(text, &(start..end)) {
                let mut words = text[start..end].unicode_word_indices();
                end = start + words.next_back().map_or(0, |(at, _)| at);
            }
        }
    }
    start..end
}

/// Cuts white space on one side, if there is some on both: the side with fewer ends of lines.
fn with_blanks(text: &str, from: usize, Range { start, end }: Range<usize>) -> Range<usize> {
    if start == end {
        return start..end;
    }
    let before = from + text[from..start].trim_end().len();
    let after = text.len() - text[end..].trim_start().len();
    let is_first = before == 0;
    match (before < start || is_first, after > end || end == text.len()) {
        _ if is_first && end < text.len() => start..after,
        (true, true) if end == text.len() || after == text.len() => before..end,
        (true, true) => {
            let lines = |range: Range<usize>| text[range].matches('\n').count();
            if lines(before..start) < lines(end..after) {
                before..end
            } else {
                start..after
            }
        }
        _ => start..end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text without these parts of it, found by their text.
    fn left(unit: PassageUnit, snap: Snap, text: &str, parts: &[&str]) -> String {
        let mut from = 0;
        let spans = parts.iter().map(|part| {
            let start = from + text[from..].find(part).unwrap();
            from = start + part.len();
            start..from
        });
        let spans: Vec<Range<usize>> = spans.collect();
        let cuts = Shrinking::new(PassageUnits::of(unit), snap).cuts(text, &spans);
        let mut kept = String::new();
        let mut at = 0;
        for cut in cuts {
            // Cuts ascend, and a cut is never wider than its span but for white space.
            assert!(at <= cut.start && cut.start < cut.end);
            let is_in = |at: usize| spans.iter().any(|span| span.contains(&at));
            let outside = cut
                .clone()
                .filter(|at| !is_in(*at) && text.is_char_boundary(*at));
            assert!(
                outside
                    .into_iter()
                    .all(|at| text[at..].starts_with(char::is_whitespace))
            );
            kept += &text[at..cut.start];
            at = cut.end;
        }
        kept + &text[at..]
    }

    #[test]
    fn cuts_shrink_to_whole_words_and_lines() {
        use PassageUnit::{Bytes, Chars, Lines, Paragraphs, Words};
        for (unit, snap, text, parts, expected) in [
            // White space goes on one side alone, that with fewer line ends.
            (Words, Snap::Words, "a b c d", &["b c"][..], "a d"),
            (Words, Snap::Words, "a\n\nb c d", &["b c"], "a\n\nd"),
            (Words, Snap::Words, "b c d", &["b c"], "d"),
            (Words, Snap::Words, "a b c", &["b c"], "a"),
            (Words, Snap::Words, "a (b c), d", &["b c"], "a (), d"),
            (Words, Snap::None, "a b c d", &["b c"], "a  d"),
            // What is left of two addresses or tags makes no third one.
            (
                Words,
                Snap::Words,
                "at http://a.b/c d e http://a.b/f on",
                &["c d e http://a.b"],
                "at http://a.b/c http://a.b/f on",
            ),
            (
                Words,
                Snap::Words,
                "a <b>b</b> c d.",
                &["b> c d"],
                "a <b>b</b> .",
            ),
            (
                Words,
                Snap::Words,
                "a <b>b c</b> d",
                &["b c</b"],
                "a <b>b c</b> d",
            ),
            (
                Words,
                Snap::Words,
                "a <b>b c d</b> e",
                &["b>b c"],
                "a <b>b d</b> e",
            ),
            (
                Bytes,
                Snap::Words,
                "a <i class=\"b c\">d e f</i> g",
                &["class=\"b c\">d e f</i"],
                "a <i class=\"b c\">d f</i> g",
            ),
            (
                Words,
                Snap::Words,
                "a b <i class=\"c\">d</i> e",
                &["b <i class=\"c\">d</i"],
                "a <i class=\"c\">d</i> e",
            ),
            // A tag bounds a run.
            (
                Words,
                Snap::Words,
                "a.b<i class=\"x\">c d e f",
                &["b<i class=\"x\">c d e"],
                "a.b<i class=\"x\"> f",
            ),
            (
                Bytes,
                Snap::Words,
                "\u{30ab}<i x=\"y\">\u{30ab}",
                &["<i x=\"y\">"],
                "\u{30ab}<i x=\"y\">\u{30ab}",
            ),
            // A run ends with its word.
            (
                Words,
                Snap::Words,
                "a/Gr\u{f6}\u{df}e b c d",
                &["Gr\u{f6}\u{df}e b c"],
                "a/Gr\u{f6}\u{df}e d",
            ),
            (
                Words,
                Snap::Words,
                "d b c Gr\u{f6}\u{df}e/x",
                &["b c Gr\u{f6}\u{df}e"],
                "d Gr\u{f6}\u{df}e/x",
            ),
            (Words, Snap::Words, "a < b c > d", &["b c"], "a < > d"),
            (Words, Snap::Words, "(a). b c \"d\"", &["b c"], "(a). \"d\""),
            (Words, Snap::None, "a.b c.d", &["b c"], "a..d"),
            (Words, Snap::None, "a,b c,d", &["b c,"], "a,d"),
            // Parts of words stay, and never is a character cut in two.
            (
                Chars,
                Snap::Words,
                "one two three four",
                &["e two thr"],
                "one three four",
            ),
            (Chars, Snap::Words, "onetwo", &["net"], "onetwo"),
            (Bytes, Snap::None, "ab\u{e9}cd", &["b\u{e9}c"], "ad"),
            // Two words never become one, unless a cut is exact.
            (Chars, Snap::None, "one two three", &["e two t"], "onhree"),
            (Chars, Snap::None, "one-two", &["-"], "onetwo"),
            (Chars, Snap::Words, "one-two", &["-"], "one-two"),
            (Words, Snap::Words, "x y. x y", &["x y", "x y"], "."),
            (Words, Snap::Lines, "a\nb c\nd", &["b c"], "a\nd"),
            (Words, Snap::Lines, "a b\nc d e\nf", &["b\nc d e"], "a b\nf"),
            (Words, Snap::Lines, "a b c", &["b"], "a b c"),
            (Lines, Snap::Words, "a\n  b c \r\nd", &["b c"], "a\nd"),
            (Lines, Snap::Words, "a\nb", &["b"], "a\n"),
            (
                Paragraphs,
                Snap::Words,
                "a\n\nb\nc\n\nd",
                &["b\nc"],
                "a\n\nd",
            ),
            (Words, Snap::Words, "a b", &[], "a b"),
        ] {
            assert_eq!(
                left(unit, snap, text, parts),
                expected,
                "{unit} {snap:?} {text:?}"
            );
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        #[test]
        fn words_at_borders_cut_as_all_words(
            parts in proptest::collection::vec(
                proptest::sample::select(
                    &[
                        "a", "word", "can't", "3.5", "\u{e9}", "\u{1f600}", "\u{65e5}", "\u{30ab}", " ", ", ", "\n", "<i a=\"",
                        "\">", "</i>", "<", ">",
                    ][..],
                ),
                1..60,
            ),
            borders in proptest::collection::btree_set(0_usize..300, 0..12),
        ) {
            let text = parts.concat();
            let borders: Vec<usize> = borders.into_iter().filter(|at| *at <= text.len()).collect();
            let spans: Vec<Range<usize>> = borders.chunks_exact(2).map(|at| at[0]..at[1]).collect();
            let mut shrinking = Shrinking::new(PassageUnits::of(PassageUnit::Bytes), Snap::Words);
            let cuts = shrinking.cuts(&text, &spans);
            // Five words at most begin or end near a border.
            assert!(shrinking.words.len() <= 10 * spans.len());
            shrinking.words.clear();
            let words = &mut shrinking.words;
            shrinking.finder.for_each_word(Isa::best(), &text, |word| words.push(word));
            let mut expected: Vec<Range<usize>> = Vec::new();
            for span in &spans {
                let cut = shrinking.cut(&text, expected.last().map_or(0, |last| last.end), span);
                expected.extend((cut.start < cut.end).then_some(cut));
            }
            assert_eq!(cuts, expected);
            for cut in &cuts {
                let ends = [cut.start, cut.end].map(|at| tag_around(text.as_bytes(), at));
                assert_eq!(ends, [None, None], "{text:?} {cut:?}");
                let is_in = |at: usize| spans.iter().any(|span| span.contains(&at));
                let mut outside = text[cut.clone()].char_indices();
                assert!(outside.all(|(at, char)| char.is_whitespace() || is_in(cut.start + at)));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn exact_cuts_leave_what_no_span_has_whole(
            parts in proptest::collection::vec(
                proptest::sample::select(
                    &["a", "word ", "3,5", "é", "\u{1f600}", "日本", "カナ", "ไทย", "e\u{301}", "\n", "<i>", "\u{a0}"][..],
                ),
                1..40,
            ),
            borders in proptest::collection::btree_set(0_usize..200, 0..12),
        ) {
            let text = parts.concat();
            let borders: Vec<usize> = borders.into_iter().filter(|at| *at <= text.len()).collect();
            let spans: Vec<Range<usize>> = borders.chunks_exact(2).map(|at| at[0]..at[1]).collect();
            let is_covered = |at: usize| spans.iter().any(|span| span.contains(&at));
            let is_whole = |(at, c): &(usize, char)| {
                spans.iter().any(|span| span.start <= *at && at + c.len_utf8() <= span.end)
            };
            let left: String = text.char_indices().filter(|it| !is_whole(it)).map(|(_, c)| c).collect();
            let parts_of_characters = text
                .char_indices()
                .filter(|it| !is_whole(it))
                .flat_map(|(at, c)| at..at + c.len_utf8())
                .filter(|at| is_covered(*at));
            for unit in [PassageUnit::Bytes, PassageUnit::Words] {
                let cuts = Shrinking::new(PassageUnits::of(unit), Snap::None).cuts(&text, &spans);
                let mut kept = String::new();
                let mut at = 0;
                for cut in &cuts {
                    kept += &text[at..cut.start];
                    at = cut.end;
                }
                kept += &text[at..];
                proptest::prop_assert_eq!(&kept, &left);
                proptest::prop_assert_eq!(uncut(&spans, &cuts), parts_of_characters.clone().count() as u64);
            }
        }

        #[test]
        fn bytes_that_stay_are_those_outside_of_cuts(borders in proptest::collection::vec(0_usize..40, 0..24)) {
            let ranges = |borders: &[usize]| -> Vec<Range<usize>> {
                let mut borders = borders.to_vec();
                borders.sort_unstable();
                borders.chunks_exact(2).map(|at| at[0]..at[1]).filter(|range| !range.is_empty()).collect()
            };
            let (spans, cuts) = borders.split_at(borders.len() / 2);
            let (spans, cuts) = (ranges(spans), ranges(cuts));
            let is_in = |ranges: &[Range<usize>], at: usize| ranges.iter().any(|range| range.contains(&at));
            let expected = (0..40).filter(|at| is_in(&spans, *at) && !is_in(&cuts, *at)).count();
            proptest::prop_assert_eq!(uncut(&spans, &cuts), expected as u64);
        }
    }

    #[test]
    fn bytes_of_half_a_character_stay() {
        let text = "a\u{e9}b";
        let mut shrinking = Shrinking::new(PassageUnits::of(PassageUnit::Bytes), Snap::None);
        let mut cuts = |from, to| shrinking.cuts(text, std::slice::from_ref(&(from..to)));
        // The accented letter has the bytes 1 and 2.
        assert_eq!(cuts(2, 4).first(), Some(&(3..4)));
        assert_eq!(cuts(0, 2).first(), Some(&(0..1)));
        assert!(cuts(1, 2).is_empty());
    }
}
