//! Files that other programs wrote: `fixtures/generate.py` makes them with pyarrow, pandas, xz and bzip2. All
//! hold the same nine documents.

use std::path::PathBuf;

use arrow_ipc::CompressionType;
use serde_json::{Value, json};

use crate::support::{Place, decompressed, files_in, parse_lines};

/// The files, with the options that reading them needs.
const FILES: [(&str, &str); 25] = [
    ("pandas.jsonl", ""),
    ("pandas.jsonl.xz", ""),
    ("pandas.jsonl.bz2", ""),
    ("pandas.json", ""),
    ("indented.json", ""),
    ("pandas.csv", ""),
    ("pandas.csv.xz", ""),
    ("pandas.csv.bz2", ""),
    ("pyarrow.csv", ""),
    ("semicolon.csv", "--delimiter ;"),
    ("pandas.tsv", "--quote \""),
    ("lz4.feather", ""),
    ("zstd.feather", ""),
    ("pandas.feather", ""),
    ("plain.arrow", ""),
    ("stream.arrows", ""),
    ("dictionary.arrow", ""),
    ("large.arrow", ""),
    ("view.arrow", ""),
    ("binary.arrow", ""),
    ("dictionary.parquet", ""),
    ("large.parquet", ""),
    ("view.parquet", ""),
    ("binary.parquet", ""),
    ("binary-view.parquet", ""),
];

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/formats/fixtures");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_format_makes_the_same_removals() {
    let expected = [(103, 100), (105, 101), (108, 100)]
        .map(|(id, kept)| (json!(id), json!(kept), json!("identical")));
    let place = Place::new();
    let others = [("categories.parquet", ""), ("checksums.parquet", "")];
    for (name, options) in FILES.into_iter().chain(others) {
        place.write(name, fixture(name));
        for run in [
            "",
            "--verify exact",
            "--verify exact --hold-mib 0 --threads 1",
        ] {
            let results = place.dedup(&format!("{name} {options} {run}"));
            assert_eq!(results.removals(), expected, "{name} {run}");
            assert_eq!(results.kept_names(), [name]);
            assert_eq!(results.count("documents"), 9);
            assert_eq!(results.count("without_shingles"), 1, "{name}");
        }
    }
}

#[test]
fn kept_files_hold_the_kept_documents() {
    let place = Place::new();
    for (name, options) in FILES {
        place.write(name, fixture(name));
        let results = place.dedup(&format!("{name} {options}"));
        place.write(&format!("again/{name}"), results.stored(name));
        // The ids of a file together with its kept part: each of the six kept documents is there twice.
        let results = place.dedup(&format!("again/{name} {name} {options}"));
        let pairs: Vec<(Value, Value)> = results
            .removals()
            .into_iter()
            .filter(|(_, _, found_by)| found_by == "identical")
            .map(|(id, kept, _)| (id, kept))
            .collect();
        let kept_of = |id: u64| match id {
            103 | 108 => 100,
            105 => 101,
            id => id,
        };
        let with_text = (100..109u64).filter(|id| *id != 107);
        let expected: Vec<_> = with_text
            .map(|id| (json!(id), json!(kept_of(id))))
            .collect();
        assert_eq!(pairs, expected, "{name}");
        assert_eq!(results.count("documents"), 6 + 9, "{name}");
    }
}

#[test]
fn a_folder_may_mix_all_formats() {
    let place = Place::new();
    for (name, options) in FILES {
        if options.is_empty() {
            place.write(&format!("docs/{name}"), fixture(name));
        }
    }
    let results = place.dedup("docs");
    let files = files_in(&place.path("docs")).len() as u64;
    assert_eq!(results.count("documents"), 9 * files);
    // The empty documents are kept; of each other text one.
    assert_eq!(results.count("kept"), 5 + files);
}

#[test]
fn kept_json_arrays_keep_their_bytes() {
    let place = Place::new();
    for name in ["pandas.json", "indented.json"] {
        let whole = String::from_utf8(fixture(name)).unwrap();
        place.write(name, &whole);
        let kept = String::from_utf8(place.dedup(name).kept(name)).unwrap();
        let rows = |text: &str| -> Vec<Value> {
            let Value::Array(rows) = serde_json::from_str(text).unwrap() else {
                panic!("{text}");
            };
            rows
        };
        let all = rows(&whole);
        let expected = [0, 1, 2, 4, 6, 7].map(|row| all[row].clone());
        assert_eq!(rows(&kept), expected, "{name}");
        for element in kept
            .trim_start_matches("[\n")
            .trim_end_matches("\n]\n")
            .split(",\n{")
        {
            assert!(whole.contains(element), "{element}");
        }
    }
}

#[test]
fn kept_csv_keeps_its_bytes() {
    let place = Place::new();
    for (name, options, delimiter) in [
        ("pandas.csv", "", ","),
        ("pandas.csv.xz", "", ","),
        ("pandas.csv.bz2", "", ","),
        ("pandas.tsv", "--quote \"", "\t"),
        ("semicolon.csv", "--delimiter ;", ";"),
    ] {
        let stored = fixture(name);
        place.write(name, &stored);
        let results = place.dedup(&format!("{name} {options}"));
        assert_eq!(results.stored(name)[..4], stored[..4], "{name}");
        let whole = String::from_utf8(decompressed(&stored)).unwrap();
        let ids: Vec<String> = (101..109).map(|id| format!("{id}{delimiter}")).collect();
        let mut expected = whole.clone();
        for removed in [7, 4, 2] {
            let start = expected.find(&ids[removed]).unwrap();
            let end = ids.get(removed + 1).and_then(|id| expected.find(id));
            expected.replace_range(start..end.unwrap_or(expected.len()), "");
        }
        assert_eq!(
            String::from_utf8(results.kept(name)).unwrap(),
            expected,
            "{name}"
        );
    }
}

/// The codec of the first batch of an Arrow file or stream.
fn codec_of(bytes: &[u8], is_file: bool) -> Option<CompressionType> {
    // A file starts with padded magic bytes; a message starts with a mark.
    let start = bytes.iter().position(|byte| *byte == 0xFF).unwrap();
    assert_eq!(start > 0, is_file);
    let mut rest = &bytes[start..];
    loop {
        let len = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
        let message = arrow_ipc::root_as_message(&rest[8..8 + len]).unwrap();
        if let Some(batch) = message.header_as_record_batch() {
            return batch.compression().map(|compression| compression.codec());
        }
        let body = usize::try_from(message.bodyLength()).unwrap();
        rest = &rest[8 + len + body..];
    }
}

#[test]
fn arrow_files_keep_form_schema_and_codec() {
    let place = Place::new();
    for (name, is_file, codec) in [
        ("lz4.feather", true, Some(CompressionType::LZ4_FRAME)),
        ("zstd.feather", true, Some(CompressionType::ZSTD)),
        ("plain.arrow", true, None),
        ("stream.arrows", false, None),
    ] {
        let before = fixture(name);
        place.write(name, &before);
        let after = place.dedup(name).stored(name);
        assert_eq!(after.starts_with(b"ARROW1"), is_file, "{name}");
        assert_eq!(after[..4], before[..4], "{name}");
        let schema = |bytes: &[u8]| {
            let bytes = std::io::Cursor::new(bytes.to_vec());
            if is_file {
                arrow_ipc::reader::FileReader::try_new(bytes, None)
                    .unwrap()
                    .schema()
            } else {
                arrow_ipc::reader::StreamReader::try_new(bytes, None)
                    .unwrap()
                    .schema()
            }
        };
        assert_eq!(schema(&before), schema(&after), "{name}");
        assert_eq!(schema(&after).metadata()["origin"], "generate.py");
        let codec_of = |bytes: &[u8]| codec_of(bytes, is_file);
        assert_eq!(codec_of(&after), codec_of(&before), "{name}");
        assert_eq!(codec_of(&after), codec, "{name}");
        // A kept file is an input like others.
        place.write(name, &after);
        let again = place.dedup(name).stored(name);
        assert!(again == after, "{name}");
    }
}

#[test]
fn stdin_may_be_any_of_them() {
    let place = Place::new();
    for (name, options, kept) in [
        ("pandas.json", "", "stdin.json"),
        ("pandas.jsonl.xz", "", "stdin.jsonl.xz"),
        ("pandas.jsonl.bz2", "", "stdin.jsonl.bz2"),
        ("pandas.csv", "--format csv", "stdin.csv"),
        ("pandas.csv.xz", "--format csv", "stdin.csv.xz"),
        ("semicolon.csv", "--format csv --delimiter ;", "stdin.csv"),
        ("pandas.tsv", "--format tsv --quote \"", "stdin.tsv"),
        ("lz4.feather", "", "stdin.arrow"),
        ("stream.arrows", "", "stdin.arrow"),
        ("dictionary.parquet", "", "stdin.parquet"),
    ] {
        let results = place.dedup_with_stdin(&format!("- {options}"), &fixture(name));
        assert_eq!(results.kept_names(), [kept], "{name}");
        assert_eq!(results.count("removed"), 3, "{name}");
    }
}

#[test]
fn pairs_and_sign_read_them_too() {
    let place = Place::new();
    let mut of_lines = None;
    for (name, options) in FILES {
        place.write(name, fixture(name));
        let pairs = place.pairs(&format!("{name} {options}"));
        let ids: Vec<_> = pairs
            .iter()
            .map(|pair| (pair["id_a"].clone(), pair["id_b"].clone()))
            .collect();
        assert_eq!(of_lines.get_or_insert(ids.clone()), &ids, "{name}");
        let sign = format!("sign {name} {options} -o {name}.npy --quiet");
        place.run(&sign).succeeded();
        let signatures = |name: &str| place.read(&format!("{name}.npy"));
        assert!(signatures(name) == signatures("pandas.jsonl"), "{name}");
    }
    assert!(parse_lines(b"").is_empty() && of_lines.unwrap().len() >= 4);
}
