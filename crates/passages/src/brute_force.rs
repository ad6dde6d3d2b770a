//! The definition of passages, by a table of all windows, and texts that are hostile to searches.

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::items::Match;
use super::known::Known;
use super::lengths::Lengths;
use super::scan::Scan;
use super::sources::later_runs;
use super::{Occurrences, PassageSearch, Piece, Symbols};
use simgpu::progress::Silent;
use simgpu::simd::Isa;

/// The document and the place in it of each window, in order.
fn windows<S>(texts: &[Vec<S>], len: usize) -> impl Iterator<Item = (usize, usize, &[S])> {
    texts.iter().enumerate().flat_map(move |(document, text)| {
        let windows = text.windows(len).enumerate();
        windows.map(move |(start, window)| (document, start, window))
    })
}

/// A document and a place in it, if any.
type Place = Option<(usize, usize)>;

/// The pieces, by definition.
fn pieces<S: Eq + Hash>(texts: &[Vec<S>], len: usize, occurrences: Occurrences) -> Vec<Piece> {
    let mut places: HashMap<&[S], [Place; 2]> = HashMap::new();
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
pub(super) struct Asked {
    pub(super) occurrences: Occurrences,
    pub(super) min_count: usize,
    pub(super) other: bool,
    /// Documents of which more than a half is passages are dropped.
    pub(super) drops: bool,
    /// So many first documents are a reference, and with `true`, the only sources.
    pub(super) reference: (usize, bool),
}

/// The pieces under conditions, by definition.
pub(super) fn pieces_where<S: Eq + Hash>(texts: &[Vec<S>], len: usize, asked: Asked) -> Vec<Piece> {
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
                    && !(asked.other && place.0 == document)
                    && (!asked.reference.1 || place.0 < asked.reference.0)
                    && (asked.occurrences == Occurrences::All || **place < (document, start))
            };
            let place = places.iter().find(fits);
            place.filter(|_| places.len() >= asked.min_count)
        };
        let (mut start, from) = (0, pieces.len());
        if document < asked.reference.0 {
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
        dropped[document] = asked.drops && covered(&pieces[from..]) * 2 > text.len();
    }
    pieces
}

/// The conditions of tests, of so many texts.
pub(super) fn conditions(texts: usize) -> Vec<Asked> {
    let mut all = Vec::new();
    let later = (Occurrences::Later, [false, true]);
    for (occurrences, drops) in [later, (Occurrences::All, [false, false])] {
        let half = texts / 2;
        let only = occurrences == Occurrences::Later;
        for (min_count, other, drops, reference) in [
            (2, false, drops[1], (0, false)),
            (3, false, drops[0], (0, false)),
            (3, false, drops[1], (0, false)),
            (2, true, drops[0], (0, false)),
            (2, true, drops[1], (0, false)),
            (4, true, drops[1], (0, false)),
            (2, false, drops[1], (half, false)),
            (2, true, drops[0], (half, false)),
            (2, false, drops[1], (half, only)),
            (3, false, drops[0], (half, only)),
        ] {
            all.push(Asked {
                occurrences,
                min_count,
                other,
                drops,
                reference,
            });
        }
    }
    all
}

/// The number of symbols in pieces of a document.
pub(super) fn covered(pieces: &[Piece]) -> usize {
    let mut end = 0;
    let of = pieces.iter().map(|piece| {
        let from = piece.start.max(end);
        end = piece.start + piece.len;
        end - from
    });
    of.sum()
}

/// The spans, by definition: runs of symbols in windows that occur elsewhere.
fn spans<S: Eq + Hash>(
    texts: &[Vec<S>],
    len: usize,
    occurrences: Occurrences,
) -> Vec<(usize, std::ops::Range<usize>)> {
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

fn ends<S>(texts: &[Vec<S>]) -> Vec<usize> {
    let mut end = 0;
    let ends = texts.iter().map(|text| {
        end += text.len();
        end
    });
    ends.collect()
}

/// Checks a search with symbols of all widths, on so many threads.
fn check(name: &str, texts: &[Vec<u8>], len: usize, threads: usize, isa: Isa) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().unwrap();
    let bytes = texts.concat();
    let ends = ends(texts);
    // Bytes that differ in a high bit alone.
    let wide: Vec<u64> = bytes
        .iter()
        .map(|byte| u64::from(*byte) << 50 | 7)
        .collect();
    let words: Vec<u32> = bytes.iter().map(|byte| u32::from(*byte) << 20).collect();
    for occurrences in [Occurrences::Later, Occurrences::All] {
        let search = PassageSearch::new(NonZeroUsize::new(len).unwrap())
            .occurrences(occurrences)
            .with_isa(isa);
        let expected = pieces(texts, len, occurrences);
        let covered = spans(texts, len, occurrences);
        for symbols in [
            Symbols::Bytes(&bytes),
            Symbols::U32(&words),
            Symbols::U64(&wide),
        ] {
            let found = pool
                .install(|| search.find(symbols, &ends, &Silent))
                .unwrap();
            let what = || format!("{name}: L = {len}, {occurrences:?}, {threads} threads, {isa}");
            assert_eq!(found.spans().collect::<Vec<_>>(), covered, "{}", what());
            assert!(found.pieces() == expected, "{}", what());
        }
    }
}

/// A random number below `end`.
fn random(state: &mut u64, end: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % end
}

/// Letters of an alphabet of this size.
fn letters(state: &mut u64, count: usize, alphabet: usize) -> Vec<u8> {
    let letter = |_| b'a' + u8::try_from(random(state, alphabet)).unwrap();
    (0..count).map(letter).collect()
}

/// Texts of many equal windows, many equal anchors, or long periods. `scale` is about the number of bytes.
pub(super) fn hostile(scale: usize) -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let state = &mut 7;
    let same = letters(state, scale / 40, 26);
    let boilerplate = letters(state, 400, 26);
    let phrase = letters(state, 60, 26);
    let mut fibonacci = (vec![b'a'], vec![b'b']);
    while fibonacci.0.len() < scale {
        fibonacci = ([&fibonacci.0[..], &fibonacci.1].concat(), fibonacci.0);
    }
    let edited = letters(state, 2_000, 26);
    let around = |state: &mut u64, len: usize, part: &[u8]| {
        [
            letters(state, len, 26),
            part.to_vec(),
            letters(state, len, 26),
        ]
        .concat()
    };
    vec![
        ("one letter", vec![vec![b'a'; scale]]),
        (
            "one letter in documents of 99 to 101",
            (0..scale / 100).map(|i| vec![b'a'; 99 + i % 3]).collect(),
        ),
        (
            "two letters",
            vec![b"ab".repeat(scale / 4), b"ba".repeat(scale / 4)],
        ),
        (
            "a period of 37",
            (0..scale / 2_000)
                .map(|_| [letters(state, 37, 26).repeat(40), letters(state, 500, 26)].concat())
                .collect(),
        ),
        ("equal documents", vec![same; 40]),
        (
            "boilerplate",
            (0..scale / 600)
                .map(|_| around(state, 100, &boilerplate))
                .collect(),
        ),
        (
            "a phrase shorter than a window",
            (0..scale / 180)
                .map(|_| around(state, 60, &phrase))
                .collect(),
        ),
        (
            "parts of boilerplate",
            (0..scale / 200)
                .map(|_| {
                    let (from, len) = (random(state, 40), 40 + random(state, 60));
                    around(state, 60, &boilerplate[from..from + len])
                })
                .collect(),
        ),
        (
            "edited copies",
            (0..scale / 2_000)
                .map(|i| {
                    let mut copy = edited.clone();
                    for j in 0..20 {
                        copy[(i * 7_919 + j * 104_729) % 2_000] =
                            b'A' + u8::try_from(i % 26).unwrap();
                    }
                    copy
                })
                .collect(),
        ),
        ("two random letters", vec![letters(state, scale, 2)]),
        ("Fibonacci word", vec![fibonacci.0]),
        (
            "Thue-Morse word",
            vec![
                (0..scale)
                    .map(|i| b'a' + u8::from(i.count_ones() % 2 == 1))
                    .collect(),
            ],
        ),
        (
            "dashes and words",
            (0..scale / 400)
                .map(|_| {
                    let parts = [vec![b'-'; 150], letters(state, 80, 26)];
                    [parts.concat(), vec![b'='; 120], letters(state, 30, 26)].concat()
                })
                .collect(),
        ),
        (
            "short and empty",
            vec![
                vec![],
                b"x".to_vec(),
                vec![],
                boilerplate[..100].to_vec(),
                boilerplate[..100].to_vec(),
                boilerplate[..99].to_vec(),
                vec![],
            ],
        ),
    ]
}

#[test]
pub(super) fn hostile_texts_have_the_passages_of_the_definition() {
    for (name, texts) in hostile(8_000) {
        for (i, len) in [1, 2, 5, 33, 50, 100, 200, 400].into_iter().enumerate() {
            let isas = Isa::available();
            check(name, &texts, len, 1 + i % 5, isas[i % isas.len()]);
        }
    }
}

/// Checks a search under all conditions.
fn check_conditions(name: &str, texts: &[Vec<u8>], len: usize) {
    let (bytes, ends) = (texts.concat(), ends(texts));
    let documents: Vec<usize> = (0..=texts.len()).collect();
    for asked in conditions(texts.len()) {
        let mut search = PassageSearch::new(NonZeroUsize::new(len).unwrap())
            .occurrences(asked.occurrences)
            .min_count(asked.min_count.try_into().unwrap())
            .other_documents(asked.other);
        search.set_reference(asked.reference.0, asked.reference.1);
        let text = search.text(&bytes[..], &ends).unwrap();
        let twins = search.twins(&text, &Silent).unwrap();
        let mut drops = |document: usize, pieces: &[Match]| {
            let mut end = 0;
            let covered: usize = pieces
                .iter()
                .map(|piece| {
                    let from = piece.from.max(end);
                    end = piece.to;
                    end - from
                })
                .sum();
            asked.drops && covered * 2 > texts[document].len()
        };
        let found = search.passages(&text, &twins, &documents, &mut drops);
        let expected = pieces_where(texts, len, asked);
        assert!(found.pieces() == expected, "{name}: L = {len}, {asked:?}");
    }
}

#[test]
pub(super) fn hostile_texts_have_the_passages_of_conditions() {
    for (name, texts) in hostile(2_500) {
        for len in [1, 5, 33, 100] {
            check_conditions(name, &texts, len);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_texts_have_the_passages_of_conditions(
        seed: u64,
        documents in 1..30usize,
        alphabet in 1..27usize,
        len in 1..60usize,
    ) {
        let texts = patchwork(&mut { seed }, documents, alphabet);
        check_conditions("patchwork", &texts, len);
    }
}

/// The pieces if documents are passed over in another order than theirs, as threads may do.
fn pieces_in_order(texts: &[Vec<u8>], len: usize, order: &[usize]) -> Vec<Piece> {
    let (bytes, ends) = (texts.concat(), ends(texts));
    let len = NonZeroUsize::new(len).unwrap();
    let search = PassageSearch::new(len);
    let lengths = Lengths::new(len);
    let text = search.text(&bytes[..], &ends).unwrap();
    let mut known = Known::new(&lengths, bytes.len(), 2);
    let mut scan = Scan::new(&text, &lengths);
    for document in order {
        let mut next = text.document_start(*document);
        while let Some(rest) = scan.scan(&known, next, ends[*document]) {
            next = rest;
            known.grow();
        }
    }
    let mut matches = [scan.matches, scan.later].concat();
    matches.sort_by_key(|matched| matched.from);
    let twins = later_runs(&text, len.get(), matches.into_iter());
    let found = search.passages(&text, &twins, &[], &mut |_, _| false);
    found.pieces().to_vec()
}

#[test]
fn documents_may_be_passed_over_in_any_order() {
    let state = &mut 5;
    let mut all = hostile(6_000);
    all.extend((0..20).map(|i| ("patchwork", patchwork(state, 40, 1 + i))));
    for (name, texts) in all {
        for len in [1, 5, 33, 100] {
            let mut order: Vec<usize> = (0..texts.len()).rev().collect();
            for swaps in [0, texts.len()] {
                for _ in 0..swaps {
                    let [a, b] = [(); 2].map(|()| random(state, texts.len()));
                    order.swap(a, b);
                }
                let expected = pieces(&texts, len, Occurrences::Later);
                assert!(
                    pieces_in_order(&texts, len, &order) == expected,
                    "{name}: L = {len}, {order:?}"
                );
            }
        }
    }
}

#[test]
fn many_equal_anchors_are_split() {
    for (name, texts) in hostile(30_000) {
        check(name, &texts, 60, 1, Isa::best());
        check(name, &texts, 60, 3, Isa::best());
    }
}

/// Pieces of earlier text with edits, among new text.
pub(super) fn patchwork(state: &mut u64, documents: usize, alphabet: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<u8> = Vec::new();
    let mut texts = Vec::new();
    for _ in 0..documents {
        let start = all.len();
        for _ in 0..random(state, 12) {
            let len = random(state, 200);
            if random(state, 3) > 0 && all.len() > len {
                let from = random(state, all.len() - len + 1);
                all.extend_from_within(from..from + len);
            } else {
                all.extend(letters(state, len / 3, alphabet));
            }
            if random(state, 3) == 0 && all.len() > start {
                let at = all.len() - 1 - random(state, (all.len() - start).min(150));
                all[at] = b'A' + u8::try_from(random(state, 3)).unwrap();
            }
        }
        texts.push(all[start..].to_vec());
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_texts_have_the_passages_of_the_definition(
        seed: u64,
        documents in 1..40usize,
        alphabet in 1..27usize,
        len in 1..110usize,
        threads in 1..6usize,
    ) {
        let texts = patchwork(&mut { seed }, documents, alphabet);
        check("patchwork", &texts, len, threads, Isa::best());
    }
}

#[test]
fn the_pieces_depend_on_no_instruction_set() {
    let texts = patchwork(&mut 3, 60, 20);
    for isa in Isa::available() {
        check("patchwork", &texts, 30, 2, *isa);
    }
}

#[test]
fn wrong_ends_are_refused() {
    let search = PassageSearch::new(NonZeroUsize::MIN);
    for ends in [&[][..], &[2], &[4], &[3, 2, 3]] {
        let found = search.find(Symbols::Bytes(b"abc"), ends, &Silent);
        assert!(found.is_err(), "{ends:?}");
    }
    let none = search.find(Symbols::Bytes(b""), &[0, 0], &Silent).unwrap();
    assert!(none.pieces().is_empty());
}
