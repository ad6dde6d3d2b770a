//! Finds items of benchmarks in files.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::class::{Class, Hit, Rule};
use super::found::Found;
use super::items::ITEMS;
use super::read::ItemFields;
use super::report::{ContainParameters, ContainReport, HitEvidence, Tally, skipped_items};
use super::scan::{Contain, Scratch};
use crate::documents::DocumentBatch;
use crate::error::{Error, Result, row_number};
use crate::files::{ChunkRecords, Noted, RunOptions, check_compression_level, complete_places};
use crate::io::{
    Chunk, Columns, Event, FieldPath, FieldValues, Fields, FilesReading, InputFile, Inputs,
    OnBadRecord, OutputFolder, Reading, SkippedRecord, Wanted,
};
use crate::progress::{Timings, advance};
use crate::search::Notes;
use crate::store::spill::{Budget, JsonLines, Spill};

/// Bytes of memory for what is written to disk until all documents are read.
const SPILL_BYTES: usize = 64 << 20;

/// What to do with documents that hold items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ContainAction {
    /// List them.
    #[default]
    Report,
    /// Write the records but for documents with a hit of one of these classes.
    Drop(Vec<Class>),
}

impl ContainAction {
    /// The name.
    pub fn name(&self) -> &'static str {
        match self {
            ContainAction::Report => "report",
            ContainAction::Drop(_) => "drop",
        }
    }

    /// The classes whose documents are removed.
    pub(super) fn classes(&self) -> &[Class] {
        match self {
            ContainAction::Report => &[],
            ContainAction::Drop(classes) => classes,
        }
    }
}

/// The outcome of a search for items in files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContainOutcome {
    /// The counts and parameters. Equal inputs and options make equal reports.
    pub report: ContainReport,
    /// The elapsed times of the stages.
    pub timings: Timings,
    /// The elapsed seconds of the run, without the last renames.
    pub elapsed_s: f64,
}

/// A search for items of benchmarks in files. Set its options, then call [`ContainRun::run`]. Documents are read once, or
/// twice if records are written; memory holds the items alone.
///
/// ```
/// use simgpu::contain::ContainRun;
/// use simgpu::io::Inputs;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let question = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?";
/// std::fs::write(folder.join("items.jsonl"), format!("{{\"question\": \"{question}\"}}\n")).unwrap();
/// std::fs::write(folder.join("in.jsonl"), format!("{{\"text\": \"Today: {question}\"}}\n")).unwrap();
/// let [inputs, items] = ["in.jsonl", "items.jsonl"].map(|name| Inputs::find(&[folder.join(name)], None));
/// let outcome = ContainRun::new(&inputs?, &items?).run(Some(&folder.join("out")))?;
/// assert_eq!(outcome.report.counts.documents.contaminated, 1);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct ContainRun<'a> {
    pub(super) inputs: &'a Inputs,
    items: &'a Inputs,
    item_fields: ItemFields,
    rule: Rule,
    pub(super) action: ContainAction,
    samples: bool,
    fields: Fields,
    on_bad_record: OnBadRecord,
    unique_ids: bool,
    batch_bytes: usize,
    limit: Option<NonZeroU64>,
    temporary: Option<PathBuf>,
    pub(super) options: RunOptions<'a>,
}

impl std::fmt::Debug for ContainRun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContainRun")
            .field("inputs", &self.inputs)
            .field("items", &self.items)
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

impl<'a> ContainRun<'a> {
    /// A search for these items, with default options.
    pub fn new(inputs: &'a Inputs, items: &'a Inputs) -> Self {
        ContainRun {
            inputs,
            items,
            item_fields: ItemFields::default(),
            rule: Rule::default(),
            action: ContainAction::default(),
            samples: true,
            fields: Fields::of_form(false),
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            limit: None,
            temporary: None,
            options: RunOptions::default(),
        }
    }

    /// The fields of the items.
    pub fn item_fields(self, item_fields: ItemFields) -> Self {
        ContainRun {
            item_fields,
            ..self
        }
    }

    /// What decides whether an item is in a document.
    pub fn rule(self, rule: Rule) -> Self {
        ContainRun { rule, ..self }
    }

    /// What to do with documents that hold items; default [`ContainAction::Report`].
    pub fn action(self, action: ContainAction) -> Self {
        ContainRun { action, ..self }
    }

    /// Whether hits have the text found, and some around it; default true.
    pub fn samples(self, samples: bool) -> Self {
        ContainRun { samples, ..self }
    }

    /// The fields of a record; default `text` and `id`.
    pub fn fields(self, fields: Fields) -> Self {
        ContainRun { fields, ..self }
    }

    /// What the run does with a bad record, of documents or items; default [`OnBadRecord::Fail`].
    pub fn on_bad_record(self, on_bad_record: OnBadRecord) -> Self {
        ContainRun {
            on_bad_record,
            ..self
        }
    }

    /// Whether a repeated id is an error; default false.
    pub fn unique_ids(self, unique_ids: bool) -> Self {
        ContainRun { unique_ids, ..self }
    }

    /// The most bytes of input that threads may read ahead; default 16 MiB. Does not affect the result.
    pub fn batch_bytes(self, batch_bytes: usize) -> Self {
        ContainRun {
            batch_bytes,
            ..self
        }
    }

    /// Reads only the first `records` records of the inputs, in order, bad ones included.
    pub fn limit(self, records: NonZeroU64) -> Self {
        ContainRun {
            limit: Some(records),
            ..self
        }
    }

    /// The folder for temporary files; default beside the results, or else the current folder.
    pub fn temporary(self, folder: PathBuf) -> Self {
        ContainRun {
            temporary: Some(folder),
            ..self
        }
    }

    /// What it has in common with other runs.
    pub fn options(self, options: RunOptions<'a>) -> Self {
        ContainRun { options, ..self }
    }

    /// Finds the items and writes them into a folder: `hits.jsonl`, `items.jsonl`, `report.json` and `run.json`. Without a
    /// folder, writes nothing.
    ///
    /// A line of `hits.jsonl` is an item in a document, and one of `items.jsonl` an item with the documents that hold it. With
    /// [`ContainAction::Drop`], it reads the inputs again and writes the kept records of each into `kept/`, and the documents
    /// that are left out into `removed.jsonl`.
    ///
    /// # Errors
    /// Any error of reading inputs and items or writing the output, those of [`Contain::new`], and [`Error::Stopped`] if the
    /// progress stops the run. After an error the folder holds no new results, and earlier ones are unchanged.
    pub fn run(self, folder: Option<&Path>) -> Result<ContainOutcome> {
        self.check()?;
        let output = folder.map(|folder| self.open(folder)).transpose()?;
        let beside = || output.as_ref().map(OutputFolder::partial);
        let temporary = self.temporary.clone().or_else(beside);
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let mut timings = Timings::default();
        let files = self
            .inputs
            .with_copy_of_stream(&temporary, self.options.progress)?;
        if self.action != ContainAction::Report {
            let outputs = files.iter().map(|file| file.original_compression);
            check_compression_level(self.options.compression_level, outputs)?;
        }
        let (contain, item_records, skipped) =
            timings.time("items", 0, || self.read_items(&temporary))?;
        let spill = Spill::new(&Budget {
            memory: SPILL_BYTES,
            folder: temporary.clone(),
            run: None,
            unfinished: None,
        })?;
        let tally = Tally::new(&contain, item_records);
        let mut found =
            timings.time("read", 0, || self.read((&files, &temporary), tally, &spill))?;
        timings.time("write", 0, || {
            self.write(output.as_ref(), (&files, &temporary), &mut found)
        })?;
        let Found {
            places,
            tally,
            written,
            ..
        } = found;
        let (mut counts, benchmarks) = tally.finish();
        (counts.kept, counts.removed) = written;
        let report = ContainReport::new((counts, benchmarks), self.parameters(), &places, skipped);
        let elapsed_s = timings.complete(self.options.started);
        if let Some(output) = output {
            self.commit(output, &report, &timings, elapsed_s)?;
        }
        Ok(ContainOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    /// Refuses classes whose documents are never removed.
    fn check(&self) -> Result<()> {
        let classes = self.action.classes();
        let is_empty = self.action != ContainAction::Report && classes.is_empty();
        if is_empty || classes.contains(&Class::Short) {
            return Err(Error::Parameter {
                name: "`classes`",
                value: classes
                    .iter()
                    .map(|class| class.name())
                    .collect::<Vec<_>>()
                    .join(","),
                expected:
                    "some of contaminated, passage and template: what is too short to decide stays"
                        .to_owned(),
            });
        }
        Ok(())
    }

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        for inputs in [self.inputs, self.items] {
            inputs.check_output_outside(folder)?;
            inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        }
        OutputFolder::open(folder, self.options.overwrite)
    }

    /// The items, the number of their records, and the bad ones.
    fn read_items(&self, temporary: &Path) -> Result<(Contain, usize, Vec<SkippedRecord>)> {
        self.inputs.check_apart_from(self.items)?;
        let progress = self.options.progress;
        self.items.not_read().warn(progress);
        let files = &self.items.files;
        let (records, bad) =
            self.item_fields
                .read(files, temporary, self.on_bad_record, progress)?;
        if let (true, Some((_, first))) = (records.is_empty(), bad.first()) {
            return Err(Error::NoGoodRecord(first.clone()));
        }
        let count = records.len();
        let contain = Contain::new(records, self.rule).map_err(|error| of_file(files, error))?;
        Ok((contain, count, skipped_items(files, bad)))
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

    /// Reads all documents past the table of the items. Ids and hits wait on disk.
    fn read<'t>(
        &self,
        (files, temporary): (&[InputFile], &Path),
        mut tally: Tally<'t>,
        spill: &Arc<Spill>,
    ) -> Result<Found<'t>> {
        let progress = self.options.progress;
        progress.begin("read", files.iter().map(InputFile::stored_bytes).sum());
        let are_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, files, (0, &are_held), Vec::new());
        noted.spill(spill)?;
        let mut hits = JsonLines::new(spill, "hits");
        let mut removed = Vec::new();
        let (mut documents, mut bytes) = (0usize, 0u64);
        let reading = FilesReading::new(files, self.reading(Columns::Needed, temporary))?;
        let contain = tally.contain();
        reading.map(
            |chunk| Ok(self.scan(&chunk, contain)),
            |event| {
                match event {
                    Some(Event::Chunk((records, scanned))) => {
                        let first = row_number(documents)?;
                        noted.note(records, first)?;
                        for (row, document) in (first..).zip(&scanned) {
                            bytes += document.bytes as u64;
                            tally.add(row, document.bytes, &document.hits);
                            let removes = |hit: &&Hit| self.action.classes().contains(&hit.class);
                            let class = document
                                .hits
                                .iter()
                                .filter(removes)
                                .map(|hit| hit.class)
                                .min();
                            removed.extend(class.map(|class| (row, class)));
                            if !document.hits.is_empty() {
                                hits.push(&(row, &document.evidence))?;
                            }
                        }
                        documents += scanned.len();
                        row_number(documents)?;
                    }
                    Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                    Some(Event::Table(_)) | None => {}
                }
                advance(progress, reading.consumed(), documents as u64, bytes)
            },
        )?;
        hits.flush()?;
        let ids = (&self.fields.id, self.unique_ids);
        let places = complete_places(
            (noted.places, documents),
            ids,
            |places| places.find_repeated_ids(),
            [self.inputs],
            progress,
        )?;
        Ok(Found {
            places,
            tally,
            hits,
            removed,
            written: (None, None),
        })
    }

    /// The records of a chunk, and what the good ones hold.
    fn scan(&self, chunk: &Chunk, contain: &Contain) -> (ChunkRecords, Vec<Scanned>) {
        let mut batch = self.fields.empty_batch();
        let records = chunk.parse(&self.fields, |_| true, &mut batch);
        let mut scratch = Scratch::default();
        let mut scanned = Vec::new();
        if let DocumentBatch::Texts(texts) = &batch {
            for row in 0..texts.len() {
                let text = texts.get(row);
                let hits = contain.read(text, &mut scratch).hits;
                let sample = self.samples.then_some(text);
                let evidence = hits.iter().map(|hit| HitEvidence::of(hit, contain, sample));
                scanned.push(Scanned {
                    bytes: text.len(),
                    evidence: evidence.collect(),
                    hits,
                });
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
        (records, scanned)
    }

    fn parameters(&self) -> ContainParameters {
        let name = |field: Option<&FieldPath>| field.map_or(String::new(), ToString::to_string);
        let fields = &self.item_fields;
        let parts = [
            Some(&fields.question),
            fields.passage.as_ref(),
            fields.options.as_ref(),
            fields.answer.as_ref(),
        ];
        ContainParameters {
            size: self.rule.size,
            threshold: self.rule.threshold,
            min_ngrams: self.rule.min_ngrams,
            action: self.action.name(),
            classes: self
                .action
                .classes()
                .iter()
                .map(|class| class.name())
                .collect(),
            item_fields: parts.into_iter().map(name).collect(),
            item_id_field: fields.id.as_ref().map(ToString::to_string),
            benchmark_field: fields.benchmark.as_ref().map(ToString::to_string),
            content_field: self.fields.content_names(),
            id_field: self.fields.id.to_string(),
            limit: self.limit.map(NonZeroU64::get),
        }
    }
}

/// What is wrong with the items as an error of their first file.
fn of_file(files: &[InputFile], error: Error) -> Error {
    match (error, files.first()) {
        (
            Error::Parameter {
                name: ITEMS,
                value,
                expected,
            },
            Some(file),
        ) => Error::Input {
            path: file.named.clone(),
            problem: format!("the items are {value}"),
            remedy: format!("give {expected}"),
        },
        (error, _) => error,
    }
}

/// What a document holds.
struct Scanned {
    bytes: usize,
    hits: Vec<Hit>,
    evidence: Vec<HitEvidence>,
}
