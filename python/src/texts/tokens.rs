//! Columns of lists of tokens.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray,
    LargeStringArray, StringArray, StringViewArray,
};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simgpu::documents::{Document, Documents};
use simgpu::pipeline::{Shingling, Weighting};

use crate::arrow::Chunks;
use crate::errors::{input_error, parameter_error};
use crate::tokens::{Digits, TokenList};

/// Refuses a SciPy matrix where tokens are counted: its rows are read as sets.
pub(crate) fn refuse_counts(data: &Bound<'_, PyAny>, shingling: &Shingling) -> PyResult<()> {
    if shingling.weighting != Weighting::Counts || !data.hasattr("tocsr")? {
        return Ok(());
    }
    let message = "count has no effect on a SciPy matrix, whose rows are sets of columns; give lists of tokens, or omit count";
    Err(parameter_error(data.py(), message))
}

/// The index of each row into the values of a dictionary; any number for a null.
pub(super) fn keys_of(dictionary: &dyn AnyDictionaryArray) -> Vec<usize> {
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
    pub(crate) fn from_lists(
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

    pub(super) fn from_arrow(chunks: &'a Chunks) -> PyResult<Self> {
        let mut first = 0;
        let mut read_chunk = |array: &'a ArrayRef| {
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
                _ => match Digits::from_array(values) {
                    Some(digits) => TokenBytes::Digits(digits),
                    None => TokenBytes::Borrowed(Bytes::of(values).ok_or_else(wrong)?),
                },
            };
            Ok(TokenChunk { rows, tokens })
        };
        let arrays = chunks.arrays.iter();
        let chunks = arrays.map(&mut read_chunk).collect::<PyResult<_>>()?;
        Ok(Tokens::new(chunks))
    }

    /// The bytes of all tokens of a document.
    pub(crate) fn bytes(&self, row: usize) -> usize {
        self.row_tokens(row).map(<[u8]>::len).sum()
    }

    fn row_tokens(&self, row: usize) -> impl Iterator<Item = &[u8]> {
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
                _ => Box::new(self.row_tokens(row)),
            });
        };
        let range = self.chunks[0].rows[row].clone();
        let weights = weights[range].iter().copied();
        Document::Weighted(Box::new(self.row_tokens(row).zip(weights)))
    }
}

/// The range of each row in the values of an array of lists, and the values. A null has an empty range, after that of
/// the row before it.
pub(super) fn lists_of(array: &ArrayRef) -> Option<(Vec<Range<usize>>, &ArrayRef)> {
    let offset = |offset: i64| usize::try_from(offset).unwrap_or(0);
    let (ranges, values): (Vec<Range<usize>>, _) = match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let bounds = lists.value_offsets().windows(2);
            let range = |bound: &[i32]| offset(bound[0].into())..offset(bound[1].into());
            (bounds.map(range).collect(), lists.values())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            let bounds = lists.value_offsets().windows(2);
            let range = |bound: &[i64]| offset(bound[0])..offset(bound[1]);
            (bounds.map(range).collect(), lists.values())
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
pub(super) fn refuse_nulls(
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
