//! Reads files: one thread opens, decompresses and cuts them into chunks, which other threads parse.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use arrow_array::RecordBatchReader;
use arrow_schema::SchemaRef;
use crossbeam_channel::{Receiver, Sender};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use xxhash_rust::xxh3::Xxh3Default;

use super::arrow::{self, ArrowForm};
use super::chunk::{Chunk, Contents, Record};
use super::columns::Needed;
use super::compression::Compression;
use super::cut::{ArrayCutter, CsvCutter, Cutter, LineCutter};
use super::fields::{FieldPath, Fields};
use super::format::{BYTE_ORDER_MARK, Format, other_encoding};
use super::input::{InputFile, Inputs};
use super::limit::Limit;
use super::refusal::Refusal;
use super::{columns, table};
use crate::documents::{DocumentBatch, Documents};
use crate::error::{BadRecord, Error, Result, Unsupported};
use crate::store::unnamed_file;

/// Target size of a chunk of lines, in bytes. One thread parses one chunk at a time.
const CHUNK: usize = 1 << 20;

/// Bytes of chunks that may wait to be parsed in [`read_documents`].
const WAITING: usize = 16 << 20;

/// An event from the reading thread.
#[derive(Debug)]
pub(crate) enum Event {
    /// A Parquet or Arrow file begins.
    Table(TableForm),
    Chunk(Chunk),
    /// A file ends.
    End {
        file: usize,
        fingerprint: Fingerprint,
    },
}

/// The form of a table, which its kept rows get, too.
#[derive(Debug)]
pub(crate) enum TableForm {
    Parquet(SchemaRef, Arc<ParquetMetaData>),
    Arrow(ArrowForm),
}

/// What shows, on a second read, whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    size: u64,
    modified: Option<SystemTime>,
    /// XXH3 of the decompressed bytes; 0 for Parquet and Arrow, which are not read from end to
    /// end.
    checksum: u64,
    /// Bytes read, decompressed.
    pub(crate) bytes: u64,
}

/// Options of reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) fields: &'a Fields,
    pub(crate) columns: Columns,
    /// Bytes of text per batch. The same number of bytes may wait.
    pub(crate) batch_bytes: usize,
    /// The folder for decompressed copies of Parquet and Arrow files; `None` is the system's.
    pub(crate) temporary: Option<&'a Path>,
    /// The field that decides which documents are kept, if any.
    pub(crate) keep_by: Option<&'a FieldPath>,
    /// The most records to read from all files together.
    pub(crate) limit: Option<u64>,
}

/// The columns to read from tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Those of the text or tokens and of the id.
    Needed,
    All,
}

/// The name of the thread that reads files. A panic on it becomes an error about the file: the readers of
/// tables panic on some damaged files.
pub const READER_THREAD: &str = "simgpu-reader";

/// Reads all files in order on a separate thread, and calls `consume` with a bounded channel of events and the
/// number of file bytes read so far.
pub(crate) fn read_all<T>(
    files: &[InputFile],
    reading: &Reading<'_>,
    consume: impl FnOnce(Receiver<Result<Event>>, &AtomicU64) -> Result<T>,
) -> Result<T> {
    reading.fields.check()?;
    let consumed = &AtomicU64::new(0);
    let waiting = (reading.batch_bytes / CHUNK).clamp(2, 256);
    let (sender, receiver) = crossbeam_channel::bounded(waiting);
    std::thread::scope(|scope| {
        let read = move || {
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
                // The readers of tables panic on some damaged files.
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
        };
        std::thread::Builder::new()
            .name(READER_THREAD.to_owned())
            .spawn_scoped(scope, read)
            .map_err(|error| {
                let reason = error.to_string();
                Error::Unsupported(Unsupported::Threads { threads: 1, reason })
            })?;
        consume(receiver, consumed)
    })
}

/// Reads all documents of the input files into memory, in order, or those of the first `limit` records.
///
/// # Errors
/// [`Error::Input`] for inputs with a stream, which only a run reads; [`Error::BadRecord`] for the first bad record;
/// [`Error::Input`] or [`Error::Io`] for a file that cannot be read.
pub fn read_documents(
    inputs: &Inputs,
    fields: &Fields,
    limit: Option<NonZeroU64>,
) -> Result<DocumentBatch> {
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
        limit: limit.map(NonZeroU64::get),
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
                all.push(batch.get(row));
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
        if let Some(problem) = Compression::problem_of_size(&input.relative, metadata.len()) {
            return Err(self.unreadable(&problem).into());
        }
        if self.reading.fields.is_tokens
            && let Some(kind) = input.format.without_tokens()
        {
            let remedy = "choose another `unit`, or give lists of tokens in JSON, Parquet or Arrow";
            return Err(self
                .input(format!("a {kind} file holds no tokens"), remedy)
                .into());
        }
        if input.format.is_table() {
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
            self.read_records(&mut stream)?;
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

    fn read_records(&self, stream: &mut impl Read) -> std::result::Result<(), Stop> {
        let start = self.start_of(stream)?;
        if let Some(encoding) = other_encoding(&start) {
            let problem = format!("the file is {encoding}, not UTF-8");
            return Err(self.input(problem, "convert it to UTF-8").into());
        }
        let mut stream = start.as_slice().chain(stream);
        match (self.input.delimiter, self.input.format) {
            (Some(delimiter), _) => self.cut(
                &mut stream,
                &mut CsvCutter::new(delimiter, self.reading.fields),
            ),
            (None, Format::Json) if Format::of_start(&start) == Some(Format::Json) => {
                self.cut(&mut stream, &mut ArrayCutter::new())
            }
            _ => self.cut(&mut stream, &mut LineCutter::new()),
        }
    }

    /// The first bytes of a stream, up to the first character that is not white space.
    fn start_of(&self, stream: &mut impl Read) -> std::result::Result<Vec<u8>, Stop> {
        const STEP: usize = 64;
        let mut start = Vec::new();
        loop {
            let read = stream.by_ref().take(STEP as u64).read_to_end(&mut start);
            let read = read.map_err(|error| self.broken(&error))?;
            let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start);
            if read < STEP || !text.trim_ascii_start().is_empty() {
                return Ok(start);
            }
        }
    }

    /// Cuts a stream into chunks of about [`CHUNK`] bytes, each after a record.
    fn cut(
        &self,
        stream: &mut impl Read,
        cutter: &mut dyn Cutter,
    ) -> std::result::Result<(), Stop> {
        let wrong = |refusal: Refusal| refusal.of(&self.input.named);
        // The operating system provides zeroed memory at no cost.
        let mut bytes = vec![0; CHUNK];
        let mut scanned = 0;
        loop {
            let read = fill(stream, &mut bytes[scanned..]);
            let len = scanned + read.map_err(|error| self.broken(&error))?;
            let is_end = len < bytes.len();
            let mut cut = cutter.scan(&bytes[..len], scanned).map_err(wrong)?;
            if is_end {
                cutter.end(&bytes[..len]).map_err(wrong)?;
                cut = Some(len);
            }
            scanned = len;
            let Some(cut) = cut else {
                bytes.resize(len + CHUNK / 4, 0);
                continue;
            };
            scanned = len - cut;
            let mut next = vec![0; CHUNK.max(scanned + CHUNK / 4)];
            next[..scanned].copy_from_slice(&bytes[cut..len]);
            bytes.truncate(cut);
            let mut chunk = std::mem::replace(&mut bytes, next);
            if is_end {
                // Shrink, so that a small file does not take the memory of a whole chunk.
                chunk.shrink_to_fit();
            }
            if let Some(contents) = cutter.contents(chunk).map_err(wrong)? {
                self.send_chunk(contents)?;
            }
            if is_end || self.limit.is_reached() {
                return Ok(());
            }
        }
    }

    fn read_table(&self, file: File, metadata: &Metadata) -> std::result::Result<(), Stop> {
        let file = self.decompressed(file)?;
        let needed = (self.reading.columns == Columns::Needed).then_some(Needed {
            fields: self.reading.fields,
            keep_by: self.reading.keep_by,
        });
        if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let problem = "the file is cut off: it is empty, and lacks even a schema";
            return Err(self.unreadable(problem).into());
        }
        let bytes = if self.input.format == Format::Arrow {
            self.read_arrow(&file, needed)?
        } else {
            self.read_parquet(file, needed)?
        };
        self.consumed.fetch_add(metadata.len(), Ordering::Relaxed);
        self.send(Event::End {
            file: self.file,
            fingerprint: Fingerprint {
                bytes,
                ..Fingerprint::of(metadata)
            },
        })
    }

    /// Sends the rows of a Parquet file; returns their bytes of memory.
    fn read_parquet(
        &self,
        file: File,
        needed: Option<Needed<'_>>,
    ) -> std::result::Result<u64, Stop> {
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
        let (rows, schema) = table::open(file, needed).map_err(broken)?;
        self.check_schema(&schema)?;
        let metadata = Arc::new(source.metadata().clone());
        self.send(Event::Table(TableForm::Parquet(rows.schema(), metadata)))?;
        let mut bytes = 0;
        for batch in rows {
            let rows = batch.map_err(|error| self.unreadable(&error.to_string()))?;
            let of_rows = rows.get_array_memory_size();
            bytes += of_rows as u64;
            self.send_chunk(Contents::Rows {
                rows,
                bytes: of_rows,
            })?;
            if self.limit.is_reached() {
                break;
            }
        }
        Ok(bytes)
    }

    /// Sends the rows of an Arrow file; returns their bytes of memory.
    fn read_arrow(
        &self,
        file: &File,
        needed: Option<Needed<'_>>,
    ) -> std::result::Result<u64, Stop> {
        let broken = |error: arrow_schema::ArrowError| self.unreadable(&error.to_string());
        let (batches, form) = arrow::open(file, needed).map_err(broken)?;
        self.check_schema(form.schema())?;
        self.send(Event::Table(TableForm::Arrow(form)))?;
        let mut all = 0;
        for batch in batches {
            for (rows, bytes) in arrow::chunks(&batch.map_err(broken)?) {
                all += bytes as u64;
                self.send_chunk(Contents::Rows { rows, bytes })?;
                if self.limit.is_reached() {
                    return Ok(all);
                }
            }
        }
        Ok(all)
    }

    fn check_schema(&self, schema: &SchemaRef) -> Result<()> {
        columns::check_schema(schema, self.reading.fields)
            .map_err(|refusal| refusal.of(&self.input.named))
    }

    /// Decompresses a file to an unnamed temporary file, because the readers of tables need random access.
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
            Some(folder) => unnamed_file(folder),
            None => unnamed_file(&std::env::temp_dir()),
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
        match (self.input.compression, self.input.open()) {
            (Compression::None, _) | (_, Err(_)) => self.unreadable(&error.to_string()),
            (compression, Ok(file)) => self.unreadable(&compression.problem(error, file)),
        }
    }

    fn unreadable(&self, problem: &str) -> Error {
        let remedy = "get the file again from its source";
        self.input(problem.to_owned(), remedy)
    }

    fn input(&self, problem: String, remedy: &str) -> Error {
        Error::Input {
            path: self.input.named.clone(),
            problem,
            remedy: remedy.to_owned(),
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
