//! The definition of passages, by tables of all windows.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use crate::choice::Conditions;
use crate::{Occurrences, Piece};

/// The document and the place in it of each window, in order.
fn windows<S>(texts: &[Vec<S>], len: usize) -> impl Iterator<Item = (usize, usize, &[S])> {
    texts.iter().enumerate().flat_map(move |(document, text)| {
        let windows = text.windows(len).enumerate();
        windows.map(move |(start, window)| (document, start, window))
    })
}

/// A document and a place in it, if any.
type WindowPlace = Option<(usize, usize)>;

/// The pieces, by definition.
pub(crate) fn pieces<S: Eq + Hash>(
    texts: &[Vec<S>],
    len: usize,
    occurrences: Occurrences,
) -> Vec<Piece> {
    let mut places: HashMap<&[S], [WindowPlace; 2]> = HashMap::new();
    for (document, start, window) in windows(texts, len) {
        let places = places.entry(window).or_default();
        match places {
            [None, _] => places[0] = Some((document, start)),
            [_, None] => places[1] = Some((document, start)),
            _ => {}
        }
    }
    let mut pieces = Vec::new();
    let mut next = (0, 0);
    for (document, start, window) in windows(texts, len) {
        if (document, start) < next {
            continue;
        }
        let [first, second] = places[window];
        let source = match (first, occurrences) {
            (Some(first), _) if first != (document, start) => Some(first),
            (_, Occurrences::All) => second,
            (_, Occurrences::Later) => None,
        };
        let Some((source_document, source_start)) = source else {
            continue;
        };
        let (here, there) = (
            &texts[document][start..],
            &texts[source_document][source_start..],
        );
        let same = here.iter().zip(there).take_while(|(a, b)| a == b).count();
        pieces.push(Piece {
            document,
            start,
            source_document,
            source_start,
            len: same,
        });
        next = (document, start + same - len + 1);
    }
    pieces
}

/// The conditions of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionCase {
    pub(crate) conditions: Conditions,
    /// Documents of which more than a half is passages are dropped.
    pub(crate) drops: bool,
}

/// The pieces under conditions, by definition.
pub(crate) fn pieces_where<S: Eq + Hash>(
    texts: &[Vec<S>],
    len: usize,
    case: ConditionCase,
) -> Vec<Piece> {
    let conditions = case.conditions;
    let least = usize::try_from(conditions.min_count).unwrap();
    let mut all: HashMap<&[S], Vec<(usize, usize)>> = HashMap::new();
    for (document, start, window) in windows(texts, len) {
        all.entry(window).or_default().push((document, start));
    }
    let mut dropped = vec![false; texts.len()];
    let mut pieces: Vec<Piece> = Vec::new();
    for (document, text) in texts.iter().enumerate() {
        let source = |start: usize| {
            let places = &all[text.get(start..start + len)?];
            let fits = |place: &&(usize, usize)| {
                **place != (document, start)
                    && !dropped[place.0]
                    && !(conditions.other_documents && place.0 == document)
                    && (!conditions.only_reference || place.0 < conditions.reference)
                    && (conditions.occurrences == Occurrences::All || **place < (document, start))
            };
            let place = places.iter().find(fits);
            place.filter(|_| places.len() >= least)
        };
        let (mut start, from) = (0, pieces.len());
        if document < conditions.reference {
            continue;
        }
        while start < text.len() {
            let Some((source_document, source_start)) = source(start) else {
                start += 1;
                continue;
            };
            let there = &texts[*source_document][*source_start..];
            let same = text[start..].iter().zip(there);
            let same = same.take_while(|(a, b)| a == b).count();
            let chosen = (start..).take_while(|at| source(*at).is_some()).count();
            let found = same.min(chosen + len - 1);
            pieces.push(Piece {
                document,
                start,
                source_document: *source_document,
                source_start: *source_start,
                len: found,
            });
            start += found - len + 1;
        }
        dropped[document] = case.drops && covered(&pieces[from..]) * 2 > text.len();
    }
    pieces
}

/// The conditions of tests, of so many texts.
pub(crate) fn condition_cases(texts: usize) -> Vec<ConditionCase> {
    let mut all = Vec::new();
    let later = (Occurrences::Later, [false, true]);
    for (occurrences, drops) in [later, (Occurrences::All, [false, false])] {
        let half = texts / 2;
        let only = occurrences == Occurrences::Later;
        let none = (0, false);
        for (min_count, other_documents, drops, (reference, only_reference)) in [
            (2, false, drops[1], none),
            (3, false, drops[0], none),
            (3, false, drops[1], none),
            (2, true, drops[0], none),
            (2, true, drops[1], none),
            (4, true, drops[1], none),
            (2, false, drops[1], (half, false)),
            (2, true, drops[0], (half, false)),
            (2, false, drops[1], (half, only)),
            (3, false, drops[0], (half, only)),
        ] {
            let conditions = Conditions {
                occurrences,
                min_count,
                other_documents,
                reference,
                only_reference,
                ..Conditions::default()
            };
            all.push(ConditionCase { conditions, drops });
        }
    }
    all
}

/// The number of symbols in pieces of a document.
pub(crate) fn covered(pieces: &[Piece]) -> usize {
    let mut end = 0;
    let lengths = pieces.iter().map(|piece| {
        let from = piece.start.max(end);
        end = piece.start + piece.len;
        end - from
    });
    lengths.sum()
}

/// The spans, by definition: runs of symbols in windows that occur elsewhere.
pub(crate) fn spans<S: Eq + Hash>(
    texts: &[Vec<S>],
    len: usize,
    occurrences: Occurrences,
) -> Vec<(usize, Range<usize>)> {
    let mut counts: HashMap<&[S], u32> = HashMap::new();
    for (.., window) in windows(texts, len) {
        *counts.entry(window).or_default() += 1;
    }
    let mut covered: Vec<Vec<bool>> = texts.iter().map(|text| vec![false; text.len()]).collect();
    let mut seen: HashMap<&[S], ()> = HashMap::new();
    for (document, start, window) in windows(texts, len) {
        let is_later = seen.insert(window, ()).is_some();
        if is_later || occurrences == Occurrences::All && counts[window] > 1 {
            covered[document][start..start + len].fill(true);
        }
    }
    let mut spans = Vec::new();
    for (document, covered) in covered.iter().enumerate() {
        let mut at = 0;
        while at < covered.len() {
            let end = at + covered[at..].iter().take_while(|is| **is).count();
            if end > at {
                spans.push((document, at..end));
            }
            at = end + 1;
        }
    }
    spans
}
