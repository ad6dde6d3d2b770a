//! Runs over files: what the commands `dedup`, `pairs` and `sign` do, by the same functions.

use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::jobs::Outcome;
use simgpu::progress::StageTime;
use simgpu_cli::Lines;
use simgpu_cli::arguments::{
    BackendArguments, Caller, HoldArguments, InputArguments, OnBadRecordArgument, RunArguments,
    SearchArguments, SignArguments,
};
use simgpu_cli::commands::{dedup, pairs, sign};

use crate::errors::{of_run, parameter_error, warn};
use crate::options::Options;
use crate::pool;
use crate::progress::Display;

/// Deduplicates files. The options are those of `simgpu.dedup_files`.
#[pyfunction]
pub(crate) fn dedup_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let arguments = dedup::Arguments {
        input: options.input()?,
        output: options.path("output")?,
        outputs: options.outputs()?,
        removed_format: Some(options.choice("removed_format")?),
        keep: options.choice("keep")?,
        cluster: options.choice("cluster")?,
        keep_by: options.optional("keep_by", "the name of a field, as a str")?,
        prefer_source: options.strings("prefer_source")?,
        search: options.search()?,
        max_bucket: options.count("max_bucket")?,
        run: options.run()?,
        hold: options.hold()?,
    };
    let outcome = run(&options, |caller| arguments.execute(caller))?;
    let of_output = |error| of_run(py, error);
    if let Some(warning) = arguments.warning(&outcome).map_err(of_output)? {
        warn(py, &warning)?;
    }
    let summary = arguments.summary(&outcome).map_err(of_output)?;
    report(py, &outcome, &summary)
}

/// Finds the pairs of documents in files. The options are those of `simgpu.pairs_files`.
#[pyfunction]
pub(crate) fn pairs_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let arguments = pairs::Arguments {
        input: options.input()?,
        signatures: None,
        output: options.path("output")?,
        outputs: options.outputs()?,
        search: options.search()?,
        identical: options.choice("identical")?,
        max_pairs: options.count("max_pairs")?,
        run: options.run()?,
        hold: options.hold()?,
    };
    run_pairs(py, &options, &arguments)
}

/// Finds the pairs of signatures in a file. The options are those of `simgpu.pairs_signatures`.
#[pyfunction]
pub(crate) fn pairs_signatures<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let verify: String = options.required("verify", "\"signature\" or \"none\"")?;
    if verify == "exact" {
        let message =
            "verify=\"exact\" needs documents; give \"signature\" or \"none\", or call pairs_files";
        return Err(parameter_error(py, message));
    }
    let signatures = options.path("signatures")?;
    let arguments = pairs::Arguments {
        input: no_input(),
        signatures: Some(signatures.ok_or_else(|| {
            parameter_error(
                py,
                "signatures is None; give the path of a .parquet or .npy file",
            )
        })?),
        output: options.path("output")?,
        outputs: options.outputs()?,
        search: SearchArguments {
            banding: options.banding()?,
            verify: Some(options.choice("verify")?),
            candidates: None,
            join_mib: std::num::NonZeroUsize::MIN,
        },
        identical: options.choice("identical")?,
        max_pairs: options.count("max_pairs")?,
        run: no_signing(),
        hold: HoldArguments { hold_mib: 0 },
    };
    run_pairs(py, &options, &arguments)
}

/// Signs files. The options are those of `simgpu.sign_files`.
#[pyfunction]
pub(crate) fn sign_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let output = options.path("output")?;
    let arguments = sign::Arguments {
        input: options.input()?,
        output: output.ok_or_else(|| {
            parameter_error(
                py,
                "output is None; give the path of a .parquet or .npy file",
            )
        })?,
        overwrite: options.overwrite()?,
        run: options.run()?,
    };
    let outcome = run(&options, |caller| arguments.execute(caller))?;
    report(py, &outcome, &arguments.summary(&outcome))
}

fn run_pairs<'py>(
    py: Python<'py>,
    options: &Options<'py>,
    arguments: &pairs::Arguments,
) -> PyResult<Bound<'py, PyAny>> {
    let outcome = run(options, |caller| arguments.execute(caller))?;
    let summary = arguments
        .summary(&outcome)
        .map_err(|error| of_run(py, error))?;
    report(py, &outcome, &summary)
}

/// Runs on the pool, with the progress and the threads that the options name.
fn run(
    options: &Options<'_>,
    execute: impl FnOnce(&Caller<'_>) -> anyhow::Result<Outcome> + Send,
) -> PyResult<Outcome> {
    let py = options.py();
    let start = Instant::now();
    let threads = options.threads()?;
    let mut display = Display::new(options.value("progress")?)?;
    let outcome = pool::run(py, threads, &mut display, |progress| {
        Ok(execute(&Caller {
            progress,
            command: &[],
            start,
        }))
    })?;
    outcome.map_err(|error| of_run(py, error))
}

/// A `simgpu._report.Report`.
fn report<'py>(py: Python<'py>, outcome: &Outcome, summary: &Lines) -> PyResult<Bound<'py, PyAny>> {
    let mut json = Vec::new();
    outcome.report.write_json(&mut json)?;
    let data = py.import("json")?.call_method1("loads", (json,))?;
    let timings = outcome.timings.0.iter().map(|time| timing(py, time));
    let timings = timings.collect::<PyResult<Vec<_>>>()?;
    py.import("simgpu._report")?.getattr("Report")?.call1((
        data,
        summary.0.clone(),
        outcome.elapsed_s,
        timings,
    ))
}

fn timing<'py>(py: Python<'py>, time: &StageTime) -> PyResult<Bound<'py, PyDict>> {
    let timing = PyDict::new(py);
    timing.set_item("stage", time.stage)?;
    timing.set_item("elapsed_s", time.elapsed_s)?;
    timing.set_item("bytes", time.bytes)?;
    timing.set_item("is_part", time.is_part)?;
    Ok(timing)
}

/// The input of a run over signatures, which reads no documents.
fn no_input() -> InputArguments {
    InputArguments {
        inputs: Vec::new(),
        format: simgpu_cli::arguments::FormatArgument::Auto,
        delimiter: None,
        hidden: false,
        text_field: Vec::new(),
        tokens_field: None,
        weights_field: None,
        weight_scale: None,
        id_field: None,
        unique_ids: false,
        on_bad_record: OnBadRecordArgument::Fail,
        limit: None,
        include: Vec::new(),
        exclude: Vec::new(),
    }
}

/// The signing of a run over signatures, which signs nothing.
fn no_signing() -> RunArguments {
    RunArguments {
        sign: SignArguments {
            unit: None,
            size: None,
            stop_words: None,
            lowercase: false,
            strip_punctuation: false,
            keep_whitespace: false,
            count: false,
            scheme: String::new(),
            hash: None,
            num_perm: None,
            seed: None,
            machine: BackendArguments {
                backend: String::new(),
                isa: None,
                #[cfg(feature = "gpu")]
                device: None,
                #[cfg(feature = "gpu")]
                lose_device_after: None,
            },
        },
        threads: None,
        batch_mib: std::num::NonZeroUsize::MIN,
        quiet: true,
    }
}
