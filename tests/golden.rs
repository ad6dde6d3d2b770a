//! Values that others computed: a second implementation in Python (tests/golden/generate.py), and the
//! tools whose values the schemes reproduce.

use serde_json::Value;
use simgpu::backend::Backend;
use simgpu::pipeline::{
    Banding, ErrorWeights, Hashes, ShingleSets, Shingler, Shingling, Signatures, Slots, Unit,
    band_key,
};
use simgpu::scheme::{
    BaseHash, Family, HashValue, Scheme, Width, murmur3_32, murmur3_128, sha1_32, sha1_64, words_v1,
};
use xxhash_rust::xxh32::xxh32;
use xxhash_rust::xxh64::xxh64;

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// A number, or a string that holds one.
fn number<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> T {
    let number = value.as_u64();
    let number = number.unwrap_or_else(|| value.as_str().unwrap().parse().unwrap());
    T::try_from(number).unwrap()
}

fn numbers<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> Vec<T> {
    list(value).iter().map(number).collect()
}

const BACKENDS: [Backend; 2] = [Backend::Scalar, Backend::Simd];

/// Signs one set and gives its slots as u64.
fn signature(scheme: &Scheme, backend: Backend, set: &[u64]) -> Vec<u64> {
    let signer = backend.signer(scheme).unwrap();
    let narrow: Vec<u32> = set.iter().map(|x| u32::try_from(*x).unwrap_or(0)).collect();
    let hashes = match scheme.family().hash_width() {
        Width::U32 => Hashes::U32(&narrow),
        Width::U64 => Hashes::U64(set),
    };
    let offsets = [0, i64::try_from(set.len()).unwrap()];
    let sets = ShingleSets::new(hashes, &offsets).unwrap();
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    signatures.sign(&*signer, &sets).unwrap();
    match signatures.row(0) {
        Slots::U32(slots) => slots.iter().map(|slot| u64::from(*slot)).collect(),
        Slots::U64(slots) => slots.to_vec(),
    }
}

fn scheme_of(case: &Value, name: &str) -> Scheme {
    let scheme = Scheme::named(name).unwrap();
    let scheme = scheme.with_num_perm(number(&case["num_perm"])).unwrap();
    scheme.with_seed(number(&case["seed"]))
}

#[test]
fn every_family_on_every_backend() {
    for case in list(&golden("families.json")) {
        let scheme = scheme_of(case, case["family"].as_str().unwrap());
        for (set, expected) in list(&case["inputs"]).iter().zip(list(&case["signatures"])) {
            for backend in BACKENDS {
                let actual = signature(&scheme, backend, &numbers::<u64>(set));
                assert_eq!(
                    actual,
                    numbers::<u64>(expected),
                    "{scheme} on {backend}: {set}"
                );
            }
        }
    }
}

#[test]
fn coefficients_are_numpys() {
    for case in list(&golden("draws.json")) {
        let permutations = scheme_of(case, case["family"].as_str().unwrap()).permutations();
        let pair = |k: usize| vec![permutations.a()[k], permutations.b()[k]];
        for (k, expected) in list(&case["first"]).iter().enumerate() {
            assert_eq!(pair(k), numbers::<u64>(expected), "{case}");
        }
        let last = permutations.num_perm() - 1;
        assert_eq!(pair(last), numbers::<u64>(&case["last"]), "{case}");
    }
}

#[test]
fn the_first_draws_of_the_peers() {
    let legacy = Scheme::named("datasketch-legacy").unwrap().permutations();
    assert_eq!(
        legacy.a()[..2],
        [775_169_054_918_279_404, 2_109_959_069_025_162]
    );
    assert_eq!(
        legacy.b()[..2],
        [1_758_426_461_858_698_312, 965_365_488_286_768_773]
    );
    let datatrove = Scheme::named("mersenne61")
        .unwrap()
        .with_num_perm(112)
        .unwrap();
    let datatrove = datatrove.permutations();
    assert_eq!(
        [
            datatrove.a()[0],
            datatrove.a()[111],
            datatrove.b()[0],
            datatrove.b()[111]
        ],
        [
            775_169_054_918_279_404,
            223_865_076_026_037_746,
            1_062_448_801_025_099_917,
            1_097_409_548_522_419_201
        ]
    );
    let affine32 = Scheme::default().permutations();
    assert_eq!(
        affine32.a()[..3],
        [3_582_191_691, 4_270_784_983, 1_892_572_953]
    );
    assert_eq!(
        affine32.b()[..3],
        [214_548_472, 3_287_733_501, 2_301_657_549]
    );
}

#[test]
fn the_quick_brown_fox() {
    let tokens = ["the", "quick", "brown", "fox"];
    let set: Vec<u64> = tokens
        .iter()
        .map(|t| sha1_32(t.as_bytes()).into())
        .collect();
    for (name, expected) in [
        (
            "datasketch-legacy",
            [
                407_326_892,
                34_383_241,
                44_059_036,
                1_893_391_287,
                136_245_013,
                1_552_394_070,
                196_634_065,
                2_069_430_456,
            ],
        ),
        (
            "datasketch",
            [
                113_674_572,
                659_818_257,
                333_462_271,
                1_849_789_506,
                1_985_821_490,
                254_610_897,
                372_274_154,
                1_963_928_926,
            ],
        ),
    ] {
        let scheme = Scheme::named(name).unwrap();
        for backend in BACKENDS {
            assert_eq!(
                signature(&scheme, backend, &set)[..8],
                expected,
                "{name} on {backend}"
            );
        }
    }
}

/// datasketch's own unit test: one token, four permutations.
#[test]
fn datasketch_byte_tokens() {
    let scheme = Scheme::named("datasketch-legacy")
        .unwrap()
        .with_num_perm(4)
        .unwrap();
    let set = [sha1_32(b"Hello").into()];
    for backend in BACKENDS {
        assert_eq!(
            signature(&scheme, backend, &set),
            [734_825_475, 960_773_806, 359_816_889, 342_714_745]
        );
    }
}

#[test]
fn signatures_of_datasketch_and_datatrove() {
    let golden = golden("peer_signatures.json");
    for case in list(&golden["schemes"]) {
        let peer = case["name"].as_str().unwrap();
        let (name, hash): (&str, fn(&[u8]) -> u64) = match peer {
            "datasketch-legacy" => ("datasketch-legacy", |token| sha1_32(token).into()),
            "datasketch affine32" => ("datasketch", |token| sha1_32(token).into()),
            "datasketch affine64" => ("datasketch64", sha1_64),
            "datatrove xxhash precision 32" => ("mersenne61", |token| xxh32(token, 0).into()),
            "datatrove xxhash precision 64" => ("mersenne61-wide", |token| xxh64(token, 0)),
            "datatrove sha1 precision 64" => ("mersenne61-wide", sha1_64),
            other => panic!("{other} is not known"),
        };
        let scheme = scheme_of(case, name);
        for (tokens, expected) in list(&golden["documents"])
            .iter()
            .zip(list(&case["signatures"]))
        {
            let tokens = list(tokens).iter().map(|token| token.as_str().unwrap());
            let set: Vec<u64> = tokens.map(|token| hash(token.as_bytes())).collect();
            for backend in BACKENDS {
                let actual = signature(&scheme, backend, &set);
                assert_eq!(actual, numbers::<u64>(expected), "{peer} on {backend}");
            }
        }
    }
}

/// The way of a user who wants a peer's values: tokens through the shingler, the preset's own hash.
#[test]
fn presets_bring_their_base_hash() {
    let golden = golden("peer_signatures.json");
    for case in list(&golden["schemes"]) {
        let scheme = match case["name"].as_str().unwrap() {
            "datasketch-legacy" => scheme_of(case, "datasketch-legacy"),
            "datasketch affine32" => scheme_of(case, "datasketch"),
            "datasketch affine64" => scheme_of(case, "datasketch64"),
            _ => continue,
        };
        let shingler = Shingler::new(Shingling::of(Unit::Tokens), &scheme, None).unwrap();
        let signer = Backend::Auto.signer(&scheme).unwrap();
        for (tokens, expected) in list(&golden["documents"])
            .iter()
            .zip(list(&case["signatures"]))
        {
            let mut documents = simgpu::pipeline::TokenBatch::default();
            for token in list(tokens) {
                documents.push_token(token.as_str().unwrap().as_bytes());
            }
            documents.finish_document();
            let documents = simgpu::pipeline::DocumentBatch::Tokens(documents);
            let (shingles, _) = shingler
                .shingle_with_digests(&documents, &mut simgpu::pipeline::Scratch::default());
            let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
            signatures.sign(&*signer, &shingles.sets()).unwrap();
            let expected = numbers::<u64>(expected);
            match signatures.row(0) {
                Slots::U32(slots) => assert!(slots.iter().map(|s| u64::from(*s)).eq(expected)),
                Slots::U64(slots) => assert_eq!(slots, expected),
            }
        }
    }
}

#[test]
fn band_keys_version_1() {
    for case in list(&golden("band_keys.json")) {
        let rows: usize = number(&case["rows"]);
        for (band, keys) in (0u32..).zip(list(&case["keys"])) {
            let slots = band as usize * rows..(band as usize + 1) * rows;
            for (signature, expected) in list(&case["signatures"]).iter().zip(list(keys)) {
                let key = if case["slot_bits"] == 32 {
                    band_key(band, Slots::U32(&numbers(signature)[slots.clone()]))
                } else {
                    band_key(band, Slots::U64(&numbers(signature)[slots.clone()]))
                };
                assert_eq!(key, number::<u64>(expected), "band {band} of {case}");
            }
        }
    }
}

#[test]
fn murmur3() {
    let golden = golden("murmur3.json");
    let seeds: Vec<u32> = numbers(&golden["seeds"]);
    for case in list(&golden["bytes"]) {
        let length: u32 = number(&case["length"]);
        let bytes: Vec<u8> = (0..length).map(|i| ((i * 7 + 3) % 251) as u8).collect();
        let hashes: Vec<u32> = seeds.iter().map(|seed| murmur3_32(&bytes, *seed)).collect();
        assert_eq!(
            hashes,
            numbers::<u32>(&case["murmur3_32"]),
            "{length} bytes"
        );
        assert_eq!(
            murmur3_128(&bytes, 0),
            number::<u64>(&case["murmur3_128"]),
            "{length} bytes"
        );
    }
    for case in list(&golden["texts"]) {
        let text = case["text"].as_str().unwrap().as_bytes();
        let hashes: Vec<u32> = seeds.iter().map(|seed| murmur3_32(text, *seed)).collect();
        assert_eq!(hashes, numbers::<u32>(&case["murmur3_32"]));
        assert_eq!(murmur3_128(text, 0), number::<u64>(&case["murmur3_128"]));
    }
}

#[test]
fn words_v1_is_frozen() {
    for case in list(&golden("words_v1.json")) {
        let words = list(&case["words"])
            .iter()
            .map(|word| word.as_str().unwrap());
        let value = words_v1::shingle(words.map(|word| words_v1::word(word.as_bytes())));
        assert_eq!(value, number::<u64>(&case["value64"]), "{case}");
        assert_eq!(
            u32::of_words(value),
            number::<u32>(&case["value32"]),
            "{case}"
        );
    }
    // Another version of Unicode may cut other words: then this becomes words-v2.
    assert_eq!(words_v1::UNICODE_VERSION, (17, 0, 0));
}

/// The shingler's `words-v1`, from a text.
#[test]
fn words_v1_of_a_text() {
    let scheme = Scheme::default();
    let shingler = Shingler::new(Shingling::default(), &scheme, Some(BaseHash::WordsV1)).unwrap();
    let text =
        "It’s a naïve test, of 1,234.5 words: longer-than-sixteen-characters extraordinarinesses!";
    let words = [
        "It’s",
        "a",
        "naïve",
        "test",
        "of",
        "1,234.5",
        "words",
        "longer",
        "than",
        "sixteen",
        "characters",
        "extraordinarinesses",
    ];
    let hashes = words.map(|word| words_v1::word(word.as_bytes()));
    let expected: Vec<u32> = hashes
        .windows(5)
        .map(|window| u32::of_words(words_v1::shingle(window.iter().copied())))
        .collect();
    let shingles = shingler.shingle(&[text].into_iter().collect());
    let Hashes::U32(actual) = shingles.sets().hashes() else {
        panic!("affine32 takes 32 bits");
    };
    assert_eq!(actual, expected);
}

/// Equal weights choose what datasketch chooses; other weights, too.
#[test]
fn bands_for_a_threshold_are_datasketchs() {
    for case in list(&golden("bands_for_threshold.json")["cases"]) {
        let threshold = case["threshold"].as_f64().unwrap();
        let weights = ErrorWeights {
            false_positive: case["false_positive_weight"].as_f64().unwrap(),
            false_negative: case["false_negative_weight"].as_f64().unwrap(),
        };
        let banding =
            Banding::for_threshold(threshold, number(&case["num_perm"]), weights).unwrap();
        let shape = (banding.bands(), banding.rows());
        assert_eq!(
            shape,
            (number(&case["bands"]), number(&case["rows"])),
            "{case}"
        );
        let (below, above) = banding.error_areas(threshold);
        let expected = |name: &str| case[name].as_f64().unwrap();
        assert!(
            (below - expected("false_positive_area")).abs() < 1e-9,
            "{case}"
        );
        assert!(
            (above - expected("false_negative_area")).abs() < 1e-9,
            "{case}"
        );
    }
}

#[test]
fn the_empty_set_has_the_empty_value() {
    for (family, empty) in [
        (Family::Affine32, u64::from(u32::MAX)),
        (Family::Mersenne31, (1 << 31) - 1),
        (Family::Mersenne61, u64::from(u32::MAX)),
        (Family::Affine64, u64::MAX),
        (Family::Mersenne61Wide, u64::MAX),
    ] {
        assert_eq!(family.empty_slot(), empty);
    }
}
