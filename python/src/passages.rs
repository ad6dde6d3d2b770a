//! Passages that repeat in texts. `simgpu/_passages.py` gives the result its shape.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu_cli::commands::passages::{PassageArguments, PassageUnitArgument, SnapArgument};
use simgpu_cli::options::Mode;
use simgpu_passages::{PassagesInMemory, TextPassage};

use crate::beside::{SidedIds, SidedRow};
use crate::errors::{OrRaise, run_error};
use crate::memory::ReferenceDocuments;
use crate::options::Options;
use crate::pool;
use crate::progress::Display;
use crate::table::PyTable;
use crate::texts::Column;

/// The passages of texts, one per row, and the texts without them if they are asked for. The options are those of
/// `simgpu.passages`.
#[pyfunction]
pub(crate) fn passages_in_memory<'py>(options: Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let options = Options(options);
    let py = options.py();
    let arguments = options.passages()?;
    let given = options.given("simgpu._passages", "passages", "passages")?;
    let only_against = options.switch("only_against")?;
    let checked = given.check(&modes(&options, &arguments, only_against)?);
    checked.map_err(|error| run_error(py, error))?;
    let snap: SnapArgument = options.choice("snap")?;
    let snap = options.switch("cut")?.then(|| snap.snap());
    let data = options.data()?;
    let (documents, beside) = options.documents(&data)?;
    let reference = options.reference()?;
    let search = PassagesInMemory {
        occurrences: arguments.occurrences(),
        min_count: arguments.min_count.get(),
        other_documents: arguments.other_documents(),
        only_against,
        ..PassagesInMemory::new(arguments.units())
    };
    let mut display = Display::new(options.value("progress")?)?;
    let threads = options.threads()?;
    let found = if arguments.unit == PassageUnitArgument::Tokens {
        let (mut lists, mut reference_lists) = (Vec::new(), Vec::new());
        let tokens = documents.tokens(&mut lists)?;
        let reference = reference.as_ref();
        let reference = reference.map(|reference| reference.tokens(py, &mut reference_lists));
        let reference = reference.transpose()?;
        pool::run(py, threads, &mut display, |progress| {
            Ok(search.find_against(&tokens, reference.as_ref(), progress))
        })?
    } else {
        let texts = documents.texts()?;
        let reference = reference.as_ref();
        let reference = reference.map(|reference| reference.texts(py));
        let reference = reference.transpose()?;
        pool::run(py, threads, &mut display, |progress| {
            Ok(search.find_against(&texts[..], reference.as_deref(), progress))
        })?
    };
    let found = found.or_raise(py)?;
    let texts = snap.map(|snap| found.cut(snap)).transpose().or_raise(py)?;
    let parts = PyDict::new(py);
    let ids = beside.sided_ids(reference.as_ref().and_then(ReferenceDocuments::ids));
    let has_reference = reference.is_some();
    parts.set_item("table", table(&found.passages, ids, has_reference)?)?;
    parts.set_item("texts", texts)?;
    parts.set_item(
        "counts",
        counts(py, &found.passages, &documents, reference.as_ref())?,
    )?;
    Ok(parts)
}

/// The modes that the options lead to.
fn modes(
    options: &Options<'_>,
    arguments: &PassageArguments,
    only_against: bool,
) -> PyResult<Vec<Mode>> {
    let mut modes = arguments.modes().to_vec();
    if options.value("against")?.is_none() {
        modes.push(Mode::NoReference);
    }
    if only_against {
        modes.push(Mode::OnlyReference);
    }
    if !options.switch("cut")? {
        modes.push(Mode::PassagesUncut);
    }
    Ok(modes)
}

/// The counts of documents and pieces, as `report.json` of the command names them.
fn counts<'py>(
    py: Python<'py>,
    found: &[TextPassage],
    documents: &Column<'_>,
    reference: Option<&ReferenceDocuments<'_>>,
) -> PyResult<Bound<'py, PyDict>> {
    let counts = PyDict::new(py);
    let number = |is_counted: fn(&&TextPassage) -> bool| found.iter().filter(is_counted).count();
    counts.set_item("records", documents.len())?;
    if let Some(reference) = reference {
        counts.set_item("reference", reference.documents.len())?;
    }
    // Pieces come in the order of rows.
    let covered = found.chunk_by(|a, b| a.row == b.row).count();
    counts.set_item("covered_documents", covered)?;
    counts.set_item("pieces", found.len())?;
    let is_within = |of: &&TextPassage| !of.in_reference && of.row == of.source_row;
    counts.set_item("within_document", number(is_within))?;
    if reference.is_some() {
        counts.set_item("from_reference", number(|of| of.in_reference))?;
    }
    counts.set_item("inexact", number(|of| !of.exact))?;
    Ok(counts)
}

fn table(
    found: &[TextPassage],
    ids: Option<SidedIds<'_>>,
    has_reference: bool,
) -> PyResult<PyTable> {
    // A text is smaller than 2^32 bytes, and rows are fewer than bytes of memory.
    let column = |of: fn(&TextPassage) -> usize| -> ArrayRef {
        let values = found.iter().map(|passage| of(passage) as i64);
        Arc::new(values.collect::<Int64Array>())
    };
    let source_rows = |in_reference: bool| -> ArrayRef {
        let of = |passage: &TextPassage| {
            let row = passage.source_row as i64;
            (passage.in_reference == in_reference).then_some(row)
        };
        Arc::new(found.iter().map(of).collect::<Int64Array>())
    };
    let exact: BooleanArray = found.iter().map(|passage| Some(passage.exact)).collect();
    let mut columns = vec![
        ("row", column(|passage| passage.row)),
        ("start", column(|passage| passage.bytes.start)),
        ("end", column(|passage| passage.bytes.end)),
        ("source_row", source_rows(false)),
        ("source_start", column(|passage| passage.source_bytes.start)),
        ("source_end", column(|passage| passage.source_bytes.end)),
        ("length", column(|passage| passage.length)),
        ("exact", Arc::new(exact)),
    ];
    if has_reference {
        columns.push(("reference", source_rows(true)));
    }
    if let Some(ids) = ids {
        // Rows of texts in memory fit.
        let row = |row: usize| u32::try_from(row).ok();
        let rows = found.iter().map(|passage| row(passage.row));
        columns.push(("id", ids.documents.take_or_null(rows)));
        let sources = found.iter().map(|passage| {
            let source = row(passage.source_row)?;
            Some(if passage.in_reference {
                SidedRow::Reference(source)
            } else {
                SidedRow::Document(source)
            })
        });
        columns.push(("source_id", ids.take_or_null(sources)));
    }
    PyTable::new(columns)
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
