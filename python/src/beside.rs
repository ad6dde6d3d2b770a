//! What a search in memory is given: the documents, and beside them ids, and values that decide which documents are kept.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use simgpu::error::Conflict;
use simgpu::pipeline::KeepPolicy;
use simgpu::progress::Progress;
use simgpu::search::Dedup;
use simgpu_files::keep_classes;
use simgpu_io::KeepBy;

use crate::arguments::type_of;
use crate::arrow::arrow_error;
use crate::columns::{Frame, array_of_column, path};
use crate::errors::{OrRaise, input_error, parameter_error};
use crate::options::Options;
use crate::texts::{Column, column_name, several_columns};

/// What stands beside documents, row by row.
pub(crate) struct Beside {
    pub(crate) ids: Option<Ids>,
    preferred: Option<Preferred>,
}

impl Beside {
    /// The ids, and those of the documents that others are compared with. `None` without ids.
    pub(crate) fn sided_ids<'a>(&'a self, reference: Option<&'a Ids>) -> Option<SidedIds<'a>> {
        let documents = self.ids.as_ref()?;
        Some(SidedIds {
            documents,
            reference,
        })
    }

    /// The values that decide which documents are kept. Refuses another way to decide it beside them.
    pub(crate) fn preferred(&self, py: Python<'_>, task: &Dedup) -> PyResult<Option<&Preferred>> {
        if self.preferred.is_some() && task.keep == KeepPolicy::Longest {
            return Err(Conflict::KeepTwice.into()).or_raise(py);
        }
        Ok(self.preferred.as_ref())
    }
}

/// The values of `keep_by`.
pub(crate) struct Preferred {
    by: KeepBy,
    values: RecordBatch,
}

impl Preferred {
    fn new(name: &str, smallest: bool, values: ArrayRef) -> PyResult<Self> {
        let values = RecordBatch::try_from_iter_with_nullable([(name, values, true)]);
        Ok(Preferred {
            by: KeepBy {
                field: path(name),
                smallest,
            },
            values: values.map_err(arrow_error)?,
        })
    }

    /// The class of each document.
    pub(crate) fn classes(
        preferred: Option<&Self>,
        progress: &dyn Progress,
    ) -> simgpu::Result<Option<Vec<u64>>> {
        let classes =
            preferred.map(|preferred| keep_classes(&preferred.by, &preferred.values, progress));
        classes.transpose()
    }
}

/// The column that `keep_by` names, and whether the smallest value is kept.
fn column_to_keep_by(named: &str) -> (&str, bool) {
    let descending = named.strip_suffix(":desc").unwrap_or(named);
    match named.strip_suffix(":asc") {
        Some(column) => (column, true),
        None => (descending, false),
    }
}

impl<'py> Options<'py> {
    /// What is searched.
    pub(crate) fn data(&self) -> PyResult<Bound<'py, PyAny>> {
        self.required(
            "data",
            "a list of str, a Series, an Arrow array, or a table and column=",
        )
    }

    /// The documents, and what stands beside them. A table is read once: to read a query again may give other rows.
    pub(crate) fn documents(&self, data: &Bound<'py, PyAny>) -> PyResult<(Column<'py>, Beside)> {
        let py = self.py();
        let column = column_name(data, self.value("column")?.as_ref())?;
        let (id, keep_by) = (self.named_column("id")?, self.named_column("keep_by")?);
        let keep_by = keep_by.as_deref().map(column_to_keep_by);
        let parameter = match (&id, keep_by) {
            (Some(_), _) => "id",
            (None, Some(_)) => "keep_by",
            (None, None) => {
                let documents = Column::new(data, column.as_deref())?;
                let beside = self.beside(documents.len())?;
                return Ok((documents, beside));
            }
        };
        let frame = Frame::new(data, "data").map_err(|error| {
            if !error.is_instance_of::<PyTypeError>(py) {
                return error;
            }
            PyTypeError::new_err(format!(
                "{parameter} names a column, but data are of type {}, which has none; give a table, or one value per document as {parameter}",
                type_of(data)
            ))
        })?;
        let column = match column {
            Some(column) => column,
            None => frame.only_beside([id.as_deref(), keep_by.map(|(name, _)| name)])?,
        };
        let documents = frame.take("column", &column)?;
        let mut beside = self.beside(documents.len())?;
        if let Some(name) = &id {
            let ids = frame.take("id", name)?;
            check_length(py, "id", ids.len(), documents.len())?;
            beside.ids = Some(Ids::from_column(py, &ids)?);
        }
        if let Some((name, smallest)) = keep_by {
            let values = frame.array("keep_by", name)?;
            check_length(py, "keep_by", values.len(), documents.len())?;
            beside.preferred = Some(Preferred::new(name, smallest, values)?);
        }
        Ok((documents, beside))
    }

    /// What stands beside signatures, which have no columns.
    pub(crate) fn beside_signatures(&self, rows: usize) -> PyResult<Beside> {
        for name in ["column", "id", "keep_by"] {
            let is_name = self.named_column(name)?.is_some();
            if is_name || (name == "column" && self.value(name)?.is_some()) {
                let message = format!(
                    "{name} names a column, but Signatures have none; give one value per row, or omit it"
                );
                return Err(parameter_error(self.py(), message));
            }
        }
        self.beside(rows)
    }

    /// The name of a column, if the option is one.
    pub(crate) fn named_column(&self, name: &str) -> PyResult<Option<String>> {
        let value = self.value(name)?;
        let named = value.filter(|value| value.is_instance_of::<PyString>());
        named.map(|value| value.extract()).transpose()
    }

    /// The ids and values that are given as sequences.
    fn beside(&self, documents: usize) -> PyResult<Beside> {
        let py = self.py();
        let sequence = |name: &str| -> PyResult<Option<Column<'py>>> {
            if self.named_column(name)?.is_some() {
                return Ok(None);
            }
            let Some(values) = self.value(name)? else {
                return Ok(None);
            };
            let column = Column::called(&format!("the values of {name}"), &values, None)?;
            check_length(py, name, column.len(), documents)?;
            Ok(Some(column))
        };
        let ids = sequence("id")?.map(|column| Ids::from_column(py, &column));
        let preferred = sequence("keep_by")?.map(|column| {
            let name = "keep_by";
            Preferred::new(name, false, array_of_column(&column, name)?)
        });
        Ok(Beside {
            ids: ids.transpose()?,
            preferred: preferred.transpose()?,
        })
    }
}

impl<'py> Frame<'py> {
    /// The only column beside these.
    pub(crate) fn only_beside(&self, others: [Option<&str>; 2]) -> PyResult<String> {
        let names = self.names().iter();
        let rest = names.filter(|name| !others.contains(&Some(name.as_str())));
        let rest: Vec<String> = rest.cloned().collect();
        match rest.as_slice() {
            [name] => Ok(name.clone()),
            [] => Err(several_columns(self.names())),
            _ => Err(several_columns(&rest)),
        }
    }
}

pub(crate) fn check_length(
    py: Python<'_>,
    name: &str,
    values: usize,
    documents: usize,
) -> PyResult<()> {
    if values == documents {
        return Ok(());
    }
    let message =
        format!("{name} has {values} values for {documents} documents; give one per document");
    Err(parameter_error(py, message))
}

/// The ids of documents or of users.
pub(crate) enum Ids {
    Numbers(Vec<i64>),
    Strings(Vec<String>),
}

impl Ids {
    /// The ids in a column, one per row.
    pub(crate) fn from_column(py: Python<'_>, column: &Column<'_>) -> PyResult<Self> {
        match column {
            Column::Objects(objects) => Ids::from_objects(objects),
            Column::Arrow(chunks) => {
                if let Some(row) = first_null(&chunks.arrays) {
                    return Err(missing_id(py, row));
                }
                match integers(&chunks.arrays) {
                    Some(numbers) => Ok(Ids::Numbers(numbers)),
                    None => {
                        let texts = column.texts().map_err(|error| {
                            if !error.is_instance_of::<PyTypeError>(py) {
                                return error;
                            }
                            PyTypeError::new_err(format!(
                                "ids have the Arrow type {}; give integers below 2**63, or strings",
                                chunks.data_type
                            ))
                        })?;
                        Ok(Ids::Strings(texts.into_iter().map(str::to_owned).collect()))
                    }
                }
            }
        }
    }

    /// Integers if all are, else strings.
    fn from_objects(objects: &Bound<'_, PyTuple>) -> PyResult<Self> {
        if let Some(row) = objects.iter_borrowed().position(|id| id.is_none()) {
            return Err(missing_id(objects.py(), row));
        }
        let numbers: PyResult<_> = objects.iter_borrowed().map(|id| id.extract()).collect();
        if let Ok(numbers) = numbers {
            return Ok(Ids::Numbers(numbers));
        }
        let strings = objects.iter_borrowed().enumerate().map(|(row, id)| {
            id.extract::<String>().map_err(|_| {
                let kind = type_of(&id);
                PyTypeError::new_err(format!(
                    "the id of row {row} is of type {kind}; give ids that are all int or all str"
                ))
            })
        });
        Ok(Ids::Strings(strings.collect::<PyResult<_>>()?))
    }

    /// The number of ids.
    pub(crate) fn len(&self) -> usize {
        match self {
            Ids::Numbers(ids) => ids.len(),
            Ids::Strings(ids) => ids.len(),
        }
    }

    /// All of them as JSON.
    pub(crate) fn json(&self) -> Vec<String> {
        match self {
            Ids::Numbers(ids) => ids.iter().map(i64::to_string).collect(),
            Ids::Strings(ids) => {
                let ids = ids.iter().map(|id| serde_json::Value::from(&**id));
                ids.map(|id| id.to_string()).collect()
            }
        }
    }

    /// The ids of these rows.
    pub(crate) fn take(&self, rows: impl Iterator<Item = u32>) -> ArrayRef {
        self.take_or_null(rows.map(Some))
    }

    /// The ids of these rows; null where there is none.
    pub(crate) fn take_or_null(&self, rows: impl Iterator<Item = Option<u32>>) -> ArrayRef {
        match self {
            Ids::Numbers(ids) => {
                let ids = rows.map(|row| Some(ids[row? as usize]));
                Arc::new(ids.collect::<Int64Array>())
            }
            Ids::Strings(ids) => {
                let ids = rows.map(|row| Some(&ids[row? as usize]));
                Arc::new(ids.collect::<StringArray>())
            }
        }
    }
}

/// The ids of documents, and of those that they are compared with.
#[derive(Clone, Copy)]
pub(crate) struct SidedIds<'a> {
    pub(crate) documents: &'a Ids,
    pub(crate) reference: Option<&'a Ids>,
}

/// A row of documents, or of those that they are compared with.
#[derive(Clone, Copy)]
pub(crate) enum SidedRow {
    Document(u32),
    Reference(u32),
}

impl SidedIds<'_> {
    /// The ids of these rows; null where there is none. They are strings if those of one side are.
    pub(crate) fn take_or_null(self, rows: impl Iterator<Item = Option<SidedRow>>) -> ArrayRef {
        let place = |row: Option<SidedRow>| match row? {
            SidedRow::Document(row) => Some((self.documents, row as usize)),
            SidedRow::Reference(row) => Some((self.reference?, row as usize)),
        };
        let all_numbers = [Some(self.documents), self.reference]
            .iter()
            .flatten()
            .all(|ids| matches!(ids, Ids::Numbers(_)));
        if all_numbers {
            let ids = rows.map(|row| match place(row)? {
                (Ids::Numbers(ids), row) => Some(ids[row]),
                (Ids::Strings(_), _) => None,
            });
            return Arc::new(ids.collect::<Int64Array>());
        }
        let ids = rows.map(|row| {
            let (ids, row) = place(row)?;
            Some(match ids {
                Ids::Numbers(ids) => ids[row].to_string(),
                Ids::Strings(ids) => ids[row].clone(),
            })
        });
        Arc::new(ids.collect::<StringArray>())
    }
}

fn missing_id(py: Python<'_>, row: usize) -> PyErr {
    input_error(
        py,
        row as u64,
        "an id that is missing",
        "give every row an id",
    )
}

fn first_null(arrays: &[ArrayRef]) -> Option<usize> {
    let mut first = 0;
    for array in arrays {
        if array.null_count() > 0 {
            return (0..array.len())
                .find(|row| array.is_null(*row))
                .map(|row| first + row);
        }
        first += array.len();
    }
    None
}

/// The values of arrays of integers; `None` if they are of another type, or exceed 63 bits.
pub(crate) fn integers(arrays: &[ArrayRef]) -> Option<Vec<i64>> {
    macro_rules! push {
        ($array:expr, $numbers:expr, $kind:ty) => {
            for value in $array.as_primitive::<$kind>().values() {
                $numbers.push(i64::try_from(*value).ok()?);
            }
        };
    }
    let mut numbers = Vec::new();
    for array in arrays {
        match array.data_type() {
            DataType::Int8 => push!(array, numbers, Int8Type),
            DataType::Int16 => push!(array, numbers, Int16Type),
            DataType::Int32 => push!(array, numbers, Int32Type),
            DataType::Int64 => push!(array, numbers, Int64Type),
            DataType::UInt8 => push!(array, numbers, UInt8Type),
            DataType::UInt16 => push!(array, numbers, UInt16Type),
            DataType::UInt32 => push!(array, numbers, UInt32Type),
            DataType::UInt64 => push!(array, numbers, UInt64Type),
            _ => return None,
        }
    }
    Some(numbers)
}
