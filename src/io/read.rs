//! Reads files: one thread opens, decompresses and cuts them into chunks, which other threads parse.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use crossbeam_channel::{Receiver, Sender};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use xxhash_rust::xxh3::Xxh3Default;

use super::compression::Compression;
use super::fields::{FieldPath, Fields};
use super::input::{Format, InputFile, Inputs};
use super::limit::Limit;
use super::{jsonl, table};
use crate::documents::{DocumentBatch, Documents};
use crate::error::{BadRecord, Error, Result};

/// Target size of a chunk of lines, in bytes. One thread parses one chunk at a time.
const CHUNK: usize = 1 << 20;

/// Bytes of chunks that may wait to be parsed in [`read_documents`].
const WAITING: usize = 16 << 20;

/// A part of a file.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The number of the file among the inputs.
    pub(crate) file: usize,
    pub(crate) contents: Contents,
}

/// The contents of a chunk.
#[derive(Debug)]
pub(crate) enum Contents {
    /// Whole lines.
    Lines { bytes: Vec<u8>, first_number: u64 },
    /// Rows of a Parquet file.
    Rows(RecordBatch),
    /// A text file, which is one document.
    Text(Vec<u8>),
}

impl Contents {
    /// The number of records, good and bad.
    pub(super) fn records(&self) -> u64 {
        match self {
            Contents::Lines {
                bytes,
                first_number,
            } => jsonl::lines(bytes, *first_number).count() as u64,
            Contents::Rows(rows) => rows.num_rows() as u64,
            Contents::Text(_) => 1,
        }
    }

    /// The first records. A text is one record, so it stays whole.
    fn first(self, records: u64) -> Self {
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        match self {
            Contents::Lines {
                mut bytes,
                first_number,
            } => {
                let next = jsonl::lines(&bytes, first_number).nth(records);
                let end = next.map(|line| line.whole.as_ptr().addr() - bytes.as_ptr().addr());
                bytes.truncate(end.unwrap_or(bytes.len()));
                Contents::Lines {
                    bytes,
                    first_number,
                }
            }
            Contents::Rows(rows) => Contents::Rows(rows.slice(0, records.min(rows.num_rows()))),
            text @ Contents::Text(_) => text,
        }
    }
}

/// An event from the reading thread.
#[derive(Debug)]
pub(crate) enum Event {
    /// A Parquet file begins.
    Table {
        schema: SchemaRef,
        metadata: Arc<ParquetMetaData>,
    },
    Chunk(Chunk),
    /// A file ends.
    End {
        file: usize,
        fingerprint: Fingerprint,
    },
}

/// What shows, on a second read, whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    size: u64,
    modified: Option<SystemTime>,
    /// XXH3 of the decompressed bytes; 0 for Parquet, which is not read from end to end.
    checksum: u64,
    /// Bytes read, decompressed.
    pub(crate) bytes: u64,
}

/// A parsed record.
#[derive(Debug)]
pub(crate) enum Record {
    /// A good record, with its id as JSON.
    Document(Option<String>),
    /// A bad record, with its line number in JSON Lines.
    Bad { line: Option<u64>, problem: String },
}

impl Chunk {
    /// The size of the chunk in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.contents {
            Contents::Lines { bytes, .. } | Contents::Text(bytes) => bytes.len(),
            Contents::Rows(rows) => rows.get_array_memory_size(),
        }
    }

    /// Whether the chunk holds all bytes of its part of the file. Rows of a table may lack columns.
    pub(crate) fn is_whole(&self) -> bool {
        !matches!(self.contents, Contents::Rows(_))
    }

    /// The number of records, good and bad.
    pub(crate) fn records(&self) -> u64 {
        self.contents.records()
    }

    /// Parses the records whose number in the chunk `wanted` accepts, and returns them in order. Replaces
    /// `documents` with the documents of the good ones.
    pub(crate) fn parse(
        &self,
        fields: &Fields,
        wanted: impl Fn(u64) -> bool,
        documents: &mut DocumentBatch,
    ) -> Vec<Record> {
        // A text is at most as long as its JSON.
        documents.restart(self.bytes());
        let mut records = Vec::new();
        match &self.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                for (i, line) in (0..).zip(jsonl::lines(bytes, *first_number)) {
                    if !wanted(i) {
                        continue;
                    }
                    records.push(match jsonl::parse(line.record, fields, documents) {
                        Ok(id) => Record::Document(id),
                        Err(problem) => Record::Bad {
                            line: Some(line.number),
                            problem,
                        },
                    });
                }
            }
            Contents::Rows(rows) => {
                let is_wanted: Vec<bool> = (0..rows.num_rows() as u64).map(wanted).collect();
                let all = is_wanted.iter().all(|wanted| *wanted);
                let filtered = (!all)
                    .then(|| arrow_select::filter::filter_record_batch(rows, &is_wanted.into()));
                let rows = match &filtered {
                    Some(Ok(some)) => some,
                    _ => rows,
                };
                table::parse(rows, fields, documents, |parsed| {
                    records.push(match parsed {
                        Ok(id) => Record::Document(id),
                        Err(problem) => Record::Bad {
                            line: None,
                            problem,
                        },
                    });
                });
            }
            Contents::Text(bytes) if wanted(0) => {
                records.push(match (std::str::from_utf8(bytes), documents) {
                    (Ok(text), DocumentBatch::Texts(texts)) => {
                        texts.push(text);
                        Record::Document(None)
                    }
                    (Ok(_), DocumentBatch::Tokens(_)) => Record::Bad {
                        line: None,
                        problem: "a text file holds no tokens".to_owned(),
                    },
                    (Err(error), _) => Record::Bad {
                        line: None,
                        problem: format!("invalid UTF-8 at byte {}", error.valid_up_to()),
                    },
                });
            }
            Contents::Text(_) => {}
        }
        records
    }

    /// Writes the records whose number in the chunk `kept` accepts, byte for byte. Lines end with a newline.
    pub(crate) fn write_kept(
        &self,
        mut kept: impl FnMut(u64) -> bool,
        target: &mut impl Write,
    ) -> io::Result<()> {
        match &self.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                for (i, line) in (0..).zip(jsonl::lines(bytes, *first_number)) {
                    if kept(i) {
                        target.write_all(line.whole)?;
                        if line.whole.last() != Some(&b'\n') {
                            target.write_all(b"\n")?;
                        }
                    }
                }
                Ok(())
            }
            Contents::Text(bytes) if kept(0) => target.write_all(bytes),
            Contents::Text(_) | Contents::Rows(_) => Ok(()),
        }
    }
}

/// Options of reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) fields: &'a Fields,
    pub(crate) columns: Columns,
    /// Bytes of text per batch. The same number of bytes may wait.
    pub(crate) batch_bytes: usize,
    /// The folder for decompressed copies of Parquet files; `None` is the system's.
    pub(crate) temporary: Option<&'a Path>,
    /// The field that decides which documents are kept, if any.
    pub(crate) keep_by: Option<&'a FieldPath>,
    /// The most records to read from all files together.
    pub(crate) limit: Option<u64>,
}

/// The columns to read from Parquet files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Those of the text or tokens and of the id.
    Needed,
    All,
}

/// Reads all files in order on a separate thread, and calls `consume` with a bounded channel of events and the
/// number of file bytes read so far.
pub(crate) fn read_all<T>(
    files: &[InputFile],
    reading: &Reading<'_>,
    consume: impl FnOnce(Receiver<Result<Event>>, &AtomicU64) -> Result<T>,
) -> Result<T> {
    let consumed = &AtomicU64::new(0);
    let waiting = (reading.batch_bytes / CHUNK).clamp(2, 256);
    let (sender, receiver) = crossbeam_channel::bounded(waiting);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let limit = &Limit::new(reading.limit);
            for (file, input) in files.iter().enumerate() {
                if limit.is_reached() {
                    return;
                }
                let reader = Reader {
                    file,
                    input,
                    reading,
                    sender: &sender,
                    consumed,
                    limit,
                };
                // The Parquet reader panics on some damaged files.
                let read = catch_unwind(AssertUnwindSafe(|| reader.read())).unwrap_or_else(|_| {
                    Err(Stop::Failed(reader.unreadable("the file is damaged")))
                });
                match read {
                    Ok(()) => {}
                    Err(Stop::Failed(error)) => {
                        // The consumer may have gone.
                        let _ = sender.send(Err(error));
                        return;
                    }
                    Err(Stop::ConsumerGone) => return,
                }
            }
        });
        consume(receiver, consumed)
    })
}

/// Reads all documents of the input files into memory, in order.
///
/// # Errors
/// [`Error::Input`] for inputs with a stream, which only a run reads; [`Error::BadRecord`] for the first bad record; [`Error::Input`] or [`Error::Io`] for a file that cannot be
/// read.
pub fn read_documents(inputs: &Inputs, fields: &Fields) -> Result<DocumentBatch> {
    if inputs.names_stream() {
        return Err(Error::Input {
            path: "-".into(),
            problem: "a stream can be read by a run only".to_owned(),
            remedy: "name a file".to_owned(),
        });
    }
    let mut all = fields.empty_batch();
    let files = &inputs.files;
    let reading = Reading {
        fields,
        columns: Columns::Needed,
        batch_bytes: WAITING,
        temporary: None,
        keep_by: None,
        limit: None,
    };
    read_all(files, &reading, |events, _| {
        let mut batch = fields.empty_batch();
        let mut rows = vec![0; files.len()];
        for event in events {
            let Event::Chunk(chunk) = event? else {
                continue;
            };
            for record in chunk.parse(fields, |_| true, &mut batch) {
                let row = rows[chunk.file];
                rows[chunk.file] += 1;
                if let Record::Bad { line, problem } = record {
                    return Err(Error::BadRecord(BadRecord {
                        file: files[chunk.file].named.clone(),
                        row,
                        line,
                        problem,
                    }));
                }
            }
            for row in 0..batch.len() {
                batch.append_to(row, &mut all);
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// Why reading stops early.
enum Stop {
    Failed(Error),
    /// The consumer has dropped the channel.
    ConsumerGone,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

struct Reader<'a> {
    file: usize,
    input: &'a InputFile,
    reading: &'a Reading<'a>,
    sender: &'a Sender<Result<Event>>,
    consumed: &'a AtomicU64,
    limit: &'a Limit,
}

impl Reader<'_> {
    fn read(&self) -> std::result::Result<(), Stop> {
        let input = self.input;
        let file = input.open().map_err(Error::io("open", &input.named))?;
        let metadata = file.metadata().map_err(Error::io("read", &input.named))?;
        if input.format == Format::Parquet {
            return self.read_table(file, &metadata);
        }
        let file = Counted {
            file,
            consumed: self.consumed,
        };
        let stream = input
            .compression
            .reader(file)
            .map_err(|error| self.broken(&error))?;
        let mut stream = Hashed {
            stream,
            hasher: Xxh3Default::new(),
            bytes: 0,
        };
        if input.format == Format::Text {
            let mut text = Vec::new();
            stream
                .read_to_end(&mut text)
                .map_err(|error| self.broken(&error))?;
            self.send_chunk(Contents::Text(text))?;
        } else {
            self.read_lines(&mut stream)?;
        }
        self.send(Event::End {
            file: self.file,
            fingerprint: Fingerprint {
                checksum: stream.hasher.digest(),
                bytes: stream.bytes,
                ..Fingerprint::of(&metadata)
            },
        })
    }

    /// Cuts a stream into chunks of about [`CHUNK`] bytes, each after a newline.
    fn read_lines(&self, stream: &mut impl Read) -> std::result::Result<(), Stop> {
        let mut first_number = 1;
        // The operating system provides zeroed memory at no cost.
        let mut bytes = vec![0; CHUNK];
        let mut searched = 0;
        loop {
            let read = fill(stream, &mut bytes[searched..]);
            let len = searched + read.map_err(|error| self.broken(&error))?;
            let is_end = len < bytes.len();
            let cut = if is_end {
                len
            } else {
                match memchr::memrchr(b'\n', &bytes[searched..]) {
                    Some(newline) => searched + newline + 1,
                    None => {
                        searched = len;
                        bytes.resize(len + CHUNK / 4, 0);
                        continue;
                    }
                }
            };
            searched = len - cut;
            let mut next = vec![0; CHUNK.max(searched + CHUNK / 4)];
            next[..searched].copy_from_slice(&bytes[cut..len]);
            bytes.truncate(cut);
            let mut chunk = std::mem::replace(&mut bytes, next);
            if is_end {
                // Shrink, so that a small file does not take the memory of a whole chunk.
                chunk.shrink_to_fit();
            }
            let newlines = memchr::memchr_iter(b'\n', &chunk).count() as u64;
            if !chunk.is_empty() {
                self.send_chunk(Contents::Lines {
                    bytes: chunk,
                    first_number,
                })?;
            }
            first_number += newlines;
            if is_end || self.limit.is_reached() {
                return Ok(());
            }
        }
    }

    fn read_table(&self, file: File, metadata: &Metadata) -> std::result::Result<(), Stop> {
        let file = self.decompressed(file)?;
        let needed = (self.reading.columns == Columns::Needed).then_some(self.reading.fields);
        let broken = |error: parquet::errors::ParquetError| self.unreadable(&error.to_string());
        let source = file
            .try_clone()
            .map_err(Error::io("open", &self.input.named))?;
        let source = SerializedFileReader::new(source).map_err(broken)?;
        if !table::is_sound(source.metadata()) {
            return Err(self
                .unreadable("the file is damaged: a column lacks an offset or a size")
                .into());
        }
        let rows = table::open(file, needed, self.reading.keep_by).map_err(broken)?;
        table::check_schema(&rows.schema(), self.reading.fields).map_err(|problem| {
            Error::Input {
                path: self.input.named.clone(),
                problem,
                remedy: "choose the column with `text_field`, `tokens_field` or `id_field`"
                    .to_owned(),
            }
        })?;
        self.send(Event::Table {
            schema: rows.schema(),
            metadata: Arc::new(source.metadata().clone()),
        })?;
        let mut bytes = 0;
        for batch in rows {
            let batch = batch.map_err(|error| self.unreadable(&error.to_string()))?;
            bytes += batch.get_array_memory_size() as u64;
            self.send_chunk(Contents::Rows(batch))?;
            if self.limit.is_reached() {
                break;
            }
        }
        self.consumed.fetch_add(metadata.len(), Ordering::Relaxed);
        self.send(Event::End {
            file: self.file,
            fingerprint: Fingerprint {
                bytes,
                ..Fingerprint::of(metadata)
            },
        })
    }

    /// Decompresses a file to an unnamed temporary file, because the Parquet reader needs random access.
    fn decompressed(&self, file: File) -> std::result::Result<File, Stop> {
        if self.input.compression == Compression::None {
            return Ok(file);
        }
        let mut stream = self
            .input
            .compression
            .reader(file)
            .map_err(|error| self.broken(&error))?;
        let temporary = || Error::io("create a temporary file for", &self.input.named);
        let target = match self.reading.temporary {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        let mut target = target.map_err(temporary())?;
        io::copy(&mut stream, &mut target).map_err(|error| self.broken(&error))?;
        target.rewind().map_err(temporary())?;
        Ok(target)
    }

    fn send_chunk(&self, contents: Contents) -> std::result::Result<(), Stop> {
        let file = self.file;
        let contents = if self.limit.is_set() {
            let allowed = self.limit.take(contents.records());
            contents.first(allowed)
        } else {
            contents
        };
        self.send(Event::Chunk(Chunk { file, contents }))
    }

    fn send(&self, event: Event) -> std::result::Result<(), Stop> {
        self.sender.send(Ok(event)).map_err(|_| Stop::ConsumerGone)
    }

    fn broken(&self, error: &io::Error) -> Error {
        let kind = match self.input.compression {
            Compression::None => return self.unreadable(&error.to_string()),
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        };
        let what = match error.kind() {
            io::ErrorKind::UnexpectedEof => "is cut off".to_owned(),
            _ => format!("is damaged ({error})"),
        };
        self.unreadable(&format!("the {kind} stream {what}"))
    }

    fn unreadable(&self, problem: &str) -> Error {
        Error::Input {
            path: self.input.named.clone(),
            problem: problem.to_owned(),
            remedy: "get the file again from its source".to_owned(),
        }
    }
}

impl Fingerprint {
    fn of(metadata: &Metadata) -> Self {
        Fingerprint {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            checksum: 0,
            bytes: 0,
        }
    }

    /// Whether the file is unchanged. Ignores the number of bytes read, because two reads of a table may read
    /// different columns.
    pub(crate) fn is_of_same_file(&self, other: &Fingerprint) -> bool {
        let of_file = |f: &Fingerprint| (f.size, f.modified, f.checksum);
        of_file(self) == of_file(other)
    }
}

/// Reads until the buffer is full or the stream ends; returns the number of bytes read.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A file that counts the bytes read from it.
struct Counted<'a> {
    file: File,
    consumed: &'a AtomicU64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.consumed.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A stream that hashes and counts the bytes read from it.
struct Hashed<R> {
    stream: R,
    hasher: Xxh3Default,
    bytes: u64,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}
