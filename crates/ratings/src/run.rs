//! Neighbours and recommendations from files of ratings.

use std::cell::Cell;
use std::fmt;
use std::path::Path;

use arrow_array::RecordBatch;

use super::read::{ItemNames, NameFields, RatingFields, RatingsOfChunk, RatingsRead};
use super::report::RatingsReport;
use super::results::{Answer, Rated, ordered};
use super::task::RatingsTask;
use simgpu::error::{Error, Result};
use simgpu::progress::{Timings, advance};
use simgpu_base::encoding;
use simgpu_files::{PairsOutput, RowForms, RunOptions, Target};
use simgpu_io::{
    Event, FieldPath, FilesReading, InputFile, Inputs, LongestRecord, OnBadRecord, Reading,
    ValueField, Wanted, listed_fields, warning_of_encoding, write_rows_as_table,
    write_rows_as_text,
};

/// A file with the names of items.
#[derive(Debug)]
pub struct NamesFile {
    /// The file, which is one.
    pub inputs: Inputs,
    /// Its fields.
    pub fields: NameFields,
}

/// The outcome of a run over ratings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RatingsOutcome {
    /// The counts, parameters and hit rates.
    pub report: RatingsReport,
    /// The elapsed times of the stages.
    pub timings: Timings,
    /// The elapsed seconds of the run.
    pub elapsed_s: f64,
}

/// A run over files of ratings. Set its options, then call [`RatingsRun::run`]. Memory grows with the number of ratings.
///
/// ```
/// use std::fs;
/// use simgpu_io::Inputs;
/// use simgpu_files::PairsOutput;
/// use simgpu_ratings::{RatingsRun, RatingsTask};
/// use simgpu_ratings::NeighbourTask;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let rated = "user,item,rating\n1,Alien,5\n1,Aliens,4\n2,Alien,4\n2,Aliens,5\n";
/// fs::write(folder.join("ratings.csv"), rated).unwrap();
/// let inputs = Inputs::find(&[folder.join("ratings.csv")], None)?;
/// let task = RatingsTask::Neighbours(NeighbourTask { min_support: 2, ..NeighbourTask::default() });
/// let output = folder.join("neighbours.csv");
/// RatingsRun::new(&inputs).run(&task, PairsOutput::File(&output))?;
/// let found = fs::read_to_string(output).unwrap();
/// assert!(found.contains("\nAlien,Aliens,1,1,2,"));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct RatingsRun<'a> {
    #[doc(hidden)]
    pub inputs: &'a Inputs,
    /// The fields of a rating.
    pub fields: RatingFields,
    /// The names of items, which stand beside their ids in the results; default none.
    pub names: Option<&'a NamesFile>,
    /// What the run does with a bad record; default [`OnBadRecord::Fail`].
    pub on_bad_record: OnBadRecord,
    /// What it has in common with other runs.
    pub options: RunOptions<'a>,
}

impl fmt::Debug for RatingsRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RatingsRun")
            .field("inputs", &self.inputs)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

impl<'a> RatingsRun<'a> {
    /// Makes a run over inputs, with default options.
    pub fn new(inputs: &'a Inputs) -> Self {
        RatingsRun {
            inputs,
            fields: RatingFields::default(),
            names: None,
            on_bad_record: OnBadRecord::default(),
            options: RunOptions::default(),
        }
    }

    /// Reads the ratings, and writes what the task finds. The rows of the output:
    ///
    /// - neighbours: `id`, `name`, `neighbour_id`, `neighbour_name`, `rank`, `similarity`, `support`, `low`, `high`;
    /// - recommendations: `user`, `rank`, `item`, `name`, `score`, `because`, `because_name`;
    /// - items that were held out: `user`, `item`, `name`, `rank`, `popularity_rank`.
    ///
    /// Names are there if [`RatingsRun::names`] is set, and for items only. Items and users come in the order of their
    /// first rating in the inputs, and ids are integers if all are.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, of the task ([`neighbours`](crate::neighbours),
    /// [`recommend`](crate::recommend), [`hold_out`](crate::hold_out)), and [`Error::Stopped`] if the
    /// progress stops the run. After an error there is no new output file.
    pub fn run(self, task: &RatingsTask, mut output: PairsOutput<'_>) -> Result<RatingsOutcome> {
        let outputs = output.names();
        self.inputs.check_not_overwritten_by(&outputs)?;
        if let Some(names) = self.names {
            names.inputs.check_not_overwritten_by(&outputs)?;
        }
        let temporary = output.temporary();
        let mut target = Target::open(
            &mut output,
            self.options.overwrite,
            self.options.compression_level,
        )?;
        let mut timings = Timings::default();
        let rated = timings.time("read", 0, || self.read(task, &temporary))?;
        let mut report = rated.report(task);
        report.not_read = self.inputs.not_read().clone();
        let found = timings.time("compare", 0, || {
            Answer::new(&rated, task, self.options.progress)
        })?;
        timings.time("write", 0, || {
            let schema = found.empty(&rated)?.schema();
            let written = Cell::default();
            let for_each = |each: &mut dyn FnMut(RecordBatch) -> Result<()>| {
                written.set(found.for_each(&rated, self.options.progress, each)?);
                Ok(())
            };
            target.write_rows(&RowForms {
                none: &|| for_each(&mut |_| Ok(())),
                text: &|format, target, path| {
                    write_rows_as_text(&for_each, &schema, format, target, path)
                },
                table: &|file, path| write_rows_as_table(&for_each, &schema, file, path),
            })?;
            found.complete(&mut report, written.get())
        })?;
        self.warn(&report);
        target.commit(&report, self.options.progress, report.counts.results)?;
        let elapsed_s = timings.complete(self.options.started);
        Ok(RatingsOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    fn read(&self, task: &RatingsTask, temporary: &Path) -> Result<Rated> {
        let files = self
            .inputs
            .with_copy_of_stream(temporary, self.options.progress)?;
        let needs = task.needs();
        let fields = self.fields.values(needs);
        let mut read = RatingsRead::default();
        let reading = reading(&fields, temporary);
        let reading = FilesReading::new(&files, reading)?;
        self.options
            .progress
            .begin("read", files.iter().map(InputFile::stored_bytes).sum());
        reading.map(
            |chunk| Ok(RatingsOfChunk::parse(&chunk, &fields, needs)),
            |event| {
                if let Some(Event::Chunk(chunk)) = event {
                    let name = &files[chunk.file].named;
                    read.add(&chunk, name, self.on_bad_record)?;
                }
                advance(self.options.progress, reading.consumed(), 0, 0)
            },
        )?;
        for (number, file) in files.iter().enumerate() {
            if read.records_of(number) == 0 {
                let warning = format!("{} holds no records", file.named.display());
                self.options.progress.warn(&warning);
            }
        }
        let ratings = ordered(&mut read, &self.fields, needs, self.options.progress)?;
        if let (true, Some((_, first))) = (ratings.all().is_empty(), read.skipped.first()) {
            return Err(Error::no_good_record(first, CHOOSE));
        }
        if let Some(warning) = warning_of_encoding(read.skipped.iter().map(|(_, bad)| bad)) {
            self.options.progress.warn(&warning);
        }
        let names = self.names.map(|names| {
            let files = names
                .inputs
                .with_copy_of_stream(temporary, self.options.progress)?;
            read_names(&files, &names.fields, &read, temporary)
        });
        let relative = files.into_iter().map(|file| file.relative).collect();
        Ok(Rated {
            ratings,
            names: names.transpose()?,
            read,
            files: relative,
        })
    }

    fn warn(&self, report: &RatingsReport) {
        self.inputs.not_read().warn(self.options.progress);
        report.warn_of_unnamed("the file of names", self.options.progress);
    }
}

/// What to do if every record is bad.
const CHOOSE: &str = "choose the fields with `user_field`, `item_field`, `rating_field` and `time_field`, or correct the records";

/// How to read values.
fn reading<'a>(fields: &'a [ValueField], temporary: &'a Path) -> Reading<'a> {
    Reading {
        temporary: Some(temporary),
        longest: LongestRecord::fixed(),
        ..Reading::new(Wanted::Values(fields))
    }
}

/// What to do with a record that cannot be read.
const CORRECT: &str = "correct the record";

fn read_names(
    files: &[InputFile],
    fields: &NameFields,
    read: &RatingsRead,
    temporary: &Path,
) -> Result<ItemNames> {
    let paths = [&fields.id, &fields.name];
    let fields = fields.values();
    let mut names = ItemNames::new(&read.items);
    FilesReading::new(files, reading(&fields, temporary))?.map(Ok, |event| {
        let Some(Event::Chunk(chunk)) = event else {
            return Ok(());
        };
        let added = names.add(&chunk, &fields, &read.items);
        let named = &files[chunk.file].named;
        added.map_err(|(line, problem)| Error::Input {
            path: named.clone(),
            remedy: encoding::conversion(&problem, named, CORRECT)
                .unwrap_or_else(|| CORRECT.to_owned()),
            problem: match line {
                Some(line) => format!("line {line}: {problem}"),
                None => problem,
            },
        })
    })?;
    if names.missing() < read.items.len().into() {
        return Ok(names);
    }
    // One item may have no name, but if none has one, a field may be missing.
    let lack = |path: &&FieldPath| {
        let mut files = files.iter().map(std::slice::from_ref);
        files.all(|file| listed_fields(file, path, temporary).is_some())
    };
    match paths.into_iter().find(lack) {
        Some(path) => Err(Error::Input {
            path: files
                .first()
                .map(|file| file.named.clone())
                .unwrap_or_default(),
            problem: format!(
                "no item has a name, and no record a field \"{path}\"; {}",
                listed_fields(files, path, temporary).unwrap_or_default()
            ),
            remedy: "choose the fields with `name_id_field` and `name_field`".to_owned(),
        }),
        None => Ok(names),
    }
}
