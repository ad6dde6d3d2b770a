//! Writes the removed documents and the clusters.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu::pipeline::{NamedRow, Removal, Removed};
use simgpu::search::{DroppedRows, FoundRemovals, Removals};
use simgpu_io::{ClusterTable, FrameWriter, OutputFolder, Places, RemovedDocuments, RemovedFormat};

/// The file of the clusters.
pub(super) const CLUSTERS: &str = "clusters.parquet";

/// Writes the removed documents, and the cluster of every document, until `is_stopped` is set.
pub(super) fn write_tables(
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
pub(super) fn named(removed: Removed<u32>, places: &Places) -> Result<Removed<NamedRow<'_>>> {
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
            let name = |named: NamedRow<'a>| named_row(named.row, places);
            Box::new(removed.map(move |removed| match removed? {
                Removed::For(removal) if has_ids => Ok(Removed::For(removal)),
                Removed::For(removal) => Ok(Removed::For(removal.try_name(name, name)?)),
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
    document_of: impl Fn(u32) -> D + 'a,
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
            Some((row, reason)) => Some(Ok(Removed::Dropped(document_of(row), reason))),
            None => Some(removals.next()?.map(Removed::For)),
        }
    })
}
