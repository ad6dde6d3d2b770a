//! `simgpu pairs`: which pairs it finds, and the formats it writes.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use serde_json::{Value, json};

use super::outputs::read_parquet;
use crate::support::{Place, edited, lines_of, numbered_lines, parse_lines, text};

/// Five texts: 0 and 3 are identical, 1 is one word off, 2 is unrelated, 4 is a distant variant of 2.
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

/// Their pairs: with one edit in the middle, two texts share 91 of 101 shingles. Identical texts take the place of
/// the first of them.
fn expected_pairs() -> Vec<(u64, u64, f64)> {
    vec![(0, 3, 1.0), (0, 1, 91.0 / 101.0), (1, 3, 91.0 / 101.0)]
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
        // The shortest decimal that parses to the number: 1, not 1.0.
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

#[test]
fn identical_documents_share_their_pairs() {
    let (one, near) = (text(1, 100), edited(&text(1, 100), 1, 1));
    let place = Place::with_texts([&one, &near, &one, &near, &one, &text(2, 100)]);
    let similarity_of = |a: u64, b: u64| if a % 2 == b % 2 { 1.0 } else { 91.0 / 101.0 };
    let mut expected = Vec::new();
    for a in 0..5 {
        expected.extend((a + 1..5).map(|b| (a, b, similarity_of(a, b))));
    }
    let mut found: Vec<_> = place
        .pairs("in.jsonl --verify exact --bands 64 --rows 2")
        .iter()
        .map(pair_of)
        .collect();
    // Identical documents take the place of the first of them.
    let firsts = |(a, b, _): &(u64, u64, f64)| ((a % 2).min(b % 2), (a % 2).max(b % 2));
    assert!(found.is_sorted_by_key(firsts), "{found:?}");
    found.sort_by_key(|(a, b, _)| (*a, *b));
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
fn csv_quotes_ids_with_commas_and_quotes() {
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
fn no_pairs_make_a_valid_file() {
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

#[test]
fn a_shingle_may_hold_several_tokens() {
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
        let options = "--unit tokens --verify exact --threshold 0.3";
        let run = place.run(&format!("pairs in.jsonl -o - {options} {size}"));
        let pairs = parse_lines(&run.succeeded().stdout);
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
    // As sets, rows 0 and 2 are equal; of their token pairs they share "b c".
    assert_eq!(similarities(""), [(0, 2, 1.0)]);
    assert_eq!(similarities("--size 2"), [(0, 2, 1.0 / 3.0)]);
    // Three tokens or fewer make one shingle: rows 0 and 1 differ, although both read "a b c".
    assert_eq!(similarities("--size 3"), []);
    // A preset joins tokens by one space, like its tool.
    assert_eq!(similarities("--size 3 --scheme datasketch"), [(0, 1, 1.0)]);
}
