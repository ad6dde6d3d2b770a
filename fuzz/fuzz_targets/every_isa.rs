//! Every instruction set computes the same signatures as the scalar backend, for any shingles, scheme, seed and
//! number of permutations, from texts and from hashes.
//!
//!     cargo +nightly fuzz run every_isa -- -max_total_time=60
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, Shingler, Shingling, Signatures, Signer, Unit};
use simgpu::scheme::Hashes;
use simgpu::scheme::{Scheme, Width};
use simgpu::simd::Isa;

#[derive(Arbitrary, Debug)]
struct Case {
    scheme: u8,
    num_perm: u16,
    seed: u32,
    input: Input,
}

#[derive(Arbitrary, Debug)]
enum Input {
    /// Sets of hashes.
    Sets(Vec<Vec<u64>>),
    /// One long set: `start + i*step`. Above 2^16 shingles it is signed in pieces.
    Progression { start: u64, step: u64, len: u32 },
    /// Texts, cut into bytes, characters or words.
    Texts { texts: Vec<String>, unit: u8, size: u8 },
}

fuzz_target!(|case: Case| {
    let names: Vec<&str> = Scheme::names().collect();
    let name = names[usize::from(case.scheme) % names.len()];
    let num_perm = u32::from(case.num_perm) % 300 + 1;
    let scheme = Scheme::named(name).and_then(|scheme| scheme.with_num_perm(num_perm));
    let scheme = scheme.expect("a listed name").with_seed(case.seed);
    let sign: Box<dyn Fn(&dyn Signer, Isa) -> Signatures> = match case.input {
        Input::Sets(sets) => of_sets(sets),
        Input::Progression { start, step, len } => {
            let shingle = |i| start.wrapping_add(step.wrapping_mul(i));
            of_sets(vec![(0..u64::from(len % 70_000)).map(shingle).collect()])
        }
        Input::Texts { texts, unit, size } => {
            let mut shingling = Shingling::of(match unit % 3 {
                0 => Unit::Bytes,
                1 => Unit::Chars,
                _ => Unit::Words,
            });
            shingling.size = (usize::from(size % 40) + 1).try_into().expect("not zero");
            let Ok(shingler) = Shingler::new(shingling, &scheme, None) else {
                return; // A base hash that does not fit the unit.
            };
            Box::new(move |signer, isa| {
                let shingler = shingler.clone().with_isa(isa);
                Signatures::of_documents(signer, texts, &shingler).expect("the widths agree")
            })
        }
    };
    let scalar = Backend::Scalar.signer(&scheme).expect("always there");
    let expected = sign(&*scalar, Isa::available()[0]);
    for isa in Isa::available() {
        let simd = Backend::Simd.signer_on(&scheme, *isa).expect("always there");
        assert!(sign(&*simd, *isa) == expected, "{name} with {num_perm} on {isa}");
    }
});

fn of_sets(sets: Vec<Vec<u64>>) -> Box<dyn Fn(&dyn Signer, Isa) -> Signatures> {
    let wide: Vec<u64> = sets.concat();
    let narrow: Vec<u32> = wide.iter().map(|x| *x as u32).collect();
    let ends = sets.iter().scan(0, |end, set| {
        *end += set.len() as i64;
        Some(*end)
    });
    let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
    Box::new(move |signer, _| {
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        let of = |hashes| ShingleSets::new(hashes, &offsets).expect("offsets ascend");
        // A scheme refuses hashes of the other width.
        if signatures.sign(signer, &of(Hashes::U64(&wide))).is_err() {
            signatures.clear();
            let signed = signatures.sign(signer, &of(Hashes::U32(&narrow)));
            signed.expect("one of the widths is right");
        }
        signatures
    })
}
