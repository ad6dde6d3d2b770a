//! Passages of documents in files.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::cuts::Snap;
use super::report::{PassageCounts, PassageParameters, PassageReport};
use super::search::PassageSearch;
use super::sources::Occurrences;
use super::units::{PassageUnits, UnitTexts};
use crate::documents::DocumentBatch;
use crate::error::{Conflict, Error, Result, row_number};
use crate::files::{
    ChunkRecords, Noted, RunOptions, check_compression_level, warn_of_repeated_ids,
};
use crate::io::{
    Chunk, Columns, Event, FieldPath, FieldValues, Fields, FilesReading, InputFile, Inputs,
    OnBadRecord, OutputFolder, Places, Reading, Record, Wanted,
};
use crate::machine::usable_memory_bytes;
use crate::pipeline::UnitPlaces;
use crate::progress::{Timings, advance};
use crate::search::Notes;

/// What to do with passages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PassageAction {
    /// List them.
    #[default]
    Report,
    /// Write the records without them.
    Cut,
    /// Write the records but for documents of which a larger share of the bytes is passages.
    Drop {
        /// The largest share that is kept, from 0 to 1.
        max_covered: f64,
    },
}

impl PassageAction {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            PassageAction::Report => "report",
            PassageAction::Cut => "cut",
            PassageAction::Drop { .. } => "drop",
        }
    }

    /// Whether all texts stay as they are, and are not written.
    pub(super) fn keeps_texts(self) -> bool {
        self == PassageAction::Report
    }
}

/// The outcome of a search for passages in files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassagesOutcome {
    /// The counts and parameters. Equal inputs and options make equal reports.
    pub report: PassageReport,
    /// The elapsed times of the stages.
    pub timings: Timings,
    /// The elapsed seconds of the run, without the last renames.
    pub elapsed_s: f64,
}

/// A search for passages in files. Set its options, then call [`PassagesRun::run`]. Texts that memory does not
/// hold are searched on disk, with the same results.
///
/// ```
/// use simgpu::io::Inputs;
/// use simgpu::passages::{PassageUnit, PassageUnits, PassagesRun};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let lines = "{\"text\": \"it was the best of times\"}\n{\"text\": \"it was the worst of times\"}\n";
/// std::fs::write(folder.join("in.jsonl"), lines).unwrap();
/// let inputs = Inputs::find(&[folder.join("in.jsonl")], None)?;
/// let units = PassageUnits { min_length: 3.try_into()?, ..PassageUnits::of(PassageUnit::Words) };
/// let outcome = PassagesRun::new(&inputs, units).run(Some(&folder.join("out")))?;
/// assert_eq!(outcome.report.counts.covered_units, 3); // it was the
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct PassagesRun<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) units: PassageUnits,
    pub(super) occurrences: Occurrences,
    pub(super) min_count: u32,
    pub(super) other_documents: bool,
    pub(super) action: PassageAction,
    pub(super) snap: Snap,
    pub(super) min_left: Option<NonZeroU64>,
    pub(super) memory: Option<u64>,
    pub(super) fields: Fields,
    pub(super) on_bad_record: OnBadRecord,
    pub(super) unique_ids: bool,
    pub(super) batch_bytes: usize,
    pub(super) limit: Option<NonZeroU64>,
    pub(super) temporary: Option<PathBuf>,
    pub(super) options: RunOptions<'a>,
}

impl std::fmt::Debug for PassagesRun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassagesRun")
            .field("inputs", &self.inputs)
            .field("units", &self.units)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

impl<'a> PassagesRun<'a> {
    /// A search for passages of these units, with default options.
    pub fn new(inputs: &'a Inputs, units: PassageUnits) -> Self {
        PassagesRun {
            inputs,
            units,
            occurrences: Occurrences::default(),
            min_count: 2,
            other_documents: false,
            action: PassageAction::default(),
            snap: Snap::default(),
            min_left: None,
            memory: None,
            fields: Fields::default(),
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            limit: None,
            temporary: None,
            options: RunOptions::default(),
        }
    }

    /// Which occurrences are covered; default those that occur earlier.
    pub fn occurrences(self, occurrences: Occurrences) -> Self {
        PassagesRun {
            occurrences,
            ..self
        }
    }

    /// Covers only passages that occur so often, all occurrences counted; default 2.
    pub fn min_count(self, count: u32) -> Self {
        PassagesRun {
            min_count: count,
            ..self
        }
    }

    /// Covers only passages that occur in another document; default false: what occurs before in the same document is a
    /// passage, too.
    pub fn other_documents(self, other_documents: bool) -> Self {
        PassagesRun {
            other_documents,
            ..self
        }
    }

    /// What to do with passages; default [`PassageAction::Report`].
    pub fn action(self, action: PassageAction) -> Self {
        PassagesRun { action, ..self }
    }

    /// To what a cut is shrunk; default [`Snap::Words`].
    pub fn snap(self, snap: Snap) -> Self {
        PassagesRun { snap, ..self }
    }

    /// Removes a document with passages if fewer units than these would be left of it. It is the source of no passage.
    pub fn min_left(self, units: NonZeroU64) -> Self {
        PassagesRun {
            min_left: Some(units),
            ..self
        }
    }

    /// Bytes of memory for the texts and the search; default 60 % of what the process may use. A run that needs more goes on
    /// on disk, with the same results. With [`Occurrences::All`] or a count above 2 it fails.
    pub fn memory(self, bytes: u64) -> Self {
        PassagesRun {
            memory: Some(bytes),
            ..self
        }
    }

    /// The fields of a record; default `text` and `id`.
    pub fn fields(self, fields: Fields) -> Self {
        PassagesRun { fields, ..self }
    }

    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub fn on_bad_record(self, on_bad_record: OnBadRecord) -> Self {
        PassagesRun {
            on_bad_record,
            ..self
        }
    }

    /// Whether a repeated id is an error; default false.
    pub fn unique_ids(self, unique_ids: bool) -> Self {
        PassagesRun { unique_ids, ..self }
    }

    /// The most bytes of input that threads may read ahead; default 16 MiB. Does not affect the result.
    pub fn batch_bytes(self, batch_bytes: usize) -> Self {
        PassagesRun {
            batch_bytes,
            ..self
        }
    }

    /// Reads only the first `records` records of the inputs, in order, bad ones included.
    pub fn limit(self, records: NonZeroU64) -> Self {
        PassagesRun {
            limit: Some(records),
            ..self
        }
    }

    /// The folder for temporary files: copies of streams, and of compressed tables, and a search on disk; default beside the results, or else the
    /// current folder.
    pub fn temporary(self, folder: PathBuf) -> Self {
        PassagesRun {
            temporary: Some(folder),
            ..self
        }
    }

    /// What it has in common with other runs.
    pub fn options(self, options: RunOptions<'a>) -> Self {
        PassagesRun { options, ..self }
    }

    /// Finds the passages and writes them into a folder: `passages.jsonl`, `report.json` and `run.json`. Without a folder,
    /// writes nothing.
    ///
    /// A line of `passages.jsonl` is a piece: `id`, `file`, `row`, `field`, `start` and `end` in bytes of the text,
    /// `source_id`, `source_file`, `source_row`, `source_start`, `source_end`, `length` in units, and `exact`: whether all
    /// bytes are the same, not only the units.
    ///
    /// But for [`PassageAction::Report`], it reads the inputs again and writes the kept records of each into `kept/`, what
    /// was cut out of each document into `cuts.jsonl`, and the documents that are removed into `removed.jsonl`.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, those of [`PassageSearch::find`](super::PassageSearch::find),
    /// [`Conflict::PassageMemory`](crate::error::Conflict::PassageMemory), and [`Error::Stopped`] if the progress stops the
    /// run. After an error the folder holds no new results, and earlier ones are unchanged.
    pub fn run(self, folder: Option<&Path>) -> Result<PassagesOutcome> {
        self.check()?;
        let output = folder.map(|folder| self.open(folder)).transpose()?;
        let beside = || output.as_ref().map(OutputFolder::partial);
        let temporary = self.temporary.clone().or_else(beside);
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let mut timings = Timings::default();
        let files = self
            .inputs
            .with_copy_of_stream(&temporary, self.options.progress)?;
        if !self.action.keeps_texts() {
            let outputs = files.iter().map(|file| file.original_compression);
            check_compression_level(self.options.compression_level, outputs)?;
        }
        let from = (&*files, &*temporary);
        let (counts, places) = self.find_and_write(output.as_ref(), from, &mut timings)?;
        let parameters = self.parameters();
        let report = PassageReport::new(counts, parameters, &places);
        let elapsed_s = timings.complete(self.options.started);
        if let Some(output) = output {
            self.commit(output, &report, &timings, elapsed_s)?;
        }
        Ok(PassagesOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    /// Finds and writes passages, in memory if all fits there.
    fn find_and_write(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
        timings: &mut Timings,
    ) -> Result<(PassageCounts, Places)> {
        let is_too_large = |error: &Error| {
            matches!(error, Error::Conflict(Conflict::PassageMemory { .. })) && self.fits_disk()
        };
        let read = timings.time("read", 0, || self.read(files, temporary));
        let (texts, places) = match read {
            Err(error) if is_too_large(&error) => {
                return self.run_on_disk(output, (files, temporary), None, timings);
            }
            read => read?,
        };
        let found = match self.find(&texts, timings) {
            Err(error) if is_too_large(&error) => {
                drop(texts);
                return self.run_on_disk(output, (files, temporary), Some(places), timings);
            }
            found => found?,
        };
        let counts = timings.time("write", 0, || {
            let mut counts = self.write(output, &texts, &places, &found)?;
            if let Some(output) = output.filter(|_| !self.action.keeps_texts()) {
                self.write_kept(output, (files, temporary), &places, &found.cuts)?;
            }
            counts.add_cuts(&texts, &found.cuts, found.lost, !self.action.keeps_texts());
            Ok::<_, Error>(counts)
        })?;
        Ok((counts, places))
    }

    /// Refuses options that contradict each other.
    fn check(&self) -> Result<()> {
        let removes = self.min_left.is_some() || matches!(self.action, PassageAction::Drop { .. });
        if removes && self.occurrences == Occurrences::All {
            return Err(Conflict::PassagesWithoutOrder.into());
        }
        if let PassageAction::Drop { max_covered } = self.action
            && !(0.0..=1.0).contains(&max_covered)
        {
            return Err(Error::Parameter {
                name: "`max_covered`",
                value: max_covered.to_string(),
                expected: "a share from 0 to 1".to_owned(),
            });
        }
        let content = &self.fields.content;
        let is_repeated = |(i, field): (usize, &FieldPath)| content[..i].contains(field);
        if !self.action.keeps_texts() && content.iter().enumerate().any(is_repeated) {
            return Err(Error::Parameter {
                name: "`text_field`",
                value: self.fields.content_names(),
                expected: "each field once, since its text is cut".to_owned(),
            });
        }
        Ok(())
    }

    fn parameters(&self) -> PassageParameters {
        PassageParameters {
            unit: self.units.unit.name(),
            min_length: self.units.min_length.get() as u64,
            occurrences: match self.occurrences {
                Occurrences::Later => "later",
                Occurrences::All => "all",
            },
            min_count: self.min_count.max(2),
            same_document: if self.other_documents { "keep" } else { "cut" },
            bytes_equal: self.units.bytes_equal,
            action: self.action.name(),
            max_covered: match self.action {
                PassageAction::Drop { max_covered } => Some(max_covered),
                PassageAction::Report | PassageAction::Cut => None,
            },
            snap: (self.action == PassageAction::Cut).then(|| self.snap.name()),
            min_left: self.min_left.map(NonZeroU64::get),
            content_field: self.fields.content_names(),
            id_field: self.fields.id.to_string(),
            limit: self.limit.map(NonZeroU64::get),
        }
    }

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        self.inputs.check_output_outside(folder)?;
        self.inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        OutputFolder::open(folder, self.options.overwrite)
    }

    /// Reads all documents into memory.
    fn read(&self, files: &[InputFile], temporary: &Path) -> Result<(UnitTexts, Places)> {
        let progress = self.options.progress;
        let budget = self.budget();
        progress.begin("read", files.iter().map(InputFile::stored_bytes).sum());
        let are_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, files, (0, &are_held), Vec::new());
        let reading = FilesReading::new(files, self.reading(Columns::Needed, temporary))?;
        let mut texts = UnitTexts::default();
        reading.map(
            |chunk| Ok(self.parse(&chunk, |_| true)),
            |event| {
                match event {
                    Some(Event::Chunk((records, of_chunk))) => {
                        noted.note(records, row_number(texts.len())?)?;
                        texts.append(&of_chunk);
                        self.search_memory(&texts, budget)?;
                    }
                    Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                    Some(Event::Table(_)) | None => {}
                }
                advance(
                    progress,
                    reading.consumed(),
                    texts.len() as u64,
                    texts.bytes(),
                )
            },
        )?;
        let places = self.complete(noted.places, texts.len())?;
        Ok((texts, places))
    }

    pub(super) fn reading<'r>(&'r self, columns: Columns, temporary: &'r Path) -> Reading<'r> {
        Reading {
            wanted: Wanted::Document(&self.fields),
            columns,
            batch_bytes: self.batch_bytes,
            temporary: Some(temporary),
            beside: [None, None],
            limit: self.limit.map(NonZeroU64::get),
            reference: None,
        }
    }

    /// The search for the passages.
    pub(super) fn search(&self) -> PassageSearch {
        PassageSearch::new(self.units.symbols())
            .occurrences(self.occurrences)
            .min_count(self.min_count)
            .other_documents(self.other_documents)
    }

    /// Whether it matters how often passages occur.
    pub(super) fn counts_windows(&self) -> bool {
        self.min_count > 2 || self.occurrences == Occurrences::All
    }

    /// Bytes of memory for texts and search; `None` if nothing tells how many there are.
    pub(super) fn budget(&self) -> Option<u64> {
        self.memory.or_else(usable_memory_bytes)
    }

    /// The wanted records of a chunk, and the texts of the good ones.
    pub(super) fn parse(
        &self,
        chunk: &Chunk,
        wanted: impl Fn(u64) -> bool,
    ) -> (ChunkRecords, UnitTexts) {
        let mut batch = self.fields.empty_batch();
        let mut records = chunk.parse(&self.fields, wanted, &mut batch);
        let mut texts = UnitTexts::default();
        let mut finder = UnitPlaces::default();
        if let DocumentBatch::Texts(batch) = &batch {
            let good = records
                .iter_mut()
                .filter(|record| matches!(record, Record::Document(_)));
            for (record, text) in good.zip(batch.iter()) {
                if let Err(problem) = texts.push(text, self.units, &mut finder) {
                    *record = Record::Bad {
                        line: None,
                        problem,
                    };
                }
            }
        }
        let records = ChunkRecords {
            file: chunk.file,
            records,
            values: Ok(FieldValues::default()),
            sources: Ok(FieldValues::default()),
            bytes: chunk.bytes(),
            chunk: None,
        };
        (records, texts)
    }

    /// Completes the places of so many documents, and warns of what is odd about them.
    pub(super) fn complete(&self, mut places: Places, documents: usize) -> Result<Places> {
        let progress = self.options.progress;
        if let (0, Some(first)) = (documents, places.skipped.first()) {
            return Err(Error::NoGoodRecord(first.record.clone()));
        }
        places.fill_first_rows(row_number(documents)?);
        let repeated = places.find_repeated_ids()?;
        places.count_repeated_ids(repeated, self.unique_ids)?;
        places.not_read = self.inputs.not_read().clone();
        warn_of_repeated_ids(progress, places.repeated_ids);
        places.not_read.warn(progress);
        if let Some(warning) = places.warning_of_ids(&self.fields.id) {
            progress.warn(&warning);
        }
        for file in places.empty_files() {
            progress.warn(&format!("{file} holds no records"));
        }
        Ok(places)
    }
}
