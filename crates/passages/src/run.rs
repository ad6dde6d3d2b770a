//! Passages of documents in files.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::cuts::Snap;
use super::excerpts::Excerpts;
use super::overview::PassagesOverview;
use super::report::{PassageCounts, PassageParameters, PassageReport, PassagesFormat};
use super::rewrite::{check_cut_fields, check_marks};
use super::search::PassageSearch;
use super::sources::Occurrences;
use super::units::{PassageUnit, PassageUnits};
use simgpu::error::{Conflict, Error, Result};
use simgpu::machine::usable_memory_bytes;
use simgpu::progress::Timings;
use simgpu::store::spill::{Budget, Spill};
use simgpu_files::{
    RunOptions, UncheckedPlaces, by_name, check_compression_level, ended, identity, ranks_of_files,
    unfinished,
};
use simgpu_io::{
    Columns, Fields, Globs, InputFile, Inputs, Leftovers, LongestRecord, OnBadRecord, OutputFolder,
    Places, Reading, Repeated, Wanted,
};

/// What to do with passages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PassageAction {
    /// List them.
    #[default]
    Report,
    /// Write the records without them.
    Cut,
    /// Write all records, each with a field of the places of its passages.
    Mark,
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
            PassageAction::Mark => "mark",
            PassageAction::Drop { .. } => "drop",
        }
    }

    /// Whether records are written.
    pub(super) fn writes_records(self) -> bool {
        self != PassageAction::Report
    }

    /// Whether texts or documents may be removed.
    pub(super) fn removes(self) -> bool {
        matches!(self, PassageAction::Cut | PassageAction::Drop { .. })
    }
}

/// What a report tells of passages.
pub(super) type Told = (PassageCounts, PassagesOverview);

/// What was found and written, and the files of a run on disk.
type FoundAndWritten = (Told, Excerpts, Places, Option<Arc<Spill>>);

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
/// use simgpu_io::Inputs;
/// use simgpu_passages::{PassageUnit, PassageUnits, PassagesRun};
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
    pub(super) against: Option<(&'a Inputs, Fields)>,
    pub(super) only_against: bool,
    pub(super) prefer_source: Globs,
    pub(super) units: PassageUnits,
    pub(super) occurrences: Occurrences,
    pub(super) min_count: u32,
    pub(super) other_documents: bool,
    pub(super) action: PassageAction,
    pub(super) mark_field: String,
    pub(super) snap: Snap,
    pub(super) min_left: Option<NonZeroU64>,
    pub(super) memory: Option<u64>,
    pub(super) fields: Fields,
    pub(super) on_bad_record: OnBadRecord,
    pub(super) unique_ids: bool,
    pub(super) batch_bytes: usize,
    pub(super) limit: Option<NonZeroU64>,
    pub(super) temporary: Option<PathBuf>,
    pub(super) samples: bool,
    pub(super) format: PassagesFormat,
    pub(super) restart: bool,
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
            against: None,
            only_against: false,
            prefer_source: Globs::default(),
            units,
            occurrences: Occurrences::default(),
            min_count: 2,
            other_documents: false,
            action: PassageAction::default(),
            mark_field: "passages".to_owned(),
            snap: Snap::default(),
            min_left: None,
            memory: None,
            fields: Fields::for_form(units.unit == PassageUnit::Tokens),
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            limit: None,
            temporary: None,
            samples: true,
            format: PassagesFormat::default(),
            restart: false,
            options: RunOptions::default(),
        }
    }

    /// Compares the inputs with a reference, whose records have these fields. Its documents come first: what occurs there is a
    /// passage of the inputs. It has no passages, is never written, has no limit, and counts apart.
    pub fn against(self, reference: &'a Inputs, fields: Fields) -> Self {
        PassagesRun {
            against: Some((reference, fields)),
            ..self
        }
    }

    /// Covers only passages that occur in the reference; default false.
    pub fn only_against(self, only_against: bool) -> Self {
        PassagesRun {
            only_against,
            ..self
        }
    }

    /// Reads the input files that match the first pattern before all others, then those that match the second, and so on, so
    /// that they are the sources of passages. Patterns match the names of files in reports.
    pub fn prefer_source(self, prefer_source: Globs) -> Self {
        PassagesRun {
            prefer_source,
            ..self
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

    /// The field that [`PassageAction::Mark`] adds to each record; default `passages`. Its value is a list of pairs, the
    /// beginning and end of each covered part, in bytes of the text or in tokens. A record that has the field is an error.
    pub fn mark_field(self, field: &str) -> Self {
        PassagesRun {
            mark_field: field.to_owned(),
            ..self
        }
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
    /// on disk, with the same results.
    pub fn memory(self, bytes: u64) -> Self {
        PassagesRun {
            memory: Some(bytes),
            ..self
        }
    }

    /// The fields of a record; default `text`, or `tokens` for [`PassageUnit::Tokens`], and `id`.
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

    /// The folder for temporary files: copies of streams and of compressed tables, and a search on disk. Default beside the
    /// results, or else the current folder.
    pub fn temporary(self, folder: PathBuf) -> Self {
        PassagesRun {
            temporary: Some(folder),
            ..self
        }
    }

    /// Whether `report.html` shows texts; default true.
    pub fn samples(self, samples: bool) -> Self {
        PassagesRun { samples, ..self }
    }

    /// The format of the file of passages; default [`PassagesFormat::JsonLines`].
    pub fn format(self, format: PassagesFormat) -> Self {
        PassagesRun { format, ..self }
    }

    /// Whether to begin anew where a run with the same output was stopped; default false: the run goes on from the last
    /// checkpoint of that one. Runs make checkpoints once they work on disk, if the output is a folder: while the inputs are
    /// read first, and after each stage. After an error that ends such a run, [`Error::Resumable`], the same run goes on,
    /// also with another number of threads or another [`PassagesRun::memory`]. One with other inputs or options is refused.
    pub fn restart(self, restart: bool) -> Self {
        PassagesRun { restart, ..self }
    }

    /// What it has in common with other runs.
    pub fn options(self, options: RunOptions<'a>) -> Self {
        PassagesRun { options, ..self }
    }

    /// Finds the passages and writes them into a folder: `passages.jsonl`, `report.html` (a page that shows the result),
    /// `report.json` and `run.json`. Without a folder, writes nothing.
    ///
    /// A line of `passages.jsonl` is a piece: `id`, `file`, `row`, `field`, `start` and `end` in bytes of the text,
    /// `source_id`, `source_file`, `source_row`, `source_start`, `source_end`, `length` in units, and `exact`: whether all
    /// bytes are the same, not only the units.
    ///
    /// But for [`PassageAction::Report`], it reads the inputs again and writes the kept records of each into `kept/`. With
    /// [`PassageAction::Cut`] and [`PassageAction::Drop`] it writes what was cut out of each document into `cuts.jsonl`, and
    /// the documents that are removed into `removed.jsonl`.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, those of [`PassageSearch::find`](super::PassageSearch::find),
    /// [`Conflict::PassageMemory`](simgpu::error::Conflict::PassageMemory), and [`Error::Stopped`] if the progress stops the
    /// run. After an error the folder holds no new results, and earlier ones are unchanged.
    pub fn run(self, folder: Option<&Path>) -> Result<PassagesOutcome> {
        self.check()?;
        let partial = folder.map(OutputFolder::partial_of);
        let temporary = self.temporary.clone().or(partial);
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let outcome = self.run_into(folder, &temporary);
        ended(outcome, &temporary, folder, self.options.progress)
    }

    fn run_into(&self, folder: Option<&Path>, temporary: &Path) -> Result<PassagesOutcome> {
        let output = folder.map(|folder| self.open(folder)).transpose()?;
        let mut timings = Timings::default();
        let files = self.files(temporary)?;
        let budget = self.disk_budget(output.as_ref(), (&files, temporary))?;
        if self.action.writes_records() {
            let outputs = files[self.of_reference()..]
                .iter()
                .map(|file| file.original_compression);
            check_compression_level(self.options.compression_level, outputs)?;
        }
        let from = (&*files, temporary);
        let (told, excerpts, places, spill) =
            self.find_and_write(output.as_ref(), from, &budget, &mut timings)?;
        let report = PassageReport::new(told, self.parameters(), &places);
        if let Some(output) = &output {
            output.write_page(&report.page(&excerpts))?;
        }
        let elapsed_s = timings.complete(self.options.started);
        if let Some(output) = output {
            let resumed = spill.as_ref().map_or(0, |spill| spill.resumed());
            self.commit(output, &report, &timings, (elapsed_s, resumed))?;
        }
        if let Some(spill) = spill {
            spill.complete();
        }
        Ok(PassagesOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    /// The number of files of the reference.
    pub(super) fn of_reference(&self) -> usize {
        self.against
            .as_ref()
            .map_or(0, |(reference, _)| reference.files.len())
    }

    /// All files: those of the reference, then the inputs, preferred ones first.
    fn files(&self, temporary: &Path) -> Result<Vec<InputFile>> {
        let progress = self.options.progress;
        let mut files = Vec::new();
        if let Some((reference, _)) = &self.against {
            self.inputs.check_apart_from(reference)?;
            files.clone_from(&reference.files);
        }
        let inputs = self.inputs.with_copy_of_stream(temporary, progress)?;
        let names = inputs.iter().map(|file| Some(&*file.relative));
        let ranks = ranks_of_files(&self.prefer_source, names, &|warning| {
            progress.warn(warning)
        })?;
        let mut ranked: Vec<(u32, InputFile)> = ranks.into_iter().zip(inputs).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        files.extend(ranked.into_iter().map(|(_, file)| file));
        Ok(files)
    }

    /// The inputs, and the reference.
    fn all_inputs(&self) -> impl Iterator<Item = &'a Inputs> {
        let against = self.against.as_ref().map(|(reference, _)| *reference);
        std::iter::once(self.inputs).chain(against)
    }

    /// Finds and writes passages, in memory if all fits there.
    fn find_and_write(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
        budget: &Budget,
        timings: &mut Timings,
    ) -> Result<FoundAndWritten> {
        let on_disk = |known: Option<Places>, timings: &mut Timings| {
            let spill = match &budget.unfinished {
                Some(spill) => Arc::clone(spill),
                None => Spill::new(budget)?,
            };
            let from = (files, temporary);
            let found = self.run_on_disk(output, from, (&spill, known), timings);
            found.map(|(told, excerpts, places)| (told, excerpts, places, Some(spill)))
        };
        if budget.unfinished.is_some() {
            return on_disk(None, timings);
        }
        let is_too_large =
            |error: &Error| matches!(error, Error::Conflict(Conflict::PassageMemory { .. }));
        let read = timings.time("read", 0, || self.read(files, temporary));
        let (texts, places) = match read {
            Err(error) if is_too_large(&error) => {
                return on_disk(None, timings);
            }
            read => read?,
        };
        let found = match self.find(&texts, timings) {
            Err(error) if is_too_large(&error) => {
                drop(texts);
                return on_disk(Some(places), timings);
            }
            found => found?,
        };
        let written = timings.time("write", 0, || {
            let (mut counts, overview, parts) = self.write(output, &texts, &places, &found)?;
            let mut excerpts = self.excerpts(output, parts);
            excerpts.take_all(&texts, &found.cuts);
            if let Some(output) = output.filter(|_| self.action.writes_records()) {
                self.write_kept(output, (files, temporary), &places, &found.cuts)?;
            }
            if self.action.removes() {
                counts.add_cuts(&texts, &found.cuts, found.lost);
            }
            Ok::<_, Error>(((counts, overview), excerpts))
        });
        let (told, excerpts) = written?;
        Ok((told, excerpts, places, None))
    }

    /// Memory and folder of a run on disk, and its files if it was stopped before.
    fn disk_budget(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
    ) -> Result<Budget> {
        let memory = self.budget().unwrap_or_default() / 2;
        // More than can be addressed is never asked for; less only makes more parts.
        let memory = usize::try_from(memory).unwrap_or_default();
        let output = output.filter(|_| !self.inputs.names_stream());
        let run = output.map(|output| {
            let against = self.against.as_ref().map(|_| self.of_reference());
            let beside = [
                ("against", json!(against)),
                ("compression_level", json!(self.options.compression_level)),
            ];
            let mut parameters = by_name(&self.parameters(), beside);
            let name = if self.fields.is_tokens {
                "tokens_field"
            } else {
                "text_field"
            };
            // As the options are named.
            for (reported, name) in [
                ("content_field", name),
                ("against_content_field", "against_text_field"),
            ] {
                let field = parameters.remove(reported);
                parameters.extend(field.map(|field| (name.to_owned(), field)));
            }
            identity(output.path(), parameters, files)
        });
        let run = run.transpose()?;
        let unfinished = match &run {
            Some(run) => unfinished(run, temporary, memory, self.restart)?,
            None => None,
        };
        Ok(Budget {
            memory,
            folder: temporary.to_owned(),
            run: run.map(Arc::new),
            unfinished,
        })
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
        self.check_reference()?;
        self.check_tokens()?;
        self.check_marks()?;
        self.check_units()?;
        if self.action == PassageAction::Cut {
            check_cut_fields(&self.fields)?;
        }
        Ok(())
    }

    /// Refuses a choice among passages of a reference without one, or of all occurrences.
    fn check_reference(&self) -> Result<()> {
        if self.only_against && (self.against.is_none() || self.occurrences == Occurrences::All) {
            return Err(Error::Parameter {
                name: "`only_against`",
                value: "true".to_owned(),
                expected: "a reference beside it, `against`, and `occurrences=later`".to_owned(),
            });
        }
        Ok(())
    }

    /// Refuses a field for marks in files whose records get none.
    fn check_marks(&self) -> Result<()> {
        if self.action != PassageAction::Mark {
            return Ok(());
        }
        check_marks(self.inputs, &self.mark_field)
    }

    /// Refuses words of programs, and equal bytes of what is normalised.
    fn check_units(&self) -> Result<()> {
        self.units.check()?;
        match self.inputs.first_code().filter(|_| self.units.unit == PassageUnit::Words) {
            None => Ok(()),
            Some(path) => Err(Error::Input {
                path: path.to_owned(),
                problem: "this is program text, of which `unit=words` leaves out the operators: `a + b` and `a - b` have equal words".to_owned(),
                remedy: "pass `unit=code`, or `format=text` to read it as other text".to_owned(),
            }),
        }
    }

    /// Refuses tokens of texts, texts of tokens, and cuts of lists.
    fn check_tokens(&self) -> Result<()> {
        let is_tokens = self.units.unit == PassageUnit::Tokens;
        let against = self.against.as_ref().map(|(_, fields)| fields);
        let mut fields = std::iter::once(&self.fields).chain(against);
        if fields.any(|fields| fields.is_tokens != is_tokens || fields.weights.is_some()) {
            return Err(Error::Parameter {
                name: "`unit`",
                value: self.units.unit.to_string(),
                expected: if is_tokens {
                    "a unit of texts, or fields of tokens without weights".to_owned()
                } else {
                    "tokens, or fields of texts".to_owned()
                },
            });
        }
        if is_tokens && self.action == PassageAction::Cut {
            return Err(Error::Parameter {
                name: "`action`",
                value: self.action.name().to_owned(),
                expected: "report, mark or drop with `unit=tokens`: lists of tokens are not cut"
                    .to_owned(),
            });
        }
        Ok(())
    }

    fn parameters(&self) -> PassageParameters {
        let against = self.against.as_ref().map(|(_, fields)| fields);
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
            lowercase: self.units.normalise.lowercase,
            strip_punctuation: self.units.normalise.strip_punctuation,
            merge_whitespace: !self.units.normalise.keep_whitespace,
            mask_digits: self.units.mask_digits,
            action: self.action.name(),
            max_covered: match self.action {
                PassageAction::Drop { max_covered } => Some(max_covered),
                PassageAction::Report | PassageAction::Cut | PassageAction::Mark => None,
            },
            mark_field: (self.action == PassageAction::Mark).then(|| self.mark_field.clone()),
            snap: (self.action == PassageAction::Cut).then(|| self.snap.name()),
            min_left: self.min_left.map(NonZeroU64::get),
            content_field: self.fields.content_names(),
            id_field: self.fields.id.to_string(),
            against_content_field: against.map(Fields::content_names),
            against_id_field: against.map(|fields| fields.id.to_string()),
            only_against: self.only_against,
            prefer_source: self.prefer_source.patterns().map(str::to_owned).collect(),
            limit: self.limit.map(NonZeroU64::get),
        }
    }

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        for inputs in self.all_inputs() {
            inputs.check_output_outside(folder)?;
            inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        }
        OutputFolder::open(folder, self.options.overwrite, Leftovers::Remove)
    }

    pub(super) fn reading<'r>(&'r self, columns: Columns, temporary: &'r Path) -> Reading<'r> {
        Reading {
            columns,
            batch_bytes: self.batch_bytes,
            temporary: Some(temporary),
            limit: self.limit.map(NonZeroU64::get),
            reference: self
                .against
                .as_ref()
                .map(|(reference, fields)| (reference.files.len(), Wanted::Document(fields))),
            // In memory twice, as a record and as a text, which may take three quarters.
            longest: LongestRecord::within(self.memory).with_share([3, 8]),
            ..Reading::new(Wanted::Document(&self.fields))
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

    /// Completes the places of so many documents, and warns of what is odd about them. Notes what it counts for the next
    /// checkpoint, or takes it from the last one.
    pub(super) fn complete(
        &self,
        places: Places,
        documents: usize,
        spill: Option<&Spill>,
    ) -> Result<Places> {
        let unchecked = UncheckedPlaces {
            places,
            documents,
            id_field: &self.fields.id,
            unique_ids: self.unique_ids,
        };
        let repeated = |places: &mut Places| {
            let known = spill.and_then(|spill| spill.state::<Repeated>(IDS));
            let repeated = known.map_or_else(|| places.find_repeated_ids(), Ok)?;
            spill.map_or(Ok(()), |spill| spill.note(IDS, &repeated))?;
            Ok(repeated)
        };
        unchecked.complete(repeated, self.all_inputs(), self.options.progress)
    }
}

/// The name of the search for repeated ids, for checkpoints.
pub(super) const IDS: &str = "ids";
