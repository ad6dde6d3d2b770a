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
use pyo3::types::{PyBool, PyBytes, PyInt, PyString, PyTuple};

use crate::texts::{Tokens, list_of_tokens, token_of};

/// Tokens of Python that are read at a time, so that their objects, which lie scattered in memory, stay in the cache until
/// they are hashed. All of signing takes 27 ns per word so, and 34 ns per shingle of five words; it took 57 and 75 ns when
/// all tokens were read before the first was hashed. Reading alone takes 14 and 17 ns, of which PyO3 needs 9 and 15.
const BLOCK: usize = 1 << 12;

/// Calls `each` with the lists of tokens in blocks of consecutive rows.
pub(crate) fn for_each_block(
    rows: &Bound<'_, PyTuple>,
    mut each: impl FnMut(&Tokens<'_>) -> PyResult<()>,
) -> PyResult<()> {
    let mut rows_left = rows.iter_borrowed().enumerate().peekable();
    while let Some((first, _)) = rows_left.peek().copied() {
        rows.py().check_signals()?;
        let (mut lists, mut weights, mut tokens) = (Vec::new(), None, 0);
        while tokens < BLOCK
            && let Some((row, list)) = rows_left.next()
        {
            let list = TokenList::new(list, row, &mut weights)?;
            tokens += list.len();
            lists.push(list);
        }
        each(&Tokens::of_lists(&lists, first, weights)?)?;
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

/// Whether a token is an integer, of Python or of numpy. A truth value is none.
fn is_number(token: Borrowed<'_, '_, PyAny>) -> PyResult<bool> {
    if token.cast_exact::<PyString>().is_ok() || token.cast_exact::<PyBytes>().is_ok() {
        return Ok(false);
    }
    Ok(token.cast_exact::<PyInt>().is_ok()
        || !token.is_instance_of::<PyBool>() && token.hasattr(intern!(token.py(), "__index__"))?)
}
