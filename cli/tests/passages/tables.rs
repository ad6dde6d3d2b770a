//! Passages of Parquet and Arrow files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;

use super::{TEXTS, kept_by_lists, passages, write_sides};
use crate::support::{Place, parse_lines};

/// A table of the texts, and what is not a text.
fn table(texts: ArrayRef) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter(0..TEXTS.len() as i64));
    let others: ArrayRef = Arc::new(StringArray::from_iter([
        Some("a"),
        None,
        Some("c"),
        Some(""),
        Some("\u{e9}"),
    ]));
    RecordBatch::try_from_iter([("id", ids), ("text", texts), ("n", others)]).unwrap()
}

fn write_arrow(place: &Place, name: &str, rows: &RecordBatch) {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &rows.schema()).unwrap();
    writer.write(rows).unwrap();
    writer.finish().unwrap();
    drop(writer);
    place.write(name, bytes);
}

#[test]
fn tables_differ_in_their_texts_alone() {
    let place = Place::new();
    let rows = table(Arc::new(LargeStringArray::from_iter_values(TEXTS)));
    write_arrow(&place, "in.arrow", &rows);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    place.write("in.parquet", bytes);
    let file = |name: &str| std::fs::File::open(place.path(&format!("out/kept/{name}"))).unwrap();
    for name in ["in.arrow", "in.parquet"] {
        passages(&place, &format!("{name} --action cut --min-length 5"));
        let expected = kept_by_lists(&place, &TEXTS);
        assert_ne!(expected, TEXTS);
        let kept = match name {
            "in.arrow" => FileReader::try_new(file(name), None)
                .unwrap()
                .next()
                .unwrap()
                .unwrap(),
            _ => ParquetRecordBatchReaderBuilder::try_new(file(name))
                .unwrap()
                .build()
                .unwrap()
                .next()
                .unwrap()
                .unwrap(),
        };
        assert_eq!(kept.schema().fields(), rows.schema().fields(), "{name}");
        assert_eq!(
            (kept.column(0), kept.column(2)),
            (rows.column(0), rows.column(2)),
            "{name}"
        );
        let texts: Vec<&str> = kept.column(1).as_string::<i64>().iter().flatten().collect();
        assert_eq!(texts, expected, "{name}");
    }
}

/// A table of nested texts of two fields, in views.
fn nested() -> RecordBatch {
    let halves = |half: usize| -> ArrayRef {
        let texts = TEXTS.iter().map(|text| {
            let middle = text.find(' ').map_or(0, |at| at + 1);
            Some(
                if half == 0 {
                    &text[..middle]
                } else {
                    &text[middle..]
                }
                .trim(),
            )
        });
        Arc::new(texts.collect::<StringViewArray>())
    };
    let fields = ["a", "b"].map(|name| Field::new(name, DataType::Utf8View, true));
    let columns = vec![halves(0), halves(1)];
    let outer = StructArray::try_new(fields.to_vec().into(), columns, None).unwrap();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter(0..TEXTS.len() as i64));
    RecordBatch::try_from_iter([("id", ids), ("of", Arc::new(outer) as ArrayRef)]).unwrap()
}

fn write_parquet(place: &Place, name: &str, rows: &RecordBatch) {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    place.write(name, bytes);
}

fn rows_of(place: &Place, name: &str) -> RecordBatch {
    let file = std::fs::File::open(place.path(name)).unwrap();
    let batch = if name.ends_with("arrow") {
        FileReader::try_new(file, None).unwrap().next()
    } else {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        reader.build().unwrap().next()
    };
    batch.unwrap().unwrap()
}

#[test]
fn marked_tables_have_one_more_column() {
    let place = Place::new();
    let plain = table(Arc::new(StringViewArray::from_iter_values(TEXTS)));
    for (rows, fields) in [
        (plain, ""),
        (nested(), "--text-field of.a --text-field of.b"),
    ] {
        write_arrow(&place, "in.arrow", &rows);
        write_parquet(&place, "in.parquet", &rows);
        for name in ["in.arrow", "in.parquet"] {
            let run = format!("{name} --min-length 5 --action mark --mark-field p.q {fields}");
            let found = passages(&place, &run);
            assert!(!found.is_empty());
            let kept = rows_of(&place, &format!("out/kept/{name}"));
            let (last, before) = kept.columns().split_last().unwrap();
            assert_eq!(before, rows.columns(), "{name}");
            let schema = kept.schema();
            assert_eq!(schema.fields()[..before.len()], rows.schema().fields()[..]);
            assert_eq!(schema.field(before.len()).name(), "p.q");
            let mut covered: Vec<Vec<bool>> = vec![vec![false; 200]; TEXTS.len()];
            for line in &found {
                let [row, start, end] = ["row", "start", "end"]
                    .map(|name| usize::try_from(line[name].as_u64().unwrap()).unwrap());
                covered[row][start..end].fill(true);
            }
            let marks = last.as_list::<i32>();
            for (row, covered) in covered.iter().enumerate() {
                let of_row = marks.value(row);
                let sides = of_row.as_struct();
                let side = |at: usize| sides.column(at).as_primitive::<UInt32Type>().values();
                let mut marked = vec![false; 200];
                for (start, end) in side(0).iter().zip(side(1)) {
                    marked[*start as usize..*end as usize].fill(true);
                }
                let both = covered.iter().zip(&marked);
                // A mark goes on over a blank between two pieces.
                assert!(both.clone().all(|(covered, marked)| !covered || *marked));
                let more = both.filter(|(covered, marked)| **marked && !**covered);
                assert!(more.count() <= found.len(), "{name} {row}");
            }
            let run = format!("passages {name} --action mark --mark-field id {fields} -o other");
            place.run(&run).refused(
                1,
                &[name, "there is a column \"id\" already", "--mark-field"],
            );
        }
    }
    place.write("in.csv", "id,text\n1,a\n");
    place
        .run("passages in.csv --action mark -o other")
        .refused(1, &["in.csv", "JSON, Parquet or Arrow"]);
}

#[test]
fn nested_texts_of_tables_are_cut_in_each_field() {
    let place = Place::new();
    let rows = nested();
    write_arrow(&place, "in.arrow", &rows);
    write_parquet(&place, "in.parquet", &rows);
    let lines: String = (0..rows.num_rows())
        .map(|row| {
            let outer = rows.column(1).as_struct();
            let text = |at: usize| outer.column(at).as_string_view().value(row).to_owned();
            format!(
                "{}\n",
                json!({"id": row, "of": {"a": text(0), "b": text(1)}})
            )
        })
        .collect();
    place.write("in.jsonl", lines);
    let fields = "--min-length 5 --action cut --text-field of.a --text-field of.b";
    passages(&place, &format!("in.jsonl {fields}"));
    let expected = parse_lines(&place.read("out/kept/in.jsonl"));
    for name in ["in.arrow", "in.parquet"] {
        passages(&place, &format!("{name} {fields}"));
        let kept = rows_of(&place, &format!("out/kept/{name}"));
        assert_eq!(kept.schema().fields(), rows.schema().fields(), "{name}");
        let outer = kept.column(1).as_struct();
        for (row, expected) in expected.iter().enumerate() {
            for (at, field) in ["a", "b"].iter().enumerate() {
                let text = outer.column(at).as_string_view().value(row);
                assert_eq!(expected["of"][field], text, "{name}");
            }
        }
    }
}

#[test]
fn a_table_of_passages_has_all_fields() {
    let place = Place::new();
    write_sides(&place);
    for options in [
        "",
        "--against old.jsonl --against-text-field body --against-id-field key --on-bad-record skip",
    ] {
        let run = format!("new --min-length 4 {options}");
        let lines = passages(&place, &run);
        let command = format!("passages {run} --passages-format parquet -o out --overwrite -q");
        place.run(&command).succeeded();
        assert!(!place.holds("out/passages.jsonl"));
        let rows = rows_of(&place, "out/passages.parquet");
        assert_eq!(rows.num_rows(), lines.len());
        let schema = rows.schema();
        for (row, line) in lines.iter().enumerate() {
            assert_eq!(line.as_object().unwrap().len(), schema.fields().len());
            for (field, column) in schema.fields().iter().zip(rows.columns()) {
                let expected = &line[field.name()];
                match column.data_type() {
                    DataType::UInt64 => {
                        assert_eq!(*expected, column.as_primitive::<UInt64Type>().value(row));
                    }
                    DataType::Int64 => {
                        assert_eq!(*expected, column.as_primitive::<Int64Type>().value(row));
                    }
                    DataType::Boolean => assert_eq!(*expected, column.as_boolean().value(row)),
                    _ => {
                        let text = column.as_string::<i32>().value(row);
                        let number = expected.as_u64().map(|number| number.to_string());
                        assert_eq!(number.as_deref().or(expected.as_str()), Some(text));
                    }
                }
            }
        }
    }
}

#[test]
fn texts_with_a_dictionary_are_refused_before_anything_is_written() {
    let place = Place::new();
    let texts: DictionaryArray<Int32Type> = TEXTS.into_iter().collect();
    write_arrow(&place, "in.arrow", &table(Arc::new(texts)));
    let run = place.run("passages in.arrow --action cut --min-length 5 -o out");
    assert_eq!(run.code, Some(1));
    let message = "cannot be cut; write the column as strings without a dictionary";
    assert!(
        run.stderr.contains(message) && run.stderr.contains("in.arrow"),
        "{}",
        run.stderr
    );
    assert!(!place.path("out").exists());
    // Without passages it is refused, too, and without cuts it is read.
    let run = place.run("passages in.arrow --action cut --min-length 50 -o out");
    assert!(run.stderr.contains(message), "{}", run.stderr);
    assert!(!passages(&place, "in.arrow --min-length 5").is_empty());
}
