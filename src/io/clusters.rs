//! Writes `clusters.parquet`: the cluster of every document.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::BooleanArray;
use arrow_schema::{DataType, Field};

use super::places::Places;
use super::table::{ColumnWriter, IdColumn, f64s, strings, u64s, u64s_or_null, unwritable};
use crate::error::Result;
use crate::pipeline::{NamedRow, Removal};

/// Writes one row per document, in input order: `id`, `file`, `row`, `cluster` (the number of the kept document
/// among all documents), `kept`, and `similarity` to the kept document. With a reference, whose documents have no row
/// here, `cluster` is null for a document removed for one of them, whose number among them is `reference`.
///
/// `removed` ascends by row. `advance` is called after each batch of rows; it may stop the run.
pub(crate) fn write_clusters<'a>(
    removed: impl Iterator<Item = Result<Removal<NamedRow<'a>>>>,
    places: &Places,
    documents: u32,
    target: (File, &Path),
    advance: impl Fn() -> Result<()>,
) -> Result<IdColumn> {
    const BATCH: usize = 1 << 16;
    let (file, path) = target;
    let ids = places.id_column();
    let mut next_id = places.ids_in_order()?;
    let (has_reference, start) = (places.of_reference > 0, places.first_input());
    for _ in 0..start {
        next_id()?;
    }
    let mut columns = vec![
        ids.field("id"),
        Field::new("file", DataType::Utf8, false),
        Field::new("row", DataType::UInt64, false),
        Field::new("cluster", DataType::UInt64, has_reference),
        Field::new("kept", DataType::Boolean, false),
        Field::new("similarity", DataType::Float64, true),
    ];
    if has_reference {
        columns.push(Field::new("reference", DataType::UInt64, true));
    }
    let mut table = ColumnWriter::new(file, columns, []).map_err(unwritable(path))?;
    let mut removed = removed.peekable();
    // An error comes next, too.
    let is_of = |removed: &Result<Removal<NamedRow<'_>>>, row| {
        removed
            .as_ref()
            .map_or(true, |removed| removed.document.row == row)
    };
    for first in (start..documents).step_by(BATCH) {
        let rows = || (first..documents).take(BATCH);
        let of_rows: Vec<Cow<'_, str>> = rows().map(|_| next_id()).collect::<Result<_>>()?;
        let removals: Vec<Option<Removal<NamedRow<'_>>>> = rows()
            .map(|row| removed.next_if(|removed| is_of(removed, row)).transpose())
            .collect::<Result<_>>()?;
        let kept = |(row, removal): (u32, &Option<Removal<NamedRow<'_>>>)| {
            removal.as_ref().map_or(row, |removal| removal.kept.row)
        };
        let kept = || rows().zip(&removals).map(kept);
        let cluster = |row: u32| row.checked_sub(start).map(u64::from);
        let of_reference = |row: u32| (row < start).then_some(u64::from(row));
        let is_kept: BooleanArray = removals.iter().map(|r| Some(r.is_none())).collect();
        let mut columns = vec![
            ids.array(of_rows.iter()),
            strings(rows().map(|row| places.place(row).0)),
            u64s(rows().map(|row| places.place(row).1)),
            u64s_or_null(kept().map(cluster)),
            Arc::new(is_kept),
            f64s(
                removals
                    .iter()
                    .map(|removal| removal.as_ref().and_then(|removal| removal.similarity)),
            ),
        ];
        if has_reference {
            columns.push(u64s_or_null(kept().map(of_reference)));
        }
        table.write(columns).map_err(unwritable(path))?;
        advance()?;
    }
    table.finish().map_err(unwritable(path))?;
    Ok(ids)
}
