//! `bBitMinHash` and its pickled state.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyTuple};
use simgpu::scheme::Values;
use simgpu_twins::datasketch::PermutationScheme;
use simgpu_twins::datasketch::b_bit::{
    BBitSketch, PARAMETERS, SlotBlocks, header_bytes, lowest_bits,
};

use super::arrays::{Foreign, array_of, read_seed, read_slots};
use super::buffers::Reader;
use super::minhash::PyMinHash;
use super::scheme::{float_error, read_scheme, scheme_from_code};

/// A sketch of the lowest `b` bits of each hash value of a `MinHash` (Li and König 2010).
///
/// Has the name, arguments, values and errors of datasketch 2.0's ``bBitMinHash``.
///
/// Args:
///     minhash: The sketch to compress, of this module or of datasketch.
///     b: Bits per hash value, from 0 to 32.
///     r: Ratio of the sizes of set and universe, if known; at most 1.
///
/// Raises:
///     ValueError: ``b`` or ``r`` is out of range.
#[pyclass(subclass, weakref, module = "simgpu.datasketch", name = "bBitMinHash")]
pub(crate) struct PyBBitMinHash(BBitSketch);

#[pymethods]
impl PyBBitMinHash {
    // Arguments are those of `__init__`: unpickling has none.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs), text_signature = "(minhash, b=1, r=0.0)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        PyBBitMinHash(BBitSketch {
            scheme: PermutationScheme::Affine32,
            seed: 1,
            bits: 1,
            r: 0.0,
            slots: Vec::new(),
        })
    }

    #[pyo3(signature = (minhash, b=None, r=None))]
    fn __init__(
        slf: &Bound<'_, Self>,
        minhash: &Bound<'_, PyAny>,
        b: Option<&Bound<'_, PyAny>>,
        r: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let bits = b.map_or(Ok(1), read_bits)?;
        let r = r.map_or(Ok(0.0), read_ratio)?;
        let sketch = read_sketch(minhash, bits, r)?;
        *slf.try_borrow_mut()? = PyBBitMinHash(sketch);
        Ok(())
    }

    /// Bits per hash value.
    #[getter(b)]
    fn get_b(&self) -> u8 {
        self.0.bits
    }

    #[setter(b)]
    fn set_b(&mut self, b: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.bits = read_bits(b)?;
        Ok(())
    }

    /// Ratio of the sizes of set and universe.
    #[getter(r)]
    fn get_r(&self) -> f64 {
        self.0.r
    }

    #[setter(r)]
    fn set_r(&mut self, r: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.r = read_ratio(r)?;
        Ok(())
    }

    /// The seed of the permutations.
    #[getter(seed)]
    fn get_seed(&self) -> i64 {
        self.0.seed
    }

    #[setter(seed)]
    fn set_seed(&mut self, seed: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.seed = read_seed(seed)?;
        Ok(())
    }

    /// The permutation scheme.
    #[getter(scheme)]
    fn get_scheme(&self) -> &'static str {
        self.0.scheme.name()
    }

    #[setter(scheme)]
    fn set_scheme(&mut self, scheme: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.scheme = read_scheme(scheme)?;
        Ok(())
    }

    /// The lowest bits of each hash value: a read-only array of uint32. Assign another array to change them.
    #[getter(hashvalues)]
    fn get_hashvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array_of(py, &self.0.slots, false)
    }

    #[setter(hashvalues)]
    fn set_hashvalues(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Values::U32(slots) = read_slots(PermutationScheme::Affine32, values)? {
            self.0.slots = slots;
        }
        Ok(())
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(same) = other.cast::<PyBBitMinHash>() else {
            return Ok(false);
        };
        let (left, right) = (slf.try_borrow()?, same.try_borrow()?);
        Ok(slf.get_type().is(other.get_type()) && left.0 == right.0)
    }

    fn __repr__(&self) -> String {
        format!(
            "bBitMinHash(b={}, r={}, num_perm={}, seed={}, scheme='{}')",
            self.0.bits,
            self.0.r,
            self.0.slots.len(),
            self.0.seed,
            self.0.scheme.name()
        )
    }

    /// Estimates the Jaccard similarity with the set of another sketch.
    ///
    /// Args:
    ///     other: A sketch with the same ``b``, scheme, seed and number of hash values.
    ///
    /// Raises:
    ///     ValueError: The sketches differ in one of these.
    fn jaccard(&self, other: PyRef<'_, PyBBitMinHash>) -> PyResult<f64> {
        let Some(difference) = self.0.difference(&other.0) else {
            return self.0.estimate(&other.0).map_err(float_error);
        };
        Err(PyValueError::new_err(format!(
            "Cannot compare two b-bit MinHashes with different {difference}"
        )))
    }

    /// Number of bytes of the pickled state.
    fn bytesize(&self) -> usize {
        self.0.byte_size()
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let state = self.0.to_bytes().ok_or_else(|| {
            PyOverflowError::new_err("a sketch has at most 2**31 - 1 hash values")
        })?;
        Ok(PyByteArray::new(py, &state))
    }

    fn __setstate__(&mut self, py: Python<'_>, buf: &Bound<'_, PyAny>) -> PyResult<()> {
        let reader = Reader::new(buf)?;
        // Before any field: a state that is too short is refused whole.
        reader.bytes(py, 0, PARAMETERS)?;
        let count = i32::from_le_bytes(reader.array(py, PARAMETERS - 4)?);
        let scheme = match count {
            0.. => PermutationScheme::Legacy,
            _ => scheme_from_code(reader.array::<1>(py, PARAMETERS)?[0])?,
        };
        let [bits] = reader.array::<1>(py, 8)?;
        if bits > 32 {
            return Err(PyValueError::new_err("Incorrect value of b"));
        }
        let count = count.unsigned_abs() as usize;
        let layout = SlotBlocks::new(bits);
        let blocks = reader.bytes(py, header_bytes(scheme), 8 * layout.blocks(count))?;
        let blocks = blocks.as_chunks::<8>().0.iter();
        let slots = blocks.flat_map(|block| layout.slots(u64::from_le_bytes(*block)));
        *self = PyBBitMinHash(BBitSketch {
            scheme,
            seed: i64::from_le_bytes(reader.array(py, 0)?),
            bits,
            r: f64::from_le_bytes(reader.array(py, 9)?),
            slots: slots.take(count).collect(),
        });
        Ok(())
    }
}

/// Bits per hash value, as `int` reads them.
fn read_bits(b: &Bound<'_, PyAny>) -> PyResult<u8> {
    let builtins = b.py().import(intern!(b.py(), "builtins"))?;
    let number = builtins.call_method1(intern!(b.py(), "int"), (b,))?;
    let bits = u8::try_from(number.extract::<i128>()?).ok();
    let bits = bits.filter(|bits| *bits <= 32);
    bits.ok_or_else(|| PyValueError::new_err("b must be an integer in [0, 32]"))
}

/// A ratio of sizes, as `float` reads it.
fn read_ratio(r: &Bound<'_, PyAny>) -> PyResult<f64> {
    let builtins = r.py().import(intern!(r.py(), "builtins"))?;
    let number = builtins.call_method1(intern!(r.py(), "float"), (r,))?;
    let ratio = number.extract::<f64>()?;
    if ratio > 1.0 {
        return Err(PyValueError::new_err("r must be a float in [0.0, 1.0]"));
    }
    Ok(ratio)
}

/// Scheme, seed and lowest bits of a sketch of any class.
fn read_sketch(minhash: &Bound<'_, PyAny>, bits: u8, r: f64) -> PyResult<BBitSketch> {
    if let Ok(own) = minhash.cast::<PyMinHash>() {
        let own = PyMinHash::read(own)?;
        return Ok(BBitSketch {
            scheme: own.kind(),
            seed: own.seed(),
            bits,
            r,
            slots: lowest_bits(own.slots(), bits),
        });
    }
    let scheme = read_scheme(&minhash.getattr(intern!(minhash.py(), "scheme"))?)?;
    let foreign = Foreign::new(minhash)?;
    Ok(BBitSketch {
        scheme,
        seed: foreign.seed()?,
        bits,
        r,
        slots: lowest_bits(&foreign.slots(scheme)?, bits),
    })
}
