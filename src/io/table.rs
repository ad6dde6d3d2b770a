//! Parquet: reads texts, tokens and ids, and writes tables.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeListBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;

use super::fields::{FieldPath, Fields};
use super::jsonl::json_string;
use crate::documents::DocumentBatch;
use crate::error::Error;
use crate::pipeline::Signatures;
use crate::scheme::Slots;

/// Target size of a batch of rows, in bytes. One thread parses one batch at a time.
const BATCH: i64 = 1 << 20;

/// Opens a Parquet file. Reads only the columns of `fields`, if given, and of `keep_by`.
pub(super) fn open(
    file: File,
    fields: Option<&Fields>,
    keep_by: Option<&FieldPath>,
) -> Result<ParquetRecordBatchReader, ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let metadata = builder.metadata().file_metadata();
    let bytes: i64 = builder
        .metadata()
        .row_groups()
        .iter()
        .map(|group| group.total_byte_size())
        .sum();
    let per_row = bytes / metadata.num_rows().max(1);
    let rows = (BATCH / per_row.max(1)).clamp(1, 8192);
    let projection = match fields {
        None => ProjectionMask::all(),
        Some(fields) => {
            let paths = [Some(&fields.content), Some(&fields.id), keep_by];
            let roots = paths.map(|path| path.and_then(|path| path.segments().first()));
            let columns = builder.schema().fields().iter().enumerate();
            let wanted = columns
                .filter(|(_, column)| roots.contains(&Some(column.name())))
                .map(|(i, _)| i);
            ProjectionMask::roots(builder.parquet_schema(), wanted)
        }
    };
    builder
        .with_projection(projection)
        .with_batch_size(usize::try_from(rows).unwrap_or(1))
        .build()
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

/// Checks that a schema has the columns of `fields`, or says what is wrong.
pub(super) fn check_schema(schema: &SchemaRef, fields: &Fields) -> Result<(), String> {
    let content = &fields.content;
    let data_type = column_type(schema, content)
        .ok_or_else(|| format!("there is no column {:?}", content.to_string()))?;
    let fits = if fields.is_tokens {
        match data_type {
            DataType::List(item) | DataType::LargeList(item) => {
                is_string(item.data_type()) || item.data_type().is_integer()
            }
            _ => false,
        }
    } else {
        is_string(data_type)
    };
    if !fits {
        let wanted = if fields.is_tokens {
            "a list of strings or integers"
        } else {
            "strings"
        };
        return Err(format!(
            "column {:?} holds {data_type}, not {wanted}",
            content.to_string()
        ));
    }
    let id = &fields.id;
    match column_type(schema, id) {
        Some(data_type) if is_string(data_type) || data_type.is_integer() => Ok(()),
        _ if !fields.id_required => Ok(()),
        Some(data_type) => Err(format!(
            "id column {:?} holds {data_type}, not strings or integers",
            id.to_string()
        )),
        None => Err(format!("there is no id column {:?}", id.to_string())),
    }
}

fn column_type<'s>(schema: &'s Schema, path: &FieldPath) -> Option<&'s DataType> {
    let (root, inner) = path.segments().split_first()?;
    let root = schema.field_with_name(root).ok()?.data_type();
    inner.iter().try_fold(root, |outer, name| match outer {
        DataType::Struct(fields) => fields.find(name).map(|(_, field)| field.data_type()),
        _ => None,
    })
}

fn is_string(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// Parses the rows of a batch in order. Calls `each` with the id as JSON, or with the problem of the row.
pub(super) fn parse(
    rows: &RecordBatch,
    fields: &Fields,
    documents: &mut DocumentBatch,
    mut each: impl FnMut(Result<Option<String>, String>),
) {
    let content = column(rows, &fields.content);
    let ids = column(rows, &fields.id).filter(|ids| {
        let data_type = ids.data_type();
        is_string(data_type) || data_type.is_integer()
    });
    for row in 0..rows.num_rows() {
        let id = ids.as_ref().and_then(|ids| id_json(ids, row));
        if id.is_none() && fields.id_required {
            each(Err(format!(
                "id column {:?} is null",
                fields.id.to_string()
            )));
            continue;
        }
        let parsed = content
            .as_ref()
            .filter(|content| content.is_valid(row))
            .and_then(|content| push_document(content, row, documents));
        each(match parsed {
            Some(()) => Ok(id),
            None => Err(format!(
                "column {:?} is null, or holds one",
                fields.content.to_string()
            )),
        });
    }
}

fn push_document(content: &ArrayRef, row: usize, documents: &mut DocumentBatch) -> Option<()> {
    match documents {
        DocumentBatch::Texts(texts) => texts.push(string_at(content, row)?),
        DocumentBatch::Tokens(tokens) => {
            let list = match content.data_type() {
                DataType::List(_) => content.as_list::<i32>().value(row),
                DataType::LargeList(_) => content.as_list::<i64>().value(row),
                _ => return None,
            };
            for i in 0..list.len() {
                let token = match integer_at(&list, i) {
                    Some(integer) => Some(integer.into_bytes()),
                    None => string_at(&list, i).map(|text| text.as_bytes().to_vec()),
                };
                match token.filter(|_| list.is_valid(i)) {
                    Some(token) => tokens.push_token(&token),
                    None => {
                        tokens.abandon_document();
                        return None;
                    }
                }
            }
            tokens.finish_document();
        }
    }
    Some(())
}

/// The column at a path. A value is null if a struct around it is null.
pub(super) fn column(rows: &RecordBatch, path: &FieldPath) -> Option<ArrayRef> {
    let (root, inner) = path.segments().split_first()?;
    let mut column = Arc::clone(rows.column_by_name(root)?);
    for name in inner {
        let outer = column.as_struct_opt()?;
        let child = Arc::clone(outer.column_by_name(name)?);
        column = match outer.nulls() {
            None => child,
            Some(nulls) => {
                let is_null: BooleanArray = nulls.iter().map(|valid| Some(!valid)).collect();
                arrow_select::nullif::nullif(&child, &is_null).ok()?
            }
        };
    }
    Some(column)
}

pub(super) fn string_at(array: &ArrayRef, row: usize) -> Option<&str> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(array.as_string_view().value(row)),
        _ => None,
    }
}

pub(super) fn integer_at(array: &ArrayRef, row: usize) -> Option<String> {
    Some(match array.data_type() {
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).to_string(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).to_string(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        _ => return None,
    })
}

fn id_json(ids: &ArrayRef, row: usize) -> Option<String> {
    if ids.is_null(row) {
        return None;
    }
    integer_at(ids, row).or_else(|| string_at(ids, row).map(json_string))
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

    /// Writes the rows of a batch that `is_kept` marks.
    pub(crate) fn write(
        &mut self,
        rows: &RecordBatch,
        is_kept: Vec<bool>,
    ) -> Result<(), ParquetError> {
        let kept = arrow_select::filter::filter_record_batch(rows, &is_kept.into())?;
        self.writer.write(&kept)?;
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

    /// The type that fits all ids.
    pub(crate) fn for_ids<S: AsRef<str>>(mut ids: impl Iterator<Item = S>) -> Self {
        if ids.all(|id| id.as_ref().parse::<i64>().is_ok()) {
            IdColumn::Integers
        } else {
            IdColumn::Strings
        }
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
