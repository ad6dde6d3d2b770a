//! The commands from outside: what they print, what they write, what their options do.

mod support;

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use simgpu::backend::Backend;
use simgpu::pipeline::{Shingler, Shingling, Signatures, Slots};
use simgpu::scheme::Scheme;

use support::{
    Place, Results, SIMGPU, edited, families, json_lines, lines_of, numbered_lines, text,
};

// What is said where

#[test]
fn help_names_every_command_and_every_command_has_help() {
    let place = Place::new();
    let help = place.run("--help").succeeded();
    let help = String::from_utf8(help.stdout).unwrap();
    for command in ["dedup", "pairs", "sign", "tune", "compare", "selftest"] {
        assert!(help.contains(command), "{help}");
        let of_command = place.run(&format!("{command} --help")).succeeded();
        assert!(
            String::from_utf8(of_command.stdout)
                .unwrap()
                .contains("Usage")
        );
    }
    let version = place.run("--version").succeeded().stdout;
    let expected = concat!("simgpu ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(version, expected.as_bytes());
    let nothing_asked = place.run("");
    assert_eq!(nothing_asked.code, Some(2));
    assert!(nothing_asked.stderr.contains("Usage"));
}

#[test]
fn stdout_is_data_and_stderr_is_talk() {
    let place = Place::with_texts([text(1, 20), text(2, 20), text(1, 20)]);
    let talk = |command: &str| {
        let run = place.run(command).succeeded();
        (run.stdout.len(), run.stderr)
    };
    let (printed, said) = talk("dedup in.jsonl -o out");
    assert_eq!(printed, 0);
    for part in ["documents", "kept", "removed", "16 bands of 8", "in all"] {
        assert!(said.contains(part), "{said}");
    }
    // No progress bar where nobody can see it draw.
    assert!(!said.contains('\r') && !said.contains('\u{1b}'), "{said:?}");
    assert_eq!(talk("sign in.jsonl -o out.npy").0, 0);
    assert_eq!(talk("pairs in.jsonl -o out.csv").0, 0);
    let run = place.run("pairs in.jsonl -o -").succeeded();
    assert_eq!(support::parse_lines(&run.stdout).len(), 1);
    assert!(run.stderr.contains("documents"));
    for command in [
        "dedup in.jsonl -o out",
        "pairs in.jsonl -o out.csv",
        "sign in.jsonl -o out.npy",
    ] {
        assert_eq!(
            talk(&format!("{command} --overwrite --quiet")),
            (0, String::new())
        );
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    // More pairs than a pipe holds.
    let place = Place::with_texts(vec![text(1, 20); 200]);
    let mut child = Command::new(SIMGPU)
        .args(["pairs", "in.jsonl", "--output", "-", "--quiet"])
        .current_dir(place.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said), (Some(0), String::new()));
}

#[test]
fn tune_says_what_bands_and_rows_do() {
    let run = Place::new()
        .run("tune --threshold 0.8 --num-perm 128")
        .succeeded();
    let table = String::from_utf8(run.stdout).unwrap();
    let line_of = |label: &str| {
        let line = table.lines().find(|line| line.contains(label)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // 16 x 8 finds 1 - (1 - 0.8^8)^16 = 94.7 % of the pairs at the threshold.
    let default = line_of("default");
    assert!(
        default.contains("16 x 8") && default.contains("94.7%"),
        "{default}"
    );
    let equal = line_of("equal");
    assert!(equal.contains("9 x 13"), "{equal}");
}

// dedup

#[test]
fn a_report_says_what_was_done_with_what() {
    let place = Place::with_texts(families(20, 4, 60));
    let results = place.dedup("in.jsonl");
    let report = &results.report;
    assert_eq!(report["command"], "dedup");
    assert_eq!(
        (&report["keep"], &report["cluster"]),
        (&json!("first"), &json!("greedy"))
    );
    let parameters = &report["parameters"];
    for (name, value) in [
        ("scheme", json!("affine32")),
        ("hash", json!("words-v1")),
        ("seed", json!(1)),
        ("num_perm", json!(128)),
        ("unit", json!("words")),
        ("size", json!(5)),
        ("threshold", json!(0.8)),
        ("bands", json!(16)),
        ("rows", json!(8)),
        ("verify", json!("signature")),
    ] {
        assert_eq!(parameters[name], value, "{name}");
    }
    let recall = 1.0 - (1.0 - 0.8f64.powi(8)).powi(16);
    let stated = parameters["recall_at_threshold"].as_f64().unwrap();
    assert!((stated - recall).abs() < 1e-12);
    let run: Value = serde_json::from_slice(&place.read("out/run.json")).unwrap();
    assert_eq!(run["simgpu"], env!("CARGO_PKG_VERSION"));
    assert!(run["elapsed_s"].as_f64().unwrap() > 0.0);
    assert!(run["stages"].as_array().unwrap().len() > 3);
}

#[test]
fn the_counts_of_a_report_add_up() {
    let place = Place::with_texts(families(20, 6, 60));
    for options in [
        "",
        "--cluster connected",
        "--verify exact --keep longest",
        "--verify none",
    ] {
        let results = place.dedup(&format!("in.jsonl {options}"));
        let count = |name| results.count(name);
        assert_eq!(count("documents"), 120);
        assert_eq!(count("kept") + count("removed") + count("skipped"), 120);
        assert_eq!(count("removed"), results.removed.len() as u64);
        let kept_lines = results
            .kept("in.jsonl")
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        assert_eq!(count("kept"), kept_lines as u64);
        assert!(count("removed") > 0 && count("kept") >= 20, "{options}");
        // The histogram counts every document once, and every kept one as a cluster.
        let mut sizes = BTreeMap::new();
        for removed in &results.removed {
            *sizes
                .entry(removed["kept_row"].as_u64().unwrap())
                .or_insert(1u64) += 1;
        }
        let histogram = results.report["cluster_sizes"].as_object().unwrap();
        let entries = || {
            histogram
                .iter()
                .map(|(size, n)| (size.parse::<u64>().unwrap(), n.as_u64().unwrap()))
        };
        assert_eq!(entries().map(|(size, n)| size * n).sum::<u64>(), 120);
        assert_eq!(entries().map(|(_, n)| n).sum::<u64>(), count("kept"));
        for (size, n) in entries().filter(|(size, _)| *size > 1) {
            assert_eq!(sizes.values().filter(|of| **of == size).count() as u64, n);
        }
        assert_eq!(count("clusters"), sizes.len() as u64);
        assert_eq!(
            count("largest_cluster"),
            sizes.values().copied().max().unwrap()
        );
        let largest = &results.report["largest_clusters"][0];
        assert_eq!(largest["documents"], count("largest_cluster"));
        assert_eq!(
            sizes[&largest["kept_row"].as_u64().unwrap()],
            count("largest_cluster")
        );
    }
}

/// A chain: each text shares many shingles with the next, and few with the one after that.
fn chain() -> Vec<String> {
    let words: Vec<String> = text(1, 130).split(' ').map(str::to_owned).collect();
    (0..4)
        .map(|i| words[10 * i..10 * i + 100].join(" "))
        .collect()
}

#[test]
fn greedy_removes_nobody_for_the_sake_of_a_chain_and_connected_says_by_what_link() {
    // 96 shingles each, 86 shared with a neighbour, 76 with the next but one.
    let (to_next, to_second, to_third) = (86.0 / 106.0, 76.0 / 116.0, 66.0 / 126.0);
    let place = Place::with_texts(chain());
    let options = "in.jsonl --verify exact --threshold 0.8 --bands 64 --rows 2";
    let greedy = place.dedup(options);
    let parts = |line: &Value, names: &[&str]| -> Vec<Value> {
        names.iter().map(|name| line[*name].clone()).collect()
    };
    let names = ["row", "kept_row", "similarity", "found_by"];
    let lines: Vec<_> = greedy
        .removed
        .iter()
        .map(|line| parts(line, &names))
        .collect();
    let line =
        |row, kept, similarity| vec![json!(row), json!(kept), json!(similarity), json!("exact")];
    assert_eq!(lines, [line(1, 0, to_next), line(3, 2, to_next)]);
    assert!(
        greedy
            .removed
            .iter()
            .all(|line| line.get("via_id").is_none())
    );
    let connected = place.dedup(&format!("{options} --cluster connected"));
    let lines: Vec<_> = connected
        .removed
        .iter()
        .map(|line| parts(line, &names))
        .collect();
    assert_eq!(
        lines,
        [
            line(1, 0, to_next),
            line(2, 0, to_second),
            line(3, 0, to_third)
        ]
    );
    let links: Vec<_> = connected
        .removed
        .iter()
        .map(|line| parts(line, &["via_id", "via_similarity"]))
        .collect();
    let link = |row| vec![json!(format!("in.jsonl:{row}")), json!(to_next)];
    assert_eq!(links, [link(0), link(1), link(2)]);
}

#[test]
fn keep_first_and_longest_keep_what_they_say() {
    let short = text(1, 100);
    let middle = format!("{short} a few more");
    let long = format!("{short} a few more words at the end");
    let place = Place::with_texts([&short, &long, &middle, &long.replace(' ', "  "), &short]);
    let kept = |options: &str| {
        let results = place.dedup(&format!("in.jsonl --verify exact {options}"));
        support::parse_lines(&results.kept("in.jsonl"))
    };
    assert_eq!(kept("--keep first"), [json!({"text": short})]);
    // Of identical ones, too, the longest text is kept: the one with more blanks.
    assert_eq!(
        kept("--keep longest"),
        [json!({"text": long.replace(' ', "  ")})]
    );
    assert_eq!(kept("--keep longest --cluster connected").len(), 1);
}

#[test]
fn of_equally_long_documents_the_first_is_kept() {
    let place = Place::with_texts([
        text(1, 50).to_uppercase(),
        text(1, 50).to_uppercase(),
        text(2, 50),
    ]);
    let results = place.dedup("in.jsonl --keep longest --lowercase");
    assert_eq!(
        (&results.removed[0]["row"], &results.removed[0]["kept_row"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn verify_none_takes_candidates_at_their_word() {
    let place = Place::with_texts([text(1, 60), edited(&text(1, 60), 1, 1), text(2, 60)]);
    let results = place.dedup("in.jsonl --verify none --bands 64 --rows 2");
    assert_eq!(results.removed.len(), 1);
    assert_eq!(results.removed[0]["similarity"], Value::Null);
    assert_eq!(results.removed[0]["found_by"], "none");
}

#[test]
fn normalising_decides_what_is_identical() {
    let texts = [
        "The cat, the dog.",
        "the cat the dog",
        "THE   CAT\n\nthe dog",
        "the cat the fox",
    ];
    let place = Place::with_texts(texts);
    for (options, identical) in [
        ("--unit chars", 0),
        ("--unit chars --lowercase", 1),
        ("--unit chars --lowercase --strip-punctuation", 2),
        (
            "--unit chars --lowercase --strip-punctuation --keep-whitespace",
            1,
        ),
        ("--unit words", 0),
        ("--unit words --lowercase", 2),
    ] {
        let results = place.dedup(&format!("in.jsonl --threshold 1 {options}"));
        assert_eq!(results.count("identical"), identical, "{options}");
    }
}

#[test]
fn stop_words_can_be_given() {
    let place = Place::with_texts(["le chat et le chien", "un chat et un chien", "rien du tout"]);
    place.write("french.txt", "le et\nun");
    let results = place.dedup("in.jsonl --unit stopwords --stop-words french.txt");
    assert_eq!(results.count("without_shingles"), 1);
    place.write("empty.txt", "\n");
    let run = place.run("dedup in.jsonl -o o2 --unit stopwords --stop-words empty.txt");
    run.refused(1, &["empty.txt", "list some"]);
}

// pairs

/// Five texts: two identical, one much like them, one a little, one not at all; with ids.
fn related_texts() -> [String; 5] {
    let one = text(1, 100);
    [
        one.clone(),
        edited(&one, 1, 1),
        text(2, 100),
        one,
        edited(&text(2, 100), 9, 30),
    ]
}

/// The pairs among them: 91 of 101 shingles are shared if an edit lies in the middle.
fn expected_pairs() -> Vec<(u64, u64, f64)> {
    vec![(0, 1, 91.0 / 101.0), (0, 3, 1.0), (1, 3, 91.0 / 101.0)]
}

const PAIR_COLUMNS: [&str; 7] = [
    "id_a",
    "id_b",
    "similarity",
    "file_a",
    "row_a",
    "file_b",
    "row_b",
];

#[test]
fn pairs_are_the_same_in_every_format() {
    let place = Place::new();
    let texts = related_texts();
    place.write("docs/a.jsonl", numbered_lines(&texts[..2], 10));
    place.write("docs/b.jsonl", numbered_lines(&texts[2..], 12));
    let options = "docs --verify exact --bands 64 --rows 2";
    let lines = place.pairs(options);
    let place_of = |row: u64| {
        if row < 2 {
            ("a.jsonl", row)
        } else {
            ("b.jsonl", row - 2)
        }
    };
    let expected: Vec<Value> = expected_pairs()
        .into_iter()
        .map(|(a, b, similarity)| {
            let ((file_a, row_a), (file_b, row_b)) = (place_of(a), place_of(b));
            json!({
                "id_a": 10 + a, "id_b": 10 + b, "similarity": similarity,
                "file_a": file_a, "row_a": row_a, "file_b": file_b, "row_b": row_b,
            })
        })
        .collect();
    assert_eq!(lines, expected);

    for name in ["pairs.jsonl", "pairs.csv", "pairs.parquet"] {
        place.run(&format!("pairs {options} -o {name}")).succeeded();
    }
    assert_eq!(place.read("pairs.jsonl"), lines_in_order(&expected));

    let csv = String::from_utf8(place.read("pairs.csv")).unwrap();
    let mut rows = csv.lines();
    assert_eq!(rows.next(), Some(&*PAIR_COLUMNS.join(",")));
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        // The shortest decimals that give the number: 1 and not 1.0.
        number => number.as_f64().unwrap().to_string(),
    };
    let row_of = |pair: &Value| PAIR_COLUMNS.map(|name| plain(&pair[name])).join(",");
    assert_eq!(
        rows.collect::<Vec<_>>(),
        expected.iter().map(row_of).collect::<Vec<_>>()
    );

    let (rows, _) = read_parquet(&place, "pairs.parquet");
    let names: Vec<_> = rows
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(names, PAIR_COLUMNS);
    let pair_at = |row: usize| {
        let integer = |name: &str| rows[name].as_primitive::<Int64Type>().value(row);
        let unsigned = |name: &str| rows[name].as_primitive::<UInt64Type>().value(row);
        let string = |name: &str| rows[name].as_string::<i32>().value(row).to_owned();
        json!({
            "id_a": integer("id_a"), "id_b": integer("id_b"),
            "similarity": rows["similarity"].as_primitive::<Float64Type>().value(row),
            "file_a": string("file_a"), "row_a": unsigned("row_a"),
            "file_b": string("file_b"), "row_b": unsigned("row_b"),
        })
    };
    assert_eq!(
        (0..rows.num_rows()).map(pair_at).collect::<Vec<_>>(),
        expected
    );
}

/// JSON Lines with the fields in the order of the columns.
fn lines_in_order(pairs: &[Value]) -> Vec<u8> {
    let field = |pair: &Value, name: &str| format!("\"{name}\":{}", pair[name]);
    let line = |pair: &Value| {
        format!(
            "{{{}}}\n",
            PAIR_COLUMNS.map(|name| field(pair, name)).join(",")
        )
    };
    pairs.iter().map(line).collect::<String>().into_bytes()
}

fn read_parquet(place: &Place, name: &str) -> (RecordBatch, BTreeMap<String, String>) {
    let file = std::fs::File::open(place.path(name)).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = builder.schema().clone();
    let metadata = schema.metadata().clone().into_iter().collect();
    let batches: Vec<_> = builder.build().unwrap().map(Result::unwrap).collect();
    (
        arrow_select::concat::concat_batches(&schema, &batches).unwrap(),
        metadata,
    )
}

#[test]
fn identical_documents_are_pairs_of_similarity_1_and_share_their_pairs() {
    let (one, near) = (text(1, 100), edited(&text(1, 100), 1, 1));
    let place = Place::with_texts([&one, &near, &one, &near, &one, &text(2, 100)]);
    let similarity_of = |a: u64, b: u64| if a % 2 == b % 2 { 1.0 } else { 91.0 / 101.0 };
    let mut expected = Vec::new();
    for a in 0..5 {
        expected.extend((a + 1..5).map(|b| (a, b, similarity_of(a, b))));
    }
    let found: Vec<_> = place
        .pairs("in.jsonl --verify exact --bands 64 --rows 2")
        .iter()
        .map(pair_of)
        .collect();
    assert_eq!(found, expected);
}

fn pair_of(line: &Value) -> (u64, u64, f64) {
    let row = |name: &str| line[name].as_u64().unwrap();
    (
        row("row_a"),
        row("row_b"),
        line["similarity"].as_f64().unwrap(),
    )
}

#[test]
fn pairs_of_ids_with_commas_and_quotes_are_csv() {
    let place = Place::new();
    let ids = ["a,b", "c\"d\"", "e\nf"];
    place.write(
        "in.jsonl",
        lines_of(ids.map(|id| json!({"id": id, "text": "the same text"}))),
    );
    place.run("pairs in.jsonl -o pairs.csv").succeeded();
    let csv = String::from_utf8(place.read("pairs.csv")).unwrap();
    let start = |a: &str, b: &str| format!("{a},{b},1,in.jsonl,");
    for pair in [
        start("\"a,b\"", "\"c\"\"d\"\"\""),
        start("\"a,b\"", "\"e\nf\""),
        start("\"c\"\"d\"\"\"", "\"e\nf\""),
    ] {
        assert!(csv.contains(&pair), "{csv}");
    }
    place.run("pairs in.jsonl -o pairs.parquet").succeeded();
    let (rows, _) = read_parquet(&place, "pairs.parquet");
    assert_eq!(
        rows["id_b"]
            .as_string::<i32>()
            .iter()
            .flatten()
            .collect::<Vec<_>>(),
        ["c\"d\"", "e\nf", "e\nf"]
    );
}

#[test]
fn no_pairs_are_a_whole_file_too() {
    let place = Place::with_texts([text(1, 50), text(2, 50)]);
    for name in ["pairs.jsonl", "pairs.csv", "pairs.parquet"] {
        place.run(&format!("pairs in.jsonl -o {name}")).succeeded();
    }
    assert_eq!(place.read("pairs.jsonl"), b"");
    assert_eq!(
        place.read("pairs.csv"),
        (PAIR_COLUMNS.join(",") + "\n").into_bytes()
    );
    assert_eq!(read_parquet(&place, "pairs.parquet").0.num_rows(), 0);
    assert!(place.pairs("in.jsonl").is_empty());
}

// sign

/// What the library says the signatures of these texts are.
fn signatures_of<S: AsRef<str>>(texts: &[S], scheme: &str, num_perm: u32, seed: u32) -> Signatures {
    let scheme = Scheme::named(scheme)
        .unwrap()
        .with_num_perm(num_perm)
        .unwrap()
        .with_seed(seed);
    let shingler = Shingler::new(Shingling::default(), &scheme, None).unwrap();
    let signer = Backend::Scalar.signer(&scheme).unwrap();
    let texts = texts.iter().map(AsRef::as_ref).collect();
    Signatures::of_texts(&*signer, &texts, &shingler).unwrap()
}

/// The header's type and shape, and the bytes behind it.
fn parse_npy(file: &[u8]) -> (String, [usize; 2], &[u8]) {
    assert_eq!(file[..8], *b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let (header, values) = file[10..].split_at(length);
    assert_eq!((10 + length) % 64, 0);
    let header = std::str::from_utf8(header).unwrap();
    assert!(
        header.ends_with('\n') && header.contains("'fortran_order': False"),
        "{header}"
    );
    let after = |name: &str, open: char, close: char| {
        let from = header
            .split_once(name)
            .unwrap()
            .1
            .split_once(open)
            .unwrap()
            .1;
        from.split_once(close).unwrap().0.to_owned()
    };
    let shape = after("'shape':", '(', ')');
    let shape: Vec<usize> = shape
        .split(',')
        .map(|n| n.trim().parse().unwrap())
        .collect();
    (
        after("'descr':", '\'', '\''),
        shape.try_into().unwrap(),
        values,
    )
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
fn signatures_in_npy_are_those_of_the_library() {
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
fn signatures_in_parquet_are_those_of_the_library() {
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
    // Places where there are no ids.
    place.write("in.jsonl", json_lines(&texts));
    place
        .run("sign in.jsonl -o s.parquet --overwrite")
        .succeeded();
    let (rows, _) = read_parquet(&place, "s.parquet");
    assert_eq!(rows["id"].as_string::<i32>().value(5), "in.jsonl:5");
}

#[test]
fn signatures_do_not_depend_on_files_batches_and_threads() {
    let texts = texts_to_sign();
    let place = Place::new();
    let (left, right) = texts.split_at(40);
    place.write("docs/a.jsonl", json_lines(left));
    place.write("docs/b.jsonl.gz", support::gzip(&json_lines(right)));
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

// Stdin and odd names

#[test]
fn the_output_may_be_the_folder_in_which_one_stands() {
    let place = Place::with_texts(["a", "b", "a"]);
    std::fs::create_dir_all(place.path("empty/deep")).unwrap();
    for (folder, output) in [("empty/deep", "."), ("empty/deep", "./"), ("empty", "deep")] {
        let input = if folder == "empty" {
            "../in.jsonl"
        } else {
            "../../in.jsonl"
        };
        let arguments = format!("dedup {input} --overwrite -o {output}");
        let run = assert_cmd::Command::new(SIMGPU)
            .args(arguments.split(' '))
            .current_dir(place.path(folder))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{arguments}: {said}");
        assert_eq!(Results::of(&place.path("empty/deep")).count("removed"), 1);
    }
}

#[test]
fn every_command_reads_stdin() {
    let place = Place::new();
    let lines = json_lines([text(1, 20), text(1, 20)]);
    let run = place
        .run_with_stdin("pairs - -o - --quiet", &lines)
        .succeeded();
    assert_eq!(support::parse_lines(&run.stdout).len(), 1);
    place.run_with_stdin("sign - -o m.npy", &lines).succeeded();
    assert_eq!(parse_npy(&place.read("m.npy")).1, [2, 128]);
    place
        .run_with_stdin("dedup - -o deep/er/out", &lines)
        .succeeded();
    assert_eq!(Results::of(&place.path("deep/er/out")).count("removed"), 1);
    // The copy of stdin is gone.
    let names: Vec<String> = support::files_in(&place.path("")).into_keys().collect();
    assert_eq!(names.len(), 6, "{names:?}");
}

#[test]
fn a_folder_of_ones_own_is_never_taken_for_results() {
    let place = Place::with_texts(["a", "b"]);
    place.write("out/kept/precious", "mine");
    place
        .run("dedup in.jsonl -o out")
        .refused(1, &["out", "not empty"]);
    assert_eq!(place.read("out/kept/precious"), b"mine");
}

#[test]
fn names_that_an_output_needs_do_not_take_the_place_of_an_input() {
    let place = Place::new();
    let lines = support::json_lines(["a", "b"]);
    for (input, command) in [
        (
            "x.jsonl.partial",
            "pairs x.jsonl.partial --format jsonl -o x.jsonl",
        ),
        (
            "m.npy.json",
            "sign m.npy.json --format jsonl -o m.npy --overwrite",
        ),
    ] {
        place.write(input, &lines);
        place
            .run(command)
            .refused(1, &[input, "choose another output"]);
        assert_eq!(place.read(input), lines);
    }
}

#[test]
fn help_tells_every_scheme_hash_unit_and_backend() {
    let help = Place::new().run("sign --help").succeeded().stdout;
    let help = String::from_utf8(help).unwrap();
    let words: Vec<&str> = help
        .split(|c: char| c.is_whitespace() || ",:;".contains(c))
        .collect();
    let names = Scheme::names().chain(simgpu::scheme::BaseHash::names());
    let units = ["bytes", "chars", "words", "stopwords", "pieces", "tokens"];
    for name in names.chain(Backend::names()).chain(units) {
        assert!(words.contains(&name), "{name}: {help}");
    }
}

#[test]
fn a_preset_brings_the_defaults_of_its_tool() {
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

/// cuDF gives them zeros, which no band may take for a likeness.
#[test]
fn documents_without_shingles_are_kept_whatever_their_slots() {
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
fn tokens_in_shingles_of_several() {
    let place = Place::new();
    let tokens = |tokens: &str| format!("{{\"tokens\": {tokens}}}\n");
    place.write(
        "in.jsonl",
        [
            tokens(r#"["a", "b", "c"]"#),
            tokens(r#"["a b", "c"]"#),
            tokens(r#"["b", "c", "a"]"#),
            tokens("[]"),
        ]
        .concat(),
    );
    let similarities = |size: &str| {
        let options = "--unit tokens --verify exact --threshold 0.3 --overwrite";
        let run = place.run(&format!("pairs in.jsonl -o - {options} {size}"));
        let pairs = support::parse_lines(&run.succeeded().stdout);
        let similarity = |pair: &Value| {
            let (a, b) = (&pair["row_a"], &pair["row_b"]);
            (
                a.as_u64().unwrap(),
                b.as_u64().unwrap(),
                pair["similarity"].as_f64().unwrap(),
            )
        };
        pairs.iter().map(similarity).collect::<Vec<_>>()
    };
    // As sets the first and the third are one; of pairs of tokens they share "b c".
    assert_eq!(similarities(""), [(0, 2, 1.0)]);
    assert_eq!(similarities("--size 2"), [(0, 2, 1.0 / 3.0)]);
    // All three tokens are one shingle, and so are fewer.
    assert_eq!(similarities("--size 3"), [(0, 1, 1.0)]);
}

#[test]
fn tokens_of_a_preset_are_in_shingles_as_large_as_its_tool_makes_them() {
    let place = Place::new();
    place.write("in.jsonl", r#"{"tokens": ["a", "b"], "text": "a b"}"#);
    let hint = "values are those of SCHEME for the same tokens only (--unit tokens)";
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
        // Words are this program's own, and so the values are not the tool's.
        assert_eq!(size_of(""), (json!(5), scheme != "affine32"), "{scheme}");
        assert_eq!(size_of("--unit chars"), (json!(9), false), "{scheme}");
    }
}

#[test]
fn a_shingle_larger_than_any_text_is_the_whole_text() {
    let place = Place::with_texts(["a b c", "a b c", "a b d"]);
    place
        .run("dedup in.jsonl -o out --size 18446744073709551615")
        .succeeded();
    let results = support::Results::of(&place.path("out"));
    assert_eq!((results.count("kept"), results.count("removed")), (2, 1));
}

#[cfg(unix)]
#[test]
fn a_path_that_climbs_out_of_a_link_is_the_file_that_the_system_means() {
    let place = Place::new();
    place.write("a/b/inside", "");
    place.write("a/y.jsonl", support::json_lines(["one", "two"]));
    place.write("y.jsonl", support::json_lines(["another"]));
    std::os::unix::fs::symlink("a/b", place.path("link")).unwrap();
    place.run("dedup link/../y.jsonl -o out").succeeded();
    let results = support::Results::of(&place.path("out"));
    assert_eq!(results.count("documents"), 2);
}
