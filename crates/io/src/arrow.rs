//! Arrow IPC files and streams: reads their batches, and writes the kept rows in the same form.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat_batches;

use super::arrow_messages::{facts_of_batches, is_big_endian};
use super::columns::{Needed, wanted_roots};
use super::longest::LongestRecord;
use super::mark::with_marks;
use super::refusal::Refusal;
use super::table::Unreadable;

/// The start of an Arrow file; a stream lacks it.
const MAGIC: &[u8; 6] = b"ARROW1";

/// Target size of a chunk of rows, in bytes. One thread parses one chunk at a time.
const CHUNK: usize = 1 << 20;

/// The form of a file, which its kept rows get, too.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ArrowForm {
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

/// Refuses a file or stream of a machine whose numbers have their greatest byte first. The reader refuses such files, and
/// takes the numbers of such streams for others.
pub(super) fn check_byte_order(file: &File, named: &Path) -> Result<(), Refusal> {
    // Clones of a file have one place in it.
    let from_start = || {
        let mut file = file.try_clone()?;
        file.rewind().map(|()| file)
    };
    // What cannot be read is left for the reader to report.
    let is_file = from_start().and_then(is_file).unwrap_or_default();
    if !from_start().is_ok_and(|file| is_big_endian(file, is_file).unwrap_or_default()) {
        return Ok(());
    }
    let open = if is_file { "open_file" } else { "open_stream" };
    // A stream has no name that Python opens.
    let file = match named.to_str() {
        Some("stdin") | None => "the file behind it",
        Some(_) => "it",
    };
    let named = match named.to_str() {
        Some("stdin") | None => "in.arrow".into(),
        Some(name) => name.to_owned(),
    };
    Err(Refusal::new(
        "its numbers are big-endian, as a mainframe writes them, which are not read",
        format!(
            "convert {file} in Python: import pyarrow.ipc, pyarrow.parquet; \
             pyarrow.parquet.write_table(pyarrow.ipc.{open}({named:?}).read_all(), \"new.parquet\")"
        ),
    ))
}

/// Whether a file has a directory at its end, or is a stream.
fn is_file(file: impl Read) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// The first column of a file that cannot be read alone.
pub(super) fn unreadable_column(file: &File) -> Option<String> {
    let at_start = || {
        let mut file = file.try_clone().ok()?;
        file.rewind().ok()?;
        Some(BufReader::with_capacity(1 << 18, file))
    };
    let is_file = is_file(at_start()?).ok()?;
    let schema = if is_file {
        FileReader::try_new(at_start()?, None).ok()?.schema()
    } else {
        StreamReader::try_new(at_start()?, None).ok()?.schema()
    };
    let mut columns = schema.fields().iter().enumerate();
    let failing = columns.find(|(column, _)| {
        let alone = Some(vec![*column]);
        let is_read = at_start().map(|start| {
            if is_file {
                let batches = FileReader::try_new(start, alone);
                batches.is_ok_and(|mut batches| batches.all(|batch| batch.is_ok()))
            } else {
                let batches = StreamReader::try_new(start, alone);
                batches.is_ok_and(|mut batches| batches.all(|batch| batch.is_ok()))
            }
        });
        is_read == Some(false)
    });
    failing.map(|(_, field)| field.name().clone())
}

/// Opens a file. Reads only the columns of `needed`, if given.
pub(super) fn open(
    file: &File,
    needed: Option<Needed<'_>>,
    longest: LongestRecord,
) -> Result<(Batches, ArrowForm), Unreadable> {
    let at_start = || -> Result<BufReader<File>, ArrowError> {
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok(BufReader::with_capacity(1 << 18, file))
    };
    let is_file = is_file(at_start()?)?;
    let facts = facts_of_batches(at_start()?.into_inner(), is_file)?;
    if facts.largest > longest.table_bytes() {
        let refusal = longest.table_refusal("a batch", facts.largest);
        return Err(Unreadable::Refused(refusal));
    }
    let (batches, schema, metadata) = if is_file {
        let whole = FileReader::try_new(at_start()?, None)?;
        let (schema, metadata) = (whole.schema(), whole.custom_metadata().clone());
        let reader = match needed {
            None => whole,
            Some(needed) => FileReader::try_new(at_start()?, Some(wanted_roots(&schema, needed)))?,
        };
        (Batches::File(Box::new(reader)), schema, metadata)
    } else {
        let whole = StreamReader::try_new(at_start()?, None)?;
        let schema = whole.schema();
        let reader = match needed {
            None => whole,
            Some(needed) => {
                StreamReader::try_new(at_start()?, Some(wanted_roots(&schema, needed)))?
            }
        };
        (Batches::Stream(Box::new(reader)), schema, HashMap::new())
    };
    let form = ArrowForm {
        schema,
        is_file,
        codec: facts.codec,
        metadata,
    };
    Ok((batches, form))
}

impl ArrowForm {
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The form with a column of marks.
    pub(super) fn with_marks(self, name: &str) -> Result<Self, String> {
        let schema = with_marks(&self.schema, name)?;
        Ok(ArrowForm { schema, ..self })
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
    let per_row = bytes_of_rows(batch) / rows.max(1);
    let step = (CHUNK / per_row.max(1)).clamp(1, 8192);
    (0..rows).step_by(step).map(move |first| {
        let len = step.min(rows - first);
        (batch.slice(first, len), per_row * len)
    })
}

/// Bytes of the values of rows.
pub(super) fn bytes_of_rows(rows: &RecordBatch) -> usize {
    rows.columns().iter().map(bytes_of).sum()
}

/// Bytes of the values of a column. Its buffers may be parts of a buffer of all columns, or a page that other rows lend
/// strings of, so their memory says nothing.
fn bytes_of(column: &ArrayRef) -> usize {
    const VIEW: usize = 16;
    let view_bytes = |lengths: &mut dyn Iterator<Item = u32>| {
        lengths.map(|length| VIEW + length as usize).sum::<usize>()
    };
    match column.data_type() {
        DataType::Utf8View => view_bytes(&mut column.as_string_view().lengths()),
        DataType::BinaryView => view_bytes(&mut column.as_binary_view().lengths()),
        _ => {
            let slice_bytes = column.to_data().get_slice_memory_size();
            slice_bytes.unwrap_or_else(|_| column.get_array_memory_size())
        }
    }
}

/// Writes kept rows in the form of their input. A batch holds the kept rows of a batch of the input; one of which no row is
/// kept is left out.
pub(crate) struct KeptArrow<W: Write> {
    target: Target<W>,
    schema: SchemaRef,
    /// The number of the current batch in the input, and its kept rows so far.
    batch: (usize, Vec<RecordBatch>),
}

enum Target<W: Write> {
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl<W: Write> KeptArrow<W> {
    pub(super) fn new(target: W, form: ArrowForm) -> Result<Self, ArrowError> {
        let options = IpcWriteOptions::default().try_with_compression(form.codec)?;
        let target = if form.is_file {
            let mut writer = FileWriter::try_new_with_options(target, &form.schema, options)?;
            // In order, so that equal inputs make equal files.
            let mut metadata: Vec<_> = form.metadata.into_iter().collect();
            metadata.sort();
            for (key, value) in metadata {
                writer.write_metadata(key, value);
            }
            Target::File(writer)
        } else {
            Target::Stream(StreamWriter::try_new_with_options(
                target,
                &form.schema,
                options,
            )?)
        };
        Ok(KeptArrow {
            target,
            schema: form.schema,
            batch: (0, Vec::new()),
        })
    }

    /// Writes kept rows of a batch of the input. Batches come in order.
    pub(super) fn write(&mut self, batch: usize, kept: RecordBatch) -> Result<(), ArrowError> {
        if self.batch.0 != batch {
            self.finish_batch()?;
            self.batch.0 = batch;
        }
        self.batch.1.push(kept);
        Ok(())
    }

    fn finish_batch(&mut self) -> Result<(), ArrowError> {
        let parts = std::mem::take(&mut self.batch.1);
        if parts.is_empty() {
            return Ok(());
        }
        let whole = concat_batches(&self.schema, &parts)?;
        match &mut self.target {
            Target::File(writer) => writer.write(&whole),
            Target::Stream(writer) => writer.write(&whole),
        }
    }

    pub(super) fn finish(mut self) -> Result<W, ArrowError> {
        self.finish_batch()?;
        match self.target {
            Target::File(mut writer) => {
                writer.finish()?;
                writer.into_inner()
            }
            Target::Stream(mut writer) => {
                writer.finish()?;
                writer.into_inner()
            }
        }
    }
}
