//! Writes the kept rows of a Parquet file in the form of that file: its schema, metadata, row groups, codecs and encodings.
//!
//! **Rows are copied by their physical types**: they are read without what their values stand for. Read with the types
//! of Arrow, values would change that Arrow has no type for, such as the months of an interval, and the schema would
//! be this library's idea of the input's.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{
    ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, encode_arrow_schema, parquet_to_arrow_schema,
};
use parquet::basic::{Encoding, LogicalType, TimeUnit, Type as Physical};
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::mark::{marks_field, with_marks};
use super::page_store::PagesOfGroup;
use super::table::{Groups, system_error};

/// The form of a Parquet file, which its kept rows get, too.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ParquetForm {
    /// The columns by their physical types.
    rows: SchemaRef,
    schema: TypePtr,
    /// The metadata of the file, but for its schema.
    metadata: Arc<ParquetMetaData>,
    /// The metadata that its writer stated beside the schema.
    key_values: Option<Vec<KeyValue>>,
    /// The form of its data pages, which is not that of the file: most files of version 2 have pages of version 1.
    pages: WriterVersion,
}

/// The path of a column whose logical type this library does not know, so that it cannot write the column.
pub(super) fn unknown_column(schema: &Type) -> Option<String> {
    schema.get_fields().iter().find_map(|field| {
        let info = field.get_basic_info();
        if let Some(LogicalType::_Unknown { .. }) = info.logical_type_ref() {
            return Some(info.name().to_owned());
        }
        let inner = field.is_group().then(|| unknown_column(field)).flatten()?;
        Some(format!("{}.{inner}", info.name()))
    })
}

impl ParquetForm {
    /// The form of a file with this schema, of which `groups` are read by their physical types.
    pub(super) fn new(file: &File, schema: TypePtr, groups: &Groups) -> Result<Self, ParquetError> {
        let metadata = Arc::clone(groups.metadata());
        let pages = version_of_pages(file, &metadata)?;
        Ok(ParquetForm {
            rows: Arc::clone(groups.schema()),
            schema,
            key_values: metadata.file_metadata().key_value_metadata().cloned(),
            metadata,
            pages,
        })
    }

    /// The form with a column of marks behind all others.
    pub(super) fn with_marks(self, name: &str) -> Result<Self, String> {
        let rows = with_marks(&self.rows, name)?;
        let added = self.with_column(marks_field(name), rows);
        added.map_err(|error| error.to_string())
    }

    fn with_column(self, column: Field, rows: SchemaRef) -> Result<Self, ParquetError> {
        let added = ArrowSchemaConverter::new().convert(&Schema::new(vec![column.clone()]))?;
        let mut columns = self.schema.get_fields().to_vec();
        columns.extend_from_slice(added.root_schema().get_fields());
        let schema = Type::group_type_builder(self.schema.name()).with_fields(columns);
        // The Arrow schema that a writer stated must have all columns.
        let stated = self
            .key_values
            .iter()
            .flatten()
            .any(|of| of.key == ARROW_SCHEMA_META_KEY);
        let mut key_values = self.key_values.clone();
        if let (true, Some(all)) = (stated, &mut key_values) {
            let descriptor = self.metadata.file_metadata().schema_descr();
            let whole = parquet_to_arrow_schema(descriptor, Some(all))?;
            let mut fields = whole.fields().to_vec();
            fields.push(Arc::new(column));
            let whole = Schema::new_with_metadata(fields, whole.metadata().clone());
            let encoded = Some(encode_arrow_schema(&whole));
            let stated = all.iter_mut().filter(|of| of.key == ARROW_SCHEMA_META_KEY);
            stated.for_each(|of| of.value.clone_from(&encoded));
        }
        Ok(ParquetForm {
            rows,
            schema: Arc::new(schema.build()?),
            key_values,
            ..self
        })
    }

    /// The options of the file as a whole.
    fn properties(&self) -> WriterProperties {
        let file = self.metadata.file_metadata();
        let groups = self.metadata.row_groups();
        let has_offset_index =
            |column: &ColumnChunkMetaData| column.offset_index_offset().is_some();
        let has_index = groups
            .iter()
            .any(|g| g.columns().iter().any(has_offset_index));
        let version = match file.version() {
            ..=1 => WriterVersion::PARQUET_1_0,
            _ => WriterVersion::PARQUET_2_0,
        };
        // One order is stated for all groups, so all of them must have it.
        let first = groups.first().and_then(|group| group.sorting_columns());
        let same_sorting = |group: &RowGroupMetaData| group.sorting_columns() == first;
        let sorting = first.filter(|_| groups.iter().all(same_sorting)).cloned();
        WriterProperties::builder()
            .set_writer_version(version)
            // With the Arrow schema as its writer stated it, of which this library may not know all types.
            .set_key_value_metadata(self.key_values.clone())
            .set_sorting_columns(sorting)
            .set_offset_index_disabled(!has_index)
            .build()
    }

    /// The options of the columns of a row group.
    fn properties_of(&self, group: &RowGroupMetaData) -> WriterProperties {
        let builder = WriterProperties::builder().set_writer_version(self.pages);
        // A column that the input lacks is compressed as its first one.
        let builder = match group.columns().first() {
            Some(first) => builder.set_compression(first.compression()),
            None => builder,
        };
        let columns = group.columns().iter();
        let builder = columns.fold(builder, |builder, column| {
            let path = || column.column_path().clone();
            let statistics = match column.statistics() {
                _ if column.column_index_offset().is_some() => EnabledStatistics::Page,
                Some(_) => EnabledStatistics::Chunk,
                None => EnabledStatistics::None,
            };
            builder
                .set_column_compression(path(), column.compression())
                .set_column_dictionary_enabled(path(), has_dictionary(column))
                .set_column_encoding(path(), encoding_of(column))
                .set_column_statistics_enabled(path(), statistics)
                .set_column_bloom_filter_enabled(path(), column.bloom_filter_offset().is_some())
        });
        builder.build()
    }
}

fn has_dictionary(column: &ColumnChunkMetaData) -> bool {
    let dictionary = [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY];
    column.dictionary_page_offset().is_some()
        || column
            .encodings()
            .any(|encoding| dictionary.contains(&encoding))
}

/// The encoding of the values of a column that are not in its dictionary. Those that a file states include the encodings of
/// its levels and of its dictionary.
fn encoding_of(column: &ColumnChunkMetaData) -> Encoding {
    let fits = |encoding: &Encoding| match (encoding, column.column_type()) {
        (Encoding::DELTA_BINARY_PACKED, Physical::INT32 | Physical::INT64)
        | (Encoding::DELTA_LENGTH_BYTE_ARRAY, Physical::BYTE_ARRAY)
        | (Encoding::DELTA_BYTE_ARRAY, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => {
            true
        }
        (Encoding::BYTE_STREAM_SPLIT, kind) => !matches!(
            kind,
            Physical::BOOLEAN | Physical::INT96 | Physical::BYTE_ARRAY
        ),
        _ => false,
    };
    let is_plain = |encoding| encoding == Encoding::PLAIN;
    match column.encodings().find(fits) {
        Some(encoding) => encoding,
        None if column.column_type() == Physical::BOOLEAN && !column.encodings().any(is_plain) => {
            Encoding::RLE
        }
        None => Encoding::PLAIN,
    }
}

/// The version of the data pages of a file, which is that of its first one.
fn version_of_pages(
    file: &File,
    metadata: &ParquetMetaData,
) -> Result<WriterVersion, ParquetError> {
    let group = metadata
        .row_groups()
        .iter()
        .find(|group| group.num_rows() > 0);
    let column = group.and_then(|group| Some((group, group.columns().first()?)));
    let Some((group, column)) = column else {
        return Ok(WriterVersion::PARQUET_1_0);
    };
    let rows = usize::try_from(group.num_rows()).unwrap_or(0);
    let mut pages = SerializedPageReader::new(Arc::new(file.try_clone()?), column, rows, None)?;
    while let Some(page) = pages.peek_next_page()? {
        if page.is_dict {
            pages.skip_next_page()?;
            continue;
        }
        // The header of a page of version 1 does not state its rows.
        return Ok(match page.num_rows {
            Some(_) => WriterVersion::PARQUET_2_0,
            None => WriterVersion::PARQUET_1_0,
        });
    }
    Ok(WriterVersion::PARQUET_1_0)
}

/// The schema of the kept file: that of the input, but for times of 96 bits, which no writer should write.
fn schema_to_write(column: &TypePtr) -> Result<TypePtr, ParquetError> {
    let info = column.get_basic_info();
    let id = info.has_id().then(|| info.id());
    match &**column {
        Type::PrimitiveType {
            physical_type: Physical::INT96,
            ..
        } => Type::primitive_type_builder(column.name(), Physical::INT64)
            .with_repetition(info.repetition())
            .with_logical_type(Some(LogicalType::timestamp(false, TimeUnit::NANOS)))
            .with_id(id)
            .build()
            .map(Arc::new),
        Type::PrimitiveType { .. } => Ok(Arc::clone(column)),
        Type::GroupType { fields, .. } => {
            let written = fields.iter().map(schema_to_write);
            let written: Vec<TypePtr> = written.collect::<Result<_, _>>()?;
            if written
                .iter()
                .zip(fields)
                .all(|(new, old)| Arc::ptr_eq(new, old))
            {
                return Ok(Arc::clone(column));
            }
            let group = Type::group_type_builder(column.name())
                .with_fields(written)
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_id(id);
            let group = if info.has_repetition() {
                group.with_repetition(info.repetition())
            } else {
                group
            };
            group.build().map(Arc::new)
        }
    }
}

/// Writes kept rows in the form of their input. A row group holds the kept rows of a row group of the input; one of which
/// no row is kept is left out.
pub(crate) struct KeptTable<W: Write + Send> {
    file: SerializedFileWriter<W>,
    form: ParquetForm,
    /// The folder for pages on disk.
    folder: PathBuf,
    group: Option<OpenGroup>,
}

/// A row group that is being written.
struct OpenGroup {
    /// Its number in the input.
    number: usize,
    columns: Vec<ArrowColumnWriter>,
    pages: PagesOfGroup,
}

impl<W: Write + Send> KeptTable<W> {
    /// Begins the file. `folder` is for temporary files.
    pub(crate) fn new(target: W, form: ParquetForm, folder: &Path) -> Result<Self, ParquetError> {
        let schema = schema_to_write(&form.schema)?;
        let properties = Arc::new(form.properties());
        Ok(KeptTable {
            file: SerializedFileWriter::new(target, schema, properties)?,
            form,
            folder: folder.to_owned(),
            group: None,
        })
    }

    /// Writes kept rows of a row group of the input. Groups come in order.
    pub(crate) fn write(&mut self, group: usize, rows: &RecordBatch) -> Result<(), ParquetError> {
        if self
            .group
            .as_ref()
            .is_none_or(|current| current.number != group)
        {
            self.finish_group()?;
            self.group = Some(self.open_group(group)?);
        }
        let mut writers = self.group.iter_mut().flat_map(|group| &mut group.columns);
        for (field, column) in self.form.rows.fields().iter().zip(rows.columns()) {
            let in_column = |error: ParquetError| {
                let problem = error.to_string();
                match system_error(&problem) {
                    Some(_) => error,
                    None => ParquetError::General(format!(
                        "column {:?} of the input: {problem}",
                        field.name()
                    )),
                }
            };
            for leaf in compute_leaves(field, column).map_err(in_column)? {
                if let Some(writer) = writers.next() {
                    writer.write(&leaf).map_err(in_column)?;
                }
            }
        }
        Ok(())
    }

    /// Begins a row group, with the options of that group of the input.
    fn open_group(&self, number: usize) -> Result<OpenGroup, ParquetError> {
        let properties = self
            .form
            .properties_of(self.form.metadata.row_group(number));
        // A file has one set of options for all groups, and its version decides that of its pages.
        let schema = self.file.schema_descr().root_schema_ptr();
        let writer = SerializedFileWriter::new(io::sink(), schema, Arc::new(properties))?;
        let pages = PagesOfGroup::new(Some(self.folder.clone()));
        let columns = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&self.form.rows))
            .with_page_store_factory(Arc::new(pages.clone()))
            .create_column_writers(number)?;
        Ok(OpenGroup {
            number,
            columns,
            pages,
        })
    }

    fn finish_group(&mut self) -> Result<(), ParquetError> {
        let Some(OpenGroup { columns, pages, .. }) = self.group.take() else {
            return Ok(());
        };
        let mut group = self.file.next_row_group()?;
        for (number, column) in columns.into_iter().enumerate() {
            pages.append(number, column.close()?, &mut group)?;
        }
        group.close().map(drop)
    }

    pub(crate) fn finish(mut self) -> Result<W, ParquetError> {
        self.finish_group()?;
        self.file.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_an_unknown_type_is_named() {
        let column = |name: &str, logical| {
            let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
            Arc::new(column.with_logical_type(logical).build().unwrap())
        };
        let group = |name: &str, fields| {
            let group = Type::group_type_builder(name).with_fields(fields);
            group.build().unwrap()
        };
        let text = || column("text", Some(LogicalType::String));
        let newer = column("shape", Some(LogicalType::_Unknown { field_id: 20 }));
        assert_eq!(unknown_column(&group("all", vec![text()])), None);
        let inner = Arc::new(group("place", vec![text(), newer]));
        let all = group("all", vec![text(), inner]);
        assert_eq!(unknown_column(&all).as_deref(), Some("place.shape"));
    }
}
