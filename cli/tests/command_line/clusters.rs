//! `clusters.parquet` and `removed.parquet`.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use serde_json::{Map, Value, json};

use super::outputs::read_parquet;
use crate::support::{Place, families, files_in, lines_of, numbered_lines};

/// Two files, with bad records among the good.
fn corpus() -> Place {
    let place = Place::new();
    let texts = families(20, 4, 60);
    let bad = b"{\"id\": \"bad\"}\n".to_vec();
    let lines = [numbered_lines(&texts[..30], 0), bad.clone()].concat();
    place.write("docs/a.jsonl", lines);
    place.write(
        "docs/b.jsonl",
        [bad, numbered_lines(&texts[30..], 30)].concat(),
    );
    place
}

/// The rows of a table as JSON objects, without nulls.
fn rows_of(table: &RecordBatch) -> Vec<Value> {
    let value = |column: &dyn Array, row: usize| -> Option<Value> {
        if column.is_null(row) {
            return None;
        }
        let name = column.data_type().to_string();
        Some(match &*name {
            "Utf8" => column.as_string::<i32>().value(row).into(),
            "Int64" => column.as_primitive::<Int64Type>().value(row).into(),
            "UInt64" => column.as_primitive::<UInt64Type>().value(row).into(),
            "Float64" => column.as_primitive::<Float64Type>().value(row).into(),
            "Boolean" => column.as_boolean().value(row).into(),
            other => panic!("{other}"),
        })
    };
    let row = |row: usize| {
        let schema = table.schema();
        let named = schema.fields().iter().zip(table.columns());
        let object: Map<String, Value> = named
            .filter_map(|(field, column)| Some((field.name().clone(), value(column, row)?)))
            .collect();
        Value::Object(object)
    };
    (0..table.num_rows()).map(row).collect()
}

/// Similarities rounded, because `serde_json` may be off by the last bit.
fn rounded(mut rows: Vec<Value>) -> Vec<Value> {
    for row in &mut rows {
        for name in ["similarity", "via_similarity"] {
            if let Some(similarity) = row[name].as_f64() {
                row[name] = format!("{similarity:.12}").into();
            }
        }
        row.as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
    }
    rows
}

#[test]
fn clusters_name_every_document() {
    let place = corpus();
    for options in [
        "--verify exact",
        "--cluster connected --keep longest",
        "--verify none",
    ] {
        let results = place.dedup(&format!("docs --on-bad-record skip {options}"));
        let (table, _) = read_parquet(&place, "out/clusters.parquet");
        let removed = rounded(results.removed.clone());
        let expected: Vec<Value> = (0u64..80)
            .map(|id| {
                // Row 0 of b.jsonl is bad.
                let (file, row) = match id {
                    0..30 => ("a.jsonl", id),
                    _ => ("b.jsonl", id - 29),
                };
                let removal = removed.iter().find(|line| line["id"] == id);
                let kept = removal.map_or(json!(id), |line| line["kept_id"].clone());
                let mut expected = json!({
                    "id": id, "file": file, "row": row, "cluster": kept, "kept": removal.is_none(),
                });
                if let Some(similarity) = removal.and_then(|line| line.get("similarity")) {
                    expected["similarity"] = similarity.clone();
                }
                expected
            })
            .collect();
        assert!(removed.len() > 10);
        assert_eq!(rounded(rows_of(&table)), expected, "{options}");
    }
}

#[test]
fn removed_documents_are_the_same_as_a_table() {
    let place = corpus();
    for options in ["--verify exact", "--cluster connected", "--verify none"] {
        let options = format!("docs --on-bad-record skip {options}");
        let lines = place.dedup(&options).removed;
        place
            .run(&format!(
                "dedup {options} -o table --overwrite --removed-format parquet"
            ))
            .succeeded();
        assert!(!place.holds("table/removed.jsonl"));
        let (table, _) = read_parquet(&place, "table/removed.parquet");
        assert_eq!(rounded(rows_of(&table)), rounded(lines), "{options}");
    }
    // Overwriting leaves no file of the other format.
    place
        .run("dedup docs --on-bad-record skip -o table --overwrite")
        .succeeded();
    assert!(place.holds("table/removed.jsonl") && !place.holds("table/removed.parquet"));
}

#[test]
fn ids_that_are_not_integers_are_strings() {
    let place = Place::new();
    let records = [
        json!({"id": "x", "text": "a"}),
        json!({"id": 7, "text": "a"}),
    ];
    place.write("in.jsonl", lines_of(records));
    place
        .run("dedup in.jsonl -o out --removed-format parquet")
        .succeeded();
    let ids = |name: &str, column: &str| {
        let (table, _) = read_parquet(&place, name);
        let ids = table[column].as_string::<i32>();
        ids.iter().flatten().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids("out/clusters.parquet", "id"), ["x", "7"]);
    assert_eq!(ids("out/removed.parquet", "id"), ["7"]);
    assert_eq!(ids("out/removed.parquet", "kept_id"), ["x"]);
}

#[test]
fn tables_do_not_depend_on_threads_or_batches() {
    let place = corpus();
    let mut seen = Vec::new();
    for way in ["--threads 1", "--threads 3 --batch-mib 1 --hold-mib 0"] {
        let options = "--on-bad-record skip --removed-format parquet --overwrite --keep-by id:asc";
        place
            .run(&format!("dedup docs -o out {options} {way}"))
            .succeeded();
        let mut files = files_in(&place.path("out"));
        files.remove("run.json");
        seen.push(files);
    }
    assert!(seen[0] == seen[1] && seen[0].len() == 7);
}
