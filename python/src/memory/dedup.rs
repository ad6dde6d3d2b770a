//! Deduplicates documents or signatures.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::pipeline::Removal;
use simgpu::search::{Dedup, Deduplication};
use simgpu_files::DeduplicationToShow;
use simgpu_io::{DedupParameters, Parameters};

use super::parts::{add_search, numbers, numbers_or_null, parts, scheme_parts};
use super::prepared::Prepared;
use super::reference::ReferenceDocuments;
use crate::beside::{Ids, Preferred, SidedIds, SidedRow};
use crate::errors::OrRaise;
use crate::options::Options;
use crate::progress::Display;
use crate::signatures::PySignatures;
use crate::table::PyTable;
use crate::texts::refuse_counts;
use crate::{json, pool};

/// Deduplicates documents or signatures in memory; returns the parts of `Deduplicated`. The options are those of
/// `simgpu.dedup`.
#[pyfunction]
pub(crate) fn dedup_in_memory<'py>(options: Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let options = Options(options);
    let py = options.py();
    let data = options.data()?;
    if let Ok(signatures) = data.cast::<PySignatures>() {
        return dedup_of_signatures(&options, signatures.get());
    }
    let mut prepared = Prepared::new(&options)?;
    let task = Dedup {
        short: options.short()?.documents(),
        ..options.clusters()?.task(prepared.search.clone())
    };
    refuse_counts(&data, prepared.engines.on_cpu().shingler().shingling())?;
    prepared.check_limits(&options, "dedup")?;
    let (documents, beside) = options.documents(&data)?;
    let preferred = beside.preferred(py, &task)?;
    let reference = options.reference()?;
    let found = prepared.run(
        py,
        &documents,
        reference.as_ref(),
        |texts, engine, progress| texts.dedup(preferred, engine, &task, progress),
        |tokens, engine, progress| tokens.dedup(preferred, engine, &task, progress),
    )?;
    let parameters = prepared.parameters(py, found.candidates)?;
    let ids = beside.sided_ids(reference.as_ref().and_then(ReferenceDocuments::ids));
    let parts = deduplicated(&parameters, &found, &task, documents.len(), ids)?;
    parts.set_item("found", Bound::new(py, PyFound { found, task })?)?;
    Ok(parts)
}

/// What a deduplication of documents found, for its page.
#[pyclass(frozen, module = "simgpu._simgpu", name = "Found")]
pub(crate) struct PyFound {
    found: Deduplication,
    task: Dedup,
}

#[pymethods]
impl PyFound {
    /// The page, with texts of the documents that options name, as those of `simgpu.dedup` do. `parameters` is JSON.
    fn page(&self, options: Bound<'_, PyDict>, parameters: &str) -> PyResult<String> {
        let options = Options(options);
        let py = options.py();
        let parameters: Parameters = serde_json::from_str(parameters)
            .map_err(|error| PyTypeError::new_err(error.to_string()))?;
        let is_of_tokens = parameters.unit == "tokens";
        let (documents, beside) = options.documents(&options.data()?)?;
        let reference = options.reference()?;
        let shown = DeduplicationToShow {
            found: &self.found,
            parameters,
            dedup: DedupParameters::new(&self.task, self.found.candidates),
            ids: beside.ids.as_ref().map(Ids::json),
        };
        let page = if is_of_tokens {
            let (mut lists, mut reference_lists) = (Vec::new(), Vec::new());
            let documents = documents.tokens(&mut lists)?;
            let reference = reference.as_ref();
            let reference = reference.map(|reference| reference.tokens(py, &mut reference_lists));
            let reference = reference.transpose()?;
            shown.page(&documents, reference.as_ref())
        } else {
            let documents = documents.texts()?;
            let reference = reference.as_ref();
            let reference = reference.map(|reference| reference.texts(py));
            let reference = reference.transpose()?;
            shown.page(&documents[..], reference.as_deref())
        };
        page.or_raise(py)
    }
}

/// Deduplicates the documents that were signed.
fn dedup_of_signatures<'py>(
    options: &Options<'py>,
    signatures: &PySignatures,
) -> PyResult<Bound<'py, PyDict>> {
    let py = options.py();
    let search = options.search_of_signatures(signatures.scheme())?;
    let task = Dedup {
        short: options.short()?.documents(),
        ..options.clusters()?.task(search.clone())
    };
    let reference = options.reference_signatures()?;
    let reference = reference.as_ref().map(Bound::get);
    let beside = options.beside_signatures(signatures.rows())?;
    let preferred = beside.preferred(py, &task)?;
    let mut display = Display::new(options.value("progress")?)?;
    let found = pool::run(py, options.threads()?, &mut display, |progress| {
        let classes = Preferred::classes(preferred, progress)?;
        let (documents, classes) = (signatures.in_memory(), classes.as_deref());
        match reference.map(PySignatures::in_memory) {
            None => documents.dedup(&task, classes, progress),
            Some(reference) => documents.dedup_against(&reference, &task, classes, progress),
        }
    })?;
    let parameters = scheme_parts(py, signatures.scheme())?;
    add_search(&parameters, &search, found.candidates, signatures.scheme())?;
    let ids = beside.sided_ids(None);
    deduplicated(&parameters, &found, &task, signatures.rows(), ids)
}

/// The parts of `Deduplicated`.
fn deduplicated<'py>(
    parameters: &Bound<'py, PyDict>,
    found: &Deduplication,
    task: &Dedup,
    rows: usize,
    ids: Option<SidedIds<'_>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = parameters.py();
    let parts = parts(parameters, &found.counts, &found.timings)?;
    let [kept_by, reference_by] = kept(py, found, rows);
    let is_kept = is_kept(py, found, rows);
    let reported = DedupParameters::new(task, found.candidates);
    parts.set_item("reported", json::of(py, &reported)?)?;
    parts.set_item("keep", is_kept)?;
    parts.set_item("kept_by", kept_by)?;
    let reference_by = found.counts.reference.map(|_| reference_by);
    parts.set_item("reference_by", reference_by)?;
    let removed = removed(found, ids)?;
    parts.set_item("removed", Bound::new(py, removed)?)?;
    parts.set_item("recall", found.recall_at_threshold)?;
    parts.set_item("expected_precision", found.expected_precision)?;
    Ok(parts)
}

/// Which rows are kept.
fn is_kept<'py>(py: Python<'py>, found: &Deduplication, rows: usize) -> Bound<'py, PyArray1<bool>> {
    let mut is_kept = vec![true; rows];
    for removed in &found.removed {
        is_kept[(removed.document - found.reference) as usize] = false;
    }
    for (row, _) in &found.dropped {
        is_kept[(row - found.reference) as usize] = false;
    }
    let is_kept = PyArray1::from_vec(py, is_kept);
    is_kept.readwrite().make_nonwriteable();
    is_kept
}

/// The row kept for each row, and the row of the reference for which each was removed; -1 where there is none.
fn kept<'py>(
    py: Python<'py>,
    found: &Deduplication,
    rows: usize,
) -> [Bound<'py, PyArray1<i64>>; 2] {
    let mut kept_by: Vec<i64> = (0..).take(rows).collect();
    let mut reference_by = vec![-1; rows];
    for removed in &found.removed {
        let row = (removed.document - found.reference) as usize;
        match removed.kept.checked_sub(found.reference) {
            Some(kept) => kept_by[row] = i64::from(kept),
            None => {
                kept_by[row] = -1;
                reference_by[row] = i64::from(removed.kept);
            }
        }
    }
    for (row, _) in &found.dropped {
        kept_by[(row - found.reference) as usize] = -1;
    }
    [kept_by, reference_by].map(|rows| {
        let rows = PyArray1::from_vec(py, rows);
        rows.readwrite().make_nonwriteable();
        rows
    })
}

/// The table of removed documents.
fn removed(found: &Deduplication, ids: Option<SidedIds<'_>>) -> PyResult<PyTable> {
    let verification = found.verification.name();
    let for_others = found.removed.iter().map(|removed| {
        let found_by = removed.found_by(verification);
        (removed.document, Some(removed), found_by)
    });
    let dropped = found.dropped.iter();
    let dropped = dropped.map(|(row, reason)| (*row, None, reason.name()));
    let mut removed: Vec<_> = for_others.chain(dropped).collect();
    removed.sort_by_key(|(row, ..)| *row);
    let reference = found.reference;
    let rows = || removed.iter().map(|(row, ..)| *row - reference);
    let removals = || removed.iter().map(|(_, removal, _)| *removal);
    let kept = || removals().map(|removal| removal?.kept.checked_sub(reference));
    let found_by: StringArray = removed.iter().map(|(.., by)| Some(*by)).collect();
    let similarity: Float64Array = removals().map(|removal| removal?.similarity).collect();
    let lost: Float64Array = removals().map(|removal| removal?.lost()).collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("row", numbers(rows())),
        ("kept", numbers_or_null(kept())),
        ("similarity", Arc::new(similarity)),
        ("lost", Arc::new(lost)),
        ("found_by", Arc::new(found_by)),
    ];
    if found.counts.reference.is_some() {
        let kept_reference = |removed: &Removal| (removed.kept < reference).then_some(removed.kept);
        let reference_rows = removals().map(|removal| removal.and_then(kept_reference));
        columns.insert(2, ("reference", numbers_or_null(reference_rows)));
    }
    if let Some(ids) = ids {
        columns.push(("id", ids.documents.take(rows())));
        let kept = removals().map(|removal| removal.map(|of| sided(of.kept, reference)));
        columns.push(("kept_id", ids.take_or_null(kept)));
    }
    PyTable::new(columns)
}

/// A row of a search, in which those of a reference come first.
fn sided(row: u32, reference: u32) -> SidedRow {
    match row.checked_sub(reference) {
        Some(row) => SidedRow::Document(row),
        None => SidedRow::Reference(row),
    }
}
