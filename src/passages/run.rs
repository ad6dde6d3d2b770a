//! Passages of documents in files.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::report::{PassageCounts, PassageLine, PassageParameters, PassageReport};
use super::search::{PassageSearch, Passages};
use super::sources::Occurrences;
use super::units::{PassageUnits, UnitTexts};
use crate::documents::DocumentBatch;
use crate::error::{Error, Result, row_number};
use crate::files::{ChunkRecords, Noted, RunOptions, create_json, warn_of_repeated_ids};
use crate::io::{
    Chunk, Columns, Event, Facts, FieldValues, Fields, FilesReading, InputFile, Inputs, JsonLines,
    OnBadRecord, OutputFolder, Places, REPORT, RUN_RECORD, Reading, Record, Wanted, run_record,
};
use crate::pipeline::UnitPlaces;
use crate::progress::{Timings, advance};
use crate::search::Notes;

/// The file of the passages.
const PASSAGES: &str = "passages.jsonl";

/// Lines written between two looks at whether to stop.
const BLOCK: usize = 1 << 14;

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

/// A search for passages in files. Set its options, then call [`PassagesRun::report`]. All texts are in memory.
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
/// let outcome = PassagesRun::new(&inputs, units).report(Some(&folder.join("out")))?;
/// assert_eq!(outcome.report.counts.covered_units, 3); // it was the
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct PassagesRun<'a> {
    inputs: &'a Inputs,
    units: PassageUnits,
    occurrences: Occurrences,
    fields: Fields,
    on_bad_record: OnBadRecord,
    unique_ids: bool,
    batch_bytes: usize,
    limit: Option<NonZeroU64>,
    temporary: Option<PathBuf>,
    options: RunOptions<'a>,
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

    /// The folder for temporary files: copies of streams, and of compressed tables; default beside the results, or else the
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
    /// # Errors
    /// Any error of reading the inputs or writing the output, those of [`PassageSearch::find`], and [`Error::Stopped`] if
    /// the progress stops the run. After an error the folder holds no new results, and earlier ones are unchanged.
    pub fn report(self, folder: Option<&Path>) -> Result<PassagesOutcome> {
        let output = folder.map(|folder| self.open(folder)).transpose()?;
        let beside = || output.as_ref().map(OutputFolder::partial);
        let temporary = self.temporary.clone().or_else(beside);
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let mut timings = Timings::default();
        let (texts, places) = timings.time("read", 0, || self.read(&temporary))?;
        let search = PassageSearch::new(self.units.symbols()).occurrences(self.occurrences);
        let found = timings.time("compare", 0, || {
            let (symbols, ends) = texts.symbols();
            search.find(symbols, ends, self.options.progress)
        })?;
        let counts = timings.time("write", 0, || {
            self.write(output.as_ref(), &texts, &places, &found)
        })?;
        let parameters = PassageParameters {
            content_field: self.fields.content_names(),
            id_field: self.fields.id.to_string(),
            limit: self.limit.map(NonZeroU64::get),
            ..PassageParameters::of(self.units, self.occurrences)
        };
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

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        self.inputs.check_output_outside(folder)?;
        self.inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        OutputFolder::open(folder, self.options.overwrite)
    }

    /// Reads all documents into memory.
    fn read(&self, temporary: &Path) -> Result<(UnitTexts, Places)> {
        let progress = self.options.progress;
        let files = self.inputs.with_copy_of_stream(temporary, progress)?;
        progress.begin("read", files.iter().map(InputFile::stored_bytes).sum());
        let are_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, &files, (0, &are_held), Vec::new());
        let reading = Reading {
            wanted: Wanted::Document(&self.fields),
            columns: Columns::Needed,
            batch_bytes: self.batch_bytes,
            temporary: Some(temporary),
            beside: [None, None],
            limit: self.limit.map(NonZeroU64::get),
            reference: None,
        };
        let reading = FilesReading::new(&files, reading)?;
        let mut texts = UnitTexts::default();
        reading.map(
            |chunk| Ok(self.parse(&chunk)),
            |event| {
                match event {
                    Some(Event::Chunk((records, of_chunk))) => {
                        noted.note(records, row_number(texts.len())?)?;
                        texts.append(&of_chunk);
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

    /// The records of a chunk, and the texts of the good ones.
    fn parse(&self, chunk: &Chunk) -> (ChunkRecords, UnitTexts) {
        let mut batch = self.fields.empty_batch();
        let mut records = chunk.parse(&self.fields, |_| true, &mut batch);
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
    fn complete(&self, mut places: Places, documents: usize) -> Result<Places> {
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

    /// Writes and counts the pieces.
    fn write(
        &self,
        output: Option<&OutputFolder>,
        texts: &UnitTexts,
        places: &Places,
        found: &Passages,
    ) -> Result<PassageCounts> {
        let progress = self.options.progress;
        let field = self.fields.content_names();
        progress.begin("write", found.pieces().len() as u64);
        let mut counts = PassageCounts::of(texts, texts.spans(found));
        let lines = output.map(|output| output.create(PASSAGES)).transpose()?;
        let mut lines = lines.map(|(file, path)| JsonLines::new(file, path));
        for pieces in found.pieces().chunks(BLOCK) {
            for piece in pieces {
                let piece = texts.placed(piece);
                counts.add(&piece);
                if let Some(lines) = &mut lines {
                    lines.write(&PassageLine::of(&piece, places, &field)?)?;
                }
            }
            advance(progress, counts.pieces, 0, 0)?;
        }
        lines.map_or(Ok(()), JsonLines::finish)?;
        Ok(counts)
    }

    /// Writes what the run says of itself, and gives all files their names.
    fn commit(
        &self,
        output: OutputFolder,
        report: &PassageReport,
        timings: &Timings,
        elapsed_s: f64,
    ) -> Result<()> {
        create_json(&output, REPORT, report)?;
        let facts = Facts {
            command: &self.options.command,
            signer: None,
            memory_bytes: None,
        };
        let record = run_record(&facts, timings, elapsed_s, 0, output.files());
        create_json(&output, RUN_RECORD, &record)?;
        // Last chance to stop the run.
        advance(self.options.progress, report.counts.pieces, 0, 0)?;
        output.commit()
    }
}
