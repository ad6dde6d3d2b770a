//! Documents from files, as a source for the first pass.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::preference::classes;
use super::run::Run;
use crate::documents::{DocumentBatch, Rows};
use crate::engine::Engine;
use crate::error::{BadRecord, Error, Result};
use crate::io::{
    Chunk, Columns, DocumentIds, Event, FieldValues, FilesReading, Fingerprint, InputFile,
    OnBadRecord, Places, Reading, Record, Report, Skipped, SourceFile, Unordered, WithoutId,
};
use crate::jobs::corpus::Corpus;
use crate::jobs::first_pass::{FirstPass, Notes, Parsed, Pieces};
use crate::jobs::search::Search;
use crate::jobs::source::{NextId, Source};
use crate::progress::{Counts, StageTime, Timings, advance, grouped};
use crate::store::spill::{Budget, Spill};
use crate::store::{Bits, ExactSets, SETS_IN_MEMORY};

/// The documents of a run over files.
pub(super) struct FileSource<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) files: Vec<InputFile>,
    pub(super) places: Places,
    /// The class of each document in the order of preference.
    classes: Option<Vec<u64>>,
    held_bytes: u64,
    temporary: PathBuf,
}

impl<'a> FileSource<'a> {
    /// Opens the inputs of a run. Holds them in memory for the second pass if they have at most `held_bytes`
    /// in total. Temporary files go to the folder `temporary`.
    pub(super) fn open(
        run: &'a Run<'a>,
        held_bytes: u64,
        temporary: PathBuf,
        timings: &mut Timings,
    ) -> Result<Self> {
        let temporary = run.temporary.clone().unwrap_or(temporary);
        let copied = |bytes| advance(run.progress, bytes, 0, bytes);
        let find = || run.inputs.with_copy_of_stream(&temporary, copied);
        let files = if run.inputs.names_stream() {
            run.progress.begin("copy", 0);
            timings.time("copy", 0, find)
        } else {
            find()
        };
        Ok(FileSource {
            run,
            files: files?,
            places: Places::default(),
            classes: None,
            held_bytes,
            temporary,
        })
    }

    /// The options of reading.
    pub(super) fn reading(&self, columns: Columns) -> Reading<'_> {
        Reading {
            fields: &self.run.fields,
            columns,
            batch_bytes: self.run.batch_bytes,
            temporary: Some(&self.temporary),
            keep_by: self.run.keep_by.as_ref().map(|by| &by.field),
            limit: self.run.limit.map(NonZeroU64::get),
        }
    }

    /// The total size of all files, compressed.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.files.iter().map(InputFile::stored_bytes).sum()
    }

    /// Makes the report of the run, without clusters.
    pub(super) fn report(
        &self,
        command: &'static str,
        counts: Counts,
        search: Option<&Search>,
    ) -> Report {
        let mut report = Report::new(command, counts, self.run.parameters(search));
        let documents = self.places.records() - self.places.skipped.len() as u64;
        report.missing_ids = self.places.missing_ids(documents);
        report.empty_files = self.places.empty_files();
        report.skipped = self.places.skipped_records();
        report
    }

    fn warn_of_empty_files(&self, empty_files: &[usize]) {
        let Some(first) = empty_files.first() else {
            return;
        };
        let first = self.files[*first].named.display();
        let warning = match empty_files.len() as u64 {
            all if all == self.files.len() as u64 => "the inputs hold no records".to_owned(),
            1 => format!("{first} holds no records"),
            empty => format!("{} files hold no records, first {first}", grouped(empty)),
        };
        self.run.progress.warn(&warning);
    }

    /// Adds the counts of records to the counts of documents.
    pub(super) fn complete(&self, counts: &mut Counts) {
        counts.documents = self.places.records();
        counts.skipped = self.places.skipped.len() as u64;
        counts.repeated_ids = self.places.repeated_ids;
    }
}

impl Source for FileSource<'_> {
    fn read(&mut self, mut pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus> {
        let progress = pass.progress();
        progress.begin("read", self.stored_bytes());
        let before = std::mem::take(&mut self.places).files.into_iter();
        let before: Vec<_> = before.map(|file| file.fingerprint).collect();
        let is_first = before.is_empty();
        let files = self.files.iter().map(|file| SourceFile {
            relative: file.relative.clone(),
            first_row: 0,
            records: 0,
            fingerprint: None,
        });
        let places = Places {
            files: files.collect(),
            ids: Some(DocumentIds::default()),
            held: (self.held_bytes > 0).then(Vec::new),
            ..Places::default()
        };
        let chunks = Chunks {
            run: self.run,
            are_held: AtomicBool::new(self.held_bytes > 0),
        };
        let mut noted = Noted {
            source: self,
            chunks: &chunks,
            bytes: 0,
            places,
            values: FieldValues::default(),
            before,
        };
        let files = FilesReading::new(&self.files, self.reading(Columns::Needed))?;
        let signing = pass.signing();
        files.map(
            |chunk| signing.sign(&chunks, Arc::new(chunk)),
            |event| {
                match event {
                    Some(Event::Chunk(signed)) => pass.number(signed, &mut noted)?,
                    Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                    Some(Event::Table(_)) | None => {}
                }
                advance(progress, files.consumed(), pass.rows(), pass.bytes())
            },
        )?;
        let (mut places, values) = (noted.places, noted.values);
        let corpus = pass.finish(times)?;
        if let Some(ids) = &mut places.ids {
            ids.end()?;
        }
        if let (0, Some(first)) = (corpus.rows, places.skipped.first()) {
            return Err(Error::NoGoodRecord(first.record.clone()));
        }
        places.fill_first_rows(corpus.rows);
        places.count_repeated_ids(self.run.unique_ids)?;
        if is_first {
            self.warn_of_empty_files(&places.empty_files);
        }
        let warn = |message: &str| {
            if is_first {
                self.run.progress.warn(message);
            }
        };
        self.classes = classes(self.run, &places, corpus.rows, values, &warn)?;
        self.places = places;
        Ok(corpus)
    }

    fn held_bytes(&self) -> u64 {
        let classes = self.classes.as_ref().map_or(0, Vec::len);
        self.places.held_bytes() + 8 * classes as u64
    }

    fn classes(&self) -> Option<&[u64]> {
        self.classes.as_deref()
    }

    fn exact_sets(&self) -> ExactSets {
        ExactSets::spilling(SETS_IN_MEMORY, &self.temporary)
    }

    fn read_exact_sets(
        &self,
        engine: &Engine,
        wanted: &Bits,
        each: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        self.read_sets(engine, wanted, each)
    }

    fn budget(&self) -> Option<Budget> {
        let memory = self.run.memory_bytes()?;
        Some(Budget {
            memory: usize::try_from(memory).unwrap_or(usize::MAX),
            folder: self.temporary.clone(),
        })
    }

    fn ids(&self) -> Result<Option<NextId<'_>>> {
        let has_ids = self.places.ids.is_some();
        let next = has_ids.then(|| self.places.ids_in_order()).transpose()?;
        Ok(next.map(|next| Box::new(next) as NextId<'_>))
    }
}

/// The chunks of all files, as pieces for the first pass.
struct Chunks<'a> {
    run: &'a Run<'a>,
    /// Whether all chunks so far are held for the second pass.
    are_held: AtomicBool,
}

/// What is noted of all files in order.
struct Noted<'a> {
    source: &'a FileSource<'a>,
    chunks: &'a Chunks<'a>,
    /// Bytes of all chunks so far.
    bytes: u64,
    places: Places,
    /// The values of the field of [`Run::keep_by`].
    values: FieldValues,
    /// What an earlier read found of each file; empty without one.
    before: Vec<Option<Fingerprint>>,
}

impl Noted<'_> {
    /// Holds a chunk for the second pass. Drops all held chunks if the total exceeds the limit.
    fn hold(&mut self, records: &ChunkRecords) {
        self.bytes += records.bytes as u64;
        match (&mut self.places.held, &records.chunk) {
            (Some(held), Some(chunk))
                if self.bytes <= self.source.held_bytes && chunk.is_whole() =>
            {
                held.push(Arc::clone(chunk));
            }
            _ => self.hold_none(),
        }
    }

    /// Holds no chunk, now and later.
    fn hold_none(&mut self) {
        self.places.held = None;
        self.chunks.are_held.store(false, Ordering::Relaxed);
    }

    /// Notes the end of a file. Refuses one that has changed since an earlier read.
    fn end_file(&mut self, file: usize, fingerprint: Fingerprint) -> Result<()> {
        let before = self.before.get(file).and_then(Option::as_ref);
        if before.is_some_and(|before| !fingerprint.is_of_same_file(before)) {
            return Err(Error::InputChanged {
                path: self.source.files[file].named.clone(),
            });
        }
        let places = &mut self.places;
        places.files[file].fingerprint = Some(fingerprint);
        if places.files[file].records == 0 {
            places.empty_files.push(file);
        }
        Ok(())
    }
}

impl Notes<ChunkRecords> for Noted<'_> {
    fn note(&mut self, records: ChunkRecords, first_row: u32) -> Result<()> {
        self.hold(&records);
        let ChunkRecords {
            file,
            records,
            values,
            ..
        } = records;
        let mut next_row = first_row;
        let places = &mut self.places;
        let of_file = &mut places.files[file];
        if of_file.records == 0 {
            of_file.first_row = first_row;
        }
        for (record, row) in records.into_iter().zip(of_file.records..) {
            of_file.records += 1;
            match record {
                Record::Document(Some(id)) => {
                    if let Some(ids) = &mut places.ids {
                        ids.push(&id)?;
                    }
                    next_row += 1;
                }
                Record::Document(None) => {
                    places.ids = None;
                    let first = places.without_id.map_or(next_row, |first| first.row);
                    let before = places.without_id.map_or(0, |without| without.documents);
                    places.without_id = Some(WithoutId {
                        documents: before + 1,
                        row: first,
                    });
                    next_row += 1;
                }
                Record::Bad { line, problem } => {
                    let record = BadRecord {
                        file: self.source.files[file].named.clone(),
                        row,
                        line,
                        problem,
                    };
                    if self.source.run.on_bad_record == OnBadRecord::Fail {
                        return Err(Error::BadRecord(record));
                    }
                    places.skipped.push(Skipped { file, record });
                }
            }
        }
        let values = values.map_err(|unordered| {
            let line = unordered.line.map(|line| format!("line {line}: "));
            Error::Input {
                path: self.source.files[file].named.clone(),
                problem: line.unwrap_or_default() + &unordered.problem,
                remedy: "choose another field for `keep_by`".to_owned(),
            }
        })?;
        self.values.append(&values);
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        usize::try_from(self.places.held_bytes()).unwrap_or(usize::MAX) + self.values.bytes()
    }

    fn spill(&mut self, spill: &Arc<Spill>) -> Result<()> {
        self.hold_none();
        match &mut self.places.ids {
            Some(ids) => ids.spill(spill),
            None => Ok(()),
        }
    }
}

/// The records of a chunk.
struct ChunkRecords {
    file: usize,
    records: Vec<Record>,
    /// The values of the field of [`Run::keep_by`], one per document.
    values: std::result::Result<FieldValues, Unordered>,
    /// Bytes of the chunk.
    bytes: usize,
    /// The chunk itself, if it may be held.
    chunk: Option<Arc<Chunk>>,
}

impl Pieces for Chunks<'_> {
    type Piece = Arc<Chunk>;
    type Records = ChunkRecords;

    fn parse<'a>(
        &'a self,
        chunk: Arc<Chunk>,
        documents: &'a mut DocumentBatch,
    ) -> Result<Parsed<'a, ChunkRecords>> {
        let run = self.run;
        let records = chunk.parse(&run.fields, |_| true, documents);
        let is_good = |i: usize| matches!(records.get(i), Some(Record::Document(_)));
        let values = match &run.keep_by {
            Some(by) => FieldValues::of_chunk(&chunk, &by.field, is_good),
            None => Ok(FieldValues::default()),
        };
        let bytes = chunk.bytes();
        let records = ChunkRecords {
            file: chunk.file,
            records,
            values,
            bytes,
            // Unless held, the chunk is freed here.
            chunk: self.are_held.load(Ordering::Relaxed).then_some(chunk),
        };
        Ok(Parsed {
            records,
            bytes,
            documents: Rows::new(documents, 0..documents.len()),
        })
    }

    fn buffer(&self) -> DocumentBatch {
        self.run.fields.empty_batch()
    }
}
