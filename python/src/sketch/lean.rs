//! `LeanMinHash` and its byte format.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyTuple, PyType};
use simgpu::scheme::{SlotVec, Values};
use simgpu_twins::datasketch::lean::{LeanError, LeanFormat, LeanHeader, SEED_AND_COUNT};
use simgpu_twins::datasketch::{ByteOrder, PermutationScheme};

use super::arrays::{Foreign, read_seed, read_slots};
use super::buffers::{Reader, read_byte_order, struct_error, write};
use super::minhash::{PyMinHash, unite};
use super::scheme::{read_scheme, scheme_from_code};

/// A sketch that keeps its scheme, seed and hash values and nothing else, so that it cannot be updated.
///
/// Has the name, arguments, values, bytes and errors of datasketch 2.0's ``LeanMinHash``. Hashable.
///
/// Args:
///     minhash: The sketch to copy, of this module or of datasketch; or give the other three.
///     seed: Seed of the permutations.
///     hashvalues: Hash values.
///     scheme: The scheme of the hash values: ``"affine32"``, ``"affine64"`` or ``"legacy"``.
///
/// Raises:
///     ValueError: Arguments are missing or contradict each other, or values do not fit the scheme.
#[pyclass(subclass, extends = PyMinHash, module = "simgpu.datasketch", name = "LeanMinHash")]
pub(crate) struct PyLeanMinHash;

#[pymethods]
impl PyLeanMinHash {
    // Arguments are those of `__init__`, which a subclass may replace.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs),
        text_signature = "(minhash=None, seed=None, hashvalues=None, scheme=None)")]
    fn new(
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyClassInitializer<Self> {
        PyClassInitializer::from(PyMinHash::blank()).add_subclass(PyLeanMinHash)
    }

    #[pyo3(signature = (minhash=None, seed=None, hashvalues=None, scheme=None))]
    fn __init__(
        slf: &Bound<'_, Self>,
        minhash: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        hashvalues: Option<&Bound<'_, PyAny>>,
        scheme: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let made = match (minhash, seed, hashvalues) {
            (Some(minhash), _, _) => {
                check_agreement(minhash, scheme)?;
                lean_copy(minhash)?
            }
            (None, Some(seed), Some(hashvalues)) => {
                let Some(scheme) = scheme else {
                    return Err(PyValueError::new_err(
                        "scheme must be specified explicitly when initializing from existing hash values: pass the \
                         scheme of the MinHash they came from, or scheme='legacy' for hash values created by \
                         datasketch before 2.0.0.",
                    ));
                };
                let kind = read_scheme(scheme)?;
                lean(kind, read_seed(seed)?, read_slots(kind, hashvalues)?)?
            }
            _ => {
                return Err(PyValueError::new_err(
                    "Init parameters cannot be None: make sure to set either minhash or both of hash values and seed",
                ));
            }
        };
        set(slf, made)
    }

    /// Raises ``TypeError``: a lean sketch cannot be updated.
    fn update(&self, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = b;
        Err(PyTypeError::new_err("Cannot update a LeanMinHash"))
    }

    /// A copy.
    fn copy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyLeanMinHash>> {
        let copy = {
            let sketch = PyMinHash::read(slf.as_super())?;
            PyMinHash::lean(sketch.kind(), sketch.seed(), sketch.slots().clone())
        };
        create(slf.py(), copy)
    }

    /// Number of bytes that ``serialize`` writes.
    ///
    /// Args:
    ///     byteorder: ``"@"`` (native, with padding), ``"="``, ``"<"``, ``">"`` or ``"!"``, as in ``struct``.
    #[pyo3(signature = (byteorder="@"))]
    fn bytesize(slf: &Bound<'_, Self>, byteorder: &str) -> PyResult<usize> {
        let order = read_byte_order(slf.py(), byteorder)?;
        let sketch = PyMinHash::read(slf.as_super())?;
        Ok(format_of(order, &sketch).byte_size(sketch.slots().len()))
    }

    /// Writes the sketch into a buffer, as datasketch does.
    ///
    /// Args:
    ///     buf: A writeable buffer, for example a ``bytearray``, of at least ``bytesize(byteorder)`` bytes.
    ///     byteorder: As for ``bytesize``.
    ///
    /// Raises:
    ///     ValueError: The buffer is too small.
    #[pyo3(signature = (buf, byteorder="@"))]
    fn serialize(slf: &Bound<'_, Self>, buf: &Bound<'_, PyAny>, byteorder: &str) -> PyResult<()> {
        let order = read_byte_order(slf.py(), byteorder)?;
        let sketch = PyMinHash::read(slf.as_super())?;
        if buf.len()? < format_of(order, &sketch).byte_size(sketch.slots().len()) {
            return Err(PyValueError::new_err(
                "The buffer does not have enough space for holding this MinHash.",
            ));
        }
        write(buf, &to_bytes(slf.py(), order, &sketch)?)
    }

    /// Reads a sketch that ``serialize`` wrote, here or in datasketch of any version.
    ///
    /// Args:
    ///     buf: A buffer that begins with the sketch.
    ///     byteorder: As for ``bytesize``.
    ///
    /// Raises:
    ///     struct.error: The buffer is too small.
    ///     ValueError: The scheme is unknown.
    #[classmethod]
    #[pyo3(signature = (buf, byteorder="@"))]
    fn deserialize<'py>(
        cls: &Bound<'py, PyType>,
        buf: &Bound<'py, PyAny>,
        byteorder: &str,
    ) -> PyResult<Bound<'py, PyLeanMinHash>> {
        let py = cls.py();
        let order = read_byte_order(py, byteorder)?;
        create(py, from_bytes(py, order, &Reader::new(buf)?)?)
    }

    fn __getstate__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyByteArray>> {
        let sketch = PyMinHash::read(slf.as_super())?;
        let bytes = to_bytes(slf.py(), ByteOrder::NATIVE, &sketch)?;
        Ok(PyByteArray::new(slf.py(), &bytes))
    }

    fn __setstate__(slf: &Bound<'_, Self>, buf: &Bound<'_, PyAny>) -> PyResult<()> {
        let read = from_bytes(slf.py(), ByteOrder::NATIVE, &Reader::new(buf)?)?;
        set(slf, read)
    }

    // `MinHash.__reduce__` keeps what a lean sketch lacks.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let make = py
            .import(intern!(py, "copyreg"))?
            .getattr(intern!(py, "__newobj__"))?;
        let state = slf.call_method0(intern!(py, "__getstate__"))?;
        (make, (slf.get_type(),), state).into_pyobject(py)
    }

    // A class that defines `__hash__` must define equality, too.
    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        PyMinHash::equals(slf.as_super(), other)
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        let py = slf.py();
        let sketch = PyMinHash::read(slf.as_super())?;
        let values = match sketch.slots() {
            Values::U32(slots) => PyTuple::new(py, slots)?,
            Values::U64(slots) => PyTuple::new(py, slots)?,
        };
        let parts = (sketch.kind().name(), sketch.seed(), values);
        parts.into_pyobject(py)?.hash()
    }

    /// The sketch of the union of sets.
    ///
    /// Args:
    ///     lmhs: Two sketches or more.
    ///
    /// Raises:
    ///     ValueError: Fewer than two, or different schemes, seeds or numbers of permutations.
    #[classmethod]
    #[pyo3(signature = (*lmhs))]
    fn union<'py>(
        cls: &Bound<'py, PyType>,
        lmhs: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyLeanMinHash>> {
        let message = "The unioning MinHash must have the same seed, number of permutation functions and scheme.";
        let union = unite(lmhs, lean_copy)?;
        let union = union.ok_or_else(|| PyValueError::new_err(message))?;
        create(cls.py(), union)
    }

    /// The same sketch as one of datasketch's, of version 2.0 or later.
    ///
    /// Args:
    ///     sketch: A ``datasketch.MinHash`` or ``datasketch.LeanMinHash``.
    #[classmethod]
    fn from_datasketch<'py>(
        cls: &Bound<'py, PyType>,
        sketch: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        cls.call1((sketch,))
    }
}

fn create(py: Python<'_>, sketch: PyMinHash) -> PyResult<Bound<'_, PyLeanMinHash>> {
    Bound::new(
        py,
        PyClassInitializer::from(sketch).add_subclass(PyLeanMinHash),
    )
}

fn set(slf: &Bound<'_, PyLeanMinHash>, sketch: PyMinHash) -> PyResult<()> {
    *slf.as_super().try_borrow_mut()? = sketch;
    Ok(())
}

/// A lean sketch. Affine ones are not empty: their format could not tell them from legacy ones.
fn lean(kind: PermutationScheme, seed: i64, slots: SlotVec) -> PyResult<PyMinHash> {
    if slots.is_empty() && kind != PermutationScheme::Legacy {
        return Err(PyValueError::new_err("hashvalues must not be empty"));
    }
    Ok(PyMinHash::lean(kind, seed, slots))
}

/// The lean contents of a sketch of any class.
fn lean_copy(sketch: &Bound<'_, PyAny>) -> PyResult<PyMinHash> {
    if let Ok(own) = sketch.cast::<PyMinHash>() {
        let own = PyMinHash::read(own)?;
        return lean(own.kind(), own.seed(), own.slots().clone());
    }
    let kind = read_scheme(&sketch.getattr(intern!(sketch.py(), "scheme"))?)?;
    let foreign = Foreign::new(sketch)?;
    lean(kind, foreign.seed()?, foreign.slots(kind)?)
}

/// Refuses a scheme other than the sketch's.
fn check_agreement(minhash: &Bound<'_, PyAny>, scheme: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(scheme) = scheme else {
        return Ok(());
    };
    let own = minhash.getattr(intern!(minhash.py(), "scheme"))?;
    if scheme.eq(&own)? {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "scheme {} conflicts with the scheme {} of the given MinHash",
        scheme.repr()?,
        own.repr()?
    )))
}

/// The exception of `struct` for what the format does not hold.
fn lean_error(py: Python<'_>, error: LeanError) -> PyErr {
    let message = match error {
        LeanError::TooManySlots => "'i' format requires -2147483648 <= number <= 2147483647",
        LeanError::WideSlot => "'I' format requires 0 <= number <= 4294967295",
    };
    struct_error(py, message.to_owned())
}

/// The bytes of a sketch.
fn to_bytes(py: Python<'_>, order: ByteOrder, sketch: &PyMinHash) -> PyResult<Vec<u8>> {
    let bytes = format_of(order, sketch).to_bytes(sketch.seed(), sketch.slots());
    bytes.map_err(|error| lean_error(py, error))
}

fn format_of(order: ByteOrder, sketch: &PyMinHash) -> LeanFormat {
    LeanFormat {
        order,
        scheme: sketch.kind(),
    }
}

/// The sketch at the start of a buffer.
fn from_bytes<'py>(py: Python<'py>, order: ByteOrder, reader: &Reader<'py>) -> PyResult<PyMinHash> {
    let header = LeanHeader::read(order, reader.array::<SEED_AND_COUNT>(py, 0)?);
    let scheme = if header.has_scheme_code() {
        scheme_from_code(reader.array::<1>(py, SEED_AND_COUNT)?[0])?
    } else {
        PermutationScheme::Legacy
    };
    let format = LeanFormat { order, scheme };
    let len = header.count() * scheme.stored_bytes();
    let bytes = reader.bytes(py, format.slots_start(), len)?;
    lean(scheme, header.seed, format.read_slots(&bytes))
}
