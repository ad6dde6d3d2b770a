//! `simgpu sign`: the files hold the library's signatures.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use serde_json::{Value, json};
use simgpu::backend::Backend;
use simgpu::pipeline::{Shingler, Shingling, Signatures};
use simgpu::scheme::Scheme;
use simgpu::scheme::Slots;

use super::outputs::{parse_npy, read_parquet};
use crate::support::{Place, families, gzip, json_lines, numbered_lines};

/// The library's signatures of these texts.
fn signatures_of<S: AsRef<str> + Sync>(
    texts: &[S],
    scheme: &str,
    num_perm: u32,
    seed: u32,
) -> Signatures {
    let scheme = Scheme::named(scheme)
        .unwrap()
        .with_num_perm(num_perm)
        .unwrap()
        .with_seed(seed);
    let shingler = Shingler::new(Shingling::default(), &scheme, None).unwrap();
    let signer = Backend::Scalar.signer(&scheme).unwrap();
    Signatures::of_documents(&*signer, texts, &shingler).unwrap()
}

fn little_endian(signatures: &Signatures) -> Vec<u8> {
    match signatures.slots() {
        Slots::U32(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
        Slots::U64(slots) => slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
    }
}

/// Ordinary texts, repeats, and one without a shingle.
fn texts_to_sign() -> Vec<String> {
    let mut texts = families(30, 3, 40);
    texts.push(String::new());
    texts.push("two words".to_owned());
    texts
}

#[test]
fn npy_signatures_match_the_library() {
    let texts = texts_to_sign();
    let place = Place::with_texts(&texts);
    for (scheme, num_perm, seed, expected_type) in [
        ("affine32", 128, 1, "<u4"),
        ("affine64", 128, 1, "<u8"),
        ("mersenne61", 100, 7, "<u4"),
        ("datasketch", 33, 2, "<u4"),
        ("affine32", 1, u32::MAX, "<u4"),
    ] {
        for backend in ["scalar", "simd", "auto"] {
            let options = format!(
                "--scheme {scheme} --num-perm {num_perm} --seed {seed} --backend {backend}"
            );
            place
                .run(&format!("sign in.jsonl -o m.npy --overwrite {options}"))
                .succeeded();
            let expected = signatures_of(&texts, scheme, num_perm, seed);
            let file = place.read("m.npy");
            let (slot_type, shape, values) = parse_npy(&file);
            assert_eq!(slot_type, expected_type, "{scheme}");
            assert_eq!(shape, [texts.len(), num_perm as usize]);
            assert!(values == little_endian(&expected), "{options}");
            let beside: Value = serde_json::from_slice(&place.read("m.npy.json")).unwrap();
            let digest = blake3::hash(values).to_hex();
            assert_eq!(beside["matrix_blake3_128"], digest[..32]);
            assert_eq!(beside["parameters"]["scheme"], scheme);
            assert_eq!(beside["parameters"]["num_perm"], num_perm);
            assert_eq!(beside["parameters"]["seed"], seed);
            assert_eq!(beside["counts"]["documents"], texts.len());
        }
    }
}

#[test]
fn parquet_signatures_match_the_library() {
    let texts = texts_to_sign();
    let place = Place::new();
    place.write("in.jsonl", numbered_lines(&texts, 100));
    for scheme in ["affine32", "affine64"] {
        place
            .run(&format!(
                "sign in.jsonl -o s.parquet --overwrite --scheme {scheme} --num-perm 64"
            ))
            .succeeded();
        let (rows, metadata) = read_parquet(&place, "s.parquet");
        let ids: Vec<i64> = (100..).take(texts.len()).collect();
        assert_eq!(rows["id"].as_primitive::<Int64Type>().values(), &ids[..]);
        let lists = rows["signature"].as_fixed_size_list();
        assert_eq!((lists.value_length(), lists.null_count()), (64, 0));
        let expected = signatures_of(&texts, scheme, 64, 1);
        match expected.slots() {
            Slots::U32(slots) => {
                assert_eq!(lists.values().as_primitive::<UInt32Type>().values(), slots)
            }
            Slots::U64(slots) => {
                assert_eq!(lists.values().as_primitive::<UInt64Type>().values(), slots)
            }
        }
        let parameters: Value = serde_json::from_str(&metadata["simgpu.parameters"]).unwrap();
        assert_eq!(parameters["scheme"], scheme);
        assert_eq!(parameters["num_perm"], 64);
        assert_eq!(metadata["simgpu.signatures"], "1");
    }
    // Positions replace missing ids.
    place.write("in.jsonl", json_lines(&texts));
    place
        .run("sign in.jsonl -o s.parquet --overwrite")
        .succeeded();
    let (rows, _) = read_parquet(&place, "s.parquet");
    assert_eq!(rows["id"].as_string::<i32>().value(5), "in.jsonl:5");
}

#[test]
fn signatures_ignore_files_batches_and_threads() {
    let texts = texts_to_sign();
    let place = Place::new();
    let (left, right) = texts.split_at(40);
    place.write("docs/a.jsonl", json_lines(left));
    place.write("docs/b.jsonl.gz", gzip(&json_lines(right)));
    let expected = little_endian(&signatures_of(&texts, "affine32", 128, 1));
    for options in ["--threads 1 --batch-mib 1", "--threads 2 --batch-mib 64"] {
        place
            .run(&format!("sign docs -o m.npy --overwrite {options}"))
            .succeeded();
        assert!(parse_npy(&place.read("m.npy")).2 == expected, "{options}");
    }
    let beside: Value = serde_json::from_slice(&place.read("m.npy.json")).unwrap();
    let files =
        json!([{"file": "a.jsonl", "first_row": 0}, {"file": "b.jsonl.gz", "first_row": 40}]);
    assert_eq!(beside["files"], files);
}
