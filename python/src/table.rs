//! Small tables of results.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::take::take_record_batch;
use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PySlice};

use crate::arguments::argument;
use crate::arrow::{arrow_error, export_stream};

/// A table of results, for Arrow and numpy.
///
/// pyarrow, polars and DuckDB take it without a copy, as in ``polars.DataFrame(table)`` or ``pyarrow.table(table)``;
/// ``table.to_pandas()`` and ``table.to_polars()`` make data frames. ``table[name]`` is a column as a numpy array,
/// ``table[0]`` a row as a dict, ``table[:10]`` a table; to iterate over a table goes over its rows.
#[pyclass(frozen, module = "simgpu", name = "Table")]
pub(crate) struct PyTable(RecordBatch);

impl PyTable {
    /// A table of these columns.
    pub(crate) fn new(columns: Vec<(&str, ArrayRef)>) -> PyResult<Self> {
        let fields = columns.iter().map(|(name, column)| {
            // What was not computed is null, such as a similarity. The type of a column shall not depend on that.
            let may_be_null = column.null_count() > 0 || column.data_type() == &DataType::Float64;
            Field::new(*name, column.data_type().clone(), may_be_null)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let table = RecordBatch::try_new(schema, columns);
        Ok(PyTable(table.map_err(arrow_error)?))
    }

    /// A table of batches of one schema, of which there is at least one. Counts become int64, as other integers of
    /// results are.
    pub(crate) fn from_batches(batches: &[RecordBatch]) -> PyResult<Self> {
        let schema = batches
            .first()
            .map_or_else(|| Arc::new(Schema::empty()), |batch| batch.schema());
        let table = arrow_select::concat::concat_batches(&schema, batches).map_err(arrow_error)?;
        let columns = schema.fields().iter().zip(table.columns());
        let columns = columns.map(|(field, column)| match column.data_type() {
            DataType::UInt64 => {
                let counts = column.as_primitive::<UInt64Type>();
                let counts: ArrayRef = Arc::new(counts.unary::<_, Int64Type>(u64::cast_signed));
                (
                    Field::new(field.name(), DataType::Int64, field.is_nullable()),
                    counts,
                )
            }
            _ => (field.as_ref().clone(), Arc::clone(column)),
        });
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
        let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        Ok(PyTable(table.map_err(arrow_error)?))
    }
}

impl PyTable {
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.0.column_by_name(name).ok_or_else(|| {
            let names = self.column_names().join(", ");
            PyKeyError::new_err(format!("no column {name:?}; give one of {names}"))
        })?;
        match column.data_type() {
            DataType::Int64 if column.null_count() == 0 => {
                let values = column.as_primitive::<Int64Type>().values();
                Ok(PyArray1::from_slice(py, values).into_any())
            }
            DataType::Boolean if column.null_count() == 0 => {
                let values = column.as_boolean().values().iter();
                Ok(PyArray1::from_iter(py, values).into_any())
            }
            DataType::Float64 => {
                let values = column.as_primitive::<Float64Type>().iter();
                let values = values.map(|value| value.unwrap_or(f64::NAN));
                Ok(PyArray1::from_iter(py, values).into_any())
            }
            _ => {
                let options = PyDict::new(py);
                options.set_item("dtype", "object")?;
                let numpy = py.import("numpy")?;
                let values = values_of(py, column)?;
                // Not from a list: lists of one length would become a matrix.
                let array = numpy.call_method("empty", (values.len(),), Some(&options))?;
                for (row, value) in values.into_iter().enumerate() {
                    array.set_item(row, value)?;
                }
                Ok(array)
            }
        }
    }

    /// The rows of a slice.
    fn sliced(&self, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let bounds = slice.indices(isize::try_from(self.0.num_rows())?)?;
        if bounds.step == 1 {
            let start = usize::try_from(bounds.start)?;
            return Ok(PyTable(self.0.slice(start, bounds.slicelength)));
        }
        let mut rows = Vec::with_capacity(bounds.slicelength);
        let mut row = bounds.start;
        for _ in 0..bounds.slicelength {
            rows.push(u64::try_from(row)?);
            row += bounds.step;
        }
        let taken = take_record_batch(&self.0, &UInt64Array::from(rows));
        Ok(PyTable(taken.map_err(arrow_error)?))
    }
}

#[pymethods]
impl PyTable {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.0.schema();
        let fields = schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// By a name, a column as a numpy array: int64, bool, float64 with NaN for nulls, or object for strings and lists. By a
    /// row number, a row as a dict. By a slice, a table of those rows.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            return Ok(Bound::new(py, self.sliced(slice)?)?.into_any());
        }
        if let Ok(name) = index.extract::<&str>() {
            return self.column(py, name);
        }
        let expected = "the name of a column, a row number or a slice";
        let row: isize = argument(index, "the index", expected)?;
        let rows = self.0.num_rows();
        let known = match usize::try_from(row) {
            Ok(row) => Some(row),
            Err(_) => rows.checked_sub(row.unsigned_abs()),
        };
        let known = known.filter(|row| *row < rows).ok_or_else(|| {
            PyIndexError::new_err(format!("row {row} is out of range; there are {rows} rows"))
        })?;
        PyTable(self.0.slice(known, 1)).to_pylist(py)?.get_item(0)
    }

    /// The rows in order, as dicts.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let tables = slf.py().import("simgpu._tables")?;
        tables.call_method1("rows", (slf,))
    }

    /// The table as a data frame of pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let tables = slf.py().import("simgpu._tables")?;
        tables.call_method1("to_pandas", (slf,))
    }

    /// The table as a data frame of polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let tables = slf.py().import("simgpu._tables")?;
        tables.call_method1("to_polars", (slf,))
    }

    /// The rows, as dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: Vec<_> = (0..self.0.num_rows()).map(|_| PyDict::new(py)).collect();
        for (name, column) in self.column_names().iter().zip(self.0.columns()) {
            for (row, value) in rows.iter().zip(values_of(py, column)?) {
                row.set_item(name, value)?;
            }
        }
        PyList::new(py, rows)
    }

    /// The table as a stream of Arrow batches.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the request.
        let _ = requested_schema;
        export_stream(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let (rows, names) = (self.0.num_rows(), self.column_names().join(", "));
        format!("<Table of {rows} rows: {names}>")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let page = slf.py().import("simgpu._repr")?;
        page.call_method1("table", (slf,))
    }

    #[allow(clippy::type_complexity, reason = "the argument of the function")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        (Vec<(String, String, Vec<Bound<'py, PyAny>>)>,),
    )> {
        let make = py.import("simgpu._simgpu")?.getattr("table_of")?;
        let names = self.column_names().into_iter();
        let columns = names.zip(self.0.columns()).map(|(name, column)| {
            let kind = column.data_type().to_string();
            Ok((name, kind, values_of(py, column)?))
        });
        Ok((make, (columns.collect::<PyResult<_>>()?,)))
    }
}

/// A table of columns, each with its name, its type and its values: what pickles hold.
#[pyfunction]
pub(crate) fn table_of(columns: Vec<(String, String, Vec<Bound<'_, PyAny>>)>) -> PyResult<PyTable> {
    let columns = columns.iter().map(|(name, kind, values)| {
        let values = values.iter();
        let column: ArrayRef = match kind.as_str() {
            "Int64" => Arc::new(Int64Array::from(extracted::<i64>(values)?)),
            "Float64" => Arc::new(Float64Array::from(extracted::<f64>(values)?)),
            "Boolean" => Arc::new(BooleanArray::from(extracted::<bool>(values)?)),
            list if list.starts_with("List") && list.contains("Int64") => {
                let mut lists = ListBuilder::new(Int64Builder::new());
                for list in extracted::<Vec<i64>>(values)? {
                    lists.append_option(list.map(|list| list.into_iter().map(Some)));
                }
                Arc::new(lists.finish())
            }
            list if list.starts_with("List") => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for list in extracted::<Vec<String>>(values)? {
                    lists.append_option(list.map(|list| list.into_iter().map(Some)));
                }
                Arc::new(lists.finish())
            }
            _ => Arc::new(StringArray::from(extracted::<String>(values)?)),
        };
        Ok((name.as_str(), column))
    });
    PyTable::new(columns.collect::<PyResult<_>>()?)
}

fn extracted<'a, 'py: 'a, T: for<'b> FromPyObject<'b, 'py>>(
    values: impl Iterator<Item = &'a Bound<'py, PyAny>>,
) -> PyResult<Vec<Option<T>>> {
    let values = values.map(|value| value.extract::<Option<T>>().map_err(Into::into));
    values.collect()
}

/// The values of a column of integers, numbers, booleans, strings, bytes, or lists of these, as Python objects.
fn values_of<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match column.data_type() {
        DataType::Int64 => objects(py, column.as_primitive::<Int64Type>().iter()),
        DataType::Float64 => objects(py, column.as_primitive::<Float64Type>().iter()),
        DataType::Boolean => column
            .as_boolean()
            .iter()
            .map(|value| Ok(value.into_pyobject(py)?.into_any()))
            .collect(),
        DataType::Int32 => objects(py, column.as_primitive::<Int32Type>().iter()),
        DataType::List(_) => {
            let lists = column.as_list::<i32>().iter();
            let lists = lists.map(|list| match list {
                Some(list) => Ok(PyList::new(py, values_of(py, &list)?)?.into_any()),
                None => Ok(py.None().into_bound(py)),
            });
            lists.collect()
        }
        DataType::Binary => objects(py, column.as_binary::<i32>().iter()),
        _ => objects(py, column.as_string::<i32>().iter()),
    }
}

fn objects<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<T>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values
        .map(|value| {
            let object = value.into_pyobject(py);
            object.map_err(Into::into)
        })
        .collect()
}
