//! Documents from files, as a source for the first pass.

mod chunks;

mod checkpoint;

mod reading;

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use super::log::{Log, Noted};
use super::preference::{Known, Preference};
use super::run::Run;
use super::sources::{FieldSources, Sources};
use checkpoint::{IDS, READ, ReadState};
use simgpu::error::{Error, Result};
use simgpu::progress::{Counts, Timings, counted, grouped};
use simgpu::search::{FirstPass, Search, Verification};
use simgpu::store::spill::{Budget, Spill};
use simgpu_io::{
    Columns, FieldPath, FieldValues, Fields, InputFile, LongestRecord, Places, Position, Reading,
    RecordedInput, Repeated, Report, ValueForms, Wanted, listed_fields,
};

/// The documents of a run over files.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct FileSource<'a> {
    pub(super) run: &'a Run<'a>,
    /// All files: first those of the reference.
    pub(super) files: Vec<InputFile>,
    /// The number of files of the reference.
    pub(super) reference_files: usize,
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
        if let Some(against) = &run.against {
            run.inputs.check_apart_from(against.inputs)?;
            files.extend_from_slice(&against.inputs.files);
        }
        let reference_files = files.len();
        files.extend(inputs?);
        Ok(FileSource {
            run,
            files,
            reference_files,
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
        let byte_share = bytes as f64 / self.stored_bytes() as f64;
        let limit = self.run.limit.map(NonZeroU64::get);
        let limit_share = limit.map_or(0.0, |limit| documents as f64 / limit as f64);
        byte_share.max(limit_share).clamp(f64::EPSILON, 1.0)
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
        let files = &self.files[self.reference_files..];
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
                let reference = number < self.reference_files;
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
            reference: self.run.against.as_ref().map(|against| {
                let wanted = Wanted::Document(&against.fields);
                (self.reference_files, wanted)
            }),
            longest: LongestRecord::within(self.run.memory),
            ..Reading::new(Wanted::Document(&self.run.fields))
        }
    }

    /// What a record of a file holds.
    pub(super) fn fields_of(&self, file: usize) -> &Fields {
        self.run.fields_of(file < self.reference_files)
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

    /// Adds the counts of records to the counts of documents.
    pub(super) fn complete(&self, counts: &mut Counts) {
        self.count_indexes(counts);
        counts.documents = self.places.records();
        counts.skipped = self.places.bad_records();
        counts.repeated_ids = self.places.repeated_ids;
    }
}

#[cfg(test)]
mod tests;
