//! Schemes and shingling as Python objects.

mod shingling;

mod banding;

use numpy::PyArrayDescr;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simgpu::scheme::{MAX_NUM_PERM, Scheme, Width};

use crate::arguments::optional_argument;
use crate::errors::{OrRaise, parameter_error};

pub(crate) use banding::{DEFAULT_THRESHOLD, banding_of, banding_of_arguments};
pub(crate) use shingling::PyShingling;

/// What a signature value is: a family of permutations, or a preset with the values of another tool.
///
/// Only signatures of equal schemes can be compared. Schemes are immutable and hashable.
///
/// Args:
///     name: One of ``Scheme.names()``.
///     num_perm: Number of permutations, which is the number of slots of a signature, from 1 to 16384. By default
///         128, or the preset's.
///     seed: Seed of the permutations, a 32-bit number. By default 1, or the preset's.
///
/// Raises:
///     ParameterError: The name is unknown, or a number is out of range.
#[pyclass(frozen, module = "simgpu", name = "Scheme")]
#[derive(Clone)]
pub(crate) struct PyScheme(pub(crate) Scheme);

#[pymethods]
impl PyScheme {
    #[new]
    #[pyo3(signature = (name=None, *, num_perm=None, seed=None),
        text_signature = "(name=\"affine32\", *, num_perm=None, seed=None)")]
    fn new(
        py: Python<'_>,
        name: Option<&Bound<'_, PyAny>>,
        num_perm: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let name: Option<String> =
            optional_argument(name, "name", "the name of a scheme, as a str")?;
        let scheme = match name {
            None => Scheme::default(),
            Some(name) => Scheme::named(&name).or_raise(py)?,
        };
        let num_perm = optional_argument(num_perm, "num_perm", NUM_PERM)?;
        let seed = optional_argument(seed, "seed", SEED)?;
        adjusted(py, scheme, num_perm, seed).map(PyScheme)
    }

    /// The names of all schemes.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        Scheme::names().collect()
    }

    /// The name.
    #[getter]
    fn name(&self) -> String {
        self.0.to_string()
    }

    /// Number of permutations, which is the number of slots of a signature.
    #[getter]
    fn num_perm(&self) -> usize {
        self.0.num_perm()
    }

    /// Seed of the permutations.
    #[getter]
    fn seed(&self) -> u32 {
        self.0.seed()
    }

    /// The numpy type of a slot: uint32 or uint64.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        match self.0.family().slot_width() {
            Width::U32 => numpy::dtype::<u32>(py),
            Width::U64 => numpy::dtype::<u64>(py),
        }
    }

    /// The value of every slot of the empty set.
    #[getter]
    fn empty(&self) -> u64 {
        self.0.empty_slot()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<PyScheme>()
            .is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        let scheme = &self.0;
        let parts = (scheme.to_string(), scheme.num_perm(), scheme.seed());
        parts.into_pyobject(py)?.hash()
    }

    pub(crate) fn __repr__(&self) -> String {
        format!(
            "Scheme({:?}, num_perm={}, seed={})",
            self.0.to_string(),
            self.0.num_perm(),
            self.0.seed()
        )
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, usize, u32))> {
        let make = py.import("simgpu._restore")?.getattr("scheme")?;
        let scheme = &self.0;
        Ok((make, (scheme.to_string(), scheme.num_perm(), scheme.seed())))
    }
}

/// The numbers of permutations that are accepted.
pub(crate) const NUM_PERM: &str = "a number from 1 to 16384";

const _: () = assert!(MAX_NUM_PERM == 16384);

/// The seeds that are accepted.
pub(crate) const SEED: &str = "a number from 0 to 4294967295";

/// The scheme with other numbers, where given.
fn adjusted(
    py: Python<'_>,
    mut scheme: Scheme,
    num_perm: Option<i64>,
    seed: Option<i64>,
) -> PyResult<Scheme> {
    if let Some(num_perm) = num_perm {
        let known = u32::try_from(num_perm).ok();
        let changed = known.and_then(|num_perm| scheme.with_num_perm(num_perm).ok());
        scheme = changed.ok_or_else(|| {
            let message = format!("num_perm is {num_perm}; give {NUM_PERM}");
            parameter_error(py, message)
        })?;
    }
    if let Some(seed) = seed {
        let seed = u32::try_from(seed).map_err(|_| {
            let message = format!("seed is {seed}; give {SEED}");
            parameter_error(py, message)
        })?;
        scheme = scheme.with_seed(seed);
    }
    Ok(scheme)
}

/// The scheme that an argument names or is, with other numbers where given.
pub(crate) fn scheme_of(
    scheme: &Bound<'_, PyAny>,
    num_perm: Option<i64>,
    seed: Option<i64>,
) -> PyResult<Scheme> {
    let py = scheme.py();
    let named = if let Ok(scheme) = scheme.cast::<PyScheme>() {
        scheme.get().0.clone()
    } else if let Ok(name) = scheme.extract::<&str>() {
        Scheme::named(name).or_raise(py)?
    } else {
        let kind = scheme.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "scheme is of type {kind}; give a Scheme or its name"
        )));
    };
    adjusted(py, named, num_perm, seed)
}
