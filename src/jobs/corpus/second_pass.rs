//! The second pass: the files are read again for what exact verification and writing need of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_schema::SchemaRef;
use parquet::file::metadata::ParquetMetaData;
use rayon::prelude::*;

use super::{Corpus, Skipped, Source};
use crate::error::{Error, Result};
use crate::io::{Chunk, Columns, Event, read_all};
use crate::pipeline::ExactSets;
use crate::pipeline::Scratch;

/// What reading again meets, file by file.
pub(crate) enum Again {
    /// A table begins, with this schema.
    Table(SchemaRef, Arc<ParquetMetaData>),
    /// A chunk, with the row of each of its records; bad records have none.
    Chunk(Arc<Chunk>, Vec<Option<u32>>),
    /// A file is done.
    End,
}

/// The rows of the records of one file, in order.
struct Rows<'a> {
    next_row: u32,
    next_record: u64,
    records: u64,
    skipped: &'a [Skipped],
}

impl<'a> Rows<'a> {
    fn of(corpus: &'a Corpus, file: usize) -> Self {
        match corpus.files.get(file) {
            Some(source) => Rows {
                next_row: source.first_row,
                next_record: 0,
                records: source.records,
                skipped: corpus.skipped_in(file),
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

    /// The rows of the next so many records, if there are as many.
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

/// The way through all files for the second time.
struct SecondPass<'a, F> {
    corpus: &'a Corpus,
    source: &'a Source<'a>,
    rows: Rows<'a>,
    documents: u64,
    bytes: u64,
    each: F,
}

impl<F: FnMut(Again) -> Result<()>> SecondPass<'_, F> {
    fn chunk(&mut self, chunk: Arc<Chunk>) -> Result<()> {
        let of_records = self.rows.next(chunk.records());
        let of_records = of_records.ok_or_else(|| self.changed(chunk.file))?;
        self.documents += of_records.iter().flatten().count() as u64;
        self.bytes += chunk.bytes() as u64;
        (self.each)(Again::Chunk(chunk, of_records))
    }

    fn end(&mut self, file: usize) -> Result<()> {
        if !self.rows.is_at_end() {
            return Err(self.changed(file));
        }
        self.rows = Rows::of(self.corpus, file + 1);
        (self.each)(Again::End)
    }

    fn advance(&self, consumed: u64) {
        let progress = self.source.progress;
        progress.advance(consumed, self.documents, self.bytes);
    }

    fn changed(&self, file: usize) -> Error {
        Error::InputChanged {
            path: self.source.inputs.files[file].named.clone(),
        }
    }
}

impl Corpus {
    /// Has `each` take every chunk of the files again, from memory if they are held, with the row of each
    /// of its records; bad records have none. That is a stage of the name given.
    ///
    /// # Errors
    /// [`Error::InputChanged`] when a file is read and is not what it was.
    pub(crate) fn read_again(
        &self,
        source: &Source<'_>,
        stage: &'static str,
        columns: Columns,
        each: impl FnMut(Again) -> Result<()>,
    ) -> Result<()> {
        let mut pass = SecondPass {
            corpus: self,
            source,
            rows: Rows::of(self, 0),
            documents: 0,
            bytes: 0,
            each,
        };
        if let Some(held) = &self.held {
            source.progress.begin(stage, self.bytes);
            let mut held = held.iter().peekable();
            for file in 0..self.files.len() {
                while let Some(chunk) = held.next_if(|chunk| chunk.file == file) {
                    pass.chunk(Arc::clone(chunk))?;
                    pass.advance(pass.bytes);
                }
                pass.end(file)?;
            }
            return Ok(());
        }
        source.progress.begin(stage, source.inputs.stored_bytes());
        read_all(
            source.inputs,
            source.fields,
            columns,
            source.batch_bytes,
            |events, consumed| {
                for event in events {
                    match event? {
                        Event::Table { schema, metadata } => {
                            (pass.each)(Again::Table(schema, metadata))?;
                        }
                        Event::Chunk(chunk) => pass.chunk(Arc::new(chunk))?,
                        Event::End { file, fingerprint } => {
                            let known = self.files[file].fingerprint.as_ref();
                            if known.is_none_or(|known| !fingerprint.is_of_same_file(known)) {
                                return Err(pass.changed(file));
                            }
                            pass.end(file)?;
                        }
                    }
                    pass.advance(consumed.load(Ordering::Relaxed));
                }
                Ok(())
            },
        )
    }

    /// Reads the documents at the positions that `wanted` marks again, as sets for exact similarity.
    pub(crate) fn read_exact_sets(
        &self,
        source: &Source<'_>,
        wanted: &[bool],
        sets: &mut ExactSets,
    ) -> Result<()> {
        let position_of = |row: u32| {
            let position = self.distinct.binary_search(&row).ok()?;
            wanted[position].then_some(position)
        };
        let mut batch = Vec::new();
        let mut batch_bytes = 0;
        let mut store = |batch: &mut Vec<(Arc<Chunk>, Vec<Option<usize>>)>| {
            let parsed: Vec<_> = batch
                .par_drain(..)
                .map(|(chunk, positions)| exact_sets_of(source, &chunk, &positions))
                .collect();
            for of_chunk in parsed {
                for (position, set) in of_chunk? {
                    sets.insert(position, &set)?;
                }
            }
            Ok(())
        };
        self.read_again(source, "read again", Columns::Needed, |again| {
            if let Again::Chunk(chunk, rows) = again {
                let positions: Vec<_> = rows.iter().map(|row| row.and_then(position_of)).collect();
                if positions.iter().any(Option::is_some) {
                    batch_bytes += chunk.bytes();
                    batch.push((chunk, positions));
                }
                if batch_bytes >= source.batch_bytes {
                    batch_bytes = 0;
                    store(&mut batch)?;
                }
            }
            Ok(())
        })?;
        store(&mut batch)
    }
}

/// The sets of the records of a chunk that have a position, with it.
fn exact_sets_of(
    source: &Source<'_>,
    chunk: &Chunk,
    positions: &[Option<usize>],
) -> Result<Vec<(usize, Vec<u64>)>> {
    let at = |record: u64| {
        positions
            .get(usize::try_from(record).ok()?)
            .copied()
            .flatten()
    };
    let mut documents = source.fields.empty_batch();
    chunk.parse(source.fields, |record| at(record).is_some(), &mut documents);
    let wanted = positions.iter().flatten();
    if documents.len() != wanted.clone().count() {
        // What could be read the first time can be read again, unless it changed.
        return Err(Error::InputChanged {
            path: source.inputs.files[chunk.file].named.clone(),
        });
    }
    let mut scratch = Scratch::default();
    let sets = wanted.enumerate().map(|(i, position)| {
        let mut set = Vec::new();
        let shingler = source.shingler;
        shingler.exact_set(&documents, i, &mut scratch, &mut set);
        (*position, set)
    });
    Ok(sets.collect())
}
