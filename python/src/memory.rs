//! Deduplicates, and finds similar pairs of, what is in memory. `simgpu/_dedup.py` gives the results their shape.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use simgpu::backend::Backend;
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::pipeline::{Measure, Removal, Shingling, Weighting, Within, check_threshold};
use simgpu::progress::{Counts, Progress, Timings};
use simgpu::scheme::Scheme;
use simgpu::search::{
    CandidateMethod, Dedup, Deduplication, DocumentPair, Pairs, PairsFound, Search, Verification,
    dedup_against, dedup_by_class, pairs, pairs_against,
};
use simgpu_cli::arguments::{
    BandingArguments, CandidatesArgument, MeasureArgument, VerifyArgument, WeightsArgument,
    candidate_method, method_within, modes_of_method, modes_of_search, requested_distance,
};
use simgpu_cli::options::{Given, Mode};
use simgpu_files::DeduplicationToShow;
use simgpu_io::{DedupParameters, PairsParameters, Parameters};

use crate::beside::{Ids, Preferred, SidedIds, SidedRow, check_length};
use crate::columns::Frame;
use crate::engines::Engines;
use crate::errors::{OrRaise, of_run, parameter_error};
use crate::json;
use crate::options::{MIB, Options};
use crate::pool;
use crate::progress::Display;
use crate::scheme::{NUM_PERM, PyShingling, SEED, banding_of, scheme_of};
use crate::signatures::PySignatures;
use crate::signer::open;
use crate::table::PyTable;
use crate::texts::{Column, Tokens, column_name, refuse_counts};
use crate::tokens::TokenList;

/// The default of `threshold`.
const DEFAULT_THRESHOLD: f64 = 0.8;

/// Documents that others are compared with.
pub(crate) struct ReferenceDocuments<'py> {
    pub(crate) documents: Column<'py>,
    /// `None` if they have none, or no column of the name.
    ids: Option<Ids>,
}

impl<'py> ReferenceDocuments<'py> {
    /// The texts, as [`Column::texts`].
    pub(crate) fn texts(&self, py: Python<'_>) -> PyResult<Vec<&str>> {
        let texts = self.documents.texts();
        texts.map_err(|error| in_against(py, error))
    }

    /// The lists of tokens, as [`Column::tokens`].
    pub(crate) fn tokens<'a>(
        &'a self,
        py: Python<'_>,
        lists: &'a mut Vec<TokenList<'py>>,
    ) -> PyResult<Tokens<'a>> {
        let tokens = self.documents.tokens(lists);
        tokens.map_err(|error| in_against(py, error))
    }

    /// The ids, if there are any.
    pub(crate) fn ids(&self) -> Option<&Ids> {
        self.ids.as_ref()
    }
}

/// The error of documents that are in `against`.
fn in_against(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(format!("against: {}", error.value(py)))
    } else {
        error
    }
}

/// A search, ready to run.
pub(crate) struct Prepared {
    pub(crate) engines: Engines,
    pub(crate) search: Search,
    pub(crate) threads: Option<usize>,
    display: Display,
}

impl Prepared {
    /// The search that options ask for.
    pub(crate) fn new(options: &Options<'_>) -> PyResult<Self> {
        let py = options.py();
        let scheme = options.scheme_in_memory()?;
        let within = options.within()?;
        let shingling = options.value("shingling")?;
        let mut shingling = PyShingling::of_argument(shingling.as_ref())?;
        if let Some((name, weighting)) = options.weighting(within)? {
            let own = shingling
                .unwrap_or_else(|| PyShingling::of_unit(Shingling::of_scheme(&scheme).unit));
            shingling = Some(own.with_weighting(py, name, weighting)?);
        }
        let backend: String = options.required("backend", "the name of a backend, as a str")?;
        let backend: Backend = backend.parse().or_raise(py)?;
        let candidates = options.candidate_method(&scheme, backend, within)?;
        let join_mib: usize = options.required("join_mib", MIB)?;
        let search = Search {
            within,
            candidates,
            join_bytes: join_mib.saturating_mul(1 << 20),
            ..options.search_through_lsh(&scheme, Verification::Exact)?
        };
        let engines = open(py, &scheme, shingling.as_ref(), backend)?;
        search.method(engines.on_cpu()).or_raise(py)?;
        Ok(Prepared {
            engines,
            search,
            threads: options.threads()?,
            display: Display::new(options.value("progress")?)?,
        })
    }
}

impl Options<'_> {
    /// The search among signatures of this scheme. Refuses options that cannot act without documents.
    fn search_of_signatures(&self, scheme: &Scheme) -> PyResult<Search> {
        let py = self.py();
        for name in [
            "num_perm",
            "seed",
            "shingling",
            "weights",
            "distance",
            "within",
        ] {
            if self.value(name)?.is_some() {
                let message = format!("{name} has no effect on Signatures; omit it");
                return Err(parameter_error(py, message));
            }
        }
        let backend: String = self.required("backend", "the name of a backend, as a str")?;
        if backend != Backend::Auto.to_string() {
            let message = "backend has no effect on Signatures; omit it";
            return Err(parameter_error(py, message));
        }
        let named = self.scheme_in_memory()?;
        if named != Scheme::default() && named != *scheme {
            let message = format!("scheme is {named}, but the Signatures have {scheme}; omit it");
            return Err(parameter_error(py, message));
        }
        let candidates = match self.optional_choice("candidates")? {
            Some(CandidatesArgument::Join) => CandidateMethod::Join,
            Some(CandidatesArgument::Lsh | CandidatesArgument::Auto) | None => CandidateMethod::Lsh,
        };
        Ok(Search {
            candidates,
            ..self.search_through_lsh(scheme, Verification::Signature)?
        })
    }

    fn scheme_in_memory(&self) -> PyResult<Scheme> {
        let scheme: Bound<'_, PyAny> = self.required("scheme", "a Scheme or its name")?;
        scheme_of(
            &scheme,
            self.optional("num_perm", NUM_PERM)?,
            self.optional("seed", SEED)?,
        )
    }

    /// Threshold, bands and verification.
    fn search_through_lsh(&self, scheme: &Scheme, default: Verification) -> PyResult<Search> {
        let BandingArguments {
            threshold,
            bands,
            rows,
        } = self.banding()?;
        check_threshold(threshold).or_raise(self.py())?;
        let measure = match self.optional_choice("measure")? {
            Some(MeasureArgument::Contained) => Measure::Contained,
            Some(MeasureArgument::Jaccard) | None => Measure::Jaccard,
        };
        // The Jaccard similarity that bands are chosen for.
        let banded = measure.jaccard_at(threshold, Search::BANDED_RATIO);
        let banding = banding_of(self.py(), bands, rows, banded, scheme)?;
        let verification = match self.optional_choice("verify")? {
            None => default,
            Some(VerifyArgument::None) => Verification::None,
            Some(VerifyArgument::Signature) => Verification::Signature,
            Some(VerifyArgument::Exact) => Verification::Exact,
        };
        Ok(Search {
            measure,
            ..Search::through_lsh(threshold, banding, verification)
        })
    }

    /// The weighting that the search asks for, and by which argument.
    fn weighting(&self, within: Option<Within>) -> PyResult<Option<(&'static str, Weighting)>> {
        let named: Option<WeightsArgument> = self.optional_choice("weights")?;
        match (within, named) {
            (None, None) => Ok(None),
            (Some(within), None) => Ok(Some(("distance", within.distance.weighting()))),
            (None, Some(weights)) => Ok(Some(("weights", weights.weighting()))),
            (Some(_), Some(_)) => {
                let message = "distance and weights exclude each other; omit one of them";
                Err(parameter_error(self.py(), message))
            }
        }
    }

    fn within(&self) -> PyResult<Option<Within>> {
        let within = self.optional("within", "a whole number, from 0 on")?;
        requested_distance(self.optional_choice("distance")?, within)
            .map_err(|error| of_run(self.py(), error))
    }

    fn candidate_method(
        &self,
        scheme: &Scheme,
        backend: Backend,
        within: Option<Within>,
    ) -> PyResult<CandidateMethod> {
        let named = self.optional_choice("candidates")?;
        let threshold = self.banding()?.threshold;
        let of_lsh = [
            ("bands", self.value("bands")?.is_some()),
            ("rows", self.value("rows")?.is_some()),
            ("scheme", *scheme != Scheme::default()),
            ("backend", backend != Backend::Auto),
        ];
        let asks_for_lsh = of_lsh.iter().any(|(_, is_given)| *is_given);
        let has_threshold = threshold.to_bits() != DEFAULT_THRESHOLD.to_bits();
        let given = of_lsh.into_iter().chain([("threshold", has_threshold)]);
        let given = given.filter(|(_, is_given)| *is_given);
        let given = Given::new("pairs", given.map(|(name, _)| name.to_owned()));
        let checked = given.check(modes_of_method(named, within));
        let method = checked.and_then(|()| match within {
            Some(_) => method_within(named),
            None => Ok(candidate_method(named, asks_for_lsh)),
        });
        method.map_err(|error| of_run(self.py(), error))
    }
}

impl<'py> Options<'py> {
    /// The documents that others are compared with, and their ids: if `id` names a column, and they have it.
    pub(crate) fn reference(&self) -> PyResult<Option<ReferenceDocuments<'py>>> {
        let Some(against) = self.value("against")? else {
            return Ok(None);
        };
        if against.cast::<PySignatures>().is_ok() {
            let message = "against are Signatures, but data are documents; sign them, and give their Signatures";
            return Err(parameter_error(self.py(), message));
        }
        let has_columns =
            !against.is_instance_of::<PyList>() && !against.is_instance_of::<PyTuple>();
        let column = self.value("column")?.filter(|_| has_columns);
        let column = column_name(&against, column.as_ref())?;
        let id = self.named_column("id")?.filter(|_| has_columns);
        // Read once, because a stream ends, and to read a query again may give its rows in another order.
        let frame = match &id {
            Some(_) => Frame::new(&against, "against").ok(),
            None => None,
        };
        let (Some(id), Some(frame)) = (id, frame) else {
            let documents =
                Column::called("the documents of against", &against, column.as_deref())?;
            let ids = None;
            return Ok(Some(ReferenceDocuments { documents, ids }));
        };
        let column = match column {
            Some(column) => column,
            None => frame.only_beside([Some(&*id), None])?,
        };
        let py = self.py();
        let documents = frame.take("column", &column)?;
        let ids = if frame.has(&id)? {
            Some(Ids::of_column(py, &frame.take("id", &id)?)?)
        } else {
            None
        };
        if let Some(ids) = &ids {
            check_length(py, "id of against", ids.len(), documents.len())?;
        }
        Ok(Some(ReferenceDocuments { documents, ids }))
    }

    /// The signatures that others are compared with.
    fn reference_signatures(&self) -> PyResult<Option<Bound<'py, PySignatures>>> {
        let Some(against) = self.value("against")? else {
            return Ok(None);
        };
        against.cast_into::<PySignatures>().map(Some).map_err(|_| {
            let message =
                "data are Signatures, but against are not; give the Signatures of its documents";
            parameter_error(self.py(), message)
        })
    }
}

impl Prepared {
    /// Refuses options that the search has no use for. They are those of the function `command` of `simgpu`.
    fn check_limits(&self, options: &Options<'_>, command: &str) -> PyResult<()> {
        let search = &self.search;
        let given = options.given("simgpu._dedup", command, command)?;
        let is_join = search.candidates == CandidateMethod::Join || search.within.is_some();
        let of_buckets: &[Mode] = if is_join { &[Mode::NoBuckets] } else { &[] };
        let modes = modes_of_search(search, self.engines.on_cpu());
        let checked = modes.and_then(|modes| given.check(&[of_buckets, modes].concat()));
        checked.map_err(|error| of_run(options.py(), error))
    }

    /// Runs a search on the pool, over the texts or lists of tokens of a column, and of the reference if there is one.
    fn run<T: Send>(
        &mut self,
        py: Python<'_>,
        documents: &Column<'_>,
        reference: Option<&ReferenceDocuments<'_>>,
        texts: impl FnOnce(Corpus<'_, [&str]>, &Engine, &dyn Progress) -> simgpu::Result<T> + Send,
        tokens: impl FnOnce(Corpus<'_, Tokens<'_>>, &Engine, &dyn Progress) -> simgpu::Result<T> + Send,
    ) -> PyResult<T> {
        if self.engines.on_cpu().takes_tokens() {
            let (mut lists, mut of_reference) = (Vec::new(), Vec::new());
            let documents = documents.tokens(&mut lists)?;
            let reference = reference.map(|reference| reference.tokens(py, &mut of_reference));
            let reference = reference.transpose()?;
            let all = std::iter::once(&documents).chain(&reference);
            let bytes = all.map(|tokens| {
                (0..tokens.len())
                    .map(|row| tokens.bytes(row))
                    .sum::<usize>()
            });
            let engine = self.engines.for_bytes(py, bytes.sum::<usize>() as u64)?;
            return pool::run(py, self.threads, &mut self.display, |progress| {
                let corpus = Corpus {
                    documents: &documents,
                    reference: reference.as_ref(),
                };
                tokens(corpus, &engine, progress)
            });
        }
        let documents = documents.texts()?;
        let reference = reference.map(|reference| reference.texts(py));
        let reference = reference.transpose()?;
        let all = documents.iter().chain(reference.iter().flatten());
        let bytes: usize = all.map(|text| text.len()).sum();
        let engine = self.engines.for_bytes(py, bytes as u64)?;
        pool::run(py, self.threads, &mut self.display, |progress| {
            let corpus = Corpus {
                documents: &documents[..],
                reference: reference.as_deref(),
            };
            texts(corpus, &engine, progress)
        })
    }

    /// What decides the result, as `report.json` of the command names it.
    pub(crate) fn parameters<'py>(
        &self,
        py: Python<'py>,
        candidates: CandidateMethod,
    ) -> PyResult<Bound<'py, PyDict>> {
        let engine = self.engines.on_cpu();
        let (shingler, search) = (engine.shingler(), &self.search);
        let shingling = shingler.shingling();
        let parameters = of_scheme(py, engine.scheme())?;
        parameters.set_item("hash", shingler.hash().to_string())?;
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
        add_search(&parameters, search, candidates, engine.scheme())?;
        Ok(parameters)
    }
}

/// The parameters of a scheme, as `report.json` of the command names them.
fn of_scheme<'py>(py: Python<'py>, scheme: &Scheme) -> PyResult<Bound<'py, PyDict>> {
    let parameters = PyDict::new(py);
    parameters.set_item("scheme", scheme.to_string())?;
    parameters.set_item("seed", scheme.seed())?;
    parameters.set_item("num_perm", scheme.num_perm())?;
    Ok(parameters)
}

/// Adds the parameters of a search, as `report.json` of the command names them.
fn add_search(
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
            let (mut lists, mut of_reference) = (Vec::new(), Vec::new());
            let documents = documents.tokens(&mut lists)?;
            let reference = reference.as_ref();
            let reference = reference.map(|reference| reference.tokens(py, &mut of_reference));
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

/// Documents to search, and the reference that they are compared with, if there is one.
pub(crate) struct Corpus<'a, D: ?Sized> {
    documents: &'a D,
    reference: Option<&'a D>,
}

impl<D: Documents + ?Sized> Corpus<'_, D> {
    /// Deduplicates the documents, against the reference if there is one.
    fn dedup(
        &self,
        preferred: Option<&Preferred>,
        engine: &Engine,
        task: &Dedup,
        progress: &dyn Progress,
    ) -> simgpu::Result<Deduplication> {
        let classes = Preferred::classes(preferred, progress)?;
        let (documents, classes) = (self.documents, classes.as_deref());
        match self.reference {
            None => dedup_by_class(documents, classes, engine, task, progress),
            Some(reference) => dedup_against(documents, reference, classes, engine, task, progress),
        }
    }

    /// Finds pairs of the documents, across if there is a reference.
    fn pairs(
        &self,
        engine: &Engine,
        task: &Pairs,
        progress: &dyn Progress,
    ) -> simgpu::Result<CollectedPairs> {
        let documents = self.documents;
        CollectedPairs::collect(|each| match self.reference {
            None => pairs(documents, engine, task, progress, each),
            Some(reference) => pairs_against(documents, reference, engine, task, progress, each),
        })
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
    let parameters = of_scheme(py, signatures.scheme())?;
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

/// What the results of both searches have in common.
fn parts<'py>(
    parameters: &Bound<'py, PyDict>,
    of_run: &Counts,
    timings: &Timings,
) -> PyResult<Bound<'py, PyDict>> {
    let py = parameters.py();
    let parts = PyDict::new(py);
    parts.set_item("counts", counts(py, of_run)?)?;
    parts.set_item("parameters", parameters)?;
    parts.set_item("stages", stages(py, timings)?)?;
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
        let of_reference = |removed: &Removal| (removed.kept < reference).then_some(removed.kept);
        let of_reference = removals().map(|removal| removal.and_then(of_reference));
        columns.insert(2, ("reference", numbers_or_null(of_reference)));
    }
    if let Some(ids) = ids {
        columns.push(("id", ids.documents.of_rows(rows())));
        let kept = removals().map(|removal| removal.map(|of| sided(of.kept, reference)));
        columns.push(("kept_id", ids.of_rows_or_null(kept)));
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

fn numbers_or_null(rows: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    Arc::new(rows.map(|row| row.map(i64::from)).collect::<Int64Array>())
}

fn numbers(rows: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.map(i64::from)))
}

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
    let parameters = of_scheme(py, signatures.scheme())?;
    add_search(
        &parameters,
        &search,
        found.summary.candidates,
        signatures.scheme(),
    )?;
    found.parts(&parameters, &task, beside.sided_ids(None))
}

/// All pairs that a search found, and what it says of them.
struct CollectedPairs {
    summary: PairsFound,
    pairs: Vec<DocumentPair>,
}

impl CollectedPairs {
    /// Finds pairs by `find` and holds them all.
    fn collect(
        find: impl FnOnce(
            &mut dyn FnMut(DocumentPair) -> simgpu::Result<()>,
        ) -> simgpu::Result<PairsFound>,
    ) -> simgpu::Result<Self> {
        let mut pairs = Vec::new();
        let summary = find(&mut |pair| {
            pairs.push(pair);
            Ok(())
        })?;
        Ok(CollectedPairs { summary, pairs })
    }

    /// The parts of `Pairs`.
    fn parts<'py>(
        &self,
        parameters: &Bound<'py, PyDict>,
        task: &Pairs,
        ids: Option<SidedIds<'_>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let CollectedPairs {
            summary: found,
            pairs,
        } = self;
        // Those of a reference have the first rows, and are on the left.
        let reference = u32::try_from(found.counts.reference.unwrap_or(0))?;
        let left = || pairs.iter().map(|pair| pair.a);
        let right = || pairs.iter().map(|pair| pair.b - reference);
        let measured: (&str, ArrayRef) = if task.search.within.is_some() {
            let distances = pairs.iter().filter_map(|pair| pair.distance);
            let distances = distances
                .map(i64::try_from)
                .collect::<Result<Vec<_>, _>>()?;
            ("distance", Arc::new(Int64Array::from(distances)))
        } else {
            let similarity: Float64Array = pairs.iter().map(|pair| pair.similarity).collect();
            ("similarity", Arc::new(similarity))
        };
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("left", numbers(left())),
            ("right", numbers(right())),
            measured,
        ];
        if let Some(ids) = ids {
            if found.counts.reference.is_none() {
                columns.push(("left_id", ids.documents.of_rows(left())));
            } else if let Some(of_reference) = ids.reference {
                columns.push(("left_id", of_reference.of_rows(left())));
            }
            columns.push(("right_id", ids.documents.of_rows(right())));
        }
        let parts = parts(parameters, &found.counts, &found.timings)?;
        let reported = json::of(parameters.py(), &PairsParameters::new(task))?;
        parts.set_item("reported", reported)?;
        let table = Bound::new(parameters.py(), PyTable::new(columns)?)?;
        parts.set_item("table", table)?;
        parts.set_item("complete", found.is_complete)?;
        parts.set_item("recall", found.recall_at_threshold)?;
        parts.set_item("expected_precision", found.expected_precision)?;
        Ok(parts)
    }
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
