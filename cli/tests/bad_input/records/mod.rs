//! Bad records: the error names the file, the line or row, and the problem.

mod fields;

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use serde_json::json;

use super::refusals::{every_command_refuses, leaves_no_output};
use crate::support::{Place, Results, json_lines, lines_of, parquet};

/// A file of four lines: the third is `record`, the others are good.
fn with_third_line(record: &[u8]) -> Vec<u8> {
    let good = json_lines(["first document", "second document"]);
    [&good, record, b"\n", &json_lines(["the last document"])].concat()
}

#[track_caller]
fn third_line_is_refused(record: &[u8], problem: &str) {
    let place = Place::new();
    place.write("docs/in.jsonl", with_third_line(record));
    let phrases = ["docs/in.jsonl, line 3", problem, "--on-bad-record skip"];
    every_command_refuses(&place, "docs/in.jsonl", &phrases);
}

#[test]
fn an_invalid_json_line_is_refused() {
    third_line_is_refused(br#"{"text": "no end"#, "invalid JSON");
    third_line_is_refused(br#"{"text": "a"} {"text": "b"}"#, "invalid JSON");
    third_line_is_refused(b"not JSON", "invalid JSON");
    third_line_is_refused(b"[\"a\"]", "the record is an array, not an object");
}

#[test]
fn values_that_json_lacks_are_named() {
    for (number, column) in [("NaN", 26), ("Infinity", 26), ("-Infinity", 26)] {
        third_line_is_refused(
            format!("{{\"text\": \"aé\", \"score\": {number}}}").as_bytes(),
            &format!("invalid JSON: {number} at column {column} is no number of JSON; write null"),
        );
        third_line_is_refused(
            format!("{{\"score\":[1,{number}], \"text\": \"a\"}}").as_bytes(),
            &format!("invalid JSON: {number} at column 13 is no number of JSON; write null"),
        );
    }
    let mark = "there is a byte order mark at column 1, as where files were joined";
    third_line_is_refused("\u{FEFF}{\"text\": \"a\"}".as_bytes(), mark);
    let place = Place::new();
    place.write(
        "in.json",
        "[{\"text\": \"a\"},\n{\"text\":\n \"b\", \"x\": NaN}]",
    );
    let says = "invalid JSON: NaN at line 3 column 12 is no number of JSON";
    every_command_refuses(&place, "in.json", &["in.json, line 2 (row 1)", says]);
    place.write("in.csv", "\u{FEFF}id,text\n1,a\n\u{FEFF}2,b\n");
    let says = "in.csv, line 3 (row 1): the record begins with a byte order mark";
    every_command_refuses(&place, "in.csv", &[says]);
}

#[test]
fn invalid_utf_8_is_refused() {
    third_line_is_refused(
        b"{\"text\": \"caf\xC3\"}",
        r#"invalid UTF-8 at byte 13 of the line, in "{\"text\": \"caf\xc3\"}"; correct"#,
    );
}

#[test]
fn invalid_utf_8_in_text_files_is_refused() {
    let place = Place::new();
    place.write("docs/a.txt", "a good one");
    place.write("docs/b.txt", b"damage: caf\xC3");
    let phrases = [
        "docs/b.txt, row 0",
        r#"invalid UTF-8 at byte 11, in "damage: caf\xc3"; correct"#,
        "--on-bad-record skip",
    ];
    every_command_refuses(&place, "docs", &phrases);
}

#[test]
fn a_null_in_a_table_is_refused() {
    let place = Place::new();
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    place.write("in.parquet", parquet([("text", texts)]));
    let phrases = [
        "in.parquet, row 1",
        "column \"text\" is null",
        "--on-bad-record skip",
    ];
    every_command_refuses(&place, "in.parquet", &phrases);
}

#[test]
fn a_record_without_the_named_id_is_refused() {
    let place = Place::new();
    let records = [json!({"text": "a", "key": 1}), json!({"text": "b"})];
    place.write("in.jsonl", lines_of(records));
    let phrases = [
        "in.jsonl, line 2",
        "there is no id field \"key\"",
        "--on-bad-record skip",
    ];
    every_command_refuses(&place, "in.jsonl --id-field key", &phrases);
}

#[test]
fn line_numbers_match_an_editor() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "\u{FEFF}{\"text\": \"a\"}\r\n\r\n \t\n{\"text\": \"b\"}\n{\"text\"}\n",
    );
    every_command_refuses(&place, "in.jsonl", &["in.jsonl, line 5", "invalid JSON"]);
}

#[test]
fn line_numbers_count_across_batches() {
    // The bad line follows several chunks, in a later batch.
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
fn tokens_of_another_type_are_refused() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"tokens\": [1, \"a\"]}\n{\"tokens\": [1, {}]}\n",
    );
    let phrases = [
        "in.jsonl, line 2",
        "field \"tokens\" holds an object among its tokens",
    ];
    every_command_refuses(&place, "in.jsonl --unit tokens", &phrases);
    place.write("in.jsonl", "{\"tokens\": \"a b\"}\n");
    let phrases = [
        "in.jsonl, line 1",
        "field \"tokens\" is a string, not an array",
    ];
    every_command_refuses(&place, "in.jsonl --unit tokens", &phrases);
}

#[test]
fn unique_ids_refuses_a_repeated_id() {
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
    let phrases = [
        "7 is the id of two documents",
        "a/in.jsonl, row 1",
        "b/in.jsonl, row 1",
        "--unique-ids",
    ];
    every_command_refuses(&place, "a/in.jsonl b/in.jsonl --unique-ids", &phrases);
    // Without the flag, repeated ids are legal, counted and reported.
    let run = place.run("dedup a/in.jsonl b/in.jsonl -o out").succeeded();
    assert!(
        run.stderr.contains("1 document repeats an earlier id"),
        "{}",
        run.stderr
    );
    let results = Results::of(&place.path("out"));
    assert_eq!(results.count("repeated_ids"), 1);
}

#[test]
fn a_short_record_has_no_value_to_keep_by() {
    let place = Place::new();
    for rows in [
        "1,one two three,5\nonly one field\n",
        "1,one two three,5\n2,two fields\n",
    ] {
        place.write("in.csv", format!("id,text,score\n{rows}"));
        let command = "dedup in.csv --keep-by score --output out --overwrite";
        place
            .run(command)
            .refused(1, &["in.csv", "and the header 3"]);
        let skipped = place.run(&format!("{command} --on-bad-record skip"));
        assert!(skipped.succeeded().stderr.contains("skipped  1"));
    }
}
