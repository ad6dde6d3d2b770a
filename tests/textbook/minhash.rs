//! Section 3.3: similarity-preserving summaries of sets.

use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, Shingler, Shingling, Signatures, Unit, jaccard};
use simgpu::scheme::{Hashes, Scheme, Slots, Width, affine32};

/// The characteristic matrix of figure 3.2: rows a to e, sets S1 to S4.
const FIGURE_3_2: [&[usize]; 4] = [&[0, 3], &[2], &[1, 3, 4], &[0, 2, 3]];

fn minima(sets: &[&[usize]], hashes: &[fn(usize) -> usize]) -> Vec<Vec<usize>> {
    let minimum = |set: &[usize], hash: &fn(usize) -> usize| set.iter().map(|x| hash(*x)).min();
    sets.iter()
        .map(|set| {
            hashes
                .iter()
                .filter_map(|hash| minimum(set, hash))
                .collect()
        })
        .collect()
}

#[test]
fn example_3_7_minhash_by_a_permutation() {
    // The permuted order is b e a d c. `place` is the position of a row in it.
    let place = |row: usize| [2, 0, 4, 3, 1][row];
    let order = ['b', 'e', 'a', 'd', 'c'];
    let values: Vec<char> = minima(&FIGURE_3_2, &[place])
        .iter()
        .map(|m| order[m[0]])
        .collect();
    assert_eq!(values, ['a', 'c', 'b', 'a']);
}

#[test]
fn example_3_8_minhash_by_hash_functions() {
    let signatures = minima(&FIGURE_3_2, &[|x| (x + 1) % 5, |x| (3 * x + 1) % 5]);
    assert_eq!(signatures, [[1, 0], [3, 2], [0, 0], [1, 0]]);
    let estimate = |i: usize, j: usize| {
        let agree = signatures[i]
            .iter()
            .zip(&signatures[j])
            .filter(|(a, b)| a == b);
        agree.count() as f64 / 2.0
    };
    assert_eq!(
        [estimate(0, 3), estimate(0, 2), estimate(0, 1)],
        [1.0, 0.5, 0.0]
    );
    let truth = |i: usize, j: usize| jaccard(FIGURE_3_2[i], FIGURE_3_2[j]);
    assert_eq!(
        [truth(0, 3), truth(0, 2), truth(0, 1)],
        [2.0 / 3.0, 0.25, 0.0]
    );
}

#[test]
fn lecture_example_of_minhash() {
    let columns: [&[usize]; 2] = [&[1, 3, 4], &[2, 3, 5]];
    let signatures = minima(&columns, &[|x| x % 5 + 1, |x| (2 * x + 1) % 5 + 1]);
    assert_eq!(signatures, [[2, 3], [1, 1]]);
}

/// The share of equal minima of two signatures.
fn estimate(signatures: &[Vec<usize>], i: usize, j: usize) -> f64 {
    let slots = signatures[i].iter().zip(&signatures[j]);
    slots.filter(|(a, b)| a == b).count() as f64 / signatures[i].len() as f64
}

/// The minhash of a set is the place of its first element in the order.
#[test]
fn lecture_example_of_an_order() {
    let order = [6, 2, 5, 3, 7, 4, 1];
    let place = |set: [usize; 3]| order.iter().position(|e| set.contains(e)).unwrap() + 1;
    assert_eq!((place([1, 3, 7]), place([3, 5, 7])), (4, 3));
}

/// Three permutations of seven rows, and four columns.
#[test]
fn lecture_example_of_three_permutations() {
    let columns: [&[usize]; 4] = [&[0, 1, 5, 6], &[2, 3, 4], &[0, 5, 6], &[1, 2, 3, 4]];
    let signatures = minima(
        &columns,
        &[
            |row| [2, 3, 7, 6, 1, 5, 4][row],
            |row| [4, 2, 1, 3, 6, 7, 5][row],
            |row| [3, 4, 7, 2, 6, 1, 5][row],
        ],
    );
    assert_eq!(signatures, [[2, 2, 1], [1, 1, 2], [2, 4, 1], [1, 1, 2]]);
    for (i, j, truth, estimated) in [(0, 2, 0.75, 2.0 / 3.0), (1, 3, 0.75, 1.0), (0, 1, 0.0, 0.0)] {
        assert_eq!(jaccard(columns[i], columns[j]), truth);
        assert_eq!(estimate(&signatures, i, j), estimated);
    }
}

/// The columns of figure 3.4 with h3(x) = 2x + 4 and h4(x) = 3x - 1, modulo 5.
#[test]
fn exercise_3_3_2_further_hash_functions() {
    let signatures = minima(&FIGURE_3_2, &[|x| (2 * x + 4) % 5, |x| (3 * x + 4) % 5]);
    assert_eq!(signatures, [[0, 3], [3, 0], [0, 1], [0, 0]]);
}

/// The matrix of figure 3.5. Only h3 is a permutation, and no estimate is right.
#[test]
fn exercise_3_3_3_signatures_and_estimates() {
    let columns: [&[usize]; 4] = [&[2, 5], &[0, 1], &[3, 4], &[0, 2, 4]];
    let hashes: [fn(usize) -> usize; 3] = [
        |x| (2 * x + 1) % 6,
        |x| (3 * x + 2) % 6,
        |x| (5 * x + 2) % 6,
    ];
    let is_permutation = hashes.map(|hash| {
        let mut values: Vec<usize> = (0..6).map(hash).collect();
        values.sort_unstable();
        values == [0, 1, 2, 3, 4, 5]
    });
    assert_eq!(is_permutation, [false, false, true]);
    let signatures = minima(&columns, &hashes);
    assert_eq!(signatures, [[5, 2, 0], [1, 2, 1], [1, 2, 4], [1, 2, 0]]);
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let truths = pairs.map(|(i, j)| jaccard(columns[i], columns[j]));
    assert_eq!(truths, [0.0, 0.0, 0.25, 0.0, 0.25, 0.25]);
    let thirds = pairs.map(|(i, j)| (3.0 * estimate(&signatures, i, j)).round());
    assert_eq!(thirds, [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
}

/// A cyclic permutation begins with any row and goes around. Over all of them, {0} and {0, 1} of three rows agree too
/// often.
#[test]
fn exercise_3_3_6_cyclic_permutations() {
    let sets: [&[usize]; 2] = [&[0], &[0, 1]];
    let first = |start: usize, set: &[usize]| {
        (0..3)
            .map(|i| (start + i) % 3)
            .find(|row| set.contains(row))
    };
    let agree = (0..3).filter(|start| first(*start, sets[0]) == first(*start, sets[1]));
    assert_eq!(agree.count() as f64 / 3.0, 2.0 / 3.0);
    assert_eq!(jaccard(sets[0], sets[1]), 1.0 / 2.0);
}

/// The pairs of shingle and document, sorted by shingle (step 2 of section 3.4.3), are the rows of the matrix. One scan
/// over them computes the signatures of whole sets.
#[test]
fn section_3_3_5_signatures_row_by_row() {
    let sets: Vec<Vec<u32>> = (1..6u32)
        .map(|set| (0..100).map(|i| (i * i * set + i) % 257).collect())
        .collect();
    let mut rows: Vec<(u32, usize)> = Vec::new();
    for (document, set) in sets.iter().enumerate() {
        rows.extend(set.iter().map(|shingle| (*shingle, document)));
    }
    rows.sort_unstable();
    rows.dedup();
    let scheme = Scheme::default();
    let drawn = scheme.permutations();
    let narrow = |coefficient: &u64| u32::try_from(*coefficient).unwrap();
    let mut matrix = vec![u32::MAX; sets.len() * drawn.num_perm()];
    for (shingle, document) in rows {
        for (k, (a, b)) in drawn.a().iter().zip(drawn.b()).enumerate() {
            let slot = &mut matrix[document * drawn.num_perm() + k];
            *slot = (*slot).min(affine32(narrow(a), narrow(b), shingle));
        }
    }
    let signer = Backend::Auto.signer(&scheme).unwrap();
    let offsets: Vec<i64> = (0..=5).map(|set| 100 * set).collect();
    let hashes = sets.concat();
    let sets = ShingleSets::new(Hashes::U32(&hashes), &offsets).unwrap();
    let mut signatures = Signatures::new(drawn.num_perm(), Width::U32);
    signatures.sign(&*signer, &sets).unwrap();
    let Slots::U32(slots) = signatures.slots() else {
        panic!("slots of 32 bits");
    };
    assert!(slots == matrix);
}

/// Two sets agree in a share of all 120 permutations that equals their similarity.
#[test]
fn exercise_3_3_1_all_permutations() {
    let mut orders = vec![vec![]];
    for row in 0..5usize {
        let insert = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, row);
                    longer
                })
                .collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(insert).collect();
    }
    assert_eq!(orders.len(), 120);
    let mut of_the_exercise = [(0.0, 0), (1.0 / 4.0, 30), (2.0 / 3.0, 80)]
        .into_iter()
        .chain([(0.0, 0), (1.0 / 3.0, 40), (1.0 / 5.0, 24)]);
    for (i, a) in FIGURE_3_2.iter().enumerate() {
        for b in &FIGURE_3_2[i + 1..] {
            let first = |order: &[usize], set: &[usize]| {
                *order.iter().find(|row| set.contains(row)).unwrap()
            };
            let agree = orders
                .iter()
                .filter(|order| first(order, a) == first(order, b));
            let (similarity, permutations) = of_the_exercise.next().unwrap();
            assert_eq!(agree.count(), permutations);
            assert_eq!(jaccard(a, b), similarity);
            assert_eq!(permutations as f64 / 120.0, similarity);
        }
    }
}

/// The signature of a set is the slot-wise minimum of its parts' signatures.
#[test]
fn section_3_3_6_parts_merge_to_the_whole() {
    for name in ["affine32", "mersenne31", "mersenne61", "fast"] {
        let scheme = Scheme::named(name).unwrap();
        let signer = Backend::Auto.signer(&scheme).unwrap();
        let set: Vec<u32> = (0..1000u32)
            .map(|x| x.wrapping_mul(2_654_435_761))
            .collect();
        let sign = |offsets: &[i64]| {
            let mut signatures = Signatures::new(128, Width::U32);
            let sets = ShingleSets::new(Hashes::U32(&set), offsets).unwrap();
            signatures.sign(&*signer, &sets).unwrap();
            let Slots::U32(slots) = signatures.slots() else {
                panic!("slots of 32 bits");
            };
            slots.to_vec()
        };
        let whole = sign(&[0, 1000]);
        let parts = sign(&[0, 1, 400, 1000]);
        let merged: Vec<u32> = (0..128)
            .map(|k| parts.iter().skip(k).step_by(128).copied().min().unwrap())
            .collect();
        assert_eq!(whole, merged);
    }
}

#[test]
fn section_3_3_disjoint_sets_are_estimated_as_0() {
    let signer = Backend::Auto.signer(&Scheme::default()).unwrap();
    // affine32 is a bijection, so two shingles never have the same value.
    let set: Vec<u32> = (0..200).collect();
    let sets = ShingleSets::new(Hashes::U32(&set), &[0, 100, 200]).unwrap();
    let mut signatures = Signatures::new(128, Width::U32);
    signatures.sign(&*signer, &sets).unwrap();
    assert_eq!(signatures.estimate(0, 1), 0.0);
}

#[test]
fn section_3_3_sizes() {
    // A document of 50,000 bytes: 200,000 bytes of 4-byte shingles, 1,000 bytes of signature.
    let text: String = (0..50_000u32)
        .map(|i| char::from_digit((i * i % 23 + i / 7 % 3) % 26 + 10, 36).unwrap())
        .collect();
    let shingler = Shingler::new(Shingling::of(Unit::Bytes), &Scheme::default(), None).unwrap();
    let batch = shingler.shingle(&[&text]);
    let bytes = 4 * batch.sets().range(0).len();
    assert!((199_000..=200_000).contains(&bytes));
    let signatures = Signatures::new(250, Width::U32);
    assert_eq!(signatures.num_perm() * Width::U32.bytes(), 1000);
}
