//! Bad files: cut off, damaged, empty, missing, or tables without the column.

use std::fs;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array};

use crate::refusals::{every_command_refuses, leaves_no_output};
use crate::support::{Place, gzip, json_lines, parquet, strings, text, zstd};

#[test]
fn a_truncated_gzip_stream_is_refused() {
    let whole = gzip(&json_lines([text(1, 200), text(2, 200)]));
    let place = Place::new();
    // Cut in the header, in the data, in the checksum at the end.
    for cut in [3, 12, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
        place.write("in.jsonl.gz", &whole[..cut]);
        let phrases = [
            "in.jsonl.gz",
            "the gzip stream is cut off",
            "get the file again",
        ];
        every_command_refuses(&place, "in.jsonl.gz", &phrases);
    }
    let mut second_member_cut = gzip(&json_lines(["a whole member"]));
    second_member_cut.extend_from_slice(&whole[..whole.len() / 2]);
    place.write("in.jsonl.gz", second_member_cut);
    every_command_refuses(
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
        let phrases = [
            "in.jsonl.zst",
            "the zstd stream is cut off",
            "get the file again",
        ];
        every_command_refuses(&place, "in.jsonl.zst", &phrases);
    }
    let mut second_frame_cut = zstd(&json_lines(["a whole frame"]));
    second_frame_cut.extend_from_slice(&whole[..whole.len() / 2]);
    place.write("in.jsonl.zst", second_frame_cut);
    every_command_refuses(
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
    every_command_refuses(
        &place,
        "in.jsonl.gz",
        &["in.jsonl.gz", "the gzip stream is damaged"],
    );
    let trailing_garbage = [zstd(&lines), b"and then something else".to_vec()].concat();
    place.write("in.jsonl.zst", trailing_garbage);
    every_command_refuses(
        &place,
        "in.jsonl.zst",
        &["in.jsonl.zst", "the zstd stream is damaged"],
    );
}

#[test]
fn a_truncated_stream_on_stdin_is_refused() {
    let whole = gzip(&json_lines([text(1, 200)]));
    let place = Place::new();
    let run = place.run_with_stdin("dedup - -o out", &whole[..whole.len() / 2]);
    run.refused(1, &["stdin", "the gzip stream is cut off"]);
    leaves_no_output(&place);
}

#[test]
fn a_truncated_stream_is_never_skipped() {
    let place = Place::new();
    let whole = gzip(&json_lines([text(1, 200)]));
    place.write("in.jsonl.gz", &whole[..whole.len() / 2]);
    every_command_refuses(
        &place,
        "in.jsonl.gz --on-bad-record skip",
        &["in.jsonl.gz", "is cut off"],
    );
}

#[test]
fn a_table_without_the_column_is_refused() {
    let place = Place::new();
    place.write("in.parquet", parquet([("body", strings(["a", "b"]))]));
    let phrases = ["in.parquet", "there is no column \"text\"", "--text-field"];
    every_command_refuses(&place, "in.parquet", &phrases);
    let phrases = [
        "in.parquet",
        "there is no column \"body.text\"",
        "--text-field",
    ];
    every_command_refuses(&place, "in.parquet --text-field body.text", &phrases);
    let phrases = ["in.parquet", "there is no id column \"key\"", "--id-field"];
    every_command_refuses(
        &place,
        "in.parquet --text-field body --id-field key",
        &phrases,
    );
}

#[test]
fn a_column_of_another_type_is_refused() {
    let place = Place::new();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    place.write("in.parquet", parquet([("text", numbers)]));
    let phrases = [
        "in.parquet",
        "column \"text\" holds Int64, not strings; choose the column with --text-field\n",
    ];
    every_command_refuses(&place, "in.parquet", &phrases);
    let list = || {
        let mut list = ListBuilder::new(StringBuilder::new());
        list.append_value([Some("a"), Some("b")]);
        list.finish()
    };
    let columns: [(&str, ArrayRef); 2] = [("text", Arc::new(list())), ("flat", strings(["a"]))];
    place.write("in.parquet", parquet(columns));
    let phrases = [
        "column \"text\" holds List",
        "not strings; pass --unit tokens and --tokens-field text, or choose the column with --text-field\n",
    ];
    every_command_refuses(&place, "in.parquet", &phrases);
}

#[test]
fn an_invalid_parquet_file_is_refused() {
    let whole = parquet([("text", strings(["a", "b"]))]);
    let place = Place::new();
    for bytes in [&whole[..whole.len() - 20], b"PAR1", b"{\"text\": \"a\"}\n"] {
        place.write("in.parquet", bytes);
        every_command_refuses(&place, "in.parquet", &["in.parquet", "get the file again"]);
    }
}

#[test]
fn a_missing_file_is_refused() {
    let place = Place::new();
    place.write("folder/readme", "");
    fs::create_dir(place.path("nothing")).unwrap();
    every_command_refuses(
        &place,
        "gone.jsonl",
        &["gone.jsonl: no such file", "check the name"],
    );
    every_command_refuses(
        &place,
        "folder/*.jsonl",
        &["folder/*.jsonl: no file matches", "check the name"],
    );
    every_command_refuses(
        &place,
        "nothing",
        &["nothing: the folder holds no file", "choose a folder"],
    );
}
