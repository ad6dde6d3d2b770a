//! Signatures of other tools.

use serde_json::Value;
use simgpu::documents::Document;
use simgpu::pipeline::{Banding, Scratch, Shingler, Shingling, Unit};
use simgpu::scheme::{
    BaseHash, Scheme, ShingleHash, Width, affine32_even, fx_64, mersenne61_wide, murmur3_32,
    sha1_32,
};

use super::published::{
    golden, list, machines, number, numbers, scheme_of, sets_as_u64, shingle_tokens, signature,
    signatures,
};

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
