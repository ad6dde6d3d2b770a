//! Runs over files: what the commands `dedup`, `pairs`, `sign`, `link`, `passages`, `contain` and `evaluate` do, by the same functions.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::clock::Moment;
use simgpu::progress::{StageTime, Timings};
use simgpu_cli::Lines;
use simgpu_cli::arguments::Caller;
use simgpu_cli::commands::pairs::PairSearchArguments;
use simgpu_cli::commands::{contain, dedup, evaluate as evaluation, link, pairs, passages, sign};
use simgpu_cli::outputs::ReportArgument;
use simgpu_files::Outcome;

use crate::errors::{parameter_error, run_error, warn};
use crate::json;
use crate::options::{Options, process};
use crate::pool;
use crate::progress::Display;

/// Deduplicates files. The options are those of `simgpu.dedup_files`.
#[pyfunction]
pub(crate) fn dedup_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let arguments = dedup::DedupArguments {
        input: options.input()?,
        against: options.against()?,
        output: options.path("output")?,
        outputs: options.outputs()?,
        removed_format: Some(options.choice("removed_format")?),
        action: options.choice("action")?,
        no_samples: options.switch("no_samples")?,
        source_field: options.optional("source_field", "the name of a field, as a str")?,
        add: options.switch("add")?,
        from_pairs: options.path("from_pairs")?,
        clusters: options.clusters()?,
        short: options.short()?,
        keep_by: options.optional("keep_by", "the name of a field, as a str")?,
        prefer_source: options.strings("prefer_source")?,
        search: options.search()?,
        run: options.run()?,
        hold: options.hold()?,
    };
    let outcome = run(&options, "dedup_files", "dedup", |caller| {
        arguments.execute(caller)
    })?;
    let output_error = |error| run_error(py, error);
    for warning in arguments.warnings(&outcome).map_err(output_error)? {
        warn(py, &warning)?;
    }
    let summary = arguments.summary(&outcome).map_err(output_error)?;
    report(py, &outcome, &summary)
}

/// Finds the pairs of documents in files. The options are those of `simgpu.pairs_files`.
#[pyfunction]
pub(crate) fn pairs_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let arguments = pairs::PairsArguments {
        input: options.input()?,
        against: options.against()?,
        signatures: None,
        pairs: pairs_of(&options)?,
        run: options.run()?,
        hold: options.hold()?,
        page: pairs::PageArguments {
            page: options.switch("page")?,
            no_samples: options.switch("no_samples")?,
        },
    };
    let outcome = run(&options, "pairs_files", "pairs", |caller| {
        arguments.execute(caller)
    })?;
    report_pairs(py, &outcome, &arguments.pairs)
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
    let signatures = options.path("signatures")?.ok_or_else(|| {
        parameter_error(
            py,
            "signatures is None; give the path of a .parquet or .npy file",
        )
    })?;
    let pairs = pairs_of(&options)?;
    let outcome = run(&options, "pairs_signatures", "pairs", |caller| {
        pairs.execute_on_signatures(&signatures, caller)
    })?;
    report_pairs(py, &outcome, &pairs)
}

fn pairs_of(options: &Options<'_>) -> PyResult<PairSearchArguments> {
    Ok(PairSearchArguments {
        output: options.path("output")?,
        outputs: options.outputs()?,
        search: options.search()?,
        // Signatures have no such option.
        distance: options.optional_choice("distance")?,
        within: options.optional("within", "a whole number, from 0 on")?,
        written: options.written()?,
    })
}

fn report_pairs<'py>(
    py: Python<'py>,
    outcome: &Outcome,
    pairs: &PairSearchArguments,
) -> PyResult<Bound<'py, PyAny>> {
    let summary = pairs
        .summary(outcome)
        .map_err(|error| run_error(py, error))?;
    report(py, outcome, &summary)
}

/// Signs files. The options are those of `simgpu.sign_files`.
#[pyfunction]
pub(crate) fn sign_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let output = options.path("output")?;
    let arguments = sign::SignArguments {
        input: options.input()?,
        output: output.ok_or_else(|| {
            parameter_error(
                py,
                "output is None; give the path of a .parquet or .npy file",
            )
        })?,
        overwrite: options.overwrite()?,
        run: options.run()?,
        memory: options.record_memory()?,
    };
    let outcome = run(&options, "sign_files", "sign", |caller| {
        arguments.execute(caller)
    })?;
    report(py, &outcome, &arguments.summary(&outcome))
}

/// Links the records of files. The options are those of `simgpu.link_files`.
#[pyfunction]
pub(crate) fn link_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let a = options.path("a")?;
    let fields = options.fields()?;
    let arguments = link::LinkArguments {
        a: a.ok_or_else(|| parameter_error(py, "a is None; give the path of a file"))?,
        b: options.path("b")?,
        fields: vec![link::FieldNames(fields)],
        output: options.path("output")?,
        overwrite: options.switch("overwrite")?,
        shown: options.shown()?,
        format: options.format()?,
        records: options.record_arguments("id_field", "the name of a field, as a str")?,
        equivalents: options.path("equivalents")?,
        score: options.choice("score")?,
        matching: options.optional_choice("match")?,
        threshold: options.optional("threshold", "a number")?,
        share: options.optional("share", "a number above 0 and up to 1")?,
        process: process(),
        memory: options.record_memory()?,
    };
    if arguments.output.is_none() && !arguments.shown.dry_run {
        let message = "output is None; give a folder for the results, or dry_run=True";
        return Err(parameter_error(py, message));
    }
    let outcome = run(&options, "link_files", "link", |caller| {
        arguments.execute(caller)
    })?;
    let mut json = Vec::new();
    outcome.report.write_json(&mut json)?;
    let times = RunTimes::new(&outcome.timings, outcome.elapsed_s);
    report_of(py, json, times, &arguments.summary(&outcome))
}

/// Finds the passages of files. The options are those of `simgpu.passages_files`.
#[pyfunction]
pub(crate) fn passages_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let arguments = passages::PassagesArguments {
        inputs: options.paths("inputs")?,
        output: options.path("output")?,
        outputs: options.outputs()?,
        format: options.format()?,
        hidden: options.switch("hidden")?,
        text_field: options.text_field()?,
        tokens_field: options.optional("tokens_field", "the name of a field, as a str")?,
        records: options.record_arguments("id_field", "the name of a field, as a str")?,
        selection: options.selection()?,
        against: options.against()?,
        prefer_source: options.strings("prefer_source")?,
        passages: options.passages()?,
        only_against: options.switch("only_against")?,
        action: options.choice("action")?,
        mark_field: options.required("mark_field", "the name of a field, as a str")?,
        max_covered: options.required("max_covered", "a share from 0 to 1")?,
        snap: options.choice("snap")?,
        min_left: options.optional("min_left", "a number of units, at least 1")?,
        passages_format: options.choice("passages_format")?,
        no_samples: options.switch("no_samples")?,
        process: process(),
        memory: options.memory()?,
        temp_dir: options.path("temp_dir")?,
        restart: !options.switch("resume")?,
    };
    let outcome = run(&options, "passages_files", "passages", |caller| {
        arguments.execute(caller)
    })?;
    let mut json = Vec::new();
    outcome.report.write_json(&mut json)?;
    let times = RunTimes::new(&outcome.timings, outcome.elapsed_s);
    report_of(py, json, times, &arguments.summary(&outcome))
}

/// Finds the items of benchmarks in files. The options are those of `simgpu.contain_files`.
#[pyfunction]
pub(crate) fn contain_files<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let arguments = contain::ContainArguments {
        inputs: options.paths("inputs")?,
        output: options.path("output")?,
        outputs: options.outputs()?,
        format: options.format()?,
        hidden: options.switch("hidden")?,
        text_field: options.text_field()?,
        records: options.record_arguments("id_field", "the name of a field, as a str")?,
        selection: options.selection()?,
        items: options.items()?,
        action: options.choice("action")?,
        classes: options.choices("classes")?,
        mark_field: options.required("mark_field", "the name of a field, as a str")?,
        hits_format: options.choice("hits_format")?,
        no_samples: options.switch("no_samples")?,
        suggest_ignore: options.switch("suggest_ignore")?,
        process: process(),
        memory: options.record_memory()?,
        temp_dir: options.path("temp_dir")?,
    };
    let outcome = run(&options, "contain_files", "contain", |caller| {
        arguments.execute(caller)
    })?;
    let mut json = Vec::new();
    outcome.report.write_json(&mut json)?;
    let times = RunTimes::new(&outcome.timings, outcome.elapsed_s);
    report_of(py, json, times, &arguments.summary(&outcome))
}

/// Evaluates a result in files. The options are those of `simgpu.evaluate`.
#[pyfunction]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options(options);
    let result = options.path("result")?;
    let name = "the name of a field, as a str";
    let arguments = evaluation::EvaluateArguments {
        result: result
            .ok_or_else(|| parameter_error(py, "result is None; give the path of a result"))?,
        truth: options.paths("truth")?,
        fields: evaluation::TruthArguments {
            truth_fields: options.strings("truth_fields")?,
            entity_field: options.optional("entity_field", name)?,
            id_field: options.optional("id_field", name)?,
        },
        format: options.format()?,
        examples: options.required("examples", "a whole number, from 0 on")?,
        // The report is what is returned.
        report: Some(ReportArgument::Json),
        process: process(),
    };
    let outcome = run(&options, "evaluate", "evaluate", |caller| {
        arguments.execute(caller)
    })?;
    let mut json = Vec::new();
    outcome.report.write_json(&mut json)?;
    let times = RunTimes::new(&outcome.timings, outcome.elapsed_s);
    report_of(py, json, times, &evaluation::summary(&outcome))
}

/// Runs on the pool, with the progress and the threads that the options name. The options are those of a function, which
/// are those of a command.
fn run<T: Send>(
    options: &Options<'_>,
    function: &str,
    command: &str,
    execute: impl FnOnce(&Caller<'_>) -> anyhow::Result<T> + Send,
) -> PyResult<T> {
    let py = options.py();
    let given = options.given("simgpu._files", function, command)?;
    let threads = options.threads()?;
    let mut display = Display::new(options.value("progress")?)?;
    let outcome = pool::run(py, threads, &mut display, |progress| {
        Ok(execute(&Caller {
            progress,
            given: &given,
            command: &[],
            start: Moment::now(),
        }))
    })?;
    outcome.map_err(|error| run_error(py, error))
}

/// A `simgpu._report.Report`.
fn report<'py>(py: Python<'py>, outcome: &Outcome, summary: &Lines) -> PyResult<Bound<'py, PyAny>> {
    let mut json = Vec::new();
    outcome.report.write_json(&mut json)?;
    let times = RunTimes::new(&outcome.timings, outcome.elapsed_s);
    report_of(py, json, times, summary)
}

/// How long a run took.
struct RunTimes<'a> {
    stages: &'a Timings,
    elapsed_s: f64,
}

impl<'a> RunTimes<'a> {
    fn new(stages: &'a Timings, elapsed_s: f64) -> Self {
        RunTimes { stages, elapsed_s }
    }
}

fn report_of<'py>(
    py: Python<'py>,
    json: Vec<u8>,
    times: RunTimes<'_>,
    summary: &Lines,
) -> PyResult<Bound<'py, PyAny>> {
    let data = json::parsed(py, &json)?;
    let timings = times.stages.0.iter().map(|time| timing(py, time));
    let timings = timings.collect::<PyResult<Vec<_>>>()?;
    py.import("simgpu._report")?.getattr("Report")?.call1((
        data,
        summary.0.clone(),
        times.elapsed_s,
        timings,
    ))
}

fn timing<'py>(py: Python<'py>, time: &StageTime) -> PyResult<Bound<'py, PyDict>> {
    let timing = PyDict::new(py);
    timing.set_item("stage", time.stage)?;
    timing.set_item("elapsed_s", time.elapsed_s)?;
    timing.set_item("bytes", time.bytes)?;
    timing.set_item("is_part", time.is_part)?;
    timing.set_item("peak_memory_bytes", time.peak_memory_bytes)?;
    Ok(timing)
}
