//! `tune`, `compare`, `devices` and `selftest`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::pipeline::{Banding, BandingEffect, SizeEffect, Tuning};
use simgpu::search::Verification;
use simgpu::selftest::{Check, CheckOutcome, Selftest};
use simgpu_cli::arguments::{requested_banding, scheme_of};
use simgpu_cli::commands::compare::TextComparer;
use simgpu_cli::commands::sample::SampleSurvey;
use simgpu_cli::commands::{selftest as selftest_page, tune as tune_page};

use crate::errors::{defect_error, run_error, spelled, warn};
use crate::json;
use crate::options::Options;
use crate::pool;
use crate::progress::Display;

/// The module of the functions of Python.
const MODULE: &str = "simgpu._tools";

/// The effect of bandings. The options are those of `simgpu.tune`.
#[pyfunction]
pub(crate) fn tune<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let banding = options.banding()?;
    let (name, num_perm, seed) = options.scheme()?;
    let sample = options.sample()?;
    let given = options.given(MODULE, "tune", "tune")?;
    let tuned = pool::run(py, None, &mut Display::default(), |_| {
        let tune = || {
            let scheme = scheme_of(&name, num_perm, seed)?;
            given.check(sample.modes(&scheme)?)?;
            let requested = requested_banding(banding.bands, banding.rows, &scheme)?;
            let tuning = simgpu::pipeline::tune(banding.threshold, &scheme, requested)?;
            Ok((tuning, sample.survey(&scheme)?))
        };
        Ok(tune())
    })?;
    let (tuning, surveyed) = tuned.map_err(|error| run_error(py, error))?;
    let data = PyDict::new(py);
    data.set_item("threshold", tuning.threshold)?;
    data.set_item("num_perm", tuning.num_perm)?;
    data.set_item("similarities", tuning.similarities.to_vec())?;
    let effect = |of: &BandingEffect| effect(py, &tuning, of);
    data.set_item("default", effect(&tuning.default)?)?;
    data.set_item(
        "requested",
        tuning.requested.as_ref().map(effect).transpose()?,
    )?;
    let by_weight = tuning.by_weight.iter().map(effect);
    data.set_item("by_weight", by_weight.collect::<PyResult<Vec<_>>>()?)?;
    let mut text = page(tune_page::page(&tuning))?;
    let banding = tune_page::shown(&tuning).banding;
    let sample = surveyed.map(|surveyed| {
        surveyed.write(&mut text, banding).map_err(no_page)?;
        sample_of(py, &surveyed, banding)
    });
    data.set_item("sample", sample.transpose()?)?;
    result(py, "Tuning", &data, text)
}

fn sample_of<'py>(
    py: Python<'py>,
    surveyed: &SampleSurvey,
    banding: Banding,
) -> PyResult<Bound<'py, PyDict>> {
    let survey = &surveyed.survey;
    let data = PyDict::new(py);
    data.set_item("documents", survey.documents)?;
    data.set_item("pairs", survey.pairs)?;
    data.set_item("documents_to_search", surveyed.documents)?;
    data.set_item("default_size", surveyed.default_size)?;
    data.set_item("size", survey.choice().map(|(_, effect)| effect.size))?;
    let size = |effect: &SizeEffect| {
        let data = PyDict::new(py);
        data.set_item("size", effect.size)?;
        data.set_item("mean_shingles", effect.mean_shingles)?;
        data.set_item("distinct_shingles", effect.distinct_shingles)?;
        data.set_item("mean_similarity", effect.mean_similarity())?;
        data.set_item("high_similarity", effect.high_similarity())?;
        data.set_item("candidate_share", effect.candidate_share(banding))?;
        Ok(data)
    };
    let sizes = survey.sizes.iter().map(size);
    data.set_item("sizes", sizes.collect::<PyResult<Vec<_>>>()?)?;
    Ok(data)
}

fn effect<'py>(
    py: Python<'py>,
    tuning: &Tuning,
    effect: &BandingEffect,
) -> PyResult<Bound<'py, PyDict>> {
    let data = PyDict::new(py);
    data.set_item("bands", effect.banding.bands())?;
    data.set_item("rows", effect.banding.rows())?;
    data.set_item("false_negative_weight", effect.false_negative_weight)?;
    data.set_item("candidates", effect.candidates.to_vec())?;
    data.set_item("bytes_per_document", effect.key_bytes)?;
    data.set_item("false_positive_area", effect.false_positive_area)?;
    data.set_item("false_negative_area", effect.false_negative_area)?;
    let recall = PyDict::new(py);
    for verification in [Verification::Exact, Verification::Signature] {
        let found = tune_page::recall_at_threshold(tuning, effect.banding, verification);
        recall.set_item(verification.name(), found)?;
    }
    data.set_item("recall", recall)?;
    Ok(data)
}

/// Compares two texts. The options are those of `simgpu.compare`.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let texts: [String; 2] = [
        options.required("a", "a text, as a str")?,
        options.required("b", "a text, as a str")?,
    ];
    let (sign, banding) = (options.sign()?, options.banding()?);
    let given = options.given(MODULE, "compare", "compare")?;
    let compared = pool::run(py, None, &mut Display::default(), |_| {
        let compare = || {
            let comparer = TextComparer::new(&sign, &banding, &given)?;
            let names = ["text a".to_owned(), "text b".to_owned()];
            let report = comparer.compare(names, [&texts[0], &texts[1]])?;
            Ok((report.json()?, report.page()?, comparer.notices()))
        };
        Ok(compare())
    })?;
    let (json, page, notices) = compared.map_err(|error| run_error(py, error))?;
    for notice in notices {
        warn(py, &notice)?;
    }
    let data = json::parsed(py, json.as_bytes())?;
    let data = data.cast_into::<PyDict>()?;
    for name in ["a", "b"] {
        data.del_item(name)?;
    }
    result(py, "Comparison", &data, page)
}

/// The devices of the GPU backend.
#[cfg(feature = "gpu")]
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    use simgpu_cli::commands::devices::{page as device_page, schemes};

    crate::gpu::check(py)?;
    let adapters = py.detach(simgpu::backend::gpu::adapters);
    let device = |adapter: &simgpu::backend::gpu::Adapter| {
        let data = PyDict::new(py);
        data.set_item("number", adapter.number)?;
        data.set_item("name", &adapter.name)?;
        data.set_item("kind", adapter.kind)?;
        data.set_item("driver", &adapter.driver)?;
        data.set_item("api", &adapter.api)?;
        data.set_item("is_software", adapter.is_software)?;
        data.set_item("has_u64", adapter.has_u64)?;
        data.set_item("has_subgroups", adapter.has_subgroups)?;
        data.set_item("max_buffer_bytes", adapter.max_buffer_bytes)?;
        data.set_item("max_binding_bytes", adapter.max_binding_bytes)?;
        data.set_item("workgroup_bytes", adapter.workgroup_bytes)?;
        data.set_item("schemes", schemes(adapter))?;
        result(py, "Device", &data, page(device_page(adapter))?)
    };
    adapters.iter().map(device).collect()
}

/// The devices of the GPU backend, which this build does not have.
#[cfg(not(feature = "gpu"))]
#[pyfunction]
pub(crate) fn devices() -> Vec<Py<PyAny>> {
    Vec::new()
}

/// Checks the published values. The options are those of `simgpu.selftest`.
#[pyfunction]
pub(crate) fn selftest<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let machine = options.machine()?;
    let given = options.given(MODULE, "selftest", "selftest")?;
    let checked = machine.modes().and_then(|modes| given.check(modes));
    let resolved = checked.and_then(|()| machine.resolve());
    let (backend, hardware) = resolved.map_err(|error| run_error(py, error))?;
    let selftest = Selftest {
        backend,
        isa: machine.names_isa().then_some(hardware.isa),
        #[cfg(feature = "gpu")]
        gpu: hardware.gpu,
    };
    let checks = pool::run(py, None, &mut Display::default(), |_| selftest.run())?;
    let page = selftest_page::page(&checks).map_err(|error| run_error(py, error))?;
    let failed = selftest_page::failed(&checks);
    if failed > 0 {
        let message = format!(
            "{failed} of {} checks failed; do not use results of this machine, and please report this:\n{page}",
            checks.len()
        );
        return Err(defect_error(py, message));
    }
    let data = PyDict::new(py);
    let checks = checks.iter().map(|check| check_of(py, check));
    data.set_item("checks", checks.collect::<PyResult<Vec<_>>>()?)?;
    result(py, "Selftest", &data, page)
}

fn check_of<'py>(py: Python<'py>, check: &Check) -> PyResult<Bound<'py, PyDict>> {
    let (outcome, compared, reason) = match &check.outcome {
        CheckOutcome::Passed { values } => ("passed", *values, None),
        CheckOutcome::Failed { first } => ("failed", 0, Some(first.clone())),
        CheckOutcome::Unsupported { reason } => ("unsupported", 0, Some(spelled(reason))),
    };
    let data = PyDict::new(py);
    data.set_item("signer", &check.signer)?;
    data.set_item("values", &check.values)?;
    data.set_item("outcome", outcome)?;
    data.set_item("compared", compared)?;
    data.set_item("reason", reason)?;
    Ok(data)
}

/// A class of `simgpu._report` over this data.
fn result<'py>(
    py: Python<'py>,
    class: &str,
    data: &Bound<'py, PyDict>,
    page: String,
) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("simgpu._report")?.getattr(class)?;
    class.call1((data, page.trim_end()))
}

fn page(page: Result<String, std::fmt::Error>) -> PyResult<String> {
    page.map_err(no_page)
}

/// Cannot occur: writing to a string does not fail.
fn no_page(error: std::fmt::Error) -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err(error.to_string())
}
