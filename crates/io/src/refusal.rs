//! Why an input is refused: what is wrong with it, and what to do.

use std::fmt::Display;
use std::path::Path;

use simgpu::error::Error;
use simgpu_base::encoding::conversion;

/// A reason to refuse an input, found where its name is not known.
#[derive(Debug)]
pub(super) struct Refusal {
    problem: String,
    remedy: String,
}

impl Refusal {
    pub(super) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Refusal {
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The same with another remedy.
    pub(super) fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Refusal::new(self.problem, remedy)
    }

    /// The refusal of a table without a column, as that of one without any of these.
    pub(super) fn naming_columns(self, paths: &[impl Display]) -> Self {
        let one = paths.first().map(|path| any_of("column", &[path]));
        let problem = one.map(|one| self.problem.replacen(&one, &any_of("column", paths), 1));
        Refusal {
            problem: problem.unwrap_or(self.problem),
            ..self
        }
    }

    /// The refusal of a file that lacks fields of the text, of which no `input`, as messages call each, has those of `names`.
    pub(super) fn in_none(self, input: &str, names: &[impl Display]) -> Self {
        let listed = self.problem.split_once("; its ");
        let listed = listed.map_or(String::new(), |(_, listed)| {
            format!("; of this file, the {listed}")
        });
        Refusal::new(
            format!(
                "no {input} has {}{listed}",
                any_of("a column or field", names)
            ),
            format!("give `text_field` names that some {input} has"),
        )
    }

    /// The same with more to do.
    pub(super) fn with_hint(mut self, hint: &str) -> Self {
        self.remedy.push_str(hint);
        self
    }

    /// The error for the file of this name. If the problem names its encoding, the remedy is to convert it.
    pub(super) fn for_file(self, path: &Path) -> Error {
        Error::Input {
            path: path.to_owned(),
            remedy: conversion(&self.problem, path, &self.remedy).unwrap_or(self.remedy),
            problem: self.problem,
        }
    }
}

/// Names of fields of which none is there, for messages.
pub(super) fn any_of(kind: &str, names: &[impl Display]) -> String {
    let names = names.iter().map(|name| format!("\"{name}\""));
    format!("{kind} {}", names.collect::<Vec<_>>().join(" or "))
}

/// What else a parameter of a column can do if other files have other columns, for messages.
pub(super) fn several(parameter: &str) -> &'static str {
    match parameter {
        "text_field" => {
            "; if files have different columns, pass it once for each, all of which must be in some file"
        }
        "id_field" => {
            "; it must be in every file: if another has it and this one does not, rename the column in this one, or leave the option out"
        }
        "fields" | "keep_by" | "source_field" => ", or give all files the same names of columns",
        _ => "",
    }
}

/// The names of columns or fields, for messages.
#[doc(hidden)]
pub fn listed(kind: &str, names: &[String]) -> String {
    const LISTED: usize = 20;
    let shown = names.iter().take(LISTED).map(|name| format!("{name:?}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => format!("it has no {kind}s"),
        1 => format!("its {kind} is {shown}"),
        more if more > LISTED => format!("its {kind}s are {shown} and others"),
        _ => format!("its {kind}s are {shown}"),
    }
}
