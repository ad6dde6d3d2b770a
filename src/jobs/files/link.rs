//! Links records in files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rayon::prelude::*;

use super::link_report::{HistogramBin, LinkParameters, LinkReport, file_reports};
use super::machine::{Facts, run_record};
use super::noted::{ChunkRecords, Noted};
use crate::documents::{DocumentBatch, TokenBatch};
use crate::error::{Error, Result};
use crate::io::{
    Columns, EntityToWrite, Event, FieldPath, FieldToWrite, FieldValues, Fields, FilesReading,
    Inputs, LinkToWrite, OnBadRecord, OutputFolder, Placed, Places, REPORT, RUN_RECORD, Reading,
    Record, link_line, write_entities, write_json,
};
use crate::jobs::first_pass::Notes;
use crate::jobs::link::{Link, Linked, RecordLink, link};
use crate::progress::{Progress, Silent, Timings, advance};

/// The file of the links.
const LINKS: &str = "links.jsonl";

/// The file of the entities of one file.
const ENTITIES: &str = "entities.jsonl";

/// The page of the report.
const PAGE: &str = "report.html";

/// Links explained and written at a time.
const BLOCK: usize = 1 << 14;

/// A search in files for records that describe the same thing. Set its options, then call [`LinkRun::link`].
///
/// ```
/// use simgpu::io::{FieldPath, Inputs};
/// use simgpu::jobs::{Link, LinkRun};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// # std::fs::write(folder.join("a.csv"), "id,name\n1,Ann Smith\n2,Bob Jones\n").unwrap();
/// # std::fs::write(folder.join("b.csv"), "id,name\n7,Bob Jones\n8,Anne Smith\n").unwrap();
/// let a = Inputs::find(&[folder.join("a.csv")], None)?;
/// let b = Inputs::find(&[folder.join("b.csv")], None)?;
/// let task = Link { threshold: Some(0.3), ..Link::default() };
/// let run = LinkRun::new(&a, vec![FieldPath::new("name")]).with(&b);
/// let outcome = run.link(&task, Some(&folder.join("out")))?;
/// assert_eq!(outcome.report.counts.links, 2);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct LinkRun<'a> {
    first: &'a Inputs,
    second: Option<&'a Inputs>,
    fields: Fields,
    on_bad_record: OnBadRecord,
    unique_ids: bool,
    batch_bytes: usize,
    overwrite: bool,
    page: Option<fn(&LinkReport) -> String>,
    temporary: Option<PathBuf>,
    progress: &'a dyn Progress,
    command: Vec<String>,
    start: Instant,
}

impl std::fmt::Debug for LinkRun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkRun")
            .field("first", &self.first)
            .field("second", &self.second)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// The outcome of a search for links in files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkOutcome {
    /// The counts, parameters and expectations. Equal inputs and options make equal reports.
    pub report: LinkReport,
    /// The elapsed times of the stages.
    pub timings: Timings,
    /// The elapsed seconds of the run, without the last renames.
    pub elapsed_s: f64,
}

impl<'a> LinkRun<'a> {
    /// A search among the records of one file or more, which are one collection, by these fields.
    pub fn new(inputs: &'a Inputs, fields: Vec<FieldPath>) -> Self {
        LinkRun {
            first: inputs,
            second: None,
            fields: Fields {
                content: fields,
                is_record: true,
                ..Fields::default()
            },
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            overwrite: false,
            page: None,
            temporary: None,
            progress: &Silent,
            command: Vec::new(),
            start: Instant::now(),
        }
    }

    /// Links the records to those of a second collection.
    pub fn with(self, second: &'a Inputs) -> Self {
        LinkRun {
            second: Some(second),
            ..self
        }
    }

    /// The field of the id, and whether every record must have one; default `id`, which may be missing: then all ids are
    /// `file:row`.
    pub fn id_field(self, id: FieldPath, id_required: bool) -> Self {
        let fields = Fields {
            id,
            id_required,
            ..self.fields
        };
        LinkRun { fields, ..self }
    }

    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub fn on_bad_record(self, on_bad_record: OnBadRecord) -> Self {
        LinkRun {
            on_bad_record,
            ..self
        }
    }

    /// Whether an id that occurs twice in one collection is an error; default false.
    pub fn unique_ids(self, unique_ids: bool) -> Self {
        LinkRun { unique_ids, ..self }
    }

    /// The most bytes of input that threads may read ahead; default 16 MiB. Does not affect the result.
    pub fn batch_bytes(self, batch_bytes: usize) -> Self {
        LinkRun {
            batch_bytes,
            ..self
        }
    }

    /// Whether to replace the results of an earlier run; default false.
    pub fn overwrite(self, overwrite: bool) -> Self {
        LinkRun { overwrite, ..self }
    }

    /// What makes `report.html` of the report; default nothing, and no such file.
    pub fn page(self, page: fn(&LinkReport) -> String) -> Self {
        LinkRun {
            page: Some(page),
            ..self
        }
    }

    /// The folder for temporary files: copies of streams, and of compressed tables; default beside the results, or else the
    /// current folder.
    pub fn temporary(self, folder: PathBuf) -> Self {
        LinkRun {
            temporary: Some(folder),
            ..self
        }
    }

    /// The receiver of progress, which can stop the run; default [`Silent`].
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        LinkRun { progress, ..self }
    }

    /// The moment at which the run started, if preparations belong to it; default: when the run was made.
    pub fn started(self, start: Instant) -> Self {
        LinkRun { start, ..self }
    }

    /// The command line to state in `run.json`; default empty.
    pub fn command(self, command: Vec<String>) -> Self {
        LinkRun { command, ..self }
    }

    /// Finds the links and writes them into a folder: `links.jsonl` (both ids and places, the score, the similarity of each
    /// field, the rarest shared symbols, and the runner-up), with one collection `entities.jsonl` (the entity of every
    /// record), `report.json` and `run.json`. Without a folder, writes nothing.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, those of [`link`], and [`Error::Stopped`] if the progress
    /// stops the run. After an error the folder holds no new results, and earlier ones are unchanged.
    pub fn link(self, task: &Link, folder: Option<&Path>) -> Result<LinkOutcome> {
        let output = folder.map(|folder| self.open(folder)).transpose()?;
        let beside = || output.as_ref().map(OutputFolder::partial);
        let temporary = self.temporary.clone().or_else(beside);
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let mut timings = Timings::default();
        let first = timings.time("read", 0, || self.read(self.first, &temporary))?;
        let second = self.second.map(|inputs| self.read(inputs, &temporary));
        let second = second.transpose()?;
        let mut linked = link(
            &first.records,
            second.as_ref().map(|file| &file.records),
            task,
            self.progress,
        )?;
        timings.0.append(&mut linked.timings.0);
        let files: Vec<&Places> = [Some(&first), second.as_ref()]
            .into_iter()
            .flatten()
            .map(|file| &file.places)
            .collect();
        linked.counts.skipped = files.iter().map(|file| file.skipped.len() as u64).sum();
        let written = Writing {
            linked: &linked,
            files: &files,
            names: self.fields.content.iter().map(FieldPath::to_string).collect(),
        };
        let report = self.report(task, &written)?;
        if let Some(output) = &output {
            timings.time("write", 0, || self.write(output, &written))?;
        }
        let elapsed_s = timings.complete(self.start);
        if let Some(output) = output {
            let (mut file, path) = output.create(REPORT)?;
            write_json(&mut file, &report).map_err(Error::io("write", path))?;
            if let Some(page) = self.page {
                let (mut file, path) = output.create(PAGE)?;
                let page = page(&report);
                file.write_all(page.as_bytes())
                    .map_err(Error::io("write", path))?;
            }
            let facts = Facts {
                command: &self.command,
                signer: None,
                memory_bytes: None,
            };
            let record = run_record(&facts, &timings, elapsed_s, 0, output.files());
            let (mut file, path) = output.create(RUN_RECORD)?;
            write_json(&mut file, &record).map_err(Error::io("write", path))?;
            // Last chance to stop the run.
            let links = report.counts.links;
            advance(self.progress, links, links, 0)?;
            output.commit()?;
        }
        Ok(LinkOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        for inputs in [Some(self.first), self.second].into_iter().flatten() {
            inputs.check_output_outside(folder)?;
            inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        }
        OutputFolder::open(folder, self.overwrite)
    }

    /// Reads the records of a collection.
    fn read(&self, inputs: &Inputs, temporary: &Path) -> Result<RecordsFile> {
        let progress = self.progress;
        let files = inputs.with_copy_of_stream(temporary, |bytes| advance(progress, bytes, 0, bytes))?;
        let stored = files.iter().map(crate::io::InputFile::stored_bytes).sum();
        progress.begin("read", stored);
        let are_held = AtomicBool::new(false);
        let mut noted = Noted::new(self.on_bad_record, &files, (0, &are_held), Vec::new());
        let temporary: PathBuf = temporary.to_owned();
        let reading = FilesReading::new(
            &files,
            Reading {
                fields: &self.fields,
                columns: Columns::Needed,
                batch_bytes: self.batch_bytes,
                temporary: Some(&temporary),
                keep_by: None,
                limit: None,
            },
        )?;
        let mut records = TokenBatch::default();
        let mut bytes = 0;
        let parse = |chunk: crate::io::Chunk| {
            let mut batch = self.fields.empty_batch();
            let parsed = chunk.parse(&self.fields, |_| true, &mut batch);
            let of_chunk = ChunkRecords {
                file: chunk.file,
                records: parsed,
                values: Ok(FieldValues::default()),
                bytes: chunk.bytes(),
                chunk: None,
            };
            Ok((of_chunk, batch))
        };
        reading.map(parse, |event| {
            match event {
                Some(Event::Chunk((of_chunk, DocumentBatch::Tokens(batch)))) => {
                    let row = u32::try_from(records.len()).map_err(|_| Error::TooManyDocuments)?;
                    bytes += of_chunk.bytes as u64;
                    let is_good = |record: &&Record| matches!(record, Record::Document(_));
                    debug_assert_eq!(of_chunk.records.iter().filter(is_good).count(), batch.len());
                    noted.note(of_chunk, row)?;
                    records.append(&batch);
                }
                Some(Event::End { file, fingerprint }) => noted.end_file(file, fingerprint)?,
                Some(Event::Table(_) | Event::Chunk(_)) | None => {}
            }
            advance(progress, reading.consumed(), records.len() as u64, bytes)
        })?;
        let mut places = noted.places;
        if let (0, Some(first)) = (records.len(), places.skipped.first()) {
            return Err(Error::NoGoodRecord(first.record.clone()));
        }
        places.fill_first_rows(u32::try_from(records.len()).unwrap_or(u32::MAX));
        let repeated = places.find_repeated_ids()?;
        places.count_repeated_ids(repeated, self.unique_ids)?;
        let file = RecordsFile { records, places };
        self.warn(&file, inputs);
        Ok(file)
    }

    /// Warns of repeated ids, of inputs given twice, and of fields that no record has.
    fn warn(&self, file: &RecordsFile, inputs: &Inputs) {
        super::outcome::warn_of_repeated_ids(self.progress, file.places.repeated_ids);
        for path in &inputs.repeated {
            let path = path.display();
            self.progress.warn(&format!(
                "{path} was given more than once and is read only once"
            ));
        }
        let names: Vec<&str> = inputs.names().take(2).collect();
        let name = match names[..] {
            [name] => name,
            _ => "the inputs",
        };
        if file.records.is_empty() {
            self.progress.warn(&format!("{name} hold no records"));
            return;
        }
        for (i, field) in self.fields.content.iter().enumerate() {
            let has_value = |row| file.records.tokens(row).nth(i).is_some_and(|v| !v.is_empty());
            if !(0..file.records.len()).any(has_value) {
                self.progress.warn(&format!(
                    "no record of {name} has a value in field \"{field}\"; check `fields`"
                ));
            }
        }
    }

    fn write(&self, output: &OutputFolder, writing: &Writing<'_>) -> Result<()> {
        let progress = self.progress;
        let links: Vec<RecordLink> = writing.linked.links().collect();
        progress.begin("write", links.len() as u64);
        let (mut file, path) = output.create(LINKS)?;
        let mut done = 0;
        for block in links.chunks(BLOCK) {
            let lines: Vec<Vec<u8>> = block
                .par_iter()
                .map(|link| link_line(&writing.link(link)))
                .collect::<Result<_>>()?;
            file.write_all(&lines.concat())
                .map_err(Error::io("write", &path))?;
            done += block.len() as u64;
            advance(progress, done, done, 0)?;
        }
        if let (Some(entities), [places]) = (writing.linked.entities(), writing.files) {
            let mut scores = vec![None; entities.len()];
            for link in &links {
                scores[link.b as usize] = Some(link.score);
            }
            let records = (0..).zip(entities).zip(&scores);
            let records = records.map(|((row, first), score)| EntityToWrite {
                row,
                first: *first,
                score: *score,
            });
            let (file, path) = output.create(ENTITIES)?;
            write_entities(records, places, file, &path)?;
        }
        Ok(())
    }

    fn report(&self, task: &Link, writing: &Writing<'_>) -> Result<LinkReport> {
        let linked = writing.linked;
        let sides = [Some(self.first), self.second];
        let inputs: Vec<&Inputs> = sides.into_iter().flatten().collect();
        Ok(LinkReport {
            simgpu_report: crate::io::REPORT_VERSION,
            command: "link",
            counts: linked.counts.clone(),
            parameters: LinkParameters {
                fields: writing.names.clone(),
                id_field: self.fields.id.to_string(),
                score: task.score.name(),
                matching: (inputs.len() == 2).then(|| task.matching.name()),
                threshold: task.threshold,
                share: task.share,
                equivalents: task.equivalents.len() as u64,
            },
            floor: linked.floor,
            estimate: linked.estimate.clone(),
            histogram: linked
                .histogram()
                .map(|(score, pairs)| HistogramBin::new(score, pairs))
                .collect(),
            examples: writing.examples()?,
            files: file_reports(writing.files),
        })
    }
}

/// The records of a collection, and where they are.
struct RecordsFile {
    records: TokenBatch,
    places: Places,
}

/// What is written of the links.
struct Writing<'a> {
    linked: &'a Linked<'a>,
    /// The places of the records of one or two collections.
    files: &'a [&'a Places],
    /// The names of the fields.
    names: Vec<String>,
}

impl Writing<'_> {
    /// Where both records of a pair are.
    fn placed(&self, rows: [u32; 2]) -> [Placed<'_>; 2] {
        let last = self.files.len() - 1;
        [(0, rows[0]), (last, rows[1])].map(|(file, row)| Placed {
            places: self.files[file],
            row,
        })
    }

    fn link(&self, link: &RecordLink) -> LinkToWrite<'_> {
        let explanation = self.linked.explain(link);
        let fields = self.names.iter().zip(explanation.similarities);
        LinkToWrite {
            records: self.placed([link.a, link.b]),
            score: link.score,
            fields: fields
                .map(|(name, similarity)| FieldToWrite {
                    name,
                    similarity,
                    points: None,
                })
                .collect(),
            shared: explanation.shared,
            runner_up: link
                .runner_up
                .map(|other| (self.placed([other.a, other.b]), other.score)),
        }
    }

    /// The accepted and rejected pairs next to the threshold.
    fn examples(&self) -> Result<Vec<serde_json::Value>> {
        let of_links = self.linked.examples();
        let lines = of_links.iter().map(|(link, is_accepted)| {
            let line = link_line(&self.link(link))?;
            let mut example: serde_json::Value = serde_json::from_slice(&line)
                .map_err(|error| Error::Defect(format!("a link is no JSON: {error}")))?;
            example["accepted"] = (*is_accepted).into();
            example["values"] = self.linked.values(link).into();
            Ok(example)
        });
        lines.collect()
    }
}
