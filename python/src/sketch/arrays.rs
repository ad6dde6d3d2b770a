//! Hash values and coefficients from numpy arrays and sequences, and back.

use numpy::{PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyString, PyTuple};
use simgpu::scheme::{SlotVec, Values};
use simgpu_twins::datasketch::PermutationScheme;

use super::scheme::{dtype_name, read_scheme};

/// Slots as a numpy array of their own, read-only or not.
pub(crate) fn to_array<'py>(
    py: Python<'py>,
    slots: &SlotVec,
    is_writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    match slots {
        Values::U32(slots) => array_of(py, slots, is_writeable),
        Values::U64(slots) => array_of(py, slots, is_writeable),
    }
}

pub(crate) fn array_of<'py, T: numpy::Element>(
    py: Python<'py>,
    values: &[T],
    is_writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let array = PyArray1::from_slice(py, values);
    if !is_writeable {
        array.try_readwrite()?.make_nonwriteable();
    }
    Ok(array.into_any())
}

/// Replaces slots by the values of an array that [`to_array`] made of them and that Python may have changed since.
pub(crate) fn copy_from_array<T: numpy::Element + Copy>(
    array: &Bound<'_, PyAny>,
    slots: &mut [T],
) -> PyResult<()> {
    let changed = || {
        PyValueError::new_err(
            "the array of hash values has another shape or type now; assign hashvalues instead",
        )
    };
    let array = array.cast::<PyArray1<T>>().map_err(|_| changed())?;
    if array.len() != slots.len() {
        return Err(changed());
    }
    let array = array.try_readonly()?;
    let values = array.as_array();
    for (slot, value) in slots.iter_mut().zip(&values) {
        *slot = *value;
    }
    Ok(())
}

/// Hash values given to a sketch, of the scheme's type.
pub(crate) fn read_slots(kind: PermutationScheme, values: &Bound<'_, PyAny>) -> PyResult<SlotVec> {
    // The legacy scheme converts without a look at ranges.
    match kind {
        PermutationScheme::Legacy => read_converted(kind, convert(kind, values)?),
        PermutationScheme::Affine32 | PermutationScheme::Affine64 => {
            read_checked(kind, values, "hash values")
        }
    }
}

/// One row of coefficients, of the scheme's type.
pub(crate) fn read_coefficients(
    kind: PermutationScheme,
    values: &Bound<'_, PyAny>,
) -> PyResult<Vec<u64>> {
    let values = match kind {
        PermutationScheme::Legacy => read_converted(kind, convert(kind, values)?)?,
        PermutationScheme::Affine32 | PermutationScheme::Affine64 => {
            read_checked(kind, values, "permutation parameters")?
        }
    };
    Ok(match values {
        Values::U32(values) => values.into_iter().map(u64::from).collect(),
        Values::U64(values) => values,
    })
}

/// What a hash function returned, of the scheme's type.
pub(crate) fn read_hashes(kind: PermutationScheme, hashes: &Bound<'_, PyAny>) -> PyResult<SlotVec> {
    let converted = convert(kind, hashes).map_err(|error| match kind {
        PermutationScheme::Legacy => error,
        PermutationScheme::Affine32 | PermutationScheme::Affine64 => {
            overflow_error(hashes.py(), error, |problem| {
                hash_out_of_range(kind, problem)
            })
        }
    })?;
    read_converted(kind, converted)
}

/// The message of a hash that is too wide.
pub(crate) fn hash_out_of_range(kind: PermutationScheme, problem: &str) -> String {
    format!(
        "hashfunc returned a value out of range for scheme '{}': {problem}. Use a hash function matching the scheme \
         width, or scheme='affine64' for 64-bit hash values.",
        kind.name()
    )
}

fn read_checked(
    kind: PermutationScheme,
    values: &Bound<'_, PyAny>,
    what: &str,
) -> PyResult<SlotVec> {
    let out_of_range = || format!("{what} out of range for scheme '{}'", kind.name());
    if let Ok(array) = values.cast::<PyUntypedArray>() {
        if let Some(slots) = slots_of_type(kind, array) {
            return Ok(slots);
        }
        if !fits(kind, array)? {
            return Err(PyValueError::new_err(out_of_range()));
        }
        let dtype = dtype_name(kind);
        return read_converted(kind, values.call_method1("astype", (dtype,))?);
    }
    let converted = convert(kind, values).map_err(|error| {
        let message = |problem: &str| format!("{}: {problem}", out_of_range());
        overflow_error(values.py(), error, message)
    })?;
    read_converted(kind, converted)
}

/// Whether the integers of an array lie in the scheme's range. Arrays of other types are numpy's to convert.
fn fits(kind: PermutationScheme, array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let is_integral = matches!(array.dtype().kind(), b'i' | b'u');
    if !is_integral || array.len() == 0 {
        return Ok(true);
    }
    let least = array.call_method0("min")?.extract::<i128>()?;
    let greatest = array.call_method0("max")?.extract::<i128>()?;
    Ok(least >= 0 && greatest <= i128::from(kind.greatest()))
}

/// `np.array(values, dtype)`, which refuses integers out of the range of the type.
fn convert<'py>(
    kind: PermutationScheme,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = values.py().import(intern!(values.py(), "numpy"))?;
    if wraps_integers(&numpy)? {
        refuse_out_of_range(kind, values)?;
    }
    numpy.call_method1(intern!(values.py(), "array"), (values, dtype_name(kind)))
}

/// Whether this is a NumPy before 2, which wraps integers that are out of range without a word.
fn wraps_integers(numpy: &Bound<'_, PyModule>) -> PyResult<bool> {
    static IS_OLD: PyOnceLock<bool> = PyOnceLock::new();
    let is_old = IS_OLD.get_or_try_init(numpy.py(), || -> PyResult<bool> {
        let version: String = numpy.getattr("__version__")?.extract()?;
        Ok(version.starts_with("1."))
    });
    is_old.copied()
}

/// Refuses what NumPy 2 refuses: a list or tuple with an integer that the scheme's type does not hold.
fn refuse_out_of_range(kind: PermutationScheme, values: &Bound<'_, PyAny>) -> PyResult<()> {
    let items = match (values.cast::<PyList>(), values.cast::<PyTuple>()) {
        (Ok(list), _) => list.to_tuple(),
        (Err(_), Ok(tuple)) => tuple.clone(),
        (Err(_), Err(_)) => return Ok(()),
    };
    let dtype = dtype_name(kind);
    let greatest = match kind {
        PermutationScheme::Affine32 => i128::from(u32::MAX),
        PermutationScheme::Legacy | PermutationScheme::Affine64 => i128::from(u64::MAX),
    };
    for item in items.iter_borrowed() {
        let is_held = !item.is_instance_of::<PyInt>()
            || item
                .extract::<i128>()
                .is_ok_and(|number| (0..=greatest).contains(&number));
        if !is_held {
            let message = format!("Python integer {} out of bounds for {dtype}", item.str()?);
            return Err(PyOverflowError::new_err(message));
        }
    }
    Ok(())
}

/// A `ValueError` in place of an `OverflowError`.
fn overflow_error(py: Python<'_>, error: PyErr, message: impl FnOnce(&str) -> String) -> PyErr {
    if !error.is_instance_of::<PyOverflowError>(py) {
        return error;
    }
    let raised = PyValueError::new_err(message(&error.value(py).to_string()));
    raised.set_cause(py, Some(error));
    raised
}

fn read_converted(kind: PermutationScheme, array: Bound<'_, PyAny>) -> PyResult<SlotVec> {
    let array = array.cast::<PyUntypedArray>()?;
    slots_of_type(kind, array).ok_or_else(|| {
        let dimensions = array.ndim();
        PyValueError::new_err(format!(
            "the values have {dimensions} dimensions; give a sequence of numbers"
        ))
    })
}

/// The values of a one-dimensional array of the scheme's type.
fn slots_of_type(kind: PermutationScheme, array: &Bound<'_, PyUntypedArray>) -> Option<SlotVec> {
    match kind {
        PermutationScheme::Affine32 => copied::<u32>(array).map(Values::U32),
        PermutationScheme::Legacy | PermutationScheme::Affine64 => {
            copied::<u64>(array).map(Values::U64)
        }
    }
}

fn copied<T: numpy::Element + Copy>(array: &Bound<'_, PyUntypedArray>) -> Option<Vec<T>> {
    let array = array.cast::<PyArray1<T>>().ok()?.try_readonly().ok()?;
    Some(array.as_array().iter().copied().collect())
}

/// A seed: an integer of 64 bits.
pub(crate) fn read_seed(seed: &Bound<'_, PyAny>) -> PyResult<i64> {
    seed.extract::<i64>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(seed.py()) {
            return PyValueError::new_err("Seed must be between 0 and 2**32 - 1");
        }
        let kind = seed.get_type();
        PyTypeError::new_err(format!("seed is of type {kind}; give an integer"))
    })
}

/// A sketch of another class, for example datasketch's: its scheme, seed and slots.
pub(crate) struct Foreign<'py> {
    pub(crate) kind: Option<PermutationScheme>,
    sketch: Bound<'py, PyAny>,
}

impl<'py> Foreign<'py> {
    /// Reads the scheme of any object; `None` if it has none that is known.
    pub(crate) fn new(sketch: &Bound<'py, PyAny>) -> PyResult<Self> {
        let scheme = sketch.getattr_opt(intern!(sketch.py(), "scheme"))?;
        let scheme = scheme.filter(|scheme| scheme.is_instance_of::<PyString>());
        Ok(Foreign {
            kind: scheme.and_then(|scheme| read_scheme(&scheme).ok()),
            sketch: sketch.clone(),
        })
    }

    pub(crate) fn seed(&self) -> PyResult<i64> {
        read_seed(&self.sketch.getattr(intern!(self.sketch.py(), "seed"))?)
    }

    pub(crate) fn len(&self) -> PyResult<usize> {
        self.sketch.len()
    }

    /// Its slots as those of a scheme.
    pub(crate) fn slots(&self, kind: PermutationScheme) -> PyResult<SlotVec> {
        let values = self
            .sketch
            .getattr(intern!(self.sketch.py(), "hashvalues"))?;
        read_slots(kind, &values)
    }
}
