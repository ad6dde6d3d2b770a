//! Units and their places.

use std::num::NonZeroUsize;

use super::*;
use crate::search::PassageSearch;
use simgpu::pipeline::{Normalise, UnitPlaces};
use simgpu::progress::Silent;

fn placed(texts: &[&str], units: PassageUnits) -> Vec<(String, PlacedPiece)> {
    let mut finder = UnitPlaces::default();
    let (mut all, mut half) = (UnitTexts::default(), UnitTexts::default());
    for (i, text) in texts.iter().enumerate() {
        let target = if i == 0 { &mut all } else { &mut half };
        target.push(text, units, &mut finder).unwrap();
    }
    all.append(half);
    let (symbols, ends) = all.symbols();
    let search = PassageSearch::new(units.symbols());
    let found = search.find(symbols, ends, &Silent).unwrap();
    let pieces = found.pieces().iter().map(|piece| all.placed(piece, units));
    pieces
        .map(|piece| {
            let text = all.text(piece.document)[piece.bytes.clone()].to_owned();
            let source = &all.text(piece.source_document)[piece.source_bytes.clone()];
            assert_eq!(piece.is_exact, source == text);
            (text, piece)
        })
        .collect()
}

fn units(unit: PassageUnit, min_length: usize) -> PassageUnits {
    PassageUnits {
        unit,
        min_length: NonZeroUsize::new(min_length).unwrap(),
        ..PassageUnits::of(unit)
    }
}

#[test]
fn words_hide_operators_and_say_so() {
    let texts = ["x: a + b > c, d", "", "y. a - b < c; d (a - b < c)"];
    let found = placed(&texts, units(PassageUnit::Words, 3));
    let texts: Vec<(&str, bool)> = found
        .iter()
        .map(|(text, piece)| (&**text, piece.is_exact))
        .collect();
    assert_eq!(texts, [("a - b < c; d", false), ("a - b < c", false)]);
    let texts = ["a + b > c", "a - b < c"];
    assert!(placed(&texts, units(PassageUnit::Code, 3)).is_empty());
}

#[test]
fn lines_are_passages_of_their_own() {
    let texts = [
        "a line\nno\nlast line\n",
        "last line\nno\n  a line \nlast line",
    ];
    let found = placed(&texts, units(PassageUnit::Lines, 6));
    let lines: Vec<(&str, usize)> = found
        .iter()
        .map(|(text, piece)| (&**text, piece.source_document))
        .collect();
    assert_eq!(lines, [("last line", 0), ("a line", 0), ("last line", 0)]);
    assert!(placed(&texts, units(PassageUnit::Paragraphs, 6)).is_empty());
}

#[test]
fn units_are_equal_but_for_what_is_normalised() {
    let normalise = |lowercase, strip_punctuation, merge: bool| Normalise {
        lowercase,
        strip_punctuation,
        keep_whitespace: !merge,
    };
    let plain = |unit, min_length| units(unit, min_length);
    let texts = [
        "A Line,  of 12\n*****",
        "- a line of 7 ǅ\n-----\na line of 99 -",
    ];
    // What is left of a line is "0 line of 00" or shorter, or nothing at all.
    for (case, punctuation, merge, digits, expected) in [
        (false, false, false, false, &[][..]),
        (true, true, true, false, &[]),
        (true, true, false, true, &[]),
        (true, true, true, true, &["a line of 99 -"]),
    ] {
        let units = PassageUnits {
            normalise: normalise(case, punctuation, merge),
            mask_digits: digits,
            ..plain(PassageUnit::Lines, 5)
        };
        let found = placed(&texts, units);
        let lines: Vec<&str> = found.iter().map(|(text, _)| &**text).collect();
        assert_eq!(lines, expected, "{units:?}");
        assert!(found.iter().all(|(_, piece)| !piece.is_exact));
    }
    let texts = ["One TWO, three 3", "x one two-Three 4 y"];
    for (case, digits, expected) in [
        (false, true, None),
        (true, false, Some("one two-Three")),
        (true, true, Some("one two-Three 4")),
    ] {
        let units = PassageUnits {
            normalise: normalise(case, false, false),
            mask_digits: digits,
            ..plain(PassageUnit::Words, 3)
        };
        let found = placed(&texts, units);
        assert_eq!(
            found.first().map(|(text, _)| &**text),
            expected,
            "{units:?}"
        );
    }
}

#[test]
fn bytes_are_where_they_are() {
    let found = placed(&["", "xabcabc", "cabc"], units(PassageUnit::Bytes, 3));
    let bytes: Vec<(&str, usize, usize)> = found
        .iter()
        .map(|(text, piece)| (&**text, piece.source_document, piece.source_bytes.start))
        .collect();
    assert_eq!(bytes, [("abc", 1, 1), ("cabc", 1, 3)]);
}
