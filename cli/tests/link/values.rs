//! Which values are equal: order, signs and separators count, and the types of formats do not.

use std::sync::Arc;

use arrow_array::types::Float16Type;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, Date32Array, Date64Array, Decimal32Array, Decimal128Array,
    Decimal256Array, DictionaryArray, DurationMicrosecondArray, DurationSecondArray, Float16Array,
    Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, Time32MillisecondArray,
    Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use serde_json::{Value, json};

use super::{links, report};
use crate::support::{Place, lines_of, parquet, strings};

/// Values of equal words that differ in order, sign or separator.
const UNEQUAL: [[&str; 2]; 12] = [
    ["Kim Lee", "Lee Kim"],
    ["-5.25", "5.25"],
    ["12/5", "5/12"],
    ["1980-03-04", "1980-04-03"],
    ["192.168.1.10", "192.168.10.1"],
    ["10.0.0.1", "10.0.1.1"],
    ["C++", "C#"],
    ["a < b", "a > b"],
    ["New York New York", "New York"],
    ["3 - 2", "2 - 3"],
    ["1:5", "1.5"],
    ["\u{2212}40 C", "40 C"],
];

#[test]
fn equal_values_win_over_equal_words() {
    for [value, other] in UNEQUAL {
        for (a, b) in [(value, other), (other, value)] {
            for score in ["text", "textbook"] {
                let place = Place::new();
                let record = |id: &str, value: &str, city: &str| json!({"id": id, "value": value, "city": city});
                place.write(
                    "a.jsonl",
                    lines_of([record("a1", a, "Bern"), record("a2", "otto zorn", "Genf")]),
                );
                // The rest is equal, or equally different.
                for city in ["Bern", "Berne"] {
                    let others = [
                        record("b1", b, city),
                        record("b2", a, city),
                        record("b3", "uwe yost", "Biel"),
                    ];
                    place.write("b.jsonl", lines_of(others));
                    place
                        .run(&format!("link a.jsonl b.jsonl --fields value,city -o out --overwrite -q -t 0 --score {score}"))
                        .succeeded();
                    let links = links(&place);
                    let of_a1 = links.iter().find(|link| link["id_a"] == "a1").unwrap();
                    assert_eq!(of_a1["id_b"], "b2", "{a} {b} {score} {city}");
                    assert_eq!(of_a1["similarities"]["value"], 1.0);
                }
            }
        }
    }
}

#[test]
fn changed_order_or_sign_scores_below_one() {
    let long = |first: &str| format!("{first} {}", "word and again other words ".repeat(400));
    let (front, back) = (long("one two"), long("two one"));
    for [value, other] in UNEQUAL.into_iter().chain([[&*front, &*back]]) {
        let place = Place::new();
        place.write("a.jsonl", lines_of([json!({"id": 1, "value": value})]));
        place.write("b.jsonl", lines_of([json!({"id": 2, "value": other})]));
        for (score, most) in [("text", 1.0), ("textbook", 100.0)] {
            place
                .run(&format!(
                    "link a.jsonl b.jsonl --fields value -o out --overwrite -q -t 0 --score {score}"
                ))
                .succeeded();
            for link in links(&place) {
                assert!(link["score"].as_f64().unwrap() < most, "{value}: {link}");
                assert!(
                    link["similarity"].as_f64().unwrap() < 1.0,
                    "{value}: {link}"
                );
            }
        }
    }
    // Two fields that changed places have other values, too.
    let place = Place::new();
    place.write(
        "in.csv",
        "id,name,surname\n1,Kim,Lee\n2,Lee,Kim\n3,Kim,Lee\n",
    );
    place
        .run("link in.csv --fields name,surname -o out -q -t 0.5")
        .succeeded();
    let scores: Vec<Value> = links(&place)
        .into_iter()
        .map(|link| link["score"].clone())
        .collect();
    assert_eq!(scores[0], 1.0);
    assert!(
        scores.len() == 2 && scores[1].as_f64().unwrap() < 1.0,
        "{scores:?}"
    );
}

/// Seconds from 1970 to 1980-03-04 12:30:00.
const INSTANT: i64 = 321_021_000;

/// A column of two values, and what other formats make of them.
fn columns() -> Vec<(&'static str, ArrayRef, [&'static str; 2])> {
    let day = 86_400_000_i64;
    let half = |value: f64| <Float16Type as ArrowPrimitiveType>::Native::from_f64(value);
    let dates: Int8Array = vec![1, 0].into();
    let of_days: ArrayRef = Arc::new(Date32Array::from(vec![2160, 3715]));
    let dictionary = DictionaryArray::try_new(dates, of_days).unwrap();
    let instants = ["1980-03-04 12:30:00", "1980-03-05"];
    let precise = ["1980-03-04 12:30:00.25", "1980-03-05"];
    let next = INSTANT + 41_400;
    let decimal = |column: Decimal128Array| column.with_precision_and_scale(10, 2).unwrap();
    vec![
        (
            "date32",
            Arc::new(Date32Array::from(vec![3715, 2160])),
            ["1980-03-04", "1975-12-01"],
        ),
        (
            "date64",
            Arc::new(Date64Array::from(vec![3715 * day, 2160 * day])),
            ["1980-03-04", "1975-12-01"],
        ),
        (
            "dictionary",
            Arc::new(dictionary),
            ["1980-03-04", "1975-12-01"],
        ),
        (
            "seconds",
            Arc::new(TimestampSecondArray::from(vec![INSTANT, next])),
            instants,
        ),
        (
            "milliseconds",
            Arc::new(
                TimestampMillisecondArray::from(vec![INSTANT * 1000 + 250, next * 1000])
                    .with_timezone("UTC"),
            ),
            ["1980-03-04T12:30:00.250Z", "1980-03-05 00:00:00+00:00"],
        ),
        (
            "zone",
            Arc::new(
                TimestampMicrosecondArray::from(vec![INSTANT * 1_000_000, next * 1_000_000])
                    .with_timezone("+01:00"),
            ),
            ["1980-03-04 13:30:00+01:00", "1980-03-05 01:00:00+0100"],
        ),
        (
            "nanoseconds",
            Arc::new(TimestampNanosecondArray::from(vec![
                INSTANT * 1_000_000_000 + 250_000_000,
                next * 1_000_000_000,
            ])),
            precise,
        ),
        (
            "time32s",
            Arc::new(Time32SecondArray::from(vec![45_000, 0])),
            ["12:30:00", "00:00:00"],
        ),
        (
            "time32ms",
            Arc::new(Time32MillisecondArray::from(vec![45_000_500, 1])),
            ["12:30:00.500", "00:00:00.001"],
        ),
        (
            "time64us",
            Arc::new(Time64MicrosecondArray::from(vec![45_000_000_000, 1])),
            ["12:30:00", "00:00:00.000001"],
        ),
        (
            "time64ns",
            Arc::new(Time64NanosecondArray::from(vec![45_000_000_000_000, 1])),
            ["12:30:00", "00:00:00.000000001"],
        ),
        (
            "durations",
            Arc::new(DurationSecondArray::from(vec![93_784, -7200])),
            ["1 days 02:03:04", "-1 days +22:00:00"],
        ),
        (
            "durationus",
            Arc::new(DurationMicrosecondArray::from(vec![500_000, 1])),
            ["0 days 00:00:00.500000", "00:00:00.000001"],
        ),
        (
            "int8",
            Arc::new(Int8Array::from(vec![-5, 7])),
            ["-5", "7.0"],
        ),
        (
            "int32",
            Arc::new(Int32Array::from(vec![98_765, 10])),
            ["98765.0", "1e+01"],
        ),
        (
            "int64",
            Arc::new(Int64Array::from(vec![9_007_199_254_740_993, -1])),
            ["9007199254740993", "-1.00"],
        ),
        (
            "uint64",
            Arc::new(UInt64Array::from(vec![u64::MAX, 3])),
            ["18446744073709551615", "3"],
        ),
        (
            "float16",
            Arc::new(Float16Array::from(vec![half(0.1), half(1.5)])),
            ["0.1", "1.50"],
        ),
        (
            "float32",
            Arc::new(Float32Array::from(vec![0.1, -0.0])),
            ["0.1", "0"],
        ),
        (
            "float64",
            Arc::new(Float64Array::from(vec![98_765.0, 1.5e-7])),
            ["98765", "1.5e-07"],
        ),
        (
            "float64s",
            Arc::new(Float64Array::from(vec![1e300, -2.5])),
            ["1e+300", "-2.50"],
        ),
        (
            "decimal",
            Arc::new(decimal(vec![150, -20_000].into())),
            ["1.50", "-200"],
        ),
        (
            "decimals",
            Arc::new(decimal(vec![150, -20_000].into())),
            ["1.5", "-200.0"],
        ),
        (
            "decimal32",
            Arc::new(
                Decimal32Array::from(vec![150, 7])
                    .with_precision_and_scale(5, 1)
                    .unwrap(),
            ),
            ["15", "0.70"],
        ),
        (
            "decimal256",
            Arc::new(
                Decimal256Array::from(vec![Some(25.into()), Some(5.into())])
                    .with_precision_and_scale(40, 1)
                    .unwrap(),
            ),
            ["2.5", "0.5"],
        ),
    ]
}

#[test]
fn types_of_tables_equal_their_texts() {
    for (name, column, texts) in columns() {
        let place = Place::new();
        let table = parquet([("id", strings(["0", "1"])), ("value", Arc::clone(&column))]);
        place.write("table.parquet", table);
        place.write(
            "text.csv",
            format!("id,value\n0,{}\n1,{}\n", texts[0], texts[1]),
        );
        let record = |id: u32, text: &str| json!({"id": id, "value": text});
        place.write(
            "text.jsonl",
            lines_of([record(0, texts[0]), record(1, texts[1])]),
        );
        for (other, score, best) in [("text.csv", "text", 1.0), ("text.jsonl", "textbook", 100.0)] {
            place
                .run(&format!("link table.parquet {other} --fields value -o out --overwrite -q -t 0.01 --score {score}"))
                .succeeded();
            let found = links(&place);
            assert_eq!(found.len(), 2, "{name} {:?}: {found:?}", column.data_type());
            for link in found {
                assert_eq!(link["score"], best, "{name}: {link}");
                assert_eq!(link["row_a"], link["row_b"], "{name}: {link}");
            }
        }
    }
}

#[test]
fn numbers_of_json_equal_those_of_csv() {
    let place = Place::new();
    place.write(
        "a.csv",
        "id,value\n0,98765\n1,1.50\n2,007\n3,1E5\n4,0.000001\n5,-0\n",
    );
    place.write(
        "b.jsonl",
        "{\"id\":0,\"value\":98765.0}\n{\"id\":1,\"value\":1.5}\n{\"id\":2,\"value\":7}\n{\"id\":3,\"value\":1E5}\n{\"id\":4,\"value\":1e-6}\n{\"id\":5,\"value\":0.0}\n",
    );
    place
        .run("link a.csv b.jsonl --fields value -o out -q -t 0.9")
        .succeeded();
    let mut rows: Vec<[u64; 2]> = links(&place)
        .iter()
        .map(|link| ["row_a", "row_b"].map(|row| link[row].as_u64().unwrap()))
        .collect();
    rows.sort_unstable();
    // Codes keep their zeros and letters.
    assert_eq!(rows, [[0, 0], [1, 1], [4, 4], [5, 5]]);
    assert_eq!(report(&place)["counts"]["links"], 4);
}

#[test]
fn types_that_have_no_text_are_refused() {
    let place = Place::new();
    let bytes: ArrayRef =
        Arc::new(arrow_array::FixedSizeBinaryArray::try_from_iter([[1, 2]].iter()).unwrap());
    place.write("a.parquet", parquet([("value", bytes)]));
    place.run("link a.parquet --fields value -o out").refused(
        1,
        &[
            "a.parquet",
            "\"value\" holds FixedSizeBinary",
            "not numbers, dates, times or strings",
        ],
    );
}
