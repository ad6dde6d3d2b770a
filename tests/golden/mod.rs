//! Compares with published values: of a second implementation in Python (tests/golden/generate.py), and of the
//! tools that presets reproduce.

mod published;

mod datasketch;

mod peers;

use simgpu::pipeline::{Shingler, Shingling, band_key};
use simgpu::scheme::{
    BaseHash, Family, Hashes, Scheme, ShingleHash, Slots, murmur3_32, murmur3_128, sha1_32,
    sha1_64, words_v1,
};

use published::{golden, list, machines, number, numbers, scheme_of, signature};

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
