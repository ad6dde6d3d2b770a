//! Ids of records.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Date32Array, Date64Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int64Array, RecordBatch, Time32SecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use crate::support::{Place, Results, lines_of, parquet, strings, text};

/// Deduplicates two records with the same text; returns the removed id and the kept id.
fn removal_of(place: &Place, records: [Value; 2], options: &str) -> (Value, Value) {
    place.write("in.jsonl", lines_of(records));
    let results = place.dedup(&format!("in.jsonl {options}"));
    let [removed] = &results.removed[..] else {
        panic!("{:?}", results.removed);
    };
    (removed["id"].clone(), removed["kept_id"].clone())
}

#[test]
fn ids_are_fields_or_positions() {
    let place = Place::new();
    let same = text(1, 20);
    for (first, second, options, id, kept_id) in [
        (
            json!({"id": "a"}),
            json!({"id": "b"}),
            "",
            json!("b"),
            json!("a"),
        ),
        (json!({"id": 1}), json!({"id": -2}), "", json!(-2), json!(1)),
        (
            json!({"id": 1}),
            json!({"id": "1"}),
            "",
            json!("1"),
            json!(1),
        ),
        (
            json!({"id": u64::MAX}),
            json!({"id": 0}),
            "",
            json!(0),
            json!(u64::MAX),
        ),
        (
            json!({"id": "\"é\n"}),
            json!({"id": ""}),
            "",
            json!(""),
            json!("\"é\n"),
        ),
        // If one record lacks an id, or has one of another type, positions replace all ids.
        (
            json!({"id": "a"}),
            json!({}),
            "",
            json!("in.jsonl:1"),
            json!("in.jsonl:0"),
        ),
        (
            json!({}),
            json!({"id": 3}),
            "",
            json!("in.jsonl:1"),
            json!("in.jsonl:0"),
        ),
        (
            json!({"id": 1.5}),
            json!({"id": 3.0}),
            "",
            json!(3.0),
            json!(1.5),
        ),
        (
            json!({"id": true}),
            json!({"id": 3}),
            "",
            json!("in.jsonl:1"),
            json!("in.jsonl:0"),
        ),
        (
            json!({"id": null}),
            json!({"id": 3}),
            "",
            json!("in.jsonl:1"),
            json!("in.jsonl:0"),
        ),
        (
            json!({"key": 1, "id": 8}),
            json!({"key": 2}),
            "--id-field key",
            json!(2),
            json!(1),
        ),
        (
            json!({"m": {"key": "x"}}),
            json!({"m": {"key": 2}}),
            "--id-field m.key",
            json!(2),
            json!("x"),
        ),
    ] {
        let with_text = |mut record: Value| {
            record["text"] = json!(same);
            record
        };
        let records = [with_text(first), with_text(second)];
        let removal = removal_of(&place, records.clone(), options);
        assert_eq!(removal, (id, kept_id), "{records:?}");
    }
}

#[test]
fn integer_ids_of_tables_stay_integers() {
    let texts = || strings([text(1, 20), text(1, 20)]);
    let columns: [(ArrayRef, Value); 4] = [
        (
            Arc::new(arrow_array::Int8Array::from(vec![1, -2])),
            json!(-2),
        ),
        (
            Arc::new(arrow_array::UInt64Array::from(vec![1, u64::MAX])),
            json!(u64::MAX),
        ),
        (strings(["1", "2"]), json!("2")),
        // A null is no id, so positions replace all ids.
        (
            Arc::new(Int64Array::from(vec![Some(1), None])),
            json!("in.parquet:1"),
        ),
    ];
    let place = Place::new();
    for (ids, expected) in columns {
        place.write("in.parquet", parquet([("id", ids), ("text", texts())]));
        assert_eq!(place.dedup("in.parquet").removed[0]["id"], expected);
    }
}

/// Ids of types whose text has one usual form, and the id of the second row.
fn typed_ids() -> Vec<(ArrayRef, Value)> {
    let moments = || TimestampMillisecondArray::from(vec![0, 1_709_210_096_500]);
    let uuid = |first: u8| -> Vec<u8> { (first..first + 16).collect() };
    let uuids = [uuid(0), uuid(0xA0)];
    vec![
        (Arc::new(Float64Array::from(vec![1.0, 2.0])), json!(2.0)),
        (Arc::new(Float32Array::from(vec![1.0, 0.1])), json!(0.1)),
        (
            Arc::new(Date32Array::from(vec![0, 3_715])),
            json!("1980-03-04"),
        ),
        (
            Arc::new(Date64Array::from(vec![0, 86_400_000])),
            json!("1970-01-02"),
        ),
        (Arc::new(moments()), json!("2024-02-29 12:34:56.500")),
        (
            Arc::new(moments().with_timezone("Europe/Berlin")),
            json!("2024-02-29 12:34:56.500+00:00"),
        ),
        (
            Arc::new(Time32SecondArray::from(vec![0, 45_296])),
            json!("12:34:56"),
        ),
        (
            Arc::new(
                Decimal128Array::from(vec![100, 150])
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
            json!("1.50"),
        ),
        (
            Arc::new(
                Decimal128Array::from(vec![100, 150])
                    .with_precision_and_scale(9, 0)
                    .unwrap(),
            ),
            json!(150),
        ),
        (
            Arc::new(FixedSizeBinaryArray::try_from_iter(uuids.into_iter()).unwrap()),
            json!("a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf"),
        ),
    ]
}

/// A table of texts that are equal, with these ids.
fn table_with_ids(ids: &ArrayRef) -> Vec<u8> {
    let is_uuid = matches!(ids.data_type(), DataType::FixedSizeBinary(16));
    let name = ("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned());
    let id = Field::new("id", ids.data_type().clone(), true);
    let id = if is_uuid {
        id.with_metadata([name])
    } else {
        id
    };
    let schema = Schema::new(vec![id, Field::new("text", DataType::Utf8, true)]);
    let columns = vec![Arc::clone(ids), strings([text(1, 20), text(1, 20)])];
    let rows = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn ids_of_any_type_have_usual_text() {
    let place = Place::new();
    for (ids, id) in typed_ids() {
        place.write("in.parquet", table_with_ids(&ids));
        for options in ["", "--id-field id"] {
            let run = place.run(&format!("dedup in.parquet -o out --overwrite {options}"));
            assert!(!run.succeeded().stderr.contains("FILE:ROW"));
            let removed = &Results::of(&place.path("out")).removed[0]["id"];
            assert_eq!(removed, &id, "{} {options}", ids.data_type());
        }
    }
}

#[test]
fn values_that_are_no_ids_are_named() {
    let place = Place::new();
    let flags: ArrayRef = Arc::new(arrow_array::BooleanArray::from(vec![true, false]));
    let digests = FixedSizeBinaryArray::try_from_iter([[1u8; 20], [2; 20]].into_iter()).unwrap();
    place.write("flags.parquet", table_with_ids(&flags));
    place.write(
        "digests.parquet",
        table_with_ids(&(Arc::new(digests) as ArrayRef)),
    );
    let record = |id: Value| json!({"id": id, "text": text(1, 20)});
    place.write("in.jsonl", lines_of([record(json!(1)), record(json!([2]))]));
    for (name, what) in [
        ("flags.parquet", "of type Boolean in flags.parquet, row 0"),
        (
            "digests.parquet",
            "of type FixedSizeBinary(20) in digests.parquet, row 0",
        ),
        ("in.jsonl", "an array in in.jsonl, row 1"),
    ] {
        let run = place
            .run(&format!("dedup {name} -o {name}.out"))
            .succeeded();
        let says = format!(
            "ids are FILE:ROW, because \"id\" is {what}; choose another field with --id-field"
        );
        assert!(run.stderr.contains(&says), "{}", run.stderr);
        let id = format!("{name}:1");
        assert_eq!(
            Results::of(&place.path(&format!("{name}.out"))).removed[0]["id"],
            id
        );
        let required = place.run(&format!("dedup {name} -o required --id-field id"));
        required.refused(1, &[name, "id"]);
    }
}

#[test]
fn ids_beyond_64_bits_are_kept() {
    let place = Place::new();
    let huge = "123456789012345678901234567890";
    let line = |id: &str| format!("{{\"id\": {id}, \"text\": \"same text\"}}\n");
    place.write("in.jsonl", line("1") + &line(huge));
    place.dedup("in.jsonl");
    let removed = String::from_utf8(place.read("out/removed.jsonl")).unwrap();
    assert!(
        removed.starts_with(&format!("{{\"id\":{huge},")),
        "{removed}"
    );
}
