//! Tables as Python gives them, of which some columns are read.
//!
//! A table is read once, also for its ids: to run a query again may give its rows in another order. Of a data frame of
//! pandas, columns are taken by their place, because its Arrow interface adds the index as columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use simgpu_io::FieldPath;

use crate::arguments::type_of;
use crate::arrow::{Chunks, arrow_error, column_of, import_all};
use crate::errors::parameter_error;
use crate::objects::{is_from, no_text};
use crate::texts::{Column, as_table, has_index_level};

/// A table, of which columns are taken by name.
pub(crate) struct Frame<'py> {
    data: Bound<'py, PyAny>,
    /// The whole table, where its parts cannot be taken one after the other: a stream may end with the first one.
    whole: Option<Chunks>,
    names: Vec<String>,
    /// What messages call it.
    called: &'static str,
}

impl<'py> Frame<'py> {
    /// Takes a data frame, an Arrow table or stream, a `datasets.Dataset`, or a dict of columns.
    pub(crate) fn new(data: &Bound<'py, PyAny>, called: &'static str) -> PyResult<Self> {
        let frame = |data: &Bound<'py, PyAny>, whole, names| Frame {
            data: data.clone(),
            whole,
            names,
            called,
        };
        if let Ok(columns) = data.cast::<PyDict>() {
            return Ok(frame(data, None, named(&columns.keys())?));
        }
        let is_frame = is_from(data, "pandas") || is_from(data, "polars");
        if is_frame && data.hasattr("shape")? && data.hasattr("columns")? {
            return Ok(frame(data, None, named(&data.getattr("columns")?)?));
        }
        let table = as_table(data)?;
        let data = table.as_ref().unwrap_or(data);
        match import_all(data)? {
            Some(whole) if !is_frame => match &whole.data_type {
                DataType::Struct(fields) => {
                    let names = fields.iter().map(|field| field.name().clone()).collect();
                    Ok(frame(data, Some(whole), names))
                }
                _ => Err(no_table(data, called)),
            },
            _ => Err(no_table(data, called)),
        }
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether there is a column of this name, or a level of a pandas index.
    pub(crate) fn has(&self, name: &str) -> PyResult<bool> {
        let is_column = self.names.iter().any(|known| known == name);
        Ok(is_column || has_index_level(&self.data, name)?)
    }

    /// A table of these columns, under their names. Each comes with the parameter that names it.
    pub(crate) fn columns(&self, wanted: &[(&str, &str)]) -> PyResult<RecordBatch> {
        let columns = wanted.iter().map(|(parameter, name)| {
            let column = self.array(parameter, name)?;
            Ok((*name, column))
        });
        let columns: Vec<(&str, ArrayRef)> = columns.collect::<PyResult<_>>()?;
        if let Some(((first, a), (other, b))) = columns
            .first()
            .and_then(|a| Some((a, columns.iter().find(|b| b.1.len() != a.1.len())?)))
        {
            let (a, b) = (a.len(), b.len());
            let message = format!(
                "column {first:?} has {a} rows and column {other:?} {b}; give columns of one length"
            );
            return Err(parameter_error(self.data.py(), message));
        }
        let columns = columns
            .into_iter()
            .map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns).map_err(arrow_error)
    }

    /// A column as one array.
    pub(crate) fn array(&self, parameter: &str, name: &str) -> PyResult<ArrayRef> {
        array_of_column(&self.take(parameter, name)?, name)
    }

    /// A column. `parameter` names it.
    pub(crate) fn take(&self, parameter: &str, name: &str) -> PyResult<Column<'py>> {
        let py = self.data.py();
        if !self.has(name)? {
            let (called, names) = (self.called, self.names.join(", "));
            let message =
                format!("{parameter} is {name:?}, no column of {called}; give one of {names}");
            return Err(parameter_error(py, message));
        }
        match &self.whole {
            Some(whole) => column_of(py, whole, Some(name)).map(Column::Arrow),
            None => Column::new(&self.data, Some(name)),
        }
    }
}

/// A column as one array. Messages call it `name`.
pub(crate) fn array_of_column(column: &Column<'_>, name: &str) -> PyResult<ArrayRef> {
    match column {
        Column::Objects(objects) => array_of(objects, name),
        Column::Arrow(chunks) => joined(chunks),
    }
}

/// The column of this name, whatever dots are in it.
pub(crate) fn path(name: &str) -> FieldPath {
    FieldPath::new(&name.replace('\\', r"\\").replace('.', r"\."))
}

/// The names of columns.
fn named(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let names = names.try_iter()?;
    names.map(|name| Ok(name?.str()?.to_string())).collect()
}

fn no_table(data: &Bound<'_, PyAny>, called: &str) -> PyErr {
    let kind = type_of(data);
    // What is called by one letter is one table.
    let are = if called.len() == 1 { "is" } else { "are" };
    PyTypeError::new_err(format!(
        "{called} {are} of type {kind}; give a data frame, an Arrow table, or a dict of columns"
    ))
}

/// The chunks of a column as one array.
fn joined(chunks: &Chunks) -> PyResult<ArrayRef> {
    match &*chunks.arrays {
        [] => Ok(new_null_array(&chunks.data_type, 0)),
        [array] => Ok(array.clone()),
        arrays => {
            let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
            arrow_select::concat::concat(&arrays).map_err(arrow_error)
        }
    }
}

/// An array of Python objects: integers, numbers, or strings, of which some may be None.
fn array_of(objects: &Bound<'_, PyTuple>, name: &str) -> PyResult<ArrayRef> {
    let values = || objects.iter_borrowed();
    if let Ok(integers) = values()
        .map(|value| value.extract())
        .collect::<PyResult<Vec<Option<i64>>>>()
    {
        return Ok(Arc::new(Int64Array::from(integers)));
    }
    if let Ok(numbers) = values()
        .map(|value| value.extract())
        .collect::<PyResult<Vec<Option<f64>>>>()
    {
        return Ok(Arc::new(Float64Array::from(numbers)));
    }
    let texts = values().enumerate().map(|(row, value)| {
        value.extract::<Option<String>>().or_else(|error| {
            // A date that is missing, as NaT of pandas, equals nothing.
            if value.ne(value)? {
                return Ok(None);
            }
            // Dates, and dates with a time.
            if let Ok(date) = value.call_method0("isoformat") {
                return date.extract().map(Some);
            }
            let wanted = format!("column {name:?} values that are all int, all float or all str");
            Err(no_text(value, row, &error, &wanted))
        })
    });
    let texts: Vec<Option<String>> = texts.collect::<PyResult<_>>()?;
    Ok(Arc::new(StringArray::from(texts)))
}
