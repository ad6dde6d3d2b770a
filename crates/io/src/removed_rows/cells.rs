//! Reads rows of Parquet files of results.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection};
use serde_json::value::RawValue;

use super::row::RemovedRow;
use crate::sized_file::SizedFile;
use simgpu::error::{Error, Result};

/// The cells of a row of a table.
pub(super) struct Cells<'a> {
    pub(super) path: &'a Path,
    pub(super) batch: &'a RecordBatch,
    pub(super) row: usize,
}

impl Cells<'_> {
    pub(super) fn odd(&self, name: &str) -> Error {
        odd(
            self.path,
            &format!("the column {name} is not as dedup writes it"),
        )
    }

    pub(super) fn column(&self, name: &str) -> Result<&dyn Array> {
        let column = self.batch.column_by_name(name);
        column.map(|column| &**column).ok_or_else(|| self.odd(name))
    }

    pub(super) fn value<T>(
        &self,
        name: &str,
        get: impl Fn(&dyn Array) -> Option<T>,
    ) -> Result<Option<T>> {
        let column = self.column(name)?;
        if column.is_null(self.row) {
            Ok(None)
        } else {
            get(column).map(Some).ok_or_else(|| self.odd(name))
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        let text =
            |column: &dyn Array| Some(column.as_string_opt::<i32>()?.value(self.row).to_owned());
        self.value(name, text)
    }

    pub(super) fn count(&self, name: &str) -> Result<Option<u64>> {
        let count =
            |column: &dyn Array| Some(column.as_primitive_opt::<UInt64Type>()?.value(self.row));
        self.value(name, count)
    }

    fn number(&self, name: &str) -> Result<Option<f64>> {
        let number =
            |column: &dyn Array| Some(column.as_primitive_opt::<Float64Type>()?.value(self.row));
        self.value(name, number)
    }

    /// The value in a column that some runs do not write.
    fn optional<T>(
        &self,
        name: &str,
        get: impl Fn(&Self, &str) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        match self.batch.column_by_name(name) {
            Some(_) => get(self, name),
            None => Ok(None),
        }
    }

    pub(super) fn id(&self, name: &str) -> Result<Option<Box<RawValue>>> {
        self.value(name, |column| match column.data_type() {
            DataType::Int64 | DataType::Utf8 => {
                let json = match column.as_string_opt::<i32>() {
                    Some(texts) => serde_json::to_string(texts.value(self.row)).ok()?,
                    None => column
                        .as_primitive::<Int64Type>()
                        .value(self.row)
                        .to_string(),
                };
                RawValue::from_string(json).ok()
            }
            _ => None,
        })
    }

    pub(super) fn removed(&self) -> Result<RemovedRow> {
        let needed = |name: &str| self.odd(name);
        Ok(RemovedRow {
            id: self.id("id")?.ok_or_else(|| needed("id"))?,
            file: self.text("file")?.ok_or_else(|| needed("file"))?,
            row: self.count("row")?.ok_or_else(|| needed("row"))?,
            kept_id: self.id("kept_id")?,
            kept_in: self.optional("kept_in", Cells::text)?,
            kept_file: self.text("kept_file")?,
            kept_row: self.count("kept_row")?,
            similarity: self.number("similarity")?,
            lost: self.optional("lost", Cells::number)?,
            found_by: self.text("found_by")?.ok_or_else(|| needed("found_by"))?,
            via_id: self.id("via_id")?,
            via_similarity: self.number("via_similarity")?,
        })
    }
}

pub(super) fn text_of_id(ids: &dyn Array, row: usize) -> String {
    match (
        ids.as_string_opt::<i32>(),
        ids.as_primitive_opt::<Int64Type>(),
    ) {
        (Some(texts), _) => texts.value(row).to_owned(),
        (None, Some(numbers)) => numbers.value(row).to_string(),
        (None, None) => String::new(),
    }
}

pub(super) fn is_id(ids: &dyn Array, row: usize, id: &str) -> bool {
    match (
        ids.as_string_opt::<i32>(),
        ids.as_primitive_opt::<Int64Type>(),
    ) {
        (Some(texts), _) => texts.value(row) == id,
        // Only one way to write a number is an id.
        (None, Some(numbers)) => {
            let number = numbers.value(row);
            id.parse() == Ok(number) && number.to_string() == id
        }
        (None, None) => false,
    }
}

/// The number of rows of a Parquet file, and all columns of those in one of whose columns `keys` the value at a row `is_wanted`.
pub(super) fn rows_of_table(
    path: &Path,
    keys: &[&str],
    mut is_wanted: impl FnMut(&dyn Array, usize) -> bool,
) -> Result<(u64, Vec<RecordBatch>)> {
    const BATCH: usize = 1 << 16;
    let open = || {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let file = SizedFile::new(file).map_err(Error::io("read", path))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file);
        let builder = builder.map_err(|error| odd(path, &error.to_string()))?;
        Ok::<_, Error>(builder.with_batch_size(BATCH))
    };
    let unreadable = |error: &dyn std::fmt::Display| odd(path, &error.to_string());
    let builder = open()?;
    let names = keys.iter().copied();
    let projection = ProjectionMask::columns(builder.parquet_schema(), names);
    let reader = builder.with_projection(projection).build();
    let (mut wanted, mut rows) = (Vec::new(), 0);
    for batch in reader.map_err(|error| unreadable(&error))? {
        let batch = batch.map_err(|error| unreadable(&error))?;
        if batch.num_columns() != keys.len() {
            return Err(odd(path, "it lacks columns that dedup writes"));
        }
        let columns = batch.columns();
        for row in 0..batch.num_rows() {
            // All are asked, so that each is seen.
            if columns.iter().any(|column| is_wanted(&**column, row)) {
                wanted.push(rows + row..rows + row + 1);
            }
        }
        rows += batch.num_rows();
    }
    if wanted.is_empty() {
        return Ok((rows as u64, Vec::new()));
    }
    let selection = RowSelection::from_consecutive_ranges(wanted.into_iter(), rows);
    let reader = open()?.with_row_selection(selection).build();
    let batches = reader.map_err(|error| unreadable(&error))?;
    let batches = batches.map(|batch| batch.map_err(|error| unreadable(&error)));
    Ok((rows as u64, batches.collect::<Result<_>>()?))
}

pub(super) fn odd(path: &Path, problem: &str) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem: problem.to_owned(),
        remedy: "run dedup again to write it anew".to_owned(),
    }
}
