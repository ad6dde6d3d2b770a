//! Finds items of benchmarks in files.

mod reading;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use crate::action::ContainAction;
use crate::class::Rule;
use crate::found::{Found, found_at};
use crate::hits_output::HitsFormat;
use crate::read::ItemFields;
use crate::report::{ContainParameters, ContainReport, FoundPhrases, Tally};
use simgpu::error::Result;
use simgpu::progress::Timings;
use simgpu::store::spill::{Budget, Spill};
use simgpu_files::{RunOptions, check_compression_level, remove_left, resumable};
use simgpu_io::{
    FieldPath, Fields, Inputs, Leftovers, OnBadRecord, OutputFolder, check_not_overwritten,
};
use simgpu_passages::{check_cut_fields, check_marks};

/// Bytes of memory for what is written to disk until all documents are read.
const SPILL_BYTES: usize = 64 << 20;

/// Phrases in a report.
const LISTED: usize = 20;

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
/// use simgpu_contain::ContainRun;
/// use simgpu_io::Inputs;
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
    #[doc(hidden)]
    pub inputs: &'a Inputs,
    #[doc(hidden)]
    pub items: &'a Inputs,
    /// The fields of the items.
    pub item_fields: ItemFields,
    /// What decides whether an item is in a document.
    pub rule: Rule,
    /// What to do with documents that hold items; default [`ContainAction::Report`].
    pub action: ContainAction,
    /// The field that [`ContainAction::Mark`] adds to each record; default `contained`. Its value is a list of pairs, the
    /// first byte and the end of each place in the text.
    pub mark_field: String,
    /// Whether hits, and the page, have the text found, and some around it; default true.
    pub samples: bool,
    /// The format of the list of hits; default [`HitsFormat::JsonLines`].
    pub hits_format: HitsFormat,
    /// A file of counts that a reading wrote, `phrases.parquet`, by which public phrases are excused; default none.
    pub phrases: Option<PathBuf>,
    /// A file of phrases to ignore, one a line: see
    /// [`Contain::with_ignored`](crate::Contain::with_ignored).
    pub ignore: Option<PathBuf>,
    /// Whether to write `ignore.txt`: the phrases that many documents have without the item; default false.
    pub suggest_ignore: bool,
    /// The fields of a record; default `text` and `id`.
    pub fields: Fields,
    /// What the run does with a bad record, of documents or items; default [`OnBadRecord::Fail`].
    pub on_bad_record: OnBadRecord,
    /// Whether a repeated id is an error; default false.
    pub unique_ids: bool,
    /// The most bytes of input that threads may read ahead; default 16 MiB. Does not affect the result.
    pub batch_bytes: usize,
    /// Bytes of memory for the record that is read, which may take a quarter of them; default 60 % of what the process may use.
    /// They do not bound what the run holds of all items. Does not affect the result.
    pub memory: Option<u64>,
    /// Reads only the first `records` records of the inputs, in order, bad ones included.
    pub limit: Option<NonZeroU64>,
    /// The folder for temporary files; default next to the results, or else the current folder.
    pub temporary: Option<PathBuf>,
    /// What it has in common with other runs.
    pub options: RunOptions<'a>,
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
            mark_field: "contained".to_owned(),
            samples: true,
            hits_format: HitsFormat::default(),
            phrases: None,
            ignore: None,
            suggest_ignore: false,
            fields: Fields::for_form(false),
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            memory: None,
            limit: None,
            temporary: None,
            options: RunOptions::default(),
        }
    }

    /// Finds the items and writes them into a folder: `hits.jsonl` or `hits.parquet`, `items.jsonl`, `phrases.parquet`,
    /// `report.html`, `report.json` and `run.json`. Without a folder, writes nothing.
    ///
    /// A line of `hits.jsonl` is an item in a document, and one of `items.jsonl` an item with the documents that hold it.
    /// `phrases.parquet` is for [`ContainRun::phrases`] of another run. Unless the action is [`ContainAction::Report`], it reads
    /// the inputs again and writes the kept records of each into `kept/`; and the documents that are left out into
    /// `removed.jsonl`, or what is cut out of each into `cuts.jsonl`.
    ///
    /// # Errors
    /// Any error of reading inputs and items or writing the output, those of [`Contain::new`](crate::Contain::new),
    /// [`Contain::with_phrases`](crate::Contain::with_phrases) and [`Contain::with_ignored`](crate::Contain::with_ignored), and
    /// [`Error::Stopped`](simgpu::Error::Stopped) if the progress stops the run. After an error the folder holds no new
    /// results, and earlier ones are unchanged.
    pub fn run(self, folder: Option<&Path>) -> Result<ContainOutcome> {
        self.check()?;
        let partial = folder.map(OutputFolder::partial_of);
        let temporary = self.temporary.clone().or(partial);
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let output = folder.map(|folder| self.open(folder)).transpose();
        let output = output.map_err(|error| resumable(error, &temporary, folder))?;
        let outcome = self.run_into(output, &temporary)?;
        remove_left(&temporary, self.options.progress);
        Ok(outcome)
    }

    fn run_into(&self, output: Option<OutputFolder>, temporary: &Path) -> Result<ContainOutcome> {
        let mut timings = Timings::default();
        let files = self
            .inputs
            .with_copy_of_stream(temporary, self.options.progress)?;
        if self.action.writes_records() {
            let outputs = files.iter().map(|file| file.original_compression);
            check_compression_level(self.options.compression_level, outputs)?;
        }
        let (contain, item_records, skipped) =
            timings.time("items", 0, || self.read_items(temporary))?;
        let spill = Spill::new(&Budget {
            memory: SPILL_BYTES,
            folder: temporary.to_owned(),
            run: None,
            unfinished: None,
        })?;
        let tally = Tally::new(&contain, item_records);
        let mut found = timings.time("read", 0, || self.read(&files, temporary, tally, &spill))?;
        let documents = found.places.records() - found.places.bad_records();
        let mut frequent = contain.frequent(&found.spread, least_frequent(documents));
        timings.time("write", 0, || {
            self.write(output.as_ref(), &files, temporary, &mut found, &frequent)
        })?;
        let mut public = contain.phrases(&found.spread).public();
        public.truncate(LISTED);
        frequent.truncate(LISTED);
        let phrases = FoundPhrases {
            is_given: self.phrases.is_some(),
            public,
            frequent,
        };
        let leaking = found.tally.leaking();
        let rows = found.examples.rows();
        let rows = rows.chain(leaking.iter().map(|document| document.row));
        let at = found_at(&found.places, rows)?;
        let Found {
            places,
            tally,
            examples,
            ..
        } = found;
        let report =
            ContainReport::new(tally.finish(), self.parameters(), phrases, &places, skipped);
        if let Some(output) = &output {
            output.write_page(&report.page(&contain, &examples, &leaking, &at))?;
        }
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

    /// Refuses classes whose documents are never removed, and records that cannot be cut or marked.
    fn check(&self) -> Result<()> {
        self.action.check()?;
        match self.action {
            ContainAction::Cut(_) => check_cut_fields(&self.fields),
            ContainAction::Mark(_) => check_marks(self.inputs, &self.mark_field),
            ContainAction::Report | ContainAction::Drop(_) => Ok(()),
        }
    }

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        for inputs in [self.inputs, self.items] {
            inputs.check_output_outside(folder)?;
            inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        }
        for file in [&self.phrases, &self.ignore].into_iter().flatten() {
            check_not_overwritten(&[file.as_path()], &[folder.to_owned()])?;
        }
        OutputFolder::open(folder, self.options.overwrite, Leftovers::Remove)
    }

    fn parameters(&self) -> ContainParameters {
        let name = |field: Option<&FieldPath>| field.map_or(String::new(), ToString::to_string);
        let fields = &self.item_fields;
        let is_own = self.rule.of.weighs_evidence();
        let parts = [
            Some(&fields.question),
            fields.passage.as_ref(),
            fields.options.as_ref(),
            fields.answer.as_ref(),
        ];
        ContainParameters {
            rule: self.rule.of.name(),
            size: self.rule.size,
            threshold: is_own.then_some(self.rule.threshold),
            min_ngrams: is_own.then_some(self.rule.min_ngrams),
            ignore: self.ignore.as_ref().map(|path| {
                let name = path.file_name().unwrap_or(path.as_os_str());
                name.to_string_lossy().into_owned()
            }),
            mark_field: matches!(self.action, ContainAction::Mark(_))
                .then(|| self.mark_field.clone()),
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

/// In how many documents a phrase is frequent: in one of 10,000, and in ten.
fn least_frequent(documents: u64) -> u64 {
    const LEAST: u64 = 10;
    (documents / 10_000).max(LEAST)
}
