//! `--weights-field`: every command compares weighted tokens.

use std::sync::Arc;

use arrow_array::builder::{Float32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef};
use serde_json::{Value, json};

use crate::support::{Place, lines_of, parquet};

/// 0 and 3 are identical; 0 and 1 share 3 of 5 in weight, 0 and 2 share 1 of 7.
fn records() -> Vec<Value> {
    vec![
        json!({ "tokens": ["a", "b", "c"], "w": [1, 1, 2] }),
        json!({ "tokens": ["c", "a", "b"], "w": [1, 2.0, 1] }),
        json!({ "tokens": ["a", "d", "d"], "w": [1, 1.5, 1.5] }),
        json!({ "tokens": ["a", "b", "c"], "w": [1, 1, 2] }),
        json!({ "tokens": ["e"], "w": [0] }),
    ]
}

const OPTIONS: &str = "--unit tokens --weights-field w --threshold 0.1 --weight-scale 64";

/// Signatures that make candidates of all pairs with a token in common, nearly always.
const LSH: &str = "--bands 128 --rows 1";

fn pairs_of(place: &Place, input: &str, options: &str) -> Vec<(u64, u64, f64)> {
    let number = |pair: &Value, name: &str| pair[name].as_u64().unwrap();
    let pairs = place.pairs(&format!("{input} {OPTIONS} {options}"));
    let of = |pair: &Value| {
        let similarity = pair["similarity"].as_f64().unwrap();
        (number(pair, "row_a"), number(pair, "row_b"), similarity)
    };
    let mut pairs: Vec<_> = pairs.iter().map(of).collect();
    pairs.sort_by_key(|(a, b, _)| (*a, *b));
    pairs
}

fn expected() -> Vec<(u64, u64, f64)> {
    let (near, far) = (3.0 / 5.0, 1.0 / 7.0);
    vec![
        (0, 1, near),
        (0, 2, far),
        (0, 3, 1.0),
        (1, 2, far),
        (1, 3, near),
        (2, 3, far),
    ]
}

/// The records as a table, with weights of this type.
fn table(weights: ArrayRef) -> Vec<u8> {
    let mut tokens = ListBuilder::new(StringBuilder::new());
    for record in records() {
        for token in record["tokens"].as_array().unwrap() {
            tokens.values().append_value(token.as_str().unwrap());
        }
        tokens.append(true);
    }
    parquet([
        ("tokens", Arc::new(tokens.finish()) as ArrayRef),
        ("w", weights),
    ])
}

#[test]
fn pairs_have_the_similarity_of_their_weights() {
    let place = Place::new();
    place.write("in.jsonl", lines_of(records()));
    let mut single = ListBuilder::new(Float32Builder::new());
    for record in records() {
        for weight in record["w"].as_array().unwrap() {
            #[allow(clippy::cast_possible_truncation, reason = "halves are exact")]
            single
                .values()
                .append_value(weight.as_f64().unwrap() as f32);
        }
        single.append(true);
    }
    place.write("in.parquet", table(Arc::new(single.finish())));
    for scheme in ["affine32", "affine64", "fast", "datasketch"] {
        for input in ["in.jsonl", "in.parquet"] {
            let pairs = pairs_of(&place, input, &format!("{LSH} --scheme {scheme}"));
            assert_eq!(pairs, expected(), "{input} {scheme}");
        }
    }
    for candidates in ["join", "auto"] {
        let pairs = pairs_of(&place, "in.jsonl", &format!("--candidates {candidates}"));
        assert_eq!(pairs, expected(), "{candidates}");
    }
}

#[test]
fn pairs_at_the_threshold_are_similar_despite_rounded_weights() {
    let place = Place::new();
    // 1.4 of 2.8, in tenths that no binary fraction equals.
    place.write(
        "in.jsonl",
        lines_of([
            json!({ "tokens": ["a", "b", "c", "d"], "w": [0.7, 0.3, 0.9, 0.7] }),
            json!({ "tokens": ["d", "e", "b", "a", "c"], "w": [0.7, 0.2, 0.3, 0.2, 0.2] }),
        ]),
    );
    for candidates in ["--candidates join", LSH] {
        let options = "in.jsonl --unit tokens --weights-field w --threshold";
        let found = place.pairs(&format!("{options} 0.5 {candidates}"));
        assert_eq!(found.len(), 1, "{candidates}");
        assert_eq!(found[0]["similarity"], 0.5, "{candidates}");
        let none = place.pairs(&format!("{options} 0.5000001 {candidates}"));
        assert!(none.is_empty(), "{candidates}");
    }
}

#[test]
fn identical_documents_of_little_weight_are_found() {
    let place = Place::new();
    let record = |i: usize| json!({ "tokens": [format!("{}", i % 30)], "w": [0.01] });
    place.write("in.jsonl", lines_of((0..60).map(record)));
    let run = place.run(&format!(
        "dedup in.jsonl --unit tokens --weights-field w {LSH} --dry-run --report json"
    ));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let counts = &report["counts"];
    assert_eq!(
        (&counts["identical"], &counts["kept"]),
        (&json!(30), &json!(30))
    );
}

#[test]
fn columns_of_other_types_are_refused() {
    let place = Place::new();
    let mut integers = ListBuilder::new(Int64Builder::new());
    for record in records() {
        for _ in record["w"].as_array().unwrap() {
            integers.values().append_value(2);
        }
        integers.append(true);
    }
    let integers = integers.finish();
    place.write("flat.parquet", table(integers.values().slice(0, 5)));
    place.write("whole.parquet", table(Arc::new(integers)));
    let run = place.run("sign whole.parquet -o s.npy --unit tokens --weights-field w");
    run.succeeded();
    for (field, problem) in [
        ("w", "not a list of numbers"),
        ("v", "there is no column \"v\""),
    ] {
        let run = format!("sign flat.parquet -o t.npy --unit tokens --weights-field {field}");
        place.run(&run).refused(1, &[problem, "--weights-field"]);
    }
}

#[test]
fn wrong_weights_are_bad_records() {
    for (weights, problem) in [
        (json!([1, -2]), "field \"w\": -2 is not a weight"),
        (
            json!([1]),
            "the numbers of tokens and weights differ: 2 and 1",
        ),
        (json!([1, "2"]), "holds other values than numbers"),
        (json!([1, null]), "holds other values than numbers"),
        (json!(3), "field \"w\" is a number, not an array of numbers"),
        (json!([1, 1e300]), "; lower --weight-scale"),
        (json!([1e6, 1e6]), "; lower --weight-scale"),
    ] {
        let place = Place::new();
        let good = json!({ "tokens": ["a", "b"], "w": [1, 2] });
        let bad = json!({ "tokens": ["a", "b"], "w": weights });
        place.write(
            "in.jsonl",
            lines_of([good.clone(), bad, good.clone(), json!({ "tokens": [] })]),
        );
        let options = "in.jsonl --unit tokens --weights-field w";
        let run = place.run(&format!("dedup {options} -o out"));
        run.refused(1, &["in.jsonl", "line 2", problem]);
        let results = place.dedup(&format!("{options} --on-bad-record skip"));
        let counts = ["skipped", "identical", "kept"].map(|name| results.count(name));
        assert_eq!(counts, [2, 1, 1], "{problem}");
        let skipped = results.report["skipped"][1]["problem"].as_str().unwrap();
        assert!(skipped.contains("there is no field \"w\""), "{skipped}");
    }
}

#[test]
fn the_description_states_the_scale() {
    let place = Place::new();
    place.write("in.jsonl", lines_of(records()));
    let sign = "sign in.jsonl -o s.parquet --unit tokens --weights-field w --weight-scale 64";
    place.run(sign).succeeded();
    let search = "--verify signature --threshold 0.1 --bands 128 --rows 1";
    let stored = place.pairs(&format!("--signatures s.parquet {search}"));
    let direct = place.pairs(&format!("in.jsonl {OPTIONS} {LSH} --verify signature"));
    assert_eq!(stored, direct);
    let run = place.run(&format!("pairs --signatures s.parquet -o p.jsonl {search}"));
    let run = run.succeeded();
    let shown = "weighted at 64 copies per unit of weight";
    assert!(run.stderr.contains(shown), "{}", run.stderr);
    let report = place.read("p.jsonl.report.json");
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["parameters"]["weight_scale"], json!(64.0));
    assert_eq!(report["parameters"]["weights_field"], json!("w"));
}

#[test]
fn options_of_weights_are_checked() {
    let place = Place::new();
    place.write("in.jsonl", lines_of(records()));
    for (options, phrases) in [
        ("--weights-field w", ["single tokens", "--unit tokens"]),
        (
            "--unit tokens --size 2 --weights-field w",
            ["single tokens", "--size 1"],
        ),
        (
            "--unit tokens --weight-scale 2",
            ["--weight-scale", "--weights-field"],
        ),
        (
            "--unit tokens --weights-field w --weight-scale 3",
            ["--weight-scale", "power of two"],
        ),
        (
            "--unit tokens --weights-field w --count",
            ["--count", "--weights-field"],
        ),
    ] {
        place
            .run(&format!("sign in.jsonl -o s.npy {options}"))
            .refused(2, &phrases);
    }
}
