//! Section 3.1: applications of set similarity.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use simgpu::pipeline::{Bag, BagComparison, jaccard};

#[test]
fn section_3_1_jaccard_similarity() {
    // Three of eight elements are shared.
    assert_eq!(jaccard(&[1, 2, 3, 4, 5], &[3, 4, 5, 6, 7, 8]), 3.0 / 8.0);
    // Exercise 3.1.1.
    let sets: [&[u32]; 3] = [&[1, 2, 3, 4], &[2, 3, 5, 7], &[2, 4, 6]];
    assert_eq!(jaccard(sets[0], sets[1]), 2.0 / 6.0);
    assert_eq!(jaccard(sets[0], sets[2]), 2.0 / 5.0);
    assert_eq!(jaccard(sets[1], sets[2]), 1.0 / 6.0);
}

/// The distance is one less the similarity.
#[test]
fn example_3_1_jaccard_distance() {
    assert_eq!(
        1.0 - jaccard(&[1, 2, 3, 4, 5], &[3, 4, 5, 6, 7, 8]),
        5.0 / 8.0
    );
}

/// The rows of a column of ones and zeros.
fn rows(column: &str) -> Vec<usize> {
    let ones = column.bytes().enumerate().filter(|(_, bit)| *bit == b'1');
    ones.map(|(row, _)| row).collect()
}

#[test]
fn lecture_example_of_bit_vectors() {
    let [a, b] = ["10111", "10011"];
    let [and, or] = [|a, b| a & b, |a, b| a | b].map(|combine: fn(u8, u8) -> u8| {
        let bits = a.bytes().zip(b.bytes());
        bits.filter(|(a, b)| combine(*a, *b) == b'1').count()
    });
    assert_eq!((and, or), (3, 4));
    assert_eq!(jaccard(&rows(a), &rows(b)), and as f64 / or as f64);
    assert_eq!(1.0 - jaccard(&rows(a), &rows(b)), 1.0 / 4.0);
}

/// Two columns of seven rows that share three, as in the lecture: each row has a one in either.
#[test]
fn lecture_example_of_boolean_matrices() {
    let [a, b] = ["1100111", "1111001"].map(rows);
    assert_eq!(jaccard(&a, &b), 3.0 / 7.0);
    assert_eq!(1.0 - jaccard(&a, &b), 4.0 / 7.0);
}

/// J = M11 / (M01 + M10 + M11), where M01 counts the elements of the second set alone.
#[test]
fn lecture_example_of_counted_rows() {
    let [a, b] = [[1, 3, 7], [3, 5, 7]];
    let count = |in_a: bool, in_b: bool| {
        let rows = (1..=7).filter(|e| a.contains(e) == in_a && b.contains(e) == in_b);
        rows.count()
    };
    let (m11, m01, m10) = (count(true, true), count(false, true), count(true, false));
    assert_eq!((m11, m01, m10), (2, 1, 1));
    assert_eq!(jaccard(&a, &b), m11 as f64 / (m01 + m10 + m11) as f64);
    assert_eq!(jaccard(&a, &b), 2.0 / 4.0);
}

fn compared<T: Ord + Copy>(a: &[T], b: &[T]) -> BagComparison {
    let [a, b] = [a, b].map(|elements| elements.iter().copied().collect::<Bag<T>>());
    a.compare(&b)
}

/// The book divides by the sum of both sizes; its footnote 2 gives the union by the greater counts, too.
#[test]
fn example_3_2_bags() {
    let bags = compared(b"aaab", b"aabbc");
    assert_eq!(bags.intersection(), 3);
    assert_eq!(bags.similarity(), Some(3.0 / 9.0));
    assert_eq!(bags.jaccard(), Some(3.0 / 6.0));
}

#[test]
fn exercise_3_1_2_bags() {
    let bags: [&[u32]; 3] = [&[1, 1, 1, 2], &[1, 1, 2, 2, 3], &[1, 2, 3, 4]];
    for (i, j, by_sum, by_greater) in [
        (0, 1, 1.0 / 3.0, 1.0 / 2.0),
        (0, 2, 1.0 / 4.0, 1.0 / 3.0),
        (1, 2, 1.0 / 3.0, 1.0 / 2.0),
    ] {
        let bags = compared(bags[i], bags[j]);
        assert_eq!(bags.similarity(), Some(by_sum), "{i}, {j}");
        assert_eq!(bags.jaccard(), Some(by_greater), "{i}, {j}");
    }
}

proptest! {
    /// B = J / (1 + J), where J divides by the greater counts. A bag and itself have 1/2, the most possible.
    #[test]
    fn section_3_1_3_bag_similarity_is_at_most_half(
        a in prop::collection::vec(0..4u8, 1..8), b in prop::collection::vec(0..4u8, 1..8),
    ) {
        let bags = compared(&a, &b);
        let (similarity, jaccard) = (bags.similarity().unwrap(), bags.jaccard().unwrap());
        prop_assert!((similarity - jaccard / (1.0 + jaccard)).abs() < 1e-12);
        prop_assert!(similarity <= 0.5);
        prop_assert_eq!(compared(&a, &a).similarity(), Some(0.5));
    }
}

/// The mean similarity of two random sets of m of n elements, over all pairs of sets: exactly the sum over the size k
/// of the intersection, C(m, k) C(n - m, m - k) / C(n, m) times k / (2m - k).
#[test]
fn exercise_3_1_3_expected_similarity() {
    for (n, m, numerator, denominator) in [(5, 2, 3, 10), (6, 3, 73, 200), (10, 5, 5563, 15876)] {
        let sets: Vec<Vec<u32>> = (0..1u32 << n)
            .filter(|bits| bits.count_ones() == m)
            .map(|bits| (0..n).filter(|e| bits >> e & 1 == 1).collect())
            .collect();
        // By symmetry, the mean over all pairs is that over the pairs of the first set.
        let sum: f64 = sets.iter().map(|set| jaccard(&sets[0], set)).sum();
        let expected = f64::from(numerator) / f64::from(denominator);
        assert!((sum / sets.len() as f64 - expected).abs() < 1e-12);
        let choose =
            |n: u32, k: u32| (0..k).fold(1, |c, i| c * u64::from(n - i) / u64::from(i + 1));
        let by_formula = (1..=m).filter(|k| m - k <= n - m).map(|k| {
            let share = choose(m, k) * choose(n - m, m - k);
            share as f64 / choose(n, m) as f64 * f64::from(k) / f64::from(2 * m - k)
        });
        assert!((by_formula.sum::<f64>() - expected).abs() < 1e-12);
    }
}

/// The share of a text that is in the other shows plagiarism where the similarity is low, because one text is longer.
#[test]
fn section_3_1_2_plagiarism() {
    use simgpu::backend::Backend;
    use simgpu::pipeline::{Shingler, Shingling, Unit, compare};
    use simgpu::scheme::Scheme;

    let original = "abcdefghij";
    // Half of the original, in a text of its own.
    let copy = "0123456789abcdef9876543210";
    let scheme = Scheme::default();
    let shingling = Shingling::of(Unit::Chars)
        .with_size(1.try_into().unwrap())
        .unwrap();
    let shingler = Shingler::new(shingling, &scheme, None).unwrap();
    let signer = Backend::Auto.signer(&scheme).unwrap();
    let compared = compare([original, copy], &shingler, &*signer).unwrap();
    assert_eq!(compared.containment(), [Some(6.0 / 10.0), Some(6.0 / 16.0)]);
    assert_eq!(compared.jaccard(), Some(6.0 / 20.0));
}

/// Purchases are sets both ways: the items of a customer, and the customers of an item.
#[test]
fn section_3_1_3_customers_and_items() {
    let bought = [
        ("ann", "milk"),
        ("ann", "bread"),
        ("bob", "milk"),
        ("bob", "bread"),
        ("cy", "milk"),
    ];
    let sets = |of: fn((&'static str, &'static str)) -> (&'static str, &'static str)| {
        let mut sets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (owner, element) in bought.map(of) {
            sets.entry(owner).or_default().insert(element);
        }
        let sets = sets.into_iter();
        let sets = sets.map(|(owner, set)| (owner, set.into_iter().collect::<Vec<_>>()));
        sets.collect::<BTreeMap<_, _>>()
    };
    let customers = sets(|(customer, item)| (customer, item));
    assert_eq!(jaccard(&customers["ann"], &customers["bob"]), 1.0);
    assert_eq!(jaccard(&customers["ann"], &customers["cy"]), 1.0 / 2.0);
    let items = sets(|(customer, item)| (item, customer));
    assert_eq!(jaccard(&items["milk"], &items["bread"]), 2.0 / 3.0);
}

/// Ratings as sets, in the book's three ways: without low ratings, with liked and hated films as different elements,
/// and with a film as often as it has stars.
#[test]
fn section_3_1_3_ratings() {
    let [ann, bob] = [[("Alien", 5), ("Brazil", 1)], [("Alien", 3), ("Brazil", 1)]];
    let liked = |ratings: &[(&'static str, u32)]| -> Vec<&str> {
        let high = ratings.iter().filter(|(_, stars)| *stars >= 3);
        high.map(|(film, _)| *film).collect()
    };
    assert_eq!(jaccard(&liked(&ann), &liked(&bob)), 1.0);
    let liked_or_hated = |ratings: &[(&'static str, u32)], least: u32| {
        ratings
            .iter()
            .map(|(film, stars)| (*film, *stars >= least))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        jaccard(&liked_or_hated(&ann, 3), &liked_or_hated(&bob, 3)),
        1.0
    );
    assert_eq!(
        jaccard(&liked_or_hated(&ann, 4), &liked_or_hated(&bob, 4)),
        1.0 / 3.0
    );
    let stars = |ratings: &[(&'static str, u32)]| -> Vec<&str> {
        let film = |(film, stars): &(&'static str, u32)| vec![*film; *stars as usize];
        ratings.iter().flat_map(film).collect()
    };
    // Alien three times and Brazil once, of six and four.
    assert_eq!(
        compared(&stars(&ann), &stars(&bob)).jaccard(),
        Some(4.0 / 6.0)
    );
    assert_eq!(
        compared(&stars(&ann), &stars(&bob)).similarity(),
        Some(4.0 / 10.0)
    );
}
