//! Reads what a deduplication says of some documents: rows of `clusters.parquet`, and of the removed documents in any of
//! their formats.
//!
//! A table is read twice: first the columns that tell which rows are wanted, then all columns of those rows. Lines are
//! parsed only if they hold the number of a wanted row.

mod row;

mod cells;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use memchr::memmem::Finder;

use super::removals::RemovedFormat;
use cells::{Cells, is_id, odd, rows_of_table, text_of_id};
use row::ClusterRow;
use simgpu::error::{Error, Result};
use simgpu::store::disk::is_file;

pub use row::{DocumentPlace, PlaceOfRow, RemovedRow, id_text};

/// Every document with this id. As many ids that resemble it as `near` has room for go there, if there is no such document.
#[doc(hidden)]
pub fn documents_of_id(
    path: &Path,
    id: &str,
    near: usize,
) -> Result<(Vec<ClusterRow>, Vec<String>)> {
    let (_, rows) = rows_of_table(path, &["id"], |ids, row| is_id(ids, row, id))?;
    if rows.iter().any(|batch| batch.num_rows() > 0) {
        let mut found = Vec::new();
        for batch in &rows {
            for row in 0..batch.num_rows() {
                found.push(cluster_row(path, batch, row)?);
            }
        }
        return Ok((found, Vec::new()));
    }
    let folded = id.trim().to_lowercase();
    let mut resembling: Vec<String> = Vec::new();
    rows_of_table(path, &["id"], |ids, row| {
        if resembling.len() < near && !folded.is_empty() {
            let known = text_of_id(ids, row);
            let lower = known.trim().to_lowercase();
            if lower == folded || folded.len() > 2 && lower.contains(&folded) {
                resembling.push(known);
            }
        }
        false
    })?;
    Ok((Vec::new(), resembling))
}

fn cluster_row(path: &Path, batch: &RecordBatch, row: usize) -> Result<ClusterRow> {
    let cells = Cells { path, batch, row };
    Ok(ClusterRow {
        document: DocumentPlace {
            id: cells.id("id")?.ok_or_else(|| cells.odd("id"))?,
            file: cells.text("file")?.ok_or_else(|| cells.odd("file"))?,
            row: cells.count("row")?.ok_or_else(|| cells.odd("row"))?,
            reference: false,
        },
        is_kept: match cells.column("kept")?.as_boolean_opt() {
            Some(kept) => kept.value(row),
            None => return Err(cells.odd("kept")),
        },
    })
}

/// The file of the removed documents in a folder of results.
#[derive(Debug)]
#[doc(hidden)]
pub struct RemovedFile {
    pub(crate) path: PathBuf,
    format: RemovedFormat,
}

impl RemovedFile {
    /// Finds it; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Io`] if that cannot be told.
    #[doc(hidden)]
    pub fn find(folder: &Path) -> Result<Option<Self>> {
        let formats = [
            RemovedFormat::JsonLines,
            RemovedFormat::JsonLinesZstd,
            RemovedFormat::Parquet,
        ];
        for format in formats {
            let path = folder.join(format.file_name());
            if is_file(&path)? {
                return Ok(Some(RemovedFile { path, format }));
            }
        }
        Ok(None)
    }

    /// The error that it is not as it was written.
    #[doc(hidden)]
    pub fn odd(&self, problem: &str) -> Error {
        odd(&self.path, problem)
    }

    /// Calls `each` with the documents at these places, and those removed for documents there, in order. Returns the number
    /// of all removed documents.
    #[doc(hidden)]
    pub fn for_each_of(
        &self,
        places: &[PlaceOfRow],
        mut each: impl FnMut(RemovedRow),
    ) -> Result<u64> {
        if self.format != RemovedFormat::Parquet {
            return self.lines_of(places, each);
        }
        let is_of = |column: &dyn Array, row: usize| {
            let numbers = column.as_primitive_opt::<UInt64Type>();
            let number = numbers.filter(|numbers| numbers.is_valid(row));
            let number = number.map(|numbers| numbers.value(row));
            places.iter().any(|(.., row)| Some(*row) == number)
        };
        let (rows, batches) = rows_of_table(&self.path, &["row", "kept_row"], is_of)?;
        for batch in batches {
            for row in 0..batch.num_rows() {
                let row = Cells {
                    path: &self.path,
                    batch: &batch,
                    row,
                };
                let removed = row.removed()?;
                if removed.is_of(places) {
                    each(removed);
                }
            }
        }
        Ok(rows)
    }

    fn lines_of(&self, places: &[PlaceOfRow], mut each: impl FnMut(RemovedRow)) -> Result<u64> {
        let failed = || Error::io("read", &self.path);
        let file = File::open(&self.path).map_err(failed())?;
        let lines = self.format.compression().reader(file).map_err(failed())?;
        let mut lines = BufReader::with_capacity(1 << 20, lines);
        // A comma follows each number of a row, whichever it is of.
        let needles: Vec<String> = places
            .iter()
            .map(|(.., row)| format!("row\":{row},"))
            .collect();
        let finders: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
        let (mut line, mut number) = (Vec::new(), 0u64);
        loop {
            line.clear();
            if lines.read_until(b'\n', &mut line).map_err(failed())? == 0 {
                return Ok(number);
            }
            number += 1;
            if !finders.iter().any(|finder| finder.find(&line).is_some()) {
                continue;
            }
            let removed: RemovedRow = serde_json::from_slice(&line)
                .map_err(|error| odd(&self.path, &format!("line {number}: {error}")))?;
            if removed.is_of(places) {
                each(removed);
            }
        }
    }
}
