//! Arguments of an index: how it is used, and how it is built.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use simgpu::Error;
use simgpu::engine::Engine;
use simgpu::pipeline::Measure;
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu_index::{Index, IndexKind, OnKnownId};

use crate::arguments::{THREADS, argument, optional_argument};
use crate::errors::{OrRaise, parameter_error};
use crate::scheme::{
    DEFAULT_THRESHOLD, NUM_PERM, PyShingling, SEED, banding_of_arguments, scheme_of,
};
use crate::signer::builder;

use super::opened::Opened;

/// An argument, if it is given.
type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

const KINDS: [(&str, IndexKind); 2] = [("lsh", IndexKind::Lsh), ("exact", IndexKind::Exact)];

const MEASURES: [(&str, Measure); 2] = [
    ("jaccard", Measure::Jaccard),
    ("contained", Measure::Contained),
];

const VERIFICATIONS: [(&str, Verification); 2] = [
    ("signature", Verification::Signature),
    ("exact", Verification::Exact),
];

/// What messages call names.
const NAME: &str = "a name, as a str";

/// When changes are on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// Once a call returns.
    Call,
    /// Once the index is synced.
    Sync,
}

/// How an index is used.
pub(super) struct Settings {
    pub(super) path: PathBuf,
    pub(super) durability: Durability,
    pub(super) threads: Option<usize>,
}

impl Settings {
    pub(super) fn new(
        path: &Bound<'_, PyAny>,
        durability: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = path.py();
        let known = [("call", Durability::Call), ("sync", Durability::Sync)];
        let threads: Option<NonZeroUsize> = optional_argument(threads, "threads", THREADS)?;
        Ok(Settings {
            path: argument(path, "path", "the path of a folder")?,
            durability: named(py, "durability", durability, &known)?.unwrap_or(Durability::Call),
            threads: threads.map(NonZeroUsize::get),
        })
    }
}

/// How an index is built.
pub(super) struct Parameters {
    engine: Engine,
    search: Search,
}

impl Parameters {
    pub(super) fn new(
        py: Python<'_>,
        [kind, measure, verify]: [Given<'_, '_>; 3],
        [threshold, bands, rows]: [Given<'_, '_>; 3],
        [given_scheme, num_perm, seed, shingling]: [Given<'_, '_>; 4],
    ) -> PyResult<Self> {
        let default = "affine32".into_pyobject(py)?.into_any();
        let scheme = scheme_of(
            given_scheme.unwrap_or(&default),
            optional_argument(num_perm, "num_perm", NUM_PERM)?,
            optional_argument(seed, "seed", SEED)?,
        )?;
        let banding = banding_of_arguments(py, bands, rows, threshold, &scheme)?;
        let threshold = optional_argument(threshold, "threshold", "a number above 0 and up to 1")?;
        let candidates = match named(py, "kind", kind, &KINDS)?.unwrap_or(IndexKind::Lsh) {
            IndexKind::Lsh => CandidateMethod::Lsh,
            IndexKind::Exact => {
                let signature_options = [
                    ("bands", bands),
                    ("rows", rows),
                    ("scheme", given_scheme),
                    ("num_perm", num_perm),
                    ("seed", seed),
                ];
                refuse_signatures(py, &signature_options)?;
                CandidateMethod::Join
            }
        };
        let default = match candidates {
            CandidateMethod::Join => Verification::Exact,
            CandidateMethod::Lsh | CandidateMethod::Auto => Verification::Signature,
        };
        let verification = named(py, "verify", verify, &VERIFICATIONS)?.unwrap_or(default);
        let measure = named(py, "measure", measure, &MEASURES)?.unwrap_or(Measure::Jaccard);
        let shingling = PyShingling::from_argument(shingling)?;
        let builder = builder(py, &scheme, shingling.as_ref())?;
        let threshold = threshold.unwrap_or(DEFAULT_THRESHOLD);
        Ok(Parameters {
            engine: builder.work_bytes(0).build().or_raise(py)?,
            search: Search {
                measure,
                candidates,
                ..Search::through_lsh(threshold, banding, verification)
            },
        })
    }

    /// Creates an index.
    pub(super) fn create(self, py: Python<'_>, path: &Path) -> PyResult<Opened> {
        let created = py.detach(|| Index::create(path, self.engine, &self.search));
        Ok(Opened::created(created.or_raise(py)?))
    }

    /// Opens an index that has these parameters.
    pub(super) fn open(&self, py: Python<'_>, path: &Path) -> PyResult<Opened> {
        let opened = Opened::open(py, path)?;
        let fits = opened.index(py)?.check_fits(&self.engine, &self.search);
        fits.or_raise(py)?;
        Ok(opened)
    }
}

/// Refuses what an index without signatures has no use for.
fn refuse_signatures(py: Python<'_>, signature_options: &[(&str, Given<'_, '_>)]) -> PyResult<()> {
    match signature_options.iter().find(|(_, given)| given.is_some()) {
        Some((name, _)) => Err(parameter_error(
            py,
            format!("{name} has no effect with kind=\"exact\", which has no signatures; omit it"),
        )),
        None => Ok(()),
    }
}

/// Which hits a query returns.
pub(super) struct Least {
    threshold: Option<f64>,
    limit: Option<usize>,
}

impl Least {
    pub(super) fn new(
        threshold: Option<&Bound<'_, PyAny>>,
        limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let expected = "a number from the threshold of the index to 1";
        let limit: Option<NonZeroUsize> =
            optional_argument(limit, "limit", "a number, at least 1")?;
        Ok(Least {
            threshold: optional_argument(threshold, "threshold", expected)?,
            limit: limit.map(NonZeroUsize::get),
        })
    }

    /// The threshold for an index, and the most hits.
    pub(super) fn of(&self, index: &Index) -> (f64, Option<usize>) {
        let threshold = self.threshold.unwrap_or(index.search().threshold);
        (threshold, self.limit)
    }
}

/// What happens to documents whose ids are known.
pub(super) fn on_known_id_of(
    py: Python<'_>,
    chosen: Option<&Bound<'_, PyAny>>,
) -> PyResult<OnKnownId> {
    let known = [
        ("fail", OnKnownId::Fail),
        ("skip", OnKnownId::Skip),
        ("replace", OnKnownId::Replace),
    ];
    Ok(named(py, "on_known_id", chosen, &known)?.unwrap_or_default())
}

/// The value that a name stands for.
fn named<T: Copy>(
    py: Python<'_>,
    what: &'static str,
    chosen: Option<&Bound<'_, PyAny>>,
    known: &[(&str, T)],
) -> PyResult<Option<T>> {
    let Some(chosen): Option<String> = optional_argument(chosen, what, NAME)? else {
        return Ok(None);
    };
    let found = known.iter().find(|(name, _)| *name == chosen);
    let unknown = || Error::UnknownName {
        what,
        name: chosen.clone(),
        known: known
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", "),
    };
    found
        .map(|(_, value)| Some(*value))
        .ok_or_else(unknown)
        .or_raise(py)
}
