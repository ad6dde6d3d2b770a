//! Signatures in Parquet files.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, UInt32Builder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::signed;

/// A Parquet file of these columns, with this metadata.
fn table(columns: Vec<(&str, ArrayRef)>, metadata: &[(String, String)]) -> Vec<u8> {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let schema = rows.schema().as_ref().clone();
    let metadata: std::collections::HashMap<_, _> = metadata.iter().cloned().collect();
    let schema = Arc::new(schema.with_metadata(metadata));
    let rows = rows.with_schema(Arc::clone(&schema)).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}

fn slots(rows: usize, num_perm: i32, null_at: Option<usize>) -> ArrayRef {
    let mut column = FixedSizeListBuilder::new(UInt32Builder::new(), num_perm);
    for row in 0..rows {
        for _ in 0..num_perm {
            column
                .values()
                .append_option((null_at != Some(row)).then_some(7));
        }
        column.append(true);
    }
    Arc::new(column.finish())
}

#[test]
fn a_table_with_other_ids_signatures_or_parameters_is_refused() {
    let (place, ..) = signed();
    place.run("sign in.jsonl -o s.parquet").succeeded();
    let file = std::fs::File::open(place.path("s.parquet")).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let metadata: Vec<_> = builder.schema().metadata().clone().into_iter().collect();
    let rows = builder.build().unwrap().next().unwrap().unwrap();
    let columns = |ids: &ArrayRef, signatures: &ArrayRef| {
        vec![
            ("id", Arc::clone(ids)),
            ("signature", Arc::clone(signatures)),
        ]
    };
    let (ids, signatures) = (rows.column(0), rows.column(1));
    let pairs = || place.run("pairs --signatures s.parquet -o - --threshold 0.1");
    let whole = pairs().succeeded();
    // Another program wrote the same rows.
    place.write("s.parquet", table(columns(ids, signatures), &metadata));
    let rewritten = pairs().succeeded();
    assert_eq!(whole.stdout, rewritten.stdout);
    assert!(!rewritten.stderr.contains("digest"), "{}", rewritten.stderr);
    let rotated = |column: &ArrayRef| {
        let rows = u32::try_from(column.len()).unwrap();
        let order = UInt32Array::from_iter_values((0..rows).map(|row| (row + 1) % rows));
        arrow_select::take::take(column, &order, None).unwrap()
    };
    let seeded = metadata
        .iter()
        .map(|(key, value)| (key.clone(), value.replace("\"seed\":1", "\"seed\":2")));
    let seeded: Vec<_> = seeded.collect();
    assert_ne!(seeded, metadata);
    for changed in [
        table(columns(&rotated(ids), signatures), &metadata),
        table(columns(ids, &rotated(signatures)), &metadata),
        table(columns(ids, signatures), &seeded),
    ] {
        place.write("s.parquet", changed);
        pairs().refused(
            1,
            &[
                "s.parquet: its digest does not match",
                "sign the documents again",
            ],
        );
    }
}

#[test]
fn invalid_tables_are_refused() {
    let (place, ..) = signed();
    place.run("sign in.jsonl -o s.parquet").succeeded();
    let whole = place.read("s.parquet");
    let file = std::fs::File::open(place.path("s.parquet")).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    // As a tool would write the file that computes other signatures, and no digests.
    let mut metadata = builder.schema().metadata().clone();
    assert!(metadata.remove("simgpu.digest").is_some());
    let mut report: Value = serde_json::from_str(&metadata["simgpu.report"]).unwrap();
    let digest = report.as_object_mut().unwrap().remove("matrix_blake3_128");
    assert!(digest.is_some());
    metadata.insert("simgpu.report".to_owned(), report.to_string());
    let metadata: Vec<_> = metadata.into_iter().collect();
    let without_report: Vec<_> = metadata
        .iter()
        .filter(|(key, _)| key != "simgpu.report")
        .cloned()
        .collect();
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let some_ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let id = |ids: &ArrayRef| ("id", Arc::clone(ids));
    let signature = |rows, num_perm, null_at| ("signature", slots(rows, num_perm, null_at));
    let good = || vec![id(&ids), signature(3, 128, None)];
    place.write("s.parquet", table(good(), &metadata));
    let run = place.run("pairs --signatures s.parquet -o -").succeeded();
    assert_eq!(crate::support::parse_lines(&run.stdout).len(), 3);
    assert!(
        run.stderr.contains("s.parquet states no digest"),
        "{}",
        run.stderr
    );
    for (changed, problem) in [
        (table(good(), &[]), "its metadata lacks simgpu.report"),
        (
            table(good(), &without_report),
            "its metadata lacks simgpu.report",
        ),
        (table(vec![id(&ids)], &metadata), "no column \"signature\""),
        (
            table(vec![signature(3, 128, None)], &metadata),
            "no column \"id\"",
        ),
        (
            table(vec![id(&ids), ("signature", Arc::clone(&ids))], &metadata),
            "holds Int64",
        ),
        (
            table(
                vec![("id", slots(3, 1, None)), signature(3, 128, None)],
                &metadata,
            ),
            "column \"id\" holds",
        ),
        (
            table(vec![id(&ids), signature(3, 64, None)], &metadata),
            "64 slots",
        ),
        (
            table(vec![id(&ids), signature(3, 128, Some(1))], &metadata),
            "nulls",
        ),
        (
            table(vec![id(&some_ids), signature(3, 128, None)], &metadata),
            "nulls",
        ),
        (
            table(
                vec![
                    ("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
                    signature(1, 128, None),
                ],
                &metadata,
            ),
            "3 documents",
        ),
        (whole[..whole.len() - 20].to_vec(), "s.parquet"),
        (whole[..4].to_vec(), "s.parquet"),
        (Vec::new(), "s.parquet"),
        (b"\x93NUMPY".to_vec(), "s.parquet"),
    ] {
        place.write("s.parquet", changed);
        place
            .run("pairs --signatures s.parquet -o p.jsonl")
            .refused(1, &["s.parquet", problem, "sign the documents again"]);
        assert!(!place.holds("p.jsonl") && !place.holds("p.jsonl.partial"));
    }
}
