//! Snapshots of lists of tokens, and integers as tokens.

use std::fmt::{Display, Write as _};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyList, PyString, PyTuple};

use crate::texts::{TOKENS, Tokens, list_of_tokens, no_text, token_of};

/// Tokens of Python that are read at a time where they cannot be passed on one by one, so that their objects, which lie
/// scattered in memory, stay in the first-level cache until they are hashed.
///
/// On an Intel Xeon of 2.6 GHz with AVX-512, all of signing takes 26 ns per word if its objects are passed on one by one,
/// and 28 ns per shingle of five words; it took 41 and 47 ns when 4096 were read before the first was hashed. Of this,
/// signing takes 6 ns, and reading 13, which is all that PyO3 needs; the same calls on bare pointers take 9 and 10.
const BLOCK: usize = 1 << 9;

/// Lists of tokens, in the order of their rows.
pub(crate) enum Lists<'a, 'py> {
    /// That of one row, which begins with a `str` or `bytes`.
    Strings(&'a Bound<'py, PyList>, usize),
    /// Those of some rows, of any kind.
    Read(&'a Tokens<'a>),
}

/// Calls `each` with all lists of tokens. Without `singly`, all lists are read before they are passed on.
pub(crate) fn for_each_lists(
    rows: &Bound<'_, PyTuple>,
    singly: bool,
    mut each: impl FnMut(Lists<'_, '_>) -> PyResult<()>,
) -> PyResult<()> {
    let strings = |row| if singly { list_of_strings(row) } else { None };
    let mut rows_left = rows.iter_borrowed().enumerate().peekable();
    while let Some((first, row)) = rows_left.peek().copied() {
        rows.py().check_signals()?;
        if let Some(list) = strings(row) {
            each(Lists::Strings(&list, first))?;
            rows_left.next();
            continue;
        }
        let (mut lists, mut weights, mut tokens) = (Vec::new(), None, 0);
        while tokens < BLOCK
            && let Some((row, list)) = rows_left.next_if(|(_, row)| strings(*row).is_none())
        {
            let list = TokenList::new(list, row, &mut weights)?;
            tokens += list.len();
            lists.push(list);
        }
        each(Lists::Read(&Tokens::of_lists(&lists, first, weights)?))?;
    }
    Ok(())
}

/// The list of a row, if it begins with a `str` or `bytes`.
fn list_of_strings<'a, 'py>(row: Borrowed<'a, 'py, PyAny>) -> Option<Borrowed<'a, 'py, PyList>> {
    let list = row.cast_exact::<PyList>().ok()?;
    let first = list.iter().next()?;
    is_string(first.as_borrowed()).then_some(list)
}

/// Passes the bytes of the tokens of a row on. No Python code runs meanwhile that could change the list.
pub(crate) fn pass_strings(
    list: &Bound<'_, PyList>,
    row: usize,
    pass: &mut dyn FnMut(&[u8]),
) -> PyResult<()> {
    for token in list.iter() {
        match token.cast_exact::<PyString>() {
            Ok(text) => match text.to_str() {
                Ok(text) => pass(text.as_bytes()),
                Err(error) => return Err(no_text(token.as_borrowed(), row, &error, TOKENS)),
            },
            Err(_) => pass(token_of(token.as_borrowed(), row)?),
        }
    }
    Ok(())
}

/// A snapshot of a list of tokens.
pub(crate) enum TokenList<'py> {
    /// Of `str` or `bytes`, which are borrowed.
    Objects(Bound<'py, PyTuple>),
    /// Of integers.
    Digits(Digits),
}

impl<'py> TokenList<'py> {
    /// Takes a snapshot of a row. Appends the weights of a dict to `weights`.
    pub(crate) fn new(
        tokens: Borrowed<'_, 'py, PyAny>,
        row: usize,
        weights: &mut Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let tokens = list_of_tokens(tokens, row, weights)?;
        match tokens.iter_borrowed().next() {
            Some(first) if is_number(first)? => {
                Digits::of_numbers(&tokens, row).map(TokenList::Digits)
            }
            _ => Ok(TokenList::Objects(tokens)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            TokenList::Objects(tokens) => tokens.len(),
            TokenList::Digits(digits) => digits.ends.len(),
        }
    }

    /// Appends the bytes of the tokens.
    pub(crate) fn push_to<'a>(&'a self, row: usize, slices: &mut Vec<&'a [u8]>) -> PyResult<()> {
        match self {
            TokenList::Objects(tokens) => {
                for token in tokens.iter_borrowed() {
                    slices.push(token_of(token, row)?);
                }
            }
            TokenList::Digits(digits) => slices.extend(digits.iter()),
        }
        Ok(())
    }
}

/// The decimal digits of integers.
#[derive(Default)]
pub(crate) struct Digits {
    text: String,
    /// Where the digits of each integer end.
    ends: Vec<usize>,
}

impl Digits {
    fn push(&mut self, number: impl Display) {
        // Writing to a string never fails.
        let _ = write!(self.text, "{number}");
        self.ends.push(self.text.len());
    }

    /// Those of Python's integers, of any size, or of numpy's.
    fn of_numbers(numbers: &Bound<'_, PyTuple>, row: usize) -> PyResult<Self> {
        let mut digits = Digits::default();
        for number in numbers.iter_borrowed() {
            if !is_number(number)? {
                let kind = number.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "row {row} has integers and a token of type {kind}; give tokens that are all str or bytes, or all int"
                )));
            }
            match number.extract::<i64>() {
                Ok(number) => digits.push(number),
                Err(_) => digits.push(number.str()?.to_str()?),
            }
        }
        Ok(digits)
    }

    /// Those of an Arrow array; `None` if it has no integers.
    pub(crate) fn of_array(array: &ArrayRef) -> Option<Self> {
        let mut digits = Digits::default();
        macro_rules! push {
            ($type:ty) => {{
                let values = array.as_primitive::<$type>().values();
                values.iter().for_each(|number| digits.push(number));
            }};
        }
        match array.data_type() {
            DataType::Int8 => push!(Int8Type),
            DataType::Int16 => push!(Int16Type),
            DataType::Int32 => push!(Int32Type),
            DataType::Int64 => push!(Int64Type),
            DataType::UInt8 => push!(UInt8Type),
            DataType::UInt16 => push!(UInt16Type),
            DataType::UInt32 => push!(UInt32Type),
            DataType::UInt64 => push!(UInt64Type),
            _ => return None,
        }
        Some(digits)
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let start = match index {
            0 => 0,
            _ => self.ends[index - 1],
        };
        &self.text.as_bytes()[start..self.ends[index]]
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| self.get(index))
    }
}

fn is_string(token: Borrowed<'_, '_, PyAny>) -> bool {
    token.is_exact_instance_of::<PyString>() || token.is_exact_instance_of::<PyBytes>()
}

/// Whether a token is an integer, of Python or of numpy. A truth value is none.
fn is_number(token: Borrowed<'_, '_, PyAny>) -> PyResult<bool> {
    if is_string(token) {
        return Ok(false);
    }
    Ok(token.cast_exact::<PyInt>().is_ok()
        || !token.is_instance_of::<PyBool>() && token.hasattr(intern!(token.py(), "__index__"))?)
}
