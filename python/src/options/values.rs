//! Values of options by name.

use clap::ValueEnum;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simgpu::Error;
use simgpu_cli::options::Given;

use crate::arguments::{argument, refuse_open_file, refused};
use crate::errors::OrRaise;

/// The options of a call. Python functions pass all of theirs, with their defaults.
pub(crate) struct Options<'py>(pub(crate) Bound<'py, PyDict>);

impl<'py> Options<'py> {
    pub(crate) fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// The options that are not at the defaults of `function`, or of a method such as `Contain.__init__`, under their names in
    /// the command.
    pub(crate) fn given(&self, module: &str, function: &str, command: &str) -> PyResult<Given> {
        let module = self.py().import(module)?.into_any();
        let mut names = function.split('.');
        let function = names.try_fold(module, |of, name| of.getattr(name))?;
        let defaults = function.getattr("__kwdefaults__")?.cast_into::<PyDict>()?;
        let mut given = Vec::new();
        for (name, default) in defaults {
            let name: String = name.extract()?;
            let Some(value) = self.value(&name)? else {
                continue;
            };
            let is_given = match (default.is_none(), default.is_truthy()?) {
                (true, _) => true,
                // False, or no names.
                (false, false) => value.is_truthy()?,
                (false, true) => !value.eq(&default)?,
            };
            if is_given {
                given.push(match &*name {
                    "as_" => "as".to_owned(),
                    "resume" => "restart".to_owned(),
                    _ => name,
                });
            }
        }
        Ok(Given::new(command, given))
    }

    /// The value of an option; `None` if it was left out.
    pub(crate) fn value(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.get_item(name)?;
        Ok(value.filter(|value| !value.is_none()))
    }

    /// The value of an option. `expected` says which ones are accepted.
    pub(crate) fn optional<T>(&self, name: &str, expected: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.value(name)? else {
            return Ok(None);
        };
        argument(&value, name, expected).map(Some)
    }

    /// The value of an option that is never left out.
    pub(crate) fn required<T>(&self, name: &str, expected: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = self.optional(name, expected)?;
        value.ok_or_else(|| PyTypeError::new_err(format!("{name} is None; give {expected}")))
    }

    pub(crate) fn switch(&self, name: &str) -> PyResult<bool> {
        self.required(name, "True or False")
    }

    /// A name that the command knows, too.
    pub(crate) fn optional_choice<T: ValueEnum>(&self, name: &'static str) -> PyResult<Option<T>> {
        let Some(chosen) = self.optional::<String>(name, "a name, as a str")? else {
            return Ok(None);
        };
        choice_of(self.py(), name, chosen).map(Some)
    }

    pub(crate) fn choice<T: ValueEnum>(&self, name: &'static str) -> PyResult<T> {
        let chosen = self.optional_choice(name)?;
        chosen.ok_or_else(|| PyTypeError::new_err(format!("{name} is None; give a name, as a str")))
    }

    /// One name that the command knows, or several.
    pub(crate) fn choices<T: ValueEnum>(&self, name: &'static str) -> PyResult<Vec<T>> {
        let chosen = self.strings(name)?.into_iter();
        chosen
            .map(|chosen| choice_of(self.py(), name, chosen))
            .collect()
    }

    /// One string, or several.
    pub(crate) fn strings(&self, name: &str) -> PyResult<Vec<String>> {
        let expected = "a str, or several";
        let Some(value) = self.value(name)? else {
            return Ok(Vec::new());
        };
        if value.is_instance_of::<PyString>() {
            return Ok(vec![value.extract()?]);
        }
        refuse_open_file(&value, name)?;
        let strings = value.try_iter().and_then(|items| {
            let strings = items.map(|item| item?.extract::<String>());
            strings.collect::<PyResult<_>>()
        });
        strings.map_err(|error| refused(&value, name, expected, error))
    }
}

/// The value that the command calls `chosen`.
pub(crate) fn choice_of<T: ValueEnum>(
    py: Python<'_>,
    what: &'static str,
    chosen: String,
) -> PyResult<T> {
    let found = T::from_str(&chosen, false).map_err(|_| {
        let variants = T::value_variants().iter();
        let known = variants.filter_map(T::to_possible_value);
        let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        Error::UnknownName {
            what,
            name: chosen,
            known: known.join(", "),
        }
    });
    found.or_raise(py)
}

pub(crate) const MIB: &str = "a number of MiB, at least 1";
