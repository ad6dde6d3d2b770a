//! Arrow data in and out, by the capsules of the Arrow PyCapsule interface.
//!
//! No package of Python is needed for it: pyarrow, polars, pandas, DuckDB and others make and take such capsules. The
//! memory of an imported column is read where it lies. Producers are trusted to follow the C data interface; what
//! safe code relies on beyond it (offsets, UTF-8, keys of dictionaries) is checked once.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use arrow_array::ffi::{from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, StructArray, make_array};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::{panic_error, parameter_error, unsupported_error};
use crate::objects::is_from;

const SCHEMA: &CStr = c"arrow_schema";

const ARRAY: &CStr = c"arrow_array";

const STREAM: &CStr = c"arrow_array_stream";

/// A column in chunks of one type.
#[derive(Clone, Debug)]
pub(crate) struct Chunks {
    pub(crate) data_type: DataType,
    pub(crate) arrays: Vec<ArrayRef>,
}

/// The column that `data` holds, or `None` if it has no Arrow interface. Of a table, the column `column`, or its only
/// one.
pub(crate) fn import(data: &Bound<'_, PyAny>, column: Option<&str>) -> PyResult<Option<Chunks>> {
    let chunks = import_all(data)?;
    let column = chunks.map(|chunks| column_of(data.py(), &chunks, column));
    column.transpose()
}

/// All that `data` holds, whose columns are not yet checked: take them by [`column_of`]. `None` if it has no Arrow
/// interface.
pub(crate) fn import_all(data: &Bound<'_, PyAny>) -> PyResult<Option<Chunks>> {
    if data.hasattr("__arrow_c_array__")? {
        return import_array(data).map(Some);
    }
    if data.hasattr("__arrow_c_stream__")? {
        let imported = import_stream(data);
        // Series of older versions of polars announce another type than they bring; data frames do not.
        if imported.is_err() && is_from(data, "polars") && data.hasattr("to_frame")? {
            let frame = import_stream(&data.call_method0("to_frame")?)?;
            return column_of_table(data.py(), &frame, None).map(Some);
        }
        return imported.map(Some);
    }
    if is_from(data, "pyarrow") {
        return import_older(data);
    }
    Ok(None)
}

/// A chunked array of pyarrow before 16, which has no Arrow interface of its own; its chunks have. Refuses a pyarrow in
/// which nothing has. `None` for what is no Arrow data.
fn import_older(data: &Bound<'_, PyAny>) -> PyResult<Option<Chunks>> {
    let py = data.py();
    let hosts = py.import("simgpu._hosts")?;
    hosts
        .call_method1("check", ("to read Arrow data, simgpu", "pyarrow"))
        .map_err(|error| unsupported_error(py, &error.value(py).to_string()))?;
    if !data.hasattr("combine_chunks")? || !data.hasattr("chunks")? {
        return Ok(None);
    }
    let chunks: Vec<Bound<'_, PyAny>> = data.getattr("chunks")?.extract()?;
    if chunks.is_empty() {
        return import_array(&data.call_method0("combine_chunks")?).map(Some);
    }
    let parts: Vec<Chunks> = chunks.iter().map(import_array).collect::<PyResult<_>>()?;
    let data_type = parts[0].data_type.clone();
    let arrays = parts.into_iter().flat_map(|part| part.arrays).collect();
    Ok(Some(Chunks { data_type, arrays }))
}

/// A column of a table, or what is no table, checked.
pub(crate) fn column_of(py: Python<'_>, chunks: &Chunks, column: Option<&str>) -> PyResult<Chunks> {
    let chunks = match &chunks.data_type {
        DataType::Struct(_) => column_of_table(py, chunks, column)?,
        _ => chunks.clone(),
    };
    checked(py, || {
        let mut arrays = chunks.arrays.iter();
        arrays.try_for_each(|array| array.to_data().validate_full())
    })?;
    Ok(chunks)
}

/// The memory that a capsule of this name points to.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    let capsule = capsule.cast::<PyCapsule>()?;
    Ok(capsule.pointer_checked(Some(name))?.cast())
}

fn import_array(data: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let capsules = data.call_method0("__arrow_c_array__")?;
    let capsules = capsules.cast_into::<PyTuple>()?;
    let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
    let schema = pointer::<FFI_ArrowSchema>(&schema, SCHEMA)?;
    let array = pointer::<FFI_ArrowArray>(&array, ARRAY)?;
    // SAFETY: capsules of these names point to a schema and an array of the C data interface, alive as long as the
    // tuple `capsules`. The array is moved out of its capsule, which the interface allows.
    #[allow(unsafe_code, reason = "the C data interface consists of raw pointers")]
    let array = caught(data.py(), || unsafe {
        let array = FFI_ArrowArray::from_raw(array.as_ptr());
        from_ffi(array, schema.as_ref()).map(make_array)
    })?;
    Ok(Chunks {
        data_type: array.data_type().clone(),
        arrays: vec![array],
    })
}

fn import_stream(data: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    // Older versions of polars have no default for the schema.
    let capsule = data.call_method1("__arrow_c_stream__", (data.py().None(),))?;
    let stream = pointer::<FFI_ArrowArrayStream>(&capsule, STREAM)?;
    // SAFETY: a capsule of this name points to a stream of the C stream interface, alive as long as `capsule`. The
    // stream is moved out of its capsule, which the interface allows.
    #[allow(unsafe_code, reason = "the C data interface consists of raw pointers")]
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let py = data.py();
    // Detached: the producer may need the interpreter on another thread to make its next chunk.
    let read = AssertUnwindSafe(|| {
        py.detach(|| {
            let reader = ArrayStreamReader::try_new(stream)?;
            let data_type = arrow_array::ArrayReader::field(&reader).data_type().clone();
            let arrays = reader.collect::<Result<Vec<_>, _>>()?;
            Ok(Chunks { data_type, arrays })
        })
    });
    caught(py, read)
}

/// Runs a check or an import without the interpreter.
fn checked<T: Send>(
    py: Python<'_>,
    check: impl FnOnce() -> Result<T, ArrowError> + Send,
) -> PyResult<T> {
    caught(py, || py.detach(check))
}

/// Turns errors and panics of the Arrow library into exceptions.
fn caught<T>(py: Python<'_>, import: impl FnOnce() -> Result<T, ArrowError>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(import)) {
        Ok(Ok(imported)) => Ok(imported),
        Ok(Err(error)) => Err(PyValueError::new_err(format!(
            "cannot read the Arrow data: {error}; give valid data"
        ))),
        Err(panic) => Err(panic_error(py, &*panic)),
    }
}

/// The column of a table.
fn column_of_table(py: Python<'_>, table: &Chunks, column: Option<&str>) -> PyResult<Chunks> {
    let DataType::Struct(fields) = &table.data_type else {
        unreachable!("tables are arrays of structs")
    };
    let names = || {
        let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
        names.join(", ")
    };
    let index = match column {
        None if fields.len() == 1 => 0,
        None => {
            let message = format!(
                "the table has several columns; give column=, one of {}",
                names()
            );
            return Err(PyTypeError::new_err(message));
        }
        Some(column) => {
            let index = fields.iter().position(|field| field.name() == column);
            index.ok_or_else(|| {
                let message = format!("no column {column:?}; give one of {}", names());
                parameter_error(py, message)
            })?
        }
    };
    let columns = table.arrays.iter().map(|array| {
        let rows = array.as_any().downcast_ref::<StructArray>();
        rows.map(|rows| rows.column(index).clone())
    });
    Ok(Chunks {
        data_type: fields[index].data_type().clone(),
        arrays: columns.flatten().collect(),
    })
}

/// The capsules of an array: what `__arrow_c_array__` returns.
pub(crate) fn export_array<'py>(
    py: Python<'py>,
    array: &dyn Array,
) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(arrow_error)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// The capsule of a table: what `__arrow_c_stream__` returns.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    table: &RecordBatch,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = table.schema();
    let batches = RecordBatchIterator::new([Ok(table.clone())], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// An error of the Arrow library.
pub(crate) fn arrow_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
