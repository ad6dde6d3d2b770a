use std::io::{Read, Seek};

use arrow_array::types::UInt64Type;
use arrow_array::{ListArray, StructArray, UInt64Array};
use arrow_select::concat::concat_batches;
use bytes::Bytes;

use super::*;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriter;

use super::groups::system_error;
use super::writer::GROUP_ROWS;

/// The file of these columns, written in parts of so many rows by this number of threads, or by the library's writer.
fn written(part: usize, columns: &[ArrayRef], threads: Option<usize>) -> Vec<u8> {
    let mut target = tempfile::tempfile().unwrap();
    let file = target.try_clone().unwrap();
    let field = |(i, column): (usize, &ArrayRef)| {
        Field::new(i.to_string(), column.data_type().clone(), true)
    };
    let fields: Vec<Field> = columns.iter().enumerate().map(field).collect();
    let parts = (0..columns[0].len()).step_by(part).map(|start| {
        let rows = part.min(columns[0].len() - start);
        let columns = columns.iter().map(|column| column.slice(start, rows));
        columns.collect::<Vec<ArrayRef>>()
    });
    match threads {
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let mut table = ColumnWriter::new(file, fields, []).unwrap();
                parts.for_each(|part| table.write(part).unwrap());
                table.finish().unwrap();
            });
        }
        None => {
            let schema = Arc::new(Schema::new(fields));
            let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), None).unwrap();
            for part in parts {
                let rows = RecordBatch::try_new(Arc::clone(&schema), part).unwrap();
                writer.write(&rows).unwrap();
            }
            writer.close().unwrap();
        }
    }
    let mut bytes = Vec::new();
    target.rewind().unwrap();
    target.read_to_end(&mut bytes).unwrap();
    bytes
}

/// The rows of a file, unless it is damaged.
fn read(file: Vec<u8>) -> Result<Vec<RecordBatch>, String> {
    let read = std::panic::catch_unwind(|| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file));
        let reader = reader.and_then(ParquetRecordBatchReaderBuilder::build);
        let rows = reader.map_err(|error| error.to_string())?;
        rows.map(|rows| rows.map_err(|error| error.to_string()))
            .collect()
    });
    read.unwrap_or_else(|_| Err("a panic".to_owned()))
}

/// Columns of values alone, of objects and of lists.
fn columns() -> [ArrayRef; 3] {
    let short: ArrayRef = strings(["a", "b", "a"].into_iter());
    let numbers: ArrayRef = u64s([Some(7), None, Some(9)].into_iter());
    let field =
        |name, column: &ArrayRef| Arc::new(Field::new(name, column.data_type().clone(), true));
    let objects = StructArray::from(vec![
        (field("text", &short), Arc::clone(&short)),
        (field("number", &numbers), numbers),
    ]);
    let lists = [Some(vec![Some(1), Some(2)]), None, Some(vec![])];
    let lists = ListArray::from_iter_primitive::<UInt64Type, _, _>(lists);
    [short, Arc::new(objects), Arc::new(lists)]
}

#[test]
fn errors_of_the_system_are_no_damage() {
    for (problem, is_of_system) in [
        (
            "Parquet argument error: External: Too many open files (os error 24)",
            true,
        ),
        ("External: Input/output error (os error 5)", true),
        ("External: Invalid argument (os error 22)", false),
        ("Parquet error: Page CRC checksum mismatch", false),
    ] {
        assert_eq!(system_error(problem).is_some(), is_of_system, "{problem}");
    }
}

#[test]
fn threads_write_the_bytes_of_one_thread() {
    let many: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..(GROUP_ROWS as u64 + 5)));
    for (part, columns) in [(700_000, &[many][..]), (2, &columns())] {
        let bytes = written(part, columns, Some(1));
        assert!(written(part, columns, Some(4)) == bytes);
        let whole = |file| {
            let rows = read(file).unwrap();
            concat_batches(&rows[0].schema(), &rows).unwrap()
        };
        assert!(whole(bytes) == whole(written(part, columns, None)));
    }
}

#[test]
fn no_damage_of_a_page_changes_a_value() {
    let file = written(2, &columns(), Some(1));
    let expected = read(file.clone()).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file.clone())).unwrap();
    let mut refused = 0;
    for column in builder.metadata().row_group(0).columns() {
        let (start, len) = column.byte_range();
        for at in start..start + len {
            for bit in [0, 3, 7] {
                let mut damaged = file.clone();
                damaged[usize::try_from(at).unwrap()] ^= 1 << bit;
                match read(damaged) {
                    Ok(rows) => assert_eq!(rows, expected, "{at} {bit}"),
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(refused > 300, "{refused}");
}
