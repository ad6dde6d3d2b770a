//! Schemes named after other tools: the defaults they supply.

use serde_json::{Value, json};
use simgpu::scheme::Scheme;

use super::outputs::parse_npy;
use crate::support::{Place, text};

#[test]
fn presets_use_the_defaults_of_their_tools() {
    let place = Place::with_texts([text(1, 40), text(2, 40)]);
    let number = |number: u32| json!(number);
    for (options, [unit, hash], [size, num_perm, seed, bands, rows], [lowercase, keep]) in [
        (
            "nemo",
            ["chars", "cudf-32"],
            [24, 260, 42, 20, 13],
            [false, true],
        ),
        (
            "nemo64",
            ["chars", "cudf-64"],
            [24, 260, 42, 20, 13],
            [false, true],
        ),
        (
            "text-dedup",
            ["pieces", "sha1-32"],
            [5, 250, 42, 16, 15],
            [true, true],
        ),
        (
            "datatrove",
            ["words", "xxh64"],
            [5, 112, 1, 14, 8],
            [false, false],
        ),
        (
            "datatrove32",
            ["words", "xxh32"],
            [5, 112, 1, 14, 8],
            [false, false],
        ),
        (
            "rensa",
            ["words", "fx-64"],
            [5, 128, 42, 9, 13],
            [false, false],
        ),
        (
            "fast",
            ["words", "words-v1"],
            [5, 128, 1, 16, 8],
            [false, false],
        ),
        (
            "nemo --unit words --num-perm 128 --seed 7 --lowercase",
            ["words", "cudf-32"],
            [5, 128, 7, 9, 13],
            [true, false],
        ),
        (
            "text-dedup --unit pieces --size 7 --bands 2 --rows 3",
            ["pieces", "sha1-32"],
            [7, 250, 42, 2, 3],
            [true, true],
        ),
    ] {
        let results = place.dedup(&format!("in.jsonl --scheme {options}"));
        let parameters = &results.report["parameters"];
        for (name, value) in [
            ("unit", json!(unit)),
            ("hash", json!(hash)),
            ("size", number(size)),
            ("num_perm", number(num_perm)),
            ("seed", number(seed)),
            ("bands", number(bands)),
            ("rows", number(rows)),
            ("lowercase", json!(lowercase)),
            ("keep_whitespace", json!(keep)),
        ] {
            assert_eq!(parameters[name], value, "{name} of {options}");
        }
    }
    let shown = place.run("tune --scheme nemo").succeeded().stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("260 permutations"), "{shown}");
    assert!(shown.contains("default     20 x 13"), "{shown}");
}

/// cuDF signs them with zeros; no band may match on those.
#[test]
fn every_scheme_keeps_documents_without_shingles() {
    for scheme in Scheme::names() {
        let place = Place::with_texts(["", "", &text(1, 40), "", &text(1, 40)]);
        let results = place.dedup(&format!("in.jsonl --scheme {scheme}"));
        let counts = ["kept", "removed", "without_shingles"].map(|name| results.count(name));
        assert_eq!(counts, [4, 1, 3], "{scheme}");
        place
            .run(&format!("sign in.jsonl -o m.npy --scheme {scheme}"))
            .succeeded();
        let file = place.read("m.npy");
        let (slot_type, [_, num_perm], values) = parse_npy(&file);
        let bytes: usize = slot_type[2..].parse().unwrap();
        let empty = Scheme::named(scheme).unwrap().empty_slot().to_le_bytes();
        let row = empty[..bytes].repeat(num_perm);
        assert_eq!(values[..row.len()], row, "{scheme}");
    }
}

#[test]
fn presets_size_token_shingles_like_their_tools() {
    let place = Place::new();
    place.write("in.jsonl", r#"{"tokens": ["a", "b"], "text": "a b"}"#);
    let hint =
        "signatures equal those of SCHEME only for the same tokens; pass them with --unit tokens";
    for (scheme, size) in [
        ("datatrove", 5),
        ("datatrove32", 5),
        ("datasketch", 1),
        ("rensa", 1),
        ("affine32", 1),
    ] {
        let sign = format!("sign in.jsonl -o m.npy --overwrite --scheme {scheme}");
        let size_of = |options: &str| {
            let run = place.run(&format!("{sign} {options}")).succeeded();
            let beside: Value = serde_json::from_slice(&place.read("m.npy.json")).unwrap();
            let hinted = run.stderr.contains(&hint.replace("SCHEME", scheme));
            (beside["parameters"]["size"].clone(), hinted)
        };
        assert_eq!(size_of("--unit tokens"), (json!(size), false), "{scheme}");
        assert_eq!(size_of("--unit tokens --size 2"), (json!(2), false));
        // simgpu cuts words by its own rule, so the values differ from the tool's.
        assert_eq!(size_of(""), (json!(5), scheme != "affine32"), "{scheme}");
        assert_eq!(size_of("--unit chars"), (json!(9), false), "{scheme}");
    }
}
