//! The GPU backend against the definition, on whatever adapter there is. On a machine without one the tests
//! say `skipped: no adapter`; with `SIMGPU_REQUIRE_GPU=1` that is a failure.
#![cfg(feature = "gpu")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use simgpu::backend::gpu::{Bounds, GpuOptions, Integers, adapters};
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::{
    Hashes, ShingleSets, Shingler, Shingling, Signatures, Signer, TextBatch, Unit,
};
use simgpu::scheme::{Scheme, Width, fmix64};

/// Whether there is an adapter to test on.
fn has_adapter() -> bool {
    let found = !adapters().is_empty();
    let is_required = std::env::var_os("SIMGPU_REQUIRE_GPU").is_some_and(|value| value == "1");
    assert!(
        found || !is_required,
        "no adapter, and SIMGPU_REQUIRE_GPU=1"
    );
    if !found {
        println!("skipped: no adapter");
    }
    found
}

/// The schemes that GPUs compute, those of 64-bit slots last.
const SCHEMES: [&str; 6] = [
    "affine32",
    "affine32-even",
    "mersenne31",
    "mersenne61",
    "affine64",
    "mersenne61-wide",
];

fn gpu(scheme: &Scheme, options: GpuOptions) -> Box<dyn Signer> {
    let hardware = Hardware {
        gpu: options,
        ..Hardware::default()
    };
    Backend::Gpu.signer_with(scheme, &hardware).unwrap()
}

/// Hashes where reductions have their corners, and random ones.
fn hashes(count: usize, seed: u64) -> Vec<u64> {
    let corners = [
        u64::MAX,
        0,
        (1 << 31) - 1,
        1 << 31,
        (1 << 61) - 1,
        1 << 61,
        u64::from(u32::MAX),
    ];
    let random = (0..count as u64).map(|i| fmix64(seed << 40 | i));
    let mut all: Vec<u64> = corners.into_iter().chain(random).collect();
    all.truncate(count);
    all
}

/// Sets of these lengths.
struct Sets {
    wide: Vec<u64>,
    narrow: Vec<u32>,
    offsets: Vec<i64>,
}

impl Sets {
    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
    fn of(lengths: &[usize], seed: u64) -> Self {
        let mut offsets = vec![0];
        let mut wide = Vec::new();
        for (i, length) in lengths.iter().enumerate() {
            wide.extend(hashes(*length, seed + i as u64));
            offsets.push(wide.len() as i64);
        }
        Sets {
            narrow: wide.iter().map(|x| *x as u32).collect(),
            wide,
            offsets,
        }
    }

    fn sign(&self, signer: &dyn Signer) -> Signatures {
        let hashes = match signer.slot_width() {
            Width::U32 => Hashes::U32(&self.narrow),
            Width::U64 => Hashes::U64(&self.wide),
        };
        let sets = ShingleSets::new(hashes, &self.offsets).unwrap();
        let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
        signatures.sign(signer, &sets).unwrap();
        signatures
    }
}

/// Every form of every kernel that the schemes have, with what it is called.
fn forms() -> impl Iterator<Item = (Scheme, Integers)> {
    let all = SCHEMES.into_iter().flat_map(|name| {
        [Integers::U32, Integers::U64].map(|integers| (Scheme::named(name).unwrap(), integers))
    });
    all.filter(|(scheme, integers)| {
        scheme.family().slot_width() == Width::U32 || *integers == Integers::U64
    })
}

/// Limits so small that everything is cut everywhere: sets into pieces, pieces into loads, items into rows
/// of workgroups.
fn tiny() -> Bounds {
    Bounds {
        input_bytes: 1 << 10,
        row_bytes: 1 << 13,
        parts: 5,
        updates: 40_000,
        tile_bytes: 256,
        groups: 3,
        loads: 2,
        ..Bounds::default()
    }
}

#[test]
fn sets_of_all_lengths_are_signed_as_by_the_definition() {
    if !has_adapter() {
        return;
    }
    let sets = Sets::of(&[0, 1, 7, 100, 4096, 4097, 0, 300_000, 3, 2048, 2049], 1);
    for (scheme, integers) in forms() {
        let expected = sets.sign(&*Backend::Simd.signer(&scheme).unwrap());
        let signer = gpu(
            &scheme,
            GpuOptions {
                integers: Some(integers),
                ..GpuOptions::default()
            },
        );
        assert!(sets.sign(&*signer) == expected, "{scheme} {integers:?}");
        assert_eq!(signer.notices(), [""; 0]);
    }
}

#[test]
fn any_number_of_permutations_will_do() {
    if !has_adapter() {
        return;
    }
    let sets = Sets::of(&[0, 1, 7, 100, 700], 2);
    for (scheme, integers) in forms() {
        for num_perm in [1, 3, 4, 5, 112, 129, 1025, 2051] {
            let scheme = scheme.clone().with_num_perm(num_perm).unwrap();
            let expected = sets.sign(&*Backend::Scalar.signer(&scheme).unwrap());
            let options = GpuOptions {
                integers: Some(integers),
                ..GpuOptions::default()
            };
            let signer = gpu(&scheme, options);
            assert!(
                sets.sign(&*signer) == expected,
                "{scheme} {integers:?} {num_perm}"
            );
        }
    }
}

#[test]
fn no_limit_shows_in_the_values() {
    if !has_adapter() {
        return;
    }
    let lengths = [0, 1, 7, 100, 4096, 4097, 63, 64, 65, 10_000, 0];
    let sets = Sets::of(&lengths, 3);
    for (scheme, integers) in forms() {
        let scheme = scheme.with_num_perm(70).unwrap();
        let expected = sets.sign(&*Backend::Simd.signer(&scheme).unwrap());
        let options = GpuOptions {
            integers: Some(integers),
            bounds: tiny(),
            ..GpuOptions::default()
        };
        let signer = gpu(&scheme, options);
        assert!(sets.sign(&*signer) == expected, "{scheme} {integers:?}");
        assert_eq!(signer.notices(), [""; 0]);
    }
}

/// Texts of these lengths in bytes, about; with more than ASCII in them, and white space that is merged.
fn texts(lengths: &[usize]) -> TextBatch {
    const WORDS: [&str; 6] = [
        "the ",
        "na\u{ef}ve\n\n",
        "x",
        "\u{6771}\u{4eac} ",
        "1,000.5  ",
        "a_b",
    ];
    let text = |(i, length): (usize, &usize)| -> String {
        let mut text = String::new();
        let mut random = fmix64(i as u64 + 1);
        while text.len() < *length {
            random = fmix64(random + 1);
            text.push_str(WORDS[(random % 6) as usize]);
        }
        text
    };
    let texts: Vec<String> = lengths.iter().enumerate().map(text).collect();
    texts.iter().map(|text| &**text).collect()
}

#[test]
fn texts_are_signed_as_their_sets_are() {
    if !has_adapter() {
        return;
    }
    let texts = texts(&[0, 1, 2, 8, 9, 10, 100, 4096, 4097, 0, 100_000, 5]);
    for (scheme, integers) in forms() {
        let scheme = scheme.with_num_perm(33).unwrap();
        for (unit, size) in [
            (Unit::Bytes, 1),
            (Unit::Bytes, 4),
            (Unit::Bytes, 9),
            (Unit::Bytes, 64),
            (Unit::Bytes, 65),
            (Unit::Chars, 9),
            (Unit::Words, 5),
        ] {
            let mut shingling = Shingling::of(unit);
            shingling.size = size.try_into().unwrap();
            let shingler = Shingler::new(shingling, &scheme, None).unwrap();
            let simd = Backend::Simd.signer(&scheme).unwrap();
            let expected = Signatures::of_texts(&*simd, &texts, &shingler).unwrap();
            for bounds in [Bounds::default(), tiny()] {
                let options = GpuOptions {
                    integers: Some(integers),
                    bounds,
                    ..GpuOptions::default()
                };
                let signer = gpu(&scheme, options);
                let signatures = Signatures::of_texts(&*signer, &texts, &shingler).unwrap();
                let unit = &shingler.shingling().unit;
                assert!(
                    signatures == expected,
                    "{scheme} {integers:?} {size} {unit}"
                );
                assert_eq!(signer.notices(), [""; 0]);
            }
        }
    }
}
