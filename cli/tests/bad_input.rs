//! Bad input, bad arguments, bad places for output: each is an error that says which file, which record
//! and what to do, and leaves no output under a final name.

mod support;

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{ArrayRef, Int64Array, StringArray};
use serde_json::{Value, json};
use simgpu::backend::Backend;
use simgpu::io::{Fields, Inputs, OnBadRecord, OutputFolder};
use simgpu::jobs::{Dedup, Search, Source, Verification};
use simgpu::pipeline::{Banding, Clustering, ErrorWeights, KeepPolicy, Shingler, Shingling};
use simgpu::progress::Progress;
use simgpu::scheme::Scheme;

use support::{Numbers, Place, gzip, json_lines, lines_of, parquet, strings, text, zstd};

/// Runs each command that reads `inputs`: all must fail with exit code 1, say the same and leave nothing.
#[track_caller]
fn no_command_reads(place: &Place, inputs: &str, said: &[&str]) {
    for command in [
        "dedup --output out",
        "dedup --verify exact --output out",
        "pairs --output pairs.jsonl",
        "pairs --output pairs.parquet",
        "sign --output signatures.npy",
        "sign --output signatures.parquet",
    ] {
        place.run(&format!("{command} {inputs}")).refused(1, said);
    }
    leaves_no_output(place);
}

#[track_caller]
fn leaves_no_output(place: &Place) {
    for name in [
        "out/kept",
        "out/removed.jsonl",
        "out/report.json",
        "out/run.json",
        "pairs.jsonl",
        "pairs.parquet",
        "signatures.npy",
        "signatures.npy.json",
        "signatures.parquet",
    ] {
        assert!(!place.holds(name), "{name} is there after a failure");
    }
}

/// A file whose third line is this record, two good ones before it and one behind.
fn with_third_line(record: &[u8]) -> Vec<u8> {
    let good = json_lines(["first document", "second document"]);
    [&good, record, b"\n", &json_lines(["the last document"])].concat()
}

#[track_caller]
fn third_line_is_refused(record: &[u8], problem: &str) {
    let place = Place::new();
    place.write("docs/in.jsonl", with_third_line(record));
    let said = ["docs/in.jsonl, line 3", problem, "--on-bad-record skip"];
    no_command_reads(&place, "docs/in.jsonl", &said);
}

// Records

#[test]
fn an_invalid_json_line_is_refused() {
    third_line_is_refused(br#"{"text": "no end"#, "invalid JSON");
    third_line_is_refused(br#"{"text": "a"} {"text": "b"}"#, "invalid JSON");
    third_line_is_refused(b"not JSON", "invalid JSON");
    third_line_is_refused(b"[\"a\"]", "the record is an array, not an object");
}

#[test]
fn a_missing_field_is_refused() {
    third_line_is_refused(br#"{"title": "no text"}"#, "there is no field \"text\"");
    third_line_is_refused(br#"{"text": null}"#, "there is no field \"text\"");
}

#[test]
fn a_field_that_is_no_string_is_refused() {
    third_line_is_refused(
        br#"{"text": 3}"#,
        "field \"text\" is a number, not a string",
    );
    third_line_is_refused(
        br#"{"text": ["a"]}"#,
        "field \"text\" is an array, not a string",
    );
}

#[test]
fn invalid_utf_8_is_refused() {
    third_line_is_refused(
        b"{\"text\": \"caf\xE9\"}",
        "invalid UTF-8 at byte 13 of the line",
    );
}

#[test]
fn invalid_utf_8_in_a_text_file_is_refused() {
    let place = Place::new();
    place.write("docs/a.txt", "a good one");
    place.write("docs/b.txt", b"latin: caf\xE9");
    let said = [
        "docs/b.txt, row 0",
        "invalid UTF-8 at byte 10",
        "--on-bad-record skip",
    ];
    no_command_reads(&place, "docs", &said);
}

#[test]
fn a_null_in_a_table_is_refused() {
    let place = Place::new();
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    place.write("in.parquet", parquet([("text", texts)]));
    let said = [
        "in.parquet, row 1",
        "column \"text\" is null",
        "--on-bad-record skip",
    ];
    no_command_reads(&place, "in.parquet", &said);
}

#[test]
fn a_missing_id_is_refused_where_an_id_field_is_named() {
    let place = Place::new();
    let records = [json!({"text": "a", "key": 1}), json!({"text": "b"})];
    place.write("in.jsonl", lines_of(records));
    let said = [
        "in.jsonl, line 2",
        "there is no id field \"key\"",
        "--on-bad-record skip",
    ];
    no_command_reads(&place, "in.jsonl --id-field key", &said);
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "\u{FEFF}{\"text\": \"a\"}\r\n\r\n \t\n{\"text\": \"b\"}\n{\"text\"}\n",
    );
    no_command_reads(&place, "in.jsonl", &["in.jsonl, line 5", "invalid JSON"]);
}

#[test]
fn a_line_is_named_however_far_down_it_is() {
    // Several chunks before it, in more than one batch.
    let many = (0..30_000).map(|i| format!("document {i} {}", "x".repeat(100)));
    let mut lines = json_lines(many);
    lines.extend_from_slice(b"{}\n");
    let place = Place::new();
    place.write("in.jsonl", lines);
    let run = place.run("dedup in.jsonl -o out --batch-mib 1");
    run.refused(1, &["in.jsonl, line 30001", "there is no field \"text\""]);
    leaves_no_output(&place);
}

#[test]
fn tokens_that_are_no_tokens_are_refused() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"tokens\": [1, \"a\"]}\n{\"tokens\": [1, {}]}\n",
    );
    let said = [
        "in.jsonl, line 2",
        "field \"tokens\" holds an object among its tokens",
    ];
    no_command_reads(&place, "in.jsonl --unit tokens", &said);
    place.write("in.jsonl", "{\"tokens\": \"a b\"}\n");
    let said = [
        "in.jsonl, line 1",
        "field \"tokens\" is a string, not an array",
    ];
    no_command_reads(&place, "in.jsonl --unit tokens", &said);
}

// Files

#[test]
fn a_truncated_gzip_stream_is_refused() {
    let whole = gzip(&json_lines([text(1, 200), text(2, 200)]));
    let place = Place::new();
    // In the header, in the data, in the checksum at the end.
    for cut in [3, 12, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
        place.write("in.jsonl.gz", &whole[..cut]);
        let said = [
            "in.jsonl.gz",
            "the gzip stream is cut off",
            "get the file again",
        ];
        no_command_reads(&place, "in.jsonl.gz", &said);
    }
    let mut second_member_cut = gzip(&json_lines(["a whole member"]));
    second_member_cut.extend_from_slice(&whole[..whole.len() / 2]);
    place.write("in.jsonl.gz", second_member_cut);
    no_command_reads(
        &place,
        "in.jsonl.gz",
        &["in.jsonl.gz", "the gzip stream is cut off"],
    );
}

#[test]
fn a_truncated_zstd_stream_is_refused() {
    let whole = zstd(&json_lines([text(1, 200), text(2, 200)]));
    let place = Place::new();
    for cut in [4, 7, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
        place.write("in.jsonl.zst", &whole[..cut]);
        let said = [
            "in.jsonl.zst",
            "the zstd stream is cut off",
            "get the file again",
        ];
        no_command_reads(&place, "in.jsonl.zst", &said);
    }
    let mut second_frame_cut = zstd(&json_lines(["a whole frame"]));
    second_frame_cut.extend_from_slice(&whole[..whole.len() / 2]);
    place.write("in.jsonl.zst", second_frame_cut);
    no_command_reads(
        &place,
        "in.jsonl.zst",
        &["in.jsonl.zst", "the zstd stream is cut off"],
    );
}

#[test]
fn a_damaged_stream_is_refused() {
    let place = Place::new();
    let lines = json_lines([text(1, 200), text(2, 200)]);
    let mut checksum_wrong = gzip(&lines);
    let at = checksum_wrong.len() - 6;
    checksum_wrong[at] ^= 0x40;
    place.write("in.jsonl.gz", checksum_wrong);
    no_command_reads(
        &place,
        "in.jsonl.gz",
        &["in.jsonl.gz", "the gzip stream is damaged"],
    );
    let trailing_garbage = [zstd(&lines), b"and then something else".to_vec()].concat();
    place.write("in.jsonl.zst", trailing_garbage);
    no_command_reads(
        &place,
        "in.jsonl.zst",
        &["in.jsonl.zst", "the zstd stream is damaged"],
    );
}

#[test]
fn a_truncated_stream_is_refused_on_stdin_too() {
    let whole = gzip(&json_lines([text(1, 200)]));
    let place = Place::new();
    let run = place.run_with_stdin("dedup - -o out", &whole[..whole.len() / 2]);
    run.refused(1, &["stdin", "the gzip stream is cut off"]);
    leaves_no_output(&place);
}

#[test]
fn a_table_without_the_column_is_refused() {
    let place = Place::new();
    place.write("in.parquet", parquet([("body", strings(["a", "b"]))]));
    let said = ["in.parquet", "there is no column \"text\"", "--text-field"];
    no_command_reads(&place, "in.parquet", &said);
    let said = [
        "in.parquet",
        "there is no column \"body.text\"",
        "--text-field",
    ];
    no_command_reads(&place, "in.parquet --text-field body.text", &said);
    let said = ["in.parquet", "there is no id column \"key\"", "--id-field"];
    no_command_reads(&place, "in.parquet --text-field body --id-field key", &said);
}

#[test]
fn a_column_of_another_type_is_refused() {
    let place = Place::new();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    place.write("in.parquet", parquet([("text", numbers)]));
    let said = [
        "in.parquet",
        "column \"text\" holds Int64, not strings",
        "--text-field",
    ];
    no_command_reads(&place, "in.parquet", &said);
}

#[test]
fn a_file_that_is_no_table_is_refused() {
    let whole = parquet([("text", strings(["a", "b"]))]);
    let place = Place::new();
    for bytes in [&whole[..whole.len() - 20], b"PAR1", b"{\"text\": \"a\"}\n"] {
        place.write("in.parquet", bytes);
        no_command_reads(&place, "in.parquet", &["in.parquet", "get the file again"]);
    }
}

#[test]
fn an_empty_file_is_refused() {
    let place = Place::new();
    let said = |name| [name, "the file is empty", "leave it out"];
    for (name, bytes) in [
        ("empty.jsonl", Vec::new()),
        ("blank.jsonl", b"\n \r\n\n".to_vec()),
        ("empty.jsonl.gz", gzip(b"")),
        ("empty.jsonl.zst", zstd(b"")),
        ("empty.parquet", parquet([("text", strings::<&str>([]))])),
    ] {
        place.write(name, bytes);
        no_command_reads(&place, name, &said(name));
    }
    place.run("dedup - -o out").refused(1, &said("stdin"));
    leaves_no_output(&place);
}

#[test]
fn a_missing_file_is_refused() {
    let place = Place::new();
    place.write("folder/readme", "");
    fs::create_dir(place.path("nothing")).unwrap();
    no_command_reads(
        &place,
        "gone.jsonl",
        &["gone.jsonl: no such file", "check the name"],
    );
    no_command_reads(
        &place,
        "folder/*.jsonl",
        &["folder/*.jsonl: no file matches", "check the name"],
    );
    no_command_reads(
        &place,
        "nothing",
        &["nothing: the folder holds no file", "name a folder"],
    );
}

// Places for output

#[test]
fn a_folder_with_foreign_files_is_refused_and_left_alone() {
    let place = Place::with_texts(["a", "b"]);
    place.write("out/thesis.tex", "years of work");
    let said = [
        "out: the output folder is not empty",
        "thesis.tex",
        "choose an empty folder",
    ];
    for command in ["dedup in.jsonl -o out", "dedup in.jsonl -o out --overwrite"] {
        place.run(command).refused(1, &said);
        leaves_no_output(&place);
        assert_eq!(place.read("out/thesis.tex"), b"years of work");
    }
}

#[test]
fn results_of_a_complete_run_are_replaced_only_with_overwrite() {
    let place = Place::with_texts(["a", "b"]);
    place.run("dedup in.jsonl -o out").succeeded();
    place.write("in.jsonl", json_lines(["c"]));
    let before = support::files_in(&place.path("out"));
    let said = ["out: the output folder is not empty", "--overwrite"];
    place.run("dedup in.jsonl -o out").refused(1, &said);
    assert_eq!(support::files_in(&place.path("out")), before);
    place.run("dedup in.jsonl -o out --overwrite").succeeded();
    assert_eq!(place.read("out/kept/in.jsonl"), json_lines(["c"]));
}

#[test]
fn an_overwriting_run_that_fails_leaves_the_earlier_results() {
    let place = Place::with_texts(["a", "b"]);
    place.run("dedup in.jsonl -o out").succeeded();
    place.run("pairs in.jsonl -o pairs.csv").succeeded();
    let before = support::files_in(&place.path("out"));
    let pairs_before = place.read("pairs.csv");
    place.write("in.jsonl", "{}\n");
    place
        .run("dedup in.jsonl -o out --overwrite")
        .refused(1, &["line 1"]);
    place
        .run("pairs in.jsonl -o pairs.csv --overwrite")
        .refused(1, &["line 1"]);
    let mut after = support::files_in(&place.path("out"));
    after.retain(|name, _| !name.starts_with(".partial"));
    assert_eq!(after, before);
    assert_eq!(place.read("pairs.csv"), pairs_before);
}

#[test]
fn an_existing_output_file_is_replaced_only_with_overwrite() {
    let place = Place::with_texts(["a", "b"]);
    for command in [
        "pairs in.jsonl -o out.jsonl",
        "pairs in.jsonl -o out.csv",
        "sign in.jsonl -o out.parquet",
        "sign in.jsonl -o out.npy",
    ] {
        place.run(command).succeeded();
        let name = command.rsplit(' ').next().unwrap();
        place.write(name, "mine");
        place
            .run(command)
            .refused(1, &[name, "the file exists", "--overwrite"]);
        assert_eq!(place.read(name), b"mine");
        place.run(&format!("{command} --overwrite")).succeeded();
        assert_ne!(place.read(name), b"mine");
    }
}

#[test]
fn an_output_path_that_cannot_be_written_is_refused_with_a_remedy() {
    let place = Place::with_texts(["a", "b"]);
    place.write("file", "");
    for (command, path) in [
        ("dedup in.jsonl -o file/out", "file/out"),
        ("dedup in.jsonl -o file", "file"),
        ("pairs in.jsonl -o file/pairs.jsonl", "file/pairs.jsonl"),
        (
            "pairs in.jsonl -o missing/pairs.jsonl",
            "missing/pairs.jsonl",
        ),
        (
            "sign in.jsonl -o file/signatures.npy",
            "file/signatures.npy",
        ),
        (
            "sign in.jsonl -o missing/signatures.npy",
            "missing/signatures.npy",
        ),
    ] {
        // A remedy stands behind a semicolon, as in every message.
        let run = place.run(command).refused(1, &[path, "; "]);
        let causes = run.error().matches("os error").count();
        assert!(
            causes <= 1,
            "the cause is said {causes} times: {}",
            run.error()
        );
    }
    assert_eq!(place.read("file"), b"");
}

#[test]
fn an_output_folder_inside_an_input_folder_is_refused() {
    let place = Place::new();
    place.write("docs/in.jsonl", json_lines(["a"]));
    let run = place.run("dedup docs -o docs/out");
    run.refused(
        1,
        &[
            "docs/out",
            "inside the input folder",
            "outside of the inputs",
        ],
    );
    assert!(!place.holds("docs/out/report.json"));
}

#[cfg(unix)]
#[test]
fn an_output_folder_inside_an_input_folder_by_another_name_is_refused() {
    let place = Place::new();
    place.write("docs/in.jsonl", json_lines(["a"]));
    std::os::unix::fs::symlink("docs", place.path("link")).unwrap();
    for command in ["dedup link -o docs/out", "dedup docs -o link/out"] {
        let run = place.run(command);
        run.refused(
            1,
            &["out", "inside the input folder", "outside of the inputs"],
        );
        assert!(!place.holds("docs/out/report.json"), "{command}");
    }
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let place = Place::with_texts(["a", "b"]);
    let before = place.read("in.jsonl");
    place.write("in.parquet", parquet([("text", strings(["a", "b"]))]));
    place.run("dedup in.jsonl -o out").succeeded();
    for (command, path) in [
        ("pairs in.jsonl -o in.jsonl --overwrite", "in.jsonl"),
        (
            "pairs ./in.jsonl -o out/../in.jsonl --overwrite",
            "in.jsonl",
        ),
        ("sign in.parquet -o in.parquet --overwrite", "in.parquet"),
        ("dedup out/kept -o out --overwrite", "out"),
        ("dedup out/kept/in.jsonl -o out --overwrite", "out"),
    ] {
        let run = place.run(command);
        assert_eq!(run.code, Some(1), "{command} was not refused");
        run.refused(1, &[path, "; "]);
    }
    assert_eq!(place.read("in.jsonl"), before);
    assert_eq!(place.read("out/kept/in.jsonl"), before);
}

#[test]
fn an_output_file_of_no_known_format_is_refused() {
    let place = Place::with_texts(["a"]);
    let said = ["pairs.txt", "let it end in .jsonl, .csv or .parquet"];
    place.run("pairs in.jsonl -o pairs.txt").refused(2, &said);
    let said = ["signatures.csv", "let it end in .parquet or .npy"];
    place
        .run("sign in.jsonl -o signatures.csv")
        .refused(2, &said);
    // Nothing is said but that.
    let run = place.run("sign in.jsonl -o signatures.csv");
    assert!(run.stderr.starts_with("simgpu: "), "{}", run.stderr);
}

#[test]
fn a_missing_folder_for_an_output_file_is_named() {
    let place = Place::with_texts(["a"]);
    let said = ["there is no folder missing/in", "create it"];
    for command in [
        "sign in.jsonl -o missing/in/s.npy",
        "sign - -o missing/in/s.parquet",
        "pairs in.jsonl -o missing/in/p.csv",
    ] {
        place.run(command).refused(1, &said);
    }
}

#[test]
fn instructions_are_for_simd() {
    let place = Place::with_texts(["a"]);
    place
        .run("sign in.jsonl -o s.npy --backend scalar --isa portable")
        .refused(2, &["--isa is for the simd backend; leave --isa out"]);
}

#[test]
fn a_failed_run_does_not_stand_in_the_way_of_the_next() {
    let place = Place::new();
    place.write("in.jsonl", "{}\n");
    no_command_reads(&place, "in.jsonl", &["line 1"]);
    place.write("in.jsonl", json_lines(["a"]));
    place.run("dedup in.jsonl -o out").succeeded();
    place.run("pairs in.jsonl -o pairs.jsonl").succeeded();
    place.run("sign in.jsonl -o signatures.npy").succeeded();
    let mut names: Vec<String> = support::files_in(&place.path("")).into_keys().collect();
    names.sort_unstable();
    let expected = [
        "in.jsonl",
        "out/kept/in.jsonl",
        "out/removed.jsonl",
        "out/report.json",
        "out/run.json",
        "pairs.jsonl",
        "signatures.npy",
        "signatures.npy.json",
    ];
    assert_eq!(names, expected);
}

// Arguments

#[track_caller]
fn usage_error(arguments: &str, said: &[&str]) {
    let place = Place::with_texts(["a", "b"]);
    let run = place.run(&format!("dedup in.jsonl -o out {arguments}"));
    run.refused(2, &[said, &["--help"]].concat());
    assert!(
        !place.holds("out"),
        "an output folder was made for {arguments}"
    );
}

#[test]
fn a_threshold_outside_0_to_1_is_a_usage_error() {
    for threshold in ["0", "0.0", "-0.1", "1.0000001", "80", "inf", "NaN"] {
        let arguments = format!("--threshold={threshold}");
        usage_error(&arguments, &["threshold", "above 0 and up to 1"]);
        let run = Place::new().run(&format!("tune {arguments}"));
        run.refused(2, &["threshold", "above 0 and up to 1"]);
    }
    usage_error("--threshold high", &["threshold", "high"]);
    Place::with_texts(["a"]).dedup("in.jsonl --threshold 1");
    Place::with_texts(["a"]).dedup("in.jsonl --threshold 0.000001");
}

#[test]
fn more_bands_and_rows_than_permutations_are_a_usage_error() {
    usage_error(
        "--bands 20 --rows 10",
        &["bands x rows is 20 x 10", "128 permutations"],
    );
    usage_error(
        "--bands 9 --rows 8 --num-perm 64",
        &["9 x 8", "64 permutations"],
    );
    usage_error("--bands 0 --rows 8", &["0 x 8"]);
    usage_error("--bands 4294967296 --rows 4294967296", &["4294967296"]);
    usage_error("--bands 8", &["--rows"]);
    usage_error("--rows 8", &["--bands"]);
    Place::with_texts(["a"]).dedup("in.jsonl --bands 16 --rows 8");
}

#[test]
fn a_size_with_units_that_take_none_is_a_usage_error() {
    usage_error(
        "--unit stopwords --size 3",
        &["--unit stopwords takes no --size", "leave it out"],
    );
    usage_error("--size 0", &["--size"]);
    usage_error(
        "--stop-words list.txt",
        &["--stop-words needs --unit stopwords"],
    );
}

#[test]
fn a_field_of_tokens_without_tokens_is_a_usage_error() {
    for options in [
        "--tokens-field ids",
        "--tokens-field tokens --unit words",
        "--tokens-field ids --text-field body --scheme datasketch",
    ] {
        usage_error(options, &["--tokens-field needs --unit tokens", "leave"]);
    }
    let place = Place::new();
    place.write("in.jsonl", r#"{"ids": ["a", "b"]}"#);
    place.dedup("in.jsonl --unit tokens --tokens-field ids");
}

#[test]
fn a_hash_that_does_not_fit_the_unit_or_the_scheme_is_a_usage_error() {
    let said = ["words-v1 takes words, not bytes", "choose"];
    usage_error("--unit bytes --hash words-v1", &said);
    usage_error(
        "--unit chars --hash words-v1",
        &["words-v1 takes words, not chars"],
    );
    usage_error(
        "--scheme text-dedup --hash words-v1",
        &["words-v1 takes words, not pieces"],
    );
    usage_error("--scheme rensa --hash xxh32", &["xxh32", "64-bit", "rensa"]);
    usage_error(
        "--scheme affine64 --hash murmur3-32",
        &["murmur3-32", "64-bit", "affine64"],
    );
}

#[test]
fn an_unknown_name_is_a_usage_error_that_lists_the_known_ones() {
    let schemes: Vec<&str> = Scheme::names().collect();
    usage_error("--scheme md5", &[&["scheme", "md5"], &schemes[..]].concat());
    let hashes: Vec<&str> = simgpu::scheme::BaseHash::names().collect();
    usage_error("--hash md5", &[&["hash", "md5"], &hashes[..]].concat());
    let backends: Vec<&str> = Backend::names().collect();
    usage_error(
        "--backend abacus",
        &[&["backend", "abacus"], &backends[..]].concat(),
    );
    usage_error(
        "--unit lines",
        &["lines", "bytes", "chars", "words", "stopwords", "tokens"],
    );
    usage_error("--verify twice", &["twice", "none", "signature", "exact"]);
    usage_error("--keep shortest", &["shortest", "first", "longest"]);
}

#[test]
fn a_number_out_of_range_is_a_usage_error() {
    usage_error("--num-perm 0", &["num-perm"]);
    usage_error("--num-perm 16385", &["num-perm", "16384"]);
    usage_error("--seed 4294967296", &["--seed"]);
    usage_error("--threads 0", &["--threads"]);
    usage_error("--max-bucket 0", &["--max-bucket"]);
    usage_error("--batch-mib 0", &["--batch-mib"]);
}

#[test]
fn a_command_without_what_it_needs_is_a_usage_error() {
    let place = Place::new();
    place.run("dedup in.jsonl").refused(2, &["--output"]);
    place.run("dedup -o out").refused(2, &["INPUT"]);
    place.run("dedupe in.jsonl").refused(2, &["dedup"]);
}

// Ids

#[test]
fn two_documents_with_one_id_are_refused_under_unique_ids() {
    let place = Place::new();
    place.write(
        "a/in.jsonl",
        lines_of([
            json!({"id": "x", "text": "a"}),
            json!({"id": 7, "text": "b"}),
        ]),
    );
    place.write(
        "b/in.jsonl",
        lines_of([
            json!({"id": "7", "text": "c"}),
            json!({"id": 7, "text": "d"}),
        ]),
    );
    let said = [
        "7 is the id of two documents",
        "a/in.jsonl, row 1",
        "b/in.jsonl, row 1",
        "--unique-ids",
    ];
    no_command_reads(&place, "a/in.jsonl b/in.jsonl --unique-ids", &said);
    // Without the flag they are legal, counted and mentioned.
    let run = place.run("dedup a/in.jsonl b/in.jsonl -o out").succeeded();
    assert!(
        run.stderr.contains("1 document has the id of another"),
        "{}",
        run.stderr
    );
    let results = support::Results::of(&place.path("out"));
    assert_eq!(results.count("repeated_ids"), 1);
}

// Bad records that are skipped

#[test]
fn skipped_records_are_counted_and_listed_and_everything_else_is_kept() {
    let place = Place::new();
    let good: Vec<String> = (0..4).map(|seed| text(seed, 20)).collect();
    let lines = |texts: &[String]| String::from_utf8(json_lines(texts)).unwrap();
    let bad = "{\"text\": 1}\n";
    let whole = format!(
        "{bad}{}{bad}\n{bad}{}oops\n",
        lines(&good[..2]),
        lines(&good[2..])
    );
    place.write("docs/in.jsonl", whole);
    let results = place.dedup("docs/in.jsonl --on-bad-record skip");
    assert_eq!(results.count("documents"), 8);
    assert_eq!(results.count("kept"), 4);
    assert_eq!(results.count("removed"), 0);
    assert_eq!(results.count("skipped"), 4);
    assert_eq!(results.kept("in.jsonl"), lines(&good).into_bytes());
    let skipped = results.report["skipped"].as_array().unwrap();
    let places: Vec<_> = skipped
        .iter()
        .map(|s| (s["row"].clone(), s["line"].clone()))
        .collect();
    assert_eq!(
        places,
        [
            (json!(0), json!(1)),
            (json!(3), json!(4)),
            (json!(4), json!(6)),
            (json!(7), json!(9))
        ]
    );
    for record in skipped {
        assert_eq!(record["file"], "in.jsonl");
    }
    assert_eq!(
        skipped[0]["problem"],
        "field \"text\" is a number, not a string"
    );
    assert!(
        skipped[3]["problem"]
            .as_str()
            .unwrap()
            .contains("invalid JSON")
    );
}

#[test]
fn rows_count_skipped_records() {
    let place = Place::new();
    let same = text(1, 20);
    let lines = [
        json!({}),
        json!({"text": same}),
        json!({}),
        json!({}),
        json!({"text": same}),
    ];
    place.write("in.jsonl", lines_of(lines));
    let results = place.dedup("in.jsonl --on-bad-record skip");
    let [removed] = &results.removed[..] else {
        panic!("{:?}", results.removed);
    };
    assert_eq!(
        (&removed["id"], &removed["row"]),
        (&json!("in.jsonl:4"), &json!(4))
    );
    assert_eq!(
        (&removed["kept_id"], &removed["kept_row"]),
        (&json!("in.jsonl:1"), &json!(1))
    );
}

#[test]
fn skipped_rows_of_tables_and_text_files_are_left_out() {
    let place = Place::new();
    let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("kept row")]));
    place.write("docs/a.parquet", parquet([("text", texts)]));
    place.write("docs/b.txt", b"\xFF\xFE");
    place.write("docs/c.txt", "kept text");
    let results = place.dedup("docs --on-bad-record skip");
    assert_eq!(results.kept_names(), ["a.parquet", "c.txt"]);
    assert_eq!(
        (results.count("documents"), results.count("skipped")),
        (4, 2)
    );
}

#[test]
fn an_empty_file_among_others_is_skipped_and_its_neighbours_keep_their_names() {
    for batch_mib in [1, 64] {
        let place = Place::new();
        let (one, two) = (text(1, 20), text(2, 20));
        place.write("a.jsonl", json_lines([&one, &two]));
        place.write("b.jsonl", "");
        place.write("c.jsonl", json_lines([&text(3, 20), &two]));
        let arguments =
            format!("a.jsonl b.jsonl c.jsonl --on-bad-record skip --batch-mib {batch_mib}");
        let results = place.dedup(&arguments);
        assert_eq!(results.report["empty_files"], json!(["b.jsonl"]));
        assert_eq!(
            (results.count("documents"), results.count("skipped")),
            (4, 0)
        );
        let [removed] = &results.removed[..] else {
            panic!("{:?}", results.removed);
        };
        assert_eq!(removed["id"], "c.jsonl:1");
        assert_eq!(removed["kept_id"], "a.jsonl:1");
    }
}

#[test]
fn a_truncated_stream_is_an_error_even_where_bad_records_are_skipped() {
    let place = Place::new();
    let whole = gzip(&json_lines([text(1, 200)]));
    place.write("in.jsonl.gz", &whole[..whole.len() / 2]);
    no_command_reads(
        &place,
        "in.jsonl.gz --on-bad-record skip",
        &["in.jsonl.gz", "is cut off"],
    );
}

// Inputs that change between the passes

/// Does something to the input as soon as a stage begins: nothing is left to chance.
struct Meddler<'a> {
    stage: &'static str,
    meddle: &'a (dyn Fn() + Sync),
    has_meddled: AtomicBool,
}

impl Progress for Meddler<'_> {
    fn begin(&self, stage: &'static str, _: u64) {
        if stage == self.stage {
            (self.meddle)();
            self.has_meddled.store(true, Ordering::Relaxed);
        }
    }

    fn advance(&self, _: u64, _: u64, _: u64) {}

    fn tell(&self, _: &str) {}

    fn warn(&self, _: &str) {}
}

/// Deduplicates `input`, to which `meddle` happens when `stage` begins, and gives the error.
fn dedup_meddled(
    place: &Place,
    input: &Path,
    stage: &'static str,
    meddle: &(dyn Fn() + Sync),
) -> String {
    let scheme = Scheme::default();
    let shingler = Shingler::new(Shingling::default(), &scheme, None).unwrap();
    let inputs = Inputs::find(&[input.to_owned()], None, &place.path("stdin")).unwrap();
    let progress = Meddler {
        stage,
        meddle,
        has_meddled: AtomicBool::new(false),
    };
    let source = Source {
        inputs: &inputs,
        fields: &Fields::default(),
        on_bad_record: OnBadRecord::Fail,
        unique_ids: false,
        batch_bytes: 1 << 20,
        shingler: &shingler,
        signer: &*Backend::Auto.signer(&scheme).unwrap(),
        progress: &progress,
    };
    let task = Dedup {
        search: Search {
            threshold: 0.8,
            banding: Banding::for_threshold(0.8, 128, ErrorWeights::VERIFIED).unwrap(),
            verification: Verification::Exact,
            max_bucket: 4096,
            held_bytes: 0,
        },
        clustering: Clustering::Greedy,
        keep: KeepPolicy::First,
    };
    let folder = OutputFolder::open(&place.path("out"), true).unwrap();
    let outcome = simgpu::jobs::dedup(&source, &scheme, &task, folder, &|_| Value::Null);
    assert!(
        progress.has_meddled.load(Ordering::Relaxed),
        "there is no stage {stage}"
    );
    leaves_no_output(place);
    outcome.expect_err("the change was not noticed").to_string()
}

#[test]
fn an_input_that_changes_between_the_passes_is_refused() {
    let near_duplicates = [
        text(1, 50),
        support::edited(&text(1, 50), 1, 1),
        text(2, 50),
    ];
    let lines = json_lines(&near_duplicates);
    let longer = [lines.clone(), json_lines(["one more"])].concat();
    let shorter = json_lines(&near_duplicates[..2]);
    let mut one_letter_differs = lines.clone();
    let at = lines.len() - 5;
    one_letter_differs[at] ^= 1;
    let mut one_line_more = lines.clone();
    one_line_more[20] = b'\n';
    let place = Place::new();
    for stage in ["read again", "write"] {
        for (name, before, after) in [
            ("longer.jsonl", lines.clone(), longer.clone()),
            ("shorter.jsonl", lines.clone(), shorter.clone()),
            ("differs.jsonl", lines.clone(), one_letter_differs.clone()),
            ("breaks.jsonl", lines.clone(), one_line_more.clone()),
            ("longer.jsonl.gz", gzip(&lines), gzip(&longer)),
            ("differs.jsonl.zst", zstd(&lines), zstd(&one_letter_differs)),
            (
                "table.parquet",
                parquet([("text", strings(&near_duplicates))]),
                parquet([("text", strings(&near_duplicates[..2]))]),
            ),
        ] {
            place.write(name, before);
            let path = place.path(name);
            let modified = path.metadata().unwrap().modified().unwrap();
            // The time of the change is hidden, so that the contents must tell.
            let meddle = || {
                fs::write(&path, &after).unwrap();
                File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_modified(modified)
                    .unwrap();
            };
            let error = dedup_meddled(&place, &path, stage, &meddle);
            assert!(error.contains(name), "{stage}: {error}");
            let says = "changed while it was being read; run again when nothing writes to it";
            assert!(error.contains(says), "{stage} of {name}: {error}");
        }
    }
}

#[test]
fn an_input_that_is_cut_off_or_gone_in_the_second_pass_is_refused() {
    let lines = json_lines([text(1, 50), support::edited(&text(1, 50), 1, 1)]);
    let place = Place::new();
    for stage in ["read again", "write"] {
        place.write("in.jsonl.gz", gzip(&lines));
        let path = place.path("in.jsonl.gz");
        let whole = gzip(&lines);
        let cut = || fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(dedup_meddled(&place, &path, stage, &cut).contains("in.jsonl.gz"));
        place.write("in.jsonl.gz", gzip(&lines));
        let delete = || fs::remove_file(&path).unwrap();
        assert!(dedup_meddled(&place, &path, stage, &delete).contains("in.jsonl.gz"));
    }
}

// Anything at all

/// Damages one to three bytes of a file in so many ways; each must be read, or refused with an error.
#[track_caller]
fn no_damage_makes_it_panic(name: &str, whole: &[u8], ways: u64) {
    let place = Place::new();
    let mut panics = Vec::new();
    for seed in 0..ways {
        let mut numbers = Numbers(seed);
        let mut damaged = whole.to_vec();
        for _ in 0..1 + numbers.below(3) {
            let at = numbers.below(damaged.len());
            damaged[at] = numbers.next().to_le_bytes()[0];
        }
        place.write(name, &damaged);
        let run = place.run(&format!(
            "dedup {name} -o out --overwrite --quiet --threads 1"
        ));
        if !matches!(run.code, Some(0 | 1)) || run.stderr.contains("panicked") {
            panics.push(format!(
                "seed {seed}, exit code {:?}: {}",
                run.code, run.stderr
            ));
        }
    }
    assert!(
        panics.is_empty(),
        "{} of {ways}: {}",
        panics.len(),
        panics.concat()
    );
}

#[test]
fn no_damage_to_lines_makes_it_panic() {
    let lines = json_lines([text(1, 10), text(2, 10)]);
    no_damage_makes_it_panic("in.jsonl", &lines, 30);
    no_damage_makes_it_panic("in.jsonl.gz", &gzip(&lines), 30);
    no_damage_makes_it_panic("in.jsonl.zst", &zstd(&lines), 30);
}

#[test]
fn no_damage_to_a_table_makes_it_panic() {
    let texts = strings([text(1, 10), text(2, 10)]);
    let table = parquet([("id", strings(["a", "b"])), ("text", texts)]);
    no_damage_makes_it_panic("in.parquet", &table, 150);
}
