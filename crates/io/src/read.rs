//! Reads files: opens and decompresses them, and cuts them into chunks. Threads take turns at each file.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io::{self, Chain, Cursor, Read, Seek, Write};
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::errors::ParquetError;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::arrow::{self, ArrowForm};
use super::chunk::{CHUNK, Chunk, Contents, Record};
use super::columns::Needed;
use super::compression::Compression;
use super::cut::{ArrayCutter, CsvCutter, Cutter, LineCutter};
use super::fields::{FieldPath, Fields, ValueField, Wanted, for_reference};
use super::format::{BYTE_ORDER_MARK, Format, check_start, other_encoding};
use super::frames::{FramesReader, frames_ahead};
use super::input::{InputFile, Inputs};
use super::kept_table::{ParquetForm, unknown_column};
use super::limit::Limit;
use super::longest::{LongestRecord, MEASURED};
use super::refusal::Refusal;
use super::table::{self, Groups, Unreadable};
use super::{broken_stream, columns, jsonl};
use simgpu::documents::{DocumentBatch, Documents};
use simgpu::error::{BadRecord, Error, Result};
use simgpu::store::disk::is_absent;
use simgpu::store::unnamed_file;
use simgpu_base::encoding::other_unicode;
use simgpu_base::threads::{Ahead, map_in_order};

/// The most bytes of a compressed file that are read again to tell damage from a bad record.
const CHECKED: u64 = 64 << 20;

/// Bytes of chunks that may wait for earlier ones, by default.
const WAITING: usize = 16 << 20;

/// An event of reading a file. `C` is a chunk, or what was made of it.
#[derive(Debug)]
#[doc(hidden)]
pub enum Event<C = Chunk> {
    /// A Parquet or Arrow file begins.
    Table(TableForm),
    Chunk(C),
    /// A file ends.
    End {
        file: usize,
        fingerprint: Fingerprint,
    },
}

/// The form of a table, which its kept rows get, too.
#[derive(Debug)]
#[doc(hidden)]
pub enum TableForm {
    Parquet(ParquetForm),
    Arrow(ArrowForm),
}

impl TableForm {
    /// The form with a column of marks of this name.
    ///
    /// # Errors
    /// Why it gets none.
    #[doc(hidden)]
    pub fn with_marks(self, name: &str) -> std::result::Result<Self, String> {
        Ok(match self {
            TableForm::Parquet(form) => TableForm::Parquet(form.with_marks(name)?),
            TableForm::Arrow(form) => TableForm::Arrow(form.with_marks(name)?),
        })
    }
}

/// What shows, on a second read, whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Fingerprint {
    size: u64,
    modified: Option<SystemTime>,
    /// XXH3 of the decompressed bytes; 0 for Parquet and Arrow, which are not read from end to
    /// end.
    checksum: u64,
    /// Bytes read, decompressed.
    pub(crate) bytes: u64,
}

/// A place between two chunks of the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Position {
    /// The number of the file.
    #[doc(hidden)]
    pub file: usize,
    /// The number of the chunk in the file.
    #[doc(hidden)]
    pub chunk: u64,
    /// The number of records in the files before it, but for those of a reference.
    #[doc(hidden)]
    pub records: u64,
}

impl Position {
    /// Whether a chunk lies before this place.
    #[doc(hidden)]
    pub fn is_after(&self, chunk: &Chunk) -> bool {
        (chunk.file, chunk.number) < (self.file, self.chunk)
    }
}

/// Options of reading.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Reading<'a> {
    #[doc(hidden)]
    pub wanted: Wanted<'a>,
    #[doc(hidden)]
    pub columns: Columns,
    /// Bytes of chunks that may wait for earlier ones, beside one chunk per thread.
    #[doc(hidden)]
    pub batch_bytes: usize,
    /// The folder for decompressed copies of Parquet and Arrow files; `None` is the system's.
    #[doc(hidden)]
    pub temporary: Option<&'a Path>,
    /// Fields that are read beside the wanted ones, if any.
    #[doc(hidden)]
    pub beside: [Option<&'a FieldPath>; 2],
    /// The most records to read from all files together, but for those of a reference.
    #[doc(hidden)]
    pub limit: Option<u64>,
    /// The number of first files that are a reference, and what is wanted of them. Its documents have no preference.
    #[doc(hidden)]
    pub reference: Option<(usize, Wanted<'a>)>,
    #[doc(hidden)]
    pub longest: LongestRecord,
}

impl<'a> Reading<'a> {
    /// Reads the wanted columns of all records, of any length that the memory of a run allows.
    #[doc(hidden)]
    pub fn new(wanted: Wanted<'a>) -> Self {
        Reading {
            wanted,
            columns: Columns::Needed,
            batch_bytes: WAITING,
            temporary: None,
            beside: [None; 2],
            limit: None,
            reference: None,
            longest: LongestRecord::within(None),
        }
    }

    fn is_reference(&self, file: usize) -> bool {
        self.reference.is_some_and(|(files, _)| file < files)
    }

    fn wanted_of(&self, file: usize) -> Wanted<'a> {
        let of_reference = self.reference.filter(|(files, _)| file < *files);
        of_reference.map_or(self.wanted, |(_, wanted)| wanted)
    }
}

/// The columns to read from tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Columns {
    /// Those that are wanted.
    Needed,
    All,
}

thread_local! {
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Whether the current thread is reading a file. A panic then becomes an error about the file: the readers of tables
/// panic on some damaged files.
pub fn is_reading() -> bool {
    IS_READING.get()
}

/// The reading of all files. The threads of the current rayon pool take turns at each file, and read several files at
/// the same time.
#[doc(hidden)]
#[derive(Debug)]
pub struct FilesReading<'a> {
    files: &'a [InputFile],
    reading: Reading<'a>,
    consumed: AtomicU64,
    limit: Limit,
    first_file: usize,
    /// Whether some file has a field of the texts that another lacks: of the inputs, and of the reference.
    known_fields: [Vec<OnceLock<bool>>; 2],
}

impl<'a> FilesReading<'a> {
    #[doc(hidden)]
    pub fn new(files: &'a [InputFile], reading: Reading<'a>) -> Result<Self> {
        reading.wanted.check()?;
        if let Some((_, wanted)) = reading.reference {
            wanted.check()?;
        }
        let reference = reading.reference.map(|(_, wanted)| wanted);
        let known_fields = [Some(reading.wanted), reference].map(|wanted| {
            let fields = match wanted {
                Some(Wanted::Document(fields)) => fields.content.len(),
                _ => 0,
            };
            (0..fields).map(|_| OnceLock::new()).collect()
        });
        Ok(FilesReading {
            files,
            consumed: AtomicU64::new(0),
            limit: Limit::new(reading.limit),
            reading,
            first_file: 0,
            known_fields,
        })
    }

    /// Refuses a file that lacks fields of the texts if no other file has one of them.
    fn check_missing<'f>(
        &self,
        file: usize,
        fields: &Fields,
        missing: impl Iterator<Item = (&'f FieldPath, Refusal)>,
    ) -> std::result::Result<(), Refusal> {
        let is_reference = self.reading.is_reference(file);
        let known = &self.known_fields[usize::from(is_reference)];
        for (path, refusal) in missing {
            let has = |(other, input): (usize, &InputFile)| {
                self.reading.is_reference(other) == is_reference
                    && has_field(input, path, self.reading.temporary)
            };
            let mut content = fields.content.iter().zip(known);
            let known = content.find(|(known, _)| *known == path);
            let is_known = known.is_some_and(|(_, known)| {
                *known.get_or_init(|| self.files.iter().enumerate().any(has))
            });
            if !is_known {
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Leaves out the files before a place. Of its own file, the chunks before it come, too: what they hold decides where
    /// the next ones begin.
    #[doc(hidden)]
    pub fn starting_at(self, position: &Position) -> Self {
        let before = &self.files[..position.file.min(self.files.len())];
        let consumed = before.iter().map(InputFile::stored_bytes).sum();
        let left = self
            .reading
            .limit
            .map(|limit| limit.saturating_sub(position.records));
        FilesReading {
            consumed: AtomicU64::new(consumed),
            limit: Limit::new(left),
            first_file: position.file,
            ..self
        }
    }

    /// File bytes read so far.
    #[doc(hidden)]
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// How far threads may read ahead. `weigh` counts chunks.
    #[doc(hidden)]
    pub fn ahead<T>(&self, weigh: fn(&T) -> usize) -> Ahead<T> {
        Ahead {
            weigh,
            waiting: self.reading.batch_bytes / CHUNK,
            // Which records of a file the limit allows depends on the files before it.
            inputs: if self.limit.is_set() { 1 } else { usize::MAX },
        }
    }

    /// The events of a file.
    #[doc(hidden)]
    pub fn file(&self, file: usize) -> Reader<'_> {
        Reader {
            file,
            input: &self.files[file],
            of_all: self,
            state: if file < self.first_file {
                ReaderState::Ended
            } else {
                ReaderState::Unopened
            },
            chunks: 0,
        }
    }

    /// Calls `map` for all chunks, on all threads, and `each` for the results and all other events, in order. If none
    /// comes, calls `each` with `None` every few milliseconds.
    #[doc(hidden)]
    pub fn map<T: Send>(
        &self,
        map: impl Fn(Chunk) -> Result<T> + Sync,
        each: impl FnMut(Option<Event<T>>) -> Result<()>,
    ) -> Result<()> {
        let map = |event: Result<Event>| {
            Ok(match event? {
                Event::Table(form) => Event::Table(form),
                Event::Chunk(chunk) => Event::Chunk(map(chunk)?),
                Event::End { file, fingerprint } => Event::End { file, fingerprint },
            })
        };
        let files = self.files.len();
        let ahead = self.ahead(|event: &Result<Event>| match event {
            Ok(Event::Chunk(chunk)) => chunk.weight(),
            _ => 1,
        });
        let read = map_in_order(files, ahead, |file| self.file(file), map, each);
        read.map_err(|error| self.cause_of(error))
    }

    /// The cause of an error: a damaged stream may decompress to anything, so that its damage can show first as a bad record,
    /// or as a file that cannot be cut. To find it, its stream is read to its end, or up to [`CHECKED`].
    fn cause_of(&self, error: Error) -> Error {
        let named = match &error {
            Error::BadRecord(record) => &record.file,
            Error::Input { path, .. } => path,
            _ => return error,
        };
        let is_stream = |file: &&InputFile| {
            file.named == *named && file.compression != Compression::None && !file.format.is_table()
        };
        let damage = self.files.iter().find(is_stream).and_then(|file| {
            let stored = file.open().ok()?.take(CHECKED);
            let stream = file.compression.reader(stored);
            let read = stream.and_then(|mut stream| io::copy(&mut stream, &mut io::sink()));
            let is_whole = file.stored_bytes() <= CHECKED;
            let of_file =
                |broken: &io::Error| is_whole || broken.kind() != io::ErrorKind::UnexpectedEof;
            Some(broken(file, &read.err().filter(of_file)?))
        });
        damage.unwrap_or(error)
    }
}

/// Reads all documents of the input files into memory, in order, or those of the first `limit` records. A record may have up
/// to 64 MiB.
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
        limit: limit.map(NonZeroU64::get),
        longest: LongestRecord::fixed(),
        ..Reading::new(Wanted::Document(fields))
    };
    let mut rows = vec![0; files.len()];
    FilesReading::new(files, reading)?.map(
        |chunk| {
            let mut batch = fields.empty_batch();
            let records = chunk.parse(fields, |_| true, &mut batch);
            Ok((chunk.file, records, batch))
        },
        |event| {
            let Some(Event::Chunk((file, records, batch))) = event else {
                return Ok(());
            };
            for record in records {
                let row = rows[file];
                rows[file] += 1;
                if let Record::Bad { line, problem } = record {
                    return Err(Error::BadRecord(BadRecord {
                        file: files[file].named.clone(),
                        row,
                        line,
                        problem,
                    }));
                }
            }
            for row in 0..batch.len() {
                all.push(batch.get(row));
            }
            Ok(())
        },
    )?;
    Ok(all)
}

/// The events of a file, in order: perhaps a table, then chunks, then its end. After an error, nothing more; if the
/// limit is reached before the file is opened, nothing at all.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Reader<'a> {
    file: usize,
    input: &'a InputFile,
    of_all: &'a FilesReading<'a>,
    state: ReaderState<'a>,
    /// The number of chunks so far.
    chunks: u64,
}

enum ReaderState<'a> {
    Unopened,
    Open(Rest<'a>, Fingerprint),
    Ended,
}

/// What is left of an open file.
enum Rest<'a> {
    Records(Box<RecordsReader<'a>>),
    /// A text file, which is one chunk; `None` if it was read.
    Text(Option<Vec<u8>>),
    Parquet(Box<Groups>),
    Arrow(arrow::Batches, BatchParts),
}

/// The chunks of the current batch of an Arrow file, and the number of batches so far.
type BatchParts = (VecDeque<(RecordBatch, usize)>, usize);

/// A stream of records, which is cut.
struct RecordsReader<'a> {
    longest: LongestRecord,
    stream: Chain<Cursor<Vec<u8>>, Hashed<Box<dyn Read + Send + 'a>>>,
    cutter: Box<dyn Cutter + Send + 'a>,
    /// The start of the next chunk. Of its bytes, the first `scanned` were read and scanned.
    bytes: Vec<u8>,
    scanned: usize,
    is_at_end: bool,
}

impl Iterator for Reader<'_> {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Result<Event>> {
        let before = IS_READING.replace(true);
        // The readers of tables panic on some damaged files.
        let next = catch_unwind(AssertUnwindSafe(|| self.next_event()));
        IS_READING.set(before);
        let next = next.unwrap_or_else(|_| Err(unreadable(self.input, "the file is damaged")));
        let state = match next {
            Ok(_) => return next.transpose(),
            Err(_) => std::mem::replace(&mut self.state, ReaderState::Ended),
        };
        // What looks like damage may be what another program is writing.
        let has_changed = match &state {
            // The error that ended the reading is the one to report.
            ReaderState::Open(_, opened) => opened.is_outdated(self.input).unwrap_or(false),
            ReaderState::Unopened | ReaderState::Ended => false,
        };
        Some(Err(match (next, has_changed) {
            (
                Err(Error::Input {
                    path,
                    problem,
                    remedy,
                }),
                false,
            ) if self.of_all.reading.is_reference(self.file) => Error::Input {
                path,
                problem,
                remedy: for_reference(&remedy),
            },
            (Err(error), false) => error,
            _ => changed(self.input),
        }))
    }
}

impl Reader<'_> {
    fn next_event(&mut self) -> Result<Option<Event>> {
        let limit = &self.of_all.limit;
        let is_limited = !self.of_all.reading.is_reference(self.file);
        if matches!(self.state, ReaderState::Unopened) && !(is_limited && limit.is_reached()) {
            let table = self.open()?;
            if let Some(form) = table {
                return Ok(Some(Event::Table(form)));
            }
        }
        let contents = match &mut self.state {
            ReaderState::Unopened | ReaderState::Ended => return Ok(None),
            ReaderState::Open(..) if is_limited && limit.is_reached() => None,
            ReaderState::Open(parts, read) => parts.next(self.input, read)?,
        };
        if let Some(contents) = contents {
            if self.chunks == 0 {
                self.check_header(&contents)?;
            }
            self.chunks += 1;
            return Ok(Some(Event::Chunk(Chunk {
                file: self.file,
                number: self.chunks - 1,
                contents: if is_limited {
                    limit.first_of(contents)
                } else {
                    contents
                },
            })));
        }
        let ReaderState::Open(parts, mut fingerprint) =
            std::mem::replace(&mut self.state, ReaderState::Ended)
        else {
            return Ok(None);
        };
        if let Rest::Records(records) = &parts {
            let (_, stream) = records.stream.get_ref();
            (fingerprint.checksum, fingerprint.bytes) = (stream.hasher.digest(), stream.bytes);
        }
        Ok(Some(Event::End {
            file: self.file,
            fingerprint,
        }))
    }

    /// Opens the file. Returns the form of a table.
    fn open(&mut self) -> Result<Option<TableForm>> {
        let input = self.input;
        let file = input.open().map_err(Error::io("open", &input.named))?;
        let metadata = file.metadata().map_err(Error::io("read", &input.named))?;
        if let Some(problem) = Compression::problem_of_size(&input.relative, metadata.len()) {
            return Err(unreadable(input, &problem));
        }
        if let Some(refusal) = self.wanted().refusal_of(input.format) {
            return Err(refusal.for_file(&input.named));
        }
        let mut fingerprint = Fingerprint::from_metadata(&metadata);
        let (parts, table) = if input.format.is_table() {
            let opened = self.open_table(file)?;
            let consumed = &self.of_all.consumed;
            consumed.fetch_add(metadata.len(), Ordering::Relaxed);
            opened
        } else {
            let file = CountedFile {
                file,
                consumed: &self.of_all.consumed,
            };
            let stream = self.decompressing(file);
            let mut stream = Hashed {
                stream: stream.map_err(|error| broken(input, &error))?,
                hasher: Xxh3Default::new(),
                bytes: 0,
            };
            let parts = if input.format == Format::Text {
                let is_plain = input.compression == Compression::None;
                let text = self.text(&mut stream, is_plain.then_some(metadata.len()))?;
                (fingerprint.checksum, fingerprint.bytes) = (stream.hasher.digest(), stream.bytes);
                Rest::Text(Some(text))
            } else {
                Rest::Records(Box::new(self.open_records(stream)?))
            };
            (parts, None)
        };
        self.state = ReaderState::Open(parts, fingerprint);
        Ok(table)
    }
}
impl<'a> Reader<'a> {
    /// What is wanted of the records of the file.
    fn wanted(&self) -> Wanted<'a> {
        self.of_all.reading.wanted_of(self.file)
    }

    /// Refuses CSV that lacks fields of the texts which no other file has.
    fn check_header(&self, first: &Contents) -> Result<()> {
        let (Contents::Records(records), Wanted::Document(fields)) = (first, self.wanted()) else {
            return Ok(());
        };
        let Some(header) = &records.header else {
            return Ok(());
        };
        let missing = header.missing(fields);
        let checked = self.of_all.check_missing(self.file, fields, missing);
        checked.map_err(|refusal| refusal.for_file(&self.input.named))
    }

    /// Decompresses a stream of the file, ahead where threads would stand still.
    fn decompressing(&self, file: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
        let compression = self.input.compression;
        // A few records may be all that is read.
        let ahead = if self.of_all.limit.is_set() {
            0
        } else {
            frames_ahead(self.of_all.files.len())
        };
        if compression == Compression::Zstd && ahead > 0 {
            return Ok(Box::new(FramesReader::new(file, ahead)));
        }
        compression.reader(file)
    }

    /// Reads a text file. `known` is its length in bytes, if there is one.
    fn text(
        &self,
        stream: &mut Hashed<Box<dyn Read + Send + 'a>>,
        known: Option<u64>,
    ) -> Result<Vec<u8>> {
        let (input, longest) = (self.input, self.of_all.reading.longest);
        let most = longest.bytes();
        let mut text = Vec::new();
        // Twice the memory otherwise. Without room, the read says so.
        let reserved = known.map_or(0, |known| known.min(most));
        let _ = text.try_reserve_exact(usize::try_from(reserved).unwrap_or(0));
        let read = stream.by_ref().take(most).read_to_end(&mut text);
        read.map_err(|error| broken(input, &error))?;
        text.shrink_to_fit();
        let mut rest = stream.by_ref().take(MEASURED);
        match io::copy(&mut rest, &mut io::sink()).map_err(|error| broken(input, &error))? {
            0 => Ok(text),
            more => Err(longest
                .refusal("the text", most + more)
                .for_file(&input.named)),
        }
    }

    fn open_records(
        &self,
        mut stream: Hashed<Box<dyn Read + Send + 'a>>,
    ) -> Result<RecordsReader<'a>> {
        let (input, longest) = (self.input, self.of_all.reading.longest);
        let start = start_of(&mut stream, longest).map_err(|error| broken(input, &error))?;
        // The first bytes of the file itself are known to be none of these.
        if input.compression != Compression::None {
            check_start(&input.named, &start)?;
        }
        if let Some(encoding) = other_encoding(&start) {
            let problem = other_unicode("the file", encoding);
            return Err(Refusal::new(problem, "convert it to UTF-8").for_file(&input.named));
        }
        let is_array =
            input.format == Format::Json && Format::from_start(&start) == Some(Format::Json);
        let cutter: Box<dyn Cutter + Send> = match input.separators {
            Some(separators) => Box::new(CsvCutter::new(separators, self.wanted())),
            None if is_array => Box::new(ArrayCutter::new()),
            None => Box::new(LineCutter::new()),
        };
        Ok(RecordsReader {
            longest,
            stream: Cursor::new(start).chain(stream),
            cutter,
            // The operating system provides zeroed memory at no cost.
            bytes: vec![0; CHUNK],
            scanned: 0,
            is_at_end: false,
        })
    }

    /// Opens a table; returns its form, too, if its rows are to be copied.
    fn open_table(&self, file: File) -> Result<(Rest<'a>, Option<TableForm>)> {
        let (input, reading) = (self.input, &self.of_all.reading);
        let file = self.decompressed(file)?;
        let beside = if reading.is_reference(self.file) {
            [None; 2]
        } else {
            reading.beside
        };
        let needed = (reading.columns == Columns::Needed).then_some(Needed {
            wanted: self.wanted(),
            beside,
        });
        if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let problem = "the file is cut off: it is empty, and lacks even a schema";
            return Err(unreadable(input, problem));
        }
        let check = |schema: &SchemaRef| {
            let others = beside.into_iter().zip(["keep_by", "source_field"]);
            let checked = columns::check_schema(schema, self.wanted());
            let checked = checked.and_then(|()| match self.wanted() {
                Wanted::Document(fields) => {
                    let missing = columns::missing(schema, fields);
                    self.of_all.check_missing(self.file, fields, missing)
                }
                Wanted::Values(_) => Ok(()),
            });
            let checked = checked.and_then(|()| {
                let mut others = others.filter_map(|(path, parameter)| Some((path?, parameter)));
                others.try_for_each(|(path, parameter)| columns::check_one(schema, path, parameter))
            });
            checked.map_err(|refusal| refusal.for_file(&input.named))
        };
        if input.format == Format::Arrow {
            let order = arrow::check_byte_order(&file, &input.named);
            order.map_err(|refusal| refusal.for_file(&input.named))?;
            let opened = arrow::open(&file, needed, reading.longest);
            let (batches, form) = opened.map_err(|error| unread_table(input, error))?;
            check(form.schema())?;
            let parts = Rest::Arrow(batches, BatchParts::default());
            return Ok((parts, Some(TableForm::Arrow(form))));
        }
        let damaged = |error: ParquetError| unread_table(input, error.into());
        let source = file.try_clone().map_err(Error::io("open", &input.named))?;
        let (groups, schema) = match needed {
            Some(needed) => {
                let (groups, columns) =
                    table::open(file, needed, reading.longest).map_err(damaged)?;
                check(&columns)?;
                (groups, None)
            }
            None => {
                let (groups, schema) =
                    table::open_to_copy(file, reading.longest).map_err(damaged)?;
                if let Some(column) = unknown_column(&schema) {
                    let problem = format!(
                        "column {column:?} has a logical type that is newer than this version, which cannot write it into kept records"
                    );
                    let remedy = "write the column as another type, with the program that made it, or pass `action=report`, which copies no records";
                    return Err(Refusal::new(problem, remedy).for_file(&input.named));
                }
                (groups, Some(schema))
            }
        };
        if !table::is_sound(groups.metadata()) {
            let problem = "the file is damaged: a column lacks an offset or a size";
            return Err(unread_table(input, Unreadable::Damaged(problem.to_owned())));
        }
        let form = schema.map(|schema| ParquetForm::new(&source, schema, &groups));
        let form = form.transpose().map_err(damaged)?;
        Ok((
            Rest::Parquet(Box::new(groups)),
            form.map(TableForm::Parquet),
        ))
    }

    /// Decompresses a file to an unnamed temporary file, because the readers of tables need random access.
    fn decompressed(&self, file: File) -> Result<File> {
        let input = self.input;
        if input.compression == Compression::None {
            return Ok(file);
        }
        let stream = self.decompressing(file);
        let mut stream = stream.map_err(|error| broken(input, &error))?;
        let temporary = || Error::io("create a temporary file for", &input.named);
        let target = match self.of_all.reading.temporary {
            Some(folder) => unnamed_file(folder),
            None => unnamed_file(&std::env::temp_dir()),
        };
        let mut target = target.map_err(temporary())?;
        let mut writing = Writing {
            target: &mut target,
            failed: None,
        };
        let copied = io::copy(&mut stream, &mut writing);
        if let Some(error) = writing.failed {
            let folder = self.of_all.reading.temporary.map(Path::to_owned);
            let folder = folder.unwrap_or_else(std::env::temp_dir);
            return Err(Error::io("write a temporary file in", folder)(error));
        }
        copied.map_err(|error| broken(input, &error))?;
        target.rewind().map_err(temporary())?;
        Ok(target)
    }
}

impl Rest<'_> {
    /// The contents of the next chunk. Counts the bytes of tables in `read`.
    fn next(&mut self, input: &InputFile, read: &mut Fingerprint) -> Result<Option<Contents>> {
        let (rows, bytes, group) = match self {
            Rest::Records(records) => return records.next(input),
            Rest::Text(text) => return Ok(text.take().map(Contents::Text)),
            Rest::Parquet(batches) => match batches.next() {
                None => return Ok(None),
                Some(rows) => {
                    let (group, rows) = rows.map_err(|error| unread_table(input, error))?;
                    let bytes = arrow::bytes_of_rows(&rows);
                    (rows, bytes, group)
                }
            },
            Rest::Arrow(batches, (chunks, of_batches)) => loop {
                if let Some((rows, bytes)) = chunks.pop_front() {
                    break (rows, bytes, *of_batches);
                }
                match batches.next() {
                    None => return Ok(None),
                    Some(batch) => {
                        let batch = batch.map_err(|error| unread_table(input, error.into()))?;
                        chunks.extend(arrow::chunks(&batch));
                        *of_batches += 1;
                    }
                }
            },
        };
        read.bytes += bytes as u64;
        Ok(Some(Contents::Rows { rows, bytes, group }))
    }
}

impl RecordsReader<'_> {
    /// Cuts off the next chunk of about [`CHUNK`] bytes, after a record.
    fn next(&mut self, input: &InputFile) -> Result<Option<Contents>> {
        let wrong = |refusal: Refusal| refusal.for_file(&input.named);
        while !self.is_at_end {
            let Self { bytes, scanned, .. } = self;
            let read = fill(&mut self.stream, &mut bytes[*scanned..]);
            let len = *scanned + read.map_err(|error| broken(input, &error))?;
            self.is_at_end = len < bytes.len();
            let mut cut = self.cutter.scan(&bytes[..len], *scanned).map_err(wrong)?;
            if self.is_at_end {
                self.cutter.end(&bytes[..len]).map_err(wrong)?;
                cut = Some(len);
            }
            *scanned = len;
            let Some(cut) = cut else {
                if len as u64 > self.longest.bytes() {
                    return Err(self.too_long(input, len)?);
                }
                bytes.resize(self.longest.room_after(len), 0);
                continue;
            };
            *scanned = len - cut;
            let mut next = Vec::new();
            if !self.is_at_end {
                next = vec![0; CHUNK.max(self.longest.room_after(*scanned))];
                next[..*scanned].copy_from_slice(&bytes[cut..len]);
            }
            bytes.truncate(cut);
            let mut chunk = std::mem::replace(bytes, next);
            if self.is_at_end {
                // Shrink, so that a small file does not take the memory of a whole chunk.
                chunk.shrink_to_fit();
            }
            if let Some(contents) = self.cutter.contents(chunk).map_err(wrong)? {
                return Ok(Some(contents));
            }
        }
        Ok(None)
    }

    /// The error for a record that is too long. `len` bytes of it were read. Reads its rest to learn its length, so that the
    /// error names a number that is enough.
    fn too_long(&mut self, input: &InputFile, len: usize) -> Result<Error> {
        const STEP: usize = 1 << 16;
        let Self {
            bytes,
            cutter,
            stream,
            ..
        } = self;
        let line = cutter.forget(&bytes[..len]);
        bytes.truncate(STEP);
        let mut all = len as u64;
        while !LongestRecord::is_beyond_measure(all) {
            let read = fill(stream, bytes).map_err(|error| broken(input, &error))?;
            all += read as u64;
            let bytes = &bytes[..read];
            // The record was to end before text that cannot be cut.
            if !matches!(cutter.scan(bytes, 0), Ok(None)) {
                break;
            }
            cutter.forget(bytes);
            if read < STEP {
                // Perhaps it is this long because a quote was never closed.
                cutter
                    .end(&[])
                    .map_err(|refusal| refusal.for_file(&input.named))?;
                break;
            }
        }
        let record = format!("the record that starts on line {line}");
        Ok(self.longest.refusal(&record, all).for_file(&input.named))
    }
}

/// Whether a file has a column at a path, or a record with a field there. One that cannot be read has none.
fn has_field(file: &InputFile, path: &FieldPath, temporary: Option<&Path>) -> bool {
    let field = [ValueField {
        path: path.clone(),
        parameter: "",
        hint: "",
        is_required: false,
    }];
    let files = std::slice::from_ref(file);
    let reading = FilesReading::new(
        files,
        Reading {
            batch_bytes: 0,
            temporary,
            // Nothing is decompressed ahead: threads may wait for the answer.
            limit: Some(u64::MAX),
            longest: LongestRecord::fixed(),
            ..Reading::new(Wanted::Values(&field))
        },
    );
    let Ok(reading) = reading else { return false };
    for event in reading.file(0) {
        let Ok(event) = event else { return false };
        if let Event::Chunk(chunk) = event
            && is_in(&chunk, path)
        {
            return true;
        }
    }
    false
}

/// Whether a chunk has a column at a path, or a record with a field there.
fn is_in(chunk: &Chunk, path: &FieldPath) -> bool {
    let has = |record: &[u8]| jsonl::raw_of_field(record, path).is_ok_and(|value| value.is_some());
    match &chunk.contents {
        Contents::Lines {
            bytes,
            first_number,
        } => jsonl::lines(bytes, *first_number).any(|line| has(line.record)),
        Contents::Records(records) => match &records.header {
            Some(header) => header.has(path),
            None => records
                .spans
                .iter()
                .any(|span| has(&records.bytes[span.clone()])),
        },
        Contents::Rows { rows, .. } => columns::column(rows, path).is_some(),
        Contents::Text(_) => false,
    }
}

/// The first bytes of a stream, up to the first character that is not white space, or as many as a record may have.
fn start_of(stream: &mut impl Read, longest: LongestRecord) -> io::Result<Vec<u8>> {
    const STEP: usize = 64;
    let mut start = Vec::new();
    loop {
        let before = start.len();
        let read = stream.by_ref().take(STEP as u64).read_to_end(&mut start)?;
        let new = &start[before..];
        let marked = new.strip_prefix(BYTE_ORDER_MARK);
        let new = marked.filter(|_| before == 0).unwrap_or(new);
        let is_blank = new.trim_ascii_start().is_empty();
        if read < STEP || !is_blank || start.len() as u64 > longest.bytes() {
            return Ok(start);
        }
    }
}

fn broken(input: &InputFile, error: &io::Error) -> Error {
    if let Some(code) = error.raw_os_error() {
        return Error::io("read", &input.named)(io::Error::from_raw_os_error(code));
    }
    match (input.compression, input.open()) {
        (Compression::None, _) | (_, Err(_)) => unreadable(input, &error.to_string()),
        (compression, Ok(file)) => {
            broken_stream::refusal(compression, error, file).for_file(&input.named)
        }
    }
}

/// The error for a file that changes while it is read.
#[doc(hidden)]
pub fn changed(input: &InputFile) -> Error {
    Error::InputChanged {
        path: input.named.clone(),
    }
}

fn unreadable(input: &InputFile, problem: &str) -> Error {
    let remedy = "get the file again from its source";
    refused(input, problem.to_owned(), remedy)
}

/// The error for rows of a table that cannot be read.
fn unread_table(input: &InputFile, error: Unreadable) -> Error {
    let refusal = match error {
        Unreadable::Refused(refusal) => refusal,
        Unreadable::System(error) => return Error::io("read", &input.named)(error),
        Unreadable::Damaged(problem) => {
            let remedy = remedy_of_table(input.format, &problem);
            let file = (problem.contains(NOT_UTF_8) && input.compression == Compression::None)
                .then(|| input.open().ok());
            let column = file
                .flatten()
                .and_then(|file| arrow::unreadable_column(&file));
            let problem = match column {
                Some(column) => format!("column {column:?}: {problem}"),
                None => problem,
            };
            Refusal::new(problem, remedy)
        }
    };
    refusal.for_file(&input.named)
}

/// What the reader of Arrow says of strings that are not UTF-8.
const NOT_UTF_8: &str = "Invalid UTF8 sequence";

/// What to do with a table that the reader of its format refuses for this reason.
fn remedy_of_table(format: Format, problem: &str) -> &'static str {
    let is = |words: &str| problem.contains(words);
    // Other programs write these, and read few of them.
    if is("Parser error") && is("not supported") {
        return "cast the columns of that type to another in the program that wrote the file, and write the file again";
    }
    if is(NOT_UTF_8) {
        return "correct the strings of that column in the program that wrote the file, or in Python, where `.cast(\"binary\")` \
                reads them; if the run needs only other columns, pass `action=report`, which copies no records";
    }
    if is("invalid utf8") {
        return "a name in the schema is not UTF-8: rename that column in the program that wrote the file, and write the file \
                again";
    }
    match format {
        // Pyarrow would read the damaged bytes, for it compares no checksums.
        _ if is("checksum") => {
            "its bytes are not those that were written: get the file again from its source"
        }
        // Some files break the format in a way that other readers let pass.
        Format::Parquet => {
            "get the file again from its source or, if another program reads it, write it again with that program, as \
             pyarrow does: `import pyarrow.parquet as pq; pq.write_table(pq.read_table(\"in.parquet\"), \"out.parquet\")`"
        }
        _ => "get the file again from its source",
    }
}

fn refused(input: &InputFile, problem: String, remedy: &str) -> Error {
    Refusal::new(problem, remedy).for_file(&input.named)
}

impl Fingerprint {
    fn from_metadata(metadata: &Metadata) -> Self {
        Fingerprint {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            checksum: 0,
            bytes: 0,
        }
    }

    /// The size of the file, compressed.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// XXH3 of the decompressed bytes that were read; `None` for Parquet and Arrow.
    pub(crate) fn checksum(&self) -> Option<u64> {
        Some(self.checksum).filter(|checksum| *checksum != 0)
    }

    /// Whether the file is gone by now, or has another size or time.
    ///
    /// # Errors
    /// [`Error::Io`] if that cannot be told.
    #[doc(hidden)]
    pub fn is_outdated(&self, input: &InputFile) -> Result<bool> {
        match input.metadata() {
            Err(error) if is_absent(&error) => Ok(true),
            Err(error) => Err(Error::io("read", &input.named)(error)),
            Ok(now) => Ok((self.size, self.modified) != (now.len(), now.modified().ok())),
        }
    }

    /// Whether the file is unchanged. Ignores the number of bytes read, because two reads of a table may read
    /// different columns.
    #[doc(hidden)]
    pub fn is_of_same_file(&self, other: &Fingerprint) -> bool {
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

/// A file that keeps the error of a write, to tell it from those of what is copied there.
struct Writing<'a> {
    target: &'a mut File,
    failed: Option<io::Error>,
}

impl Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.write(bytes).map_err(|error| {
            let told = io::Error::from(error.kind());
            self.failed = (error.kind() != io::ErrorKind::Interrupted).then_some(error);
            told
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// A file that counts the bytes read from it.
struct CountedFile<'a> {
    file: File,
    consumed: &'a AtomicU64,
}

impl Read for CountedFile<'_> {
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_position_is_after_what_was_read() {
        let position = Position {
            file: 1,
            chunk: 3,
            records: 0,
        };
        for (file, number, is_before) in [
            (0, 9, true),
            (1, 2, true),
            (1, 3, false),
            (1, 4, false),
            (2, 0, false),
        ] {
            let chunk = Chunk {
                file,
                number,
                contents: Contents::Text(Vec::new()),
            };
            assert_eq!(position.is_after(&chunk), is_before, "{file} {number}");
        }
    }

    /// The documents of a file of these bytes.
    fn read(name: &str, bytes: &[u8], limit: Option<u64>) -> Result<DocumentBatch> {
        let folder = tempfile::tempdir().unwrap();
        let path: PathBuf = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let inputs = Inputs::find(&[path], None)?;
        read_documents(&inputs, &Fields::default(), limit.and_then(NonZeroU64::new))
    }

    /// Lines of more than two chunks.
    fn lines() -> String {
        let line = |i: u64| format!("{{\"text\": \"{i} {}\"}}\n", "x".repeat(1_000));
        (0..2_500).map(line).collect()
    }

    #[test]
    fn documents_come_in_order_from_all_chunks() {
        let lines = lines();
        for limit in [None, Some(1), Some(1_500), Some(2_499), Some(9_999)] {
            let all = read("in.jsonl", lines.as_bytes(), limit).unwrap();
            let DocumentBatch::Texts(texts) = all else {
                panic!("no texts");
            };
            assert_eq!(texts.len() as u64, limit.unwrap_or(2_500).min(2_500));
            let is_text = |(i, text): (usize, &str)| text.starts_with(&format!("{i} xxx"));
            assert!(texts.iter().enumerate().all(is_text));
        }
    }

    #[test]
    fn the_first_bad_record_is_named_by_row_and_line() {
        let text = format!("{}\n{{}}\n", lines());
        let Err(Error::BadRecord(bad)) = read("in.jsonl", text.as_bytes(), None) else {
            panic!("no bad record");
        };
        assert_eq!((bad.row, bad.line), (2_500, Some(2_502)));
        assert!(read("in.jsonl", text.as_bytes(), Some(2_500)).is_ok());
    }

    #[test]
    fn damage_is_told_rather_than_a_bad_record() {
        // Stored blocks of gzip: damage of the text leaves them readable up to their checksum.
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(b"{\"text\": \"a\"}\n").unwrap();
        let mut bytes = encoder.finish().unwrap();
        assert!(read("in.jsonl.gz", &bytes, None).is_ok());
        let at = bytes.iter().position(|byte| *byte == b'{').unwrap();
        bytes[at] = b'(';
        let damaged = read("in.jsonl.gz", &bytes, None).unwrap_err();
        assert!(
            damaged.to_string().contains("the gzip stream is damaged"),
            "{damaged}"
        );
    }
}
