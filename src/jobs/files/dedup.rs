//! Deduplicates documents in files.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;

use super::machine;
use super::outcome::Outcome;
use super::run::Run;
use super::second_pass::Part;
use super::source::FileSource;
use crate::error::{Error, Result};
use crate::io::{
    Columns, JsonLines, KeptFile, LargeCluster, OutputFolder, Places, REPORT, RUN_RECORD,
    RemovedLine, write_json,
};
use crate::jobs::dedup::{Dedup, Removed, cluster_sizes, find_removals};
use crate::jobs::search::Search;
use crate::progress::{Timings, advance};

impl Run<'_> {
    /// Keeps one document of each cluster of near-duplicates. Writes into `folder`: `kept/` (the kept records of
    /// each input, in its format), `removed.jsonl` (each removed document and the one kept in its place),
    /// `report.json` and `run.json`.
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`] if the progress stops the
    /// run. After an error the folder holds no new results, and earlier ones are unchanged.
    pub fn dedup(self, task: &Dedup, folder: &Path) -> Result<Outcome> {
        self.check_folder(folder)?;
        let folder = OutputFolder::open(folder, self.overwrite)?;
        let mut timings = Timings::default();
        let mut source = FileSource::open(&self, self.held_bytes, folder.partial(), &mut timings)?;
        let (corpus, found) = find_removals(&mut source, self.engine, task, self.progress)?;
        timings.0.extend(found.timings.0);
        let mut counts = found.counts;
        source.complete(&mut counts);
        counts.kept = timings.time("write", corpus.bytes, || {
            write_removed(&folder, &source, &found.removed, &task.search)?;
            let kept = write_kept(&folder, &source, corpus.rows, &found.removed)?;
            folder.sync()?;
            Ok::<_, Error>(kept)
        })?;
        if counts.documents != counts.kept + counts.removed + counts.skipped {
            return Err(Error::Accounting {
                documents: counts.documents,
                kept: counts.kept,
                removed: counts.removed,
                skipped: counts.skipped,
            });
        }
        self.warn_of_oddities(&counts);
        let sizes = cluster_sizes(&found.removed);
        let kept = counts.kept;
        let mut report = source.report("dedup", counts, Some(&task.search));
        report.keep = Some(task.keep.name());
        report.cluster = Some(task.clustering.name());
        report.max_bucket = Some(task.max_bucket);
        report.expected_precision = found.expected_precision;
        report.cluster_sizes = histogram(&sizes, kept);
        report.largest_clusters = largest(&source.places, &sizes);
        create_json(&folder, REPORT, &report)?;
        let elapsed_s = timings.complete(self.start);
        let record = machine::run_record(&self, &timings, elapsed_s, folder.files());
        create_json(&folder, RUN_RECORD, &record)?;
        // Last chance to stop the run.
        advance(
            self.progress,
            source.bytes_to_read_again(),
            kept,
            corpus.bytes,
        )?;
        folder.commit()?;
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
        })
    }
}

fn create_json(folder: &OutputFolder, name: &str, value: &impl Serialize) -> Result<()> {
    let (mut file, path) = folder.create(name)?;
    write_json(&mut file, value).map_err(Error::io("write", path))
}

fn write_removed(
    folder: &OutputFolder,
    source: &FileSource<'_>,
    removed: &[Removed],
    search: &Search,
) -> Result<()> {
    let places = &source.places;
    let (file, path) = folder.create("removed.jsonl")?;
    let mut lines = JsonLines::new(file, path);
    for (done, removed) in (0u64..).zip(removed) {
        let (id, kept_id) = (places.raw_id(removed.row), places.raw_id(removed.kept));
        let via_id = removed.via.map(|(via, _)| places.raw_id(via));
        let (file, row) = places.place(removed.row);
        let (kept_file, kept_row) = places.place(removed.kept);
        lines.write(&RemovedLine {
            id: &id,
            file,
            row,
            kept_id: &kept_id,
            kept_file,
            kept_row,
            similarity: removed.similarity,
            found_by: removed.found_by.name(),
            via_id: via_id.as_deref(),
            via_similarity: removed.via.map(|(_, similarity)| similarity),
        })?;
        if done % 65_536 == 65_535 {
            // Progress still shows the stage `compare`, at its end.
            advance(source.run.progress, search.banding.bands() as u64, 0, 0)?;
        }
    }
    lines.finish()
}

/// Reads the inputs again and writes the kept records of each under its name, in its format and compression.
/// Returns the number of documents written. Writes no empty file, because a run refuses empty inputs.
fn write_kept(
    folder: &OutputFolder,
    source: &FileSource<'_>,
    rows: u32,
    removed: &[Removed],
) -> Result<u64> {
    let mut is_kept = vec![true; rows as usize];
    for removed in removed {
        is_kept[removed.row as usize] = false;
    }
    let kept_folder = folder.partial().join("kept");
    std::fs::create_dir_all(&kept_folder).map_err(Error::io("create", &kept_folder))?;
    let mut written = 0;
    let mut table = None;
    let mut current: Option<KeptFile> = None;
    source.read_again("write", Columns::All, |part| {
        match part {
            Part::Table(form) => table = Some(form),
            Part::Chunk(chunk, rows) => {
                let keeps: Vec<bool> = rows
                    .iter()
                    .map(|row| row.is_some_and(|row| is_kept[row as usize]))
                    .collect();
                let kept = keeps.iter().filter(|kept| **kept).count() as u64;
                if kept > 0 {
                    let input = &source.files[chunk.file];
                    let target = match &mut current {
                        Some(target) => target,
                        None => {
                            let name = format!("kept/{}", input.relative);
                            let (file, path) = folder.create(&name)?;
                            current.insert(KeptFile::new(file, path, input, table.take())?)
                        }
                    };
                    target.write(&chunk, keeps)?;
                    written += kept;
                }
            }
            Part::End => {
                table = None;
                if let Some(target) = current.take() {
                    target.finish()?;
                }
            }
        }
        Ok(())
    })?;
    Ok(written)
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
