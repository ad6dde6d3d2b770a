//! Links between the records of tables. `simgpu/_links.py` gives the result its shape.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simgpu::Error;
use simgpu_cli::arguments::FormatArguments;
use simgpu_cli::commands::link;
use simgpu_cli::outputs::ShownArguments;
use simgpu_io::FieldPath;
use simgpu_link::{ComparedField, Equivalents, LinkInMemory, RecordFields};

use crate::columns::{Frame, path};
use crate::errors::{OrRaise, input_error_at, parameter_error, run_error, to_python};
use crate::json;
use crate::options::{Options, process};
use crate::pool;
use crate::progress::Display;
use crate::table::PyTable;

/// The links, the entities of one table, the report, and the report as a page.
type LinkTables<'py> = (PyTable, Option<PyTable>, Bound<'py, PyAny>, String);

/// Links the records of one table or two. The options are those of `simgpu.link`.
#[pyfunction]
pub(crate) fn link_records<'py>(
    py: Python<'py>,
    options: Bound<'py, PyDict>,
) -> PyResult<LinkTables<'py>> {
    let options = Options(options);
    let has_two = options.value("b")?.is_some();
    let names = options.equal_names()?;
    let arguments = options.link_arguments(has_two, &names)?;
    let given = options.given("simgpu._links", "link", "link")?;
    let checked = given.check(arguments.modes());
    checked.map_err(|error| run_error(py, error))?;
    let mut task = arguments.task().map_err(|error| run_error(py, error))?;
    if let EqualNames::Sets(equivalents) = names {
        task.equivalents = equivalents;
    }
    let mut fields = arguments.compared().map_err(|error| run_error(py, error))?;
    let mut id = arguments
        .id_fields()
        .map_err(|error| run_error(py, error))?;
    // Columns of tables have whole names.
    let parts = fields
        .iter_mut()
        .flat_map(|field| field.a.iter_mut().chain(&mut field.b));
    for name in parts.chain([&mut id.a, &mut id.b]) {
        *name = path(&name.flat());
    }
    let names = |of: fn(&ComparedField) -> &Vec<FieldPath>| -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in fields.iter().flat_map(of).map(FieldPath::flat) {
            // Fields may share a part.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let records = &arguments.records;
    let needs_id = records.needs_id();
    let id_column = |name: &FieldPath| IdColumn {
        name: name.flat(),
        is_required: needs_id,
    };
    let a = options.records("a", &id_column(&id.a), &names(|field| &field.a))?;
    let b = has_two
        .then(|| options.records("b", &id_column(&id.b), &names(|field| &field.b)))
        .transpose()?;
    let fields = RecordFields {
        id,
        id_required: needs_id,
        ..RecordFields::new(fields)
    };
    let search = LinkInMemory {
        second: b.as_ref().map(|rows| &rows[..]),
        on_bad_record: records.bad.on_bad_record.resolve(),
        unique_ids: records.unique_ids,
        ..LinkInMemory::new(&a, fields)
    };
    let mut display = Display::new(options.value("progress")?)?;
    let found = pool::run(py, options.threads()?, &mut display, |progress| {
        Ok(search.find(&task, progress))
    })?;
    let found = found.map_err(|error| raised(py, error, has_two))?;
    let mut json = Vec::new();
    found.report.write_json(&mut json)?;
    let report = json::parsed(py, &json)?;
    let entities = found.entities.map(|rows| PyTable::from_batches(&[rows]));
    Ok((
        PyTable::from_batches(&[found.links])?,
        entities.transpose()?,
        report,
        found.report.page(),
    ))
}

/// The exception for an error about records: rows have no file.
fn raised(py: Python<'_>, error: Error, has_two: bool) -> PyErr {
    let place = |table: &std::path::Path, row: u64| {
        if has_two {
            format!("row {row} of {}", table.display())
        } else {
            format!("row {row}")
        }
    };
    match error {
        Error::BadRecord(bad) => {
            let remedy = "correct it, or pass on_bad_record=\"skip\" to leave out such rows";
            let place = place(&bad.file, bad.row);
            input_error_at(py, &place, bad.row, &bad.problem, remedy)
        }
        Error::NoGoodRecord(bad) => {
            let problem = format!("{}, and no row can be used", bad.problem);
            let remedy = "choose other columns by id and fields, or correct the rows";
            let place = place(&bad.file, bad.row);
            input_error_at(py, &place, bad.row, &problem, remedy)
        }
        error => to_python(py, error),
    }
}

impl<'py> Options<'py> {
    /// The fields to compare.
    pub(crate) fn fields(&self) -> PyResult<Vec<String>> {
        let fields = self.strings("fields")?;
        if fields.is_empty() {
            let message = "fields names no field; give one, or several";
            return Err(parameter_error(self.py(), message));
        }
        Ok(fields)
    }

    /// The arguments of the command for tables in memory, checked.
    fn link_arguments(&self, has_two: bool, names: &EqualNames) -> PyResult<link::LinkArguments> {
        let arguments = link::LinkArguments {
            a: PathBuf::from("a"),
            b: has_two.then(|| PathBuf::from("b")),
            fields: vec![link::FieldNames(self.fields()?)],
            output: None,
            overwrite: false,
            shown: ShownArguments::default(),
            format: FormatArguments::default(),
            records: self.record_arguments("id", "the name of a column, as a str")?,
            equivalents: match names {
                EqualNames::File(path) => Some(path.clone()),
                EqualNames::Sets(_) => None,
            },
            score: self.choice("score")?,
            matching: self.optional_choice("match")?,
            threshold: self.optional("threshold", "a number")?,
            share: self.optional("share", "a number above 0 and up to 1")?,
            process: process(),
            memory: self.record_memory()?,
        };
        Ok(arguments)
    }

    /// Equal names: the path of a file, or sets.
    fn equal_names(&self) -> PyResult<EqualNames> {
        let Some(value) = self.value("equivalents")? else {
            return Ok(EqualNames::Sets(Equivalents::default()));
        };
        if let Ok(path) = value.extract::<PathBuf>() {
            return Ok(EqualNames::File(path));
        }
        let wrong = || {
            PyTypeError::new_err(
                "equivalents are no sets of equal names; give the path of a file, or a list such as [[\"William\", \"Bill\"]]",
            )
        };
        let mut lines = String::new();
        for set in value.try_iter().map_err(|_| wrong())? {
            let set = set?;
            if set.is_instance_of::<PyString>() {
                return Err(wrong());
            }
            let names = set.try_iter().map_err(|_| wrong())?;
            let names = names.map(|name| name?.extract::<String>().map_err(|_| wrong()));
            let names: Vec<String> = names.collect::<PyResult<_>>()?;
            if let Some(name) = names.iter().find(|name| name.contains([',', '\n', '\r'])) {
                let message =
                    format!("equivalents have {name:?}, which is not one word; give single words");
                return Err(parameter_error(self.py(), message));
            }
            // The blank keeps a first name that begins with # from being a comment.
            lines.push(' ');
            lines.push_str(&names.join(","));
            lines.push('\n');
        }
        let equivalents = Equivalents::parse(&lines).or_raise(self.py())?;
        Ok(EqualNames::Sets(equivalents))
    }

    /// The columns of a table that are needed: the id column, if it is there or required, and these fields.
    fn records(
        &self,
        name: &'static str,
        id: &IdColumn,
        fields: &[String],
    ) -> PyResult<[RecordBatch; 1]> {
        let records: Bound<'_, PyAny> = self.required(name, "a data frame")?;
        if records.extract::<PathBuf>().is_ok() {
            let message = format!("{name} is a path; for files, call simgpu.link_files");
            return Err(PyTypeError::new_err(message));
        }
        let frame = Frame::new(&records, name)?;
        let mut columns: Vec<(&str, &str)> = Vec::new();
        let is_id = |known: &String| *known == id.name;
        if id.is_required || frame.names().iter().any(is_id) {
            columns.push(("id", &id.name));
        }
        let compared = fields.iter().filter(|field| {
            let is_taken = !columns.is_empty() && is_id(field);
            !is_taken
        });
        let compared: Vec<(&str, &str)> = compared.map(|field| ("fields", &**field)).collect();
        columns.extend(compared);
        Ok([frame.columns(&columns)?])
    }
}

/// The column of ids.
struct IdColumn {
    name: String,
    is_required: bool,
}

/// Equal names.
enum EqualNames {
    File(PathBuf),
    Sets(Equivalents),
}
