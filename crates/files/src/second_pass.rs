//! The second pass: reads the files again, for exact verification and for writing.

mod parts;

use std::collections::BTreeMap;

use super::source::FileSource;
use parts::{Events, FileParts};
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
    Chunk, Columns, Fields, FilesReading, InputFile, Places, Position, Reading, changed,
};

pub use parts::{FileEvent, Placed};

/// The name of the second pass for exact sets, for checkpoints.
const READ_AGAIN: &str = "read again";

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
                Some(FileEvent::Chunk(Some((mapped, chunk_documents, bytes_of_chunk)))) => {
                    documents += chunk_documents;
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
                FileEvent::Chunk((number, chunk_sets)) => {
                    sets.take(&chunk_sets)?;
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
mod tests;
