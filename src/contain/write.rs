//! Writes hits, items, and the records without contaminated documents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::found::Found;
use super::report::{ContainReport, FoundAt, HitEvidence, HitLine, RemovedLine};
use super::run::{ContainAction, ContainRun};
use crate::error::Result;
use crate::files::{
    FileEvent, KeptOfChunk, KeptOutput, Placed, Rereading, Written, create_json, create_run_record,
};
use crate::io::{
    Columns, InputFile, JsonLines, OutputFolder, Places, Position, REPORT, raw_json, unwritable,
};
use crate::progress::{Timings, advance};

/// The hits.
const HITS: &str = "hits.jsonl";

/// The items.
const ITEMS: &str = "items.jsonl";

/// The documents that were removed.
const REMOVED: &str = "removed.jsonl";

impl ContainRun<'_> {
    /// Writes all results but for the report, if there is a folder.
    pub(super) fn write(
        &self,
        output: Option<&OutputFolder>,
        (files, temporary): (&[InputFile], &Path),
        found: &mut Found<'_>,
    ) -> Result<()> {
        let removes = self.action != ContainAction::Report;
        if removes {
            let removed = found.removed.len() as u64;
            let documents = found.places.records() - found.places.bad_records();
            found.written = (Some(documents - removed), Some(removed));
        }
        let Some(output) = output else {
            return Ok(());
        };
        write_hits(output, found)?;
        write_items(output, found)?;
        if removes {
            write_removed(output, found)?;
            found.written.0 = Some(self.write_kept(output, (files, temporary), found)?);
        }
        Ok(())
    }

    /// Reads the inputs again and writes the kept records. Returns how many.
    fn write_kept(
        &self,
        output: &OutputFolder,
        (files, temporary): (&[InputFile], &Path),
        found: &Found<'_>,
    ) -> Result<u64> {
        let kept = KeptOutput {
            folder: output,
            files,
            compression_level: self.options.compression_level,
            completed: &|_: String| {},
            checkpoint: &|_: &dyn Fn() -> Written| Ok(()),
        };
        let again = Rereading {
            files,
            places: &found.places,
            reading: self.reading(Columns::All, temporary),
            bytes: files.iter().map(InputFile::stored_bytes).sum(),
            progress: self.options.progress,
        };
        let copy = |Placed { chunk, rows }: Placed| {
            let keeps = |row: Option<u32>| row.is_some_and(|row| !found.is_removed(row));
            let keeps: Vec<bool> = rows.into_iter().map(keeps).collect();
            let records = keeps.iter().filter(|kept| **kept).count() as u64;
            let kept = chunk
                .kept(keeps)
                .map_err(unwritable(&files[chunk.file].named))?;
            Ok(KeptOfChunk { records, kept })
        };
        let mut written = 0;
        kept.write(&Written::after_reference(0), |each| {
            again.read("write", &Position::default(), copy, |part| match part {
                FileEvent::Chunk(KeptOfChunk { records: 0, .. }) => Ok(()),
                FileEvent::Chunk(kept) => {
                    written += kept.records;
                    each(FileEvent::Chunk(kept))
                }
                part => each(part),
            })?;
            Ok(written)
        })?;
        Ok(written)
    }

    /// Writes what the run says of itself, and gives all files their names.
    pub(super) fn commit(
        &self,
        output: OutputFolder,
        report: &ContainReport,
        timings: &Timings,
        elapsed_s: f64,
    ) -> Result<()> {
        create_json(&output, REPORT, report)?;
        create_run_record(&output, &self.options, timings, (elapsed_s, 0))?;
        // Last chance to stop the run.
        advance(self.options.progress, report.counts.records, 0, 0)?;
        output.commit()
    }
}

/// Calls `each` with these rows, ascending, and the id of each.
fn with_ids<T>(
    places: &Places,
    rows: impl Iterator<Item = Result<(u32, T)>>,
    mut each: impl FnMut(u32, Box<serde_json::value::RawValue>, T) -> Result<()>,
) -> Result<()> {
    let (mut next_id, mut next_row) = (places.ids_in_order()?, 0);
    for found in rows {
        let (row, found) = found?;
        while next_row < row {
            next_id()?;
            next_row += 1;
        }
        let id = raw_json(next_id()?);
        next_row += 1;
        each(row, id, found)?;
    }
    Ok(())
}

fn write_hits(output: &OutputFolder, found: &Found<'_>) -> Result<()> {
    let (file, path) = output.create(HITS)?;
    let mut lines = JsonLines::new(file, path);
    let places = &found.places;
    let rows = found.hits.iter();
    with_ids(places, rows, |row, id, hits: Vec<HitEvidence>| {
        let (file, of_file) = places.place(row);
        hits.iter().try_for_each(|evidence| {
            lines.write(&HitLine {
                id: id.clone(),
                file,
                row: of_file,
                evidence,
            })
        })
    })?;
    lines.finish()
}

fn write_items(output: &OutputFolder, found: &Found<'_>) -> Result<()> {
    let (file, path) = output.create(ITEMS)?;
    let mut lines = JsonLines::new(file, path);
    let places = &found.places;
    let rows: BTreeSet<u32> = found.tally.first_rows().collect();
    let ids: BTreeMap<u32, _> = places.ids_of(&rows)?;
    let place = |row: u32| {
        let (file, of_file) = places.place(row);
        FoundAt {
            id: ids
                .get(&row)
                .cloned()
                .unwrap_or_else(|| raw_json("null".into())),
            file: file.to_owned(),
            row: of_file,
        }
    };
    found
        .tally
        .lines(place)
        .try_for_each(|line| lines.write(&line))?;
    lines.finish()
}

fn write_removed(output: &OutputFolder, found: &Found<'_>) -> Result<()> {
    let (file, path) = output.create(REMOVED)?;
    let mut lines = JsonLines::new(file, path);
    let places = &found.places;
    let rows = found.removed.iter().copied().map(Ok);
    with_ids(places, rows, |row, id, class| {
        let (file, of_file) = places.place(row);
        lines.write(&RemovedLine {
            id,
            file,
            row: of_file,
            class: class.name(),
        })
    })?;
    lines.finish()
}
