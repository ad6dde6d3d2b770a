//! Lists of tokens as a signer reads them: one by one, or some at a time.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::objects::no_text;
use crate::texts::Tokens;
use crate::tokens::{TOKENS, TokenList, is_string, token_of};

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
        each(Lists::Read(&Tokens::from_lists(&lists, first, weights)?))?;
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
