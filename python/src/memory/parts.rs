//! The parts that both results have: counts, parameters and stages.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::pipeline::Measure;
use simgpu::progress::{Counts, Timings};
use simgpu::scheme::Scheme;
use simgpu::search::{CandidateMethod, Search};

/// The parameters of a scheme, as `report.json` of the command names them.
pub(super) fn scheme_parts<'py>(py: Python<'py>, scheme: &Scheme) -> PyResult<Bound<'py, PyDict>> {
    let parameters = PyDict::new(py);
    parameters.set_item("scheme", scheme.to_string())?;
    parameters.set_item("seed", scheme.seed())?;
    parameters.set_item("num_perm", scheme.num_perm())?;
    Ok(parameters)
}

/// Adds the parameters of a search, as `report.json` of the command names them.
pub(super) fn add_search(
    parameters: &Bound<'_, PyDict>,
    search: &Search,
    candidates: CandidateMethod,
    scheme: &Scheme,
) -> PyResult<()> {
    match search.within {
        None => parameters.set_item("threshold", search.threshold)?,
        Some(within) => {
            parameters.set_item("distance", within.distance.name())?;
            parameters.set_item("within", within.most)?;
        }
    }
    if search.measure != Measure::Jaccard {
        parameters.set_item("measure", search.measure.name())?;
        if candidates == CandidateMethod::Lsh {
            let recall = search.recall_by_size_ratio(scheme.num_perm());
            let recall = recall
                .iter()
                .map(|(ratio, recall)| (ratio.to_string(), recall));
            parameters.set_item("recall_by_size_ratio", recall.collect::<BTreeMap<_, _>>())?;
        }
    }
    parameters.set_item("candidates", candidates.name())?;
    if candidates == CandidateMethod::Lsh {
        parameters.set_item("bands", search.banding.bands())?;
        parameters.set_item("rows", search.banding.rows())?;
    }
    parameters.set_item("verify", search.verification.name())
}

/// What the results of both searches have in common.
pub(super) fn parts<'py>(
    parameters: &Bound<'py, PyDict>,
    found: &Counts,
    timings: &Timings,
) -> PyResult<Bound<'py, PyDict>> {
    let py = parameters.py();
    let parts = PyDict::new(py);
    parts.set_item("counts", counts(py, found)?)?;
    parts.set_item("parameters", parameters)?;
    parts.set_item("stages", stages(py, timings)?)?;
    Ok(parts)
}

pub(super) fn numbers_or_null(rows: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    Arc::new(rows.map(|row| row.map(i64::from)).collect::<Int64Array>())
}

pub(super) fn numbers(rows: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.map(i64::from)))
}

/// The counts of a run, as `report.json` of the command names them.
fn counts<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    for (name, count) in [
        ("documents", counts.documents),
        ("kept", counts.kept),
        ("removed", counts.removed),
        ("identical", counts.identical),
        ("without_shingles", counts.without_shingles),
        ("candidate_pairs", counts.candidate_pairs),
        ("similar_pairs", counts.similar_pairs),
        ("large_buckets", counts.large_buckets),
        ("omitted_pairs", counts.omitted_pairs),
        ("clusters", counts.clusters),
        ("largest_cluster", counts.largest_cluster),
        ("bytes", counts.bytes),
    ] {
        named.set_item(name, count)?;
    }
    for (name, count) in [
        ("reference", counts.reference),
        ("removed_for_reference", counts.removed_for_reference),
    ] {
        if let Some(count) = count {
            named.set_item(name, count)?;
        }
    }
    named.set_item("equal_shingles", counts.equal_shingles)?;
    named.set_item("few_shingles", counts.few_shingles)?;
    for (name, count) in [
        ("lost_shingles", counts.lost_shingles),
        ("removed_shingles", counts.removed_shingles),
        ("unknown_losses", counts.unknown_losses),
        ("short", counts.short),
        ("dropped", counts.dropped),
    ] {
        // Only of a deduplication, or if asked for.
        if let Some(count) = count {
            named.set_item(name, count)?;
        }
    }
    Ok(named)
}

/// Elapsed seconds of each stage.
fn stages<'py>(py: Python<'py>, timings: &Timings) -> PyResult<Bound<'py, PyDict>> {
    let stages = PyDict::new(py);
    for time in timings.0.iter().filter(|time| !time.is_part) {
        stages.set_item(time.stage, time.elapsed_s)?;
    }
    Ok(stages)
}
