//! Indexes as the reference of a deduplication.
//!
//! The inputs are read and signed once more, first, to look them up: the reference then has the documents that are similar
//! to one of the inputs, and no others. They come before the files of a reference. Each index stands for a file among those,
//! which is not read.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use super::log::{ChunkRecords, Noted};
use super::resume::absolute;
use super::run::Run;
use super::second_pass::{FileEvent, Placed};
use super::source::FileSource;
use simgpu::error::{Error, Result, row_number};
use simgpu::pipeline::Measure;
use simgpu::progress::{Counts, Timings, advance};
use simgpu::search::{AddingRun, CandidateMethod, Dedup, FirstPass, KnownIndex, SetsByRow};
use simgpu::store::disk::is_absent;
use simgpu_base::bits::Bits;
use simgpu_index::{AskedIndex, Index};
use simgpu_io::{Columns, Digest, Event, FilesReading, IndexPlaces, InputFile, Position, REPORT};

/// Documents of an index that are read at a time.
const PIECE: usize = 1024;

impl<'a> Run<'a> {
    /// Compares the inputs of [`Run::dedup`] with the documents of an index, too, as if those were a reference
    /// ([`Run::against`]): the same documents are kept, but that `max_bucket` counts only those documents of the index that are
    /// similar to one of the inputs. Candidates come from bands ([`CandidateMethod::Lsh`]) or, with indexes of kind `exact`, from a
    /// join ([`CandidateMethod::Join`]). Call it again for another index.
    ///
    /// The inputs are read once more. Memory takes 8 bytes per band, and the id, of each document of the index that is similar
    /// to one of the inputs, beside what [`Run::memory`] bounds.
    pub fn against_index(&mut self, index: &'a Index) {
        let number = self.indexes.len();
        self.indexes.push(Box::new(AskedIndex::new(index, number)));
    }

    /// The run as it adds what it keeps to an index; `None` if it does not, or has no folder.
    pub(super) fn adding_run(
        &self,
        task: &Dedup,
        folder: Option<&Path>,
    ) -> Result<Option<AddingRun>> {
        let Some(folder) = folder.filter(|_| self.adds_kept) else {
            return Ok(None);
        };
        let reference = self.against.as_ref().map(|against| &against.inputs.files);
        let files: Vec<InputFile> = reference
            .into_iter()
            .chain([&self.inputs.files])
            .flatten()
            .cloned()
            .collect();
        let reference_files = reference.map_or(0, Vec::len) + self.indexes.len();
        let identity = || {
            let parameters = self.dedup_parameters(task);
            self.identity(folder, &task.search, parameters, &files, reference_files)
        };
        let identity = (!self.inputs.names_stream()).then(identity);
        Ok(Some(AddingRun {
            output: absolute(folder),
            identity: identity.transpose()?,
        }))
    }

    /// Asks the index as before this run began to add to it, if it was interrupted then.
    ///
    /// # Errors
    /// [`Error::Output`] if another run with the same output was interrupted, so that its results must not be replaced.
    pub(super) fn repeat_adding(&mut self, run: &AddingRun) -> Result<()> {
        let Some(index) = self.indexes.first_mut() else {
            return Ok(());
        };
        let Some(interrupted) = index.interrupted(&run.output)? else {
            return Ok(());
        };
        let folder = Path::new(&run.output);
        let has_results = digest(&folder.join(REPORT))?.as_ref() == Some(&interrupted.report);
        if run.repeats(&interrupted.run) {
            index.go_back(&run.output)?;
            // They are replaced by the same ones.
            self.options.overwrite |= has_results;
            self.options.progress.tell(&format!(
                "resuming: the index {} is asked without what was added since the run began to add; then kept documents that it lacks are added",
                index.folder().display()
            ));
            return Ok(());
        }
        if !interrupted.has_added && !has_results {
            return Ok(());
        }
        let (index, note) = (index.folder().display(), interrupted.note.display());
        let remedy = if has_results {
            format!(
                "repeat that run, or add its documents (`simgpu index add {} --index {index} --on-known-id skip`) and delete {note}",
                folder.join("kept").display()
            )
        } else {
            format!(
                "repeat that run, or delete {note}: then documents that it added are in the index, and in no results"
            )
        };
        Err(Error::Output {
            path: folder.to_owned(),
            problem: format!(
                "a run with this output was interrupted while it added documents to the index {index}"
            ),
            remedy,
        })
    }

    /// Refuses a task of other parameters than those of an index, or that needs more than an index knows.
    pub(super) fn check_indexes(&self, task: &Dedup) -> Result<()> {
        if self.adds_kept && self.indexes.len() != 1 {
            return Err(Error::Parameter {
                name: "`add`",
                value: format!("with {} indexes in `against`", self.indexes.len()),
                expected: "one index in `against`, to which kept documents are added".to_owned(),
            });
        }
        if self.adds_kept {
            self.indexes
                .iter()
                .try_for_each(|index| index.check_writable())?;
        }
        if self.indexes.is_empty() {
            return Ok(());
        }
        if task.short.min_shingles > 0 {
            return Err(Error::Parameter {
                name: "`min_shingles`",
                value: task.short.min_shingles.to_string(),
                expected:
                    "0, as an index in `against` does not say how many shingles its documents have"
                        .to_owned(),
            });
        }
        if task.search.candidates == CandidateMethod::Auto {
            return Err(Error::Parameter {
                name: "`candidates`",
                value: task.search.candidates.name().to_owned(),
                expected: "lsh, or join with an index of kind exact in `against`".to_owned(),
            });
        }
        if let (Measure::Contained, Some(index)) = (task.search.measure, self.indexes.first()) {
            return Err(Error::Input {
                path: index.folder().to_owned(),
                problem: "an index of measure contained does not serve in `against`: of two documents the larger one would be kept, and the one of the index may be the smaller"
                    .to_owned(),
                remedy: "build an index of measure jaccard, or list what resembles each document with `simgpu index query`"
                    .to_owned(),
            });
        }
        let search = &task.search;
        let serves = match search.index_verification {
            None => true,
            Some(verification) if verification == search.verification => true,
            Some(_) => search.estimates_index(),
        };
        if !serves {
            return Err(Error::Parameter {
                name: "`index_verification`",
                value: format!("{:?}", search.index_verification),
                expected: "that of the search, or signature next to exact".to_owned(),
            });
        }
        let fits = |index: &dyn KnownIndex| index.check_fits(self.engine, &task.search);
        self.indexes.iter().try_for_each(|index| fits(&**index))
    }
}

impl FileSource<'_> {
    /// The number of indexes, which stand for the first files.
    fn index_count(&self) -> usize {
        self.run.indexes.len()
    }

    /// A place that is not before the first file that is read.
    pub(super) fn after_indexes(&self, position: Position) -> Position {
        if position.file < self.index_count() {
            self.places.start_of_file(self.index_count())
        } else {
            position
        }
    }

    /// Looks all documents of the inputs up.
    pub(super) fn find_in_indexes(&self, timings: &mut Timings) -> Result<()> {
        if self.index_count() == 0 {
            return Ok(());
        }
        timings.time("look up", self.stored_bytes(), || self.look_up())
    }

    fn look_up(&self) -> Result<()> {
        let (run, progress) = (self.run, self.run.options.progress);
        progress.begin("look up", self.stored_bytes());
        let reading = FilesReading::new(&self.files, self.reading(Columns::Needed))?;
        let reading = reading.starting_at(&Position {
            file: self.reference_files,
            ..Position::default()
        });
        let (mut documents, mut bytes) = (0, 0);
        reading.map(
            |chunk| {
                let mut batch = run.fields.empty_batch();
                chunk.parse(&run.fields, |_| true, &mut batch);
                for index in &run.indexes {
                    index.find(&batch)?;
                }
                Ok((batch.len() as u64, chunk.bytes() as u64))
            },
            |event| {
                if let Some(Event::Chunk((chunk_documents, bytes_of_chunk))) = event {
                    documents += chunk_documents;
                    bytes += bytes_of_chunk;
                }
                advance(progress, reading.consumed(), documents, bytes)
            },
        )
    }

    /// Where the documents are that were found.
    pub(super) fn places_in_indexes(&self) -> Result<Vec<IndexPlaces>> {
        let mut places: Vec<IndexPlaces> = Vec::new();
        for index in &self.run.indexes {
            let numbers = index.found();
            let ids = numbers.iter().map(|number| Ok(index.id(*number)?.into()));
            let start = places.last().map_or(0, |before| before.rows.end);
            places.push(IndexPlaces {
                rows: start..row_number(start as usize + numbers.len())?,
                ids: ids.collect::<Result<_>>()?,
                numbers,
            });
        }
        Ok(places)
    }

    /// Reads the documents that were found, unless they were read before the run was stopped. Returns where to go on.
    pub(super) fn read_indexes<'e>(
        &self,
        pass: &mut FirstPass<'e>,
        noted: &mut Noted<'_>,
        start: Position,
    ) -> Result<Position> {
        let indexes = self.index_count();
        for (file, index) in self.run.indexes.iter().enumerate() {
            let IndexPlaces { rows, numbers, .. } = noted.places.indexes[file].clone();
            if start.file < indexes {
                for numbers in numbers.chunks(PIECE) {
                    let documents = numbers.iter().map(|number| index.document(*number));
                    let documents = documents.collect::<Result<Vec<_>>>()?;
                    let ids = documents.iter().map(|document| document.id.clone());
                    let records = ChunkRecords::from_index(file, ids);
                    pass.number_known(records, documents, noted)?;
                }
            }
            let entry = &mut noted.places.files[file];
            (entry.first_row, entry.records) = (rows.start, numbers.len() as u64);
        }
        if start.file >= indexes {
            return Ok(start);
        }
        noted.end_indexes();
        if indexes > 0 && indexes == self.reference_files {
            pass.end_reference();
        }
        Ok(noted.places.start_of_file(indexes))
    }

    /// Passes on the sets of the wanted documents of indexes, unless that was done before the run was stopped.
    pub(super) fn read_sets_of_indexes(
        &self,
        start: Position,
        wanted: &Bits,
        sets: &mut dyn SetsByRow,
    ) -> Result<()> {
        if start.file >= self.index_count() {
            return Ok(());
        }
        let indexes = self.run.indexes.iter().zip(&self.places.indexes);
        let numbers = indexes.flat_map(|(index, places)| {
            let numbers = places.numbers.iter();
            numbers.map(move |number| (index, *number))
        });
        for (row, (index, number)) in (0..).zip(numbers) {
            if wanted.get(row) {
                sets.take(&[(row, index.compared(number)?)])?;
            }
        }
        Ok(())
    }

    /// Refuses to add what is kept if the index has an id of it.
    pub(super) fn check_kept_ids(&self, is_kept: &[bool]) -> Result<()> {
        let (true, Some(index)) = (self.run.adds_kept, self.run.indexes.first()) else {
            return Ok(());
        };
        if self.places.ids.is_none() {
            return Err(Error::Parameter {
                name: "`add`",
                value: "with records that have no id".to_owned(),
                expected: "an id in each record (`id_field`): FILE:ROW would name another record of the kept file".to_owned(),
            });
        }
        let mut id_of = self.places.ids_by_row()?;
        let first = self.places.first_input();
        let rows = (0..).zip(is_kept);
        for (row, _) in rows.filter(|(row, is_kept)| **is_kept && *row >= first) {
            let id = id_of(row)?;
            if index.has(&id)? {
                return Err(Error::Input {
                    path: index.folder().to_owned(),
                    problem: format!("it has another document of the id {id}, which is kept"),
                    remedy: "give each document an id of its own, or omit `add`, and add what is kept with `simgpu index add`"
                        .to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Notes that what is kept will be added to the index, before results with this report get their names.
    pub(super) fn begin_adding(&self, run: Option<&AddingRun>, report: &Path) -> Result<()> {
        match (run, self.run.indexes.first()) {
            (Some(run), Some(index)) => {
                index.begin_adding(run, digest(report)?.unwrap_or_default())
            }
            _ => Ok(()),
        }
    }

    /// Removes that note, since the results did not get their names.
    pub(super) fn cancel_adding(&self, run: Option<&AddingRun>) {
        if let (Some(run), Some(index)) = (run, self.run.indexes.first()) {
            // What ended the run is the error.
            let _ = index.end_adding(&run.output, true);
        }
    }

    /// Adds what is kept to the index, once the results are complete.
    pub(super) fn add_kept(&self, is_kept: &[bool], run: Option<&AddingRun>) -> Result<()> {
        let (true, Some(index)) = (self.run.adds_kept, self.run.indexes.first()) else {
            return Ok(());
        };
        let added = self
            .add_kept_to(&**index, is_kept)
            .and_then(|()| index.sync());
        if added.is_err() {
            let remedy = match run {
                Some(AddingRun {
                    identity: Some(_), ..
                }) => "repeat the run",
                _ => "add them with `simgpu index add` and `on_known_id=skip`",
            };
            self.run.options.progress.warn(&format!(
                "the results are complete, but not all kept documents are in the index: {remedy}"
            ));
        }
        added?;
        run.map_or(Ok(()), |run| index.end_adding(&run.output, false))
    }

    fn add_kept_to(&self, index: &dyn KnownIndex, is_kept: &[bool]) -> Result<()> {
        let mut id_of = self.places.ids_by_row()?;
        let start = self.places.start_of_file(self.reference_files);
        let map = |Placed { chunk, rows }: Placed| {
            let kept = |row: &u32| is_kept.get(*row as usize) == Some(&true);
            let rows: Vec<Option<u32>> = rows.into_iter().map(|row| row.filter(kept)).collect();
            Ok((self.documents_of(&chunk, &rows)?, rows))
        };
        self.read_again("add", Columns::Needed, &start, map, |part| {
            let FileEvent::Chunk((documents, rows)) = part else {
                return Ok(());
            };
            let ids = rows.into_iter().flatten();
            let ids = ids.map(|row| id_of(row).map(Cow::into_owned));
            let ids: Vec<String> = ids.collect::<Result<_>>()?;
            index.add(&documents, &ids)
        })
    }

    /// Counts the documents of indexes apart from those of the files of a reference.
    pub(super) fn count_indexes(&self, counts: &mut Counts) {
        if self.index_count() == 0 {
            return;
        }
        let documents = self.run.indexes.iter().map(|index| index.documents());
        counts.index = Some(documents.sum());
        let found = u64::from(self.places.first_of_files());
        let reference = counts.reference.take();
        counts.reference = reference
            .filter(|_| self.reference_files > self.index_count())
            .map(|documents| documents - found);
    }
}

/// A digest of a file; `None` if there is none.
fn digest(path: &Path) -> Result<Option<String>> {
    match File::open(path).and_then(|file| Digest::hash_file(&file)) {
        Ok(digest) => Ok(Some(digest)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

#[cfg(test)]
mod tests;
