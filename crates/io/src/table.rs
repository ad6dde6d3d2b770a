//! Parquet: opens files, and writes tables.

use std::error::Error as StdError;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeListBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, compute_leaves,
};
use parquet::basic::{
    Compression as Codec, ConvertedType, LogicalType, Type as PhysicalType, ZstdLevel,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use rayon::prelude::*;

use super::columns::{EXTENSION, Needed, wanted_roots};
use super::longest::LongestRecord;
use super::page_store::PagesOfGroup;
use super::pages::page_sizes;
use super::refusal::Refusal;
use super::sized_file::SizedFile;
use simgpu::clock::in_parallel;
use simgpu::error::Error;
use simgpu::pipeline::Signatures;
use simgpu::scheme::Slots;

/// Target size of a batch of rows, in bytes. One thread parses one batch at a time.
const BATCH: i64 = 1 << 20;

/// The rows of a Parquet file: the batches of one row group after the other. No batch has rows of two groups.
pub(super) struct Groups {
    file: SizedFile,
    metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    batch_rows: usize,
    /// The number of groups begun, and what is left of the last one.
    begun: usize,
    rows: Option<ParquetRecordBatchReader>,
    /// The names of the columns of UUIDs, which the Arrow schema does not tell.
    uuids: Vec<String>,
    longest: LongestRecord,
}

/// Why rows of a table cannot be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    Damaged(String),
    Refused(Refusal),
    /// The operating system failed, and the file may be whole.
    System(io::Error),
}

impl<E: StdError> From<E> for Unreadable {
    fn from(error: E) -> Self {
        let problem = error.to_string();
        match system_error(&problem) {
            Some(error) => Unreadable::System(error),
            None => Unreadable::Damaged(problem),
        }
    }
}

/// The error of the operating system that a problem ends with. The readers wrap some in text alone.
fn system_error(problem: &str) -> Option<io::Error> {
    let (_, code) = problem.rsplit_once("(os error ")?;
    let error = io::Error::from_raw_os_error(code.split_once(')')?.0.parse().ok()?);
    // A place that no file has is one of a damaged file.
    (error.kind() != io::ErrorKind::InvalidInput).then_some(error)
}

impl Groups {
    /// The columns that are read.
    pub(super) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    pub(super) fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// Marks the columns of UUIDs in the way of Arrow.
    fn with_uuids(&self, rows: RecordBatch) -> Result<RecordBatch, ArrowError> {
        if self.uuids.is_empty() {
            return Ok(rows);
        }
        let (key, uuid) = EXTENSION;
        let fields = rows.schema_ref().fields().iter().map(|field| {
            let mut field = Field::clone(field);
            if self.uuids.contains(field.name()) {
                let mut metadata = field.metadata().clone();
                metadata.insert(key.to_owned(), uuid.to_owned());
                field.set_metadata(metadata);
            }
            field
        });
        let fields: Vec<Field> = fields.collect();
        let metadata = rows.schema_ref().metadata().clone();
        rows.with_schema(Arc::new(Schema::new_with_metadata(fields, metadata)))
    }

    fn open_next(&self) -> Result<ParquetRecordBatchReader, Unreadable> {
        let batch_rows = self.check_pages()?;
        let file = self.file.try_clone()?;
        let metadata = self.metadata.clone();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let builder = builder
            .with_row_groups(vec![self.begun])
            .with_projection(self.projection.clone())
            .with_batch_size(batch_rows);
        Ok(builder.build()?)
    }

    /// Refuses the next group if one of its pages takes too much memory. Returns how many of its rows to read at a time, so that
    /// those of its pages that are in memory together do not.
    fn check_pages(&self) -> Result<usize, Unreadable> {
        /// The header of a page cannot state more.
        const LARGEST: u64 = i32::MAX as u64;
        let most = self.longest.table_bytes();
        if most >= LARGEST {
            return Ok(self.batch_rows);
        }
        let mut batch_rows = self.batch_rows as u64;
        let columns = self.metadata().row_group(self.begun).columns().iter();
        for (number, column) in columns.enumerate() {
            if !self.projection.leaf_included(number) {
                continue;
            }
            for page in page_sizes(self.file.file(), column)? {
                if page.bytes > most {
                    let path = column.column_path().string();
                    let part = format!("a page of column {path:?} in row group {}", self.begun);
                    let refusal = self.longest.table_refusal(&part, page.bytes);
                    return Err(Unreadable::Refused(refusal));
                }
                let per_value = page.bytes / page.values.max(1);
                batch_rows = batch_rows.min(most / per_value.max(1));
            }
        }
        Ok(usize::try_from(batch_rows).map_or(self.batch_rows, |rows| rows.max(1)))
    }
}

impl Iterator for Groups {
    /// The number of the group, and rows of it.
    type Item = Result<(usize, RecordBatch), Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.rows.as_mut().and_then(Iterator::next) {
                let marked = batch.and_then(|rows| self.with_uuids(rows));
                let numbered = marked.map(|rows| (self.begun - 1, rows));
                return Some(numbered.map_err(Unreadable::from));
            }
            if self.begun == self.metadata().num_row_groups() {
                return None;
            }
            match self.open_next() {
                Ok(rows) => self.rows = Some(rows),
                Err(error) => return Some(Err(error)),
            }
            self.begun += 1;
        }
    }
}

/// Opens a Parquet file to read the columns of `needed`; returns all of its columns, too.
///
/// Strings are read as bytes: the reader of strings would refuse a whole batch for one that is not UTF-8, and would not say which.
pub(super) fn open(
    file: File,
    needed: Needed<'_>,
    longest: LongestRecord,
) -> Result<(Groups, SchemaRef), ParquetError> {
    let file = SizedFile::new(file)?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
    let schema = Arc::clone(metadata.schema());
    let unchecked = without_meaning(&metadata.parquet_schema().root_schema_ptr(), &is_string)?;
    let options = ArrowReaderOptions::new()
        .with_parquet_schema(Arc::new(SchemaDescriptor::new(Arc::new(unchecked))))
        .with_schema(lent_bytes(&schema));
    let metadata = ArrowReaderMetadata::load(&file, options)?;
    let wanted = wanted_roots(&schema, needed);
    let projection = ProjectionMask::roots(metadata.parquet_schema(), wanted);
    let columns = metadata.parquet_schema().columns();
    let uuids = columns.iter().filter(|column| {
        column.path().parts().len() == 1 && column.logical_type_ref() == Some(&LogicalType::Uuid)
    });
    let uuids = uuids.map(|column| column.name().to_owned()).collect();
    let groups = Groups {
        uuids,
        ..groups(file, metadata, projection, longest)
    };
    Ok((groups, schema))
}

/// A schema by which columns of strings hold bytes, and lend those of the pages they are in, in place of copies.
fn lent_bytes(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => {
            Arc::new(Field::clone(field).with_data_type(DataType::BinaryView))
        }
        _ => as_bytes(field),
    });
    let fields: Vec<FieldRef> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The field with bytes in the place of strings, also in its lists, structs and dictionaries. Strings of other types, such as the
/// keys of a map, stay, and are checked by the reader.
fn as_bytes(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(key, values) => match &**values {
            DataType::Utf8 => DataType::Dictionary(key.clone(), Box::new(DataType::Binary)),
            DataType::LargeUtf8 => {
                DataType::Dictionary(key.clone(), Box::new(DataType::LargeBinary))
            }
            _ => return Arc::clone(field),
        },
        DataType::List(item) => DataType::List(as_bytes(item)),
        DataType::LargeList(item) => DataType::LargeList(as_bytes(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(as_bytes(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(as_bytes).collect()),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// Whether the values of a column of Parquet are strings.
fn is_string(column: &Type) -> bool {
    let info = column.get_basic_info();
    column.is_primitive()
        && column.get_physical_type() == PhysicalType::BYTE_ARRAY
        && match info.logical_type_ref() {
            Some(logical) => matches!(logical, LogicalType::String | LogicalType::Json),
            None => matches!(
                info.converted_type(),
                ConvertedType::UTF8 | ConvertedType::JSON
            ),
        }
}

/// Opens a Parquet file to copy rows of it; returns its schema, too. All columns are read by their physical type, so that no
/// value changes on its way.
pub(super) fn open_to_copy(
    file: File,
    longest: LongestRecord,
) -> Result<(Groups, TypePtr), ParquetError> {
    let file = SizedFile::new(file)?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
    let schema = metadata.parquet_schema().root_schema_ptr();
    let bare = without_meaning(&schema, &Type::is_primitive)?;
    let options = ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_parquet_schema(Arc::new(SchemaDescriptor::new(Arc::new(bare))));
    let metadata = ArrowReaderMetadata::load(&file, options)?;
    let groups = groups(file, metadata, ProjectionMask::all(), longest);
    Ok((groups, schema))
}

fn groups(
    file: SizedFile,
    metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    longest: LongestRecord,
) -> Groups {
    let of_all = metadata.metadata();
    let bytes: i64 = of_all
        .row_groups()
        .iter()
        .map(RowGroupMetaData::total_byte_size)
        .fold(0, i64::saturating_add);
    let per_row = bytes / of_all.file_metadata().num_rows().max(1);
    let rows = (BATCH / per_row.max(1)).clamp(1, 8192);
    Groups {
        file,
        metadata,
        projection,
        batch_rows: usize::try_from(rows).unwrap_or(1),
        begun: 0,
        rows: None,
        uuids: Vec::new(),
        longest,
    }
}

/// The type of a column or group; of the columns that are chosen, without what their values stand for.
fn without_meaning(column: &Type, is_chosen: &dyn Fn(&Type) -> bool) -> Result<Type, ParquetError> {
    let info = column.get_basic_info();
    let id = info.has_id().then(|| info.id());
    match column {
        column if column.is_primitive() && !is_chosen(column) => Ok(column.clone()),
        Type::PrimitiveType {
            physical_type,
            type_length,
            ..
        } => Type::primitive_type_builder(column.name(), *physical_type)
            .with_repetition(info.repetition())
            .with_length(*type_length)
            .with_id(id)
            .build(),
        Type::GroupType { fields, .. } => {
            let fields = fields
                .iter()
                .map(|field| without_meaning(field, is_chosen).map(Arc::new));
            let group = Type::group_type_builder(column.name())
                .with_fields(fields.collect::<Result<_, _>>()?)
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_id(id);
            if info.has_repetition() {
                group.with_repetition(info.repetition()).build()
            } else {
                group.build()
            }
        }
    }
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

/// The most rows of a row group.
const GROUP_ROWS: usize = 1 << 20;

/// Writes the tables of this program: similar pairs and signatures.
///
/// The threads encode a column each; the bytes are those that one thread writes.
#[doc(hidden)]
#[derive(Debug)]
pub struct ColumnWriter {
    writer: SerializedFileWriter<File>,
    groups: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The columns of the row group in progress; none if it has no row.
    columns: Vec<ArrowColumnWriter>,
    pages: PagesOfGroup,
    /// The number of its rows.
    rows: usize,
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

/// The type of a column of ids: integers if all ids are 64-bit integers, else strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum IdColumn {
    Integers,
    Strings,
}

impl IdColumn {
    #[doc(hidden)]
    pub fn field(self, name: &str) -> Field {
        let data_type = match self {
            IdColumn::Integers => DataType::Int64,
            IdColumn::Strings => DataType::Utf8,
        };
        Field::new(name, data_type, false)
    }

    #[doc(hidden)]
    pub fn array<S: AsRef<str>>(self, ids: impl Iterator<Item = S>) -> ArrayRef {
        self.array_of_options(ids.map(Some))
    }

    /// A column with nulls.
    #[doc(hidden)]
    pub fn array_of_options<S: AsRef<str>>(self, ids: impl Iterator<Item = Option<S>>) -> ArrayRef {
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
#[doc(hidden)]
pub fn unwritable(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    let path = path.to_owned();
    move |error| Error::Output {
        path,
        problem: error.to_string(),
        remedy: "free some space, or choose another path".to_owned(),
    }
}

#[doc(hidden)]
pub fn strings<'a>(values: impl Iterator<Item = impl Into<Option<&'a str>>>) -> ArrayRef {
    let mut column = StringBuilder::new();
    values.for_each(|value| column.append_option(value.into()));
    Arc::new(column.finish())
}

#[doc(hidden)]
pub fn u64s(values: impl Iterator<Item = impl Into<Option<u64>>>) -> ArrayRef {
    let mut column = UInt64Builder::new();
    values.for_each(|value| column.append_option(value.into()));
    Arc::new(column.finish())
}

#[doc(hidden)]
pub fn f64s(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    let mut column = Float64Builder::new();
    values.for_each(|value| column.append_option(value));
    Arc::new(column.finish())
}

/// The field of the column of signatures of so many slots: lists of a fixed size.
pub(crate) fn signature_field(signatures: &Signatures, num_perm: u16) -> Field {
    let slot = match signatures.slots() {
        Slots::U32(_) => DataType::UInt32,
        Slots::U64(_) => DataType::UInt64,
    };
    let item = Arc::new(Field::new("item", slot, true));
    Field::new(
        "signature",
        DataType::FixedSizeList(item, num_perm.into()),
        false,
    )
}

pub(crate) fn signature_column(signatures: &Signatures, num_perm: u16) -> ArrayRef {
    let size = i32::from(num_perm);
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use arrow_array::types::UInt64Type;
    use arrow_array::{ListArray, StructArray, UInt64Array};
    use arrow_select::concat::concat_batches;
    use bytes::Bytes;

    use super::*;

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
}
