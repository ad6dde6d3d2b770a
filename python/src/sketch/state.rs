//! The pickled state of a `MinHash`, and sketches of other classes.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu_twins::datasketch::PermutationScheme;
use simgpu_twins::datasketch::state::{GpuMode, SketchState, StateError, state_bytes};

use super::arguments::{check_count, drawable, read_permutations};
use super::arrays::Foreign;
use super::hashfunc::HashFunc;
use super::minhash::PyMinHash;
use super::permutations::SharedPermutations;
use super::scheme::{read_scheme, unknown_code};
use super::writer::{Writer, read_gpu_mode};

impl PyMinHash {
    /// Version, scheme, GPU mode, seed and slots as bytes.
    pub(crate) fn state(&self, writer: &Writer) -> Vec<u8> {
        state_bytes(self.kind(), writer.gpu_mode, self.seed(), self.slots())
    }

    /// The sketch of a state.
    pub(crate) fn from_state(
        py: Python<'_>,
        state: &[u8],
        hashfunc: Option<&Bound<'_, PyAny>>,
        permutations: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let state = SketchState::from_bytes(state).map_err(|error| match error {
            StateError::Damaged => {
                PyValueError::new_err("the state of a pickled MinHash is damaged")
            }
            StateError::UnknownScheme(code) => unknown_code(code),
        })?;
        let (kind, seed) = (state.scheme, state.seed);
        let count = check_count(state.slots.len())?;
        let permutations = match permutations {
            Some(given) => read_permutations(kind, seed, count, given)?,
            None => SharedPermutations::drawn(py, kind, drawable(seed)?, count)?,
        };
        let writer = Writer {
            permutations,
            hashfunc: HashFunc::read(kind, hashfunc)?,
            gpu_mode: state.gpu_mode,
        };
        Ok(PyMinHash::with_writer(kind, seed, state.slots, writer))
    }
}

/// The contents of a sketch of datasketch's, from its attributes, which are taken from the dict.
pub(crate) fn from_attributes(attributes: &Bound<'_, PyDict>) -> PyResult<PyMinHash> {
    const NAMES: [&str; 10] = [
        "scheme",
        "seed",
        "num_perm",
        "hashfunc",
        "hashobj",
        "hashvalues",
        "permutations",
        "_gpu_mode",
        "_a_gpu",
        "_b_gpu",
    ];
    let py = attributes.py();
    let namespace = py.import("types")?.getattr("SimpleNamespace")?;
    let namespace = namespace.call((), Some(attributes))?;
    for name in NAMES {
        if attributes.contains(name)? {
            attributes.del_item(name)?;
        }
    }
    from_foreign(&namespace)
}

/// The contents of a sketch of another class. Those of datasketch before 2.0 have no scheme and are legacy, and lean
/// ones have neither permutations nor a hash function.
pub(crate) fn from_foreign(sketch: &Bound<'_, PyAny>) -> PyResult<PyMinHash> {
    let py = sketch.py();
    let kind = match sketch.getattr_opt(intern!(py, "scheme"))? {
        Some(scheme) => read_scheme(&scheme)?,
        None => PermutationScheme::Legacy,
    };
    let foreign = Foreign::new(sketch)?;
    let (seed, slots) = (foreign.seed()?, foreign.slots(kind)?);
    let permutations = match sketch.getattr_opt(intern!(py, "permutations"))? {
        Some(given) => read_permutations(kind, seed, slots.len(), &given)?,
        None => SharedPermutations::drawn(py, kind, drawable(seed)?, slots.len())?,
    };
    let given = sketch.getattr_opt(intern!(py, "hashfunc"))?;
    let hashfunc = HashFunc::read(kind, given.as_ref())?;
    let mode = sketch.getattr_opt(intern!(py, "_gpu_mode"))?;
    let gpu_mode = match mode {
        Some(mode) => read_gpu_mode(&mode.extract::<String>()?)?,
        None => GpuMode::Disable,
    };
    let writer = Writer {
        permutations,
        hashfunc: hashfunc.or_default(kind),
        gpu_mode,
    };
    Ok(PyMinHash::with_writer(kind, seed, slots, writer))
}
