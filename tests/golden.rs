//! Compares with published values: of a second implementation in Python (tests/golden/generate.py), and of the
//! tools that presets reproduce.

use std::fs;
use std::path::Path;

use serde_json::Value;
use simgpu::backend::Backend;
use simgpu::documents::{Document, TokenBatch};
use simgpu::pipeline::{
    Banding, ErrorWeights, Scratch, ShingleBatch, ShingleSets, Shingler, Shingling, Signatures,
    Signer, Unit, band_key,
};
use simgpu::scheme::{
    BaseHash, Family, Scheme, ShingleHash, Width, affine32_even, fx_64, mersenne61_wide,
    murmur3_32, murmur3_128, sha1_32, sha1_64, words_v1,
};
use simgpu::scheme::{Hashes, Slots};
use simgpu::simd::Isa;

/// Reads a file of golden values: from vectors/ if the self-test includes it, else from tests/golden/.
fn golden(name: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let included = root.join("vectors").join(name);
    let path = if included.exists() {
        included
    } else {
        root.join("tests/golden").join(name)
    };
    let page =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&page).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// A number, either as a JSON number or as a string.
fn number<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> T {
    let number = value.as_u64();
    let number = number.unwrap_or_else(|| value.as_str().unwrap().parse().unwrap());
    T::try_from(number).unwrap()
}

fn numbers<T: TryFrom<u64, Error: std::fmt::Debug>>(value: &Value) -> Vec<T> {
    list(value).iter().map(number).collect()
}

/// A backend with an instruction set.
#[derive(Clone, Copy, Debug)]
struct Machine(Backend, Isa);

impl Machine {
    fn signer(self, scheme: &Scheme) -> simgpu::Result<Box<dyn Signer>> {
        self.0.signer_on(scheme, self.1)
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.0, self.1)
    }
}

/// The CPU backends with each instruction set of this CPU.
fn machines() -> impl Iterator<Item = Machine> {
    let simd = Isa::available()
        .iter()
        .map(|isa| Machine(Backend::Simd, *isa));
    std::iter::once(Machine(Backend::Scalar, Isa::best())).chain(simd)
}

/// Signs one set and returns its slots as u64.
fn signature(scheme: &Scheme, backend: Machine, set: &[u64]) -> Vec<u64> {
    let narrow: Vec<u32> = set.iter().map(|x| u32::try_from(*x).unwrap_or(0)).collect();
    let hashes = match scheme.family().hash_width() {
        Width::U32 => Hashes::U32(&narrow),
        Width::U64 => Hashes::U64(set),
    };
    let offsets = [0, i64::try_from(set.len()).unwrap()];
    let sets = ShingleSets::new(hashes, &offsets).unwrap();
    signatures(scheme, backend, &sets).remove(0)
}

/// Signs sets and returns the slots of each as u64.
fn signatures(scheme: &Scheme, backend: Machine, sets: &ShingleSets<'_>) -> Vec<Vec<u64>> {
    let signer = backend.signer(scheme).unwrap();
    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
    signatures.sign(&*signer, sets).unwrap();
    let rows = (0..signatures.len()).map(|i| match signatures.row(i) {
        Slots::U32(slots) => slots.iter().map(|slot| u64::from(*slot)).collect(),
        Slots::U64(slots) => slots.to_vec(),
    });
    rows.collect()
}

/// Shingles lists of tokens.
fn shingle_tokens<'a>(
    shingler: &Shingler,
    documents: impl IntoIterator<Item = &'a Value>,
) -> ShingleBatch {
    let mut batch = TokenBatch::default();
    for document in documents {
        for token in list(document) {
            batch.push_token(token.as_str().unwrap().as_bytes());
        }
        batch.finish_document();
    }
    let mut shingles = ShingleBatch::new(shingler.width());
    shingler.shingle_with_digests(&batch, &mut Scratch::default(), &mut shingles);
    shingles
}

fn sets_as_u64(batch: &ShingleBatch) -> Vec<Vec<u64>> {
    let sets = batch.sets();
    let set = |i| match sets.hashes() {
        Hashes::U32(x) => x[sets.range(i)].iter().map(|x| u64::from(*x)).collect(),
        Hashes::U64(x) => x[sets.range(i)].to_vec(),
    };
    (0..sets.len()).map(set).collect()
}

fn scheme_of(case: &Value, name: &str) -> Scheme {
    let scheme = Scheme::named(name).unwrap();
    let scheme = scheme.with_num_perm(number(&case["num_perm"])).unwrap();
    scheme.with_seed(number(&case["seed"]))
}

#[test]
fn every_backend_computes_every_family() {
    for case in list(&golden("families.json")) {
        let scheme = scheme_of(case, case["family"].as_str().unwrap());
        for (set, expected) in list(&case["inputs"]).iter().zip(list(&case["signatures"])) {
            for backend in machines() {
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
fn coefficients_match_numpy() {
    for case in list(&golden("draws.json")) {
        let permutations = scheme_of(case, case["family"].as_str().unwrap()).permutations();
        let pair = |k: usize| vec![permutations.a()[k], permutations.b()[k]];
        for (k, expected) in list(&case["first"]).iter().enumerate() {
            assert_eq!(pair(k), numbers::<u64>(expected), "{case}");
        }
        let last = permutations.a().len() - 1;
        assert_eq!(pair(last), numbers::<u64>(&case["last"]), "{case}");
    }
}

#[test]
fn first_draws_match_the_peers() {
    let legacy = Scheme::named("datasketch-legacy").unwrap().permutations();
    assert_eq!(
        legacy.a()[..2],
        [775_169_054_918_279_404, 2_109_959_069_025_162]
    );
    assert_eq!(
        legacy.b()[..2],
        [1_758_426_461_858_698_312, 965_365_488_286_768_773]
    );
    let datatrove = Scheme::named("datatrove").unwrap().permutations();
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
fn datasketch_signs_the_quick_brown_fox() {
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
        for backend in machines() {
            assert_eq!(
                signature(&scheme, backend, &set)[..8],
                expected,
                "{name} on {backend}"
            );
        }
    }
}

/// datasketch's unit test: one token, four permutations.
#[test]
fn datasketch_signs_one_token() {
    let case = &golden("datasketch.json")["datasketch_minhash"];
    let scheme = scheme_of(case, "datasketch-legacy");
    let permutations = scheme.permutations();
    for (k, pair) in list(&case["perm_a_b_seed1"]).iter().enumerate() {
        let drawn = vec![permutations.a()[k], permutations.b()[k]];
        assert_eq!(drawn, numbers::<u64>(pair));
    }
    let set = [sha1_32(case["update"].as_str().unwrap().as_bytes()).into()];
    for backend in machines() {
        let actual = signature(&scheme, backend, &set);
        assert_eq!(actual, numbers::<u64>(&case["hashvalues"]));
    }
}

/// Computes a peer's values as a user would: tokens, shingler, the preset's hash.
#[test]
fn signatures_match_the_peers() {
    let golden = golden("peer_signatures.json");
    for case in list(&golden["schemes"]) {
        let peer = case["name"].as_str().unwrap();
        let (name, hash) = match peer {
            "datasketch-legacy" => ("datasketch-legacy", None),
            "datasketch affine32" => ("datasketch", None),
            "datasketch affine64" => ("datasketch64", None),
            "datatrove xxhash precision 32" => ("datatrove32", None),
            "datatrove xxhash precision 64" => ("datatrove", None),
            "datatrove sha1 precision 64" => ("datatrove", Some(BaseHash::Sha1_64)),
            "rensa 0.5 R-MinHash" => ("rensa", None),
            other => panic!("unknown peer {other}"),
        };
        let scheme = scheme_of(case, name);
        let shingler = Shingler::new(Shingling::of(Unit::Tokens), &scheme, hash).unwrap();
        let shingles = shingle_tokens(&shingler, list(&golden["documents"]));
        let expected: Vec<_> = list(&case["signatures"])
            .iter()
            .map(numbers::<u64>)
            .collect();
        for backend in machines() {
            let actual = signatures(&scheme, backend, &shingles.sets());
            assert_eq!(actual, expected, "{peer} on {backend}");
        }
    }
}

#[test]
fn rensa_signatures_match() {
    let golden = golden("rensa.json");
    let letters: Vec<char> = ('a'..='z').collect();
    let token = |i: usize| format!("{}{i}", letters[i % 26]).repeat(1 + i % 9);
    for case in list(&golden["cases"]) {
        let scheme = scheme_of(case, "rensa");
        let tokens = (0..number::<usize>(&case["tokens"])).map(token);
        let set: Vec<u64> = tokens.map(|token| fx_64(token.as_bytes())).collect();
        for backend in machines() {
            let actual = signature(&scheme, backend, &set);
            assert_eq!(actual, numbers::<u64>(&case["signature"]), "{case}");
        }
    }
    // Hashes for which the generator draws a slot two or three times.
    for case in list(&golden["drawn_again"]) {
        let scheme = scheme_of(case, "rensa");
        for backend in machines() {
            let actual = signature(&scheme, backend, &[number(&case["hash"])]);
            let slot: usize = number(&case["slot"]);
            assert_eq!(actual[slot], number::<u64>(&case["value"]), "{case}");
        }
    }
}

/// Compares a version of text-dedup with its golden signatures of texts, by every backend.
fn check_text_dedup(preset: &str, golden: &Value) {
    let texts = || {
        list(&golden["texts"])
            .iter()
            .map(|text| text.as_str().unwrap())
    };
    for case in list(&golden["cases"]) {
        let num_perm = number(&case["num_perm"]);
        let mut scheme = Scheme::named(preset).unwrap();
        scheme = scheme.with_num_perm(num_perm).unwrap();
        if !case["seed"].is_null() {
            scheme = scheme.with_seed(number(&case["seed"]));
        }
        let mut shingling = Shingling::of_scheme(&scheme);
        shingling.size = number::<usize>(&case["size"]).try_into().unwrap();
        let shingler = Shingler::new(shingling, &scheme, None).unwrap();
        let expected: Vec<_> = list(&case["signatures"])
            .iter()
            .map(numbers::<u64>)
            .collect();
        let shingles = shingler.shingle(&texts().take(expected.len()).collect::<Vec<_>>());
        for backend in machines() {
            let actual = signatures(&scheme, backend, &shingles.sets());
            for ((actual, expected), text) in actual.iter().zip(&expected).zip(texts()) {
                assert_eq!(actual, expected, "{text:?} on {backend}");
            }
        }
    }
}

#[test]
fn text_dedup_041_signatures_match() {
    check_text_dedup("text-dedup-0.4.1", &golden("text_dedup_041.json"));
}

#[test]
fn text_dedup_signatures_match() {
    let golden = golden("text_dedup.json");
    check_text_dedup("text-dedup", &golden);
    let texts = || {
        list(&golden["texts"])
            .iter()
            .map(|text| text.as_str().unwrap())
    };
    let scheme = Scheme::named("text-dedup").unwrap();
    let shingler = Shingler::new(Shingling::of_scheme(&scheme), &scheme, None).unwrap();
    let sets = sets_as_u64(&shingler.shingle(&texts().collect::<Vec<_>>()));
    for ((set, expected), text) in sets.iter().zip(list(&golden["shingles"])).zip(texts()) {
        let shingles = list(expected)
            .iter()
            .map(|shingle| shingle.as_str().unwrap());
        let expected = shingles.map(|shingle| u64::from(sha1_32(shingle.as_bytes())));
        assert!(expected.eq(set.iter().copied()), "{text:?}");
    }
}

/// Signs sets with given coefficients, a = b, as cuDF's unit tests do.
fn cudf_signatures(sets: &[Vec<u64>], width: Width, coefficients: &[u32]) -> Vec<Vec<u64>> {
    let value = |c: u32, x: u64| match width {
        Width::U32 => affine32_even(c, c, u32::try_from(x).unwrap()).into(),
        Width::U64 => mersenne61_wide(c.into(), c.into(), x),
    };
    let signature = |set: &Vec<u64>| {
        let slot = |c: &u32| set.iter().map(|x| value(*c, *x)).min().unwrap_or(0);
        coefficients.iter().map(slot).collect()
    };
    sets.iter().map(signature).collect()
}

#[test]
fn cudf_signatures_match() {
    let golden = golden("cudf.json");
    for (name, hash, width, expected) in [
        (
            "nemo",
            BaseHash::Cudf32 { seed: 0 },
            Width::U32,
            "expected_u32",
        ),
        (
            "nemo64",
            BaseHash::Cudf64 { seed: 0 },
            Width::U64,
            "expected_u64",
        ),
    ] {
        let scheme = Scheme::named(name).unwrap();
        let shingler = |unit: Option<Unit>, size: &Value| {
            let mut shingling = unit.map_or(Shingling::of_scheme(&scheme), Shingling::of);
            shingling.size = number::<usize>(size).try_into().unwrap();
            Shingler::new(shingling, &scheme, Some(hash)).unwrap()
        };
        let case = &golden["cudf_minhash_char"];
        let texts = list(&case["inputs"])
            .iter()
            .map(|text| text.as_str().unwrap());
        let shingles = shingler(None, &case["width_chars"]).shingle(&texts.collect::<Vec<_>>());
        let coefficients: Vec<u32> = numbers(&case["params_a_equals_b"]);
        let actual = cudf_signatures(&sets_as_u64(&shingles), width, &coefficients);
        let rows = |value: &Value| -> Vec<_> { list(value).iter().map(numbers::<u64>).collect() };
        assert_eq!(actual, rows(&case[expected]), "{name}");

        let case = &golden["cudf_minhash_py"];
        let texts = ["this is my", "favorite book", ""];
        let shingles = shingler(None, &case["width"]).shingle(&texts);
        let coefficients: Vec<u32> = numbers(&case["params"]);
        let actual = cudf_signatures(&sets_as_u64(&shingles), width, &coefficients);
        let bits = &expected["expected_".len()..];
        for (text, actual) in texts.iter().zip(actual).take(2) {
            assert_eq!(actual, numbers::<u64>(&case[text][bits]), "{name} {text}");
        }
        for backend in machines() {
            let empty = signature(&scheme, backend, &[]);
            assert_eq!(empty.len(), 260);
            let zero: u64 = number(&case["empty"][0]);
            assert!(
                empty.iter().all(|slot| *slot == zero),
                "{name} on {backend}"
            );
        }

        let case = &golden["cudf_minhash_ngrams"];
        let shingler = shingler(Some(Unit::Tokens), &case["ngrams"]);
        let shingles = shingle_tokens(&shingler, list(&case["rows"]));
        let coefficients: Vec<u32> = numbers(&case["params"]);
        let actual = cudf_signatures(&sets_as_u64(&shingles), width, &coefficients);
        assert_eq!(actual, rows(&case[expected]), "{name}");
    }
}

/// Exact similarities of character shingles match cuDF's `jaccard_index`.
#[test]
fn cudf_jaccard_matches() {
    let scheme = Scheme::named("nemo").unwrap();
    for case in list(&golden("cudf.json")["cudf_jaccard_char5"]["pairs"]) {
        let mut shingling = Shingling::of_scheme(&scheme);
        shingling.size = number::<usize>(&case[2]).try_into().unwrap();
        let shingler = Shingler::new(shingling, &scheme, None).unwrap();
        let set = |text: &Value| {
            let text = Document::Text(text.as_str().unwrap());
            let mut set = Vec::new();
            shingler.exact_set(text, &mut Scratch::default(), &mut set);
            set
        };
        let (left, right) = (set(&case[0]), set(&case[1]));
        let common = left.iter().filter(|x| right.contains(x)).count();
        let jaccard = common as f64 / (left.len() + right.len() - common) as f64;
        assert!((jaccard - case[3].as_f64().unwrap()).abs() < 1e-6, "{case}");
    }
}

/// NeMo seeds its hash with its first multiplier and hashes windows of 24 characters.
#[test]
fn nemo_seeds_its_hash() {
    let scheme = Scheme::named("nemo").unwrap();
    assert_eq!(
        scheme.prescribed_hash(),
        Some(BaseHash::Cudf32 {
            seed: 1_608_637_543
        })
    );
    let shingler = Shingler::new(Shingling::of_scheme(&scheme), &scheme, None).unwrap();
    let text = "Windows  keep their white\nspace.";
    let windows = text.as_bytes().windows(24);
    let expected = windows.map(|window| u64::from(murmur3_32(window, 1_608_637_543).max(1)));
    let sets = sets_as_u64(&shingler.shingle(&[text]));
    assert!(expected.eq(sets[0].iter().copied()));
}

/// datatrove joins five words by spaces. Fewer words make no shingle.
#[test]
fn datatrove_joins_five_tokens() {
    let scheme = Scheme::named("datatrove32").unwrap();
    let mut shingling = Shingling::of(Unit::Tokens);
    shingling.size = 5.try_into().unwrap();
    let shingler = Shingler::new(shingling, &scheme, None).unwrap();
    let documents = serde_json::json!([["a", "b", "c", "d", "e", "f"], ["a", "b", "c", "d"]]);
    let sets = sets_as_u64(&shingle_tokens(&shingler, list(&documents)));
    let xxh32 = |text: &str| u64::from(u32::of_bytes(BaseHash::Xxh32, text.as_bytes()));
    assert_eq!(sets, [vec![xxh32("a b c d e"), xxh32("b c d e f")], vec![]]);
}

/// Published hashes of the empty input, and datasketch's and text-dedup's hashes of a phrase.
#[test]
fn base_hashes_match_published_values() {
    assert_eq!(u32::of_bytes(BaseHash::Xxh32, b""), 0x02CC_5D05);
    assert_eq!(u64::of_bytes(BaseHash::Xxh64, b""), 0xEF46_DB37_51D8_E999);
    assert_eq!(u32::of_bytes(BaseHash::Xxh3_32, b""), 0x38D3_94C2);
    assert_eq!(
        u32::of_bytes(BaseHash::Xxh3_32, b"hello world"),
        1_088_854_155
    );
    let golden = golden("datasketch.json");
    let word = &golden["datasketch_sha1_textdedup"];
    assert_eq!(sha1_32(b"hello world"), number::<u32>(&word["sha1_32"]));
    assert_eq!(sha1_64(b"hello world"), number::<u64>(&word["sha1_64"]));
}

#[test]
fn presets_match_their_tools() {
    for (name, num_perm, seed, shape) in [
        ("datatrove", 112, 1, (14, 8)),
        ("datatrove32", 112, 1, (14, 8)),
        ("nemo", 260, 42, (20, 13)),
        ("nemo64", 260, 42, (20, 13)),
        // Equal weights: the result of the tools' `optimal_param` at 0.8.
        ("text-dedup", 250, 42, (16, 15)),
        ("text-dedup-0.4.1", 250, 42, (16, 15)),
        ("datasketch", 128, 1, (9, 13)),
    ] {
        let scheme = Scheme::named(name).unwrap();
        assert_eq!(
            (scheme.num_perm(), scheme.seed()),
            (num_perm, seed),
            "{name}"
        );
        let banding = Banding::for_scheme(0.8, &scheme).unwrap();
        assert_eq!((banding.bands(), banding.rows()), shape, "{name}");
        if num_perm != 128 {
            let scheme = scheme.with_num_perm(128).unwrap();
            let banding = Banding::for_scheme(0.8, &scheme).unwrap();
            assert_eq!((banding.bands(), banding.rows()), (9, 13), "{name}");
        }
    }
}

#[test]
fn band_keys_are_frozen() {
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
fn murmur3_matches_mmh3() {
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
    // Another version of Unicode may split words differently and would need words-v2.
    assert_eq!(words_v1::UNICODE_VERSION, (17, 0, 0));
}

#[test]
fn words_v1_hashes_shingles_of_a_text() {
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
    let shingles = shingler.shingle(&[text]);
    let Hashes::U32(actual) = shingles.sets().hashes() else {
        panic!("affine32 hashes have 32 bits");
    };
    assert_eq!(actual, expected);
}

/// Bands and rows match datasketch's choice for equal and for other weights.
#[test]
fn bands_for_a_threshold_match_datasketch() {
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
        (Family::Affine32Even, u64::from(u32::MAX)),
        (Family::Fast, u64::from(u32::MAX)),
        (Family::RMinHash, u64::from(u32::MAX)),
    ] {
        assert_eq!(family.empty_slot(), empty);
    }
}
