//! Similar documents as Python gets them: a list for one document, a table for a batch.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use pyo3::prelude::*;
use pyo3::types::PyList;
use simgpu::pipeline::Measure;
use simgpu_index::{Hit, Shares};

use crate::beside::Ids;
use crate::table::PyTable;

use super::ids::{column_of, object_of};

/// The hits of one document.
pub(super) fn hit_list(py: Python<'_>, hits: Vec<Hit>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    if hits.is_empty() {
        return Ok(list);
    }
    let class = py.import("simgpu._index")?.getattr("Hit")?;
    for hit in hits {
        let id = object_of(py, &hit.id)?;
        let shares = hit.shares.map(|shares| (shares.query, shares.document));
        let (query, document) = shares.unzip();
        let hit = (id, hit.similarity, hit.found_by.name(), query, document);
        list.append(class.call1(hit)?)?;
    }
    Ok(list)
}

/// The hits of each document of a batch, one per row.
pub(super) fn hit_table(
    hits: &[Vec<Hit>],
    measure: Measure,
    ids: Option<&Ids>,
) -> PyResult<PyTable> {
    let all = || {
        (0i64..)
            .zip(hits)
            .flat_map(|(row, hits)| hits.iter().map(move |hit| (row, hit)))
    };
    let rows: Int64Array = all().map(|(row, _)| row).collect();
    let similarities: Float64Array = all().map(|(_, hit)| Some(hit.similarity)).collect();
    let found_by = all().map(|(_, hit)| hit.found_by.name());
    let found_by = StringArray::from_iter_values(found_by);
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("row", Arc::new(rows)),
        ("hit_id", column_of(all().map(|(_, hit)| &hit.id))),
        ("similarity", Arc::new(similarities)),
        ("found_by", Arc::new(found_by)),
    ];
    if measure == Measure::Contained {
        let shares = |of: fn(Shares) -> f64| -> ArrayRef {
            let shares = all().map(|(_, hit)| hit.shares.map(of));
            Arc::new(shares.collect::<Float64Array>())
        };
        columns.push(("query_share", shares(|shares| shares.query)));
        columns.push(("document_share", shares(|shares| shares.document)));
    }
    if let Some(ids) = ids {
        // Rows of texts in memory fit.
        let rows = all().map(|(row, _)| u32::try_from(row).ok());
        columns.push(("id", ids.take_or_null(rows)));
    }
    PyTable::new(columns)
}
