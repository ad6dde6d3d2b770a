//! Parquet: opens files, and writes tables.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeListBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;

use super::columns::{Needed, wanted_roots};
use crate::error::Error;
use crate::pipeline::Signatures;
use crate::scheme::Slots;

/// Target size of a batch of rows, in bytes. One thread parses one batch at a time.
const BATCH: i64 = 1 << 20;

/// Opens a Parquet file; returns its whole schema, too. Reads only the columns of `needed`, if given.
pub(super) fn open(
    file: File,
    needed: Option<Needed<'_>>,
) -> Result<(ParquetRecordBatchReader, SchemaRef), ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let schema = Arc::clone(builder.schema());
    let metadata = builder.metadata().file_metadata();
    let bytes: i64 = builder
        .metadata()
        .row_groups()
        .iter()
        .map(|group| group.total_byte_size())
        .sum();
    let per_row = bytes / metadata.num_rows().max(1);
    let rows = (BATCH / per_row.max(1)).clamp(1, 8192);
    let projection = match needed {
        None => ProjectionMask::all(),
        Some(needed) => {
            let wanted = wanted_roots(builder.schema(), needed);
            ProjectionMask::roots(builder.parquet_schema(), wanted)
        }
    };
    let rows = builder
        .with_projection(projection)
        .with_batch_size(usize::try_from(rows).unwrap_or(1))
        .build()?;
    Ok((rows, schema))
}

/// Whether all offsets, sizes and counts of columns are valid. The Parquet reader does not check them.
pub(super) fn is_sound(metadata: &ParquetMetaData) -> bool {
    let groups = metadata.row_groups().iter();
    groups.flat_map(|group| group.columns()).all(|column| {
        let (start, len) = match column.dictionary_page_offset() {
            Some(dictionary) => (dictionary, column.compressed_size()),
            None => (column.data_page_offset(), column.compressed_size()),
        };
        start >= 0 && len >= 0 && column.data_page_offset() >= 0 && column.num_values() >= 0
    })
}

/// Bytes of memory after which a row group is written.
const ROW_GROUP: usize = 64 << 20;

/// Writes kept rows with the schema, codec and metadata of their input.
pub(crate) struct KeptTable<W: Write + Send> {
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> KeptTable<W> {
    pub(crate) fn new(
        target: W,
        schema: SchemaRef,
        source: &ParquetMetaData,
    ) -> Result<Self, ParquetError> {
        let codec = source
            .row_groups()
            .first()
            .and_then(|group| group.columns().first())
            .map_or(Codec::UNCOMPRESSED, |column| column.compression());
        let metadata = source.file_metadata().key_value_metadata().cloned();
        // The writer adds the schema itself.
        let metadata = metadata.map(|mut entries| {
            entries.retain(|entry| entry.key != "ARROW:schema");
            entries
        });
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_key_value_metadata(metadata)
            .build();
        let writer = ArrowWriter::try_new(target, schema, Some(properties))?;
        Ok(KeptTable { writer })
    }

    /// Writes kept rows.
    pub(crate) fn write(&mut self, kept: &RecordBatch) -> Result<(), ParquetError> {
        self.writer.write(kept)?;
        if self.writer.in_progress_size() > ROW_GROUP {
            self.writer.flush()?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<W, ParquetError> {
        self.writer.into_inner()
    }
}

/// Writes the tables of this program: similar pairs and signatures.
pub(crate) struct ColumnWriter {
    writer: ArrowWriter<File>,
    schema: SchemaRef,
}

impl ColumnWriter {
    pub(crate) fn new(
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
        Ok(ColumnWriter { writer, schema })
    }

    /// Appends rows, given as columns.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), ParquetError> {
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.writer.write(&rows)?;
        if self.writer.in_progress_size() > ROW_GROUP {
            self.writer.flush()?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), ParquetError> {
        self.writer.close().map(drop)
    }
}

/// The type of a column of ids: integers if all ids are 64-bit integers, else strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdColumn {
    Integers,
    Strings,
}

impl IdColumn {
    pub(crate) fn field(self, name: &str) -> Field {
        let data_type = match self {
            IdColumn::Integers => DataType::Int64,
            IdColumn::Strings => DataType::Utf8,
        };
        Field::new(name, data_type, false)
    }

    pub(crate) fn array<S: AsRef<str>>(self, ids: impl Iterator<Item = S>) -> ArrayRef {
        self.array_of_options(ids.map(Some))
    }

    /// A column with nulls.
    pub(crate) fn array_of_options<S: AsRef<str>>(
        self,
        ids: impl Iterator<Item = Option<S>>,
    ) -> ArrayRef {
        match self {
            IdColumn::Integers => {
                let mut column = Int64Builder::new();
                for id in ids {
                    column.append_option(id.and_then(|id| id.as_ref().parse().ok()));
                }
                Arc::new(column.finish())
            }
            IdColumn::Strings => {
                let mut column = StringBuilder::new();
                for id in ids {
                    let Some(id) = id else {
                        column.append_null();
                        continue;
                    };
                    // A JSON string, or an integer's digits.
                    match serde_json::from_str::<String>(id.as_ref()) {
                        Ok(text) => column.append_value(text),
                        Err(_) => column.append_value(id.as_ref()),
                    }
                }
                Arc::new(column.finish())
            }
        }
    }
}

/// An error of writing a table of this program.
pub(crate) fn unwritable(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    let path = path.to_owned();
    move |error| Error::Output {
        path,
        problem: error.to_string(),
        remedy: "free some space, or choose another path".to_owned(),
    }
}

pub(crate) fn strings<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    let mut column = StringBuilder::new();
    values.for_each(|value| column.append_value(value));
    Arc::new(column.finish())
}

pub(crate) fn u64s(values: impl Iterator<Item = u64>) -> ArrayRef {
    let mut column = UInt64Builder::new();
    values.for_each(|value| column.append_value(value));
    Arc::new(column.finish())
}

pub(crate) fn f64s(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    let mut column = Float64Builder::new();
    values.for_each(|value| column.append_option(value));
    Arc::new(column.finish())
}

/// The field of the column of signatures: lists of a fixed size.
pub(crate) fn signature_field(signatures: &Signatures) -> Field {
    let slot = match signatures.slots() {
        Slots::U32(_) => DataType::UInt32,
        Slots::U64(_) => DataType::UInt64,
    };
    let item = Arc::new(Field::new("item", slot, true));
    let size = i32::try_from(signatures.num_perm()).unwrap_or(i32::MAX);
    Field::new("signature", DataType::FixedSizeList(item, size), false)
}

pub(crate) fn signature_column(signatures: &Signatures) -> ArrayRef {
    let size = i32::try_from(signatures.num_perm()).unwrap_or(i32::MAX);
    let rows = signatures.len();
    match signatures.slots() {
        Slots::U32(slots) => {
            let mut column = FixedSizeListBuilder::new(UInt32Builder::new(), size);
            column.values().append_slice(slots);
            (0..rows).for_each(|_| column.append(true));
            Arc::new(column.finish())
        }
        Slots::U64(slots) => {
            let mut column = FixedSizeListBuilder::new(UInt64Builder::new(), size);
            column.values().append_slice(slots);
            (0..rows).for_each(|_| column.append(true));
            Arc::new(column.finish())
        }
    }
}
