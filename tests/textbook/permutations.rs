//! Section 3.3: minhashing by permutations and by the book's hash functions, and true permutations as the reference for
//! hash families.

use simgpu::backend::Backend;
use simgpu::internals::{GivenPermutations, RandomPermutations};
use simgpu::pipeline::{ShingleSets, Signatures, Signer, jaccard};
use simgpu::scheme::{Hashes, Scheme, Slots, Width};

const NUM_PERM: u32 = 4096;

/// The characteristic matrix of figure 3.2: rows a to e, sets S1 to S4.
const FIGURE_3_2: [&[u64]; 4] = [&[0, 3], &[2], &[1, 3, 4], &[0, 2, 3]];

/// Signs sets, one call for all of them.
pub(crate) fn signed(signer: &dyn Signer, sets: &[&[u64]]) -> Signatures {
    let mut offsets = vec![0];
    for set in sets {
        offsets.push(offsets[offsets.len() - 1] + set.len() as i64);
    }
    let hashes = sets.concat();
    let sets = ShingleSets::new(Hashes::U64(&hashes), &offsets).unwrap();
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    signatures.sign(signer, &sets).unwrap();
    signatures
}

/// Signs sets by functions of a row: places in permuted orders, or hash functions.
fn signed_by(functions: &[fn(u64) -> u64], sets: &[&[u64]]) -> Signatures {
    let value = |slot: usize, row: u64| u32::try_from(functions[slot](row)).unwrap();
    signed(&GivenPermutations::new(functions.len(), value), sets)
}

/// Signs sets by orders of their rows.
pub(crate) fn signed_by_orders(orders: &[Vec<u64>], sets: &[&[u64]]) -> Signatures {
    let place = |slot: usize, row: u64| {
        let place = orders[slot].iter().position(|it| *it == row).unwrap();
        u32::try_from(place).unwrap()
    };
    signed(&GivenPermutations::new(orders.len(), place), sets)
}

/// All orders of this many rows.
pub(crate) fn all_orders(rows: u64) -> Vec<Vec<u64>> {
    let mut orders = vec![vec![]];
    for row in 0..rows {
        let with_row = |order: &Vec<u64>| {
            let insert = |at| [&order[..at], &[row], &order[at..]].concat();
            (0..=order.len()).map(insert).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(with_row).collect();
    }
    orders
}

fn rows_of(signatures: &Signatures) -> Vec<&[u32]> {
    let Slots::U32(slots) = signatures.slots() else {
        panic!("slots of 32 bits");
    };
    slots.chunks(signatures.num_perm()).collect()
}

#[test]
fn example_3_7_minhash_by_a_permutation() {
    // b e a d c
    let order = vec![1, 4, 0, 3, 2];
    let signatures = signed_by_orders(&[order], &FIGURE_3_2);
    let values = rows_of(&signatures).into_iter().map(|row| row[0]);
    let values: String = values
        .map(|place| ["b", "e", "a", "d", "c"][place as usize])
        .collect();
    assert_eq!(values, "acba");
}

#[test]
fn example_3_8_minhash_by_hash_functions() {
    let signatures = signed_by(&[|x| (x + 1) % 5, |x| (3 * x + 1) % 5], &FIGURE_3_2);
    assert_eq!(rows_of(&signatures), [[1, 0], [3, 2], [0, 0], [1, 0]]);
    for (i, j, truth, estimate) in [(0, 3, 2.0 / 3.0, 1.0), (0, 2, 0.25, 0.5), (0, 1, 0.0, 0.0)] {
        assert_eq!(jaccard(FIGURE_3_2[i], FIGURE_3_2[j]), truth);
        assert_eq!(signatures.estimate(i, j), estimate);
    }
}

#[test]
fn lecture_example_of_minhash() {
    let columns: [&[u64]; 2] = [&[1, 3, 4], &[2, 3, 5]];
    let signatures = signed_by(&[|x| x % 5 + 1, |x| (2 * x + 1) % 5 + 1], &columns);
    assert_eq!(rows_of(&signatures), [[2, 3], [1, 1]]);
}

/// The minhash of a set is the place of its first element in the order, which the lecture counts from 1.
#[test]
fn lecture_example_of_an_order() {
    let order = vec![6, 2, 5, 3, 7, 4, 1];
    let signatures = signed_by_orders(&[order], &[&[1, 3, 7], &[3, 5, 7]]);
    assert_eq!(rows_of(&signatures), [[4 - 1], [3 - 1]]);
}

/// Three permutations of seven rows, and four columns.
#[test]
fn lecture_example_of_three_permutations() {
    let columns: [&[u64]; 4] = [&[0, 1, 5, 6], &[2, 3, 4], &[0, 5, 6], &[1, 2, 3, 4]];
    let places = [
        [2, 3, 7, 6, 1, 5, 4],
        [4, 2, 1, 3, 6, 7, 5],
        [3, 4, 7, 2, 6, 1, 5],
    ];
    let place = |slot: usize, row: u64| places[slot][usize::try_from(row).unwrap()];
    let signatures = signed(&GivenPermutations::new(3, place), &columns);
    assert_eq!(
        rows_of(&signatures),
        [[2, 2, 1], [1, 1, 2], [2, 4, 1], [1, 1, 2]]
    );
    for (i, j, truth, estimated) in [(0, 2, 0.75, 2.0 / 3.0), (1, 3, 0.75, 1.0), (0, 1, 0.0, 0.0)] {
        assert_eq!(jaccard(columns[i], columns[j]), truth);
        assert_eq!(signatures.estimate(i, j), estimated);
    }
}

/// Two sets agree in a share of all 120 permutations that equals their similarity.
#[test]
fn exercise_3_3_1_all_permutations() {
    let orders = all_orders(5);
    assert_eq!(orders.len(), 120);
    let signatures = signed_by_orders(&orders, &FIGURE_3_2);
    let mut of_the_exercise = [0, 30, 80, 0, 40, 24].into_iter();
    for (i, a) in FIGURE_3_2.iter().enumerate() {
        for (j, b) in FIGURE_3_2.iter().enumerate().skip(i + 1) {
            let agree = f64::from(of_the_exercise.next().unwrap());
            assert_eq!(signatures.estimate(i, j), agree / 120.0);
            assert_eq!(signatures.estimate(i, j), jaccard(a, b));
        }
    }
}

/// The columns of figure 3.4 with h3(x) = 2x + 4 and h4(x) = 3x - 1, modulo 5.
#[test]
fn exercise_3_3_2_further_hash_functions() {
    let signatures = signed_by(&[|x| (2 * x + 4) % 5, |x| (3 * x + 4) % 5], &FIGURE_3_2);
    assert_eq!(rows_of(&signatures), [[0, 3], [3, 0], [0, 1], [0, 0]]);
}

/// The matrix of figure 3.5. Only h3 is a permutation, and no estimate is right.
#[test]
fn exercise_3_3_3_signatures_and_estimates() {
    let columns: [&[u64]; 4] = [&[2, 5], &[0, 1], &[3, 4], &[0, 2, 4]];
    let signatures = signed_by(
        &[
            |x| (2 * x + 1) % 6,
            |x| (3 * x + 2) % 6,
            |x| (5 * x + 2) % 6,
        ],
        &columns,
    );
    assert_eq!(
        rows_of(&signatures),
        [[5, 2, 0], [1, 2, 1], [1, 2, 4], [1, 2, 0]]
    );
    let of_the_exercise = [
        (0, 1, 0.0, 1.0),
        (0, 2, 0.0, 1.0),
        (0, 3, 0.25, 2.0),
        (1, 2, 0.0, 2.0),
        (1, 3, 0.25, 2.0),
        (2, 3, 0.25, 2.0),
    ];
    for (i, j, truth, thirds) in of_the_exercise {
        assert_eq!(jaccard(columns[i], columns[j]), truth);
        assert_eq!(signatures.estimate(i, j), thirds / 3.0, "{i}, {j}");
    }
}

/// A cyclic permutation begins with any row and goes around. Over all of them, {0} and {0, 1} of three rows agree too
/// often.
#[test]
fn exercise_3_3_6_cyclic_permutations() {
    let cyclic: Vec<Vec<u64>> = (0..3)
        .map(|start| (0..3).map(|i| (start + i) % 3).collect())
        .collect();
    let sets: [&[u64]; 2] = [&[0], &[0, 1]];
    assert_eq!(signed_by_orders(&cyclic, &sets).estimate(0, 1), 2.0 / 3.0);
    let all = signed_by_orders(&all_orders(3), &sets);
    assert_eq!(all.estimate(0, 1), 1.0 / 2.0);
    assert_eq!(jaccard(sets[0], sets[1]), 1.0 / 2.0);
}

/// The similarities of figure 3.2.
#[test]
fn section_3_3_2_permutations_estimate_jaccard() {
    let signatures = signed(&RandomPermutations::new(NUM_PERM, 1), &FIGURE_3_2);
    for (i, a) in FIGURE_3_2.iter().enumerate() {
        for (j, b) in FIGURE_3_2.iter().enumerate() {
            let (truth, estimate) = (jaccard(a, b), signatures.estimate(i, j));
            let standard_error = (truth * (1.0 - truth) / f64::from(NUM_PERM)).sqrt();
            // Without an error where sets are equal or disjoint (exercise 3.3.5).
            assert!(
                (estimate - truth).abs() <= 4.0 * standard_error,
                "{i}, {j}: {estimate}"
            );
        }
    }
}

/// A minimum is a place in an order of the universe; the union of two sets has the lower one.
#[test]
fn section_3_3_2_minima_are_places() {
    let (a, b): (Vec<u64>, Vec<u64>) = ((0..40).collect(), (30..100).collect());
    let union: Vec<u64> = (0..100).collect();
    let signatures = signed(&RandomPermutations::new(200, 7), &[&a, &b, &union, &[]]);
    let rows = rows_of(&signatures);
    let (a, b, union, empty) = (rows[0], rows[1], rows[2], rows[3]);
    assert!(union.iter().all(|place| *place == 0));
    assert!(a.iter().zip(b).all(|(a, b)| a.min(b) == &0));
    assert!(a.iter().chain(b).any(|place| *place > 2));
    assert!(empty.iter().all(|place| *place == u32::MAX));
}

/// Random hash functions in the place of permutations estimate as well as permutations do.
#[test]
fn section_3_3_4_hash_functions_simulate_permutations() {
    let hash = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i << 17;
    let (a, b): (Vec<u64>, Vec<u64>) = ((0..60).map(hash).collect(), (20..80).map(hash).collect());
    let scheme = Scheme::named("affine64").unwrap();
    let scheme = scheme.with_num_perm(NUM_PERM).unwrap();
    let family = Backend::Auto.signer(&scheme).unwrap();
    assert_eq!(family.slot_width(), Width::U64);
    let permutations = RandomPermutations::new(NUM_PERM, 3);
    let signers: [&dyn Signer; 2] = [&*family, &permutations];
    for signer in signers {
        let error = signed(signer, &[&a, &b]).estimate(0, 1) - 0.5;
        assert!(
            error.abs() < 4.0 * (0.25 / f64::from(NUM_PERM)).sqrt(),
            "{error}"
        );
    }
}

/// A minhash agrees for all of three sets only if it agrees for two pairs of them: if x and z differ, x and y differ or y
/// and z do. Shares of permutations are similarities, so the Jaccard distance obeys the triangle inequality.
#[test]
fn section_3_5_3_triangle_inequality_by_minhash() {
    let sets: Vec<Vec<u64>> = (1..1 << 4)
        .map(|bits| (0..4).filter(|e| bits >> e & 1 == 1).collect())
        .collect();
    let borrowed: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
    let orders = all_orders(4);
    assert_eq!(orders.len(), 24);
    let signatures = signed_by_orders(&orders, &borrowed);
    let differ = |i: usize, j: usize| (24.0 * (1.0 - signatures.estimate(i, j))).round();
    for (i, x) in sets.iter().enumerate() {
        for (j, y) in sets.iter().enumerate() {
            assert!((signatures.estimate(i, j) - jaccard(x, y)).abs() < 1e-12);
            for k in 0..sets.len() {
                assert!(differ(i, k) <= differ(i, j) + differ(j, k));
            }
        }
    }
}
