//! Reads the row groups of a Parquet file.

use std::error::Error as StdError;
use std::fs::File;
use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::columns::{EXTENSION, Needed, wanted_roots};
use crate::longest::LongestRecord;
use crate::pages::page_sizes;
use crate::refusal::Refusal;
use crate::sized_file::SizedFile;
use simgpu::error::file_size_remedy;

/// Target size of a batch of rows, in bytes. One thread parses one batch at a time.
const BATCH: i64 = 1 << 20;

/// The rows of a Parquet file: the batches of one row group after the other. No batch has rows of two groups.
pub(crate) struct Groups {
    pub(super) file: SizedFile,
    pub(super) metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    batch_rows: usize,
    /// The number of groups begun, and what is left of the last one.
    begun: usize,
    pub(super) rows: Option<ParquetRecordBatchReader>,
    /// The names of the columns of UUIDs, which the Arrow schema does not tell.
    uuids: Vec<String>,
    longest: LongestRecord,
}

/// Why rows of a table cannot be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
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

/// What to do where a table cannot be written for this problem with the system; `usual` is for a full disk.
pub(crate) fn remedy_of_writing(problem: &str, usual: &'static str) -> &'static str {
    match system_error(problem).map(|cause| cause.kind()) {
        Some(io::ErrorKind::FileTooLarge) => file_size_remedy(),
        _ => usual,
    }
}

/// The error of the operating system that a problem ends with. The readers wrap some in text alone.
pub(crate) fn system_error(problem: &str) -> Option<io::Error> {
    let (_, code) = problem.rsplit_once("(os error ")?;
    let error = io::Error::from_raw_os_error(code.split_once(')')?.0.parse().ok()?);
    // A place that no file has is one of a damaged file.
    (error.kind() != io::ErrorKind::InvalidInput).then_some(error)
}

impl Groups {
    /// The columns that are read.
    pub(crate) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    pub(crate) fn metadata(&self) -> &Arc<ParquetMetaData> {
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
pub(crate) fn open(
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
pub(crate) fn open_to_copy(
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

pub(super) fn groups(
    file: SizedFile,
    metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    longest: LongestRecord,
) -> Groups {
    let parquet = metadata.metadata();
    let bytes: i64 = parquet
        .row_groups()
        .iter()
        .map(RowGroupMetaData::total_byte_size)
        .fold(0, i64::saturating_add);
    let per_row = bytes / parquet.file_metadata().num_rows().max(1);
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
pub(crate) fn is_sound(metadata: &ParquetMetaData) -> bool {
    let groups = metadata.row_groups().iter();
    groups.flat_map(|group| group.columns()).all(|column| {
        let (start, len) = match column.dictionary_page_offset() {
            Some(dictionary) => (dictionary, column.compressed_size()),
            None => (column.data_page_offset(), column.compressed_size()),
        };
        start >= 0 && len >= 0 && column.data_page_offset() >= 0 && column.num_values() >= 0
    })
}
