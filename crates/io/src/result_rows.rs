//! Writes rows of results as JSON Lines, CSV or Parquet.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::keep::{JsonLines, system_error};
use super::pairs::PairsFormat;
use super::table::{ColumnWriter, unwritable};
use simgpu::error::{Error, Result};

/// Rows of results: calls its argument with batches of one schema.
pub(crate) type ForEachBatch<'a> =
    dyn Fn(&mut dyn FnMut(RecordBatch) -> Result<()>) -> Result<()> + 'a;

/// A value in a table of results, of one of the types that they have.
enum Cell<'a> {
    Null,
    Integer(i64),
    Count(u64),
    Number(f64),
    Boolean(bool),
    Text(&'a str),
}

impl<'a> Cell<'a> {
    fn at(column: &'a ArrayRef, row: usize) -> Self {
        if column.is_null(row) {
            return Cell::Null;
        }
        match column.data_type() {
            DataType::Int64 => Cell::Integer(column.as_primitive::<Int64Type>().value(row)),
            DataType::UInt64 => Cell::Count(column.as_primitive::<UInt64Type>().value(row)),
            DataType::Float64 => Cell::Number(column.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => Cell::Boolean(column.as_boolean().value(row)),
            DataType::Utf8 => Cell::Text(column.as_string::<i32>().value(row)),
            _ => Cell::Null,
        }
    }

    /// The text in a CSV file.
    fn text(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Integer(integer) => integer.to_string(),
            Cell::Count(count) => count.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Boolean(boolean) => boolean.to_string(),
            Cell::Text(text) => (*text).to_owned(),
        }
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Cell::Null => serializer.serialize_none(),
            Cell::Integer(integer) => serializer.serialize_i64(*integer),
            Cell::Count(count) => serializer.serialize_u64(*count),
            Cell::Number(number) => serializer.serialize_f64(*number),
            Cell::Boolean(boolean) => serializer.serialize_bool(*boolean),
            Cell::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// One line of JSON.
struct RowLine<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl Serialize for RowLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(Some(self.batch.num_columns()))?;
        let fields = self.batch.schema_ref().fields().iter();
        for (field, column) in fields.zip(self.batch.columns()) {
            line.serialize_entry(field.name(), &Cell::at(column, self.row))?;
        }
        line.end()
    }
}

/// Writes rows as JSON Lines or CSV.
#[doc(hidden)]
pub fn write_rows_as_text(
    rows: &ForEachBatch<'_>,
    schema: &Schema,
    format: PairsFormat,
    target: impl Write,
    path: &Path,
) -> Result<()> {
    if format != PairsFormat::Csv {
        let mut lines = JsonLines::new(target, path.to_owned());
        rows(&mut |batch| {
            let batch = &batch;
            (0..batch.num_rows()).try_for_each(|row| lines.write(&RowLine { batch, row }))
        })?;
        return lines.finish();
    }
    let mut csv = csv::Writer::from_writer(BufWriter::with_capacity(1 << 16, target));
    let failed = |error: csv::Error| Error::io("write to", path)(system_error(error));
    let names = schema.fields().iter().map(|field| field.name());
    csv.write_record(names).map_err(failed)?;
    rows(&mut |batch| {
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter();
            let cells = cells.map(|column| Cell::at(column, row).text());
            csv.write_record(cells).map_err(failed)?;
        }
        Ok(())
    })?;
    csv.flush().map_err(Error::io("write to", path))
}

/// Writes rows as Parquet.
#[doc(hidden)]
pub fn write_rows_as_table(
    rows: &ForEachBatch<'_>,
    schema: &Schema,
    file: File,
    path: &Path,
) -> Result<()> {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone());
    let mut table = ColumnWriter::new(file, fields.collect(), []).map_err(unwritable(path))?;
    rows(&mut |batch| {
        let written = table.write(batch.columns().to_vec());
        written.map_err(unwritable(path))
    })?;
    table.finish().map_err(unwritable(path))
}
