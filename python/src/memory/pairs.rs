//! Finds the similar pairs of documents or signatures.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::corpus::CollectedPairs;
use super::parts::{add_search, scheme_parts};
use super::prepared::Prepared;
use super::reference::ReferenceDocuments;
use crate::options::Options;
use crate::pool;
use crate::progress::Display;
use crate::signatures::PySignatures;
use crate::texts::refuse_counts;

/// Finds the similar pairs of documents or signatures in memory; returns the parts of `Pairs`. The options are those of
/// `simgpu.pairs`.
#[pyfunction]
pub(crate) fn pairs_in_memory<'py>(options: Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let options = Options(options);
    let py = options.py();
    let data = options.data()?;
    if let Ok(signatures) = data.cast::<PySignatures>() {
        return pairs_of_signatures(&options, signatures.get());
    }
    let mut prepared = Prepared::new(&options)?;
    let task = options.written()?.task(prepared.search.clone());
    refuse_counts(&data, prepared.engines.on_cpu().shingler().shingling())?;
    prepared.check_limits(&options, "pairs")?;
    let (documents, beside) = options.documents(&data)?;
    let reference = options.reference()?;
    let found = prepared.run(
        py,
        &documents,
        reference.as_ref(),
        |texts, engine, progress| texts.pairs(engine, &task, progress),
        |tokens, engine, progress| tokens.pairs(engine, &task, progress),
    )?;
    let parameters = prepared.parameters(py, found.summary.candidates)?;
    let ids = beside.sided_ids(reference.as_ref().and_then(ReferenceDocuments::ids));
    found.parts(&parameters, &task, ids)
}

/// Finds the similar pairs of the documents that were signed.
fn pairs_of_signatures<'py>(
    options: &Options<'py>,
    signatures: &PySignatures,
) -> PyResult<Bound<'py, PyDict>> {
    let py = options.py();
    let search = options.search_of_signatures(signatures.scheme())?;
    let task = options.written()?.task(search.clone());
    let reference = options.reference_signatures()?;
    let reference = reference.as_ref().map(Bound::get);
    let beside = options.beside_signatures(signatures.rows())?;
    let mut display = Display::new(options.value("progress")?)?;
    let found = pool::run(py, options.threads()?, &mut display, |progress| {
        let documents = signatures.in_memory();
        CollectedPairs::collect(|each| match reference.map(PySignatures::in_memory) {
            None => documents.pairs(&task, progress, each),
            Some(reference) => documents.pairs_against(&reference, &task, progress, each),
        })
    })?;
    let parameters = scheme_parts(py, signatures.scheme())?;
    add_search(
        &parameters,
        &search,
        found.summary.candidates,
        signatures.scheme(),
    )?;
    found.parts(&parameters, &task, beside.sided_ids(None))
}
