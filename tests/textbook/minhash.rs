//! Section 3.3: similarity-preserving summaries of sets.

use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, Shingler, Shingling, Signatures, Unit};
use simgpu::scheme::{Hashes, Scheme, Slots, Width, affine32};

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

/// The signature of a set is the slot-wise minimum of its parts' signatures.
#[test]
fn exercise_3_3_7_parts_merge_to_the_whole() {
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
