//! The search in memory against the definition.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::definition::{condition_cases, pieces, pieces_where, spans};
use super::hostile::{hostile, patchwork, random};
use crate::items::Match;
use crate::known::KnownWindows;
use crate::lengths::Lengths;
use crate::scan::Scan;
use crate::sources::later_runs;
use crate::twins::SearchedText;
use crate::{Occurrences, PassageSearch, Piece, Symbols};
use simgpu::progress::Silent;
use simgpu::simd::Isa;

/// Where texts end if they stand one after another.
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

#[test]
fn hostile_texts_have_the_passages_of_the_definition() {
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
    let window = NonZeroUsize::new(len).unwrap();
    for case in condition_cases(texts.len()) {
        let conditions = case.conditions;
        let mut search = PassageSearch::new(window)
            .occurrences(conditions.occurrences)
            .min_count(conditions.min_count)
            .other_documents(conditions.other_documents);
        let expected = pieces_where(texts, len, case);
        let what = || format!("{name}: L = {len}, {case:?}");
        // What users of the search can ask for.
        if conditions.reference == 0 && !conditions.only_reference && !case.drops {
            let found = search.find(Symbols::Bytes(&bytes), &ends, &Silent).unwrap();
            assert!(found.pieces() == expected, "{}", what());
        }
        search.set_conditions(conditions);
        let text = search.text(&bytes[..], &ends).unwrap();
        let searched = SearchedText {
            text: &text,
            window: len,
            twins: &search.twins(&text, &Silent).unwrap(),
        };
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
            case.drops && covered * 2 > texts[document].len()
        };
        let found = search.passages(&searched, &documents, &mut drops).unwrap();
        assert!(found.pieces() == expected, "{}", what());
    }
}

#[test]
fn hostile_texts_have_the_passages_of_conditions() {
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
    let mut known = KnownWindows::new(&lengths, bytes.len(), 2);
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
    let searched = SearchedText {
        text: &text,
        window: len.get(),
        twins: &later_runs(&text, len.get(), matches.into_iter()),
    };
    let found = search.passages(&searched, &[], &mut |_, _| false);
    found.unwrap().pieces().to_vec()
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
