//! `--keep-by` and `--prefer-source`: which document is kept.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, TimestampMillisecondArray};
use serde_json::{Value, json};

use crate::support::{Place, lines_of, parquet, strings};

/// The id of the document that is kept of identical ones with these values; ids count from 0.
#[track_caller]
fn kept_of(values: &[Value], keep_by: &str) -> u64 {
    let place = Place::new();
    let record = |(id, value): (usize, &Value)| json!({"id": id, "text": "same", "v": value});
    place.write("in.jsonl", lines_of(values.iter().enumerate().map(record)));
    only_kept(&place, "in.jsonl", keep_by)
}

#[track_caller]
fn only_kept(place: &Place, input: &str, keep_by: &str) -> u64 {
    let results = place.dedup(&format!("{input} --keep-by {keep_by}"));
    assert_eq!(results.count("kept"), 1);
    results.removed[0]["kept_row"].as_u64().unwrap()
}

#[test]
fn numbers_compare_as_numbers() {
    let exact = [
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_993_u64),
    ];
    assert_eq!(kept_of(&exact, "v"), 1);
    assert_eq!(kept_of(&exact, "v:asc"), 0);
    assert_eq!(kept_of(&exact, "v:desc"), 1);
    assert_eq!(kept_of(&[json!(9), json!(10), json!(-11.5)], "v"), 1);
    assert_eq!(kept_of(&[json!(9), json!(10), json!(-11.5)], "v:asc"), 2);
    assert_eq!(kept_of(&[json!("9"), json!("10")], "v"), 1);
    assert_eq!(kept_of(&[json!(u64::MAX - 1), json!(u64::MAX)], "v"), 1);
}

#[test]
fn dates_compare_as_instants() {
    let dates = [
        json!("2024-05-01T12:00:00+05:00"),
        json!("2024-05-01T08:00:00Z"),
        json!("2024-05-01"),
    ];
    assert_eq!(kept_of(&dates, "v"), 1);
    assert_eq!(kept_of(&dates, "v:asc"), 2);
}

#[test]
fn missing_values_lose_and_ties_go_to_the_first() {
    for keep_by in ["v", "v:asc"] {
        assert_eq!(
            kept_of(&[json!(null), json!(""), json!(3), json!(3)], keep_by),
            2
        );
    }
    let place = Place::new();
    let records = [
        json!({"text": "same"}),
        json!({"text": "same", "a": {"b": 1}}),
    ];
    place.write("in.jsonl", lines_of(records));
    assert_eq!(only_kept(&place, "in.jsonl", "a.b"), 1);
}

#[test]
fn mixed_values_compare_as_strings_with_a_warning() {
    let place = Place::new();
    let values = [json!(10), json!(9), json!("8 or so")];
    let records = values.map(|value| json!({"text": "same", "v": value}));
    place.write("in.jsonl", lines_of(records));
    let run = place.run("dedup in.jsonl -o out --keep-by v").succeeded();
    assert!(
        run.stderr.contains("warning: some values of --keep-by v"),
        "{}",
        run.stderr
    );
    assert_eq!(only_kept(&place, "in.jsonl", "v"), 1);
    let run = place.run("dedup in.jsonl -o o2 --keep-by text").succeeded();
    assert!(!run.stderr.contains("some values"), "{}", run.stderr);
}

#[test]
fn columns_of_tables_have_values() {
    let place = Place::new();
    let texts = || strings(["same", "same", "same"]);
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.5, f64::NAN, f64::INFINITY]));
    place.write("f.parquet", parquet([("text", texts()), ("v", floats)]));
    assert_eq!(only_kept(&place, "f.parquet", "v"), 2);
    assert_eq!(only_kept(&place, "f.parquet", "v:asc"), 0);
    let times = TimestampMillisecondArray::from(vec![Some(5), None, Some(1_700_000_000_000)]);
    let times: ArrayRef = Arc::new(times.with_timezone("UTC"));
    place.write("t.parquet", parquet([("text", texts()), ("v", times)]));
    assert_eq!(only_kept(&place, "t.parquet", "v"), 2);
    // Dates of both formats are one column.
    place.write("both/a.parquet", place.read("t.parquet"));
    let newer = json!({"text": "same", "v": "2024-01-01"});
    place.write("both/b.jsonl", lines_of([newer]));
    assert_eq!(
        place.dedup("both --keep-by v").removed[0]["kept_file"],
        "b.jsonl"
    );
}

#[test]
fn values_without_an_order_are_refused() {
    let place = Place::new();
    let records = [json!({"text": "a", "v": 1}), json!({"text": "b", "v": [1]})];
    place.write("in.jsonl", lines_of(records));
    let run = place.run("dedup in.jsonl -o out --keep-by v");
    run.refused(1, &["in.jsonl", "line 2", "\"v\" is an array", "--keep-by"]);
    let run = place.run("dedup in.jsonl -o out --keep-by w");
    run.refused(2, &["--keep-by is \"w\"", "a field that a document has"]);
    let run = place.run("dedup in.jsonl -o out --keep-by v --keep longest");
    run.refused(2, &["--keep longest and --keep-by"]);
}

#[test]
fn preferred_sources_come_first() {
    let place = Place::new();
    for (file, score) in [("web/a.jsonl", 9), ("wiki/b.jsonl", 1), ("wiki/c.jsonl", 2)] {
        place.write(
            &format!("docs/{file}"),
            lines_of([json!({"text": "same", "score": score})]),
        );
    }
    let kept = |options: &str| {
        let results = place.dedup(&format!("docs {options}"));
        results.removed[0]["kept_file"].as_str().unwrap().to_owned()
    };
    assert_eq!(kept(""), "web/a.jsonl");
    assert_eq!(kept("--prefer-source wiki/*"), "wiki/b.jsonl");
    assert_eq!(kept("--prefer-source c.jsonl,wiki/*"), "wiki/c.jsonl");
    assert_eq!(
        kept("--prefer-source wiki/* --keep-by score"),
        "wiki/c.jsonl"
    );
    assert_eq!(kept("--keep-by score"), "web/a.jsonl");
    let run = place
        .run("dedup docs -o o2 --prefer-source nothing")
        .succeeded();
    assert!(
        run.stderr.contains("--prefer-source nothing: none matches"),
        "{}",
        run.stderr
    );
    let run = place.run("dedup docs -o o3 --prefer-source [");
    run.refused(2, &["a glob is \"[\""]);
}
