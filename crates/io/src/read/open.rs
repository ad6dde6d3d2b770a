//! Opens a file: decompresses it, and checks that it can be read.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;
use std::sync::atomic::Ordering;

use arrow_schema::SchemaRef;
use parquet::errors::ParquetError;
use xxhash_rust::xxh3::Xxh3Default;

use super::errors::{broken, unread_table, unreadable};
use super::event::TableForm;
use super::fingerprint::Fingerprint;
use super::open_file::{ArrowReader, OpenFile, RecordsReader};
use super::options::Columns;
use super::reader::{Reader, ReaderState};
use super::streams::{CountedFile, Hashed, Writing, start_of};
use crate::arrow;
use crate::chunk::{CHUNK, Contents};
use crate::columns::{self, Needed};
use crate::compression::Compression;
use crate::cut::{ArrayCutter, CsvCutter, Cutter, LineCutter};
use crate::fields::{FieldPath, Wanted};
use crate::format::{Format, check_start, other_encoding};
use crate::frames::{FramesReader, frames_ahead};
use crate::kept_table::{ParquetForm, unknown_column};
use crate::longest::MEASURED;
use crate::refusal::Refusal;
use crate::table::{self, Unreadable};
use simgpu::error::{Error, Result};
use simgpu::store::unnamed_file;
use simgpu_base::encoding::other_unicode;

impl Reader<'_> {
    /// Opens the file. Returns the form of a table.
    pub(super) fn open(&mut self) -> Result<Option<TableForm>> {
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
            let consumed = &self.shared.consumed;
            consumed.fetch_add(metadata.len(), Ordering::Relaxed);
            opened
        } else {
            let file = CountedFile {
                file,
                consumed: &self.shared.consumed,
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
                OpenFile::Text(Some(text))
            } else {
                OpenFile::Records(Box::new(self.open_records(stream)?))
            };
            (parts, None)
        };
        self.state = ReaderState::Open(parts, fingerprint);
        Ok(table)
    }
}

impl<'a> Reader<'a> {
    /// What is wanted of the records of the file.
    pub(super) fn wanted(&self) -> Wanted<'a> {
        self.shared.reading.wanted_of(self.file)
    }

    /// Refuses CSV that lacks fields of the texts which no other file has.
    pub(super) fn check_header(&self, first: &Contents) -> Result<()> {
        let (Contents::Records(records), Wanted::Document(fields)) = (first, self.wanted()) else {
            return Ok(());
        };
        let Some(header) = &records.header else {
            return Ok(());
        };
        let missing = header.missing(fields);
        let checked = self.shared.check_missing(self.file, fields, missing);
        checked.map_err(|refusal| refusal.for_file(&self.input.named))
    }

    /// Decompresses a stream of the file, ahead where threads would stand still.
    fn decompressing(&self, file: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
        let compression = self.input.compression;
        // A few records may be all that is read.
        let ahead = if self.shared.limit.is_set() {
            0
        } else {
            frames_ahead(self.shared.files.len())
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
        let (input, longest) = (self.input, self.shared.reading.longest);
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
        let (input, longest) = (self.input, self.shared.reading.longest);
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

    /// The fields that are read beside those of documents; none of a reference.
    fn beside(&self) -> [Option<&'a FieldPath>; 2] {
        if self.shared.reading.is_reference(self.file) {
            [None; 2]
        } else {
            self.shared.reading.beside
        }
    }

    /// Refuses a table that lacks a wanted column, or has one that cannot be used.
    fn check_schema(&self, schema: &SchemaRef) -> Result<()> {
        let checked = columns::check_schema(schema, self.wanted());
        let checked = checked.and_then(|()| match self.wanted() {
            Wanted::Document(fields) => {
                let missing = columns::missing(schema, fields);
                self.shared.check_missing(self.file, fields, missing)
            }
            Wanted::Values(_) => Ok(()),
        });
        let checked = checked.and_then(|()| {
            let others = self.beside().into_iter().zip(["keep_by", "source_field"]);
            let mut others = others.filter_map(|(path, parameter)| Some((path?, parameter)));
            others.try_for_each(|(path, parameter)| columns::check_one(schema, path, parameter))
        });
        checked.map_err(|refusal| refusal.for_file(&self.input.named))
    }

    /// Opens a table; returns its form, too, if its rows are to be copied.
    fn open_table(&self, file: File) -> Result<(OpenFile<'a>, Option<TableForm>)> {
        let (input, reading) = (self.input, &self.shared.reading);
        let file = self.decompressed(file)?;
        let needed = (reading.columns == Columns::Needed).then_some(Needed {
            wanted: self.wanted(),
            beside: self.beside(),
        });
        if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let problem = "the file is cut off: it is empty, and lacks even a schema";
            return Err(unreadable(input, problem));
        }
        if input.format == Format::Arrow {
            let order = arrow::check_byte_order(&file, &input.named);
            order.map_err(|refusal| refusal.for_file(&input.named))?;
            let opened = arrow::open(&file, needed, reading.longest);
            let (batches, form) = opened.map_err(|error| unread_table(input, error))?;
            self.check_schema(form.schema())?;
            let arrow = OpenFile::Arrow(ArrowReader {
                batches,
                chunks: VecDeque::new(),
                batches_read: 0,
            });
            return Ok((arrow, Some(TableForm::Arrow(form))));
        }
        let damaged = |error: ParquetError| unread_table(input, error.into());
        let source = file.try_clone().map_err(Error::io("open", &input.named))?;
        let (groups, schema) = match needed {
            Some(needed) => {
                let (groups, columns) =
                    table::open(file, needed, reading.longest).map_err(damaged)?;
                self.check_schema(&columns)?;
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
            OpenFile::Parquet(Box::new(groups)),
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
        let target = match self.shared.reading.temporary {
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
            let folder = self.shared.reading.temporary.map(Path::to_owned);
            let folder = folder.unwrap_or_else(std::env::temp_dir);
            return Err(Error::io("write a temporary file in", folder)(error));
        }
        copied.map_err(|error| broken(input, &error))?;
        target.rewind().map_err(temporary())?;
        Ok(target)
    }
}
