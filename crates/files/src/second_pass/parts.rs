//! The parts of one file in the second pass, with the rows of its records.

use std::sync::Arc;

use simgpu::error::{Error, Result};
use simgpu_io::{
    Chunk, Event, FilesReading, Fingerprint, InputFile, Places, Reader, Skipped, TableForm, changed,
};

/// A part of a file in the second pass. `C` is a chunk with the row of each record, or what was made of it.
#[doc(hidden)]
#[derive(Debug)]
pub enum FileEvent<C> {
    /// A table of this form begins.
    Table(TableForm),
    Chunk(C),
    /// A file ends.
    End,
}

/// A chunk, with the row of each record; `None` for bad records.
#[doc(hidden)]
#[derive(Debug)]
pub struct Placed {
    #[doc(hidden)]
    pub chunk: Arc<Chunk>,
    #[doc(hidden)]
    pub rows: Vec<Option<u32>>,
}

/// Assigns rows to the records of one file, in order.
pub(super) struct RowNumbers<'a> {
    next_row: u32,
    next_record: u64,
    pub(super) records: u64,
    pub(super) skipped: &'a [Skipped],
}

impl<'a> RowNumbers<'a> {
    pub(super) fn new(places: &'a Places, file: usize) -> Self {
        match places.files.get(file) {
            Some(source) => RowNumbers {
                next_row: source.first_row,
                next_record: 0,
                records: source.records,
                skipped: places.skipped_in(file),
            },
            None => RowNumbers {
                next_row: 0,
                next_record: 0,
                records: 0,
                skipped: &[],
            },
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.next_record == self.records
    }

    /// The rows of the next `records` records; `None` if the file held fewer in the first pass.
    pub(super) fn next(&mut self, records: u64) -> Option<Vec<Option<u32>>> {
        let end = self.next_record + records;
        if end > self.records {
            return None;
        }
        let rows = (self.next_record..end).map(|record| match self.skipped {
            [first, rest @ ..] if first.record.row == record => {
                self.skipped = rest;
                None
            }
            _ => {
                self.next_row += 1;
                Some(self.next_row - 1)
            }
        });
        let rows = rows.collect();
        self.next_record = end;
        Some(rows)
    }
}

/// The parts of a file.
pub(super) struct FileParts<'a> {
    pub(super) files: &'a [InputFile],
    pub(super) places: &'a Places,
    pub(super) file: usize,
    pub(super) rows: RowNumbers<'a>,
    pub(super) events: Events<'a>,
    /// Nothing is wanted after this row; `None` if all of the file is.
    pub(super) last_row: Option<u32>,
}

/// The chunks of a file among those of all files, in order.
fn chunks_of(file: usize, held: &[Arc<Chunk>]) -> &[Arc<Chunk>] {
    let start = held.partition_point(|chunk| chunk.file < file);
    let end = held.partition_point(|chunk| chunk.file <= file);
    &held[start..end]
}

pub(super) enum Events<'a> {
    /// The chunks in memory that are left.
    Held(std::slice::Iter<'a, Arc<Chunk>>),
    Read(Reader<'a>),
    Ended,
}

impl Iterator for FileParts<'_> {
    type Item = Result<FileEvent<Placed>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.last_row.is_some_and(|last| self.rows.next_row > last) {
            return self.stop();
        }
        match &mut self.events {
            Events::Held(chunks) => match chunks.next() {
                Some(chunk) => Some(self.place(Arc::clone(chunk))),
                None => Some(self.end()),
            },
            Events::Read(reader) => Some(match reader.next()? {
                Err(error) => Err(match self.known() {
                    Some(known) if known.is_outdated(self.input()).unwrap_or(false) => {
                        self.changed()
                    }
                    _ => error,
                }),
                Ok(Event::Table(form)) => Ok(FileEvent::Table(form)),
                Ok(Event::Chunk(chunk)) => self.place(Arc::new(chunk)),
                Ok(Event::End { fingerprint, .. }) => {
                    if self
                        .known()
                        .is_some_and(|known| fingerprint.is_of_same_file(known))
                    {
                        self.end()
                    } else {
                        Err(self.changed())
                    }
                }
            }),
            Events::Ended => None,
        }
    }
}

impl<'a> FileParts<'a> {
    /// All parts of a file, from memory if they are held.
    pub(super) fn new(
        files: &'a [InputFile],
        places: &'a Places,
        file: usize,
        reading: &'a FilesReading<'a>,
    ) -> Self {
        FileParts {
            files,
            places,
            file,
            rows: RowNumbers::new(places, file),
            events: match places.held.as_deref() {
                Some(held) => Events::Held(chunks_of(file, held).iter()),
                None => Events::Read(reading.file(file)),
            },
            last_row: None,
        }
    }

    /// How much a part weighs that waits.
    pub(super) fn weight(part: &Result<FileEvent<Placed>>) -> usize {
        match part {
            Ok(FileEvent::Chunk(placed)) => placed.chunk.weight(),
            _ => 1,
        }
    }
}

impl FileParts<'_> {
    fn place(&mut self, chunk: Arc<Chunk>) -> Result<FileEvent<Placed>> {
        let rows = self.rows.next(chunk.records());
        let rows = rows.ok_or_else(|| self.changed())?;
        Ok(FileEvent::Chunk(Placed { chunk, rows }))
    }

    fn end(&mut self) -> Result<FileEvent<Placed>> {
        self.events = Events::Ended;
        if self.rows.is_at_end() {
            Ok(FileEvent::End)
        } else {
            Err(self.changed())
        }
    }

    /// Ends before the end of the file. So only its size and time tell whether it has changed.
    fn stop(&mut self) -> Option<Result<FileEvent<Placed>>> {
        let is_read = matches!(self.events, Events::Read(_));
        self.events = Events::Ended;
        self.last_row = None;
        let known = self.known().filter(|_| is_read);
        let is_outdated = known.map_or(Ok(false), |known| known.is_outdated(self.input()));
        match is_outdated {
            Ok(true) => Some(Err(self.changed())),
            Ok(false) => Some(Ok(FileEvent::End)),
            Err(error) => Some(Err(error)),
        }
    }

    fn input(&self) -> &InputFile {
        &self.files[self.file]
    }

    /// What the first pass found of the file.
    fn known(&self) -> Option<&Fingerprint> {
        self.places.files[self.file].fingerprint.as_ref()
    }

    fn changed(&self) -> Error {
        changed(self.input())
    }
}
