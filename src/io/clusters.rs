//! Writes `clusters.parquet`: the cluster of every document.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::BooleanArray;
use arrow_schema::{DataType, Field};

use super::places::Places;
use super::table::{ColumnWriter, IdColumn, f64s, strings, u64s, unwritable};
use crate::error::Result;
use crate::pipeline::{NamedRow, Removed};

/// Writes one row per document, in input order: `id`, `file`, `row`, `cluster` (the number of the kept document
/// among all documents), `kept`, and `similarity` to the kept document. With a reference, whose documents have no row
/// here, `cluster` is null for a document removed for one of them, whose number among them is `reference`, or `index` if it
/// is the number of a document in an index.
///
/// `removed` ascends by row. A document may be in no cluster if `may_drop`. `advance` is called after each batch of rows; it may stop the run.
pub(crate) fn write_clusters<'a>(
    removed: impl Iterator<Item = Result<Removed<NamedRow<'a>>>>,
    places: &Places,
    (documents, may_drop): (u32, bool),
    target: (File, &Path),
    advance: impl Fn() -> Result<()>,
) -> Result<IdColumn> {
    const BATCH: usize = 1 << 16;
    let (file, path) = target;
    let ids = places.id_column();
    let mut next_id = places.ids_in_order()?;
    let (has_reference, start) = (places.of_reference > 0, places.first_input());
    let of_files = places.first_of_files();
    let has_index = !places.of_indexes.is_empty();
    for _ in 0..start {
        next_id()?;
    }
    let mut columns = vec![
        ids.field("id"),
        Field::new("file", DataType::Utf8, false),
        Field::new("row", DataType::UInt64, false),
        Field::new("cluster", DataType::UInt64, has_reference || may_drop),
        Field::new("kept", DataType::Boolean, false),
        Field::new("similarity", DataType::Float64, true),
    ];
    if has_reference {
        columns.push(Field::new("reference", DataType::UInt64, true));
    }
    if has_index {
        columns.push(Field::new("index", DataType::UInt64, true));
    }
    let mut table = ColumnWriter::new(file, columns, []).map_err(unwritable(path))?;
    let mut removed = removed.peekable();
    // An error comes next, too.
    let is_of = |removed: &Result<Removed<NamedRow<'_>>>, row| {
        removed
            .as_ref()
            .map_or(true, |removed| removed.document().row == row)
    };
    for first in (start..documents).step_by(BATCH) {
        let rows = || (first..documents).take(BATCH);
        let of_rows: Vec<Cow<'_, str>> = rows().map(|_| next_id()).collect::<Result<_>>()?;
        let removals: Vec<Option<Removed<NamedRow<'_>>>> = rows()
            .map(|row| removed.next_if(|removed| is_of(removed, row)).transpose())
            .collect::<Result<_>>()?;
        let kept = |(row, removed): (u32, &Option<Removed<NamedRow<'_>>>)| match removed {
            None => Some(row),
            Some(removed) => removed.removal().map(|removal| removal.kept.row),
        };
        let kept = || rows().zip(&removals).map(kept);
        let cluster = |row: Option<u32>| row?.checked_sub(start).map(u64::from);
        let of_reference = |row: Option<u32>| {
            let row = row.filter(|row| *row < start)?.checked_sub(of_files);
            row.map(u64::from)
        };
        let of_index = |row: Option<u32>| {
            let row = row.filter(|row| *row < of_files);
            row.map(|row| places.place(row).1)
        };
        let is_kept: BooleanArray = removals.iter().map(|r| Some(r.is_none())).collect();
        let mut columns = vec![
            ids.array(of_rows.iter()),
            strings(rows().map(|row| places.place(row).0)),
            u64s(rows().map(|row| places.place(row).1)),
            u64s(kept().map(cluster)),
            Arc::new(is_kept),
            f64s(
                removals
                    .iter()
                    .map(|removed| removed.as_ref()?.removal()?.similarity),
            ),
        ];
        if has_reference {
            columns.push(u64s(kept().map(of_reference)));
        }
        if has_index {
            columns.push(u64s(kept().map(of_index)));
        }
        table.write(columns).map_err(unwritable(path))?;
        advance()?;
    }
    table.finish().map_err(unwritable(path))?;
    Ok(ids)
}
