//! Formats of input and of what is kept of it: JSON Lines, Parquet and text files, plain, gzip and zstd,
//! in folders, by globs and on stdin. What is kept is kept as it came.

mod support;

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{
    Float64Builder, ListBuilder, StringBuilder, StringDictionaryBuilder, StructBuilder,
};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, Length};
use serde_json::{Value, json};

use support::{
    Place, Results, gzip, json_lines, lines_of, numbered_lines, parquet, strings, text, zstd,
};

// Lines

/// Four records on five lines, of which the third repeats the first.
fn records() -> Vec<Vec<u8>> {
    let of = |seed| json!({"text": text(seed, 20)}).to_string().into_bytes();
    vec![of(1), of(2), of(1), of(3)]
}

#[test]
fn lines_are_kept_byte_for_byte() {
    let (one, two, three) = (text(1, 20), text(2, 20), text(3, 20));
    let kept = [
        format!("{{\"text\": \"{one}\", \"n\": 1.50, \"u\": \"\\u00e9\\/\"}}\r\n"),
        format!("  {{ \"text\" :\t\"{two}\" }}\t \n"),
        format!("{{\"text\":\"{three}\",\"text\":\"{three}\"}}\r\n"),
    ];
    let removed = format!("{{\"id\": 1, \"text\": \"{one}\"}}\n");
    let place = Place::new();
    place.write(
        "in.jsonl",
        [&kept[0], &removed, &kept[1], &kept[2]]
            .map(String::as_str)
            .concat(),
    );
    let results = place.dedup("in.jsonl");
    assert_eq!(results.kept("in.jsonl"), kept.concat().into_bytes());
}

#[test]
fn a_byte_order_mark_and_blank_lines_go_and_a_missing_newline_comes() {
    let records = records();
    let mut file = b"\xEF\xBB\xBF".to_vec();
    for (record, end) in records.iter().zip(["\r\n\r\n", "\n \t\r\n\n", "\n", ""]) {
        file.extend_from_slice(record);
        file.extend_from_slice(end.as_bytes());
    }
    let place = Place::new();
    place.write("in.jsonl", file);
    let results = place.dedup("in.jsonl");
    let kept = [
        &records[0][..],
        b"\r\n",
        &records[1],
        b"\n",
        &records[3],
        b"\n",
    ];
    assert_eq!(results.kept("in.jsonl"), kept.concat());
    assert_eq!(results.count("documents"), 4);
}

#[test]
fn a_byte_order_mark_on_a_line_of_its_own_is_a_blank_line() {
    for start in ["\u{FEFF}\n", "\u{FEFF}\r\n", "\u{FEFF} \n\n"] {
        let place = Place::new();
        place.write(
            "in.jsonl",
            [start.as_bytes(), &json_lines(["a", "b", "a"])].concat(),
        );
        for verify in ["signature", "exact"] {
            let results = place.dedup(&format!("in.jsonl --verify {verify}"));
            assert_eq!(
                results.kept("in.jsonl"),
                json_lines(["a", "b"]),
                "{start:?}"
            );
            assert_eq!(results.count("documents"), 3);
        }
    }
}

#[test]
fn lines_are_cut_right_wherever_chunks_end() {
    // Lines of all lengths around the size of a chunk, so that cuts fall everywhere.
    let mut file = Vec::new();
    let mut kept = Vec::new();
    for i in 0..40 {
        let filler = "x".repeat((i * 37_987) % 150_000 + if i % 9 == 0 { 1 << 20 } else { 0 });
        let line = format!("{{\"text\": \"document {i}\", \"filler\": \"{filler}\"}}\r\n");
        file.extend_from_slice(line.as_bytes());
        kept.extend_from_slice(line.as_bytes());
        if i % 3 == 0 {
            file.extend_from_slice(b"\r\n{\"text\": \"document 0\"}\n");
        }
    }
    let place = Place::new();
    place.write("in.jsonl", file);
    for options in [
        "--batch-mib 1",
        "--batch-mib 64 --verify exact",
        "--batch-mib 1 --verify exact --hold-mib 0",
        "--batch-mib 64 --hold-mib 0",
    ] {
        let results = place.dedup(&format!("in.jsonl {options}"));
        assert!(results.kept("in.jsonl") == kept);
        assert_eq!(results.count("removed"), 14);
    }
}

// Compression

/// zstd frames with a window that only a reader with `--long` accepts.
fn zstd_long(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(30).unwrap();
    // A flush in the middle, or the frame would be given the small window that would do.
    encoder.write_all(&bytes[..1]).unwrap();
    encoder.flush().unwrap();
    encoder.write_all(&bytes[1..]).unwrap();
    encoder.finish().unwrap()
}

/// Four records in pieces: a cut falls into a record.
fn in_pieces(compress: fn(&[u8]) -> Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let cut = bytes.len() / 2 - 3;
    [compress(&bytes[..cut]), compress(&bytes[cut..])].concat()
}

#[test]
fn every_format_comes_back_in_its_compression() {
    let lines = [records().join(&b"\n"[..]), b"\n".to_vec()].concat();
    let kept_lines = json_lines([text(1, 20), text(2, 20), text(3, 20)]);
    let skippable = b"\x50\x2A\x4D\x18\x04\x00\x00\x00skip";
    let long = zstd_long(&lines);
    let needs_long = zstd::decode_all(&long[..]).is_err();
    assert!(needs_long, "the window is not long");
    let gzip_magic = &b"\x1F\x8B"[..];
    let zstd_magic = &b"\x28\xB5\x2F\xFD"[..];
    let place = Place::new();
    for (name, bytes, magic) in [
        ("in.jsonl", lines.clone(), &b"{"[..]),
        ("in.jsonl.gz", gzip(&lines), gzip_magic),
        ("members.jsonl.gz", in_pieces(gzip, &lines), gzip_magic),
        (
            "empty-member.jsonl.gz",
            [gzip(b""), gzip(&lines), gzip(b"")].concat(),
            gzip_magic,
        ),
        ("in.jsonl.zst", zstd(&lines), zstd_magic),
        ("frames.jsonl.zst", in_pieces(zstd, &lines), zstd_magic),
        (
            "skippable.jsonl.zst",
            [skippable, &zstd(&lines)[..], skippable].concat(),
            zstd_magic,
        ),
        ("long.jsonl.zst", long, zstd_magic),
        // What a file is called does not decide how it is compressed.
        ("misnamed.jsonl", gzip(&lines), gzip_magic),
        ("misnamed.jsonl.gz", lines.clone(), b"{"),
    ] {
        place.write(name, bytes);
        for verify in ["signature", "exact"] {
            let results = place.dedup(&format!("{name} --verify {verify}"));
            assert_eq!(results.kept_names(), [name]);
            assert!(results.stored(name).starts_with(magic), "{name}");
            assert_eq!(results.kept(name), kept_lines, "{name}");
        }
    }
}

#[test]
fn text_files_are_documents() {
    let place = Place::new();
    let (one, two) = (text(1, 30), text(2, 30));
    let with_mark = format!("\u{FEFF}{two}\r\n\r\n");
    place.write("docs/a.txt", &one);
    place.write("docs/b.txt.gz", in_pieces(gzip, with_mark.as_bytes()));
    place.write("docs/sub/c.txt.zst", in_pieces(zstd, one.as_bytes()));
    place.write("docs/sub/README", text(3, 30));
    let results = place.dedup("docs");
    assert_eq!(results.kept_names(), ["a.txt", "b.txt.gz", "sub/README"]);
    assert_eq!(results.kept("a.txt"), one.as_bytes());
    assert!(results.stored("b.txt.gz").starts_with(b"\x1F\x8B"));
    assert_eq!(results.kept("b.txt.gz"), with_mark.as_bytes());
    let removal = (
        json!("sub/c.txt.zst:0"),
        json!("a.txt:0"),
        json!("identical"),
    );
    assert_eq!(results.removals(), [removal]);
}

// Tables

/// Which rows of the tables below are kept: all but those that repeat the text of an earlier one.
const KEPT_ROWS: [usize; 4] = [0, 1, 3, 4];

/// A table with a struct, lists, nulls and a dictionary, and metadata of its columns.
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

/// The rows of a Parquet file as one batch, and what it says of itself.
fn read_table(bytes: Vec<u8>) -> (RecordBatch, Arc<ParquetMetaData>) {
    fn open(bytes: impl ChunkReader + 'static) -> (ParquetRecordBatchReader, Arc<ParquetMetaData>) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let metadata = builder.metadata().clone();
        (builder.build().unwrap(), metadata)
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    assert_eq!(file.len(), bytes.len() as u64);
    let (reader, metadata) = open(file);
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let rows = arrow_select::concat::concat_batches(&schema, &batches).unwrap();
    (rows, metadata)
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
fn large_tables_are_read_and_kept_in_order() {
    // Many row groups and batches, which do not end together; every fifth row repeats the one before.
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

#[test]
fn a_field_inside_a_struct_is_reached_by_a_dotted_name() {
    let inner: ArrayRef = strings([text(1, 20), text(2, 20), text(1, 20)]);
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 9]));
    let body = arrow_array::StructArray::try_from(vec![("content", inner), ("key", keys)]).unwrap();
    let place = Place::new();
    place.write(
        "in.parquet",
        parquet([("body", Arc::new(body) as ArrayRef)]),
    );
    let records = [(1, 7), (2, 8), (1, 9)].map(|(seed, key)| {
        json!({"body": {"content": text(seed, 20), "key": key}, "body.content": "not this one"})
    });
    place.write("in.jsonl", lines_of(records));
    for name in ["in.parquet", "in.jsonl"] {
        let results = place.dedup(&format!(
            "{name} --text-field body.content --id-field body.key"
        ));
        assert_eq!(
            results.removals(),
            [(json!(9), json!(7), json!("identical"))],
            "{name}"
        );
    }
}

// Where files come from

/// A record with a text that no other file has, and one that all have.
fn mostly_like(seed: u64) -> Vec<u8> {
    json_lines([text(seed, 20), text(0, 20)])
}

#[test]
fn a_folder_is_walked_and_its_shape_kept() {
    let place = Place::new();
    place.write("docs/b.jsonl", mostly_like(1));
    place.write("docs/a/z.jsonl.gz", gzip(&mostly_like(2)));
    place.write(
        "docs/a/deep/er.parquet",
        parquet([("text", strings([text(3, 20), text(0, 20)]))]),
    );
    place.write("docs/c/gone.jsonl", json_lines([text(0, 20)]));
    let results = place.dedup("docs");
    // Files come in the order of their names, so the first one keeps the common text.
    let kept = ["a/deep/er.parquet", "a/z.jsonl.gz", "b.jsonl"];
    assert_eq!(results.kept_names(), kept);
    assert_eq!(results.kept("a/z.jsonl.gz"), json_lines([text(2, 20)]));
    assert_eq!(results.kept("b.jsonl"), json_lines([text(1, 20)]));
    let removed: Vec<_> = results
        .removed
        .iter()
        .map(|line| line["file"].clone())
        .collect();
    assert_eq!(removed, ["a/z.jsonl.gz", "b.jsonl", "c/gone.jsonl"]);
}

#[test]
fn a_glob_finds_files() {
    let place = Place::new();
    place.write("docs/x1.jsonl", mostly_like(1));
    place.write("docs/x2.jsonl", mostly_like(2));
    place.write("docs/y.jsonl", "not JSON");
    place.write("docs/sub/x3.jsonl", mostly_like(3));
    let results = place.dedup("docs/x*.jsonl");
    assert_eq!(results.kept_names(), ["x1.jsonl", "x2.jsonl"]);
    let results = place.dedup("docs/**/x?.jsonl");
    assert_eq!(
        results.kept_names(),
        ["sub/x3.jsonl", "x1.jsonl", "x2.jsonl"]
    );
}

#[test]
fn several_inputs_keep_their_paths_below_the_common_parent() {
    let place = Place::new();
    place.write("data/one/in.jsonl", mostly_like(1));
    place.write("data/two/deep/in.jsonl", mostly_like(2));
    place.write("data/two/other.txt", text(0, 20));
    let results = place.dedup("data/two data/one/in.jsonl");
    let kept = ["one/in.jsonl", "two/deep/in.jsonl"];
    assert_eq!(results.kept_names(), kept);
    // The order of the inputs is the order in which they are named.
    assert_eq!(results.kept("two/deep/in.jsonl"), mostly_like(2));
    assert_eq!(results.kept("one/in.jsonl"), json_lines([text(1, 20)]));
}

#[test]
fn a_file_that_is_named_twice_is_read_once() {
    let place = Place::new();
    place.write("docs/in.jsonl", mostly_like(1));
    let run = place
        .run("dedup docs ./docs/in.jsonl docs/../docs -o out")
        .succeeded();
    assert!(
        run.stderr.contains("named more than once"),
        "{}",
        run.stderr
    );
    assert_eq!(Results::of(&place.path("out")).count("documents"), 2);
}

#[cfg(unix)]
#[test]
fn files_with_names_that_are_no_utf_8_are_all_kept_or_refused() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    std::fs::create_dir(place.path("docs")).unwrap();
    // Names that differ, and look the same where bad bytes are replaced.
    for (i, name) in [&b"a\xFE.jsonl"[..], b"a\xFF.jsonl"]
        .into_iter()
        .enumerate()
    {
        let name = std::ffi::OsStr::from_bytes(name);
        std::fs::write(
            place.path("docs").join(name),
            json_lines([format!("text {i}")]),
        )
        .unwrap();
    }
    let run = place.run("dedup docs -o out");
    if run.code == Some(0) {
        assert_eq!(
            count_files(&place.path("out/kept")),
            2,
            "a kept file took the place of another"
        );
    } else {
        run.refused(1, &["docs", "UTF-8", "; "]);
    }
}

#[cfg(unix)]
fn count_files(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn stdin_is_read_in_every_format() {
    let lines = json_lines([text(1, 20), text(2, 20), text(1, 20)]);
    let kept_lines = json_lines([text(1, 20), text(2, 20)]);
    let table = parquet([("text", strings([text(1, 20), text(2, 20), text(1, 20)]))]);
    let place = Place::new();
    for (stdin, options, name) in [
        (lines.clone(), "", "stdin.jsonl"),
        (gzip(&lines), "", "stdin.jsonl.gz"),
        (in_pieces(gzip, &lines), "", "stdin.jsonl.gz"),
        (zstd(&lines), "", "stdin.jsonl.zst"),
        (
            lines.clone(),
            "--format jsonl --verify exact",
            "stdin.jsonl",
        ),
        (table.clone(), "", "stdin.parquet"),
        (
            table.clone(),
            "--format parquet --verify exact",
            "stdin.parquet",
        ),
        (gzip(&table), "--format parquet", "stdin.parquet.gz"),
    ] {
        let results = place.dedup_with_stdin(&format!("- {options}"), &stdin);
        assert_eq!(results.kept_names(), [name]);
        // Compressed as it came, told by the first bytes.
        assert_eq!(results.stored(name)[..2], stdin[..2], "{name}");
        if name.contains("jsonl") {
            assert_eq!(results.kept(name), kept_lines);
        } else {
            assert_eq!(read_table(results.kept(name)).0.num_rows(), 2);
        }
        assert_eq!(results.removed[0]["id"], format!("{name}:2"));
    }
}

#[test]
fn stdin_stands_among_files_where_it_was_named() {
    let place = Place::new();
    place.write("a.jsonl", mostly_like(1));
    place.write("b.txt", text(0, 20));
    let results = place.dedup_with_stdin("b.txt - a.jsonl", &mostly_like(2));
    assert_eq!(results.kept_names(), ["a.jsonl", "b.txt", "stdin.jsonl"]);
    let removed: Vec<_> = results
        .removed
        .iter()
        .map(|line| line["id"].clone())
        .collect();
    assert_eq!(removed, ["stdin.jsonl:1", "a.jsonl:1"]);
    let results = place.dedup_with_stdin("- --format text", text(5, 20).as_bytes());
    assert_eq!(results.kept("stdin.txt"), text(5, 20).as_bytes());
}

// Ids and fields

/// Two records with one text and more fields, and the removal that is reported of them.
fn removal_of(place: &Place, records: [Value; 2], options: &str) -> (Value, Value) {
    place.write("in.jsonl", lines_of(records));
    let results = place.dedup(&format!("in.jsonl {options}"));
    let [removed] = &results.removed[..] else {
        panic!("{:?}", results.removed);
    };
    (removed["id"].clone(), removed["kept_id"].clone())
}

#[test]
fn an_id_is_the_field_or_the_place() {
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
        // One record without an id, or with one of another type, and none counts.
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
        // A null is no id, so that places stand in for all.
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

#[test]
fn integers_beyond_64_bits_stay_as_they_are() {
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

#[test]
fn the_last_of_repeated_keys_wins() {
    let (one, two) = (text(1, 20), text(2, 20));
    let place = Place::new();
    let line = |first: &str, last: &str, id: &str| {
        format!("{{\"id\":0,\"text\":\"{first}\",\"text\":\"{last}\",\"id\":{id}}}\n")
    };
    place.write(
        "in.jsonl",
        line(&one, &two, "1") + &line(&two, &one, "2") + &line("", &two, "3"),
    );
    let results = place.dedup("in.jsonl");
    assert_eq!(
        results.removals(),
        [(json!(3), json!(1), json!("identical"))]
    );
}

#[test]
fn a_lone_surrogate_counts_as_the_replacement_character_and_stays_in_the_record() {
    let place = Place::new();
    let record = |text: &str| format!("{{\"text\": \"w1 w2 w3 w4 {text} w6 w7\"}}\n");
    // A pair of escapes is one character; a half, either half, or halves in the wrong order are not.
    let alone = record(r"x\ud83dy");
    let pair = record(r"\ud83d\ude00");
    let low_first = record(r"x\ude00y");
    let literal = record("x\u{FFFD}y");
    place.write("in.jsonl", [&*alone, &pair, &low_first, &literal].concat());
    let results = place.dedup("in.jsonl --unit chars");
    assert_eq!(
        results.kept("in.jsonl"),
        [alone, pair].concat().into_bytes()
    );
    assert_eq!(results.count("identical"), 2);
}

#[test]
fn tokens_are_strings_and_numbers() {
    let place = Place::new();
    let shared: Vec<Value> = (0..30).map(|i| json!(format!("t{i}"))).collect();
    let with = |extra: Value| {
        let tokens: Vec<Value> = shared.iter().cloned().chain([extra]).collect();
        json!({"tokens": tokens})
    };
    place.write(
        "in.jsonl",
        lines_of([
            with(json!(1)),
            with(json!("1")),
            with(json!(2.5)),
            json!({"tokens": []}),
        ]),
    );
    let results = place.dedup("in.jsonl --unit tokens --verify exact");
    // A number is its source text; sets that share 30 of 32 elements are alike.
    let found: Vec<_> = results
        .removed
        .iter()
        .map(|r| (&r["row"], &r["similarity"], &r["found_by"]))
        .collect();
    let expected = [
        (&json!(1), &json!(1.0), &json!("identical")),
        (&json!(2), &json!(30.0 / 32.0), &json!("exact")),
    ];
    assert_eq!(found, expected);
    // An array without a token has no shingle.
    assert_eq!(results.count("without_shingles"), 1);
    let mut lists = ListBuilder::new(arrow_array::builder::Int32Builder::new());
    for row in [vec![1, 2, 3], vec![3, 2, 1], vec![1, 2, 3]] {
        lists.append_value(row.into_iter().map(Some));
    }
    place.write(
        "in.parquet",
        parquet([("ids", Arc::new(lists.finish()) as ArrayRef)]),
    );
    let results = place.dedup("in.parquet --unit tokens --tokens-field ids --verify exact");
    let found: Vec<_> = results
        .removed
        .iter()
        .map(|r| (&r["row"], &r["found_by"]))
        .collect();
    // Order does not matter to a set, but only one sequence is identical to another.
    assert_eq!(
        found,
        [
            (&json!(1), &json!("exact")),
            (&json!(2), &json!("identical"))
        ]
    );
}

// Documents of all sizes and scripts

#[test]
fn documents_without_a_shingle_are_always_kept() {
    let place = Place::new();
    let texts = ["", " ", "", "?!", "\t\n", "\u{200B}", ""];
    place.write("in.jsonl", json_lines(texts));
    for options in [
        "",
        "--verify exact",
        "--verify none",
        "--cluster connected --keep longest",
    ] {
        let results = place.dedup(&format!("in.jsonl {options}"));
        assert_eq!(results.kept("in.jsonl"), json_lines(texts), "{options}");
        assert_eq!(results.count("without_shingles"), 7);
    }
    assert!(place.pairs("in.jsonl").is_empty());
    // As bytes, a blank is something.
    place.write("in.jsonl", json_lines(["", " ", "", " ", "x"]));
    let results = place.dedup("in.jsonl --unit bytes");
    assert_eq!(results.kept("in.jsonl"), json_lines(["", " ", "", "x"]));
    assert_eq!(results.count("without_shingles"), 2);
}

#[test]
fn empty_text_files_are_empty_documents() {
    let place = Place::new();
    place.write("docs/a.txt", "");
    place.write("docs/b.txt", "");
    place.write("docs/c.txt.gz", gzip(b""));
    let results = place.dedup("docs");
    assert_eq!(results.kept_names(), ["a.txt", "b.txt", "c.txt.gz"]);
    assert_eq!(results.kept("c.txt.gz"), b"");
    assert_eq!(results.count("without_shingles"), 3);
}

#[test]
fn a_text_shorter_than_a_shingle_is_one_shingle() {
    let place = Place::new();
    let texts = ["x", "y", "x", "x y", "x  y", "y x", "7"];
    place.write("in.jsonl", json_lines(texts));
    for unit in ["bytes", "chars", "words"] {
        let results = place.dedup(&format!("in.jsonl --unit {unit}"));
        let kept = json_lines(["x", "y", "x y", "y x", "7"]);
        assert_eq!(results.kept("in.jsonl"), kept, "{unit}");
    }
}

#[test]
fn every_script_is_processed() {
    let hebrew = "בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום";
    let arabic = "قفا نبك من ذكرى حبيب ومنزل بسقط اللوى بين الدخول فحومل فتوضح فالمقراة";
    let japanese = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
    let chinese = "學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍，不亦君子乎？";
    let thai = "คนทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ";
    let emoji = "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 family, flag and country 👍🏽 one two three four";
    let texts = [hebrew, arabic, japanese, chinese, thai, emoji];
    let twice = || texts.into_iter().chain(texts);
    let place = Place::new();
    place.write("in.jsonl", json_lines(twice()));
    place.write("in.parquet", parquet([("text", strings(twice()))]));
    for unit in ["words", "chars", "bytes", "stopwords"] {
        for options in [
            "",
            "--lowercase --strip-punctuation",
            "--keep-whitespace --verify exact",
        ] {
            let results = place.dedup(&format!("in.jsonl --unit {unit} {options}"));
            let without = results.count("without_shingles");
            // Only the last one holds an English stop word.
            assert_eq!(without, if unit == "stopwords" { 10 } else { 0 }, "{unit}");
            assert_eq!(results.count("kept") + results.count("removed"), 12);
            if unit != "stopwords" {
                assert_eq!(
                    results.kept("in.jsonl"),
                    json_lines(texts),
                    "{unit} {options}"
                );
            }
        }
    }
    assert_eq!(place.dedup("in.parquet").count("kept"), 6);
}

#[test]
fn nul_bytes_are_characters_like_others() {
    let place = Place::new();
    let with_nul = format!("{}\0{}", text(1, 20), text(2, 20));
    let only_nul = "\0".repeat(100);
    let texts = [&with_nul, &only_nul, &with_nul];
    place.write("in.jsonl", json_lines(texts));
    place.write("docs/a.txt", &with_nul);
    place.write("docs/b.txt", &only_nul);
    place.write("docs/c.txt", &with_nul);
    for unit in ["words", "chars", "bytes"] {
        let results = place.dedup(&format!("in.jsonl --unit {unit}"));
        assert_eq!(results.kept("in.jsonl"), json_lines([&with_nul, &only_nul]));
        let results = place.dedup(&format!("docs --unit {unit}"));
        assert_eq!(results.kept_names(), ["a.txt", "b.txt"]);
        assert_eq!(results.kept("b.txt"), only_nul.as_bytes());
    }
}

#[test]
fn a_document_of_50_mb_is_one_like_others() {
    // As long as a library shelf, between two small ones, and once more with another end.
    let mut long = String::new();
    for number in 0.. {
        if long.len() >= 50_000_000 {
            break;
        }
        long.push_str(&format!("word{number} "));
    }
    let nearly = format!("{long} and an end");
    let place = Place::new();
    place.write(
        "in.jsonl.zst",
        zstd(&numbered_lines(["small", &long, "other", &nearly], 0)),
    );
    let results = place.dedup("in.jsonl.zst --verify exact --keep first");
    let kept = numbered_lines(["small", &long, "other"], 0);
    assert!(results.kept("in.jsonl.zst") == kept);
    let [removed] = &results.removed[..] else {
        panic!("{} removed", results.removed.len());
    };
    assert_eq!(
        (&removed["id"], &removed["kept_id"]),
        (&json!(3), &json!(1))
    );
    assert!(results.count("bytes") > 100_000_000);
}
