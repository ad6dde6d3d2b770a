//! `--on-bad-record skip`: bad records are left out, counted and listed.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, StringArray};
use serde_json::json;

use super::refusals::every_command_refuses;
use crate::support::{Place, json_lines, lines_of, parquet, text};

#[test]
fn skipped_records_are_counted_and_listed() {
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
fn skipped_rows_and_text_files_are_not_kept() {
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
fn a_run_without_a_good_record_is_refused() {
    let place = Place::new();
    place.write("in.jsonl", "\nnot JSON\n{}\n");
    let phrases = [
        "every record is bad, the first in in.jsonl, line 2 (row 0): invalid JSON",
        "--format",
        "--text-field",
    ];
    every_command_refuses(&place, "in.jsonl --on-bad-record skip --quiet", &phrases);
    place.write("good.jsonl", json_lines(["a"]));
    let results = place.dedup("in.jsonl good.jsonl --on-bad-record skip");
    assert_eq!((results.count("kept"), results.count("skipped")), (1, 2));
}

#[test]
fn a_column_of_nulls_holds_bad_records() {
    let place = Place::new();
    let nulls = || -> ArrayRef { Arc::new(NullArray::new(2)) };
    place.write("docs/a.parquet", parquet([("text", nulls())]));
    place.write("docs/b.jsonl", json_lines(["a", "b"]));
    let phrases = [
        "a.parquet, row 0: column \"text\" is null",
        "--on-bad-record skip",
    ];
    every_command_refuses(&place, "docs", &phrases);
    let results = place.dedup("docs --on-bad-record skip");
    assert_eq!((results.count("kept"), results.count("skipped")), (2, 2));
    // Beside another column, it is a missing value.
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let columns = [("text", texts), ("title", nulls()), ("id", nulls())];
    place.write("c.parquet", parquet(columns));
    let results = place.dedup("c.parquet --text-field title --text-field text");
    assert_eq!(results.count("kept"), 2);
    assert_eq!(results.kept_names(), ["c.parquet"]);
}
