//! Arrays of numpy and of Arrow that hold slots.

use arrow_array::{Array, ArrayRef, FixedSizeListArray, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{Element, PyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::scheme::Values;

use super::slots::SlotBuffer;
use crate::arrow::{Chunks, arrow_error};
use crate::errors::parameter_error;

/// The slots of an array of two dimensions: a copy, or, if allowed and possible, its memory.
pub(super) fn slots_of(array: &Bound<'_, PyUntypedArray>, copies: bool) -> PyResult<SlotBuffer> {
    let py = array.py();
    let shares = !copies && array.is_c_contiguous();
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    let owned = if shares {
        array.clone().into_any()
    } else {
        py.import("numpy")?
            .call_method("array", (array,), Some(&options))?
    };
    if let Ok(slots) = owned.cast::<PyArray2<u32>>() {
        return SlotBuffer::from_narrow(slots);
    }
    if let Ok(slots) = owned.cast::<PyArray2<u64>>() {
        return SlotBuffer::from_wide(slots);
    }
    let dtype = array.dtype();
    Err(PyTypeError::new_err(format!(
        "slots have type {dtype}; give an array of uint32 or uint64 with two dimensions"
    )))
}

/// The number of slots per signature, and all slots, of an Arrow column.
pub(super) fn slots_of_arrow(py: Python<'_>, chunks: &Chunks) -> PyResult<(usize, SlotBuffer)> {
    let wrong = || {
        PyTypeError::new_err(format!(
            "data have the Arrow type {}; give fixed_size_list of uint32 or uint64",
            chunks.data_type
        ))
    };
    let DataType::FixedSizeList(item, num_perm) = &chunks.data_type else {
        return Err(wrong());
    };
    let values = chunks.arrays.iter().map(|array| {
        let lists = array.as_any().downcast_ref::<FixedSizeListArray>();
        let lists = lists.ok_or_else(wrong)?;
        if lists.null_count() > 0 || lists.values().null_count() > 0 {
            let message = "a signature is null; leave it out";
            return Err(parameter_error(py, message));
        }
        Ok(lists.values().clone())
    });
    let values: Vec<ArrayRef> = values.collect::<PyResult<_>>()?;
    let values = match values.as_slice() {
        [] => arrow_array::new_empty_array(item.data_type()),
        [one] => one.clone(),
        many => {
            let many: Vec<&dyn Array> = many.iter().map(|values| &**values).collect();
            arrow_select::concat::concat(&many).map_err(arrow_error)?
        }
    };
    let slots = if let Some(values) = values.as_any().downcast_ref::<UInt32Array>() {
        Values::U32(values.values().clone())
    } else if let Some(values) = values.as_any().downcast_ref::<UInt64Array>() {
        Values::U64(values.values().clone())
    } else {
        return Err(wrong());
    };
    Ok((usize::try_from(*num_perm)?, SlotBuffer(slots)))
}

/// A read-only array over memory that `owner` keeps alive.
pub(super) fn matrix_over<'py, T: Element>(
    shape: [usize; 2],
    slots: &[T],
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let view = ArrayView2::from_shape(shape, slots);
    let view = view.map_err(|error| PyTypeError::new_err(error.to_string()))?;
    // SAFETY: `owner` is the frozen object that holds the slots. It neither moves nor frees them before it is dropped.
    #[allow(unsafe_code, reason = "numpy reads the memory of the object")]
    let array = unsafe { PyArray2::borrow_from_array(&view, owner) };
    // Not by a borrow of rust-numpy: another thread may read the same memory through one.
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array.into_any())
}

/// An array of two dimensions that takes over `values`.
pub(super) fn matrix_of_values<T: Element>(
    py: Python<'_>,
    shape: [usize; 2],
    values: Vec<T>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let array = Array2::from_shape_vec(shape, values);
    let array = array.map_err(|error| PyTypeError::new_err(error.to_string()))?;
    Ok(PyArray2::from_owned_array(py, array))
}

pub(super) fn no_row() -> PyErr {
    PyTypeError::new_err(
        "the index selects no rows; give a number, a slice, an array of row numbers or a mask",
    )
}
