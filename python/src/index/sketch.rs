//! Reads sketches, ours or others': anything with `hashvalues`, a length and perhaps a `scheme`.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use simgpu::scheme::SlotVec;
use simgpu_twins::datasketch::bands::SlotLayout;

use crate::sketch::{PyLeanMinHash, PyMinHash};

/// The slots of a sketch.
pub(crate) struct Sketch {
    /// The values of all slots.
    pub(crate) values: SlotVec,
    pub(crate) layout: SlotLayout,
    /// `None` for sketches without one, such as weighted ones: they fit every index.
    pub(crate) scheme: Option<String>,
}

/// Reads a sketch of any class. datasketch's indexes do not look at the seed, nor do ours.
///
/// # Errors
/// What its attributes raise; `TypeError` unless `hashvalues` is an array of 32-bit or 64-bit numbers.
pub(crate) fn sketch_of(sketch: &Bound<'_, PyAny>) -> PyResult<Sketch> {
    // A subclass may have other hash values.
    if let Ok(native) = sketch.cast_exact::<PyMinHash>() {
        return Ok(native_sketch(&*PyMinHash::read(native)?));
    }
    if let Ok(lean) = sketch.cast_exact::<PyLeanMinHash>() {
        return Ok(native_sketch(&*PyMinHash::read(lean.as_super())?));
    }
    let py = sketch.py();
    let hashvalues = sketch.getattr(intern!(py, "hashvalues"))?;
    let (values, layout, _) = matrix_of(&hashvalues, 1)?;
    Ok(Sketch {
        values,
        layout,
        scheme: scheme_of(sketch)?,
    })
}

/// Reads a sketch of ours without its attributes, which would make an array.
fn native_sketch(sketch: &PyMinHash) -> Sketch {
    let values = sketch.slots().clone();
    Sketch {
        layout: SlotLayout {
            width: values.width(),
            values_per_slot: 1,
        },
        values,
        scheme: Some(sketch.kind().name().to_owned()),
    }
}

/// The `scheme` of a sketch or of a batch of sketches, if it is a string.
pub(crate) fn scheme_of(sketch: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let scheme = sketch.getattr_opt(intern!(sketch.py(), "scheme"))?;
    Ok(scheme.and_then(|scheme| scheme.extract().ok()))
}

/// The values of an array in order, their layout, and the number of slots. The first `slot_axes` axes of the array
/// count sketches and slots; one more axis is that of the values of a slot.
///
/// # Errors
/// `TypeError` for another type of numbers, `ValueError` for another shape.
pub(crate) fn matrix_of(
    array: &Bound<'_, PyAny>,
    slot_axes: usize,
) -> PyResult<(SlotVec, SlotLayout, Vec<usize>)> {
    let read = None
        .or_else(|| read(array, |value: u32| value))
        .or_else(|| read(array, |value: u64| value))
        .or_else(|| read(array, i64::cast_unsigned));
    let Some(read) = read else {
        return Err(PyTypeError::new_err(format!(
            "hash values are of type {}; give an array of uint32, uint64 or int64 in the machine's byte order",
            described(array)
        )));
    };
    let (values, shape) = read?;
    let values_per_slot = match &shape[slot_axes.min(shape.len())..] {
        [] if shape.len() == slot_axes => 1,
        &[values] if values > 0 => values,
        _ => {
            return Err(PyValueError::new_err(format!(
                "hash values have the shape {shape:?}; give {slot_axes} axes, or one more for weighted sketches"
            )));
        }
    };
    let layout = SlotLayout {
        width: values.width(),
        values_per_slot,
    };
    Ok((values, layout, shape))
}

/// Reads an array of `T`; `None` if it is none.
fn read<T: Element + Copy, U>(
    array: &Bound<'_, PyAny>,
    unsigned: impl Fn(T) -> U,
) -> Option<PyResult<(SlotVec, Vec<usize>)>>
where
    SlotVec: From<Vec<U>>,
{
    let array = array.cast::<PyArrayDyn<T>>().ok()?;
    let shape = array.shape().to_vec();
    if array.is_c_contiguous()
        && let Ok(values) = array.to_vec()
    {
        let values: Vec<U> = values.into_iter().map(unsigned).collect();
        return Some(Ok((values.into(), shape)));
    }
    let array: PyResult<PyReadonlyArrayDyn<'_, T>> = array.try_readonly().map_err(PyErr::from);
    Some(array.map(|array| {
        let values: Vec<U> = array.as_array().iter().copied().map(unsigned).collect();
        (values.into(), shape)
    }))
}

/// The dtype of an array, or the class of what is none.
fn described(object: &Bound<'_, PyAny>) -> String {
    let dtype = object.getattr(intern!(object.py(), "dtype"));
    match dtype.and_then(|dtype| dtype.str()) {
        Ok(dtype) => dtype.to_string(),
        Err(_) => object.get_type().to_string(),
    }
}
