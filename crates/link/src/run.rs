//! Links records in files.

use std::path::{Path, PathBuf};

use crate::fields::{RecordFields, Side};
use crate::parameters::Link;
use crate::read::{RecordsFile, RecordsReading};
use crate::report::LinkReport;
use crate::task::link;
use crate::write::Writing;
use simgpu::error::Result;
use simgpu::progress::{Timings, advance};
use simgpu_files::{RunOptions, create_json, create_run_record};
use simgpu_io::{
    FieldPath, Inputs, Leftovers, LongestRecord, OnBadRecord, OutputFolder, Places, REPORT,
};

/// A search in files for records that describe the same thing. Set its options, then call [`LinkRun::link`].
///
/// ```
/// use simgpu_io::{FieldPath, Inputs};
/// use simgpu_link::{Link, LinkRun, RecordFields};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// # std::fs::write(folder.join("a.csv"), "id,name\n1,Ann Smith\n2,Bob Jones\n").unwrap();
/// # std::fs::write(folder.join("b.csv"), "id,name\n7,Bob Jones\n8,Anne Smith\n").unwrap();
/// let a = Inputs::find(&[folder.join("a.csv")], None)?;
/// let b = Inputs::find(&[folder.join("b.csv")], None)?;
/// let task = Link { threshold: Some(0.3), ..Link::default() };
/// let fields = RecordFields::new([FieldPath::new("name")]);
/// let run = LinkRun { second: Some(&b), ..LinkRun::new(&a, fields) };
/// let outcome = run.link(&task, Some(&folder.join("out")))?;
/// assert_eq!(outcome.report.counts.links, 2);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct LinkRun<'a> {
    /// The files, or those of the first collection.
    pub first: &'a Inputs,
    /// The files of a second collection, to whose records those of the first are linked; default none.
    pub second: Option<&'a Inputs>,
    /// The fields that are compared, and that of the id.
    pub fields: RecordFields,
    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub on_bad_record: OnBadRecord,
    /// Whether an id that occurs twice in one collection is an error; default false.
    pub unique_ids: bool,
    /// The most bytes of input that threads may read ahead; default 16 MiB. Does not affect the result.
    pub batch_bytes: usize,
    /// Bytes of memory for the record that is read, which may take a quarter of them; default 60 % of what the process may use.
    /// They do not bound what the run holds of all records. Does not affect the result.
    pub memory: Option<u64>,
    /// The folder for temporary files: copies of streams, and of compressed tables; default next to the results, or else the
    /// current folder.
    pub temporary: Option<PathBuf>,
    /// What it has in common with other runs.
    pub options: RunOptions<'a>,
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
    pub fn new(inputs: &'a Inputs, fields: RecordFields) -> Self {
        LinkRun {
            first: inputs,
            second: None,
            fields,
            on_bad_record: OnBadRecord::default(),
            unique_ids: false,
            batch_bytes: 16 << 20,
            memory: None,
            temporary: None,
            options: RunOptions::default(),
        }
    }

    /// Finds the links and writes them into a folder: `links.jsonl` (both ids and places, the score, the similarity of each
    /// field, the rarest shared symbols, and the runner-up), with one collection `entities.jsonl` (the entity of every
    /// record), `report.json`, `report.html` (the report for people) and `run.json`. Without a folder, writes nothing.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, those of [`link`], and
    /// [`Error::Stopped`](simgpu::error::Error::Stopped) if the progress stops the run. After an error the folder holds no new
    /// results, and earlier ones are unchanged.
    pub fn link(self, task: &Link, folder: Option<&Path>) -> Result<LinkOutcome> {
        let task = &self.fields.task(task, FieldPath::to_string);
        task.check(self.fields.compared.len(), self.second.is_some())?;
        self.fields.check(self.second.is_some())?;
        let output = folder.map(|folder| self.open(folder)).transpose()?;
        let beside = || output.as_ref().map(OutputFolder::partial);
        let temporary = self.temporary.clone().or_else(beside);
        let mut timings = Timings::default();
        let temporary = temporary.unwrap_or_else(|| PathBuf::from("."));
        let (first, second) = timings.time("read", 0, || self.read(temporary))?;
        let mut linked = link(
            &first.records,
            second.as_ref().map(|file| &file.records),
            task,
            self.options.progress,
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
            names: task.field_names.clone(),
        };
        let report = written.report(task, &self.fields)?;
        report
            .warnings
            .iter()
            .for_each(|warning| self.options.progress.warn(warning));
        if let Some(output) = &output {
            timings.time("write", 0, || written.write(output, self.options.progress))?;
        }
        let elapsed_s = timings.complete(self.options.started);
        if let Some(output) = output {
            self.commit(output, &report, &timings, elapsed_s)?;
        }
        Ok(LinkOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    /// Reads the records of both collections.
    fn read(&self, temporary: PathBuf) -> Result<(RecordsFile, Option<RecordsFile>)> {
        let reading = RecordsReading {
            fields: &self.fields,
            on_bad_record: self.on_bad_record,
            unique_ids: self.unique_ids,
            batch_bytes: self.batch_bytes,
            longest: LongestRecord::within(self.memory),
            temporary,
            progress: self.options.progress,
        };
        let first = reading.read(self.first, Side::A)?;
        let second = self.second.map(|inputs| reading.read(inputs, Side::B));
        Ok((first, second.transpose()?))
    }

    /// Writes what the run says of itself, and gives all files their names.
    fn commit(
        &self,
        output: OutputFolder,
        report: &LinkReport,
        timings: &Timings,
        elapsed_s: f64,
    ) -> Result<()> {
        create_json(&output, REPORT, report)?;
        output.write_page(&report.page())?;
        create_run_record(&output, &self.options, timings, elapsed_s, 0)?;
        // Last chance to stop the run.
        let links = report.counts.links;
        advance(self.options.progress, links, links, 0)?;
        output.commit(self.options.progress)
    }

    /// Opens the output folder, unless it would destroy an input.
    fn open(&self, folder: &Path) -> Result<OutputFolder> {
        for inputs in [Some(self.first), self.second].into_iter().flatten() {
            inputs.check_output_outside(folder)?;
            inputs.check_not_overwritten_by(&[folder.to_owned()])?;
        }
        OutputFolder::open(folder, self.options.overwrite, Leftovers::Remove)
    }
}
