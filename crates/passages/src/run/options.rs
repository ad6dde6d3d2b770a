//! The options of a run.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use super::outcome::PassagesOutcome;
use crate::choice::Conditions;
use crate::cuts::Snap;
use crate::report::{PassageParameters, PassagesFormat};
use crate::sources::Occurrences;
use crate::units::{PassageUnit, PassageUnits};
use simgpu::error::Result;
use simgpu_files::{Against, RunOptions, ended};
use simgpu_io::{Fields, Globs, Inputs, OnBadRecord, OutputFolder};

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
    pub(crate) fn writes_records(self) -> bool {
        self != PassageAction::Report
    }

    /// Whether texts or documents may be removed.
    pub(crate) fn removes(self) -> bool {
        matches!(self, PassageAction::Cut | PassageAction::Drop { .. })
    }
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
    #[doc(hidden)]
    pub inputs: &'a Inputs,
    /// Compares the inputs with a reference, whose records have these fields. Its documents come first: what occurs there is a
    /// passage of the inputs. It has no passages, is never written, has no limit, and counts apart.
    pub against: Option<Against<'a>>,
    /// Covers only passages that occur in the reference; default false.
    pub only_against: bool,
    /// Reads the input files that match the first pattern before all others, then those that match the second, and so on, so
    /// that they are the sources of passages. Patterns match the names of files in reports.
    pub prefer_source: Globs,
    #[doc(hidden)]
    pub units: PassageUnits,
    /// Which occurrences are covered; default those that occur earlier.
    pub occurrences: Occurrences,
    /// Covers only passages that occur so often, all occurrences counted; default 2.
    pub min_count: u32,
    /// Covers only passages that occur in another document; default false: what occurs before in the same document is a
    /// passage, too.
    pub other_documents: bool,
    /// What to do with passages; default [`PassageAction::Report`].
    pub action: PassageAction,
    /// The field that [`PassageAction::Mark`] adds to each record; default `passages`. Its value is a list of pairs, the
    /// beginning and end of each covered part, in bytes of the text or in tokens. A record that has the field is an error.
    pub mark_field: String,
    /// To what a cut is shrunk; default [`Snap::Words`].
    pub snap: Snap,
    /// Removes a document with passages if fewer units than these would be left of it. It is the source of no passage.
    pub min_left: Option<NonZeroU64>,
    /// Bytes of memory for the texts and the search; default 60 % of what the process may use. A run that needs more spills
    /// to disk, with the same results.
    pub memory: Option<u64>,
    /// The fields of a record; default `text`, or `tokens` for [`PassageUnit::Tokens`], and `id`.
    pub fields: Fields,
    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub on_bad_record: OnBadRecord,
    /// Whether a repeated id is an error; default false.
    pub unique_ids: bool,
    /// The most bytes of input that threads may read ahead; default 16 MiB. Does not affect the result.
    pub batch_bytes: usize,
    /// Reads only the first `records` records of the inputs, in order, bad ones included.
    pub limit: Option<NonZeroU64>,
    /// The folder for temporary files: copies of streams and of compressed tables, and a search on disk. Default next to the
    /// results, or else the current folder.
    pub temporary: Option<PathBuf>,
    /// Whether `report.html` shows texts; default true.
    pub samples: bool,
    /// The format of the file of passages; default [`PassagesFormat::JsonLines`].
    pub format: PassagesFormat,
    /// Whether to start over where a run with the same output was stopped; default false: the run resumes from the last
    /// checkpoint of that one. Runs make checkpoints once they work on disk, if the output is a folder: while the inputs are
    /// read first, and after each stage. After an error that ends such a run,
    /// [`Error::Resumable`](simgpu::Error::Resumable), the same run goes on, also with another number of threads or another
    /// [`PassagesRun::memory`]. One with other inputs or options is refused.
    pub restart: bool,
    /// What it has in common with other runs.
    pub options: RunOptions<'a>,
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
    /// Any error of reading the inputs or writing the output, those of [`PassageSearch::find`](crate::PassageSearch::find),
    /// [`Conflict::PassageMemory`](simgpu::error::Conflict::PassageMemory), and [`Error::Stopped`](simgpu::Error::Stopped) if
    /// the progress stops the run. After an error the folder holds no new results, and earlier ones are unchanged.
    pub fn run(self, folder: Option<&Path>) -> Result<PassagesOutcome> {
        self.check()?;
        let partial = folder.map(OutputFolder::partial_of);
        let temporary = self.temporary.clone().or(partial);
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let outcome = self.run_into(folder, &temporary);
        ended(outcome, &temporary, folder, self.options.progress)
    }

    /// Whether any document may be removed.
    pub(crate) fn may_remove_documents(&self) -> bool {
        matches!(self.action, PassageAction::Drop { .. }) || self.min_left.is_some()
    }

    /// The conditions of passages, if so many first documents are a reference.
    pub(crate) fn conditions(&self, reference: usize) -> Conditions {
        Conditions {
            occurrences: self.occurrences,
            min_count: self.min_count,
            other_documents: self.other_documents,
            stride: self.units.stride(),
            reference,
            only_reference: self.only_against,
        }
    }

    /// The parameters, as reports state them.
    pub(super) fn parameters(&self) -> PassageParameters {
        let against = self.against.as_ref().map(|against| &against.fields);
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
}
