//! Deduplicates documents in files.
//!
//! Tables are written beside kept files (`threads::beside`): they need one core, and the kept files all.

mod tables;

mod record;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::dedup_output::{DedupOutput, KeptRecords, OpenOutput, stream_kept, write_kept};
use super::outcome::Outcome;
use super::overview::Overview;
use super::page::report_page;
use super::pairs_file::PairsFile;
use super::resume::ended;
use super::run::{Action, Run};
use super::samples::{Sampler, Samples};
use super::source::FileSource;
use simgpu::error::{Conflict, Error, Result};
use simgpu::pipeline::KeepPolicy;
use simgpu::progress::{Counts, Timings, advance};
use simgpu::search::{ClusterSizes, Dedup, FoundRemovals, Search, Verification, find_removals};
use simgpu_base::threads::beside;
use simgpu_io::{
    DedupParameters, FieldPath, KeepBy, LargeCluster, OutputFolder, Places, REPORT, RUN_RECORD,
    Report, run_record,
};
use tables::{CLUSTERS, write_tables};

pub use record::{create_json, create_run_record};

impl Run<'_> {
    /// Keeps one document of each cluster of near-duplicates. Writes into a folder: `kept/` (the kept records of
    /// each input, in its format), `removed.jsonl` (each removed document and the one kept in its place; or
    /// in another [`RemovedFormat`](simgpu_io::RemovedFormat)), `clusters.parquet` (the cluster of every document), `samples.jsonl` (texts to look at;
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
            let dedup = report.dedup.as_mut();
            dedup.into_iter().for_each(|dedup| dedup.max_bucket = None);
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
mod tests;
