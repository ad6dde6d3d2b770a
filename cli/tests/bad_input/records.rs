//! Bad records: the error names the file, the line or row, and the problem.

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
fn a_missing_field_is_refused() {
    third_line_is_refused(br#"{"title": "no text"}"#, "there is no field \"text\"");
    third_line_is_refused(br#"{"text": null}"#, "field \"text\" is null");
}

#[test]
fn a_missing_field_names_the_others() {
    let place = Place::new();
    for (record, options, says) in [
        (
            "{\"key\": 1, \"body\": \"x\"}",
            "",
            "there is no field \"text\"; its fields are \"key\", \"body\"; choose one with --text-field",
        ),
        ("{}", "", "there is no field \"text\"; it has no fields"),
        (
            "{\"meta\": {\"body\": \"x\"}}",
            "--text-field meta.text",
            "there is no field \"meta.text\"; of \"meta\", its field is \"body\"",
        ),
        (
            "{\"text\": \"x\", \"key\": 1}",
            "--id-field uid",
            "there is no id field \"uid\"; its fields are \"text\", \"key\"; choose one with --id-field",
        ),
        (
            "{\"words\": [1]}",
            "--unit tokens",
            "there is no field \"tokens\"; its field is \"words\"; choose one with --tokens-field",
        ),
    ] {
        for (name, file) in [
            ("in.jsonl", format!("{record}\n")),
            ("in.json", format!("[{record}]")),
        ] {
            place.write(name, file);
            every_command_refuses(&place, &format!("{name} {options}"), &[name, says]);
        }
    }
}

#[test]
fn each_field_option_names_the_fields() {
    let place = Place::new();
    place.write(
        "d.jsonl",
        lines_of([json!({"key": 1, "text": "one two three four five six seven"})]),
    );
    place.write("r.jsonl", lines_of([json!({"who": 1, "what": "a"})]));
    place.write("links/links.jsonl", "");
    place.write("pairs.jsonl", "{\"id_a\": 1, \"id_b\": 2}\n");
    let listed = "its fields are \"what\", \"who\"";
    for (command, code, says) in [
        (
            "link r.jsonl --fields what --id-field id",
            1,
            [
                "r.jsonl, line 1 (row 0): there is no field \"id\"",
                listed,
                "choose one with --id-field",
            ],
        ),
        (
            "ratings r.jsonl",
            1,
            [
                "there is no field \"user\"",
                listed,
                "choose one with --user-field",
            ],
        ),
        (
            "ratings r.jsonl --user-field who",
            1,
            [
                "there is no field \"item\"",
                listed,
                "choose one with --item-field",
            ],
        ),
        (
            "ratings r.jsonl --user-field who --item-field what",
            1,
            [
                "there is no field \"rating\"",
                listed,
                "choose one with --rating-field",
            ],
        ),
        (
            "ratings r.jsonl --user-field who --item-field what --rating-field who --time-field at",
            1,
            [
                "there is no field \"at\"",
                listed,
                "choose one with --time-field",
            ],
        ),
        (
            "ratings r.jsonl --as seen --user-field who --item-field what --names d.jsonl --name-id-field key",
            1,
            [
                "d.jsonl: no item has a name, and no record a field \"name\"",
                "its fields are \"key\", \"text\"",
                "--name-id-field and --name-field",
            ],
        ),
        (
            "evaluate pairs.jsonl --truth r.jsonl --truth-fields a,b",
            1,
            [
                "r.jsonl: line 1: there is no field \"a\"",
                listed,
                "choose one with --truth-fields",
            ],
        ),
        (
            "evaluate pairs.jsonl --truth r.jsonl --entity-field what --id-field id",
            1,
            [
                "there is no field \"id\"",
                listed,
                "choose one with --id-field",
            ],
        ),
        (
            "evaluate pairs.jsonl --truth r.jsonl --entity-field entity --id-field who",
            1,
            [
                "no record has a value in field \"entity\"",
                listed,
                "choose the field with --entity-field",
            ],
        ),
        (
            "dedup d.jsonl --keep-by date",
            2,
            [
                "--keep-by is \"date\"",
                "give a field that a document has",
                "its fields are \"key\", \"text\"",
            ],
        ),
        (
            "dedup d.jsonl --against r.jsonl",
            1,
            [
                "there is no field \"text\"",
                listed,
                "choose one with --against-text-field",
            ],
        ),
        (
            "dedup d.jsonl --against r.jsonl --against-text-field what --against-id-field id",
            1,
            [
                "there is no id field \"id\"",
                listed,
                "choose one with --against-id-field",
            ],
        ),
    ] {
        let output = match command.split(' ').next() {
            Some("evaluate") => "",
            Some("ratings") => "-o out.jsonl",
            _ => "-o out",
        };
        let run = place.run(&format!("{command} {output}"));
        run.refused(code, &says);
    }

    // If results may be missing, a warning says so.
    for (command, says) in [
        (
            "link r.jsonl --fields what,name",
            format!("no record of r.jsonl has a value in field \"name\"; {listed}; check --fields"),
        ),
        (
            "link r.jsonl --fields name",
            format!("no record of r.jsonl has a value in field \"name\"; {listed}; check --fields"),
        ),
        (
            "dedup d.jsonl --source-field site",
            "no document has a value in field \"site\"; its fields are \"key\", \"text\"; check --source-field"
                .to_owned(),
        ),
        (
            "contain d.jsonl --against r.jsonl --item-fields what --item-id-field id",
            format!("no item has a value in field \"id\"; {listed}; check --item-id-field"),
        ),
        (
            "contain d.jsonl --against r.jsonl --item-fields what,context --benchmark-field who",
            format!("no item has a value in field \"context\"; {listed}; check --item-fields"),
        ),
    ] {
        let run = place.run(&format!("{command} -o out --overwrite")).succeeded();
        let warning = format!("warning: {says}\n");
        assert_eq!(run.stderr.matches("warning").count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains(&warning), "{command}: {}", run.stderr);
    }
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
fn a_field_of_another_type_is_refused() {
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
        b"{\"text\": \"caf\xC3\"}",
        "invalid UTF-8 at byte 13 of the line; correct",
    );
}

#[test]
fn invalid_utf_8_in_text_files_is_refused() {
    let place = Place::new();
    place.write("docs/a.txt", "a good one");
    place.write("docs/b.txt", b"damage: caf\xC3");
    let phrases = [
        "docs/b.txt, row 0",
        "invalid UTF-8 at byte 11; correct",
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
fn a_record_without_any_text_field_is_refused() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        lines_of([
            json!({"a": "x"}),
            json!({"b": "y", "a": null}),
            json!({"a": null}),
        ]),
    );
    let fields = "--text-field a --text-field b";
    let phrases = [
        "in.jsonl, line 3",
        "the fields \"a\" and \"b\" are missing or null",
    ];
    every_command_refuses(&place, &format!("in.jsonl {fields}"), &phrases);
    place.write("in.jsonl", lines_of([json!({"a": "x", "b": 1})]));
    let phrases = ["in.jsonl, line 1", "field \"b\" is a number, not a string"];
    every_command_refuses(&place, &format!("in.jsonl {fields}"), &phrases);
    let texts =
        |texts: [Option<&str>; 2]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let columns = [("a", texts([Some("x"), None])), ("b", texts([None, None]))];
    place.write("in.parquet", parquet(columns));
    let phrases = ["in.parquet, row 1: columns \"a\" and \"b\" are null"];
    every_command_refuses(&place, &format!("in.parquet {fields}"), &phrases);
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
