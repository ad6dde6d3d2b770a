//! Passages that repeat in texts. `simgpu/_passages.py` gives the result its shape.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::passages::{PassagesInMemory, TextPassage};
use simgpu_cli::commands::passages::PassageArguments;

use crate::errors::{OrRaise, of_run};
use crate::options::Options;
use crate::pool;
use crate::progress::Display;
use crate::table::PyTable;
use crate::texts::{Column, column_name};

/// The passages of texts, one per row. The options are those of `simgpu.passages`.
#[pyfunction]
pub(crate) fn passages_in_memory<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<PyTable> {
    let options = Options(options);
    let arguments = options.passages()?;
    let given = options.given("simgpu._passages", "passages", "passages")?;
    let checked = given.check(arguments.modes());
    checked.map_err(|error| of_run(py, error))?;
    let data = options.data()?;
    let column = column_name(&data, options.value("column")?.as_ref())?;
    let column = Column::new(&data, column.as_deref())?;
    let texts = column.texts()?;
    let search = PassagesInMemory::new(arguments.units())
        .occurrences(arguments.occurrences())
        .min_count(arguments.min_count.get())
        .other_documents(arguments.other_documents());
    let mut display = Display::new(options.value("progress")?)?;
    let found = pool::run(py, options.threads()?, &mut display, |progress| {
        Ok(search.find(&texts, progress))
    })?;
    table(&found.or_raise(py)?)
}

fn table(found: &[TextPassage]) -> PyResult<PyTable> {
    // A text is smaller than 2^32 bytes, and rows are fewer than bytes of memory.
    let column = |of: fn(&TextPassage) -> usize| -> ArrayRef {
        let values = found.iter().map(|passage| of(passage) as i64);
        Arc::new(values.collect::<Int64Array>())
    };
    let exact: BooleanArray = found.iter().map(|passage| Some(passage.exact)).collect();
    PyTable::new(vec![
        ("row", column(|passage| passage.row)),
        ("start", column(|passage| passage.bytes.start)),
        ("end", column(|passage| passage.bytes.end)),
        ("source_row", column(|passage| passage.source_row)),
        ("source_start", column(|passage| passage.source_bytes.start)),
        ("source_end", column(|passage| passage.source_bytes.end)),
        ("length", column(|passage| passage.length)),
        ("exact", Arc::new(exact)),
    ])
}

impl Options<'_> {
    /// What passages are.
    pub(crate) fn passages(&self) -> PyResult<PassageArguments> {
        Ok(PassageArguments {
            unit: self.choice("unit")?,
            min_length: self.optional("min_length", "a number of units, at least 1")?,
            occurrences: self.choice("occurrences")?,
            min_count: self.count("min_count")?,
            same_document: self.choice("same_document")?,
            bytes_equal: self.switch("bytes_equal")?,
            lowercase: self.switch("lowercase")?,
            strip_punctuation: self.switch("strip_punctuation")?,
            merge_whitespace: self.switch("merge_whitespace")?,
            mask_digits: self.switch("mask_digits")?,
        })
    }
}
