//! A column of documents, in whatever Python holds it.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, LargeListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};

use super::DOCUMENTS;
use super::sets::{Sets, push_sets};
use super::strings::{push_texts, text_of};
use super::tokens::Tokens;
use crate::arguments::{optional_argument, type_of};
use crate::arrow::{Chunks, import};
use crate::errors::parameter_error;
use crate::objects::{is_from, snapshot};
use crate::tokens::TokenList;

/// Documents, one per row.
pub(crate) enum Column<'py> {
    /// Python objects. A tuple, because a list can change while it is read.
    Objects(Bound<'py, PyTuple>),
    /// An Arrow column.
    Arrow(Chunks),
}

impl<'py> Column<'py> {
    /// The documents of `data`, or of a column of it.
    pub(crate) fn new(data: &Bound<'py, PyAny>, column: Option<&str>) -> PyResult<Self> {
        Column::called(DOCUMENTS, data, column)
    }

    /// The same for what messages call otherwise.
    pub(crate) fn called(
        called: &str,
        data: &Bound<'py, PyAny>,
        column: Option<&str>,
    ) -> PyResult<Self> {
        refuse_single(called, data)?;
        if data.hasattr("tocsr")? {
            return matrix_chunks(data).map(Column::Arrow);
        }
        let selected = match column {
            Some(column) => Some(select(data, column)?),
            None if data.is_instance_of::<PyDict>() => return Err(no_column(called)),
            None if is_pandas_frame(data)? => Some(only_column(data)?),
            None => as_table(data)?,
        };
        let data = selected.as_ref().unwrap_or(data);
        let imported = match import(data, column) {
            // Pandas needs pyarrow for its Arrow interface.
            Err(error) if error.is_instance_of::<PyImportError>(data.py()) => None,
            imported => imported?,
        };
        match imported {
            Some(chunks) => Ok(Column::Arrow(chunks)),
            None => snapshot(called, data).map(Column::Objects),
        }
    }

    /// The texts. A row that is null has the empty text, which has no shingle.
    pub(crate) fn texts(&self) -> PyResult<Vec<&str>> {
        match self {
            Column::Objects(objects) => {
                let texts = objects.iter_borrowed().enumerate();
                texts.map(|(row, text)| text_of(text, row)).collect()
            }
            Column::Arrow(chunks) => {
                let mut texts = Vec::with_capacity(rows(chunks));
                for array in &chunks.arrays {
                    push_texts(array, &mut texts)?;
                }
                Ok(texts)
            }
        }
    }

    /// The lists of tokens, whose snapshots go to `lists`. A row that is null has no token. Rows that are dicts have
    /// weighted tokens. An integer is the token of its decimal digits, as in files.
    pub(crate) fn tokens<'a>(&'a self, lists: &'a mut Vec<TokenList<'py>>) -> PyResult<Tokens<'a>> {
        match self {
            Column::Objects(objects) => {
                let mut weights = None;
                for (row, tokens) in objects.iter_borrowed().enumerate() {
                    lists.push(TokenList::new(tokens, row, &mut weights)?);
                }
                Tokens::from_lists(lists, 0, weights)
            }
            Column::Arrow(chunks) => Tokens::from_arrow(chunks),
        }
    }

    /// The sets of hashes of an Arrow column of lists; `None` for Python objects.
    pub(crate) fn hashes(&self) -> PyResult<Option<Vec<Sets<'_>>>> {
        let Column::Arrow(chunks) = self else {
            return Ok(None);
        };
        let mut sets = Vec::new();
        for array in &chunks.arrays {
            push_sets(array, &mut sets)?;
        }
        Ok(Some(sets))
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Column::Objects(objects) => objects.len(),
            Column::Arrow(chunks) => rows(chunks),
        }
    }
}

fn rows(chunks: &Chunks) -> usize {
    chunks.arrays.iter().map(|array| array.len()).sum()
}

/// Refuses what would be read as a sequence of characters, of bytes or of keys, or in no order.
fn refuse_single(called: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
    let remedy = if data.is_instance_of::<PyString>() {
        "a list of str, such as [text]"
    } else if data.is_instance_of::<PyBytes>() || data.is_instance_of::<PyByteArray>() {
        "a list of str, such as [data.decode()]"
    } else if data.is_instance_of::<PySet>() || data.is_instance_of::<PyFrozenSet>() {
        "a list, because rows need an order"
    } else if is_from(data, "polars") && data.hasattr("collect")? {
        "a DataFrame, as collect() makes it"
    } else if is_from(data, "pyspark") && data.hasattr("toPandas")? {
        "them to simgpu.spark, or a DataFrame of pandas, as toPandas() makes it"
    } else if is_from(data, "numpy") && data.getattr("ndim").is_ok_and(|n| n.eq(0).unwrap_or(false))
    {
        // Its only value would be read as a sequence.
        "a list of values; this array has no dimension, and so a single value"
    } else {
        return Ok(());
    };
    let kind = type_of(data);
    Err(PyTypeError::new_err(format!(
        "{called} are of type {kind}; give {remedy}"
    )))
}

/// Whether an object is a data frame of pandas.
pub(crate) fn is_pandas_frame(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_from(data, "pandas") && data.hasattr("columns")? && data.hasattr("iloc")?)
}

/// The name of a column, which pandas may call by anything.
pub(crate) fn column_name(
    data: &Bound<'_, PyAny>,
    column: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<String>> {
    match column {
        Some(label) if is_pandas_frame(data)? => Ok(Some(label.str()?.to_string())),
        column => optional_argument(column, "column", "the name of a column, as a str"),
    }
}

/// The only column of a data frame of pandas. Its Arrow interface would add the index as a column.
fn only_column<'py>(frame: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let labels = labels_of(frame)?;
    match labels.as_slice() {
        [_] => column_at(frame, 0),
        _ => Err(several_columns(&labels)),
    }
}

/// The error of a table of which no column is chosen.
pub(crate) fn several_columns(names: &[String]) -> PyErr {
    let names = names.join(", ");
    PyTypeError::new_err(format!(
        "the table has several columns; give column=, one of {names}"
    ))
}

/// The labels of the columns of a data frame of pandas, as text.
fn labels_of(frame: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let labels = frame.getattr("columns")?.try_iter()?;
    labels.map(|label| Ok(label?.str()?.to_string())).collect()
}

/// The values of a named level of a pandas index.
fn index_level<'py>(frame: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let index = frame.getattr("index")?;
    for (level, known) in index.getattr("names")?.try_iter()?.enumerate() {
        let known = known?;
        if !known.is_none() && known.str()?.to_str()? == name {
            return index.call_method1("get_level_values", (level,)).map(Some);
        }
    }
    Ok(None)
}

/// Whether a data frame of pandas has a level of its index with this name.
pub(crate) fn has_index_level(data: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    Ok(is_pandas_frame(data)? && index_level(data, name)?.is_some())
}

fn column_at<'py>(frame: &Bound<'py, PyAny>, index: usize) -> PyResult<Bound<'py, PyAny>> {
    let all = pyo3::types::PySlice::full(frame.py());
    frame.getattr("iloc")?.get_item((all, index))
}

/// The column numbers of the nonzero values in each row of a SciPy matrix, as lists.
fn matrix_chunks(matrix: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let options = PyDict::new(matrix.py());
    options.set_item("copy", true)?;
    let matrix = matrix.call_method("tocsr", (), Some(&options))?;
    matrix.call_method0("sum_duplicates")?;
    matrix.call_method0("eliminate_zeros")?;
    let numbers = |name| -> PyResult<Vec<i64>> {
        let array = matrix.getattr(name)?.call_method1("astype", ("int64",))?;
        Ok(array.cast::<PyArray1<i64>>()?.to_vec()?)
    };
    let (columns, ends) = (numbers("indices")?, numbers("indptr")?);
    let count = i64::try_from(columns.len())?;
    let is_sound = ends.first() == Some(&0) && ends.is_sorted() && ends.last() <= Some(&count);
    if !is_sound {
        let message = "the matrix has an indptr that does not ascend from 0 to the number of its indices; make it again";
        return Err(parameter_error(matrix.py(), message));
    }
    let columns: ArrayRef = Arc::new(Int64Array::from(columns));
    let ends = OffsetBuffer::new(ends.into());
    let item = Arc::new(Field::new("item", DataType::Int64, false));
    let rows: ArrayRef = Arc::new(LargeListArray::new(item, ends, columns, None));
    Ok(Chunks {
        data_type: rows.data_type().clone(),
        arrays: vec![rows],
    })
}

/// The error of a dict of columns of which none is chosen.
fn no_column(called: &str) -> PyErr {
    let remedy = match called {
        DOCUMENTS => "give column= too, or one of its columns",
        _ => "give one of its columns",
    };
    PyTypeError::new_err(format!("{called} are a dict; {remedy}"))
}

/// The Arrow table of a `datasets.Dataset`, or of a relation of an older DuckDB, which have no Arrow interface of their own.
pub(crate) fn as_table<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_relation = is_from(data, "duckdb") && data.hasattr("fetch_arrow_table")?;
    if is_relation && !data.hasattr("__arrow_c_stream__")? {
        return data.call_method0("fetch_arrow_table").map(Some);
    }
    // Several of them are a dict.
    let is_dict = data.is_instance_of::<PyDict>();
    if is_dict || !is_from(data, "datasets") || !data.hasattr("with_format")? {
        return Ok(None);
    }
    let dataset = data.call_method1("with_format", ("arrow",))?;
    let everything = pyo3::types::PySlice::full(data.py());
    dataset.get_item(everything).map(Some)
}

/// The column of a table. Objects that only have an Arrow interface are returned whole: [`import`] selects.
fn select<'py>(data: &Bound<'py, PyAny>, column: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    if data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() {
        return Err(PyTypeError::new_err(
            "column applies to tables, not to lists; give the list of the column's values, and omit column",
        ));
    }
    if is_pandas_frame(data)? {
        let labels = labels_of(data)?;
        let mut found = (0..).zip(&labels).filter(|(_, label)| *label == column);
        return match (found.next(), found.next()) {
            (Some((index, _)), None) => column_at(data, index),
            (Some(_), Some(_)) => {
                let message = format!(
                    "column {column:?} occurs several times; give the table columns of different names"
                );
                Err(parameter_error(py, message))
            }
            (None, _) => match index_level(data, column)? {
                Some(level) => Ok(level),
                None => {
                    let names = labels.join(", ");
                    let message = format!("no column {column:?}; give one of {names}");
                    Err(parameter_error(py, message))
                }
            },
        };
    }
    let table = as_table(data)?;
    let data = table.as_ref().unwrap_or(data);
    let is_mapping = data.hasattr("__getitem__")?;
    if !is_mapping {
        return Ok(data.clone());
    }
    data.get_item(column).map_err(|error| {
        let is_missing = error.is_instance_of::<pyo3::exceptions::PyLookupError>(py);
        if !is_missing && !data.hasattr("__arrow_c_stream__").unwrap_or(false) {
            return error;
        }
        let names = names_of(data).unwrap_or_else(|| "its columns".to_owned());
        let message = format!("no column {column:?}; give one of {names}");
        parameter_error(py, message)
    })
}

/// The names of the columns of a table, or the keys of a dict.
fn names_of(data: &Bound<'_, PyAny>) -> Option<String> {
    let names = match data.cast::<PyDict>() {
        Ok(columns) => columns.keys().into_any(),
        Err(_) => {
            let names = data.getattr("column_names");
            names.or_else(|_| data.getattr("columns")).ok()?
        }
    };
    let names: Vec<String> = names.extract().ok()?;
    Some(names.join(", "))
}
