//! Sets of hashes as Python gives them.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::scheme::{Hashes, Scheme, Width};

use crate::errors::parameter_error;
use crate::texts::{Column, Sets};

/// Keeps the memory of sets of hashes alive.
pub(crate) enum HashSets<'py> {
    /// An Arrow column of lists.
    Column(Column<'py>),
    /// Values of 32 bits, and the offsets of the sets.
    Narrow(PyReadonlyArray1<'py, u32>, Vec<usize>),
    /// Values of 64 bits, and the offsets of the sets.
    Wide(PyReadonlyArray1<'py, u64>, Vec<usize>),
}

impl<'py> HashSets<'py> {
    /// The sets of an array and offsets, of an array of two dimensions, of an Arrow column, or of a SciPy matrix.
    pub(crate) fn new(
        values: &Bound<'py, PyAny>,
        offsets: Option<&Bound<'py, PyAny>>,
        column: Option<&str>,
        width: Width,
    ) -> PyResult<Self> {
        let py = values.py();
        if let Some(offsets) = offsets {
            let values = as_array(values)?;
            if values.ndim() != 1 {
                let message = format!(
                    "values have {} dimensions; give one with offsets, or two without",
                    values.ndim()
                );
                return Err(PyTypeError::new_err(message));
            }
            let offsets = read_offsets(offsets, values.len())?;
            return HashSets::from_array(&values, offsets);
        }
        if values.hasattr("tocsr")? {
            return HashSets::from_matrix(values, width);
        }
        let is_arrow = ["__arrow_c_array__", "__arrow_c_stream__"].map(|name| values.hasattr(name));
        if column.is_some() || is_arrow.into_iter().any(|has| has.unwrap_or(false)) {
            return Ok(HashSets::Column(Column::new(values, column)?));
        }
        let values = as_array(values)?;
        let &[rows, columns] = values.shape() else {
            return Err(PyTypeError::new_err(format!(
                "values have {} dimensions; give offsets too, or an array of two dimensions",
                values.ndim()
            )));
        };
        let offsets = (0..=rows).map(|row| row * columns).collect();
        let flat = py
            .import("numpy")?
            .call_method1("ascontiguousarray", (values,))?
            .call_method1("reshape", (-1,))?
            .cast_into::<PyUntypedArray>()?;
        HashSets::from_array(&flat, offsets)
    }

    fn from_array(values: &Bound<'py, PyUntypedArray>, offsets: Vec<usize>) -> PyResult<Self> {
        let contiguous = values
            .py()
            .import("numpy")?
            .call_method1("ascontiguousarray", (values,))?;
        if let Ok(values) = contiguous.cast::<PyArray1<u32>>() {
            return Ok(HashSets::Narrow(borrowed(values)?, offsets));
        }
        if let Ok(values) = contiguous.cast::<PyArray1<u64>>() {
            return Ok(HashSets::Wide(borrowed(values)?, offsets));
        }
        let dtype = values.dtype();
        Err(PyTypeError::new_err(format!(
            "values have type {dtype}; give hashes of type uint32 or uint64, such as \
             numpy.asarray(values, dtype=numpy.uint32)"
        )))
    }

    /// The column numbers of each row of a SciPy matrix, without those of explicit zeros.
    fn from_matrix(matrix: &Bound<'py, PyAny>, width: Width) -> PyResult<Self> {
        let options = PyDict::new(matrix.py());
        options.set_item("copy", true)?;
        let matrix = matrix.call_method("tocsr", (), Some(&options))?;
        matrix.call_method0("eliminate_zeros")?;
        let indices = matrix.getattr("indices")?;
        // Column numbers are never negative, and SciPy has none that exceeds its signed type.
        let dtype = match width {
            Width::U32 => "uint32",
            Width::U64 => "uint64",
        };
        let columns: u64 = matrix.getattr("shape")?.get_item(1)?.extract()?;
        if width == Width::U32 && columns > 1 << 32 {
            let message =
                "the matrix has more than 2**32 columns; use a 64-bit scheme, such as affine64";
            return Err(parameter_error(matrix.py(), message));
        }
        let values = as_array(&indices.call_method1("astype", (dtype,))?)?;
        let offsets = read_offsets(&matrix.getattr("indptr")?, values.len())?;
        HashSets::from_array(&values, offsets)
    }

    /// The sets, checked to have the width of the scheme's hashes.
    pub(crate) fn sets(&self, scheme: &Scheme) -> PyResult<Vec<Sets<'_>>> {
        let sets = match self {
            HashSets::Column(column) => column.hashes()?.ok_or_else(|| {
                PyTypeError::new_err(
                    "the column holds Python objects; give an Arrow column of lists of uint32 or uint64",
                )
            })?,
            HashSets::Narrow(values, offsets) => vec![Sets {
                hashes: Hashes::U32(values.as_slice()?),
                offsets: offsets.clone(),
            }],
            HashSets::Wide(values, offsets) => vec![Sets {
                hashes: Hashes::U64(values.as_slice()?),
                offsets: offsets.clone(),
            }],
        };
        let width = scheme.family().hash_width();
        if sets.iter().all(|sets| sets.hashes.width() == width) {
            Ok(sets)
        } else {
            Err(PyTypeError::new_err(format!(
                "the hashes are not as wide as those of {scheme}; give uint{} hashes",
                8 * width.bytes()
            )))
        }
    }
}

fn as_array<'py>(values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let numpy = values.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (values,))?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

fn borrowed<'py, T: numpy::Element>(
    values: &Bound<'py, PyArray1<T>>,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    values.try_readonly().map_err(|error| {
        PyTypeError::new_err(format!("cannot read values: {error}; give another array"))
    })
}

/// Offsets into `len` values, checked to ascend.
fn read_offsets(offsets: &Bound<'_, PyAny>, len: usize) -> PyResult<Vec<usize>> {
    let py = offsets.py();
    let offsets = as_array(offsets)?;
    let offsets = py
        .import("numpy")?
        .call_method1("ascontiguousarray", (offsets,))?;
    let known = if let Ok(offsets) = offsets.cast::<PyArray1<i64>>() {
        converted(offsets)?
    } else if let Ok(offsets) = offsets.cast::<PyArray1<i32>>() {
        converted(offsets)?
    } else if let Ok(offsets) = offsets.cast::<PyArray1<u64>>() {
        converted(offsets)?
    } else {
        return Err(PyTypeError::new_err(
            "offsets are not integers in one dimension; give an array of int32, int64 or uint64",
        ));
    };
    known
        .filter(|known| known.is_sorted() && known.last().is_some_and(|last| *last <= len))
        .ok_or_else(|| {
            let message = format!(
                "offsets do not ascend from 0 to at most {len}, the number of values; give one more than there are sets"
            );
            parameter_error(py, message)
        })
}

/// The offsets; `None` if one is negative.
fn converted<T: numpy::Element + TryInto<usize> + Copy>(
    offsets: &Bound<'_, PyArray1<T>>,
) -> PyResult<Option<Vec<usize>>> {
    let offsets = borrowed(offsets)?;
    let offsets = offsets.as_slice()?.iter();
    Ok(offsets.map(|offset| (*offset).try_into().ok()).collect())
}
