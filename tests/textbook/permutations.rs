//! Section 3.3.2: minhashing by true permutations, the reference for hash families.

use simgpu::backend::Backend;
use simgpu::internals::RandomPermutations;
use simgpu::pipeline::{ShingleSets, Signatures, Signer, jaccard};
use simgpu::scheme::{Hashes, Scheme, Slots, Width};

const NUM_PERM: u32 = 4096;

/// Signs sets, one call for all of them.
fn signed(signer: &dyn Signer, sets: &[&[u64]]) -> Signatures {
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

/// The sets of figure 3.2 and its similarities.
#[test]
fn section_3_3_2_permutations_estimate_jaccard() {
    let sets: [&[u64]; 4] = [&[0, 3], &[2], &[1, 3, 4], &[0, 2, 3]];
    let signatures = signed(&RandomPermutations::new(NUM_PERM, 1), &sets);
    for (i, a) in sets.iter().enumerate() {
        for (j, b) in sets.iter().enumerate() {
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
    let Slots::U32(slots) = signatures.slots() else {
        panic!("slots of 32 bits");
    };
    let [a, b, union, empty] = [0, 1, 2, 3].map(|row| &slots[200 * row..200 * (row + 1)]);
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
