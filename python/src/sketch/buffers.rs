//! Byte buffers, read and written as Python's `struct` does.

use std::borrow::Cow;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PySlice};
use simgpu_twins::datasketch::ByteOrder;

/// A `struct.error`.
pub(crate) fn struct_error(py: Python<'_>, message: String) -> PyErr {
    let raised = py
        .import("struct")
        .and_then(|module| module.getattr("error")?.call1((message,)));
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// A buffer that is read by the rules of `struct.unpack_from`.
pub(crate) enum Reader<'py> {
    Bytes(Bound<'py, PyBytes>),
    /// The copy of a short bytearray.
    Copy(Vec<u8>),
    /// A memoryview of bytes.
    View(Bound<'py, PyAny>),
}

/// A bytearray of at most this length is copied whole, which is faster than a view of it.
const SHORT: usize = 1 << 14;

impl<'py> Reader<'py> {
    pub(crate) fn new(buffer: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = buffer.cast::<PyBytes>() {
            return Ok(Reader::Bytes(bytes.clone()));
        }
        match buffer.cast::<PyByteArray>() {
            Ok(bytes) if bytes.len() <= SHORT => Ok(Reader::Copy(bytes.to_vec())),
            _ => view_of(buffer).map(Reader::View),
        }
    }

    /// `len` bytes from `offset` on.
    pub(crate) fn bytes(
        &self,
        py: Python<'py>,
        offset: usize,
        len: usize,
    ) -> PyResult<Cow<'_, [u8]>> {
        let end = offset.saturating_add(len);
        let (bytes, size) = match self {
            Reader::Bytes(bytes) => (bytes.as_bytes().get(offset..end), bytes.as_bytes().len()),
            Reader::Copy(bytes) => (bytes.get(offset..end), bytes.len()),
            Reader::View(view) if view.len()? >= end => {
                let part = view.get_item(slice(py, offset, end))?;
                return Ok(Cow::Owned(
                    part.call_method0(intern!(py, "tobytes"))?.extract()?,
                ));
            }
            Reader::View(view) => (None, view.len()?),
        };
        let message = || {
            format!(
                "unpack_from requires a buffer of at least {end} bytes for unpacking {len} bytes at offset {offset} \
                 (actual buffer size is {size})"
            )
        };
        let bytes = bytes.ok_or_else(|| struct_error(py, message()))?;
        Ok(Cow::Borrowed(bytes))
    }

    /// `N` bytes from `offset` on.
    pub(crate) fn array<const N: usize>(
        &self,
        py: Python<'py>,
        offset: usize,
    ) -> PyResult<[u8; N]> {
        let bytes = self.bytes(py, offset, N)?;
        Ok(std::array::from_fn(|i| bytes[i]))
    }
}

/// The bytes of any contiguous buffer.
fn view_of<'py>(buffer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    let view = PyMemoryView::from(buffer)?;
    view.call_method1(intern!(py, "cast"), (intern!(py, "B"),))
}

fn slice(py: Python<'_>, start: usize, end: usize) -> Bound<'_, PySlice> {
    // No buffer is longer than `isize::MAX`.
    PySlice::new(py, start.cast_signed(), end.cast_signed(), 1)
}

/// Writes `bytes` at the start of a writeable buffer.
pub(crate) fn write(buffer: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
    let py = buffer.py();
    let (part, bytes) = (slice(py, 0, bytes.len()), PyBytes::new(py, bytes));
    if buffer.is_exact_instance_of::<PyByteArray>() {
        // As long as what it replaces: the caller compared the length.
        return buffer.set_item(part, bytes);
    }
    let view = view_of(buffer)?;
    if view.len()? < bytes.as_bytes().len() {
        let message = format!(
            "pack_into requires a buffer of at least {0} bytes for packing {0} bytes at offset 0 (actual buffer size \
             is {1})",
            bytes.as_bytes().len(),
            view.len()?
        );
        return Err(struct_error(py, message));
    }
    view.set_item(part, bytes)
}

/// Reads the argument `byteorder`: one of `@`, `=`, `<`, `>` and `!`.
pub(crate) fn read_byte_order(py: Python<'_>, symbol: &str) -> PyResult<ByteOrder> {
    ByteOrder::from_symbol(symbol)
        .ok_or_else(|| struct_error(py, "bad char in struct format".to_owned()))
}
