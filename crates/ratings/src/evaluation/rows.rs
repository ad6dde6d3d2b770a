//! Reads the ids and entities of records, from files of any format.

use std::path::Path;

use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu_base::encoding::conversion;
use simgpu_io::{
    Chunk, Event, FieldPath, FilesReading, InputFile, LongestRecord, Reading, ValueField, Wanted,
    for_each_record,
};

/// An id, or the name of an entity.
#[derive(Debug)]
pub(super) struct IdText {
    pub(super) text: String,
    pub(super) is_integer: bool,
}

/// Where a record is.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPlace<'a> {
    pub(super) file: &'a InputFile,
    /// The number of the record in its file, from 0.
    pub(super) row: u64,
    /// Its line, if the format has lines.
    line: Option<u64>,
}

/// A record.
#[derive(Debug)]
pub(super) struct RecordRow<'a> {
    pub(super) place: RecordPlace<'a>,
    /// The values of the fields, in their order; `None` if one is missing, null or empty.
    values: Vec<Option<IdText>>,
    fields: &'a [ValueField],
}

impl RecordRow<'_> {
    /// The value of a field.
    pub(super) fn value(&self, field: usize) -> Option<&IdText> {
        self.values.get(field)?.as_ref()
    }

    /// The value of a field that each record has.
    pub(super) fn required(&self, field: usize) -> Result<&IdText> {
        self.value(field).ok_or_else(|| {
            let path = &self.fields[field].path;
            let parameter = self.fields[field].parameter;
            let problem = format!("field \"{path}\" is missing, null or empty");
            self.error(
                &problem,
                &format!("correct the record, or choose the field with `{parameter}`"),
            )
        })
    }

    /// The values of the first two fields, which each record has.
    pub(super) fn both(&self) -> Result<[&IdText; 2]> {
        Ok([self.required(0)?, self.required(1)?])
    }

    /// The error of a record that cannot be used.
    pub(super) fn error(&self, problem: &str, remedy: &str) -> Error {
        self.place.error(problem, remedy)
    }
}

impl RecordPlace<'_> {
    /// The error of a record that cannot be used.
    fn error(&self, problem: &str, remedy: &str) -> Error {
        let place = match self.line {
            Some(line) => format!("line {line}"),
            None => format!("row {}", self.row),
        };
        let file = &self.file.named;
        Error::Input {
            path: file.clone(),
            problem: format!("{place}: {problem}"),
            remedy: conversion(problem, file, remedy).unwrap_or_else(|| remedy.to_owned()),
        }
    }
}

/// A field of ids that a parameter names. A file without the column is refused.
pub(super) fn id_field(path: FieldPath, parameter: &'static str) -> ValueField {
    ValueField {
        path,
        parameter,
        hint: "",
        is_required: true,
    }
}

/// A record of a chunk, or what is wrong with it, after its line.
type Parsed = (
    Option<u64>,
    std::result::Result<Vec<Option<IdText>>, String>,
);

fn parse(chunk: &Chunk, fields: &[ValueField]) -> Vec<Parsed> {
    let mut rows = Vec::new();
    for_each_record(chunk, fields, &mut |line, values| {
        let values = values.and_then(|values| {
            let values = values.iter().zip(fields).map(|(value, field)| {
                let Some(value) = value else {
                    return Ok(None);
                };
                let (text, is_integer) = value.id_text().map_err(|what| {
                    format!(
                        "field \"{}\" is {what}, not a string or a number",
                        field.path
                    )
                })?;
                let text = text.into_owned();
                Ok(Some(IdText { text, is_integer }))
            });
            values.collect()
        });
        rows.push((line, values));
    });
    rows
}

/// How rows are read.
#[derive(Clone, Copy)]
pub(super) struct RowsReading<'a> {
    /// The folder for decompressed copies of tables, and of a stream.
    pub(super) temporary: &'a Path,
    pub(super) progress: &'a dyn Progress,
}

impl RowsReading<'_> {
    /// Calls `each` with the fields of every record, in order. Returns the number of records.
    pub(super) fn for_each(
        self,
        files: &[InputFile],
        fields: &[ValueField],
        mut each: impl FnMut(&RecordRow<'_>) -> Result<()>,
    ) -> Result<u64> {
        let stored = files.iter().map(InputFile::stored_bytes).sum();
        self.progress.begin("read", stored);
        let reading = FilesReading::new(
            files,
            Reading {
                temporary: Some(self.temporary),
                longest: LongestRecord::fixed(),
                ..Reading::new(Wanted::Values(fields))
            },
        )?;
        let (mut all, mut rows) = (0, vec![0; files.len()]);
        let mut bytes = 0;
        let parse = |chunk: Chunk| Ok((chunk.file, chunk.bytes(), parse(&chunk, fields)));
        reading.map(parse, |event| {
            if let Some(Event::Chunk((number, size, parsed))) = event {
                bytes += size as u64;
                for (line, values) in parsed {
                    let place = RecordPlace {
                        file: &files[number],
                        row: rows[number],
                        line,
                    };
                    rows[number] += 1;
                    all += 1;
                    let values =
                        values.map_err(|problem| place.error(&problem, "correct the record"))?;
                    each(&RecordRow {
                        place,
                        values,
                        fields,
                    })?;
                }
            }
            advance(self.progress, reading.consumed(), all, bytes)
        })?;
        Ok(all)
    }
}
