//! Laws of signatures.

use proptest::prelude::*;
use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, Signatures};
use simgpu::scheme::{Hashes, Scheme, Slots, Width};

// Signatures of sets

/// Signs sets of shingle hashes, cut to the scheme's width, and returns their slots as u64.
fn sign(scheme: &str, backend: Backend, num_perm: u32, sets: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let scheme = Scheme::named(scheme)
        .unwrap()
        .with_num_perm(num_perm)
        .unwrap();
    let signer = backend.signer(&scheme).unwrap();
    let flat = sets.concat();
    let high_halves: Vec<u32> = flat.iter().map(|hash| high_half(*hash)).collect();
    let hashes = match scheme.family().hash_width() {
        Width::U32 => Hashes::U32(&high_halves),
        Width::U64 => Hashes::U64(&flat),
    };
    let ends = sets.iter().scan(0, |end, set| {
        *end += set.len() as i64;
        Some(*end)
    });
    let offsets: Vec<i64> = [0].into_iter().chain(ends).collect();
    let sets = ShingleSets::new(hashes, &offsets).unwrap();
    let mut signatures = Signatures::new(scheme.num_perm(), signer.slot_width());
    signatures.sign(&*signer, &sets).unwrap();
    let row = |i| match signatures.row(i) {
        Slots::U32(slots) => slots.iter().copied().map(u64::from).collect(),
        Slots::U64(slots) => slots.to_vec(),
    };
    (0..signatures.len()).map(row).collect()
}

fn high_half(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap()
}

fn any_scheme() -> impl Strategy<Value = &'static str> {
    prop::sample::select(Scheme::names().collect::<Vec<_>>())
}

fn any_cpu_backend() -> impl Strategy<Value = Backend> {
    prop::sample::select(vec![Backend::Scalar, Backend::Simd])
}

/// Hashes over the whole range, and at its ends, where arithmetic overflows.
fn any_set() -> impl Strategy<Value = Vec<u64>> {
    let hash = prop_oneof![
        4 => any::<u64>(),
        1 => prop::sample::select(vec![0, 1, u64::MAX, u64::MAX << 32, (1 << 61) - 1, 1 << 63]),
    ];
    prop::collection::vec(hash, 0..70)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn order_and_repeats_do_not_matter(
        scheme in any_scheme(),
        backend in any_cpu_backend(),
        num_perm in 1..70u32,
        orders in any_set().prop_flat_map(|set| (Just(set.clone()), Just(set).prop_shuffle())),
        repeats in 0..4usize,
    ) {
        let (set, shuffled) = orders;
        let repeated = shuffled.repeat(1 + repeats);
        let reversed: Vec<u64> = set.iter().rev().copied().collect();
        let rows = sign(scheme, backend, num_perm, &[set, shuffled, repeated, reversed]);
        prop_assert!(rows.iter().all(|row| *row == rows[0]));
    }

    #[test]
    fn a_union_signs_as_the_slotwise_minimum(
        scheme in any_scheme(),
        backend in any_cpu_backend(),
        num_perm in 1..70u32,
        a in any_set(),
        b in any_set(),
    ) {
        let sets = [a.clone(), b.clone(), [a, b].concat()];
        let rows = sign(scheme, backend, num_perm, &sets);
        // The empty set adds nothing, whatever its slots: cuDF's are zeros, less than any other.
        let minimum: Vec<u64> = match (sets[0].is_empty(), sets[1].is_empty()) {
            (true, _) => rows[1].clone(),
            (_, true) => rows[0].clone(),
            _ => rows[0].iter().zip(&rows[1]).map(|(a, b)| *a.min(b)).collect(),
        };
        prop_assert_eq!(&rows[2], &minimum);
    }

    #[test]
    fn equal_sets_have_equal_rows(
        scheme in any_scheme(),
        num_perm in 1..70u32,
        set in any_set(),
        before in prop::collection::vec(any_set(), 0..5),
        after in prop::collection::vec(any_set(), 0..5),
    ) {
        let alone = sign(scheme, Backend::Scalar, num_perm, std::slice::from_ref(&set));
        let at = before.len();
        let surrounded = [before, vec![set], after].concat();
        let by_simd = sign(scheme, Backend::Simd, num_perm, &surrounded);
        prop_assert_eq!(&by_simd[at], &alone[0]);
        prop_assert_eq!(sign(scheme, Backend::Scalar, num_perm, &surrounded), by_simd);
    }
}
