//! Documents as Python gives them: what is taken in, and what borrows it.
//!
//! A [`Column`] keeps the memory of documents alive. Texts, tokens and hashes are borrowed from it where they lie.
//!
//! Texts are read where they lie, the UTF-8 of Python's strings and the buffers of Arrow's columns: a column costs 16
//! bytes per row, not its text. A token id is the token of its decimal digits, as in files, so that ids and their
//! texts have one signature.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, BinaryArray, BinaryViewArray, Int64Array,
    LargeBinaryArray, LargeListArray, LargeStringArray, StringArray, StringViewArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};
use simgpu::documents::{Document, Documents};
use simgpu::pipeline::{Shingling, Weighting};
use simgpu::scheme::Hashes;

use crate::arguments::{optional_argument, type_of};
use crate::arrow::{Chunks, import};
use crate::errors::{input_error, parameter_error};
use crate::objects::{is_from, is_missing, no_text, snapshot};
use crate::tokens::{Digits, TokenList};

/// What messages call documents.
const DOCUMENTS: &str = "documents";

/// The rows from one on that are worked on at a time: those of about so many bytes of text, one at least.
pub(crate) fn part_from(
    documents: &dyn Documents,
    first: usize,
    most_bytes: usize,
) -> Range<usize> {
    let (mut end, mut bytes) = (first, 0);
    while end < documents.len() && bytes < most_bytes {
        bytes += documents.get(end).bytes();
        end += 1;
    }
    first..end
}

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
            return of_matrix(data).map(Column::Arrow);
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
                Tokens::of_lists(lists, 0, weights)
            }
            Column::Arrow(chunks) => Tokens::of_arrow(chunks),
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
fn of_matrix(matrix: &Bound<'_, PyAny>) -> PyResult<Chunks> {
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

/// Refuses a SciPy matrix where tokens are counted: its rows are read as sets.
pub(crate) fn refuse_counts(data: &Bound<'_, PyAny>, shingling: &Shingling) -> PyResult<()> {
    if shingling.weighting != Weighting::Counts || !data.hasattr("tocsr")? {
        return Ok(());
    }
    let message = "count has no effect on a SciPy matrix, whose rows are sets of columns; give lists of tokens, or omit count";
    Err(parameter_error(data.py(), message))
}

/// What to give instead of a list.
const TEXT_OR_TOKENS: &str = "texts, or shingling=\"tokens\" for lists of tokens";

/// The text of an object.
fn text_of<'a>(object: Borrowed<'a, '_, PyAny>, row: usize) -> PyResult<&'a str> {
    match object.extract::<&str>() {
        Ok(text) => Ok(text),
        Err(_) if is_missing(object) => Ok(""),
        Err(error) => {
            let is_list = !object.is_instance_of::<PyBytes>() && object.hasattr("__len__")?;
            let wanted = if is_list { TEXT_OR_TOKENS } else { "a str" };
            Err(no_text(object, row, &error, wanted))
        }
    }
}

/// Appends the texts of an Arrow array.
fn push_texts<'a>(array: &'a ArrayRef, texts: &mut Vec<&'a str>) -> PyResult<()> {
    let first = texts.len();
    match array.data_type() {
        DataType::Null => texts.resize(first + array.len(), ""),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut values = Vec::with_capacity(dictionary.values().len());
            push_texts(dictionary.values(), &mut values)?;
            let keys = keys_of(dictionary);
            let of_row = keys
                .iter()
                .enumerate()
                .map(|(row, key)| if array.is_null(row) { "" } else { values[*key] });
            texts.extend(of_row);
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>().iter();
            texts.extend(values.map(Option::unwrap_or_default));
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>().iter();
            texts.extend(values.map(Option::unwrap_or_default));
        }
        DataType::Utf8View => {
            let values = array.as_string_view().iter();
            texts.extend(values.map(Option::unwrap_or_default));
        }
        data_type => {
            let Some(bytes) = Bytes::of(array) else {
                let wanted = match lists_of(array) {
                    Some(_) => TEXT_OR_TOKENS,
                    None => "strings",
                };
                return Err(PyTypeError::new_err(format!(
                    "documents have the Arrow type {data_type}; give {wanted}"
                )));
            };
            for row in 0..array.len() {
                let bytes: &[u8] = if array.is_null(row) {
                    b""
                } else {
                    bytes.value(row)
                };
                let text = std::str::from_utf8(bytes);
                texts.push(text.map_err(|_| not_utf8(first + row))?);
            }
        }
    }
    Ok(())
}

/// The error of a row that is no text.
fn not_utf8(row: usize) -> PyErr {
    let (problem, remedy) = ("binary data that is not UTF-8", "give valid UTF-8");
    Python::attach(|py| input_error(py, row as u64, problem, remedy))
}

/// The index of each row into the values of a dictionary; any number for a null.
fn keys_of(dictionary: &dyn AnyDictionaryArray) -> Vec<usize> {
    if dictionary.values().is_empty() {
        vec![0; dictionary.len()]
    } else {
        dictionary.normalized_keys()
    }
}

/// Strings or binaries, by index.
pub(crate) enum Bytes<'a> {
    Slices(Vec<&'a [u8]>),
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    Dictionary(Vec<usize>, Box<Bytes<'a>>),
}

impl<'a> Bytes<'a> {
    /// The values of an array of strings or binaries; `None` if it is of another type.
    pub(crate) fn of(array: &'a ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Bytes::Utf8(array.as_string()),
            DataType::LargeUtf8 => Bytes::LargeUtf8(array.as_string()),
            DataType::Utf8View => Bytes::Utf8View(array.as_string_view()),
            DataType::Binary => Bytes::Binary(array.as_binary()),
            DataType::LargeBinary => Bytes::LargeBinary(array.as_binary()),
            DataType::BinaryView => Bytes::BinaryView(array.as_binary_view()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = Bytes::of(dictionary.values())?;
                Bytes::Dictionary(keys_of(dictionary), Box::new(values))
            }
            _ => return None,
        })
    }

    pub(crate) fn value(&self, index: usize) -> &'a [u8] {
        match self {
            Bytes::Slices(slices) => slices[index],
            Bytes::Utf8(array) => array.value(index).as_bytes(),
            Bytes::LargeUtf8(array) => array.value(index).as_bytes(),
            Bytes::Utf8View(array) => array.value(index).as_bytes(),
            Bytes::Binary(array) => array.value(index),
            Bytes::LargeBinary(array) => array.value(index),
            Bytes::BinaryView(array) => array.value(index),
            Bytes::Dictionary(keys, values) => values.value(keys[index]),
        }
    }
}

/// Lists of tokens, borrowed.
pub(crate) struct Tokens<'a> {
    chunks: Vec<TokenChunk<'a>>,
    /// The first row of each chunk, then the number of rows.
    starts: Vec<usize>,
    /// The weights of all tokens, which are one chunk then.
    weights: Option<Vec<f64>>,
}

struct TokenChunk<'a> {
    /// The tokens of each row.
    rows: Vec<Range<usize>>,
    tokens: TokenBytes<'a>,
}

enum TokenBytes<'a> {
    Borrowed(Bytes<'a>),
    Digits(Digits),
}

impl TokenBytes<'_> {
    fn value(&self, index: usize) -> &[u8] {
        match self {
            TokenBytes::Borrowed(bytes) => bytes.value(index),
            TokenBytes::Digits(digits) => digits.get(index),
        }
    }
}

impl<'a> Tokens<'a> {
    fn new(chunks: Vec<TokenChunk<'a>>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for chunk in &chunks {
            end += chunk.rows.len();
            starts.push(end);
        }
        Tokens {
            chunks,
            starts,
            weights: None,
        }
    }

    /// The same tokens with these weights, if there are any.
    fn weighted(self, weights: Option<Vec<f64>>) -> PyResult<Self> {
        let ends = self.chunks.iter().filter_map(|chunk| chunk.rows.last());
        let tokens: usize = ends.map(|last| last.end).sum();
        if weights
            .as_ref()
            .is_some_and(|weights| weights.len() != tokens)
        {
            return Err(PyTypeError::new_err(
                "some documents are dicts of weights and others lists of tokens; give dicts for all, or for none",
            ));
        }
        Ok(Tokens { weights, ..self })
    }

    /// The tokens of lists, of which `first` is the row of the first, with the weights of dicts.
    pub(crate) fn of_lists(
        lists: &'a [TokenList<'_>],
        first: usize,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let mut tokens = Vec::with_capacity(lists.iter().map(TokenList::len).sum());
        let mut rows = Vec::with_capacity(lists.len());
        for (row, list) in lists.iter().enumerate() {
            let start = tokens.len();
            list.push_to(first + row, &mut tokens)?;
            rows.push(start..tokens.len());
        }
        let tokens = TokenBytes::Borrowed(Bytes::Slices(tokens));
        Tokens::new(vec![TokenChunk { rows, tokens }]).weighted(weights)
    }

    fn of_arrow(chunks: &'a Chunks) -> PyResult<Self> {
        let mut first = 0;
        let mut of_chunk = |array: &'a ArrayRef| {
            let wrong = || {
                PyTypeError::new_err(format!(
                    "documents have the Arrow type {}; give lists of strings, binaries or integers",
                    array.data_type()
                ))
            };
            let (rows, values) = lists_of(array).ok_or_else(wrong)?;
            refuse_nulls(&rows, values, first, "a token that is null")?;
            first += rows.len();
            let tokens = match values.data_type() {
                // Such lists are empty or null.
                DataType::Null => TokenBytes::Borrowed(Bytes::Slices(Vec::new())),
                _ => match Digits::of_array(values) {
                    Some(digits) => TokenBytes::Digits(digits),
                    None => TokenBytes::Borrowed(Bytes::of(values).ok_or_else(wrong)?),
                },
            };
            Ok(TokenChunk { rows, tokens })
        };
        let arrays = chunks.arrays.iter();
        let chunks = arrays.map(&mut of_chunk).collect::<PyResult<_>>()?;
        Ok(Tokens::new(chunks))
    }

    /// The bytes of all tokens of a document.
    pub(crate) fn bytes(&self, row: usize) -> usize {
        self.of_row(row).map(<[u8]>::len).sum()
    }

    fn of_row(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let (tokens, range) = self.range(row);
        range.map(|index| tokens.value(index))
    }

    /// All tokens of a chunk, and which of them a row has.
    fn range(&self, row: usize) -> (&TokenBytes<'a>, Range<usize>) {
        let chunk = self.starts.partition_point(|start| *start <= row) - 1;
        let tokens = &self.chunks[chunk];
        let range = tokens.rows[row - self.starts[chunk]].clone();
        (&tokens.tokens, range)
    }
}

impl Documents for Tokens<'_> {
    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn get(&self, row: usize) -> Document<'_> {
        let Some(weights) = &self.weights else {
            return Document::Tokens(match self.range(row) {
                (TokenBytes::Borrowed(Bytes::Slices(all)), range) => {
                    Box::new(all[range].iter().copied())
                }
                _ => Box::new(self.of_row(row)),
            });
        };
        let range = self.chunks[0].rows[row].clone();
        let weights = weights[range].iter().copied();
        Document::Weighted(Box::new(self.of_row(row).zip(weights)))
    }
}

/// Consecutive sets of hashes, borrowed: set i is `offsets[i]..offsets[i + 1]` of `hashes`.
pub(crate) struct Sets<'a> {
    pub(crate) hashes: Hashes<'a>,
    pub(crate) offsets: Vec<usize>,
}

impl Sets<'_> {
    /// Number of sets.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of hashes in all sets.
    pub(crate) fn hash_count(&self) -> usize {
        self.offsets[self.len()] - self.offsets[0]
    }
}

/// Appends the sets of an Arrow array of lists of hashes.
fn push_sets<'a>(array: &'a ArrayRef, sets: &mut Vec<Sets<'a>>) -> PyResult<()> {
    let wrong = || {
        PyTypeError::new_err(format!(
            "documents have the Arrow type {}; give lists of uint32 or uint64",
            array.data_type()
        ))
    };
    let (rows, values) = lists_of(array).ok_or_else(wrong)?;
    let hashes = match values.data_type() {
        DataType::UInt32 => Hashes::U32(values.as_primitive::<UInt32Type>().values()),
        DataType::UInt64 => Hashes::U64(values.as_primitive::<UInt64Type>().values()),
        _ => return Err(wrong()),
    };
    let first = sets.iter().map(Sets::len).sum();
    refuse_nulls(&rows, values, first, "a hash that is null")?;
    let mut offsets: Vec<usize> = Vec::with_capacity(rows.len() + 1);
    for row in rows {
        match offsets.last() {
            Some(end) if *end == row.start => {}
            // Values that no row has, as those of a null may be, end a run of sets.
            Some(_) => {
                let offsets = std::mem::replace(&mut offsets, vec![row.start]);
                sets.push(Sets { hashes, offsets });
            }
            None => offsets.push(row.start),
        }
        offsets.push(row.end);
    }
    if !offsets.is_empty() {
        sets.push(Sets { hashes, offsets });
    }
    Ok(())
}

/// The range of each row in the values of an array of lists, and the values. A null has an empty range, after that of
/// the row before it.
fn lists_of(array: &ArrayRef) -> Option<(Vec<Range<usize>>, &ArrayRef)> {
    let offset = |offset: i64| usize::try_from(offset).unwrap_or(0);
    let (ranges, values): (Vec<Range<usize>>, _) = match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let bounds = lists.value_offsets().windows(2);
            let of_row = |bound: &[i32]| offset(bound[0].into())..offset(bound[1].into());
            (bounds.map(of_row).collect(), lists.values())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            let bounds = lists.value_offsets().windows(2);
            let of_row = |bound: &[i64]| offset(bound[0])..offset(bound[1]);
            (bounds.map(of_row).collect(), lists.values())
        }
        DataType::FixedSizeList(_, size) => {
            let lists = array.as_fixed_size_list();
            let size = offset((*size).into());
            let rows = 0..lists.len();
            (
                rows.map(|row| row * size..(row + 1) * size).collect(),
                lists.values(),
            )
        }
        _ => return None,
    };
    if array.null_count() == 0 {
        return Some((ranges, values));
    }
    let mut end = ranges.first().map_or(0, |range| range.start);
    let ranges = ranges.into_iter().enumerate().map(|(row, range)| {
        let range = if array.is_null(row) { end..end } else { range };
        end = range.end;
        range
    });
    Some((ranges.collect(), values))
}

/// Refuses lists with null items. `first` is the row of the first list.
fn refuse_nulls(
    rows: &[Range<usize>],
    values: &ArrayRef,
    first: usize,
    problem: &str,
) -> PyResult<()> {
    if values.null_count() == 0 {
        return Ok(());
    }
    let has_null = |range: &Range<usize>| range.clone().any(|index| values.is_null(index));
    match rows.iter().position(has_null) {
        None => Ok(()),
        Some(row) => Err(Python::attach(|py| {
            input_error(py, (first + row) as u64, problem, "leave it out")
        })),
    }
}
