//! `bBitMinHash` and its pickled state.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyTuple};
use simgpu::scheme::{Values, Word};

use super::arrays::{Foreign, array_of, read_seed, read_slots};
use super::buffers::Reader;
use super::floats::{divide, power, ratio};
use super::kind::{Kind, SlotVec};
use super::minhash::PyMinHash;

/// Bytes of seed (i64), b (u8), r (f64) and count (i32), little-endian, with which every state begins.
const PARAMETERS: usize = 21;

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
pub(crate) struct PyBBitMinHash {
    kind: Kind,
    seed: i64,
    bits: u8,
    r: f64,
    slots: Vec<u32>,
}

#[pymethods]
impl PyBBitMinHash {
    // Arguments are those of `__init__`: unpickling has none.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs), text_signature = "(minhash, b=1, r=0.0)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        PyBBitMinHash {
            kind: Kind::Affine32,
            seed: 1,
            bits: 1,
            r: 0.0,
            slots: Vec::new(),
        }
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
        let (kind, seed, slots) = read_sketch(minhash, bits)?;
        *slf.try_borrow_mut()? = PyBBitMinHash {
            kind,
            seed,
            bits,
            r,
            slots,
        };
        Ok(())
    }

    /// Bits per hash value.
    #[getter(b)]
    fn get_b(&self) -> u8 {
        self.bits
    }

    #[setter(b)]
    fn set_b(&mut self, b: &Bound<'_, PyAny>) -> PyResult<()> {
        self.bits = read_bits(b)?;
        Ok(())
    }

    /// Ratio of the sizes of set and universe.
    #[getter(r)]
    fn get_r(&self) -> f64 {
        self.r
    }

    #[setter(r)]
    fn set_r(&mut self, r: &Bound<'_, PyAny>) -> PyResult<()> {
        self.r = read_ratio(r)?;
        Ok(())
    }

    /// The seed of the permutations.
    #[getter(seed)]
    fn get_seed(&self) -> i64 {
        self.seed
    }

    #[setter(seed)]
    fn set_seed(&mut self, seed: &Bound<'_, PyAny>) -> PyResult<()> {
        self.seed = read_seed(seed)?;
        Ok(())
    }

    /// The permutation scheme.
    #[getter(scheme)]
    fn get_scheme(&self) -> &'static str {
        self.kind.name()
    }

    #[setter(scheme)]
    fn set_scheme(&mut self, scheme: &Bound<'_, PyAny>) -> PyResult<()> {
        self.kind = Kind::of_argument(scheme)?;
        Ok(())
    }

    /// The lowest bits of each hash value: a read-only array of uint32. Assign another array to change them.
    #[getter(hashvalues)]
    fn get_hashvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array_of(py, &self.slots, false)
    }

    #[setter(hashvalues)]
    fn set_hashvalues(&mut self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Values::U32(slots) = read_slots(Kind::Affine32, values)? {
            self.slots = slots;
        }
        Ok(())
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(same) = other.cast::<PyBBitMinHash>() else {
            return Ok(false);
        };
        let (left, right) = (slf.try_borrow()?, same.try_borrow()?);
        Ok(slf.get_type().is(other.get_type())
            && left.kind == right.kind
            && left.seed == right.seed
            && left.bits == right.bits
            && left.r == right.r
            && left.slots == right.slots)
    }

    fn __repr__(&self) -> String {
        format!(
            "bBitMinHash(b={}, r={}, num_perm={}, seed={}, scheme='{}')",
            self.bits,
            self.r,
            self.slots.len(),
            self.seed,
            self.kind.name()
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
        let differs = if self.bits != other.bits {
            "b values"
        } else if self.kind != other.kind {
            "permutation schemes"
        } else if self.seed != other.seed {
            "set of permutations"
        } else if self.slots.len() != other.slots.len() {
            "numbers of hash values"
        } else {
            return estimate(self, &other);
        };
        Err(PyValueError::new_err(format!(
            "Cannot compare two b-bit MinHashes with different {differs}"
        )))
    }

    /// Number of bytes of the pickled state.
    fn bytesize(&self) -> usize {
        header_bytes(self.kind) + 8 * self.layout().blocks(self.slots.len())
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let count = i32::try_from(self.slots.len())
            .map_err(|_| PyOverflowError::new_err("a sketch has at most 2**31 - 1 hash values"))?;
        let mut state = Vec::with_capacity(self.bytesize());
        state.extend(self.seed.to_le_bytes());
        state.push(self.bits);
        state.extend(self.r.to_le_bytes());
        if self.kind == Kind::Legacy {
            state.extend(count.to_le_bytes());
        } else {
            state.extend((-count).to_le_bytes());
            state.push(self.kind.code());
        }
        let layout = self.layout();
        for slots in self.slots.chunks(layout.slots_per_block()) {
            state.extend(layout.block(slots).to_le_bytes());
        }
        Ok(PyByteArray::new(py, &state))
    }

    fn __setstate__(&mut self, py: Python<'_>, buf: &Bound<'_, PyAny>) -> PyResult<()> {
        let reader = Reader::new(buf)?;
        // Before any field: a state that is too short is refused whole.
        reader.bytes(py, 0, PARAMETERS)?;
        let count = i32::from_le_bytes(reader.array(py, PARAMETERS - 4)?);
        let kind = match count {
            0.. => Kind::Legacy,
            _ => Kind::of_code(reader.array::<1>(py, PARAMETERS)?[0])?,
        };
        let [bits] = reader.array::<1>(py, 8)?;
        if bits > 32 {
            return Err(PyValueError::new_err("Incorrect value of b"));
        }
        let count = count.unsigned_abs() as usize;
        let layout = Layout::of_bits(bits);
        let blocks = reader.bytes(py, header_bytes(kind), 8 * layout.blocks(count))?;
        let blocks = blocks.as_chunks::<8>().0.iter();
        let slots = blocks.flat_map(|block| layout.slots(u64::from_le_bytes(*block)));
        *self = PyBBitMinHash {
            kind,
            seed: i64::from_le_bytes(reader.array(py, 0)?),
            bits,
            r: f64::from_le_bytes(reader.array(py, 9)?),
            slots: slots.take(count).collect(),
        };
        Ok(())
    }
}

impl PyBBitMinHash {
    fn layout(&self) -> Layout {
        Layout::of_bits(self.bits)
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
fn read_sketch(minhash: &Bound<'_, PyAny>, bits: u8) -> PyResult<(Kind, i64, Vec<u32>)> {
    if let Ok(own) = minhash.cast::<PyMinHash>() {
        let own = PyMinHash::read(own)?;
        return Ok((own.kind(), own.seed(), lowest_bits(own.slots(), bits)));
    }
    let kind = Kind::of_argument(&minhash.getattr(intern!(minhash.py(), "scheme"))?)?;
    let foreign = Foreign::new(minhash)?;
    Ok((
        kind,
        foreign.seed()?,
        lowest_bits(&foreign.slots(kind)?, bits),
    ))
}

fn lowest_bits(slots: &SlotVec, bits: u8) -> Vec<u32> {
    let mask = (1u64 << bits) - 1;
    match slots {
        Values::U32(slots) => slots.iter().map(|slot| slot & u32::cut(mask)).collect(),
        Values::U64(slots) => slots.iter().map(|slot| u32::cut(slot & mask)).collect(),
    }
}

/// Bytes of a state before the blocks.
fn header_bytes(kind: Kind) -> usize {
    match kind {
        Kind::Legacy => PARAMETERS,
        Kind::Affine32 | Kind::Affine64 => PARAMETERS + 1,
    }
}

/// How slots lie in blocks of 64 bits: from the high end, each in a power of two of bits.
#[derive(Clone, Copy)]
struct Layout {
    slot_bits: usize,
}

impl Layout {
    fn of_bits(bits: u8) -> Self {
        let slot_bits = match bits {
            1 => 1,
            2 => 2,
            0..=4 => 4,
            5..=8 => 8,
            9..=16 => 16,
            _ => 32,
        };
        Layout { slot_bits }
    }

    fn slots_per_block(self) -> usize {
        64 / self.slot_bits
    }

    fn blocks(self, slots: usize) -> usize {
        slots.div_ceil(self.slots_per_block())
    }

    fn shift(self, slot: usize) -> usize {
        (self.slots_per_block() - 1 - slot) * self.slot_bits
    }

    fn block(self, slots: &[u32]) -> u64 {
        let shifted = slots.iter().enumerate();
        shifted.fold(0, |block, (i, slot)| {
            block | u64::from(*slot) << self.shift(i)
        })
    }

    fn slots(self, block: u64) -> impl Iterator<Item = u32> {
        let mask = (1u64 << self.slot_bits) - 1;
        (0..self.slots_per_block()).map(move |i| u32::cut(block >> self.shift(i) & mask))
    }
}

/// The estimator of Li and König, theorem 1, as datasketch computes it.
fn estimate(left: &PyBBitMinHash, right: &PyBBitMinHash) -> PyResult<f64> {
    let pairs = left.slots.iter().zip(&right.slots);
    let matches = pairs.filter(|(left, right)| left == right).count();
    let matching = ratio(matches, left.slots.len())?;
    let (a1, a2) = (chance(left.r, left.bits)?, chance(right.r, right.bits)?);
    let (c1, c2) = if left.r == 0.0 && right.r == 0.0 {
        (a1, a2)
    } else {
        let scale = divide(1.0, left.r + right.r)?;
        let c1 = (a1 * right.r + a2 * left.r) * scale;
        (c1, (a1 * left.r + a2 * right.r) * scale)
    };
    divide(matching - c1, 1.0 - c2)
}

/// The chance that the lowest bits of different values agree, as datasketch computes it.
fn chance(r: f64, bits: u8) -> PyResult<f64> {
    let values = (1u64 << bits) as f64;
    if r == 0.0 {
        return Ok(1.0 / values);
    }
    let numerator = r * power(1.0 - r, values - 1.0)?;
    divide(numerator, 1.0 - power(1.0 - r, 2.0 * f64::from(bits))?)
}
