//! Deduplicates documents in files.
//!
//! Tables are written beside kept files (`threads::beside`): they need one core, and the kept files all.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::dedup_output::{DedupOutput, KeptRecords, OpenOutput, stream_kept, write_kept};
use super::outcome::Outcome;
use super::overview::Overview;
use super::page::report_page;
use super::pairs_file::PairsFile;
use super::resume::ended;
use super::run::{Action, Run, RunOptions};
use super::samples::{Sampler, Samples};
use super::source::FileSource;
use simgpu::error::{Conflict, Error, Result};
use simgpu::pipeline::{KeepPolicy, NamedRow, Removal, Removed};
use simgpu::progress::{Counts, Timings, advance};
use simgpu::search::{
    ClusterSizes, Dedup, DroppedRows, FoundRemovals, Removals, Search, Verification, find_removals,
};
use simgpu_base::threads::beside;
use simgpu_io::{
    ClusterTable, DedupParameters, Facts, FieldPath, FrameWriter, KeepBy, LargeCluster,
    OutputFolder, Places, REPORT, RUN_RECORD, RemovedDocuments, RemovedFormat, Report, run_record,
    write_json,
};

/// The file of the clusters.
const CLUSTERS: &str = "clusters.parquet";

impl Run<'_> {
    /// Keeps one document of each cluster of near-duplicates. Writes into a folder: `kept/` (the kept records of
    /// each input, in its format), `removed.jsonl` (each removed document and the one kept in its place; or
    /// in another [`RemovedFormat`]), `clusters.parquet` (the cluster of every document), `samples.jsonl` (texts to look at;
    /// [`Run::samples`]), `report.html` (a page that shows the result), `report.json` and `run.json`. Or writes the kept
    /// records to a stream, or nothing ([`DedupOutput`]). With [`Action::Report`], there is no `kept/`, and no `samples.jsonl`,
    /// whose texts are taken while kept records are copied.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`] if the progress stops the
    /// run. After an error the folder holds no new results, and earlier ones are unchanged. A stream may have
    /// received some records.
    pub fn dedup<'o>(self, task: &Dedup, output: impl Into<DedupOutput<'o>>) -> Result<Outcome> {
        let output = output.into();
        let folder = output.folder().map(Path::to_owned);
        let partial = folder.as_deref().map(OutputFolder::partial_of);
        let temporary = self.temporary.clone().or(partial).unwrap_or_default();
        let progress = self.options.progress;
        let outcome = self.dedup_into(task, output);
        ended(outcome, &temporary, folder.as_deref(), progress)
    }

    fn dedup_into(mut self, task: &Dedup, output: DedupOutput<'_>) -> Result<Outcome> {
        let folder = output.folder().map(Path::to_owned);
        let others = [
            ("`keep_by`", self.keep_by.is_some()),
            ("`prefer_source`", self.prefer_source.patterns().count() > 0),
            (
                "`against`",
                self.against.is_some() || !self.indexes.is_empty(),
            ),
        ];
        let other = others.into_iter().find(|(_, is_given)| *is_given);
        self.check_indexes(task)?;
        task.check_measure(other.map(|(option, _)| option))?;
        if self.keep_by.is_some() && task.keep == KeepPolicy::Longest {
            return Err(Conflict::KeepTwice.into());
        }
        let adding = self.adding_run(task, folder.as_deref())?;
        if let Some(adding) = &adding {
            self.repeat_adding(adding)?;
        }
        let target = OpenOutput::open(&self, output)?;
        let copies = self.action == Action::Drop && !matches!(target, OpenOutput::Nowhere(_));
        let held_bytes = match task.search.verification {
            // Nothing is read again.
            Verification::None | Verification::Signature if !copies => 0,
            _ => self.held_bytes,
        };
        let mut timings = Timings::default();
        let temporary = target.temporary();
        let mut source = FileSource::open(&self, held_bytes, temporary, &mut timings)?;
        target.check(&source)?;
        if self.from_pairs.is_none() {
            let parameters = self.dedup_parameters(task);
            let memory = self.memory_bytes();
            source.set_budget(folder.as_deref(), &task.search, parameters, memory)?;
        }
        let mut written = source.written();
        if let OpenOutput::Folder(folder) = &target {
            // Whoever was stopped while it renamed files writes them again.
            if !folder.holds(&written.names)? {
                written = source.nothing_written();
            }
            folder.take_over(&written.names)?;
        }
        if task.search.estimates_index() && !self.indexes.is_empty() {
            source.sign_again(&task.search);
        }
        source.find_in_indexes(&mut timings)?;
        let mut found = match self.from_pairs {
            Some(pairs) => pairs.find_removals(&mut source, task)?,
            None => find_removals(&mut source, self.engine, task, self.options.progress)?,
        };
        let mut similarity = found.similarity.take();
        timings.0.extend(found.timings.0.iter().cloned());
        let mut counts = found.counts.clone();
        source.complete(&mut counts);
        let bytes = counts.bytes;
        let resumed = source.resumed();
        // A run that goes on may write less.
        let bytes_written = if resumed > 0 { 0 } else { bytes };
        let overview = Overview::new(&found, source.sources_by_row(), &source.places)?;
        overview.count_for_indexes(&mut counts, &source.places);
        let is_kept = &overview.is_kept;
        source.check_kept_ids(is_kept)?;
        let sampler = self.sampler(&source, &overview);
        let to_read = source.bytes_to_read_again();
        let folder = match target {
            OpenOutput::Folder(folder) => {
                counts.kept = timings.time("write", bytes_written, || {
                    let look =
                        || advance(self.options.progress, to_read, u64::from(found.rows), bytes);
                    sampler.take_of_reference(&source)?;
                    let kept = folder.sync_beside(|files| {
                        let tables = |is_stopped: &AtomicBool| {
                            write_tables(&folder, &source, &found, is_stopped)?;
                            files.complete(CLUSTERS.to_owned());
                            files.complete(self.removed_format.file_name().to_owned());
                            Ok(())
                        };
                        let kept = || {
                            if copies {
                                let kept = KeptRecords {
                                    source: &source,
                                    is_kept,
                                    sampler: &sampler,
                                };
                                write_kept(&folder, kept, &written, files)
                            } else {
                                Ok(counts.kept)
                            }
                        };
                        let kept = beside(tables, kept, look)?;
                        // To free much memory takes time, which is there while the disk is busy, and keeps other threads
                        // from allocating any.
                        let held = (source.places.held.take(), similarity.take());
                        rayon::spawn(|| drop(held));
                        Ok(kept)
                    })?;
                    folder.sync()?;
                    Ok::<_, Error>(kept)
                })?;
                Some(folder)
            }
            OpenOutput::Stream(target, _) => {
                counts.kept =
                    timings.time("write", bytes, || stream_kept(target, &source, is_kept))?;
                None
            }
            OpenOutput::Nowhere(_) => None,
        };
        check_sum(&counts)?;
        self.warn_of_oddities(&counts);
        let mut report = self.report(&source, counts, task, &found)?;
        overview.describe(&mut report, &source.places, found.verification_names())?;
        if let Some(folder) = &folder {
            self.write_page(folder, &report, sampler, &source.places)?;
        }
        let elapsed_s = timings.complete(self.options.started);
        let mut published = None;
        if let Some(folder) = folder {
            create_json(&folder, REPORT, &report)?;
            let mut record =
                run_record(&self.facts(), &timings, elapsed_s, resumed, folder.files());
            record["inputs"] = serde_json::json!(source.recorded_inputs());
            create_json(&folder, RUN_RECORD, &record)?;
            // Last chance to stop the run.
            advance(self.options.progress, to_read, report.counts.kept, bytes)?;
            source.begin_adding(adding.as_ref(), &folder.partial().join(REPORT))?;
            let named = folder.publish();
            if named.is_err() {
                source.cancel_adding(adding.as_ref());
            }
            published = Some(named?);
        }
        source.complete_budget();
        // Ids may be in temporary files.
        source.add_kept(is_kept, adding.as_ref())?;
        if let Some(published) = published {
            published.finish(self.options.progress);
        }
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
            resumed,
        })
    }

    /// Whether texts are taken, which happens while kept records are copied.
    fn takes_samples(&self) -> bool {
        self.samples && self.action == Action::Drop
    }

    /// What takes the texts of the documents that the page shows.
    fn sampler(&self, source: &FileSource<'_>, overview: &Overview) -> Sampler {
        if self.takes_samples() {
            Sampler::new(overview.shown(), source.sampled())
        } else {
            Sampler::default()
        }
    }

    /// Writes the texts that are shown, and the page that shows them.
    fn write_page(
        &self,
        folder: &OutputFolder,
        report: &Report,
        sampler: Sampler,
        places: &Places,
    ) -> Result<()> {
        let samples = if self.takes_samples() {
            sampler.write(folder, places)?
        } else {
            Samples::default()
        };
        folder.write_page(&report_page(report, &samples))
    }

    /// Makes the report of a deduplication.
    fn report(
        &self,
        source: &FileSource<'_>,
        counts: Counts,
        task: &Dedup,
        found: &FoundRemovals,
    ) -> Result<Report> {
        let kept = counts.kept;
        let search = Search {
            candidates: found.candidates,
            ..task.search.clone()
        };
        let mut report = source.report("dedup", counts, Some(&search));
        report.dedup = Some(DedupParameters {
            keep_by: self.keep_by.as_ref().map(KeepBy::to_string),
            source_field: self.source_field.as_ref().map(FieldPath::to_string),
            prefer_source: self.prefer_source.patterns().map(str::to_owned).collect(),
            from_pairs: self.from_pairs.map(PairsFile::name),
            ..DedupParameters::new(task, found.candidates)
        });
        if let Some(pairs) = self.from_pairs {
            report.parameters = pairs.parameters();
            let of_dedup = report.dedup.as_mut();
            of_dedup
                .into_iter()
                .for_each(|of_dedup| of_dedup.max_bucket = None);
        }
        // Of the documents of an index, only those take part whose estimate reaches the threshold: the others would tell how many
        // of these are there by chance.
        let is_estimated = task.search.verification == Verification::Signature;
        report.expected_precision = found
            .expected_precision
            .filter(|_| self.indexes.is_empty() || !is_estimated);
        report.cluster_sizes = histogram(&found.sizes, kept);
        report.largest_clusters = largest(&source.places, &found.sizes)?;
        Ok(report)
    }
}

/// Refuses counts that do not add up.
fn check_sum(counts: &Counts) -> Result<()> {
    if counts.documents == counts.kept + counts.removed + counts.skipped {
        return Ok(());
    }
    Err(Error::Accounting {
        documents: counts.documents,
        kept: counts.kept,
        removed: counts.removed,
        skipped: counts.skipped,
    })
}

#[doc(hidden)]
pub fn create_json(folder: &OutputFolder, name: &str, value: &impl Serialize) -> Result<()> {
    let (mut file, path) = folder.create(name)?;
    write_json(&mut file, value).map_err(Error::io("write", path))
}

/// Writes `run.json` for a run that signs nothing. `resumed` says how often it was resumed. The other files are written
/// by then.
#[doc(hidden)]
pub fn create_run_record(
    folder: &OutputFolder,
    options: &RunOptions<'_>,
    timings: &Timings,
    elapsed_s: f64,
    resumed: u64,
) -> Result<()> {
    let facts = Facts {
        command: &options.command,
        signer: None,
        memory_bytes: None,
    };
    let record = run_record(&facts, timings, elapsed_s, resumed, folder.files());
    create_json(folder, RUN_RECORD, &record)
}

/// Writes the removed documents, and the cluster of every document, until `is_stopped` is set.
fn write_tables(
    folder: &OutputFolder,
    source: &FileSource<'_>,
    found: &FoundRemovals,
    is_stopped: &AtomicBool,
) -> Result<()> {
    let places = &source.places;
    let progress = source.run.options.progress;
    let may_drop = found.counts.dropped.is_some();
    let look = || {
        if is_stopped.load(Ordering::Relaxed) || progress.is_stopped() {
            Err(Error::Stopped)
        } else {
            Ok(())
        }
    };
    let (file, path) = folder.create(CLUSTERS)?;
    let clusters = ClusterTable {
        places,
        documents: found.rows,
        may_drop,
    };
    let ids = clusters.write(removed_rows(found), file, &path, look)?;
    let format = source.run.removed_format;
    let (file, path) = folder.create(format.file_name())?;
    let documents = RemovedDocuments {
        places,
        verification: found.verification_names(),
        path: &path,
    };
    match format {
        RemovedFormat::JsonLines | RemovedFormat::JsonLinesZstd => {
            let frames = FrameWriter::new(
                file,
                format.compression(),
                source.run.options.compression_level,
            );
            match &found.removals {
                Removals::Held(_) => {
                    let removed = stoppable(removed_rows(found), look);
                    let name = |removed: Removed<u32>| named(removed, places);
                    documents.write_lines(removed, name, frames)
                }
                Removals::Spilled(_) => {
                    let removed = stoppable(named_removals(found, places)?, look);
                    documents.write_lines(removed, Ok, frames)
                }
            }
        }
        RemovedFormat::Parquet => {
            let removed = stoppable(named_removals(found, places)?, look);
            documents.write_table(removed, ids, may_drop, file)
        }
    }
}

/// The same documents, with an error between them once `look` returns one.
fn stoppable<D>(
    removed: impl Iterator<Item = Result<Removed<D>>>,
    look: impl Fn() -> Result<()>,
) -> impl Iterator<Item = Result<Removed<D>>> {
    (0u64..).zip(removed).map(move |(done, removed)| {
        if done % 65_536 == 65_535 {
            look()?;
        }
        removed
    })
}

/// The removed documents, by ascending row.
fn removed_rows<'a>(
    found: &'a FoundRemovals,
) -> Box<dyn Iterator<Item = Result<Removed<u32>>> + 'a> {
    let dropped = &found.dropped;
    match &found.removals {
        Removals::Held(removals) => {
            let removals = removals.iter().map(|removal| Ok(*removal));
            Box::new(with_dropped(removals, dropped, |row| *row, |row| row))
        }
        Removals::Spilled(removals) => Box::new(with_dropped(
            removals.rows(),
            dropped,
            |row| *row,
            |row| row,
        )),
    }
}

/// A document, with its id.
fn named_row(row: u32, places: &Places) -> Result<NamedRow<'_>> {
    let id = places.id(row)?;
    Ok(NamedRow { row, id })
}

/// A removed document, with ids.
fn named(removed: Removed<u32>, places: &Places) -> Result<Removed<NamedRow<'_>>> {
    let name = |row| named_row(row, places);
    removed.try_name(name, name)
}

/// The removed documents with their ids, by ascending row.
fn named_removals<'a>(found: &'a FoundRemovals, places: &'a Places) -> Result<NamedRemovals<'a>> {
    let dropped = &found.dropped;
    Ok(match &found.removals {
        Removals::Held(_) => {
            Box::new(removed_rows(found).map(move |removed| named(removed?, places)))
        }
        Removals::Spilled(removals) => {
            let mut id_of = places.ids_by_row()?;
            let unnamed = |row| NamedRow { row, id: "".into() };
            let removed = with_dropped(removals.iter(), dropped, |named| named.row, unnamed);
            // Without ids of their own, documents are named by their place.
            let has_ids = places.ids.is_some();
            let of_place = |named: NamedRow<'a>| named_row(named.row, places);
            Box::new(removed.map(move |removed| match removed? {
                Removed::For(removal) if has_ids => Ok(Removed::For(removal)),
                Removed::For(removal) => Ok(Removed::For(removal.try_name(of_place, of_place)?)),
                Removed::Dropped(NamedRow { row, .. }, reason) => {
                    let id = id_of(row)?;
                    Ok(Removed::Dropped(NamedRow { row, id }, reason))
                }
            }))
        }
    })
}

type NamedRemovals<'a> = Box<dyn Iterator<Item = Result<Removed<NamedRow<'a>>>> + 'a>;

/// Removals and dropped documents, by ascending row, as both come.
fn with_dropped<'a, D: 'a>(
    removals: impl Iterator<Item = Result<Removal<D>>> + 'a,
    dropped: &'a DroppedRows,
    row_of: impl Fn(&D) -> u32 + 'a,
    of_row: impl Fn(u32) -> D + 'a,
) -> impl Iterator<Item = Result<Removed<D>>> + 'a {
    let mut removals = removals.peekable();
    let mut dropped = dropped.iter().peekable();
    std::iter::from_fn(move || {
        let next = match removals.peek() {
            Some(Ok(removal)) => row_of(&removal.document),
            // An error comes next, too.
            Some(Err(_)) => 0,
            None => u32::MAX,
        };
        match dropped.next_if(|(row, _)| *row < next) {
            Some((row, reason)) => Some(Ok(Removed::Dropped(of_row(row), reason))),
            None => Some(removals.next()?.map(Removed::For)),
        }
    })
}

/// The number of clusters of each size.
pub(super) fn histogram(sizes: &ClusterSizes, kept: u64) -> BTreeMap<u64, u64> {
    let mut histogram = sizes.histogram.clone();
    // Of the clusters of documents of a reference, none is kept.
    let alone = kept + sizes.of_reference - histogram.values().sum::<u64>();
    if alone > 0 {
        histogram.insert(1, alone);
    }
    histogram
}

/// The largest clusters, by size and then by row.
pub(super) fn largest(places: &Places, sizes: &ClusterSizes) -> Result<Vec<LargeCluster>> {
    let listed = sizes.listed.iter().map(|(documents, row)| {
        let (file, record) = places.place(*row);
        Ok(LargeCluster {
            kept_id: places.raw_id(*row)?,
            kept_in: places.kept_in(*row),
            kept_file: file.to_owned(),
            kept_row: record,
            documents: *documents,
        })
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunOptions;
    use crate::tests::{
        LITTLE, Watched, assert_complete, engine, place, skipping, task, watched_by,
    };
    use simgpu::pipeline::Clustering;
    use simgpu::search::CandidateMethod;

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let counts = |documents, kept, removed, skipped| Counts {
            documents,
            kept,
            removed,
            skipped,
            ..Counts::default()
        };
        assert!(check_sum(&counts(9, 4, 3, 2)).is_ok());
        for wrong in [counts(9, 4, 3, 1), counts(9, 5, 3, 2), counts(9, 4, 0, 2)] {
            assert!(matches!(check_sum(&wrong), Err(Error::Accounting { .. })));
        }
    }

    #[test]
    fn documents_alone_are_clusters_of_one() {
        let sizes = |histogram: &[(u64, u64)]| ClusterSizes {
            histogram: histogram.iter().copied().collect(),
            of_reference: 0,
            most_for_reference: None,
            listed: Vec::new(),
        };
        let of = |known, kept| histogram(&sizes(known), kept);
        assert_eq!(
            of(&[(2, 3), (4, 1)], 9),
            BTreeMap::from([(1, 5), (2, 3), (4, 1)])
        );
        assert_eq!(of(&[(2, 3)], 3), BTreeMap::from([(2, 3)]));
        assert_eq!(of(&[], 1), BTreeMap::from([(1, 1)]));
    }

    #[test]
    fn results_account_for_every_record() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let mut known = Vec::new();
        for clustering in [Clustering::Greedy, Clustering::Connected] {
            for keep in [KeepPolicy::First, KeepPolicy::Longest] {
                let task = Dedup {
                    clustering,
                    keep,
                    ..task(&engine)
                };
                let run = |name: &str, memory| {
                    let told = Watched::stop_at(usize::MAX);
                    let run = skipping(&engine, &inputs).memory(memory);
                    let run = run.options(RunOptions {
                        overwrite: true,
                        ..watched_by(&told)
                    });
                    run.dedup(&task, &place.path(name)).unwrap();
                    assert_complete(&place, name);
                    assert_eq!(told.has("goes on on disk"), memory == LITTLE);
                    place.results(name)
                };
                let in_memory = run("memory", 1 << 30);
                assert!(run("disk", LITTLE) == in_memory, "{task:?}");
                assert!(!known.contains(&in_memory), "{task:?}");
                known.push(in_memory);
            }
        }
    }

    #[test]
    fn reports_say_what_depends_on_the_method() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let report = |candidates| {
            let mut task = task(&engine);
            task.search.candidates = candidates;
            let nowhere = DedupOutput::Nowhere {
                temporary: &place.path("in"),
            };
            let run = skipping(&engine, &inputs).dedup(&task, nowhere);
            run.unwrap().report
        };
        let bands = |report: &Report| {
            let search = report.parameters.search.as_ref().unwrap();
            (
                search.candidates.clone(),
                search.bands.is_some(),
                report.dedup.as_ref().and_then(|dedup| dedup.max_bucket),
            )
        };
        let lsh = report(CandidateMethod::Lsh);
        assert_eq!(bands(&lsh), ("lsh".to_owned(), true, Some(4096)));
        let join = report(CandidateMethod::Join);
        assert_eq!(bands(&join), ("join".to_owned(), false, None));
        let known = join.parameters.search.unwrap().recall_at_threshold;
        assert!((known - 1.0).abs() < f64::EPSILON);
        assert!(lsh.counts.removed > 100 && join.counts.removed >= lsh.counts.removed);
    }
}
