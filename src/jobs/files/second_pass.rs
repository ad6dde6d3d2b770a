//! The second pass: reads the files again, for exact verification and for writing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::source::FileSource;
use crate::documents::Documents;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::io::{Chunk, Columns, Event, Places, Skipped, TableForm, read_all};
use crate::pipeline::Scratch;
use crate::progress::advance;

/// A part of a file in the second pass.
pub(super) enum Part {
    /// A table of this form begins.
    Table(TableForm),
    /// A chunk, with the row of each record; `None` for bad records.
    Chunk(Arc<Chunk>, Vec<Option<u32>>),
    /// A file ends.
    End,
}

/// Assigns rows to the records of one file, in order.
struct Rows<'a> {
    next_row: u32,
    next_record: u64,
    records: u64,
    skipped: &'a [Skipped],
}

impl<'a> Rows<'a> {
    fn of(places: &'a Places, file: usize) -> Self {
        match places.files.get(file) {
            Some(source) => Rows {
                next_row: source.first_row,
                next_record: 0,
                records: source.records,
                skipped: places.skipped_in(file),
            },
            None => Rows {
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

/// A running second pass.
struct SecondPass<'a, F> {
    source: &'a FileSource<'a>,
    rows: Rows<'a>,
    documents: u64,
    bytes: u64,
    each: F,
}

impl<F: FnMut(Part) -> Result<()>> SecondPass<'_, F> {
    fn chunk(&mut self, chunk: Arc<Chunk>) -> Result<()> {
        let of_records = self.rows.next(chunk.records());
        let of_records = of_records.ok_or_else(|| self.changed(chunk.file))?;
        self.documents += of_records.iter().flatten().count() as u64;
        self.bytes += chunk.bytes() as u64;
        (self.each)(Part::Chunk(chunk, of_records))
    }

    fn end(&mut self, file: usize) -> Result<()> {
        if !self.rows.is_at_end() {
            return Err(self.changed(file));
        }
        self.rows = Rows::of(&self.source.places, file + 1);
        (self.each)(Part::End)
    }

    fn advance(&self, consumed: u64) -> Result<()> {
        let progress = self.source.run.progress;
        advance(progress, consumed, self.documents, self.bytes)
    }

    fn changed(&self, file: usize) -> Error {
        Error::InputChanged {
            path: self.source.files[file].named.clone(),
        }
    }
}

impl FileSource<'_> {
    /// Calls `each` with every part of the files, from memory if they are held. Progress shows `stage`.
    ///
    /// # Errors
    /// [`Error::InputChanged`] if a file has changed since the first pass.
    pub(super) fn read_again(
        &self,
        stage: &'static str,
        columns: Columns,
        each: impl FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        let mut pass = SecondPass {
            source: self,
            rows: Rows::of(&self.places, 0),
            documents: 0,
            bytes: 0,
            each,
        };
        let progress = self.run.progress;
        if let Some(held) = &self.places.held {
            progress.begin(stage, self.bytes_to_read_again());
            let mut held = held.iter().peekable();
            for file in 0..self.places.files.len() {
                while let Some(chunk) = held.next_if(|chunk| chunk.file == file) {
                    pass.chunk(Arc::clone(chunk))?;
                    pass.advance(pass.bytes)?;
                }
                pass.end(file)?;
            }
            return Ok(());
        }
        progress.begin(stage, self.bytes_to_read_again());
        read_all(&self.files, &self.reading(columns), |events, consumed| {
            for event in events {
                match event? {
                    Event::Table(form) => (pass.each)(Part::Table(form))?,
                    Event::Chunk(chunk) => pass.chunk(Arc::new(chunk))?,
                    Event::End { file, fingerprint } => {
                        let known = self.places.files[file].fingerprint.as_ref();
                        if known.is_none_or(|known| !fingerprint.is_of_same_file(known)) {
                            return Err(pass.changed(file));
                        }
                        pass.end(file)?;
                    }
                }
                pass.advance(consumed.load(Ordering::Relaxed))?;
            }
            Ok(())
        })
    }

    /// The total of a second pass in progress reports: bytes held in memory, or bytes of the files.
    pub(super) fn bytes_to_read_again(&self) -> u64 {
        match &self.places.held {
            Some(held) => held.iter().map(|chunk| chunk.bytes() as u64).sum(),
            None => self.stored_bytes(),
        }
    }

    /// Reads the documents at `rows`, which ascend, and calls `each` with the row and the set for exact similarity of
    /// each, in order.
    pub(super) fn read_sets(
        &self,
        engine: &Engine,
        rows: &mut dyn Iterator<Item = u32>,
        each: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut wanted = rows.peekable();
        let mut batch = Vec::new();
        let mut batch_bytes = 0;
        let mut store = |batch: &mut Vec<(Arc<Chunk>, Vec<Option<u32>>)>| {
            let parsed: Vec<_> = batch
                .par_drain(..)
                .map(|(chunk, rows)| self.sets_of(engine, &chunk, &rows))
                .collect();
            for of_chunk in parsed {
                for (row, set) in of_chunk? {
                    each(row, &set)?;
                }
            }
            Ok(())
        };
        self.read_again("read again", Columns::Needed, |part| {
            if let Part::Chunk(chunk, rows) = part {
                let rows = rows.iter();
                let rows: Vec<_> = rows
                    .map(|row| row.and_then(|row| wanted.next_if_eq(&row)))
                    .collect();
                if rows.iter().any(Option::is_some) {
                    batch_bytes += chunk.bytes();
                    batch.push((chunk, rows));
                }
                if batch_bytes >= self.run.batch_bytes {
                    batch_bytes = 0;
                    store(&mut batch)?;
                }
            }
            Ok(())
        })?;
        store(&mut batch)
    }

    /// The row and set of each record of a chunk that has a row here.
    fn sets_of(
        &self,
        engine: &Engine,
        chunk: &Chunk,
        rows: &[Option<u32>],
    ) -> Result<Vec<(u32, Vec<u64>)>> {
        let at = |record: u64| rows.get(usize::try_from(record).ok()?).copied().flatten();
        let fields = &self.run.fields;
        let mut documents = fields.empty_batch();
        chunk.parse(fields, |record| at(record).is_some(), &mut documents);
        let wanted = rows.iter().flatten();
        if documents.len() != wanted.clone().count() {
            // A record that was good in the first pass is bad now, so the file has changed.
            return Err(Error::InputChanged {
                path: self.files[chunk.file].named.clone(),
            });
        }
        let mut scratch = Scratch::default();
        let sets = wanted.enumerate().map(|(i, row)| {
            let mut set = Vec::new();
            let shingler = engine.shingler();
            shingler.exact_list(documents.get(i), &mut scratch, &mut set);
            (*row, set)
        });
        Ok(sets.collect())
    }
}
