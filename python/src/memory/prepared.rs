//! A search, ready to run, and the options that make it.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::backend::Backend;
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::pipeline::{Measure, Shingling, Weighting, Within, check_threshold};
use simgpu::progress::Progress;
use simgpu::scheme::Scheme;
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu_cli::arguments::{
    BandingArguments, CandidatesArgument, MeasureArgument, VerifyArgument, WeightsArgument,
    candidate_method, method_within, modes_of_method, modes_of_search, requested_distance,
};
use simgpu_cli::options::{Given, Mode};

use super::corpus::Corpus;
use super::parts::{add_search, scheme_parts};
use super::reference::ReferenceDocuments;
use crate::engines::Engines;
use crate::errors::{OrRaise, parameter_error, run_error};
use crate::options::{MIB, Options};
use crate::pool;
use crate::progress::Display;
use crate::scheme::{NUM_PERM, PyShingling, SEED, banding_of, scheme_of};
use crate::signer::open;
use crate::texts::{Column, Tokens};

/// The default of `threshold`.
const DEFAULT_THRESHOLD: f64 = 0.8;

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
        let mut shingling = PyShingling::from_argument(shingling.as_ref())?;
        if let Some((name, weighting)) = options.weighting(within)? {
            let own = shingling
                .unwrap_or_else(|| PyShingling::from_unit(Shingling::of_scheme(&scheme).unit));
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
    pub(super) fn search_of_signatures(&self, scheme: &Scheme) -> PyResult<Search> {
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
            .map_err(|error| run_error(self.py(), error))
    }

    fn candidate_method(
        &self,
        scheme: &Scheme,
        backend: Backend,
        within: Option<Within>,
    ) -> PyResult<CandidateMethod> {
        let named = self.optional_choice("candidates")?;
        let threshold = self.banding()?.threshold;
        let lsh_arguments = [
            ("bands", self.value("bands")?.is_some()),
            ("rows", self.value("rows")?.is_some()),
            ("scheme", *scheme != Scheme::default()),
            ("backend", backend != Backend::Auto),
        ];
        let asks_for_lsh = lsh_arguments.iter().any(|(_, is_given)| *is_given);
        let has_threshold = threshold.to_bits() != DEFAULT_THRESHOLD.to_bits();
        let given = lsh_arguments
            .into_iter()
            .chain([("threshold", has_threshold)]);
        let given = given.filter(|(_, is_given)| *is_given);
        let given = Given::new("pairs", given.map(|(name, _)| name.to_owned()));
        let checked = given.check(modes_of_method(named, within));
        let method = checked.and_then(|()| match within {
            Some(_) => method_within(named),
            None => Ok(candidate_method(named, asks_for_lsh)),
        });
        method.map_err(|error| run_error(self.py(), error))
    }
}

impl Prepared {
    /// Refuses options that the search has no use for. They are those of the function `command` of `simgpu`.
    pub(super) fn check_limits(&self, options: &Options<'_>, command: &str) -> PyResult<()> {
        let search = &self.search;
        let given = options.given("simgpu._dedup", command, command)?;
        let is_join = search.candidates == CandidateMethod::Join || search.within.is_some();
        let bucket_modes: &[Mode] = if is_join { &[Mode::NoBuckets] } else { &[] };
        let modes = modes_of_search(search, self.engines.on_cpu());
        let checked = modes.and_then(|modes| given.check(&[bucket_modes, modes].concat()));
        checked.map_err(|error| run_error(options.py(), error))
    }

    /// Runs a search on the pool, over the texts or lists of tokens of a column, and of the reference if there is one.
    pub(super) fn run<T: Send>(
        &mut self,
        py: Python<'_>,
        documents: &Column<'_>,
        reference: Option<&ReferenceDocuments<'_>>,
        texts: impl FnOnce(Corpus<'_, [&str]>, &Engine, &dyn Progress) -> simgpu::Result<T> + Send,
        tokens: impl FnOnce(Corpus<'_, Tokens<'_>>, &Engine, &dyn Progress) -> simgpu::Result<T> + Send,
    ) -> PyResult<T> {
        if self.engines.on_cpu().takes_tokens() {
            let (mut lists, mut reference_lists) = (Vec::new(), Vec::new());
            let documents = documents.tokens(&mut lists)?;
            let reference = reference.map(|reference| reference.tokens(py, &mut reference_lists));
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
        let parameters = scheme_parts(py, engine.scheme())?;
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
