//! Builds an index of all documents of the inputs at once.
//!
//! The first stage reads, signs and distributes documents to temporary files; the second one fills the tables of the index
//! with them, sorted. A build that was stopped goes on with the next chunk of a file, or with the second stage.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::index::{IndexCounts, IndexOutcome, Named};
use super::resume::{ByName, ended};
use super::run::Run;
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu::progress::{Timings, advance, counted};
use simgpu::search::Search;
use simgpu::store::spill::Spill;
use simgpu_index::{BulkBuild, Durability, Index, IndexKind, SignedForIndex};
use simgpu_io::{Chunk, Columns, Event, FilesReading, Position, Record};

/// Bytes of memory that a build works in, unless told otherwise.
const MEMORY: u64 = 128 << 20;

/// The name of the first stage, for checkpoints.
const READ: &str = "read";

/// What is read at a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct BuildState {
    position: Position,
    counts: IndexCounts,
    /// Whether records have ids of their own; `None` before the first one.
    have_ids: Option<bool>,
    /// The number of records of each file so far.
    rows: Vec<u64>,
    /// The number of documents.
    documents: u32,
    /// Whether all is read.
    is_complete: bool,
}

impl Run<'_> {
    /// Builds an index of all documents in a folder that does not exist or is empty. The folder is an index once all of them
    /// are on disk. It holds what [`Run::add_to`] would store. Of documents with one id, [`Run::on_known_id`] says which the index
    /// has.
    ///
    /// It works in [`Run::memory`] bytes, 128 MiB by default, beside a cache of 256 MiB, and writes temporary files of some 400
    /// bytes per document to [`Run::temporary`], by default the folder itself. If the build is stopped, the same call goes on. One of [`IndexKind::Exact`] adds its documents
    /// in turn, and begins anew.
    ///
    /// # Errors
    /// Those of [`Index::create`], [`Index::add`] and of reading the inputs, and [`Error::Stopped`].
    pub fn build_index(self, folder: &Path, search: &Search) -> Result<IndexOutcome> {
        if IndexKind::from_search(search) == IndexKind::Exact {
            return self.build_in_order(folder, search);
        }
        let temporary = self.temporary.clone().unwrap_or(folder.to_owned());
        let progress = self.options.progress;
        let built = self.build_in(folder, search);
        ended(built, &temporary, Some(folder), progress)
    }

    fn build_in(self, folder: &Path, search: &Search) -> Result<IndexOutcome> {
        self.check_folder(folder)?;
        let engine = self.engine.with_shingler(self.engine.shingler().clone());
        let index = Index::begin(folder, engine, search)?.durability(Durability::OnSync);
        let mut timings = Timings::default();
        let mut source = FileSource::open(&self, 0, folder.to_owned(), &mut timings)?;
        let memory = self.memory.or(Some(MEMORY));
        source.set_budget(Some(folder), search, ByName::new(), memory)?;
        let budget = source.budget.clone();
        let budget = budget.ok_or_else(|| Error::Defect("a build has no memory".to_owned()))?;
        let spill = match &budget.unfinished {
            Some(spill) => Arc::clone(spill),
            None => Spill::new(&budget)?,
        };
        let mut build = Build::new(&source, &index, &spill);
        if budget.unfinished.is_some() {
            let documents = counted(build.bulk.documents().into(), "document");
            let told = format!("going on where the build was stopped: {documents} are read");
            self.options.progress.tell(&told);
        }
        if !build.state.is_complete {
            timings.time("read", source.stored_bytes(), || build.read())?;
            build.state.is_complete = true;
            build.save()?;
        }
        let progress = self.options.progress;
        let (read, mut added) = (u64::from(build.bulk.documents()), 0);
        timings.time("write", 0, || {
            let filled = build.bulk.finish(&index, self.on_known_id, progress);
            added = filled.map_err(|error| self.with_places(error, &source))?;
            index.complete()
        })?;
        let counts = IndexCounts {
            added,
            known_ids: read - added,
            ..build.state.counts
        };
        spill.complete();
        let elapsed_s = timings.complete(self.options.started);
        Ok(IndexOutcome {
            counts,
            timings,
            elapsed_s,
        })
    }
}

/// The first stage of a build.
struct Build<'a> {
    source: &'a FileSource<'a>,
    index: &'a Index,
    spill: &'a Arc<Spill>,
    bulk: BulkBuild,
    named: Named,
    state: BuildState,
}

impl<'a> Build<'a> {
    fn new(source: &'a FileSource<'a>, index: &'a Index, spill: &'a Arc<Spill>) -> Self {
        let state: BuildState = spill.state(READ).unwrap_or_default();
        let names = source.files.iter();
        let names = names.map(|file| (PathBuf::clone(&file.named), file.relative.clone()));
        let mut named = Named::new(source.run, names.collect());
        if !state.rows.is_empty() {
            (named.have_ids, named.rows) = (state.have_ids, state.rows.clone());
        }
        Build {
            bulk: BulkBuild::new(spill, index, state.documents),
            source,
            index,
            spill,
            named,
            state,
        }
    }

    /// Reads, signs and distributes all documents, or those after where the build was stopped.
    fn read(&mut self) -> Result<()> {
        let (source, index) = (self.source, self.index);
        let progress = source.run.options.progress;
        progress.begin("read", source.stored_bytes());
        let start = self.state.position;
        let reading = FilesReading::new(&source.files, source.reading(Columns::Needed))?;
        let reading = reading.starting_at(&start);
        let is_between_chunks = Cell::new(true);
        let mut bytes = 0;
        let sign = |chunk: Chunk| {
            if start.is_after(&chunk) {
                return Ok(None);
            }
            let (records, documents) = source.run.parse(&chunk);
            let signed = SignedForIndex::new(&documents, index)?;
            Ok(Some((chunk.file, chunk.bytes() as u64, records, signed)))
        };
        let read = reading.map(sign, |event| {
            is_between_chunks.set(false);
            match event {
                Some(Event::Chunk(Some((file, chunk_bytes, records, signed)))) => {
                    bytes += chunk_bytes;
                    self.add(file, records, &signed)?;
                }
                Some(Event::End { file, .. }) => self.end_file(file),
                Some(Event::Table(_) | Event::Chunk(None)) | None => {}
            }
            is_between_chunks.set(true);
            if self.spill.is_due() {
                self.save()?;
            }
            let documents = u64::from(self.bulk.documents());
            advance(progress, reading.consumed(), documents, bytes)
        });
        if matches!(read, Err(Error::Stopped)) && is_between_chunks.get() {
            self.save()?;
        }
        if read.is_ok() {
            self.named.warn(progress);
        }
        read
    }

    /// Adds the documents of a chunk.
    fn add(&mut self, file: usize, records: Vec<Record>, signed: &SignedForIndex) -> Result<()> {
        let named = self.named.name(file, records)?;
        let counts = &mut self.state.counts;
        counts.documents += named.records.len() as u64;
        counts.skipped += (named.records.len() - named.rows.len()) as u64;
        self.state.position.chunk += 1;
        let rows = named.rows.iter().copied();
        self.bulk.add(signed, rows.zip(named.ids()))
    }

    fn end_file(&mut self, file: usize) {
        let position = &mut self.state.position;
        *position = Position {
            file: file + 1,
            chunk: 0,
            records: position.records + self.named.rows[file],
        };
    }

    /// Makes a checkpoint between two chunks.
    fn save(&mut self) -> Result<()> {
        self.bulk.flush()?;
        self.state.have_ids = self.named.have_ids;
        self.state.rows.clone_from(&self.named.rows);
        self.state.documents = self.bulk.documents();
        self.spill.checkpoint(READ, &self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{LITTLE, Watched, engine, place, search, skipping, watched_by};
    use simgpu::error::Error;
    use simgpu::search::{CandidateMethod, Verification};
    use simgpu_index::{IndexCheck, IndexedDocument};

    /// The documents of an index that is whole.
    fn documents(folder: &Path) -> (IndexCheck, Vec<IndexedDocument>) {
        let index = Index::open(folder).unwrap();
        let mut all = Vec::new();
        let mut take = |document| {
            all.push(document);
            Ok(())
        };
        index.for_each(&mut take).unwrap();
        (index.verify().unwrap(), all)
    }

    /// Of another kind it would not go on, and is not discarded unless that is asked for.
    #[test]
    fn a_build_that_was_stopped_is_not_lost() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let search = search(&engine, Verification::Exact);
        let folder = place.path("stopped");
        let build = |told: &Watched<'_>, search: &Search, restart: bool| {
            let run = Run {
                restart,
                options: watched_by(told),
                ..skipping(&engine, &inputs)
            };
            match IndexKind::from_search(search) {
                IndexKind::Lsh => Run {
                    memory: Some(LITTLE),
                    ..run
                }
                .build_index(&folder, search),
                IndexKind::Exact => run.build_index(&folder, search),
            }
        };
        let is_stopped = |last| {
            let built = build(&Watched::stop_at(last), &search, true);
            matches!(built, Err(Error::Resumable { .. }))
        };
        assert!((0..).take(200).any(is_stopped));
        let exact = Search {
            candidates: CandidateMethod::Join,
            ..search.clone()
        };
        let told = Watched::stop_at(usize::MAX);
        let refused = build(&told, &exact, false).unwrap_err().to_string();
        assert!(
            refused.contains("was stopped") && refused.contains("`restart`"),
            "{refused}"
        );
        build(&told, &exact, true).unwrap();
        assert_eq!(Index::open(&folder).unwrap().kind(), IndexKind::Exact);
    }

    #[test]
    fn a_build_that_was_stopped_goes_on() {
        let (place, engine) = (place(), engine());
        let inputs = place.inputs();
        let search = search(&engine, Verification::Exact);
        let build = |name: &str, told: &Watched<'_>, search: &Search| {
            let run = Run {
                memory: Some(LITTLE),
                ..skipping(&engine, &inputs)
            };
            Run {
                options: watched_by(told),
                ..run
            }
            .build_index(&place.path(name), search)
        };
        let told = Watched::stop_at(usize::MAX);
        let whole = build("whole", &told, &search).unwrap().counts;
        assert!(
            whole.added > 300
                && whole.skipped > 3
                && whole.documents == whole.added + whole.skipped
        );
        let expected = documents(&place.path("whole"));
        let calls = told.calls.into_inner();
        let mut went_on = 0;
        for last in (0..calls).step_by((calls / 8).max(1)) {
            let name = format!("stopped-{last}");
            match build(&name, &Watched::stop_at(last), &search) {
                Err(Error::Resumable { error, .. }) => {
                    assert!(matches!(*error, Error::Stopped));
                    assert!(!Index::is_in(&place.path(&name)).unwrap());
                    let other = Search {
                        threshold: 0.4,
                        ..search.clone()
                    };
                    let refused = build(&name, &Watched::stop_at(usize::MAX), &other).unwrap_err();
                    assert!(
                        refused
                            .to_string()
                            .contains("`threshold` was 0.5, and is 0.4"),
                        "{refused}"
                    );
                }
                Err(Error::Stopped) => {}
                // Fewer calls than before: how many there are depends on time.
                Ok(_) => continue,
                Err(error) => panic!("{error}"),
            }
            let told = Watched::stop_at(usize::MAX);
            let counts = build(&name, &told, &search).unwrap().counts;
            went_on += u32::from(told.has("going on where the build was stopped"));
            assert_eq!(counts, whole, "{last}");
            assert!(documents(&place.path(&name)) == expected, "{last}");
            let left = std::fs::read_dir(place.path(&name)).unwrap();
            assert_eq!(left.count(), 4);
        }
        assert!(went_on > 1, "{went_on} of {calls}");
    }
}
