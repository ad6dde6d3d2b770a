//! Records without the field that an option names.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use serde_json::json;

use super::third_line_is_refused;
use crate::bad_input::refusals::every_command_refuses;
use crate::support::{Place, lines_of, parquet};

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
