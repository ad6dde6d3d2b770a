//! Section 3.9: methods for high degrees of similarity, without false negatives.
//!
//! The functions here are the book's inequalities in exact arithmetic: a threshold is a fraction, since in binary
//! floating point (1 - 0.9) * 10 is less than 1. Positions count from 1.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

/// A threshold J as a fraction.
#[derive(Clone, Copy, Debug)]
struct Threshold {
    numerator: usize,
    denominator: usize,
}

const NINE_TENTHS: Threshold = Threshold {
    numerator: 9,
    denominator: 10,
};
const FOUR_FIFTHS: Threshold = Threshold {
    numerator: 4,
    denominator: 5,
};

impl Threshold {
    /// Whether shared / union >= J.
    fn is_reached(self, shared: usize, union: usize) -> bool {
        shared * self.denominator >= self.numerator * union
    }

    /// The greatest length that a set similar to one of `length` can have (3.9.3): L / J, rounded down.
    fn most_length(self, length: usize) -> usize {
        length * self.denominator / self.numerator
    }

    /// The number of first symbols under which a set is indexed (3.9.4): (1 - J) L, rounded down, and one.
    fn prefix(self, length: usize) -> usize {
        length * (self.denominator - self.numerator) / self.denominator + 1
    }

    /// Whether a symbol in positions i of s and j of t, the first that both share, leaves room for J (3.9.5). The
    /// length of t is unknown: it is taken to be that which is best.
    fn allows_positions(self, length: usize, i: usize, j: usize) -> bool {
        // At best, all symbols of s from position i on are shared, and t has no others after position j.
        self.is_reached(length - i + 1, length + j - 1)
    }

    /// Whether such a symbol, followed by p symbols of s and q of t, leaves room for J (3.9.6).
    fn allows_suffixes(self, (i, p): (usize, usize), (j, q): (usize, usize)) -> bool {
        if p >= q {
            self.is_reached(q + 1, i + p + j - 1)
        } else {
            self.is_reached(p + 1, i + j + q - 1)
        }
    }
}

/// The symbols of a set as a string in the order of the alphabet.
fn sorted(symbols: &str) -> String {
    let symbols: BTreeSet<char> = symbols.chars().collect();
    symbols.into_iter().collect()
}

/// Number of symbols of both sets, and of either.
fn shared_and_union(a: &str, b: &str) -> (usize, usize) {
    let shared = a.chars().filter(|symbol| b.contains(*symbol)).count();
    (shared, a.len() + b.len() - shared)
}

/// Documents are compared in fixed random positions first. Those that differ there are not equal, however long their
/// equal headers are; documents of different lengths never meet.
#[test]
fn section_3_9_1_random_positions_come_first() {
    let header = "From: the editors\nTo: all readers\n";
    let documents =
        ["Buy Sudzo", "Buy Blitz", "Buy Sudzo", "Buy Sudzo!"].map(|it| format!("{header}{it}"));
    // The header alone does not tell documents apart; positions over the whole length do.
    let positions = [3, 17, 36, 38, 41];
    let key = |document: &str| {
        let letters = positions.map(|at| document.as_bytes()[at]);
        (document.len(), letters)
    };
    let mut candidates: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, document) in documents.iter().enumerate() {
        candidates.entry(key(document)).or_default().push(number);
    }
    let groups: Vec<Vec<usize>> = candidates.into_values().collect();
    assert_eq!(groups, [vec![1], vec![0, 2], vec![3]]);
    assert_eq!(documents[0], documents[2]);
    let by_header: BTreeSet<&str> = documents.iter().map(|it| &it[..header.len()]).collect();
    assert_eq!(by_header.len(), 1);
}

#[test]
fn example_3_24_sets_as_strings() {
    assert_eq!(sorted("dab"), "abd");
}

#[test]
fn example_3_25_length_filter() {
    assert_eq!(NINE_TENTHS.most_length(9), 10);
    assert_eq!(NINE_TENTHS.most_length(8), 8);
}

#[test]
fn example_3_26_prefix_index() {
    for (lengths, prefix) in [(1..=9, 1), (10..=19, 2), (20..=29, 3)] {
        assert!(
            lengths
                .clone()
                .all(|length| NINE_TENTHS.prefix(length) == prefix),
            "{lengths:?}"
        );
    }
    let indexed = |set: &'static str| &set[..NINE_TENTHS.prefix(set.len())];
    assert_eq!(indexed("bcdefghij"), "b");
    assert_eq!(indexed("abcdefghij"), "ab");
    // Their similarity is exactly 9/10, and they meet under b.
    assert_eq!(shared_and_union("bcdefghij", "abcdefghij"), (9, 10));
}

/// Both are indexed under c, but in different positions: what comes before c is not shared.
#[test]
fn section_3_9_5_positions_exclude_pairs() {
    let (s, t) = ("acdefghijk", "bcdefghijk");
    assert_eq!(
        (&s[..NINE_TENTHS.prefix(10)], &t[..NINE_TENTHS.prefix(10)]),
        ("ac", "bc")
    );
    let (shared, union) = shared_and_union(s, t);
    assert_eq!((shared, union), (9, 11));
    assert!(!NINE_TENTHS.is_reached(shared, union));
    assert!(!NINE_TENTHS.allows_positions(10, 2, 2));
}

/// The bound is j <= (L (1 - J) - i + 1 + J) / J: 2.11 for i = 1, and exactly 1 for i = 2.
#[test]
fn example_3_27_position_filter() {
    let s = "acdefghijk";
    let mut buckets = Vec::new();
    for (i, symbol) in (1..=NINE_TENTHS.prefix(s.len())).zip(s.chars()) {
        let allowed = (1..=10).filter(|j| NINE_TENTHS.allows_positions(s.len(), i, *j));
        buckets.extend(allowed.map(|j| (symbol, j)));
        // Numerator and denominator of the bound, ten times each.
        let bound = (10 * 10 + 10 + 9 - 9 * 10 - 10 * i) as f64 / 9.0;
        let expected = [19.0 / 9.0, 1.0][i - 1];
        assert!((bound - expected).abs() < 1e-12);
    }
    assert_eq!(buckets, [('a', 1), ('a', 2), ('c', 1)]);
}

/// A symbol, its position, and the number of symbols after it.
fn buckets(threshold: Threshold, set: &str) -> Vec<(char, usize, usize)> {
    let prefix = threshold.prefix(set.len());
    let places = (1..=prefix).zip(set.chars());
    places
        .map(|(i, symbol)| (symbol, i, set.len() - i))
        .collect()
}

#[test]
fn example_3_28_suffix_lengths() {
    let s = "acdefghijk";
    assert_eq!(buckets(NINE_TENTHS, s), [('a', 1, 9), ('c', 2, 8)]);
    assert_eq!(
        buckets(FOUR_FIFTHS, s),
        [('a', 1, 9), ('c', 2, 8), ('d', 3, 7)]
    );
}

/// The buckets (q, j) to search for each of the three symbols of s. The book prints "10/13 > 0.8", "9/12 > 0.8" and
/// "7/(9 + j) > 0.8" where these are less; the buckets are those of exact arithmetic.
#[test]
fn example_3_29_buckets_to_search() {
    let searched = |i: usize| {
        let p = 10 - i;
        let all = (0..20).flat_map(|q| (1..20).map(move |j| (q, j)));
        let allowed = all.filter(|(q, j)| FOUR_FIFTHS.allows_suffixes((i, p), (*j, *q)));
        allowed.collect::<BTreeSet<(usize, usize)>>()
    };
    let expected: [&[(usize, usize)]; 3] = [
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
    assert!(!FOUR_FIFTHS.is_reached(10, 13) && !FOUR_FIFTHS.is_reached(9, 12));
    assert!((1..9).all(|j| !FOUR_FIFTHS.is_reached(7, 9 + j)));
}

/// PPJoin's position filter (Xiao, Wang, Lin, Yu 2008): one symbol and the shorter suffix must reach the overlap that J
/// asks of sets with these lengths. It prunes exactly what 3.9.6 does.
#[test]
fn section_3_9_6_is_the_filter_of_ppjoin() {
    let mut allowed = 0;
    for threshold in [
        NINE_TENTHS,
        FOUR_FIFTHS,
        Threshold {
            numerator: 1,
            denominator: 2,
        },
    ] {
        let Threshold {
            numerator,
            denominator,
        } = threshold;
        let lengths = (1..=25).flat_map(|s| (1..=25).map(move |t| (s, t)));
        for (of_s, of_t) in lengths {
            for (i, j) in (1..=of_s).flat_map(|i| (1..=of_t).map(move |j| (i, j))) {
                let (p, q) = (of_s - i, of_t - j);
                // 1 + min(p, q) >= J / (1 + J) (L_s + L_t)
                let overlap = 1 + p.min(q);
                let of_ppjoin = overlap * (numerator + denominator) >= numerator * (of_s + of_t);
                assert_eq!(threshold.allows_suffixes((i, p), (j, q)), of_ppjoin);
                allowed += usize::from(of_ppjoin);
            }
        }
    }
    assert!(allowed > 1000);
}

/// The pairs of strings that share a bucket which the suffix lengths allow, many-many: each string is indexed under its
/// prefix and searched by it.
fn found(threshold: Threshold, sets: &[String]) -> BTreeSet<(usize, usize)> {
    let mut index: BTreeMap<char, Vec<(usize, usize, usize)>> = BTreeMap::new();
    let mut pairs = BTreeSet::new();
    for (number, set) in sets.iter().enumerate() {
        for (symbol, i, p) in buckets(threshold, set) {
            for (other, j, q) in index.entry(symbol).or_default().iter() {
                if threshold.allows_suffixes((i, p), (*j, *q)) {
                    pairs.insert((*other, number));
                }
            }
        }
        for (symbol, i, p) in buckets(threshold, set) {
            index.entry(symbol).or_default().push((number, i, p));
        }
    }
    pairs
}

proptest! {
    /// No similar pair is lost: neither by its lengths, nor by prefixes, positions and suffix lengths.
    #[test]
    fn section_3_9_loses_no_similar_pair(
        sets in prop::collection::vec("[a-l]{1,14}", 2..12), tenths in 3..=10usize,
    ) {
        let sets: Vec<String> = sets.iter().map(|set| sorted(set)).collect();
        let threshold = Threshold { numerator: tenths, denominator: 10 };
        let found = found(threshold, &sets);
        for (b, set) in sets.iter().enumerate() {
            for (a, other) in sets[..b].iter().enumerate() {
                let (shared, union) = shared_and_union(set, other);
                if threshold.is_reached(shared, union) {
                    prop_assert!(found.contains(&(a, b)), "{set} and {other}");
                    let (short, long) = (set.len().min(other.len()), set.len().max(other.len()));
                    prop_assert!(long <= threshold.most_length(short));
                }
            }
        }
    }

    /// Many-one: a new set is searched in an index of stored ones, and meets each similar one.
    #[test]
    fn section_3_9_4_a_new_set_meets_similar_ones(
        stored in prop::collection::vec("[a-h]{1,10}", 1..10), query in "[a-h]{1,10}", tenths in 5..=10usize,
    ) {
        let threshold = Threshold { numerator: tenths, denominator: 10 };
        let query = sorted(&query);
        let first = |set: &str| set.chars().take(threshold.prefix(set.len())).collect::<BTreeSet<_>>();
        for set in stored.iter().map(|set| sorted(set)) {
            let (shared, union) = shared_and_union(&set, &query);
            if threshold.is_reached(shared, union) {
                prop_assert!(!first(&set).is_disjoint(&first(&query)), "{set} and {query}");
            }
        }
    }
}
