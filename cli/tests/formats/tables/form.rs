//! Row groups, pages and physical types of Parquet.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression as Codec, Encoding, GzipLevel};
use parquet::data_type::{
    ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type as ParquetInt32, Int64Type as ParquetInt64,
};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, SortingColumn};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::formats::samples::read_table;
use crate::support::{Place, strings, text};

/// A table in row groups of `rows` rows, written with these properties: even rows repeat row 0.
fn grouped(rows: usize, properties: WriterPropertiesBuilder) -> Vec<u8> {
    let texts = (0..40).map(|row| match row % 2 {
        0 => text(0, 20),
        _ => text(row, 20),
    });
    let columns: [(_, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..40))),
        ("text", strings(texts)),
        (
            "score",
            Arc::new(Float64Array::from_iter_values((0..40).map(f64::from))),
        ),
        ("kind", strings((0..40).map(|row| ["a", "b"][row % 2]))),
    ];
    let rows_of_file = RecordBatch::try_from_iter(columns).unwrap();
    let metadata = HashMap::from([("huggingface".to_owned(), "{}".to_owned())]);
    let schema = rows_of_file
        .schema()
        .as_ref()
        .clone()
        .with_metadata(metadata);
    let rows_of_file = rows_of_file.with_schema(Arc::new(schema)).unwrap();
    let properties = properties.set_max_row_group_row_count(Some(rows)).build();
    let mut writer =
        ArrowWriter::try_new(Vec::new(), rows_of_file.schema(), Some(properties)).unwrap();
    writer.write(&rows_of_file).unwrap();
    writer.into_inner().unwrap()
}

/// What the metadata of a column tell of its writer.
fn form_of(column: &ColumnChunkMetaData) -> (Codec, Vec<Encoding>, bool, bool, bool, bool) {
    let mut encodings: Vec<Encoding> = column.encodings().collect();
    encodings.sort();
    (
        column.compression(),
        encodings,
        column.dictionary_page_offset().is_some(),
        column.statistics().is_some(),
        column.column_index_offset().is_some(),
        column.bloom_filter_offset().is_some(),
    )
}

#[test]
fn row_groups_keep_rows_and_form() {
    let id = || ColumnPath::from("id");
    let score = || ColumnPath::from("score");
    let forms = [
        WriterProperties::builder(),
        WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_compression(Codec::SNAPPY)
            .set_column_compression(id(), Codec::GZIP(GzipLevel::default()))
            .set_column_compression(score(), Codec::BROTLI(BrotliLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk),
        WriterProperties::builder()
            .set_compression(Codec::LZ4_RAW)
            .set_column_compression(ColumnPath::from("kind"), Codec::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_column_encoding(id(), Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding(score(), Encoding::BYTE_STREAM_SPLIT)
            .set_column_encoding(ColumnPath::from("text"), Encoding::DELTA_LENGTH_BYTE_ARRAY)
            .set_column_bloom_filter_enabled(id(), true)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true),
        WriterProperties::builder().set_sorting_columns(Some(vec![SortingColumn {
            column_idx: 0,
            descending: false,
            nulls_first: false,
        }])),
    ];
    let place = Place::new();
    for properties in forms {
        for rows in [1, 3, 7, 40, 1_000] {
            let file = grouped(rows, properties.clone());
            place.write("in.parquet", &file);
            let results = place.dedup("in.parquet");
            let (before, of_file) = read_table(file);
            let (after, of_kept) = read_table(results.kept("in.parquet"));
            assert_eq!(after.schema(), before.schema());
            // The Arrow schema as its writer stated it is among the metadata.
            let metadata = |of: &ParquetMetaData| of.file_metadata().key_value_metadata().cloned();
            assert_eq!(metadata(&of_kept), metadata(&of_file));
            assert_eq!(
                of_kept.file_metadata().version(),
                of_file.file_metadata().version()
            );
            let kept_in = |group: usize| {
                let rows_of_group = group * rows..((group + 1) * rows).min(40);
                rows_of_group
                    .filter(|row| *row == 0 || row % 2 == 1)
                    .count()
            };
            let groups = of_file.row_groups().iter().enumerate();
            let groups = groups.filter(|(group, _)| kept_in(*group) > 0);
            let groups: Vec<_> = groups.collect();
            assert_eq!(of_kept.num_row_groups(), groups.len());
            for ((group, before), after) in groups.into_iter().zip(of_kept.row_groups()) {
                assert_eq!(after.num_rows(), kept_in(group) as i64);
                assert_eq!(after.sorting_columns(), before.sorting_columns());
                for (after, before) in after.columns().iter().zip(before.columns()) {
                    assert_eq!(form_of(after), form_of(before), "{}", before.column_path());
                }
            }
        }
    }
}

#[test]
fn pages_of_large_groups_wait_on_disk() {
    // Some 80 MB that no codec shortens, in one group.
    let mut numbers = crate::support::Numbers(7);
    let noise = (0..5_000).map(|_| {
        let words = (0..1_000).map(|_| format!("{:016x}", numbers.next()));
        words.collect::<String>()
    });
    let columns: [(_, ArrayRef); 2] = [
        ("noise", strings(noise)),
        ("text", strings((0..5_000).map(|row| format!("row {row}")))),
    ];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    let place = Place::new();
    place.write("in.parquet", writer.into_inner().unwrap());
    let results = place.dedup("in.parquet --num-perm 16");
    let (kept, metadata) = read_table(results.kept("in.parquet"));
    assert_eq!(metadata.num_row_groups(), 1);
    assert!(kept == rows);
}

#[test]
fn physical_types_of_parquet_stay() {
    let span = "optional fixed_len_byte_array(12) span (INTERVAL);";
    let others = "
        optional int32 small (INTEGER(8, false)) = 4;
        required binary text (STRING);
        optional binary price (DECIMAL(9, 2));
        optional fixed_len_byte_array(16) key (UUID);
        optional int64 moment (TIMESTAMP(MICROS, true));
        repeated int32 plain;
        optional group pairs (MAP) {
            repeated group key_value { required binary key (ENUM); optional double value; }
        }";
    let schema_of = |columns: &str| parse_message_type(&format!("message file {{ {columns} }}"));
    let schema = Arc::new(schema_of(&format!("{span} {others}")).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let bytes = |values: [&[u8]; 3]| values.map(|value| ByteArray::from(value.to_vec()));
    let fixed = |bytes: [&[u8]; 3]| bytes.map(|b| FixedLenByteArray::from(b.to_vec()));
    macro_rules! column {
        ($kind:ty, $values:expr, $definitions:expr, $repetitions:expr) => {{
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<$kind>();
            typed
                .write_batch($values, $definitions, $repetitions)
                .unwrap();
            column.close().unwrap();
        }};
    }
    let all = Some(&[1i16, 1, 1][..]);
    let spans: [&[u8]; 3] = [&[1; 12], &[2; 12], &[3; 12]];
    column!(FixedLenByteArrayType, &fixed(spans), all, None);
    column!(ParquetInt32, &[300, -1, 7], all, None);
    column!(
        ByteArrayType,
        &bytes([b"one two", b"one two", b"three four"]),
        None,
        None
    );
    column!(
        ByteArrayType,
        &bytes([b"\x01", b"\x02\x03", b"\x00\x00\x00\x05"]),
        all,
        None
    );
    column!(
        FixedLenByteArrayType,
        &fixed([&[1; 16], &[2; 16], &[3; 16]]),
        all,
        None
    );
    column!(ParquetInt64, &[1, 1 << 50], Some(&[1, 0, 1]), None);
    column!(
        ParquetInt32,
        &[1, 2, 3],
        Some(&[1, 1, 0, 1]),
        Some(&[0, 1, 0, 0])
    );
    column!(
        ByteArrayType,
        &bytes([b"a", b"b", b"c"]),
        Some(&[2, 0, 2, 2]),
        Some(&[0, 0, 0, 1])
    );
    column!(
        DoubleType,
        &[0.5, -0.0],
        Some(&[3, 0, 3, 2]),
        Some(&[0, 0, 0, 1])
    );
    group.close().unwrap();
    let place = Place::new();
    place.write("in.parquet", writer.into_inner().unwrap());
    let results = place.dedup("in.parquet");
    let rows = |bytes: Vec<u8>| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema().clone();
        let rows = reader
            .get_row_iter(Some(schema_of(others).unwrap()))
            .unwrap()
            .map(|row| row.unwrap().to_string());
        (schema, rows.collect::<Vec<String>>())
    };
    let (schema, mut expected) = rows(place.read("in.parquet"));
    let (schema_kept, kept) = rows(results.kept("in.parquet"));
    expected.remove(1);
    assert_eq!(schema_kept, schema);
    assert_eq!(kept, expected);
    // The reader of rows knows no intervals.
    let kept = results.kept("in.parquet");
    let has = |span: &&[u8]| kept.windows(12).any(|window| window == *span);
    assert_eq!(spans.map(|span| has(&span)), [true, false, true]);
}
