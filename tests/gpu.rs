//! The GPU backend against the definition, on the adapter of this machine. Without one the tests print
//! `skipped: no adapter`; with `SIMGPU_REQUIRE_GPU=1` they fail.
#![cfg(all(feature = "gpu", feature = "internals"))]

#[path = "support/gpu.rs"]
mod support;

use simgpu::backend::Backend;
use simgpu::backend::gpu::{Bounds, GpuOptions};
use simgpu::documents::{TextBatch, WeightedBatch};
use simgpu::pipeline::{Banding, Shingler, Shingling, Signatures, Unit, Weighting};
use simgpu::scheme::{Scheme, WeightScale, fmix64};
use support::{Sets, forms, gpu, has_adapter, in_form, signer, tiny, within};

#[test]
fn sets_of_all_lengths_match_the_definition() {
    if !has_adapter() {
        return;
    }
    let sets = Sets::of(&[0, 1, 7, 100, 4096, 4097, 0, 300_000, 3, 2048, 2049], 1);
    for (scheme, integers) in forms() {
        let expected = sets.sign(&*Backend::Scalar.signer(&scheme).unwrap());
        let signer = gpu(&scheme, in_form(integers, Bounds::default()));
        assert!(sets.sign(&*signer) == expected, "{scheme} {integers:?}");
        assert_eq!(signer.notices(), [""; 0]);
    }
}

#[test]
fn any_number_of_permutations_matches() {
    if !has_adapter() {
        return;
    }
    let sets = Sets::of(&[0, 1, 7, 100, 700], 2);
    for (scheme, integers) in forms() {
        for num_perm in [1, 3, 4, 5, 112, 129, 1025, 2051] {
            let scheme = scheme.clone().with_num_perm(num_perm).unwrap();
            let expected = sets.sign(&*Backend::Scalar.signer(&scheme).unwrap());
            let signer = gpu(&scheme, in_form(integers, Bounds::default()));
            assert!(
                sets.sign(&*signer) == expected,
                "{scheme} {integers:?} {num_perm}"
            );
        }
    }
}

#[test]
fn limits_do_not_show_in_values() {
    if !has_adapter() {
        return;
    }
    let lengths = [0, 1, 7, 100, 4096, 4097, 63, 64, 65, 10_000, 0];
    let sets = Sets::of(&lengths, 3);
    for (scheme, integers) in forms() {
        let scheme = scheme.with_num_perm(70).unwrap();
        let expected = sets.sign(&*Backend::Simd.signer(&scheme).unwrap());
        let signer = gpu(&scheme, in_form(integers, tiny()));
        assert!(sets.sign(&*signer) == expected, "{scheme} {integers:?}");
        assert_eq!(signer.notices(), [""; 0]);
    }
}

/// Texts of about these lengths in bytes, beyond ASCII and with white space that shingling merges.
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
fn texts_sign_as_their_sets_do() {
    if !has_adapter() {
        return;
    }
    let texts = texts(&[0, 1, 2, 8, 9, 10, 100, 4096, 4097, 0, 100_000, 5]);
    for (scheme, integers) in forms() {
        let scheme = scheme.with_num_perm(33).unwrap();
        // Each window is a shader of its own, which takes software 0.1 s and more to compile.
        let has_all_windows = scheme.to_string() == Scheme::default().to_string();
        let rare = [
            (Unit::Bytes, 1),
            (Unit::Bytes, 4),
            (Unit::Bytes, 64),
            (Unit::Bytes, 65),
            (Unit::Chars, 1),
            (Unit::Chars, 31),
            (Unit::Chars, 64),
        ];
        let rare = rare.into_iter().filter(|_| has_all_windows);
        let sets = [(Unit::Bytes, 9), (Unit::Chars, 9), (Unit::Words, 5)];
        let bags = [(Unit::Bytes, 4), (Unit::Words, 1)];
        let sets = sets.map(|(unit, size)| (unit, size, Weighting::Equal));
        let bags = bags.map(|(unit, size)| (unit, size, Weighting::Counts));
        let rare = rare.map(|(unit, size)| (unit, size, Weighting::Equal));
        for (unit, size, weighting) in sets.into_iter().chain(bags).chain(rare) {
            let shingling = Shingling {
                size: size.try_into().unwrap(),
                weighting,
                ..Shingling::of(unit)
            };
            let shingler = Shingler::new(shingling, &scheme, None).unwrap();
            let simd = Backend::Simd.signer(&scheme).unwrap();
            let expected = Signatures::of_documents(&*simd, &texts, &shingler).unwrap();
            for bounds in [Bounds::default(), tiny()] {
                let signer = gpu(&scheme, in_form(integers, bounds));
                let signatures = Signatures::of_documents(&*signer, &texts, &shingler).unwrap();
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

#[test]
fn weighted_tokens_match_the_definition() {
    if !has_adapter() {
        return;
    }
    let mut documents = WeightedBatch::default();
    for document in 0..40u64 {
        for token in 0..document * 7 {
            let random = fmix64(document << 32 | token);
            let weight = (random % 1000) as f64 / 100.0;
            documents.push_token(random.to_string().as_bytes(), weight);
        }
        documents.finish_document();
    }
    for (scheme, integers) in forms() {
        let shingling = Shingling {
            weighting: Weighting::Given(WeightScale::default()),
            ..Shingling::of(Unit::Tokens)
        };
        let shingler = Shingler::new(shingling, &scheme, None).unwrap();
        let scalar = Backend::Scalar.signer(&scheme).unwrap();
        let expected = Signatures::of_documents(&*scalar, &documents, &shingler).unwrap();
        let signer = gpu(&scheme, in_form(integers, Bounds::default()));
        let signatures = Signatures::of_documents(&*signer, &documents, &shingler).unwrap();
        assert!(signatures == expected, "{scheme} {integers:?}");
        assert_eq!(signer.notices(), [""; 0]);
    }
}

/// Buffers larger than any device has: the limits are narrowed, or the CPU signs.
#[test]
fn a_device_without_room_changes_no_value() {
    if !has_adapter() {
        return;
    }
    let sets = Sets::of(&[300, 0, 5000], 6);
    let scheme = Scheme::default();
    let expected = sets.sign(&*Backend::Simd.signer(&scheme).unwrap());
    let bounds = Bounds {
        input_bytes: usize::MAX,
        row_bytes: usize::MAX,
        parts: usize::MAX,
        loads: usize::MAX,
        ..Bounds::default()
    };
    assert!(sets.sign(&*gpu(&scheme, within(bounds))) == expected);
}

#[test]
fn a_hybrid_run_signs_the_same() {
    if !has_adapter() {
        return;
    }
    let lengths: Vec<usize> = (0..300).map(|i| i * i % 9000).collect();
    let sets = Sets::of(&lengths, 7);
    for (scheme, _) in forms() {
        let scheme = scheme.with_num_perm(40).unwrap();
        let expected = sets.sign(&*Backend::Simd.signer(&scheme).unwrap());
        for bounds in [Bounds::default(), tiny()] {
            let signer = signer(Backend::Hybrid, &scheme, within(bounds));
            assert!(sets.sign(&*signer) == expected, "{scheme}");
            assert_eq!(signer.notices(), [""; 0]);
        }
    }
}

#[test]
fn one_signer_serves_many_threads() {
    if !has_adapter() {
        return;
    }
    let scheme = Scheme::default();
    let signer = gpu(&scheme, GpuOptions::default());
    std::thread::scope(|scope| {
        for seed in 0..8 {
            let (signer, scheme) = (&*signer, &scheme);
            scope.spawn(move || {
                let sets = Sets::of(&[100, 0, 9000, 3], 100 + seed);
                let expected = sets.sign(&*Backend::Simd.signer(scheme).unwrap());
                for _ in 0..5 {
                    assert!(sets.sign(signer) == expected);
                }
            });
        }
    });
}

#[test]
fn band_keys_match_those_of_signatures() {
    if !has_adapter() {
        return;
    }
    let lengths = [0, 1, 7, 100, 4096, 4097, 63, 0, 30_000, 5, 0];
    let sets = Sets::of(&lengths, 8);
    for (scheme, integers) in forms() {
        let scheme = scheme.with_num_perm(130).unwrap();
        let simd = Backend::Simd.signer(&scheme).unwrap();
        for bounds in [Bounds::default(), tiny()] {
            let signer = gpu(&scheme, in_form(integers, bounds));
            // The keys of the last banding are more bytes than the signatures.
            for (bands, rows) in [(16, 8), (9, 13), (1, 1), (130, 1)] {
                let banding = Banding::new(bands, rows, 130).unwrap();
                let expected = sets.band_keys(&*simd, banding);
                let keys = sets.band_keys(&*signer, banding);
                assert!(keys == expected, "{scheme} {integers:?} {bands} x {rows}");
            }
            assert_eq!(signer.notices(), [""; 0]);
        }
    }
}

/// Every length around a window and around a tile.
#[test]
fn texts_of_every_length_match() {
    if !has_adapter() {
        return;
    }
    let scheme = Scheme::default().with_num_perm(8).unwrap();
    let lengths: Vec<usize> = (0..70).chain(2040..2070).chain(4090..4110).collect();
    let texts = texts(&lengths);
    let simd = Backend::Simd.signer(&scheme).unwrap();
    let signer = gpu(&scheme, GpuOptions::default());
    for unit in [Unit::Bytes, Unit::Chars] {
        let shingler = Shingler::new(Shingling::of(unit), &scheme, None).unwrap();
        let sign = |signer| Signatures::of_documents(signer, &texts, &shingler).unwrap();
        assert!(sign(&*signer) == sign(&*simd));
    }
}
