//! Writes a Parquet file.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, compute_leaves,
};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use super::groups::remedy_of_writing;
use crate::page_store::PagesOfGroup;
use simgpu::clock::in_parallel;
use simgpu::error::Error;

/// Bytes of memory after which a row group is written.
const ROW_GROUP: usize = 64 << 20;

/// The most rows of a row group.
pub(super) const GROUP_ROWS: usize = 1 << 20;

/// Writes the tables of this program: similar pairs and signatures.
///
/// The threads encode a column each; the bytes are those that one thread writes.
#[doc(hidden)]
#[derive(Debug)]
pub struct ColumnWriter {
    writer: SerializedFileWriter<File>,
    pub(super) groups: ArrowRowGroupWriterFactory,
    pub(super) schema: SchemaRef,
    /// The columns of the row group in progress; none if it has no row.
    pub(super) columns: Vec<ArrowColumnWriter>,
    pages: PagesOfGroup,
    /// The number of its rows.
    pub(super) rows: usize,
}

impl ColumnWriter {
    #[doc(hidden)]
    pub fn new(
        file: File,
        columns: Vec<Field>,
        metadata: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ParquetError> {
        let metadata: std::collections::HashMap<_, _> = metadata.into_iter().collect();
        let schema = Arc::new(Schema::new_with_metadata(columns, metadata));
        let properties = WriterProperties::builder()
            .set_compression(Codec::ZSTD(ZstdLevel::try_new(3)?))
            .build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?;
        let (writer, groups) = writer.into_serialized_writer()?;
        let pages = PagesOfGroup::new(None);
        Ok(ColumnWriter {
            writer,
            groups: groups.with_page_store_factory(Arc::new(pages.clone())),
            schema,
            columns: Vec::new(),
            pages,
            rows: 0,
        })
    }

    /// Appends rows, given as columns.
    #[doc(hidden)]
    pub fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), ParquetError> {
        let mut rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        while rows.num_rows() > 0 {
            let now = rows.num_rows().min(GROUP_ROWS - self.rows);
            self.encode(&rows.slice(0, now))?;
            rows = rows.slice(now, rows.num_rows() - now);
            if self.rows == GROUP_ROWS {
                self.end_group()?;
            }
        }
        let columns = self.columns.iter();
        let bytes: usize = columns
            .map(ArrowColumnWriter::get_estimated_total_bytes)
            .sum();
        if bytes > ROW_GROUP {
            self.end_group()
        } else {
            Ok(())
        }
    }

    fn encode(&mut self, rows: &RecordBatch) -> Result<(), ParquetError> {
        if self.columns.is_empty() {
            let number = self.writer.flushed_row_groups().len();
            self.columns = self.groups.create_column_writers(number)?;
        }
        self.rows += rows.num_rows();
        let fields = self.schema.fields().par_iter().zip(rows.columns());
        let leaves = fields.map(|(field, column)| compute_leaves(field, column));
        in_parallel(|| {
            // A field of objects is several columns.
            let leaves: Vec<Vec<_>> = leaves.collect::<Result<_, _>>()?;
            let leaves: Vec<_> = leaves.into_iter().flatten().collect();
            let columns = self.columns.par_iter_mut().zip(&leaves);
            columns.try_for_each(|(writer, leaf)| writer.write(leaf))
        })
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        self.rows = 0;
        let columns = std::mem::take(&mut self.columns).into_par_iter();
        let columns = columns.map(ArrowColumnWriter::close);
        let columns = in_parallel(|| columns.collect::<Result<Vec<_>, _>>())?;
        if columns.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (number, column) in columns.into_iter().enumerate() {
            self.pages.append(number, column, &mut group)?;
        }
        group.close().map(drop)
    }

    /// Adds a value to the metadata of the file.
    pub(crate) fn state(&mut self, key: &str, value: String) {
        let pair = KeyValue::new(key.to_owned(), value);
        self.writer.append_key_value_metadata(pair);
    }

    #[doc(hidden)]
    pub fn finish(mut self) -> Result<(), ParquetError> {
        self.end_group()?;
        self.writer.close().map(drop)
    }
}

/// An error of writing a table of this program.
#[doc(hidden)]
pub fn unwritable(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    let path = path.to_owned();
    move |error| {
        let problem = error.to_string();
        let remedy = remedy_of_writing(&problem, "free some space, or choose another path");
        Error::Output {
            path,
            problem,
            remedy: remedy.to_owned(),
        }
    }
}
