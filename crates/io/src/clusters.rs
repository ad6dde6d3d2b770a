//! Writes `clusters.parquet`: the cluster of every document.

use std::fs::File;
use std::iter::Peekable;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_schema::{DataType, Field};
use rayon::prelude::*;

use super::places::Places;
use super::table::{ColumnWriter, IdColumn, f64s, strings, u64s, unwritable};
use simgpu::clock::in_parallel;
use simgpu::error::Result;
use simgpu::pipeline::Removed;

/// Documents of a block, which one thread makes columns of.
const BLOCK: u32 = 1 << 16;

/// The blocks in memory at a time.
const BLOCKS: usize = 8;

/// The table of the clusters of a run.
///
/// It has one row per document, in input order: `id`, `file`, `row`, `cluster` (the number of the kept document among
/// all documents), `kept`, and `similarity` to the kept document. With a reference, whose documents have no row here,
/// `cluster` is null for a document removed for one of them, whose number among them is `reference`, or `index` if it
/// is the number of a document in an index.
#[derive(Debug)]
#[doc(hidden)]
pub struct ClusterTable<'a> {
    #[doc(hidden)]
    pub places: &'a Places,
    /// The number of documents, those of a reference included.
    #[doc(hidden)]
    pub documents: u32,
    /// Whether a document may be in no cluster.
    #[doc(hidden)]
    pub may_drop: bool,
}

impl ClusterTable<'_> {
    fn fields(&self, ids: IdColumn) -> Vec<Field> {
        let has_reference = self.places.reference_files > 0;
        let may_lack_cluster = has_reference || self.may_drop;
        let mut fields = vec![
            ids.field("id"),
            Field::new("file", DataType::Utf8, false),
            Field::new("row", DataType::UInt64, false),
            Field::new("cluster", DataType::UInt64, may_lack_cluster),
            Field::new("kept", DataType::Boolean, false),
            Field::new("similarity", DataType::Float64, true),
        ];
        if has_reference {
            fields.push(Field::new("reference", DataType::UInt64, true));
        }
        if !self.places.indexes.is_empty() {
            fields.push(Field::new("index", DataType::UInt64, true));
        }
        fields
    }

    /// Writes the table to `file`, which messages call `path`. `removed` ascends by row. `advance` is called after each
    /// block of rows; it may stop the run.
    #[doc(hidden)]
    pub fn write(
        &self,
        removed: impl Iterator<Item = Result<Removed<u32>>>,
        file: File,
        path: &Path,
        advance: impl Fn() -> Result<()>,
    ) -> Result<IdColumn> {
        let (places, documents) = (self.places, self.documents);
        let ids = places.id_column();
        let fields = self.fields(ids);
        let mut table = ColumnWriter::new(file, fields, []).map_err(unwritable(path))?;
        let mut removed = removed.peekable();
        let mut id_lines = if places.has_ids_on_disk() {
            places.id_lines()?
        } else {
            None
        };
        let firsts = (places.first_input()..documents).step_by(BLOCK as usize);
        let firsts: Vec<u32> = firsts.collect();
        for firsts in firsts.chunks(BLOCKS) {
            // Ids and removed documents can only be read in order, so this thread reads them, and all threads make columns.
            let block = |first: &u32| {
                let rows = *first..documents.min(first.saturating_add(BLOCK));
                let ids = id_lines.as_mut().map(|lines_of| lines_of(rows.clone()));
                Ok(Block {
                    removed: next_removed(&mut removed, rows.end)?,
                    ids: ids.transpose()?,
                    rows,
                })
            };
            let blocks: Vec<Block> = firsts.iter().map(block).collect::<Result<_>>()?;
            let columns = blocks.par_iter().map(|block| block.columns(ids, places));
            let columns: Vec<Vec<ArrayRef>> = in_parallel(|| columns.collect::<Result<_>>())?;
            for block in columns {
                table.write(block).map_err(unwritable(path))?;
                advance()?;
            }
        }
        table.finish().map_err(unwritable(path))?;
        Ok(ids)
    }
}

/// The removed documents before row `end` that were not returned yet.
fn next_removed(
    removed: &mut Peekable<impl Iterator<Item = Result<Removed<u32>>>>,
    end: u32,
) -> Result<Vec<Removed<u32>>> {
    // An error comes next, too.
    let is_before = |removed: &Result<Removed<u32>>| {
        removed
            .as_ref()
            .map_or(true, |removed| *removed.document() < end)
    };
    std::iter::from_fn(|| removed.next_if(is_before)).collect()
}

/// Consecutive documents.
struct Block {
    rows: Range<u32>,
    /// Their ids, a line each, if all ids are on disk.
    ids: Option<String>,
    /// Those that are removed.
    removed: Vec<Removed<u32>>,
}

impl Block {
    fn columns(&self, ids: IdColumn, places: &Places) -> Result<Vec<ArrayRef>> {
        let rows = || self.rows.clone();
        let (start, files_start) = (places.first_input(), places.first_of_files());
        let id_column = match &self.ids {
            Some(lines) => ids.array(lines.split_terminator('\n')),
            None => {
                let row_ids = rows().map(|row| places.id(row));
                ids.array(row_ids.collect::<Result<Vec<_>>>()?.iter())
            }
        };
        let mut removed = self.removed.iter().peekable();
        let removals: Vec<Option<&Removed<u32>>> = rows()
            .map(|row| removed.next_if(|removed| *removed.document() == row))
            .collect();
        let kept = |(row, removed): (u32, &Option<&Removed<u32>>)| match removed {
            None => Some(row),
            Some(removed) => removed.removal().map(|removal| removal.kept),
        };
        let kept = || rows().zip(&removals).map(kept);
        let cluster = |row: Option<u32>| row?.checked_sub(start).map(u64::from);
        let reference_row = |row: Option<u32>| {
            let row = row.filter(|row| *row < start)?.checked_sub(files_start);
            row.map(u64::from)
        };
        let index_row = |row: Option<u32>| {
            let row = row.filter(|row| *row < files_start);
            row.map(|row| places.place(row).1)
        };
        let is_kept: BooleanArray = removals.iter().map(|r| Some(r.is_none())).collect();
        let similarity = |removed: &Option<&Removed<u32>>| removed.as_ref()?.removal()?.similarity;
        let mut columns = vec![
            id_column,
            strings(rows().map(|row| places.place(row).0)),
            u64s(rows().map(|row| places.place(row).1)),
            u64s(kept().map(cluster)),
            Arc::new(is_kept),
            f64s(removals.iter().map(similarity)),
        ];
        if places.reference_files > 0 {
            columns.push(u64s(kept().map(reference_row)));
        }
        if !places.indexes.is_empty() {
            columns.push(u64s(kept().map(index_row)));
        }
        Ok(columns)
    }
}
