//! The pickled state of a `MinHash`, and sketches of other classes.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::scheme::Values;

use super::arguments::{check_count, drawable, read_permutations};
use super::arrays::Foreign;
use super::hashfunc::HashFunc;
use super::kind::Kind;
use super::minhash::PyMinHash;
use super::permutations::Permutations;
use super::writer::{GpuMode, Writer};

/// The first byte of a pickled state.
const STATE_VERSION: u8 = 1;

/// Bytes of a pickled state before the slots: version, scheme, GPU mode, seed.
const STATE_HEADER: usize = 11;

impl PyMinHash {
    /// Version, scheme, GPU mode, seed and slots as bytes.
    pub(crate) fn state(&self, writer: &Writer) -> Vec<u8> {
        let mut state = Vec::with_capacity(STATE_HEADER + 8 * self.slots().len());
        state.extend([STATE_VERSION, self.kind().code(), writer.gpu_mode as u8]);
        state.extend(self.seed().to_le_bytes());
        match self.slots() {
            Values::U32(slots) => state.extend(slots.iter().flat_map(|slot| slot.to_le_bytes())),
            Values::U64(slots) => state.extend(slots.iter().flat_map(|slot| slot.to_le_bytes())),
        }
        state
    }

    /// The sketch of a state.
    pub(crate) fn of_state(
        py: Python<'_>,
        state: &[u8],
        hashfunc: Option<&Bound<'_, PyAny>>,
        permutations: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let damaged = || PyValueError::new_err("the state of a pickled MinHash is damaged");
        let (header, slots) = state
            .split_first_chunk::<STATE_HEADER>()
            .ok_or_else(damaged)?;
        let [STATE_VERSION, code, mode, seed @ ..] = header else {
            return Err(damaged());
        };
        let kind = match code {
            0 => Kind::Legacy,
            code => Kind::of_code(*code)?,
        };
        let gpu_mode = *GpuMode::ALL.get(usize::from(*mode)).ok_or_else(damaged)?;
        let seed = i64::from_le_bytes(*seed);
        let slots = match kind {
            Kind::Affine32 => {
                let (slots, []) = slots.as_chunks::<4>() else {
                    return Err(damaged());
                };
                Values::U32(slots.iter().map(|slot| u32::from_le_bytes(*slot)).collect())
            }
            Kind::Legacy | Kind::Affine64 => {
                let (slots, []) = slots.as_chunks::<8>() else {
                    return Err(damaged());
                };
                Values::U64(slots.iter().map(|slot| u64::from_le_bytes(*slot)).collect())
            }
        };
        let count = check_count(slots.len())?;
        let permutations = match permutations {
            Some(given) => read_permutations(kind, seed, count, given)?,
            None => Permutations::drawn(py, kind, drawable(seed)?, count)?,
        };
        let writer = Writer {
            permutations,
            hashfunc: HashFunc::of_argument(kind, hashfunc)?,
            gpu_mode,
        };
        Ok(PyMinHash::with_writer(kind, seed, slots, writer))
    }
}

/// The contents of a sketch of datasketch's, from its attributes, which are taken from the dict.
pub(crate) fn of_attributes(attributes: &Bound<'_, PyDict>) -> PyResult<PyMinHash> {
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
    of_foreign(&namespace)
}

/// The contents of a sketch of another class. Those of datasketch before 2.0 have no scheme and are legacy, and lean
/// ones have neither permutations nor a hash function.
pub(crate) fn of_foreign(sketch: &Bound<'_, PyAny>) -> PyResult<PyMinHash> {
    let py = sketch.py();
    let kind = match sketch.getattr_opt(intern!(py, "scheme"))? {
        Some(scheme) => Kind::of_argument(&scheme)?,
        None => Kind::Legacy,
    };
    let foreign = Foreign::new(sketch)?;
    let (seed, slots) = (foreign.seed()?, foreign.slots(kind)?);
    let permutations = match sketch.getattr_opt(intern!(py, "permutations"))? {
        Some(given) => read_permutations(kind, seed, slots.len(), &given)?,
        None => Permutations::drawn(py, kind, drawable(seed)?, slots.len())?,
    };
    let given = sketch.getattr_opt(intern!(py, "hashfunc"))?;
    let hashfunc = HashFunc::of_argument(kind, given.as_ref())?;
    let mode = sketch.getattr_opt(intern!(py, "_gpu_mode"))?;
    let gpu_mode = match mode {
        Some(mode) => GpuMode::of_name(&mode.extract::<String>()?)?,
        None => GpuMode::Disable,
    };
    let writer = Writer {
        permutations,
        hashfunc: hashfunc.or_default(kind),
        gpu_mode,
    };
    Ok(PyMinHash::with_writer(kind, seed, slots, writer))
}
