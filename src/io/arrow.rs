//! Arrow IPC files and streams: reads their batches, and writes the kept rows in the same form.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::columns::wanted_roots;
use super::fields::Fields;

/// The start of an Arrow file; a stream lacks it.
const MAGIC: &[u8; 6] = b"ARROW1";

/// Target size of a chunk of rows, in bytes. One thread parses one chunk at a time.
const CHUNK: usize = 1 << 20;

/// The form of a file, which its kept rows get, too.
#[derive(Clone, Debug)]
pub(crate) struct ArrowForm {
    schema: SchemaRef,
    /// Whether it is a file with a directory at its end, or a stream.
    is_file: bool,
    codec: Option<CompressionType>,
    /// Metadata of a file, beside that of its schema.
    metadata: HashMap<String, String>,
}

/// The batches of a file.
pub(super) enum Batches {
    File(Box<FileReader<BufReader<File>>>),
    Stream(Box<StreamReader<BufReader<File>>>),
}

/// Opens a file. Reads only the columns of `fields`, if given.
pub(super) fn open(
    file: &File,
    fields: Option<&Fields>,
) -> Result<(Batches, ArrowForm), ArrowError> {
    let mut start = [0; MAGIC.len()];
    let at_start = || -> Result<BufReader<File>, ArrowError> {
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok(BufReader::with_capacity(1 << 18, file))
    };
    let is_file = at_start()?.read_exact(&mut start).is_ok() && start == *MAGIC;
    let codec = codec(at_start()?, is_file);
    let (batches, schema, metadata) = if is_file {
        let whole = FileReader::try_new(at_start()?, None)?;
        let (schema, metadata) = (whole.schema(), whole.custom_metadata().clone());
        let reader = match fields {
            None => whole,
            Some(fields) => FileReader::try_new(at_start()?, Some(wanted_roots(&schema, fields)))?,
        };
        (Batches::File(Box::new(reader)), schema, metadata)
    } else {
        let whole = StreamReader::try_new(at_start()?, None)?;
        let schema = whole.schema();
        let reader = match fields {
            None => whole,
            Some(fields) => {
                StreamReader::try_new(at_start()?, Some(wanted_roots(&schema, fields)))?
            }
        };
        (Batches::Stream(Box::new(reader)), schema, HashMap::new())
    };
    let form = ArrowForm {
        schema,
        is_file,
        codec,
        metadata,
    };
    Ok((batches, form))
}

impl ArrowForm {
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Batches::File(reader) => reader.next(),
            Batches::Stream(reader) => reader.next(),
        }
    }
}

/// Cuts a batch into chunks of rows, with their bytes of memory. A writer of Arrow may put any number of rows
/// into a batch.
pub(super) fn chunks(batch: &RecordBatch) -> impl Iterator<Item = (RecordBatch, usize)> + '_ {
    let rows = batch.num_rows();
    let per_row = batch.columns().iter().map(bytes_of).sum::<usize>() / rows.max(1);
    let step = (CHUNK / per_row.max(1)).clamp(1, 8192);
    (0..rows).step_by(step).map(move |first| {
        let len = step.min(rows - first);
        (batch.slice(first, len), per_row * len)
    })
}

/// Bytes of the values of a column. Its buffers may be parts of a buffer of all columns, so their memory says
/// nothing.
fn bytes_of(column: &ArrayRef) -> usize {
    const VIEW: usize = 16;
    let of_views = |lengths: &mut dyn Iterator<Item = u32>| {
        lengths.map(|length| VIEW + length as usize).sum::<usize>()
    };
    match column.data_type() {
        DataType::Utf8View => of_views(&mut column.as_string_view().lengths()),
        DataType::BinaryView => of_views(&mut column.as_binary_view().lengths()),
        _ => {
            let of_slice = column.to_data().get_slice_memory_size();
            of_slice.unwrap_or_else(|_| column.get_array_memory_size())
        }
    }
}

/// The compression of the first batch, which the readers do not tell; `None` for a damaged file, too.
fn codec(mut file: impl Read + Seek, is_file: bool) -> Option<CompressionType> {
    if is_file {
        let first = first_batch(&mut file)?;
        file.seek(SeekFrom::Start(first)).ok()?;
    }
    loop {
        let message = message(&mut file)?;
        let message = root_as_message(&message).ok()?;
        if let Some(batch) = message.header_as_record_batch() {
            return batch.compression().map(|compression| compression.codec());
        }
        file.seek(SeekFrom::Current(message.bodyLength())).ok()?;
    }
}

/// The place of the first batch of an Arrow file, by the directory at its end.
fn first_batch(file: &mut (impl Read + Seek)) -> Option<u64> {
    /// The length of the directory, and the magic bytes.
    const END: usize = 10;
    let mut end = [0; END];
    file.seek(SeekFrom::End(-(END as i64))).ok()?;
    file.read_exact(&mut end).ok()?;
    let len = read_footer_length(end).ok()?;
    let start = i64::try_from(len + END).ok()?;
    file.seek(SeekFrom::End(-start)).ok()?;
    let mut footer = Vec::new();
    file.take(len as u64).read_to_end(&mut footer).ok()?;
    let footer = root_as_footer(&footer).ok()?;
    let batches = footer.recordBatches()?;
    let first = (!batches.is_empty()).then(|| batches.get(0))?;
    u64::try_from(first.offset()).ok()
}

/// The description of the next batch or dictionary.
fn message(file: &mut impl Read) -> Option<Vec<u8>> {
    const CONTINUES: [u8; 4] = [0xFF; 4];
    let mut len = [0; 4];
    file.read_exact(&mut len).ok()?;
    if len == CONTINUES {
        file.read_exact(&mut len).ok()?;
    }
    let len = u64::try_from(i32::from_le_bytes(len)).ok()?;
    let mut message = Vec::new();
    file.take(len).read_to_end(&mut message).ok()?;
    Some(message)
}

/// Writes kept rows in the form of their input.
pub(crate) enum KeptArrow<W: Write> {
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl<W: Write> KeptArrow<W> {
    pub(super) fn new(target: W, form: ArrowForm) -> Result<Self, ArrowError> {
        let options = IpcWriteOptions::default().try_with_compression(form.codec)?;
        if form.is_file {
            let mut writer = FileWriter::try_new_with_options(target, &form.schema, options)?;
            // In order, so that equal inputs make equal files.
            let mut metadata: Vec<_> = form.metadata.into_iter().collect();
            metadata.sort();
            for (key, value) in metadata {
                writer.write_metadata(key, value);
            }
            Ok(KeptArrow::File(writer))
        } else {
            StreamWriter::try_new_with_options(target, &form.schema, options).map(KeptArrow::Stream)
        }
    }

    /// Writes the rows of a batch that `is_kept` marks.
    pub(super) fn write(
        &mut self,
        rows: &RecordBatch,
        is_kept: Vec<bool>,
    ) -> Result<(), ArrowError> {
        let kept = arrow_select::filter::filter_record_batch(rows, &is_kept.into())?;
        if kept.num_rows() == 0 {
            return Ok(());
        }
        match self {
            KeptArrow::File(writer) => writer.write(&kept),
            KeptArrow::Stream(writer) => writer.write(&kept),
        }
    }

    pub(super) fn finish(self) -> Result<W, ArrowError> {
        match self {
            KeptArrow::File(mut writer) => {
                writer.finish()?;
                writer.into_inner()
            }
            KeptArrow::Stream(mut writer) => {
                writer.finish()?;
                writer.into_inner()
            }
        }
    }
}
