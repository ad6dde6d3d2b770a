//! The second pass: reads the files again, for exact verification and for writing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::source::FileSource;
use simgpu::documents::{DocumentBatch, Documents};
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::pipeline::Scratch;
use simgpu::progress::{Progress, advance};
use simgpu::search::SetsByRow;
use simgpu::search::sign::sign_batch;
use simgpu_base::bits::Bits;
use simgpu_base::threads::map_in_order;
use simgpu_io::{
    Chunk, Columns, Event, Fields, FilesReading, Fingerprint, InputFile, Places, Position, Reader,
    Reading, Skipped, TableForm, changed,
};

/// The name of the second pass for exact sets, for checkpoints.
const READ_AGAIN: &str = "read again";

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
struct RowNumbers<'a> {
    next_row: u32,
    next_record: u64,
    records: u64,
    skipped: &'a [Skipped],
}

impl<'a> RowNumbers<'a> {
    fn new(places: &'a Places, file: usize) -> Self {
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

    fn is_at_end(&self) -> bool {
        self.next_record == self.records
    }

    /// The rows of the next `records` records; `None` if the file held fewer in the first pass.
    fn next(&mut self, records: u64) -> Option<Vec<Option<u32>>> {
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
struct FileParts<'a> {
    files: &'a [InputFile],
    places: &'a Places,
    file: usize,
    rows: RowNumbers<'a>,
    events: Events<'a>,
    /// Nothing is wanted after this row; `None` if all of the file is.
    last_row: Option<u32>,
}

/// The chunks of a file among those of all files, in order.
fn chunks_of(file: usize, held: &[Arc<Chunk>]) -> &[Arc<Chunk>] {
    let start = held.partition_point(|chunk| chunk.file < file);
    let end = held.partition_point(|chunk| chunk.file <= file);
    &held[start..end]
}

enum Events<'a> {
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
    fn new(
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
    fn weight(part: &Result<FileEvent<Placed>>) -> usize {
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

/// Files that were read once, and what was found in them.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Rereading<'a> {
    #[doc(hidden)]
    pub files: &'a [InputFile],
    #[doc(hidden)]
    pub places: &'a Places,
    #[doc(hidden)]
    pub reading: Reading<'a>,
    /// The total of progress reports.
    #[doc(hidden)]
    pub bytes: u64,
    #[doc(hidden)]
    pub progress: &'a dyn Progress,
}

impl Rereading<'_> {
    /// Calls `map` with every chunk of the files, from memory if they are held, on all threads, and `each` with the
    /// results and all other parts in order. Leaves out what lies before `start`. Progress shows `stage`.
    ///
    /// # Errors
    /// [`Error::InputChanged`] if a file has changed since the first pass.
    #[doc(hidden)]
    pub fn read<T: Send>(
        self,
        stage: &'static str,
        start: &Position,
        map: impl Fn(Placed) -> Result<T> + Sync,
        mut each: impl FnMut(FileEvent<T>) -> Result<()>,
    ) -> Result<()> {
        let Rereading { places, .. } = self;
        self.progress.begin(stage, self.bytes);
        let files = FilesReading::new(self.files, self.reading)?.starting_at(start);
        let is_held = places.held.is_some();
        let open = |file: usize| {
            let mut parts = FileParts::new(self.files, places, file, &files);
            if is_held && file < start.file {
                parts.events = Events::Ended;
            }
            parts
        };
        let map = |part: Result<FileEvent<Placed>>| {
            Ok(match part? {
                FileEvent::Table(form) => FileEvent::Table(form),
                FileEvent::Chunk(placed) if start.is_after(&placed.chunk) => FileEvent::Chunk(None),
                FileEvent::Chunk(placed) => {
                    let documents = placed.rows.iter().flatten().count() as u64;
                    let bytes = placed.chunk.bytes() as u64;
                    FileEvent::Chunk(Some((map(placed)?, documents, bytes)))
                }
                FileEvent::End => FileEvent::End,
            })
        };
        let (mut documents, mut bytes) = (0, 0);
        let ahead = files.ahead(FileParts::weight);
        map_in_order(self.files.len(), ahead, open, map, |part| {
            match part {
                None | Some(FileEvent::Chunk(None)) => {}
                Some(FileEvent::Table(form)) => each(FileEvent::Table(form))?,
                Some(FileEvent::Chunk(Some((mapped, of_chunk, bytes_of_chunk)))) => {
                    documents += of_chunk;
                    bytes += bytes_of_chunk;
                    each(FileEvent::Chunk(mapped))?;
                }
                Some(FileEvent::End) => each(FileEvent::End)?,
            }
            let consumed = if is_held { bytes } else { files.consumed() };
            advance(self.progress, consumed, documents, bytes)
        })
    }
}

impl FileSource<'_> {
    /// Reads all files again from `start` on ([`Rereading::read`]).
    pub(super) fn read_again<T: Send>(
        &self,
        stage: &'static str,
        columns: Columns,
        start: &Position,
        map: impl Fn(Placed) -> Result<T> + Sync,
        each: impl FnMut(FileEvent<T>) -> Result<()>,
    ) -> Result<()> {
        let again = Rereading {
            files: &self.files,
            places: &self.places,
            reading: self.reading(columns),
            bytes: self.bytes_to_read_again(),
            progress: self.run.options.progress,
        };
        let start = self.after_indexes(*start);
        again.read(stage, &start, map, each)
    }

    /// Calls `map` with the chunks of some files, from memory if they are held, on all threads: each file up to a row.
    ///
    /// # Errors
    /// [`Error::InputChanged`] if a file has changed since the first pass.
    pub(super) fn read_beginnings(
        &self,
        last_rows: &BTreeMap<usize, u32>,
        map: impl Fn(Placed) -> Result<()> + Sync,
    ) -> Result<()> {
        let progress = self.run.options.progress;
        let wanted: Vec<(usize, u32)> = last_rows.iter().map(|(file, row)| (*file, *row)).collect();
        let stored = wanted
            .iter()
            .map(|(file, _)| self.files[*file].stored_bytes());
        progress.begin("read again", stored.sum());
        let files = FilesReading::new(&self.files, self.reading(Columns::Needed))?;
        let open = |at: usize| {
            let (file, row) = wanted[at];
            FileParts {
                last_row: Some(row),
                ..FileParts::new(&self.files, &self.places, file, &files)
            }
        };
        let ahead = files.ahead(FileParts::weight);
        let map = |part: Result<FileEvent<Placed>>| match part? {
            FileEvent::Chunk(placed) => map(placed),
            FileEvent::Table(_) | FileEvent::End => Ok(()),
        };
        map_in_order(wanted.len(), ahead, open, map, |_| {
            advance(progress, files.consumed(), 0, 0)
        })
    }

    /// The total of a second pass in progress reports: bytes held in memory, or bytes of the files.
    pub(super) fn bytes_to_read_again(&self) -> u64 {
        match &self.places.held {
            Some(held) => held.iter().map(|chunk| chunk.bytes() as u64).sum(),
            None => self.stored_bytes(),
        }
    }

    /// Reads the documents at the wanted rows, and passes the row and the set for exact similarity of each to `sets`, in
    /// order. Makes checkpoints if the run is on disk, and begins at the last one.
    pub(super) fn read_sets(
        &self,
        engine: &Engine,
        wanted: &Bits,
        sets: &mut dyn SetsByRow,
    ) -> Result<()> {
        let spill = self.on_disk();
        let start = spill.and_then(|spill| spill.state::<Position>(READ_AGAIN));
        let start = start.unwrap_or_default();
        self.read_sets_of_indexes(start, wanted, sets)?;
        let start = self.after_indexes(start);
        let map = |Placed { chunk, rows }: Placed| {
            let rows: Vec<Option<u32>> = rows
                .into_iter()
                .map(|row| row.filter(|row| wanted.get(*row)))
                .collect();
            Ok((chunk.number, self.sets_of(engine, &chunk, &rows)?))
        };
        // The place after the last chunk, while all of its sets are taken.
        let mut taken = Some(start);
        let read = self.read_again("read again", Columns::Needed, &start, map, |part| {
            let mut position = taken.take().unwrap_or_default();
            match part {
                FileEvent::Chunk((number, of_chunk)) => {
                    sets.take(&of_chunk)?;
                    position.chunk = number + 1;
                }
                FileEvent::End => position = self.places.start_of_file(position.file + 1),
                FileEvent::Table(_) => {}
            }
            taken = Some(position);
            match spill {
                Some(spill) if spill.is_due() => {
                    sets.flush()?;
                    spill.checkpoint(READ_AGAIN, &position)
                }
                _ => Ok(()),
            }
        });
        if let (Err(Error::Stopped), Some(position), Some(spill)) = (&read, taken, spill) {
            sets.flush()?;
            spill.checkpoint(READ_AGAIN, &position)?;
        }
        read
    }

    /// The row and set of each record of a chunk that has a row here; after its signature, if it is signed again.
    fn sets_of(
        &self,
        engine: &Engine,
        chunk: &Chunk,
        rows: &[Option<u32>],
    ) -> Result<Vec<(u32, Vec<u64>)>> {
        if rows.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let documents = self.documents_of(chunk, rows)?;
        let signed = self.signed_again.as_ref();
        let signed = signed.map(|search| sign_batch(&documents, engine, search));
        let signatures = signed.transpose()?.unwrap_or_default().signatures;
        let words = signatures.len() / documents.len();
        let mut scratch = Scratch::default();
        let mut set = Vec::new();
        let sets = rows.iter().flatten().enumerate().map(|(i, row)| {
            let shingler = engine.shingler();
            shingler.exact_list(documents.get(i), &mut scratch, &mut set);
            (*row, [&signatures[i * words..][..words], &set].concat())
        });
        Ok(sets.collect())
    }

    /// The documents of a chunk that have a row here, in order.
    pub(super) fn documents_of(
        &self,
        chunk: &Chunk,
        rows: &[Option<u32>],
    ) -> Result<DocumentBatch> {
        let at = |record: u64| rows.get(usize::try_from(record).ok()?).copied().flatten();
        // Ids are known, and a table that is read whole lacks what makes some of them ids: that bytes are a UUID.
        let fields = Fields {
            id_required: false,
            ..self.fields_of(chunk.file).clone()
        };
        let mut documents = fields.empty_batch();
        chunk.parse(&fields, |record| at(record).is_some(), &mut documents);
        if documents.len() != rows.iter().flatten().count() {
            // A record that was good in the first pass is bad now, so the file has changed.
            return Err(changed(&self.files[chunk.file]));
        }
        Ok(documents)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::tests::{
        Watched, change_unseen, engine, engine_of_bytes, place, skipping, task, watched_by,
    };
    use simgpu::error::BadRecord;
    use simgpu_io::SourceFile;

    #[test]
    fn bad_records_have_no_row() {
        let bad = |file, row| Skipped {
            file,
            record: BadRecord {
                file: PathBuf::new(),
                row,
                line: None,
                problem: String::new(),
            },
        };
        let file = |first_row, records| SourceFile {
            relative: String::new(),
            first_row,
            records,
            fingerprint: None,
        };
        let places = Places {
            files: vec![file(0, 2), file(2, 7)],
            skipped: vec![bad(1, 0), bad(1, 3), bad(1, 4)],
            ..Places::default()
        };
        let mut rows = RowNumbers::new(&places, 0);
        assert_eq!(rows.next(2), Some(vec![Some(0), Some(1)]));
        assert!(rows.is_at_end() && rows.next(1).is_none());
        let mut rows = RowNumbers::new(&places, 1);
        assert_eq!(rows.next(4), Some(vec![None, Some(2), Some(3), None]));
        assert!(!rows.is_at_end());
        // More records than the first pass found.
        assert_eq!(rows.next(4), None);
        assert_eq!(rows.next(3), Some(vec![None, Some(4), Some(5)]));
        assert!(rows.is_at_end());
    }

    #[test]
    fn a_file_that_changes_between_the_passes_is_an_error() {
        for (stage, engine) in [("read again", engine_of_bytes()), ("write", engine())] {
            let place = place();
            let inputs = place.inputs();
            let path = place.path("in/d.jsonl");
            let change = || change_unseen(&path);
            let told = Watched::at(stage, 0, &change);
            let run = skipping(&engine, &inputs)
                .held_bytes(0)
                .options(watched_by(&told));
            let failed = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
            assert!(
                matches!(failed, Error::InputChanged { path: of } if of == path),
                "{stage}"
            );
            assert!(!place.path("out/report.json").exists());
        }
    }

    #[test]
    fn held_files_are_not_read_again() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let path = place.path("in/d.jsonl");
        let change = || change_unseen(&path);
        let told = Watched::at("write", 0, &change);
        let run = skipping(&engine, &inputs).options(watched_by(&told));
        run.dedup(&task(&engine), &place.path("held")).unwrap();
        change_unseen_back(&path);
        let run = skipping(&engine, &inputs).held_bytes(0);
        run.dedup(&task(&engine), &place.path("read")).unwrap();
        assert!(place.results("held") == place.results("read"));
    }

    /// Undoes [`change_unseen`].
    fn change_unseen_back(path: &std::path::Path) {
        let text = std::fs::read_to_string(path).unwrap();
        let text = text.replacen("\"text\":\"v", "\"text\":\"w", 1);
        std::fs::write(path, text).unwrap();
    }
}
