//! Signing allocates nothing after a first call on the thread: it writes into the caller's memory.

use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, Shingler, Shingling, SignaturesMut, Unit};
use simgpu::scheme::{Hashes, SlotsMut};
use simgpu::scheme::{Scheme, Width, fmix64};
use simgpu::simd::Isa;

/// Number of allocations in the second call on one thread.
fn allocations_of_second_call(mut call: impl FnMut() + Send) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    pool.install(|| {
        call();
        allocation_counter::measure(&mut call).count_total
    })
}

#[test]
fn sets_are_signed_without_allocations() {
    let lengths = [0, 1, 30, 700, 3000];
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    let wide: Vec<u64> = (0..lengths.iter().sum::<i64>())
        .map(|i| fmix64(i as u64))
        .collect();
    let narrow: Vec<u32> = wide.iter().map(|x| (x >> 32) as u32).collect();
    for (name, isa) in
        Scheme::names().flat_map(|name| Isa::available().iter().map(move |isa| (name, isa)))
    {
        let scheme = Scheme::named(name).unwrap();
        let hashes = match scheme.family().hash_width() {
            Width::U32 => Hashes::U32(&narrow),
            Width::U64 => Hashes::U64(&wide),
        };
        let sets = ShingleSets::new(hashes, &offsets).unwrap();
        let signer = Backend::Simd.signer_on(&scheme, *isa).unwrap();
        let slots = sets.len() * scheme.num_perm();
        let (mut slots32, mut slots64) = (vec![0; slots], vec![0; slots]);
        let allocations = allocations_of_second_call(|| {
            let slots = match signer.slot_width() {
                Width::U32 => SlotsMut::U32(&mut slots32),
                Width::U64 => SlotsMut::U64(&mut slots64),
            };
            let signatures = SignaturesMut::new(scheme.num_perm(), slots).unwrap();
            signer.sign_sets(&sets, signatures).unwrap();
        });
        assert_eq!(allocations, 0, "{name} on {isa}");
    }
}

#[test]
fn texts_are_signed_without_allocations() {
    let english = "It was the best of times, it was the worst of times, it was the age of wisdom. ";
    let long = english.repeat(300);
    let texts = ["", "short", english, &long, "naïve “café”, 東京 and more"];
    let scheme = Scheme::default();
    let signer = Backend::Simd.signer(&scheme).unwrap();
    for unit in [Unit::Words, Unit::Bytes, Unit::Chars] {
        let shingler = Shingler::new(Shingling::of(unit.clone()), &scheme, None).unwrap();
        let mut slots = vec![0; texts.len() * scheme.num_perm()];
        let allocations = allocations_of_second_call(|| {
            let signatures =
                SignaturesMut::new(scheme.num_perm(), SlotsMut::U32(&mut slots)).unwrap();
            signer
                .sign_documents(&texts, &shingler, signatures)
                .unwrap();
        });
        assert_eq!(allocations, 0, "{unit}");
    }
}
