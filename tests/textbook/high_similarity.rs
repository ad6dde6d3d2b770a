//! Section 3.9: methods for high degrees of similarity, without false negatives: the bounds and the join of
//! `--candidates join`.
//!
//! A set is a string of its symbols in the order of the alphabet, as in the book. Positions count from 1 here, as there.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use proptest::prelude::*;
use simgpu::error::Result;
use simgpu::internals::{ElementPlace, allows_places, allows_sizes, prefix_len};
use simgpu::pipeline::{
    Comparer, Criterion, Prefixes, Similarity, Verified, jaccard, similar_pairs,
};
use simgpu::store::ExactSets;

const NINE_TENTHS: Criterion = Criterion::Jaccard(0.9);
const FOUR_FIFTHS: Criterion = Criterion::Jaccard(0.8);

/// The symbols of a set as a string in the order of the alphabet.
fn sorted(symbols: &str) -> String {
    let symbols: BTreeSet<char> = symbols.chars().collect();
    symbols.into_iter().collect()
}

fn similarity(a: &str, b: &str) -> f64 {
    jaccard(a.as_bytes(), b.as_bytes())
}

/// The symbols under which a set is indexed.
fn indexed(criterion: Criterion, set: &str) -> &str {
    &set[..prefix_len(criterion, set.len())]
}

/// Whether sets may be similar whose first common symbol is the i-th of a set of `len` symbols, and in the other set the
/// j-th, followed by q more (3.9.6).
fn allows_suffix(criterion: Criterion, [len, i]: [u32; 2], [j, q]: [u32; 2]) -> bool {
    let element = |len: u32, number: u32| ElementPlace {
        len: len.into(),
        place: number - 1,
    };
    allows_places(criterion, element(len, i), element(j + q, j))
}

/// The same if the size of the other set is unknown: it may be the best one (3.9.5).
fn allows_position(criterion: Criterion, first: [u32; 2], j: u32) -> bool {
    (0..40).any(|q| allows_suffix(criterion, first, [j, q]))
}

#[test]
fn example_3_25_length_filter() {
    let most = |len| (1..40).filter(move |other| allows_sizes(NINE_TENTHS, len, *other));
    assert_eq!(most(9).max(), Some(10));
    assert_eq!(most(8).max(), Some(8));
}

#[test]
fn example_3_26_prefix_index() {
    for (lengths, expected) in [(1..=9, 1), (10..=19, 2), (20..=29, 3)] {
        for len in lengths {
            assert_eq!(prefix_len(NINE_TENTHS, len), expected, "{len}");
        }
    }
    assert_eq!(indexed(NINE_TENTHS, "bcdefghij"), "b");
    assert_eq!(indexed(NINE_TENTHS, "abcdefghij"), "ab");
    // Their similarity is exactly 9/10, and they meet under b.
    assert_eq!(similarity("bcdefghij", "abcdefghij"), 0.9);
    assert_eq!(joined(NINE_TENTHS, &["bcdefghij", "abcdefghij"]), [(0, 1)]);
}

/// Both are indexed under c, but in different positions: what comes before c is not shared.
#[test]
fn section_3_9_5_positions_exclude_pairs() {
    let (s, t) = ("acdefghijk", "bcdefghijk");
    assert_eq!(
        (indexed(NINE_TENTHS, s), indexed(NINE_TENTHS, t)),
        ("ac", "bc")
    );
    assert!(similarity(s, t) < 0.9);
    assert!(!allows_position(NINE_TENTHS, [10, 2], 2));
    assert!(joined(NINE_TENTHS, &[s, t]).is_empty());
}

/// The bound is j <= (L (1 - J) - i + 1 + J) / J: 2.11 for i = 1, and exactly 1 for i = 2.
#[test]
fn example_3_27_position_filter() {
    let mut buckets = Vec::new();
    for (i, symbol) in (1..).zip(indexed(NINE_TENTHS, "acdefghijk").chars()) {
        let allowed = (1..=10).filter(|j| allows_position(NINE_TENTHS, [10, i], *j));
        buckets.extend(allowed.map(|j| (symbol, j)));
    }
    assert_eq!(buckets, [('a', 1), ('a', 2), ('c', 1)]);
}

/// A symbol, its position, and the number of symbols after it.
#[test]
fn example_3_28_suffix_lengths() {
    let buckets = |criterion| {
        let places = (1..).zip(indexed(criterion, "acdefghijk").chars());
        places
            .map(|(i, symbol)| (symbol, i, 10 - i))
            .collect::<Vec<_>>()
    };
    assert_eq!(buckets(NINE_TENTHS), [('a', 1, 9), ('c', 2, 8)]);
    assert_eq!(
        buckets(FOUR_FIFTHS),
        [('a', 1, 9), ('c', 2, 8), ('d', 3, 7)]
    );
}

/// The buckets (q, j) to search for each of the three symbols of acdefghijk. The book prints "10/13 > 0.8",
/// "9/12 > 0.8" and "7/(9 + j) > 0.8" where these are less; the buckets are those of exact arithmetic.
#[test]
fn example_3_29_buckets_to_search() {
    let searched = |i: u32| {
        let all = (0..20).flat_map(|q| (1..20).map(move |j| (q, j)));
        let allowed = all.filter(|(q, j)| allows_suffix(FOUR_FIFTHS, [10, i], [*j, *q]));
        allowed.collect::<BTreeSet<(u32, u32)>>()
    };
    let expected: [&[(u32, u32)]; 3] = [
        &[
            (9, 1),
            (9, 2),
            (9, 3),
            (8, 1),
            (8, 2),
            (7, 1),
            (10, 1),
            (10, 2),
            (11, 1),
        ],
        &[(8, 1), (8, 2), (7, 1), (9, 1)],
        &[(7, 1)],
    ];
    for (i, expected) in (1..).zip(expected) {
        assert_eq!(searched(i), expected.iter().copied().collect(), "i = {i}");
    }
}

/// The book's inequality, with p symbols after the i-th and q after the j-th, is the position filter of PPJoin (Xiao, Wang,
/// Lin, Yu 2008), by which pairs are rejected. In whole numbers, since 10 * (1 - 0.9) is below 1 in binary fractions.
#[test]
fn section_3_9_6_is_the_filter_of_ppjoin() {
    let mut allowed = 0;
    for (numerator, denominator) in [(9, 10), (4, 5), (1, 2)] {
        let criterion = Criterion::Jaccard(f64::from(numerator) / f64::from(denominator));
        let lengths = (1..=25u32).flat_map(|s| (1..=25u32).map(move |t| (s, t)));
        for (of_s, of_t) in lengths {
            for (i, j) in (1..=of_s).flat_map(|i| (1..=of_t).map(move |j| (i, j))) {
                let (p, q) = (of_s - i, of_t - j);
                let (shared, union) = if p >= q {
                    (q + 1, i + p + j - 1)
                } else {
                    (p + 1, i + j + q - 1)
                };
                let of_the_book = shared * denominator >= numerator * union;
                let passes = allows_suffix(criterion, [of_s, i], [j, q]);
                assert_eq!(passes, of_the_book, "{of_s} {i}, {of_t} {j}");
                allowed += u32::from(passes);
            }
        }
    }
    assert!(allowed > 1000);
}

/// Sets as strings, compared without any filter.
struct Strings<'a>(&'a [&'a str]);

impl Similarity for Strings<'_> {
    fn comparer(&self) -> Box<dyn Comparer + '_> {
        Box::new(self)
    }
}

impl Comparer for &Strings<'_> {
    fn compare(&mut self, a: u32, b: u32, _: f64) -> Result<Verified> {
        Ok(Verified::by(similarity(
            self.0[a as usize],
            self.0[b as usize],
        )))
    }
}

/// The similar pairs among the candidates of the join.
fn joined(criterion: Criterion, strings: &[&str]) -> Vec<(u32, u32)> {
    let Criterion::Jaccard(threshold) = criterion else {
        panic!("a similarity");
    };
    let mut sets = ExactSets::default();
    for (position, string) in (0..).zip(strings) {
        let symbols: Vec<u64> = string.bytes().map(u64::from).collect();
        sets.insert(position, &symbols).unwrap();
    }
    let prefixes = Prefixes::of(&sets, criterion, &mut |_| Ok(())).unwrap();
    let buckets = prefixes.into_buckets().unwrap();
    let mut found = Vec::new();
    similar_pairs(&buckets, &Strings(strings), threshold, &mut |block| {
        found.extend(block.pairs.iter().map(|pair| (pair.lo, pair.hi)));
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    found
}

proptest! {
    /// Many-many: no similar pair is lost, neither by its lengths, nor by prefixes, positions and suffix lengths.
    #[test]
    fn section_3_9_loses_no_similar_pair(
        sets in prop::collection::vec("[a-l]{1,14}", 2..12), tenths in 3..=10u32,
    ) {
        let threshold = f64::from(tenths) / 10.0;
        let sets: Vec<String> = sets.iter().map(|set| sorted(set)).collect();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let mut expected = Vec::new();
        for (lo, a) in (0..).zip(&sets) {
            for (hi, b) in (0..).zip(&sets).skip(lo as usize + 1) {
                if similarity(a, b) >= threshold {
                    expected.push((lo, hi));
                }
            }
        }
        prop_assert_eq!(joined(Criterion::Jaccard(threshold), &sets), expected);
    }

    /// Many-one: a new set is searched in an index of stored ones, and meets each similar one.
    #[test]
    fn section_3_9_4_a_new_set_meets_similar_ones(
        stored in prop::collection::vec("[a-h]{1,10}", 1..10), query in "[a-h]{1,10}", tenths in 5..=10u32,
    ) {
        let threshold = f64::from(tenths) / 10.0;
        let first = |set: &str| {
            let prefix = indexed(Criterion::Jaccard(threshold), set);
            prefix.chars().collect::<BTreeSet<_>>()
        };
        let query = sorted(&query);
        for set in stored.iter().map(|set| sorted(set)) {
            if similarity(&set, &query) >= threshold {
                prop_assert!(!first(&set).is_disjoint(&first(&query)), "{} and {}", set, query);
            }
        }
    }
}
