//! Documents from files, as a source for the first pass.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::log::{ChunkRecords, Log, Noted, RecordIds, RecordsRead};
use super::preference::{Known, Preference};
use super::run::Run;
use super::sources::{FieldSources, Sources};
use simgpu::documents::{DocumentBatch, DocumentRange};
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::progress::{Counts, StageTime, Timings, advance, counted, grouped};
use simgpu::search::{
    Classify, Corpus, FirstPass, LinesOfIds, NextPreference, NumbersRead, Parsed, Pieces, Search,
    SetsByRow, Source, Verification,
};
use simgpu::store::ExactSets;
use simgpu::store::spill::{Budget, Spill, sets_in_memory};
use simgpu_base::bits::Bits;
use simgpu_io::{
    Chunk, Columns, Event, FieldPath, FieldValues, Fields, FilesReading, InputFile, LongestRecord,
    Places, Position, Reading, Record, RecordedInput, Repeated, Report, ValueForms, Wanted,
    listed_fields,
};

/// The documents of a run over files.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct FileSource<'a> {
    pub(super) run: &'a Run<'a>,
    /// All files: first those of the reference.
    pub(super) files: Vec<InputFile>,
    /// The number of files of the reference.
    pub(super) of_reference: usize,
    pub(super) places: Places,
    /// The order of preference of documents.
    preference: Option<Preference>,
    /// The class of each document in this order, if they are in memory.
    classes: Option<Vec<u64>>,
    /// The sources of documents, by a field.
    pub(super) sources: Option<FieldSources>,
    held_bytes: u64,
    /// The search by whose signatures documents that are read again are compared with those of an index.
    pub(super) signed_again: Option<Search>,
    pub(super) temporary: PathBuf,
    /// The notes on disk, which a run that goes on reads.
    log: Option<Log>,
    pub(super) budget: Option<Budget>,
    /// The folder of the run on disk.
    spill: Option<Arc<Spill>>,
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
        let find = || {
            run.inputs
                .with_copy_of_stream(&temporary, run.options.progress)
        };
        let inputs = if run.inputs.names_stream() {
            timings.time("copy", 0, find)
        } else {
            find()
        };
        let indexes = run.indexes.iter();
        let mut files: Vec<InputFile> = indexes
            .map(|index| InputFile::from_index(index.folder()))
            .collect();
        if let Some((reference, _)) = &run.against {
            run.inputs.check_apart_from(reference)?;
            files.extend_from_slice(&reference.files);
        }
        let of_reference = files.len();
        files.extend(inputs?);
        Ok(FileSource {
            run,
            files,
            of_reference,
            places: Places::default(),
            preference: None,
            classes: None,
            sources: None,
            held_bytes,
            signed_again: None,
            temporary,
            log: None,
            budget: None,
            spill: None,
        })
    }

    /// Signs documents that are read again, to compare them with those of an index by the search.
    pub(super) fn sign_again(&mut self, search: &Search) {
        self.signed_again = Some(Search {
            verification: Verification::Signature,
            ..search.clone()
        });
    }

    /// The source of each document: the value of its field, or its file.
    pub(super) fn sources_by_row(&self) -> Sources<'_> {
        self.sources
            .as_ref()
            .map_or(Sources::Files(&self.places), Sources::Values)
    }

    /// The files of the run before it was stopped; `None` if it begins.
    #[doc(hidden)]
    pub fn unfinished(&self) -> Option<&Arc<Spill>> {
        self.budget.as_ref()?.unfinished.as_ref()
    }

    /// The folder of the run on disk; `None` if the run is in memory.
    pub(super) fn on_disk(&self) -> Option<&Arc<Spill>> {
        self.spill.as_ref()
    }

    /// The share of the input that is read, after so many bytes of files and so many documents.
    fn share_read(&self, bytes: u64, documents: u64) -> f64 {
        let of_bytes = bytes as f64 / self.stored_bytes() as f64;
        let limit = self.run.limit.map(NonZeroU64::get);
        let of_limit = limit.map_or(0.0, |limit| documents as f64 / limit as f64);
        of_bytes.max(of_limit).clamp(f64::EPSILON, 1.0)
    }

    /// Goes on where the run was stopped: at this position, which is the beginning if it was not.
    fn restored(&self, pass: &mut FirstPass<'_>, noted: &mut Noted<'_>) -> Result<Position> {
        let Some(spill) = pass.unfinished() else {
            return Ok(Position::default());
        };
        let Some(state) = spill.state::<ReadState>(READ) else {
            return Ok(Position::default());
        };
        pass.restore(&spill, &state.numbers, noted)?;
        noted.restore(&state.records)?;
        let start = state.records.position;
        pass.progress().tell(&format!(
            "going on where the run was stopped: {} and {} of {} are read",
            counted(pass.rows(), "document"),
            start.file,
            counted(self.files.len() as u64, "file")
        ));
        Ok(start)
    }

    /// Completes the places of all documents. A first reading warns of what is odd about them.
    fn end_places(&mut self, rows: u32, spill: Option<&Spill>, is_first: bool) -> Result<()> {
        let places = &mut self.places;
        if let Some(ids) = &mut places.ids {
            ids.end()?;
        }
        places.fill_first_rows(rows);
        if let (0, Some(first)) = (rows - places.first_input(), places.first_bad_record()) {
            return Err(Error::NoGoodRecord(first.clone()));
        }
        let known = spill.and_then(|spill| spill.state::<Repeated>(IDS));
        let repeated = known.map_or_else(|| places.find_repeated_ids(), Ok)?;
        if let Some(spill) = spill {
            spill.note(IDS, &repeated)?;
        }
        let unique_ids = self.run.unique_ids || self.run.adds_kept;
        places.count_repeated_ids(repeated, unique_ids)?;
        if is_first {
            self.warn_of_empty_files(&self.places.empty_files);
            for warning in self.places.warnings(&self.run.fields.id) {
                self.run.options.progress.warn(&warning);
            }
        }
        Ok(())
    }

    /// Notes which documents are preferred, by the values of a field that have these forms.
    fn end_preference(
        &mut self,
        rows: u32,
        values: &FieldValues,
        forms: ValueForms,
        is_first: bool,
    ) -> Result<()> {
        let warn = |message: &str| {
            if is_first {
                self.run.options.progress.warn(message);
            }
        };
        let inputs = rows - self.places.first_input();
        let files = &self.files[self.of_reference..];
        let names = |missing: &FieldPath| listed_fields(files, missing, &self.temporary);
        if let (Some(field), Some(sources)) = (&self.run.source_field, &self.sources)
            && inputs > 0
            && sources.is_empty()
        {
            let names = names(field).map_or(String::new(), |names| format!("; {names}"));
            warn(&format!(
                "no document has a value in field \"{field}\"{names}; check `source_field`"
            ));
        }
        let known = Known {
            places: &self.places,
            forms,
            names: &names,
        };
        self.preference = Preference::new(self.run, &known, inputs, &warn)?;
        let in_memory = self.preference.as_ref().filter(|_| self.log.is_none());
        let classes = in_memory.map(|preference| preference.classes(rows, values));
        self.classes = classes.transpose()?;
        Ok(())
    }

    /// What `run.json` says of the inputs.
    pub(super) fn recorded_inputs(&self) -> Vec<RecordedInput> {
        let is_named = |input: &InputFile| {
            let mut named = self.run.inputs.names();
            named.any(|name| name == input.relative)
        };
        let has_stream = self.run.inputs.names_stream();
        let files = self.files.iter().enumerate();
        files
            .map(|(number, input)| {
                if number < self.run.indexes.len() {
                    return RecordedInput::from_index(input);
                }
                let reference = number < self.of_reference;
                let is_stream = !reference && has_stream && !is_named(input);
                RecordedInput::new(input, reference, is_stream)
            })
            .collect()
    }

    /// How often the run went on after it was stopped.
    pub(super) fn resumed(&self) -> u64 {
        self.on_disk().map_or(0, |spill| spill.resumed())
    }

    /// Says that the run is complete.
    pub(super) fn complete_budget(&self) {
        self.on_disk()
            .into_iter()
            .for_each(|spill| spill.complete());
    }

    /// The options of reading.
    pub(super) fn reading(&self, columns: Columns) -> Reading<'_> {
        Reading {
            columns,
            batch_bytes: self.run.batch_bytes,
            temporary: Some(&self.temporary),
            beside: [
                self.run.keep_by.as_ref().map(|by| &by.field),
                self.run.source_field.as_ref(),
            ],
            limit: self.run.limit.map(NonZeroU64::get),
            reference: self.run.against.as_ref().map(|(_, fields)| {
                let wanted = Wanted::Document(fields);
                (self.of_reference, wanted)
            }),
            longest: LongestRecord::within(self.run.memory),
            ..Reading::new(Wanted::Document(&self.run.fields))
        }
    }

    /// What a record of a file holds.
    pub(super) fn fields_of(&self, file: usize) -> &Fields {
        self.run.fields_of(file < self.of_reference)
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
        let documents = counts.documents - counts.skipped + counts.reference.unwrap_or(0);
        let mut report = Report::new(command, counts, self.run.parameters(search));
        report.missing_ids = self.places.missing_ids(documents);
        report.empty_files = self.places.empty_files();
        report.not_read = self.run.inputs.not_read().clone();
        report.skipped = self.places.skipped_records();
        report.reference_skipped = self.places.skipped_of_reference();
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
        self.run.options.progress.warn(&warning);
    }

    /// Reads, signs and numbers all chunks, or those after where a run was stopped. Makes checkpoints.
    fn read_chunks(
        &self,
        chunks: &Chunks<'_>,
        pass: &mut FirstPass<'_>,
        noted: &mut Noted<'_>,
    ) -> Result<()> {
        let progress = pass.progress();
        let mut is_on_disk = pass.unfinished().is_some();
        let start = self.restored(pass, noted)?;
        let start = self.read_indexes(pass, noted, start)?;
        let files = FilesReading::new(&self.files, self.reading(Columns::Needed))?;
        let files = files.starting_at(&start);
        let signing = pass.signing();
        // Whether all notes end with the same chunk.
        let is_between_chunks = Cell::new(true);
        let read = files.map(
            |chunk| {
                if start.is_after(&chunk) {
                    Ok(None)
                } else {
                    signing.sign(chunks, Arc::new(chunk)).map(Some)
                }
            },
            |event| {
                is_between_chunks.set(false);
                match event {
                    Some(Event::Chunk(Some(signed))) => pass.number(signed, noted)?,
                    Some(Event::End { file, fingerprint }) => {
                        noted.end_file(file, fingerprint)?;
                        if file + 1 == self.of_reference {
                            pass.end_reference();
                        }
                    }
                    Some(Event::Table(_) | Event::Chunk(None)) | None => {}
                }
                is_between_chunks.set(true);
                if let (false, Some(spill)) = (is_on_disk, pass.on_disk()) {
                    is_on_disk = true;
                    // Everything so far is written now.
                    ReadState::checkpoint(pass, noted)?;
                    let share = self.share_read(files.consumed(), pass.rows());
                    spill.announce(share, progress)?;
                }
                if pass.on_disk().is_some_and(|spill| spill.is_due()) {
                    record(pass, noted)?;
                }
                advance(progress, files.consumed(), pass.rows(), pass.bytes())
            },
        );
        if matches!(read, Err(Error::Stopped)) && is_between_chunks.get() {
            record(pass, noted)?;
        }
        read
    }

    /// Adds the counts of records to the counts of documents.
    pub(super) fn complete(&self, counts: &mut Counts) {
        self.count_indexes(counts);
        counts.documents = self.places.records();
        counts.skipped = self.places.bad_records();
        counts.repeated_ids = self.places.repeated_ids;
    }
}

/// The state of the stage `read` at a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
struct ReadState {
    numbers: NumbersRead,
    records: RecordsRead,
}

impl ReadState {
    /// Writes everything read so far, and says where that is.
    fn checkpoint(pass: &mut FirstPass<'_>, noted: &mut Noted<'_>) -> Result<Self> {
        Ok(ReadState {
            numbers: pass.save()?,
            records: noted.save()?,
        })
    }
}

/// The name of the stage, for checkpoints.
const READ: &str = "read";

/// The name of the search for repeated ids, for checkpoints.
const IDS: &str = "ids";

/// Makes a checkpoint between two chunks.
fn record(pass: &mut FirstPass<'_>, noted: &mut Noted<'_>) -> Result<()> {
    match pass.on_disk() {
        Some(spill) => spill.checkpoint(READ, &ReadState::checkpoint(pass, noted)?),
        None => Ok(()),
    }
}

impl Source for FileSource<'_> {
    fn read(&mut self, mut pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus> {
        let progress = pass.progress();
        progress.begin("read", self.stored_bytes());
        let before = std::mem::take(&mut self.places).files.into_iter();
        let before: Vec<_> = before.map(|file| file.fingerprint).collect();
        let is_first = before.is_empty();
        let are_held = AtomicBool::new(self.held_bytes > 0);
        let chunks = Chunks {
            run: self.run,
            are_held: &are_held,
            held_bytes: self.held_bytes,
            of_reference: self.of_reference,
        };
        let mut noted = Noted::new(
            self.run.on_bad_record,
            &self.files,
            self.held_bytes,
            &are_held,
            before,
        );
        noted.places.of_reference = self.of_reference;
        noted.places.of_indexes = self.places_in_indexes()?;
        noted.sources = self.run.source_field.as_ref().map(FieldSources::new);
        self.read_chunks(&chunks, &mut pass, &mut noted)?;
        if let Some(spill) = pass.on_disk() {
            spill.note(READ, &ReadState::checkpoint(&mut pass, &mut noted)?)?;
        }
        let spill = pass.on_disk();
        let Noted {
            places,
            values,
            sources,
            forms,
            log,
            ..
        } = noted;
        self.sources = sources;
        self.log = log;
        let corpus = pass.finish(times)?;
        self.places = places;
        self.end_places(corpus.rows, spill.as_deref(), is_first)?;
        self.end_preference(corpus.rows, &values, forms, is_first)?;
        self.spill = spill;
        Ok(corpus)
    }

    fn held_bytes(&self) -> u64 {
        let classes = self.classes.as_ref().map_or(0, Vec::len);
        let sources = self.sources.as_ref().map_or(0, FieldSources::held_bytes);
        self.places.held_bytes() + 8 * classes as u64 + sources
    }

    fn classes(&self) -> Option<&[u64]> {
        self.classes.as_deref()
    }

    fn classes_on_disk(&self) -> Option<(Box<dyn Classify>, NextPreference<'_>)> {
        let preference = self.preference.as_ref()?;
        let log = self.log.as_ref()?;
        Some((Box::new(preference.rule()), preference.in_order(log)))
    }

    fn signs_again(&self) -> bool {
        self.signed_again.is_some()
    }

    fn exact_sets(&self) -> ExactSets {
        ExactSets::spilling(sets_in_memory(self.budget.as_ref()), &self.temporary)
    }

    fn read_exact_sets(
        &self,
        engine: &Engine,
        wanted: &Bits,
        sets: &mut dyn SetsByRow,
    ) -> Result<()> {
        self.read_sets(engine, wanted, sets)
    }

    fn budget(&self) -> Option<Budget> {
        self.budget.clone()
    }

    fn ids(&self) -> Result<Option<LinesOfIds<'_>>> {
        let lines = self.places.id_lines()?;
        Ok(lines.map(|lines| Box::new(lines) as LinesOfIds<'_>))
    }
}

/// The chunks of all files, as pieces for the first pass.
struct Chunks<'a> {
    run: &'a Run<'a>,
    /// Whether all chunks so far are held for the second pass.
    are_held: &'a AtomicBool,
    /// The most bytes that are held.
    held_bytes: u64,
    /// The number of files of the reference.
    of_reference: usize,
}

impl Pieces for Chunks<'_> {
    type Piece = Arc<Chunk>;
    type Notes = ChunkRecords;

    fn parse<'a>(
        &'a self,
        chunk: Arc<Chunk>,
        documents: &'a mut DocumentBatch,
    ) -> Result<Parsed<'a, ChunkRecords>> {
        let run = self.run;
        let is_reference = chunk.file < self.of_reference;
        // Documents of a reference have no preference and no source.
        let order_fields = [
            run.keep_by.as_ref().map(|by| &by.field),
            run.source_field.as_ref(),
        ];
        let order_fields = order_fields.into_iter().flatten().filter(|_| !is_reference);
        let records = chunk.parse_with(run.fields_of(is_reference), order_fields, documents);
        let is_good = |i: usize| matches!(records.get(i), Some(Record::Document(_)));
        let values = |field: Option<&FieldPath>| match field {
            Some(_) if is_reference => Ok(FieldValues::absent(documents.len())),
            Some(field) => FieldValues::from_chunk(&chunk, field, is_good),
            None => Ok(FieldValues::default()),
        };
        let sources = values(run.source_field.as_ref());
        let values = values(run.keep_by.as_ref().map(|by| &by.field));
        let bytes = chunk.bytes();
        let is_held = self.are_held.load(Ordering::Relaxed) && bytes as u64 <= self.held_bytes;
        let records = ChunkRecords {
            file: chunk.file,
            records: RecordIds::new(records),
            values,
            sources,
            bytes,
            // Unless held, the chunk is freed here.
            chunk: is_held.then_some(chunk),
        };
        Ok(Parsed {
            records,
            bytes,
            documents: DocumentRange::new(documents, 0..documents.len()),
        })
    }

    fn buffer(&self) -> DocumentBatch {
        self.run.fields.empty_batch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DedupOutput;
    use crate::tests::{Place, Watched, engine, place, skipping, task, watched_by};

    /// The report of a run over all inputs of a place, or over some of their records, and what it told.
    fn report(place: &Place, limit: Option<u64>) -> (Result<Report>, Watched<'static>) {
        let engine = engine();
        let told = Watched::stop_at(usize::MAX);
        let inputs = place.inputs();
        let mut run = skipping(&engine, &inputs).options(watched_by(&told));
        if let Some(limit) = limit.and_then(NonZeroU64::new) {
            run = run.limit(limit);
        }
        let temporary = &place.path("in");
        let outcome = run.dedup(&task(&engine), DedupOutput::Nowhere { temporary });
        (outcome.map(|outcome| outcome.report), told)
    }

    #[test]
    fn inputs_without_a_good_record_are_an_error() {
        let place = Place::new();
        place.write("in/a.jsonl", "{\"id\": 1}\n{\"id\": 2}\n");
        let refused = report(&place, None).0.unwrap_err();
        assert!(matches!(refused, Error::NoGoodRecord(record) if record.row == 0));
        place.write("in/b.jsonl", "{\"text\": \"a\"}\n");
        let counts = report(&place, None).0.unwrap().counts;
        assert_eq!((counts.documents, counts.kept, counts.skipped), (3, 1, 2));
    }

    #[test]
    fn files_without_records_are_told() {
        let place = Place::new();
        place.write("in/a.jsonl", "");
        let (empty, told) = report(&place, None);
        assert_eq!(empty.unwrap().empty_files, ["a.jsonl"]);
        assert!(told.has("the inputs hold no records"));
        place.write("in/b.jsonl", "{\"text\": \"a\"}\n");
        assert!(report(&place, None).1.has("a.jsonl holds no records"));
        place.write("in/c.jsonl", "\n\n");
        let (empty, told) = report(&place, None);
        assert_eq!(empty.unwrap().empty_files, ["a.jsonl", "c.jsonl"]);
        assert!(told.has("2 files hold no records, first"));
    }

    #[test]
    fn a_limit_counts_records_of_all_files() {
        let place = place();
        let all = report(&place, None).0.unwrap().counts.documents;
        let first = place.lines("in/a.jsonl").len() as u64;
        for limit in [1, 5, first - 1, first, first + 1, all, all + 9] {
            let counts = report(&place, Some(limit)).0.unwrap().counts;
            assert_eq!(counts.documents, limit.min(all));
        }
    }
}
