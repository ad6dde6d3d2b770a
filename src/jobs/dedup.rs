//! The whole way: files to the documents that are kept.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use super::corpus::{Again, Corpus, Source};
use super::report::{Counts, LargeCluster, Outcome, Parameters, Report, note_oddities, write_json};
use super::search::{Candidates, Search};
use crate::error::{Error, Result};
use crate::io::{Columns, FrameWriter, InputFile, KeptTable, OutputFolder};
use crate::pipeline::KeepPolicy;
use crate::pipeline::LargeBuckets;
use crate::pipeline::{Clustering, Clusters, Removal};
use crate::progress::Timings;
use crate::scheme::Scheme;

/// What `dedup` is to do.
#[derive(Clone, Debug)]
pub struct Dedup {
    /// Which pairs are looked for.
    pub search: Search,
    /// How groups are formed.
    pub clustering: Clustering,
    /// Which document of a group is kept.
    pub keep: KeepPolicy,
}

/// Keeps one document of each group of near-duplicates and writes `kept/`, `removed.jsonl`,
/// `report.json`, and `run.json` with what `environment` makes of the times, into `folder`.
///
/// # Errors
/// Whatever keeps an input from being read or the output from being written; then the folder holds
/// no result of this run.
pub fn dedup(
    source: &Source<'_>,
    scheme: &Scheme,
    task: &Dedup,
    folder: OutputFolder,
    environment: &dyn Fn(&Timings) -> serde_json::Value,
) -> Result<Outcome> {
    let mut timings = Timings::default();
    let spill = folder.partial().join("exact-sets");
    let search = &task.search;
    let candidates = Candidates::read(source, search, search.held_bytes, spill, &mut timings)?;
    let corpus = &candidates.corpus;
    let groups = Groups::of(corpus, task.keep);
    let leaders = LargeBuckets::Leaders(&groups.ranks);
    let pairs = candidates.compare(source.progress, &task.search, leaders, &mut timings)?;
    let removed = timings.time("cluster", 0, || {
        let positions = corpus.positions();
        let clusters = match task.clustering {
            Clustering::Greedy => Clusters::greedy(&pairs, positions, &groups.ranks),
            Clustering::Connected => {
                Clusters::connected(&pairs, positions, &groups.ranks, &*candidates.similarity)?
            }
        };
        Ok::<_, Error>(groups.removed(corpus, &clusters, task.search.verification.name()))
    })?;
    let sizes = cluster_sizes(&removed);
    let mut counts = Counts::of(corpus, Some(&pairs));
    counts.removed = removed.len() as u64;
    counts.clusters = sizes.len() as u64;
    counts.largest_cluster = sizes.values().copied().max().unwrap_or(0);
    counts.kept = timings.time("write", corpus.bytes, || {
        write_removed(&folder, corpus, &removed)?;
        write_kept(source, &folder, corpus, &removed)
    })?;
    if counts.documents != counts.kept + counts.removed + counts.skipped {
        return Err(Error::Accounting {
            documents: counts.documents,
            kept: counts.kept,
            removed: counts.removed,
            skipped: counts.skipped,
        });
    }
    note_oddities(source, &counts);
    let parameters = Parameters::of(source, scheme, Some(&task.search));
    let mut report = Report::new("dedup", source, corpus, counts.clone(), parameters);
    report.keep = Some(match task.keep {
        KeepPolicy::First => "first",
        KeepPolicy::Longest => "longest",
    });
    report.cluster = Some(match task.clustering {
        Clustering::Greedy => "greedy",
        Clustering::Connected => "connected",
    });
    report.cluster_sizes = histogram(&sizes, counts.kept);
    report.largest_clusters = largest(corpus, &sizes);
    create_json(&folder, "report.json", &report)?;
    create_json(&folder, "run.json", &environment(&timings))?;
    folder.commit()?;
    Ok(Outcome {
        counts,
        recall_at_threshold: Some(task.search.recall_at_threshold()),
        timings,
    })
}

fn create_json(folder: &OutputFolder, name: &str, value: &impl Serialize) -> Result<()> {
    let (mut file, path) = folder.create(name)?;
    write_json(&mut file, value).map_err(Error::io("write", path))
}

/// The documents with one sequence of units, for each position, and their claim to be kept.
struct Groups {
    /// The row of the document that is kept if the position is.
    keepers: Vec<u32>,
    /// The rank of each position; empty when positions are ranks.
    ranks: Vec<u32>,
}

impl Groups {
    fn of(corpus: &Corpus, keep: KeepPolicy) -> Self {
        let mut keepers = corpus.distinct().to_vec();
        for (row, position) in corpus.repeats() {
            let keeper = &mut keepers[*position as usize];
            if keep.prefers(corpus.length(*row), corpus.length(*keeper)) {
                *keeper = *row;
            }
        }
        let length = |position: u32| corpus.length(keepers[position as usize]);
        let positions = u32::try_from(keepers.len()).unwrap_or(u32::MAX);
        let ranks = keep.ranks(length, positions);
        Groups { keepers, ranks }
    }

    /// All documents that go, by ascending row: those of a position that goes, and those that are
    /// identical to the one that is kept of theirs.
    fn removed(
        &self,
        corpus: &Corpus,
        clusters: &Clusters,
        found_by: &'static str,
    ) -> Vec<Removed> {
        let removal_of = |position: u32| {
            let removals = &clusters.removals;
            let at = removals.binary_search_by_key(&position, |removal| removal.position);
            at.ok().map(|at| removals[at])
        };
        let keeper = |position: u32| self.keepers[position as usize];
        let distinct = corpus.distinct().iter().copied().zip(0..);
        let members = distinct.chain(corpus.repeats().iter().copied());
        let mut removed: Vec<Removed> = members
            .filter_map(|(row, position)| match removal_of(position) {
                Some(Removal {
                    kept,
                    similarity,
                    via,
                    ..
                }) => Some(Removed {
                    row,
                    kept: keeper(kept),
                    similarity: (!similarity.is_nan()).then_some(similarity),
                    found_by,
                    via: via.map(|(via, similarity)| (keeper(via), similarity)),
                }),
                None if row == keeper(position) => None,
                None => Some(Removed {
                    row,
                    kept: keeper(position),
                    similarity: Some(1.0),
                    found_by: "identical",
                    via: None,
                }),
            })
            .collect();
        removed.sort_unstable_by_key(|removed| removed.row);
        removed
    }
}

/// A document that goes.
struct Removed {
    row: u32,
    /// The row of the document that is kept for it.
    kept: u32,
    similarity: Option<f64>,
    found_by: &'static str,
    via: Option<(u32, f64)>,
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
struct RemovedLine<'a> {
    id: &'a RawValue,
    file: &'a str,
    row: u64,
    kept_id: &'a RawValue,
    kept_file: &'a str,
    kept_row: u64,
    similarity: Option<f64>,
    found_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    via_id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    via_similarity: Option<Option<f64>>,
}

fn write_removed(folder: &OutputFolder, corpus: &Corpus, removed: &[Removed]) -> Result<()> {
    let (file, path) = folder.create("removed.jsonl")?;
    let mut target = BufWriter::new(file);
    for removed in removed {
        let (id, kept_id) = (corpus.raw_id(removed.row)?, corpus.raw_id(removed.kept)?);
        let via_id = removed.via.map(|(via, _)| corpus.raw_id(via)).transpose()?;
        let (file, row) = corpus.place(removed.row);
        let (kept_file, kept_row) = corpus.place(removed.kept);
        let line = RemovedLine {
            id: &id,
            file,
            row,
            kept_id: &kept_id,
            kept_file,
            kept_row,
            similarity: removed.similarity,
            found_by: removed.found_by,
            via_id: via_id.as_deref(),
            via_similarity: removed
                .via
                .map(|(_, similarity)| (!similarity.is_nan()).then_some(similarity)),
        };
        serde_json::to_writer(&mut target, &line)
            .map_err(std::io::Error::from)
            .and_then(|()| target.write_all(b"\n"))
            .map_err(Error::io("write", &path))?;
    }
    target.flush().map_err(Error::io("write", &path))
}

/// Reads the inputs again and writes what is kept of each under its name, in its format and
/// compression; gives the number of documents written. A file of which nothing is kept is not written.
fn write_kept(
    source: &Source<'_>,
    folder: &OutputFolder,
    corpus: &Corpus,
    removed: &[Removed],
) -> Result<u64> {
    let mut is_kept = vec![true; usize::try_from(corpus.documents()).unwrap_or(usize::MAX)];
    for removed in removed {
        is_kept[removed.row as usize] = false;
    }
    let kept_folder = folder.partial().join("kept");
    std::fs::create_dir_all(&kept_folder).map_err(Error::io("create", &kept_folder))?;
    let mut written = 0;
    let mut table = None;
    let mut current: Option<KeptFile> = None;
    corpus.read_again(source, "write", Columns::All, |again| {
        match again {
            Again::Table(schema, metadata) => table = Some((schema, metadata)),
            Again::Chunk(chunk, rows) => {
                let keeps: Vec<bool> = rows
                    .iter()
                    .map(|row| row.is_some_and(|row| is_kept[row as usize]))
                    .collect();
                let kept = keeps.iter().filter(|kept| **kept).count() as u64;
                if kept > 0 {
                    let input = &source.inputs.files[chunk.file];
                    let target = match &mut current {
                        Some(target) => target,
                        None => {
                            let name = format!("kept/{}", input.relative);
                            let (file, path) = folder.create(&name)?;
                            current.insert(KeptFile::new(file, input, table.take(), path)?)
                        }
                    };
                    target.write(&chunk, keeps)?;
                    written += kept;
                }
            }
            Again::End => {
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

type Table = (
    arrow_schema::SchemaRef,
    std::sync::Arc<parquet::file::metadata::ParquetMetaData>,
);

/// A file of kept records.
struct KeptFile {
    path: std::path::PathBuf,
    form: KeptForm,
}

enum KeptForm {
    Bytes(FrameWriter),
    Table(Box<KeptTable<FrameWriter>>),
}

impl KeptFile {
    fn new(
        file: File,
        input: &InputFile,
        table: Option<Table>,
        path: std::path::PathBuf,
    ) -> Result<Self> {
        let frames = FrameWriter::new(file, input.arrived);
        let form = match table {
            None => KeptForm::Bytes(frames),
            Some((schema, metadata)) => KeptForm::Table(Box::new(
                KeptTable::new(frames, schema, &metadata).map_err(unwritable(&path))?,
            )),
        };
        Ok(KeptFile { path, form })
    }

    fn write(&mut self, chunk: &crate::io::Chunk, keeps: Vec<bool>) -> Result<()> {
        match (&mut self.form, &chunk.contents) {
            (KeptForm::Table(table), crate::io::Contents::Rows(rows)) => {
                table.write(rows, keeps).map_err(unwritable(&self.path))
            }
            (KeptForm::Bytes(frames), _) => {
                let keeps = |record: u64| {
                    let record = usize::try_from(record).ok();
                    record.is_some_and(|record| keeps[record])
                };
                let written = chunk.write_kept(keeps, frames);
                written.map_err(Error::io("write", &self.path))
            }
            (KeptForm::Table(_), _) => Ok(()),
        }
    }

    fn finish(self) -> Result<()> {
        let frames = match self.form {
            KeptForm::Bytes(frames) => frames,
            KeptForm::Table(table) => table.finish().map_err(unwritable(&self.path))?,
        };
        frames.finish().map_err(Error::io("write", &self.path))
    }
}

fn unwritable(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Error {
    let path = path.to_owned();
    move |error| Error::Output {
        path,
        problem: error.to_string(),
        remedy: "make room, or choose another folder".to_owned(),
    }
}

/// Documents in the cluster of each kept row, for those with two or more.
fn cluster_sizes(removed: &[Removed]) -> HashMap<u32, u64> {
    let mut sizes = HashMap::new();
    for removed in removed {
        *sizes.entry(removed.kept).or_insert(1) += 1;
    }
    sizes
}

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
fn largest(corpus: &Corpus, sizes: &HashMap<u32, u64>) -> Vec<LargeCluster> {
    const LISTED: usize = 10;
    let mut by_size: Vec<(u64, u32)> = sizes.iter().map(|(row, size)| (*size, *row)).collect();
    by_size.sort_unstable_by_key(|(size, row)| (std::cmp::Reverse(*size), *row));
    let listed = by_size.into_iter().take(LISTED);
    listed
        .filter_map(|(documents, row)| {
            let (file, record) = corpus.place(row);
            Some(LargeCluster {
                kept_id: corpus.raw_id(row).ok()?,
                kept_file: file.to_owned(),
                kept_row: record,
                documents,
            })
        })
        .collect()
}
