//! The memory of slots: their own, or that of an array of Arrow.

use std::panic::RefUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array, UInt64Array};
use arrow_buffer::{Buffer, ScalarBuffer};
use numpy::{Element, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simgpu::scheme::{SlotVec, Slots, Values};

/// Shared slots. Rows are cut out of them without a copy, and they go to numpy and Arrow as they are.
#[derive(Clone)]
pub(crate) struct SlotBuffer(pub(super) Values<ScalarBuffer<u32>, ScalarBuffer<u64>>);

/// Memory of a numpy array, alive as long as this.
struct Held(#[allow(dead_code, reason = "kept for its drop")] Py<PyAny>);

impl RefUnwindSafe for Held {}

impl SlotBuffer {
    /// Takes over the memory of a vector.
    pub(crate) fn from_vec(slots: SlotVec) -> Self {
        SlotBuffer(match slots {
            Values::U32(slots) => Values::U32(slots.into()),
            Values::U64(slots) => Values::U64(slots.into()),
        })
    }

    /// Shares the memory of a C-contiguous array.
    pub(crate) fn from_narrow(array: &Bound<'_, PyArray2<u32>>) -> PyResult<Self> {
        Ok(SlotBuffer(Values::U32(shared(array)?)))
    }

    /// Shares the memory of a C-contiguous array.
    pub(crate) fn from_wide(array: &Bound<'_, PyArray2<u64>>) -> PyResult<Self> {
        Ok(SlotBuffer(Values::U64(shared(array)?)))
    }

    pub(super) fn view(&self) -> Slots<'_> {
        self.0.view()
    }

    /// The slots `start..start + len`, without a copy.
    pub(super) fn slice(&self, start: usize, len: usize) -> Self {
        SlotBuffer(match &self.0 {
            Values::U32(slots) => Values::U32(slots.slice(start, len)),
            Values::U64(slots) => Values::U64(slots.slice(start, len)),
        })
    }

    pub(super) fn array(&self) -> ArrayRef {
        match &self.0 {
            Values::U32(slots) => Arc::new(UInt32Array::new(slots.clone(), None)),
            Values::U64(slots) => Arc::new(UInt64Array::new(slots.clone(), None)),
        }
    }
}

/// A buffer over the memory of a C-contiguous array, which it keeps alive.
fn shared<T: Element + arrow_buffer::ArrowNativeType>(
    array: &Bound<'_, PyArray2<T>>,
) -> PyResult<ScalarBuffer<T>> {
    let bytes = array.len() * size_of::<T>();
    let borrowed = array.try_readonly();
    let borrowed = borrowed.map_err(|error| PyTypeError::new_err(error.to_string()))?;
    let first = NonNull::from(borrowed.as_slice()?).cast::<u8>();
    let owner = Arc::new(Held(array.clone().into_any().unbind()));
    // SAFETY: `as_slice` proves that the array is contiguous and aligned, so that `first` is valid for `bytes` bytes.
    // `owner` keeps the array, and numpy refuses to move memory to which another object refers. As everywhere in numpy,
    // whoever writes to an array while another thread reads it may make that thread read old or new values.
    #[allow(unsafe_code, reason = "the buffer shares the memory of the array")]
    let buffer = unsafe { Buffer::from_custom_allocation(first, bytes, owner) };
    Ok(buffer.into())
}
