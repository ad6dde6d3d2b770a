//! `Shingling`: how a text becomes shingles.

use std::num::NonZeroUsize;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use simgpu::Error;
use simgpu::pipeline::{Normalise, Shingling, StopWords, Unit, Weighting};
use simgpu::scheme::{BaseHash, Scheme, WeightScale};
use simgpu_cli::arguments::unit_modes;
use simgpu_cli::options::Given;

use crate::arguments::{optional_argument, refused};
use crate::errors::{OrRaise, parameter_error, run_error};

/// How a document becomes a set of shingles.
///
/// Immutable and hashable. What is not given is the scheme's: a preset has its own sizes for its own unit.
///
/// Args:
///     unit: ``"words"``, ``"bytes"``, ``"chars"``, ``"stopwords"``, ``"pieces"`` (strings between characters other
///         than letters, numbers and underscores), ``"code"`` (words, numbers and single operator characters of
///         programs) or ``"tokens"`` (documents are lists of tokens).
///     size: Units per shingle. By default 5 words, pieces or units of code, 9 bytes or characters, 1 token, or the
///         scheme's.
///     lowercase: Lowercase texts first.
///     strip_punctuation: Delete punctuation first.
///     keep_whitespace: Keep runs of whitespace; by default each becomes one space.
///     count: Count how often a shingle occurs: compare bags instead of sets.
///     weight_scale: Compare weighted tokens: documents are dicts from token to weight, with the unit ``"tokens"``. A
///         power of two, such as 16: the copies that stand for a weight of 1. About 1,024 copies per document are a
///         good choice.
///     stop_words: The words that begin shingles of the unit ``"stopwords"``. By default English ones.
///     hash: The base hash of shingles. By default ``"words-v1"`` for words, murmur3 for other units, or the scheme's.
///
/// Raises:
///     ParameterError: A name is unknown, a number is out of range, or arguments contradict each other.
#[pyclass(frozen, module = "simgpu", name = "Shingling")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyShingling {
    unit: Unit,
    size: Option<NonZeroUsize>,
    normalise: Normalise,
    weighting: Weighting,
    /// The stop words given, sorted; `None` for the English ones.
    stop_words: Option<Vec<String>>,
    hash: Option<BaseHash>,
}

#[pymethods]
impl PyShingling {
    #[new]
    #[pyo3(signature = (unit=None, size=None, *, lowercase=None, strip_punctuation=None, keep_whitespace=None,
        count=None, weight_scale=None, stop_words=None, hash=None),
        text_signature = "(unit=\"words\", size=None, *, lowercase=False, strip_punctuation=False, \
            keep_whitespace=False, count=False, weight_scale=None, stop_words=None, hash=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        unit: Option<&Bound<'_, PyAny>>,
        size: Option<&Bound<'_, PyAny>>,
        lowercase: Option<&Bound<'_, PyAny>>,
        strip_punctuation: Option<&Bound<'_, PyAny>>,
        keep_whitespace: Option<&Bound<'_, PyAny>>,
        count: Option<&Bound<'_, PyAny>>,
        weight_scale: Option<&Bound<'_, PyAny>>,
        stop_words: Option<&Bound<'_, PyAny>>,
        hash: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let switch = |value, name| -> PyResult<bool> {
            let switch = optional_argument(value, name, "True or False")?;
            Ok(switch.unwrap_or(false))
        };
        let stop_words = stop_words.map(read_stop_words).transpose()?;
        let unit: Option<String> = optional_argument(unit, "unit", "the name of a unit, as a str")?;
        let unit = unit.as_deref().unwrap_or("words");
        let unit = unit_of(py, "unit", unit, stop_words.as_deref())?;
        let size: Option<NonZeroUsize> = optional_argument(size, "size", "a number from 1 on")?;
        if let Some(size) = size {
            Shingling::of(unit.clone()).with_size(size).or_raise(py)?;
        }
        let normalise = Normalise {
            lowercase: switch(lowercase, "lowercase")?,
            strip_punctuation: switch(strip_punctuation, "strip_punctuation")?,
            keep_whitespace: switch(keep_whitespace, "keep_whitespace")?,
        };
        let given = [
            ("lowercase", normalise.lowercase),
            ("strip_punctuation", normalise.strip_punctuation),
            ("keep_whitespace", normalise.keep_whitespace),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        let given = Given::new("sign", given.map(|(name, _)| name.to_owned()));
        let checked = given.check(unit_modes(&unit));
        checked.map_err(|error| run_error(py, error))?;
        let scale = optional_argument(weight_scale, "weight_scale", "a power of two, such as 16")?;
        let hash: Option<String> = optional_argument(hash, "hash", "the name of a hash, as a str")?;
        Ok(PyShingling {
            unit,
            size,
            normalise,
            weighting: weighting_of(py, switch(count, "count")?, scale)?,
            stop_words,
            hash: hash.map(|hash| hash.parse()).transpose().or_raise(py)?,
        })
    }

    /// The unit.
    #[getter]
    fn unit(&self) -> String {
        self.unit.to_string()
    }

    /// Units per shingle; ``None`` for the default.
    #[getter]
    fn size(&self) -> Option<usize> {
        self.size.map(NonZeroUsize::get)
    }

    /// Whether texts are lowercased.
    #[getter]
    fn lowercase(&self) -> bool {
        self.normalise.lowercase
    }

    /// Whether punctuation is deleted.
    #[getter]
    fn strip_punctuation(&self) -> bool {
        self.normalise.strip_punctuation
    }

    /// Whether runs of whitespace are kept.
    #[getter]
    fn keep_whitespace(&self) -> bool {
        self.normalise.keep_whitespace
    }

    /// Whether shingles are counted.
    #[getter]
    fn count(&self) -> bool {
        self.weighting == Weighting::Counts
    }

    /// Copies that stand for a weight of 1; ``None`` without weights.
    #[getter]
    fn weight_scale(&self) -> Option<f64> {
        match self.weighting {
            Weighting::Given(scale) => Some(scale.get()),
            _ => None,
        }
    }

    /// The stop words given, sorted; ``None`` for the English ones.
    #[getter]
    fn stop_words<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let words = self.stop_words.as_ref();
        words.map(|words| PyTuple::new(py, words)).transpose()
    }

    /// The name of the base hash; ``None`` for the default.
    #[getter]
    fn hash(&self) -> Option<String> {
        self.hash.map(|hash| hash.to_string())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<PyShingling>()
            .is_ok_and(|other| other.get() == self)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.parts(py)?.hash()
    }

    pub(crate) fn __repr__(&self) -> String {
        let mut shown = format!("Shingling({:?}", self.unit.to_string());
        if let Some(size) = self.size {
            shown += &format!(", size={size}");
        }
        let normalise = self.normalise;
        for (name, is_set) in [
            ("lowercase", normalise.lowercase),
            ("strip_punctuation", normalise.strip_punctuation),
            ("keep_whitespace", normalise.keep_whitespace),
            ("count", self.count()),
        ] {
            if is_set {
                shown += &format!(", {name}=True");
            }
        }
        if let Some(scale) = self.weight_scale() {
            shown += &format!(", weight_scale={scale:?}");
        }
        if let Some(words) = &self.stop_words {
            shown += &format!(", stop_words={words:?}");
        }
        if let Some(hash) = self.hash {
            shown += &format!(", hash={:?}", hash.to_string());
        }
        shown + ")"
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.import("simgpu._restore")?.getattr("shingling")?;
        Ok((make, self.parts(py)?))
    }
}

impl PyShingling {
    /// The arguments that make an equal object, in order.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let normalise = self.normalise;
        (
            self.unit(),
            self.size(),
            normalise.lowercase,
            normalise.strip_punctuation,
            normalise.keep_whitespace,
            self.stop_words(py)?,
            self.hash(),
            self.count(),
            self.weight_scale(),
        )
            .into_pyobject(py)
    }

    /// The shingling that an argument is or names; `None` for the scheme's.
    pub(crate) fn from_argument(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        let Some(argument) = argument else {
            return Ok(None);
        };
        if let Ok(shingling) = argument.cast::<PyShingling>() {
            return Ok(Some(shingling.get().clone()));
        }
        let Ok(unit) = argument.extract::<&str>() else {
            let kind = argument.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "shingling is of type {kind}; give a Shingling or the name of a unit"
            )));
        };
        let unit = unit_of(argument.py(), "shingling", unit, None)?;
        Ok(Some(PyShingling::from_unit(unit)))
    }

    /// Shingles of a unit, with the defaults of the scheme.
    pub(crate) fn from_unit(unit: Unit) -> Self {
        PyShingling {
            unit,
            size: None,
            normalise: Normalise::default(),
            weighting: Weighting::Equal,
            stop_words: None,
            hash: None,
        }
    }

    /// The same shingling with everything that the scheme decides filled in.
    pub(crate) fn completed(&self, resolved: &Shingling, hash: BaseHash) -> Self {
        // The hashes that only presets use have no name, so that nobody can ask for them.
        let is_named = BaseHash::names().any(|name| name == hash.to_string());
        PyShingling {
            unit: resolved.unit.clone(),
            size: resolved.unit.takes_size().then_some(resolved.size),
            normalise: resolved.normalise,
            weighting: self.weighting,
            stop_words: self.stop_words.clone(),
            hash: is_named.then_some(hash),
        }
    }

    /// The same shingling with a weighting that a search asks for by the argument `name`.
    pub(crate) fn with_weighting(
        self,
        py: Python<'_>,
        name: &str,
        weighting: Weighting,
    ) -> PyResult<Self> {
        let own = match self.weighting {
            Weighting::Equal => return Ok(PyShingling { weighting, ..self }),
            Weighting::Given(_) => "weight_scale",
            _ => "count",
        };
        let message =
            format!("{name} and the shingling's {own} exclude each other; omit one of them");
        Err(parameter_error(py, message))
    }

    /// The base hash, if given.
    pub(crate) fn base_hash(&self) -> Option<BaseHash> {
        self.hash
    }

    /// The library's shingling: what is not given is the scheme's, as on the command line.
    pub(crate) fn resolve(&self, scheme: &Scheme) -> simgpu::Result<Shingling> {
        let mut shingling = Shingling::for_scheme(scheme, Some(self.unit.clone()));
        if let Some(size) = self.size {
            shingling = shingling.with_size(size)?;
        }
        let (own, default) = (self.normalise, shingling.normalise);
        shingling.normalise = Normalise {
            lowercase: own.lowercase || default.lowercase,
            strip_punctuation: own.strip_punctuation || default.strip_punctuation,
            keep_whitespace: own.keep_whitespace || default.keep_whitespace,
        };
        shingling.weighting = self.weighting;
        Ok(shingling)
    }
}

/// The weighting that arguments name.
fn weighting_of(py: Python<'_>, count: bool, weight_scale: Option<f64>) -> PyResult<Weighting> {
    match (count, weight_scale) {
        (false, None) => Ok(Weighting::Equal),
        (true, None) => Ok(Weighting::Counts),
        (false, Some(scale)) => Ok(Weighting::Given(WeightScale::new(scale).or_raise(py)?)),
        (true, Some(_)) => {
            let message = "count and weight_scale exclude each other; omit one of them";
            Err(parameter_error(py, message))
        }
    }
}

/// The unit of this name. `what` is the argument that names it.
fn unit_of(
    py: Python<'_>,
    what: &'static str,
    name: &str,
    stop_words: Option<&[String]>,
) -> PyResult<Unit> {
    let as_strs = |words: &[String]| words.iter().map(String::as_str).collect();
    let stop_words_of = |words: Option<&[String]>| words.map_or_else(StopWords::english, as_strs);
    let units = [
        Unit::Words,
        Unit::Bytes,
        Unit::Chars,
        Unit::StopWords(stop_words_of(stop_words)),
        Unit::Pieces,
        Unit::Code,
        Unit::Tokens,
    ];
    let known = units.each_ref().map(Unit::to_string).join(", ");
    let unit = units.into_iter().find(|unit| unit.to_string() == name);
    let unit = unit.ok_or_else(|| Error::UnknownName {
        what,
        name: name.to_owned(),
        known,
    });
    let unit = unit.or_raise(py)?;
    if stop_words.is_some() && !matches!(unit, Unit::StopWords(_)) {
        let message = "stop_words needs unit=\"stopwords\"; give that unit, or omit stop_words";
        return Err(parameter_error(py, message));
    }
    Ok(unit)
}

/// The words, sorted.
fn read_stop_words(words: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let py = words.py();
    if words.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "stop_words is a str; give a list of words, such as text.split()",
        ));
    }
    let expected = "a list of words, as str";
    let read = words.try_iter().and_then(|words| {
        let words = words.map(|word| word?.extract::<String>());
        words.collect::<PyResult<Vec<String>>>()
    });
    let mut words = read.map_err(|error| refused(words, "stop_words", expected, error))?;
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        return Err(parameter_error(
            py,
            "stop_words is empty; give at least one word",
        ));
    }
    Ok(words)
}
