//! Parquet tables: kept rows keep schema, metadata, codec and order.

mod form;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    Float64Builder, ListBuilder, StringBuilder, StringDictionaryBuilder, StructBuilder,
};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;

use super::samples::{in_pieces, read_table};
use crate::support::{Place, gzip, strings, text, zstd};

/// The rows that are kept: row 2 repeats the text of row 0.
const KEPT_ROWS: [usize; 4] = [0, 1, 3, 4];

/// A table with a struct, lists, nulls, a dictionary and column metadata.
fn rich_table(texts: ArrayRef) -> RecordBatch {
    let lang = Field::new("lang", DataType::Utf8, true);
    let scores = Field::new_list("scores", Field::new("item", DataType::Float64, true), true);
    let inner = vec![Arc::new(lang), Arc::new(scores)];
    let builders: Vec<Box<dyn arrow_array::builder::ArrayBuilder>> = vec![
        Box::new(StringBuilder::new()),
        Box::new(ListBuilder::new(Float64Builder::new())),
    ];
    let mut meta = StructBuilder::new(inner, builders);
    let mut kinds = StringDictionaryBuilder::<Int32Type>::new();
    for row in 0..5 {
        let lang = meta.field_builder::<StringBuilder>(0).unwrap();
        lang.append_option((row != 3).then_some("en"));
        let scores = meta
            .field_builder::<ListBuilder<Float64Builder>>(1)
            .unwrap();
        match row {
            1 => scores.append_null(),
            _ => scores.append_value((0..row).map(|i| (i != 2).then_some(i as f64 / 7.0))),
        }
        meta.append(row != 4);
        kinds.append_option((row != 0).then_some(["web", "book"][row % 2]));
    }
    let meta: ArrayRef = Arc::new(meta.finish());
    let kinds: ArrayRef = Arc::new(kinds.finish());
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![
        Some(5),
        None,
        Some(-1),
        None,
        Some(0),
    ]));
    let of_origin = HashMap::from([("origin".to_owned(), "a formula".to_owned())]);
    let fields = vec![
        Field::new("number", DataType::Int64, true).with_metadata(of_origin),
        Field::new("text", texts.data_type().clone(), false),
        Field::new("meta", meta.data_type().clone(), true),
        Field::new("kind", kinds.data_type().clone(), true),
    ];
    let columns = vec![numbers, texts, meta, kinds];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn table_file(rows: &RecordBatch) -> Vec<u8> {
    let entries = [("origin", Some("a formula")), ("empty", None)];
    let entry = |(key, value): (&str, Option<&str>)| KeyValue {
        key: key.to_owned(),
        value: value.map(str::to_owned),
    };
    let properties = WriterProperties::builder()
        .set_compression(Codec::ZSTD(ZstdLevel::try_new(7).unwrap()))
        .set_key_value_metadata(Some(entries.map(entry).to_vec()))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.into_inner().unwrap()
}

fn own_metadata(metadata: &ParquetMetaData) -> Vec<KeyValue> {
    let entries = metadata.file_metadata().key_value_metadata();
    let mut own = entries.cloned().unwrap_or_default();
    own.retain(|entry| entry.key != "ARROW:schema");
    own
}

#[test]
fn tables_keep_schema_metadata_codec_and_rows() {
    let (one, two, three) = (text(1, 20), text(2, 20), text(3, 20));
    let four = text(4, 20);
    let texts = [&one, &two, &one, &three, &four]
        .map(String::as_str)
        .to_vec();
    let columns: [ArrayRef; 3] = [
        Arc::new(StringArray::from(texts.clone())),
        Arc::new(LargeStringArray::from(texts.clone())),
        Arc::new(StringViewArray::from(texts.clone())),
    ];
    let place = Place::new();
    for column in columns {
        let rows = rich_table(column);
        let file = table_file(&rows);
        let (before, metadata_before) = read_table(file.clone());
        let indices = arrow_array::UInt64Array::from_iter_values(KEPT_ROWS.map(|row| row as u64));
        let expected = arrow_select::take::take_record_batch(&before, &indices).unwrap();
        for (name, stored) in [
            ("in.parquet", file.clone()),
            ("in.parquet.gz", gzip(&file)),
            ("in.parquet.zst", in_pieces(zstd, &file)),
        ] {
            place.write(name, stored);
            for verify in ["signature", "exact"] {
                let results = place.dedup(&format!("{name} --verify {verify}"));
                assert_eq!(results.kept_names(), [name]);
                let is_compressed = name != "in.parquet";
                assert_eq!(!results.stored(name).starts_with(b"PAR1"), is_compressed);
                let (kept, metadata) = read_table(results.kept(name));
                assert_eq!(kept.schema(), before.schema());
                assert_eq!(kept, expected);
                assert_eq!(own_metadata(&metadata), own_metadata(&metadata_before));
                let codec = metadata.row_group(0).column(0).compression();
                assert!(matches!(codec, Codec::ZSTD(_)), "{codec:?}");
            }
        }
    }
}

#[test]
fn record_batches_keep_their_rows() {
    let texts: Vec<String> = (0..30_000)
        .map(|row| format!("row {}", if row % 5 == 4 { row - 1 } else { row }))
        .collect();
    let kinds = (0..30_000).map(|row| Some(["web", "book", "film"][row % 3]));
    let kinds: arrow_array::DictionaryArray<Int32Type> = kinds.collect();
    let columns: [(_, ArrayRef); 2] = [("text", strings(&texts)), ("kind", Arc::new(kinds))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let schema = rows.schema();
    let batches = [(0, 20_000), (20_000, 1), (20_004, 1), (20_005, 9_995)];
    let batches = batches.map(|(start, len)| rows.slice(start, len));
    let file = |batches: &[RecordBatch]| {
        let mut writer = FileWriter::try_new(Vec::new(), &schema).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    };
    let stream = |batches: &[RecordBatch]| {
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    };
    let place = Place::new();
    place.write("in.arrow", file(&batches));
    place.write("in.arrows", stream(&batches));
    let sizes = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).collect();
    let expected: Vec<usize> = vec![16_000, 1, 1, 7_996];
    let read = |batches: &mut dyn Iterator<Item = Result<RecordBatch, ArrowError>>| {
        batches.map(Result::unwrap).collect::<Vec<_>>()
    };
    let bytes = std::io::Cursor::new(place.dedup("in.arrow").kept("in.arrow"));
    let kept = read(&mut FileReader::try_new(bytes, None).unwrap());
    let found: Vec<usize> = sizes(&kept);
    assert_eq!(found, expected);
    let bytes = std::io::Cursor::new(place.dedup("in.arrows").kept("in.arrows"));
    let streamed = read(&mut StreamReader::try_new(bytes, None).unwrap());
    assert_eq!(streamed, kept);
    assert_eq!(kept[0].schema(), schema);
}

#[test]
fn large_tables_are_read_and_kept_in_order() {
    // Row groups and batches end at different rows; every fifth row repeats the one before.
    let number = |row: usize| if row % 5 == 4 { row - 1 } else { row };
    let texts: Vec<String> = (0..30_000)
        .map(|row| format!("row {}", number(row)))
        .collect();
    let ids = Int64Array::from_iter_values(0..30_000);
    let columns: [(_, ArrayRef); 2] = [("id", Arc::new(ids)), ("text", strings(&texts))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(3_001))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    let place = Place::new();
    place.write("in.parquet", writer.into_inner().unwrap());
    for options in [
        "--verify signature --batch-mib 1",
        "--verify exact --batch-mib 64",
    ] {
        let results = place.dedup(&format!("in.parquet {options}"));
        let (kept, _) = read_table(results.kept("in.parquet"));
        let kept_rows = (0..30_000).filter(|row| number(*row) == *row);
        let expected_ids = Int64Array::from_iter_values(kept_rows.map(|row| row as i64));
        assert_eq!(kept.column(0).as_ref(), &expected_ids as &dyn Array);
        assert_eq!(results.removed[0]["id"], 4);
        assert_eq!(results.removed[0]["kept_id"], 3);
        assert_eq!(results.count("removed"), 6_000);
    }
}
