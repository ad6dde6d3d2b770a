//! Deduplicates, and finds similar pairs of, what is in memory. `simgpu/_dedup.py` gives the results their shape.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use simgpu::Error;
use simgpu::backend::Backend;
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::jobs::{
    CandidateMethod, Dedup, Deduplication, DocumentPair, Identical, Pairs, PairsFound, Search,
    Verification, dedup, pairs,
};
use simgpu::pipeline::{Clustering, KeepPolicy, Shingling, Weighting, Within, check_threshold};
use simgpu::progress::{Counts, Progress, Timings};
use simgpu::scheme::Scheme;
use simgpu_cli::arguments::{WeightsArgument, candidate_method, method_within, requested_distance};

use crate::engines::Engines;
use crate::errors::{OrRaise, input_error, of_run, parameter_error};
use crate::options::choice_of;
use crate::pool;
use crate::progress::Display;
use crate::scheme::{PyShingling, banding_of, scheme_of};
use crate::signer::open;
use crate::table::PyTable;
use crate::texts::{Column, Tokens};

/// What a search needs, from the keywords of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings<'py> {
    scheme: Bound<'py, PyAny>,
    num_perm: Option<i64>,
    seed: Option<i64>,
    shingling: Option<Bound<'py, PyAny>>,
    threshold: f64,
    bands: Option<usize>,
    rows: Option<usize>,
    verify: String,
    candidates: Option<String>,
    join_mib: usize,
    distance: Option<String>,
    within: Option<i64>,
    weights: Option<String>,
    backend: String,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
}

/// A search, ready to run.
pub(crate) struct Prepared {
    pub(crate) engines: Engines,
    pub(crate) search: Search,
    pub(crate) threads: Option<usize>,
    display: Display,
}

impl Settings<'_> {
    pub(crate) fn prepare(self, py: Python<'_>) -> PyResult<Prepared> {
        let scheme = scheme_of(&self.scheme, self.num_perm, self.seed)?;
        let within = self.within(py)?;
        let mut shingling = PyShingling::of_argument(self.shingling.as_ref())?;
        if let Some((name, weighting)) = self.weighting(py, within)? {
            let own = shingling
                .unwrap_or_else(|| PyShingling::of_unit(Shingling::of_scheme(&scheme).unit));
            shingling = Some(own.with_weighting(py, name, weighting)?);
        }
        let backend: Backend = self.backend.parse().or_raise(py)?;
        check_threshold(self.threshold).or_raise(py)?;
        let verification = [
            Verification::None,
            Verification::Signature,
            Verification::Exact,
        ];
        let candidates = self.candidate_method(py, &scheme, within)?;
        let banding = banding_of(py, self.bands, self.rows, self.threshold, &scheme)?;
        let verification = named(py, "verify", &self.verify, verification, Verification::name)?;
        let search = Search {
            within,
            candidates,
            join_bytes: self.join_mib.saturating_mul(1 << 20),
            ..Search::through_lsh(self.threshold, banding, verification)
        };
        let engines = open(py, &scheme, shingling.as_ref(), backend)?;
        search.method(engines.on_cpu()).or_raise(py)?;
        Ok(Prepared {
            engines,
            search,
            threads: self.threads,
            display: Display::new(self.progress)?,
        })
    }
}

impl Settings<'_> {
    /// The weighting that the search asks for, and by which argument.
    fn weighting(
        &self,
        py: Python<'_>,
        within: Option<Within>,
    ) -> PyResult<Option<(&'static str, Weighting)>> {
        let named = self.weights.clone();
        let named = named.map(|name| choice_of::<WeightsArgument>(py, "weights", name));
        match (within, named.transpose()?) {
            (None, None) => Ok(None),
            (Some(within), None) => Ok(Some(("distance", within.distance.weighting()))),
            (None, Some(weights)) => Ok(Some(("weights", weights.weighting()))),
            (Some(_), Some(_)) => {
                let message = "distance and weights exclude each other; omit one of them";
                Err(parameter_error(py, message))
            }
        }
    }

    fn within(&self, py: Python<'_>) -> PyResult<Option<Within>> {
        let named = self.distance.clone();
        let named = named.map(|name| choice_of(py, "distance", name));
        let within = self.within.map(|within| {
            u64::try_from(within).map_err(|_| {
                parameter_error(
                    py,
                    format!("within is {within}; give a whole number, from 0 on"),
                )
            })
        });
        requested_distance(named.transpose()?, within.transpose()?)
            .map_err(|error| of_run(py, error))
    }

    fn candidate_method(
        &self,
        py: Python<'_>,
        scheme: &Scheme,
        within: Option<Within>,
    ) -> PyResult<CandidateMethod> {
        let named = self.candidates.clone();
        let named = named.map(|name| choice_of(py, "candidates", name));
        let options = [
            ("bands", self.bands.is_some()),
            ("scheme", *scheme != Scheme::default()),
            ("backend", self.backend != Backend::Auto.to_string()),
        ];
        let of_lsh = options.into_iter().filter(|(_, is_named)| *is_named);
        let of_lsh: Vec<_> = of_lsh.map(|(name, _)| name).collect();
        let named = named.transpose()?;
        let method = match within {
            Some(_) => method_within(named, self.threshold, &of_lsh),
            None => candidate_method(named, &of_lsh),
        };
        method.map_err(|error| of_run(py, error))
    }
}

/// The value with this name.
fn named<T: Copy, const N: usize>(
    py: Python<'_>,
    what: &'static str,
    name: &str,
    values: [T; N],
    name_of: fn(T) -> &'static str,
) -> PyResult<T> {
    let value = values.into_iter().find(|value| name_of(*value) == name);
    let known = || values.map(name_of).join(", ");
    value.ok_or_else(|| {
        parameter_error(
            py,
            format!("unknown {what} {name:?}; choose one of {}", known()),
        )
    })
}

impl Prepared {
    /// Runs a search on the pool, over the texts or lists of tokens of `column`.
    fn run<T: Send>(
        &mut self,
        py: Python<'_>,
        column: &Column<'_>,
        texts: impl FnOnce(&[&str], &Engine, &dyn Progress) -> simgpu::Result<T> + Send,
        tokens: impl FnOnce(&Tokens<'_>, &Engine, &dyn Progress) -> simgpu::Result<T> + Send,
    ) -> PyResult<T> {
        if self.engines.on_cpu().takes_tokens() {
            let mut lists = Vec::new();
            let documents = column.tokens(&mut lists)?;
            let bytes: usize = (0..documents.len()).map(|row| documents.bytes(row)).sum();
            let engine = self.engines.for_bytes(py, bytes as u64)?;
            return pool::run(py, self.threads, &mut self.display, |progress| {
                tokens(&documents, &engine, progress)
            });
        }
        let documents = column.texts()?;
        let bytes: usize = documents.iter().map(|text| text.len()).sum();
        let engine = self.engines.for_bytes(py, bytes as u64)?;
        pool::run(py, self.threads, &mut self.display, |progress| {
            texts(&documents, &engine, progress)
        })
    }

    /// What the results of both searches have in common.
    fn parts<'py>(
        &self,
        py: Python<'py>,
        candidates: CandidateMethod,
        of_run: &Counts,
        timings: &Timings,
    ) -> PyResult<Bound<'py, PyDict>> {
        let parts = PyDict::new(py);
        parts.set_item("counts", counts(py, of_run)?)?;
        parts.set_item("parameters", self.parameters(py, candidates)?)?;
        parts.set_item("stages", stages(py, timings)?)?;
        Ok(parts)
    }

    /// What decides the result, as `report.json` of the command names it.
    pub(crate) fn parameters<'py>(
        &self,
        py: Python<'py>,
        candidates: CandidateMethod,
    ) -> PyResult<Bound<'py, PyDict>> {
        let engine = self.engines.on_cpu();
        let (scheme, shingler) = (engine.scheme(), engine.shingler());
        let (shingling, search) = (shingler.shingling(), &self.search);
        let parameters = PyDict::new(py);
        parameters.set_item("scheme", scheme.to_string())?;
        parameters.set_item("hash", shingler.hash().to_string())?;
        parameters.set_item("seed", scheme.seed())?;
        parameters.set_item("num_perm", scheme.num_perm())?;
        parameters.set_item("unit", shingling.unit.to_string())?;
        if shingling.unit.takes_size() {
            parameters.set_item("size", shingling.size.get())?;
        }
        let normalise = shingling.normalise;
        parameters.set_item("lowercase", normalise.lowercase)?;
        parameters.set_item("strip_punctuation", normalise.strip_punctuation)?;
        parameters.set_item("keep_whitespace", normalise.keep_whitespace)?;
        parameters.set_item("count", shingling.weighting == Weighting::Counts)?;
        if shingling.weighting == Weighting::Rarity {
            parameters.set_item("weights", "rarity")?;
        }
        match search.within {
            None => parameters.set_item("threshold", search.threshold)?,
            Some(within) => {
                parameters.set_item("distance", within.distance.name())?;
                parameters.set_item("within", within.most)?;
            }
        }
        parameters.set_item("candidates", candidates.name())?;
        if candidates == CandidateMethod::Lsh {
            parameters.set_item("bands", search.banding.bands())?;
            parameters.set_item("rows", search.banding.rows())?;
        }
        parameters.set_item("verify", search.verification.name())?;
        Ok(parameters)
    }
}

/// Deduplicates documents in memory; returns the parts of `Deduplicated`.
#[pyfunction]
#[pyo3(signature = (data, column, ids, settings, cluster, keep, max_bucket))]
pub(crate) fn dedup_in_memory<'py>(
    data: &Bound<'py, PyAny>,
    column: Option<&str>,
    ids: Option<&Bound<'py, PyAny>>,
    settings: Settings<'py>,
    cluster: &str,
    keep: &str,
    max_bucket: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let py = data.py();
    let mut prepared = settings.prepare(py)?;
    let task = dedup_task(py, &prepared, cluster, keep, max_bucket)?;
    let (documents, ids) = documents_with_ids(data, column, ids)?;
    let found = prepared.run(
        py,
        &documents,
        |texts, engine, progress| dedup(texts, engine, &task, progress),
        |tokens, engine, progress| dedup(tokens, engine, &task, progress),
    )?;
    let parts = prepared.parts(py, found.candidates, &found.counts, &found.timings)?;
    let (is_kept, kept_by) = kept(py, &found, documents.len())?;
    parts.set_item("keep", is_kept)?;
    parts.set_item("kept_by", kept_by)?;
    parts.set_item("removed", Bound::new(py, removed(&found, ids.as_ref())?)?)?;
    parts.set_item("recall", found.recall_at_threshold)?;
    parts.set_item("expected_precision", found.expected_precision)?;
    Ok(parts)
}

/// The parameters of a deduplication.
pub(crate) fn dedup_task(
    py: Python<'_>,
    prepared: &Prepared,
    cluster: &str,
    keep: &str,
    max_bucket: usize,
) -> PyResult<Dedup> {
    let clusterings = [Clustering::Greedy, Clustering::Connected];
    let policies = [KeepPolicy::First, KeepPolicy::Longest];
    if max_bucket == 0 {
        return Err(parameter_error(
            py,
            "max_bucket is 0; give a number from 1 on",
        ));
    }
    Ok(Dedup {
        search: prepared.search.clone(),
        clustering: named(py, "cluster", cluster, clusterings, Clustering::name)?,
        keep: named(py, "keep", keep, policies, KeepPolicy::name)?,
        max_bucket,
    })
}

/// Which rows are kept, and the row kept for each row.
#[allow(clippy::type_complexity, reason = "two arrays")]
fn kept<'py>(
    py: Python<'py>,
    found: &Deduplication,
    rows: usize,
) -> PyResult<(Bound<'py, PyArray1<bool>>, Bound<'py, PyArray1<i64>>)> {
    let mut is_kept = vec![true; rows];
    let mut kept_by: Vec<i64> = (0..).take(rows).collect();
    for removed in &found.removed {
        is_kept[removed.row as usize] = false;
        kept_by[removed.row as usize] = i64::from(removed.kept);
    }
    let arrays = (
        PyArray1::from_vec(py, is_kept),
        PyArray1::from_vec(py, kept_by),
    );
    arrays.0.readwrite().make_nonwriteable();
    arrays.1.readwrite().make_nonwriteable();
    Ok(arrays)
}

/// The table of removed documents.
fn removed(found: &Deduplication, ids: Option<&Ids>) -> PyResult<PyTable> {
    let removed = &found.removed;
    let rows = || removed.iter().map(|removed| removed.row);
    let kept = || removed.iter().map(|removed| removed.kept);
    let found_by: StringArray = removed
        .iter()
        .map(|removed| Some(removed.found_by.name()))
        .collect();
    let similarity: Float64Array = removed.iter().map(|removed| removed.similarity).collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("row", numbers(rows())),
        ("kept", numbers(kept())),
        ("similarity", Arc::new(similarity)),
        ("found_by", Arc::new(found_by)),
    ];
    if let Some(ids) = ids {
        columns.push(("id", ids.of_rows(rows())));
        columns.push(("kept_id", ids.of_rows(kept())));
    }
    PyTable::new(columns)
}

fn numbers(rows: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.map(i64::from)))
}

/// Finds the similar pairs of documents in memory; returns the parts of `Pairs`.
#[pyfunction]
#[pyo3(signature = (data, column, ids, settings, identical, max_pairs))]
pub(crate) fn pairs_in_memory<'py>(
    data: &Bound<'py, PyAny>,
    column: Option<&str>,
    ids: Option<&Bound<'py, PyAny>>,
    settings: Settings<'py>,
    identical: &str,
    max_pairs: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let py = data.py();
    let mut prepared = settings.prepare(py)?;
    let kinds = [Identical::All, Identical::Star];
    let task = Pairs {
        search: prepared.search.clone(),
        identical: named(py, "identical", identical, kinds, Identical::name)?,
        max_pairs,
    };
    let (documents, ids) = documents_with_ids(data, column, ids)?;
    let (found, pairs) = prepared.run(
        py,
        &documents,
        |texts, engine, progress| all_pairs(texts, engine, &task, progress),
        |tokens, engine, progress| all_pairs(tokens, engine, &task, progress),
    )?;
    let left = || pairs.iter().map(|pair| pair.a);
    let right = || pairs.iter().map(|pair| pair.b);
    let measured: (&str, ArrayRef) = if task.search.within.is_some() {
        let distances = pairs.iter().filter_map(|pair| pair.distance);
        let distances = distances.map(|distance| i64::try_from(distance).unwrap_or(i64::MAX));
        (
            "distance",
            Arc::new(Int64Array::from_iter_values(distances)),
        )
    } else {
        let similarity: Float64Array = pairs.iter().map(|pair| pair.similarity).collect();
        ("similarity", Arc::new(similarity))
    };
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("left", numbers(left())),
        ("right", numbers(right())),
        measured,
    ];
    if let Some(ids) = &ids {
        columns.push(("left_id", ids.of_rows(left())));
        columns.push(("right_id", ids.of_rows(right())));
    }
    let parts = prepared.parts(py, found.candidates, &found.counts, &found.timings)?;
    parts.set_item("table", Bound::new(py, PyTable::new(columns)?)?)?;
    parts.set_item("complete", found.is_complete)?;
    parts.set_item("recall", found.recall_at_threshold)?;
    parts.set_item("expected_precision", found.expected_precision)?;
    Ok(parts)
}

/// Finds the pairs and holds them all.
fn all_pairs<D: Documents + ?Sized>(
    documents: &D,
    engine: &Engine,
    task: &Pairs,
    progress: &dyn Progress,
) -> simgpu::Result<(PairsFound, Vec<DocumentPair>)> {
    let mut all = Vec::new();
    let found = pairs(documents, engine, task, progress, &mut |pair| {
        all.push(pair);
        Ok::<(), Error>(())
    })?;
    Ok((found, all))
}

/// The documents of a call and, if they are given, their ids.
fn documents_with_ids<'py>(
    data: &Bound<'py, PyAny>,
    column: Option<&str>,
    ids: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Column<'py>, Option<Ids>)> {
    let documents = Column::new(data, column)?;
    let ids = ids.map(|ids| Ids::new(data, ids, documents.len()));
    Ok((documents, ids.transpose()?))
}

/// The ids of documents or of users.
pub(crate) enum Ids {
    Numbers(Vec<i64>),
    Strings(Vec<String>),
}

impl Ids {
    /// The ids in a column of `data`, or those of a sequence.
    fn new(data: &Bound<'_, PyAny>, ids: &Bound<'_, PyAny>, documents: usize) -> PyResult<Self> {
        let column = match ids.extract::<&str>() {
            Ok(name) => Column::new(data, Some(name))?,
            Err(_) => Column::new(ids, None)?,
        };
        if column.len() != documents {
            let message = format!(
                "{} ids of {documents} documents; give one per document",
                column.len()
            );
            return Err(parameter_error(data.py(), message));
        }
        Ids::of_column(data.py(), &column)
    }

    /// The ids in a column, one per row.
    pub(crate) fn of_column(py: Python<'_>, column: &Column<'_>) -> PyResult<Self> {
        match column {
            Column::Objects(objects) => Ids::of_objects(objects),
            Column::Arrow(chunks) => {
                if let Some(row) = first_null(&chunks.arrays) {
                    return Err(missing_id(py, row));
                }
                match integers(&chunks.arrays) {
                    Some(numbers) => Ok(Ids::Numbers(numbers)),
                    None => {
                        let texts = column.texts()?;
                        Ok(Ids::Strings(texts.into_iter().map(str::to_owned).collect()))
                    }
                }
            }
        }
    }

    /// Integers if all are, else strings.
    fn of_objects(objects: &Bound<'_, PyTuple>) -> PyResult<Self> {
        if let Some(row) = objects.iter_borrowed().position(|id| id.is_none()) {
            return Err(missing_id(objects.py(), row));
        }
        let numbers: PyResult<_> = objects.iter_borrowed().map(|id| id.extract()).collect();
        if let Ok(numbers) = numbers {
            return Ok(Ids::Numbers(numbers));
        }
        let strings = objects.iter_borrowed().enumerate().map(|(row, id)| {
            id.extract::<String>().map_err(|_| {
                let kind = id.get_type().name();
                let kind = kind.map_or_else(|_| "unknown".to_owned(), |kind| kind.to_string());
                PyTypeError::new_err(format!(
                    "the id of row {row} is of type {kind}; give ids that are all int or all str"
                ))
            })
        });
        Ok(Ids::Strings(strings.collect::<PyResult<_>>()?))
    }

    fn of_rows(&self, rows: impl Iterator<Item = u32>) -> ArrayRef {
        match self {
            Ids::Numbers(ids) => {
                let ids = rows.map(|row| ids[row as usize]);
                Arc::new(Int64Array::from_iter_values(ids))
            }
            Ids::Strings(ids) => {
                let ids = rows.map(|row| &ids[row as usize]);
                Arc::new(StringArray::from_iter_values(ids))
            }
        }
    }
}

fn missing_id(py: Python<'_>, row: usize) -> PyErr {
    input_error(py, row, "an id that is missing", "give every row an id")
}

fn first_null(arrays: &[ArrayRef]) -> Option<usize> {
    let mut first = 0;
    for array in arrays {
        if array.null_count() > 0 {
            return (0..array.len())
                .find(|row| array.is_null(*row))
                .map(|row| first + row);
        }
        first += array.len();
    }
    None
}

/// The values of arrays of integers; `None` if they are of another type, or exceed 63 bits.
pub(crate) fn integers(arrays: &[ArrayRef]) -> Option<Vec<i64>> {
    macro_rules! push {
        ($array:expr, $numbers:expr, $kind:ty) => {
            for value in $array.as_primitive::<$kind>().values() {
                $numbers.push(i64::try_from(*value).ok()?);
            }
        };
    }
    let mut numbers = Vec::new();
    for array in arrays {
        match array.data_type() {
            DataType::Int8 => push!(array, numbers, Int8Type),
            DataType::Int16 => push!(array, numbers, Int16Type),
            DataType::Int32 => push!(array, numbers, Int32Type),
            DataType::Int64 => push!(array, numbers, Int64Type),
            DataType::UInt8 => push!(array, numbers, UInt8Type),
            DataType::UInt16 => push!(array, numbers, UInt16Type),
            DataType::UInt32 => push!(array, numbers, UInt32Type),
            DataType::UInt64 => push!(array, numbers, UInt64Type),
            _ => return None,
        }
    }
    Some(numbers)
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
    named.set_item("equal_shingles", counts.equal_shingles)?;
    named.set_item("few_shingles", counts.few_shingles)?;
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
