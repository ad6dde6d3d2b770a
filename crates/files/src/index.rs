//! Runs over files that add documents to an index on disk, or ask it.
//!
//! A chunk of a file is a batch: threads parse chunks ahead, and sign the documents of one together. An id must be known
//! before the last record is read, so the first record decides: if it has an id, every record needs one.

mod counts;

mod hits;

mod named_records;

use std::io::Write;
use std::path::{Path, PathBuf};

use super::resume::discard_build;
use super::run::Run;
use super::source::FileSource;
use hits::{Batch, write_lines};
use simgpu::documents::Documents;
use simgpu::error::{Error, Result};
use simgpu::progress::{Timings, advance, grouped};
use simgpu::search::Search;
use simgpu_index::{Durability, Hit, Index, OnKnownId, Verdict};
use simgpu_io::{
    ArrivingLines, Chunk, Columns, Event, FilesReading, JsonLines, LongestRecord, OutputFile,
    check_json_lines, folder_of,
};

pub use counts::{IndexCounts, IndexOutcome};
pub use hits::{HitsOutput, HitsWanted};
pub(super) use named_records::Named;
pub(crate) use named_records::Parsed;

/// Batches of about 1 MiB of input, by whose documents the shingles of an index of kind `exact` are ordered.
const ORDERED_BATCHES: usize = 16;

impl Run<'_> {
    /// Builds an index of kind `exact`.
    pub(super) fn build_in_order(self, folder: &Path, search: &Search) -> Result<IndexOutcome> {
        self.check_folder(folder)?;
        let remedy = if self.restart {
            None
        } else {
            Some("pass `kind=lsh` and what it had to go on, or `restart` to discard it")
        };
        discard_build(folder, remedy)?;
        let engine = self.engine.with_shingler(self.engine.shingler().clone());
        let index = Index::begin(folder, engine, search)?.durability(Durability::OnSync);
        let outcome = self.add_in_order(&index);
        let outcome = outcome.map_err(|error| self.with_places_in_files(error, folder))?;
        index.complete()?;
        Ok(outcome)
    }

    /// Adds all documents to an index of kind `exact` that has none, in an order of shingles that follows from the first
    /// batches.
    fn add_in_order(&self, index: &Index) -> Result<IndexOutcome> {
        let (mut held, mut is_ordered) = (Vec::new(), false);
        let mut counts = IndexCounts::default();
        let on_known_id = self.on_known_id;
        let add = |batch: &Batch, counts: &mut IndexCounts| {
            // The index had no documents before.
            let added = index.add(batch, &batch.ids(), on_known_id);
            let added = added.map_err(|error| match error {
                Error::KnownId { id } => Error::RepeatedInIndex {
                    id,
                    places: Vec::new(),
                },
                error => error,
            })?;
            // A document that takes the place of an earlier one was added, and that one no longer is.
            let documents = index.stats().documents;
            counts.known_ids += counts.added + added.len() as u64 - documents;
            counts.added = documents;
            Ok(())
        };
        let add_held = |held: &mut Vec<Batch>, counts: &mut IndexCounts| {
            index.order_by(held.iter())?;
            held.drain(..).try_for_each(|batch| add(&batch, counts))
        };
        let mut outcome = self.for_each_batch(index.folder(), &mut counts, |batch, counts| {
            if is_ordered {
                return add(&batch, counts);
            }
            held.push(batch);
            is_ordered = held.len() == ORDERED_BATCHES;
            if is_ordered {
                add_held(&mut held, counts)
            } else {
                Ok(())
            }
        })?;
        add_held(&mut held, &mut outcome.counts)?;
        index.sync()?;
        Ok(outcome)
    }

    /// Adds all documents to an index, and is done when they are on disk. They are added in batches of about 1 MiB of
    /// input: if the run ends early, whole batches were added, and with [`OnKnownId::Skip`] the same run adds the others.
    /// The engine of the run is that of the index. It is faster if the index has [`Durability::OnSync`]. A record without an id
    /// is a bad one: an id that the run made up would name another record of the next run.
    ///
    /// # Errors
    /// Those of [`Index::add`], of reading the inputs, and [`Error::Stopped`].
    pub fn add_to(self, index: &Index, on_known_id: OnKnownId) -> Result<IndexOutcome> {
        let mut counts = IndexCounts::default();
        let run = self.requiring_ids();
        let outcome = run.for_each_batch(index.folder(), &mut counts, |batch, counts| {
            let verdicts = index.add(&batch, &batch.ids(), on_known_id)?;
            for verdict in verdicts {
                match verdict {
                    Verdict::Added => counts.added += 1,
                    Verdict::KnownId | Verdict::Seen(_) => counts.known_ids += 1,
                }
            }
            Ok(())
        })?;
        index.sync()?;
        Ok(outcome)
    }

    /// Adds the documents that are similar to none of an index, nor to an earlier one of the run, as if they came one by one.
    /// Writes a line of JSON per record: its `id`, the `verdict` `added`, `seen` or `known-id`, and its `hits`. A line is
    /// written when its document is on disk. A record without an id is a bad one, as for [`Run::add_to`].
    ///
    /// # Errors
    /// Those of [`Index::add_if_new`], of reading the inputs and writing the output, and [`Error::Stopped`].
    pub fn add_new_to(
        self,
        index: &Index,
        on_known_id: OnKnownId,
        output: HitsOutput<'_>,
    ) -> Result<IndexOutcome> {
        let mut counts = IndexCounts::default();
        let run = self.requiring_ids();
        run.writing(output, &mut counts, |batch, counts| {
            let verdicts = index.add_if_new(batch, &batch.ids(), on_known_id)?;
            let lines = verdicts.into_iter().map(|verdict| match verdict {
                Verdict::Added => {
                    counts.added += 1;
                    (Some("added"), Vec::new())
                }
                Verdict::KnownId => {
                    counts.known_ids += 1;
                    (Some("known-id"), Vec::new())
                }
                Verdict::Seen(hits) => (Some("seen"), hits),
            });
            Ok(lines.collect())
        })
    }

    fn requiring_ids(mut self) -> Self {
        self.fields.id_required = true;
        self
    }

    /// Finds the documents of an index that are similar to those of the inputs. Writes a line of JSON per record, in order:
    /// its `id`, and its `hits`, each with `id`, `similarity` and `found_by`, the most similar one first. In an index of
    /// [`Measure::Contained`](simgpu::pipeline::Measure::Contained) also with `query_share` and `document_share`.
    ///
    /// # Errors
    /// Those of [`Index::query_with`], of reading the inputs and writing the output, and [`Error::Stopped`].
    pub fn query(
        self,
        index: &Index,
        wanted: HitsWanted,
        output: HitsOutput<'_>,
    ) -> Result<IndexOutcome> {
        let threshold = wanted.threshold.unwrap_or(index.search().threshold);
        let mut counts = IndexCounts::default();
        self.writing(output, &mut counts, |batch, _| {
            let hits = index.query_with(batch, threshold, wanted.limit)?;
            Ok(hits.into_iter().map(|hits| (None, hits)).collect())
        })
    }

    /// Writes what `answer` says of each document, one line per record.
    fn writing(
        self,
        output: HitsOutput<'_>,
        counts: &mut IndexCounts,
        mut answer: impl FnMut(
            &Batch,
            &mut IndexCounts,
        ) -> Result<Vec<(Option<&'static str>, Vec<Hit>)>>,
    ) -> Result<IndexOutcome> {
        let overwrite = self.options.overwrite;
        let mut write_all = |target: &mut dyn Write, path: PathBuf, temporary: &Path| {
            let mut lines = JsonLines::new(target, path);
            let outcome = self.for_each_batch(temporary, counts, |batch, counts| {
                let answers = answer(&batch, counts)?;
                write_lines(&mut lines, &batch, answers, counts)?;
                lines.flush()
            })?;
            lines.finish()?;
            Ok(outcome)
        };
        match output {
            HitsOutput::File(path) => {
                check_json_lines(path)?;
                self.check_outputs(&OutputFile::names(path, ".json"))?;
                let (mut target, mut file) = OutputFile::create(path, overwrite)?;
                let partial = target.partial().to_owned();
                let written = write_all(&mut file, partial.clone(), folder_of(path));
                // What was added before the run ended early must be known.
                let has_added = counts.added > 0;
                if has_added {
                    target.keep_partial();
                }
                if written.is_ok() || has_added {
                    let progress = self.options.progress;
                    let committed = OutputFile::commit_all(vec![target], &[], progress);
                    if committed.is_err() && has_added {
                        progress.warn(&format!(
                            "the index has {} of these documents now, and the answers are in {}; rename it",
                            grouped(counts.added),
                            partial.display()
                        ));
                    }
                    committed?;
                }
                written
            }
            HitsOutput::Stream { target, temporary } => {
                write_all(target, "the output".into(), temporary)
            }
        }
    }

    /// Reads the inputs, and calls `each` with the documents of each chunk, in order. Lines of JSON that arrive on a stream
    /// alone are not waited for until it ends.
    fn for_each_batch(
        &self,
        temporary: &Path,
        counts: &mut IndexCounts,
        mut each: impl FnMut(Batch, &mut IndexCounts) -> Result<()>,
    ) -> Result<IndexOutcome> {
        let mut timings = Timings::default();
        let take = &mut |named: &mut Named, file: usize, parsed: Parsed| -> Result<u64> {
            let batch = Batch {
                named: named.name(file, parsed.0)?,
                parsed: parsed.1,
            };
            let records = batch.named.records.len();
            counts.documents += records as u64;
            counts.skipped += (records - batch.len()) as u64;
            each(batch, counts)?;
            Ok(counts.documents)
        };
        let arriving = match self.limit {
            None => {
                let longest = LongestRecord::within(self.memory);
                self.inputs.arriving_lines(longest, self.options.progress)?
            }
            Some(_) => None,
        };
        match arriving {
            Some((lines, name)) => self.take_arriving(lines, name, take)?,
            None => self.take_files(temporary, &mut timings, take)?,
        }
        let elapsed_s = timings.complete(self.options.started);
        Ok(IndexOutcome {
            counts: *counts,
            timings,
            elapsed_s,
        })
    }

    pub(super) fn parse(&self, chunk: &Chunk) -> Parsed {
        let mut documents = self.fields.empty_batch();
        let records = chunk.parse(&self.fields, |_| true, &mut documents);
        (records, documents)
    }

    /// Passes on the lines of a stream as they arrive.
    fn take_arriving(
        &self,
        mut lines: ArrivingLines,
        name: String,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let progress = self.options.progress;
        progress.begin("read", 0);
        let mut named = Named::new(self, vec![(PathBuf::from("stdin"), name)]);
        while let Some(chunk) = lines.next(progress)? {
            let documents = take(&mut named, 0, self.parse(&chunk))?;
            advance(progress, lines.bytes(), documents, lines.bytes())?;
        }
        named.warn(progress);
        Ok(())
    }

    /// Passes on the records of all files.
    fn take_files(
        &self,
        temporary: &Path,
        timings: &mut Timings,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let progress = self.options.progress;
        let source = FileSource::open(self, 0, temporary.to_owned(), timings)?;
        progress.begin("read", source.stored_bytes());
        let reading = FilesReading::new(&source.files, source.reading(Columns::Needed))?;
        let names = source.files.iter();
        let names = names.map(|file| (file.named.clone(), file.relative.clone()));
        let mut named = Named::new(self, names.collect());
        let (mut documents, mut bytes) = (0, 0);
        reading.map(
            |chunk: Chunk| Ok((chunk.file, chunk.bytes() as u64, self.parse(&chunk))),
            |event| {
                if let Some(Event::Chunk((file, chunk_bytes, parsed))) = event {
                    bytes += chunk_bytes;
                    documents = take(&mut named, file, parsed)?;
                }
                advance(progress, reading.consumed(), documents, bytes)
            },
        )?;
        named.warn(progress);
        Ok(())
    }
}

/// Receives the records of a chunk of a file, and returns the number of all so far.
type Take<'a> = dyn FnMut(&mut Named, usize, Parsed) -> Result<u64> + 'a;
