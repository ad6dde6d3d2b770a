//! Cuts of texts.

use std::ops::Range;

use super::borders::tag_around;
use super::*;
use crate::units::{PassageUnit, PassageUnits};
use simgpu::simd::Isa;

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
