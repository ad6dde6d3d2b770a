//! Which files are read, and how their records are.

use std::path::PathBuf;

use pyo3::prelude::*;
use simgpu_cli::arguments::{
    AgainstArguments, BadRecordArguments, FormatArguments, InputArguments, RecordArguments,
    SelectionArguments, delimiter, quote,
};

use super::values::Options;
use crate::arguments::{refuse_open_file, refused};
use crate::errors::parameter_error;

impl<'py> Options<'py> {
    /// One path, or several.
    pub(crate) fn paths(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        let paths = self.paths_or_none(name)?;
        if paths.is_empty() {
            let message = format!("{name} is empty; give a path, or several");
            return Err(parameter_error(self.py(), message));
        }
        Ok(paths)
    }

    /// One path, several, or none.
    fn paths_or_none(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        let expected = "a path, or several";
        let value: Bound<'_, PyAny> = self.required(name, expected)?;
        let paths = match value.extract::<PathBuf>() {
            Ok(path) => vec![path],
            Err(_) => {
                refuse_open_file(&value, name)?;
                let items = value.try_iter().and_then(|items| {
                    let paths = items.map(|item| item?.extract::<PathBuf>());
                    paths.collect::<PyResult<_>>()
                });
                items.map_err(|error| refused(&value, name, expected, error))?
            }
        };
        for path in &paths {
            self.refuse_stream(name, path)?;
        }
        Ok(paths)
    }

    /// What the inputs are compared with.
    pub(crate) fn against(&self) -> PyResult<AgainstArguments> {
        Ok(AgainstArguments {
            against: self.paths_or_none("against")?,
            against_text_field: self.strings("against_text_field")?,
            against_id_field: self.optional("against_id_field", "the name of a field, as a str")?,
        })
    }

    /// A path, if there is one.
    pub(crate) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        let path: Option<PathBuf> = self.optional(name, "a path")?;
        if let Some(path) = &path {
            self.refuse_stream(name, path)?;
        }
        Ok(path)
    }

    /// The command's name for stdin and stdout, which belong to the Python program.
    fn refuse_stream(&self, name: &str, path: &std::path::Path) -> PyResult<()> {
        if path.as_os_str() != "-" {
            return Ok(());
        }
        let message = format!("{name} is \"-\"; give the path of a file (\"./-\" is one)");
        Err(parameter_error(self.py(), message))
    }

    /// The fields of the text, of which there is one at least.
    pub(crate) fn text_field(&self) -> PyResult<Vec<String>> {
        let text_field = self.strings("text_field")?;
        if text_field.is_empty() {
            let message = "text_field names no field; give one, or several";
            return Err(parameter_error(self.py(), message));
        }
        Ok(text_field)
    }

    pub(crate) fn input(&self) -> PyResult<InputArguments> {
        let text_field = self.text_field()?;
        Ok(InputArguments {
            inputs: self.paths("inputs")?,
            format: self.format()?,
            hidden: self.switch("hidden")?,
            text_field,
            tokens_field: self.optional("tokens_field", "the name of a field, as a str")?,
            weights_field: self.optional("weights_field", "the name of a field, as a str")?,
            weights: self.optional_choice("weights")?,
            weight_scale: self.optional("weight_scale", "a power of two")?,
            records: self.record_arguments("id_field", "the name of a field, as a str")?,
            selection: self.selection()?,
        })
    }

    /// Which files and records are read.
    pub(crate) fn selection(&self) -> PyResult<SelectionArguments> {
        Ok(SelectionArguments {
            limit: self.optional("limit", "a number of records, at least 1")?,
            include: self.strings("include")?,
            exclude: self.strings("exclude")?,
        })
    }

    /// The ids of records, which the option `id` names, and what is done with bad records.
    pub(crate) fn record_arguments(&self, id: &str, expected: &str) -> PyResult<RecordArguments> {
        Ok(RecordArguments {
            id_field: self.optional(id, expected)?,
            unique_ids: self.switch("unique_ids")?,
            bad: BadRecordArguments {
                on_bad_record: self.choice("on_bad_record")?,
            },
        })
    }

    /// How to read input files.
    pub(crate) fn format(&self) -> PyResult<FormatArguments> {
        Ok(FormatArguments {
            format: self.choice("format")?,
            delimiter: self.parsed("delimiter", "one character", delimiter)?,
            quote: self.parsed("quote", "one character, or \"none\"", quote)?,
        })
    }

    /// The value of an option that the command parses from a text. `parse` returns the remedy for another one.
    fn parsed<T>(
        &self,
        name: &str,
        expected: &str,
        parse: fn(&str) -> Result<T, String>,
    ) -> PyResult<Option<T>> {
        let text: Option<String> = self.optional(name, expected)?;
        let parsed = text.map(|text| {
            parse(&text).map_err(|remedy| {
                let message = format!("{name} is {text:?}; {remedy}");
                parameter_error(self.py(), message)
            })
        });
        parsed.transpose()
    }
}
