//! Deduplicates documents in files.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::kept::{DedupOutput, Target, stream_kept, write_kept};
use super::machine;
use super::outcome::Outcome;
use super::run::Run;
use super::source::FileSource;
use crate::error::{Conflict, Error, Result};
use crate::io::{
    KeepBy, LargeCluster, OutputFolder, Places, REPORT, RUN_RECORD, RemovedDocument, RemovedFormat,
    Report, write_clusters, write_json, write_removed_lines, write_removed_table,
};
use crate::jobs::dedup::{Dedup, Deduplication, Removed, cluster_sizes, find_removals};
use crate::jobs::search::{CandidateMethod, Search, Verification};
use crate::ordered::beside;
use crate::pipeline::KeepPolicy;
use crate::progress::{Counts, Timings, advance};

/// The file of the clusters.
const CLUSTERS: &str = "clusters.parquet";

impl Run<'_> {
    /// Keeps one document of each cluster of near-duplicates. Writes into a folder: `kept/` (the kept records of
    /// each input, in its format), `removed.jsonl` (each removed document and the one kept in its place; or
    /// `removed.parquet`), `clusters.parquet` (the cluster of every document), `report.json` and `run.json`. Or
    /// writes the kept records to a stream, or nothing ([`DedupOutput`]).
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`] if the progress stops the
    /// run. After an error the folder holds no new results, and earlier ones are unchanged. A stream may have
    /// received some records.
    pub fn dedup<'o>(self, task: &Dedup, output: impl Into<DedupOutput<'o>>) -> Result<Outcome> {
        if self.keep_by.is_some() && task.keep == KeepPolicy::Longest {
            return Err(Conflict::KeepTwice.into());
        }
        let target = Target::open(&self, output.into())?;
        let held_bytes = match (&target, task.search.verification) {
            // Nothing is read again.
            (Target::Nowhere(_), Verification::None | Verification::Signature) => 0,
            _ => self.held_bytes,
        };
        let mut timings = Timings::default();
        let temporary = target.temporary();
        let mut source = FileSource::open(&self, held_bytes, temporary, &mut timings)?;
        target.check(&source)?;
        let (corpus, found) = find_removals(&mut source, self.engine, task, self.progress)?;
        timings.0.extend(found.timings.0.iter().cloned());
        let mut counts = found.counts.clone();
        source.complete(&mut counts);
        let is_kept = kept_rows(corpus.rows, &found.removed);
        let to_read = source.bytes_to_read_again();
        let folder = match target {
            Target::Folder(folder) => {
                counts.kept = timings.time("write", corpus.bytes, || {
                    let look = || advance(self.progress, to_read, corpus.documents(), corpus.bytes);
                    let kept = folder.sync_beside(|completed| {
                        let tables = |is_stopped: &AtomicBool| {
                            let removed = &found.removed;
                            write_tables(&folder, &source, corpus.rows, removed, is_stopped)?;
                            completed(CLUSTERS.to_owned());
                            completed(self.removed_format.file_name().to_owned());
                            Ok(())
                        };
                        let kept = || write_kept(&folder, &source, &is_kept, completed);
                        let kept = beside(tables, kept, look)?;
                        // To free much memory takes time, which is there while the disk is busy.
                        let held = source.places.held.take();
                        rayon::spawn(|| drop(held));
                        Ok(kept)
                    })?;
                    folder.sync()?;
                    Ok::<_, Error>(kept)
                })?;
                Some(folder)
            }
            Target::Stream(target, _) => {
                counts.kept = timings.time("write", corpus.bytes, || {
                    stream_kept(target, &source, &is_kept)
                })?;
                None
            }
            Target::Nowhere(_) => None,
        };
        check_sum(&counts)?;
        self.warn_of_oddities(&counts);
        let report = self.report(&source, counts, task, &found);
        let elapsed_s = timings.complete(self.start);
        if let Some(folder) = folder {
            create_json(&folder, REPORT, &report)?;
            let record = machine::run_record(&self, &timings, elapsed_s, folder.files());
            create_json(&folder, RUN_RECORD, &record)?;
            // Last chance to stop the run.
            advance(self.progress, to_read, report.counts.kept, corpus.bytes)?;
            folder.commit()?;
        }
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
        })
    }

    /// Makes the report of a deduplication.
    fn report(
        &self,
        source: &FileSource<'_>,
        counts: Counts,
        task: &Dedup,
        found: &Deduplication,
    ) -> Report {
        let sizes = cluster_sizes(&found.removed);
        let kept = counts.kept;
        let search = Search {
            candidates: found.candidates,
            ..task.search.clone()
        };
        let mut report = source.report("dedup", counts, Some(&search));
        report.keep = Some(task.keep.name());
        report.keep_by = self.keep_by.as_ref().map(KeepBy::to_string);
        report.prefer_source = self.prefer_source.patterns().map(str::to_owned).collect();
        report.cluster = Some(task.clustering.name());
        report.max_bucket = (found.candidates == CandidateMethod::Lsh).then_some(task.max_bucket);
        report.expected_precision = found.expected_precision;
        report.cluster_sizes = histogram(&sizes, kept);
        report.largest_clusters = largest(&source.places, &sizes);
        report
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

/// Marks the kept documents, by row.
fn kept_rows(rows: u32, removed: &[Removed]) -> Vec<bool> {
    let mut is_kept = vec![true; rows as usize];
    for removed in removed {
        is_kept[removed.row as usize] = false;
    }
    is_kept
}

fn create_json(folder: &OutputFolder, name: &str, value: &impl Serialize) -> Result<()> {
    let (mut file, path) = folder.create(name)?;
    write_json(&mut file, value).map_err(Error::io("write", path))
}

/// Writes the removed documents, and the cluster of every document, until `is_stopped` is set.
fn write_tables(
    folder: &OutputFolder,
    source: &FileSource<'_>,
    documents: u32,
    removed: &[Removed],
    is_stopped: &AtomicBool,
) -> Result<()> {
    let places = &source.places;
    let progress = source.run.progress;
    let look = || match is_stopped.load(Ordering::Relaxed) || progress.is_stopped() {
        true => Err(Error::Stopped),
        false => Ok(()),
    };
    let rows = removed.iter().map(|removed| RemovedDocument {
        row: removed.row,
        kept: removed.kept,
        similarity: removed.similarity,
        found_by: removed.found_by.name(),
        via: removed.via,
    });
    let stoppable = (0u64..).zip(rows.clone()).map(|(done, removed)| {
        if done % 65_536 == 65_535 {
            look()?;
        }
        Ok(removed)
    });
    let (file, path) = folder.create(CLUSTERS)?;
    let ids = write_clusters(rows, places, documents, (file, &path), look)?;
    let format = source.run.removed_format;
    let (file, path) = folder.create(format.file_name())?;
    match format {
        RemovedFormat::JsonLines => write_removed_lines(stoppable, places, file, &path),
        RemovedFormat::Parquet => write_removed_table(stoppable, places, ids, file, &path),
    }
}

/// The number of clusters of each size.
fn histogram(sizes: &HashMap<u32, u64>, kept: u64) -> BTreeMap<u64, u64> {
    let mut histogram = BTreeMap::new();
    for size in sizes.values() {
        *histogram.entry(*size).or_insert(0) += 1;
    }
    let alone = kept - sizes.len() as u64;
    if alone > 0 {
        histogram.insert(1, alone);
    }
    histogram
}

/// The largest clusters, by size and then by row.
fn largest(places: &Places, sizes: &HashMap<u32, u64>) -> Vec<LargeCluster> {
    const LISTED: usize = 10;
    let mut by_size: Vec<(u64, u32)> = sizes.iter().map(|(row, size)| (*size, *row)).collect();
    by_size.sort_unstable_by_key(|(size, row)| (std::cmp::Reverse(*size), *row));
    let listed = by_size.into_iter().take(LISTED);
    listed
        .map(|(documents, row)| {
            let (file, record) = places.place(row);
            LargeCluster {
                kept_id: places.raw_id(row),
                kept_file: file.to_owned(),
                kept_row: record,
                documents,
            }
        })
        .collect()
}
