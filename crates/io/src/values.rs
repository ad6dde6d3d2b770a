//! The values of the field that decides which document of a cluster is kept, and their order.
//!
//! Values are kept as text until all are known, 8 bytes and the text each, because only the whole column shows whether
//! they are numbers, dates or strings. On disk, they go with their documents to the parts, and each part orders its
//! own: what all of them are is known by then. Numbers are compared as decimals, since an `f64` would confuse
//! neighbouring integers of 64 bits. In the end each document has one number: the place of its source and of its value
//! in the order of preference.

mod keep_by;

mod times;

use std::path::Path;

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use rayon::prelude::*;

use super::chunk::{Chunk, Contents};
use super::columns::{Column, Scalar, column};
use super::decimal::Decimal;
use super::fields::FieldPath;
use super::jsonl;
use simgpu::clock::in_parallel;
use simgpu::error::{self, Error, row_number};
use simgpu::store::Texts;
use times::instant;

pub use keep_by::KeepBy;

/// The values of one field, by row, as text. A value that is absent, null or empty is an empty text.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct FieldValues {
    texts: Texts,
    forms: ValueForms,
}

/// What the values of a field are, those that are absent aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct ValueForms {
    /// Whether there is one.
    is_any: bool,
    /// Whether all are numbers.
    has_only_numbers: bool,
    /// Whether all are dates.
    has_only_dates: bool,
    /// Whether one of them is a number or a date.
    is_any_typed: bool,
}

impl Default for ValueForms {
    fn default() -> Self {
        ValueForms {
            is_any: false,
            has_only_numbers: true,
            has_only_dates: true,
            is_any_typed: false,
        }
    }
}

impl ValueForms {
    /// Adds a value.
    #[doc(hidden)]
    pub fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.is_any = true;
        // What is known already is not computed again.
        let is_open = |all: bool| all || !self.is_any_typed;
        let is_number = is_open(self.has_only_numbers)
            && (text.parse::<i64>().is_ok() || Decimal::parse(text).is_some());
        let is_date = !is_number && is_open(self.has_only_dates) && instant(text).is_some();
        self.has_only_numbers &= is_number;
        self.has_only_dates &= is_date;
        self.is_any_typed |= is_number || is_date;
    }

    /// What these values and others are together.
    #[must_use]
    #[doc(hidden)]
    pub fn and(self, other: ValueForms) -> Self {
        ValueForms {
            is_any: self.is_any || other.is_any,
            has_only_numbers: self.has_only_numbers && other.has_only_numbers,
            has_only_dates: self.has_only_dates && other.has_only_dates,
            is_any_typed: self.is_any_typed || other.is_any_typed,
        }
    }

    /// How to compare the values, all in one way: as numbers if each is a number; else as dates if each is a date or a
    /// date with a time; else as strings, byte by byte. `None` if there is none.
    #[doc(hidden)]
    pub fn kind(self) -> Option<ValueKind> {
        self.is_any.then_some(match self {
            ValueForms {
                has_only_numbers: true,
                ..
            } => ValueKind::Numbers,
            ValueForms {
                has_only_dates: true,
                ..
            } => ValueKind::Dates,
            ValueForms {
                is_any_typed: true, ..
            } => ValueKind::Mixed,
            _ => ValueKind::Strings,
        })
    }
}

/// A value that cannot be ordered, and where it is.
#[derive(Debug)]
#[doc(hidden)]
pub struct Unordered {
    /// Its line, from 1, in JSON Lines.
    pub(crate) line: Option<u64>,
    #[doc(hidden)]
    pub problem: String,
}

impl Unordered {
    /// The error of a value in a file, of the field that a parameter names.
    #[doc(hidden)]
    pub fn error(self, file: &Path, parameter: &str) -> Error {
        let line = self.line.map(|line| format!("line {line}: "));
        Error::Input {
            path: file.to_owned(),
            problem: line.unwrap_or_default() + &self.problem,
            remedy: format!("choose another field for `{parameter}`"),
        }
    }
}

impl FieldValues {
    /// The values of as many documents, which all lack the field.
    #[doc(hidden)]
    pub fn absent(documents: usize) -> Self {
        let mut values = FieldValues::default();
        (0..documents).for_each(|_| values.push(""));
        values
    }

    /// Some of the values of a column whose kind is known.
    #[doc(hidden)]
    pub fn with_known_kind(texts: Texts) -> Self {
        FieldValues {
            texts,
            forms: ValueForms::default(),
        }
    }

    /// Appends the value of the next document.
    #[doc(hidden)]
    pub fn push(&mut self, value: &str) {
        self.texts.push(value);
        self.forms.add(value);
    }

    /// All values, by row.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter()
    }

    /// What they are.
    #[doc(hidden)]
    pub fn forms(&self) -> ValueForms {
        self.forms
    }

    /// Bytes of memory used.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.texts.bytes()
    }

    /// Reads the values of the records of a chunk whose number in it `is_good` accepts.
    #[doc(hidden)]
    pub fn from_chunk(
        chunk: &Chunk,
        field: &FieldPath,
        is_good: impl Fn(usize) -> bool,
    ) -> Result<Self, Unordered> {
        let mut values = FieldValues::default();
        match &chunk.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                let lines = jsonl::lines(bytes, *first_number).enumerate();
                for (_, line) in lines.filter(|(i, _)| is_good(*i)) {
                    match jsonl::text_of_field(line.record, field) {
                        Ok(text) => values.push(&text.unwrap_or_default()),
                        Err(problem) => {
                            let line = Some(line.number);
                            return Err(Unordered { line, problem });
                        }
                    }
                }
            }
            Contents::Records(records) => {
                for (i, text) in records.texts_of_field(field) {
                    if is_good(i) {
                        let text = text.map_err(|(line, problem)| Unordered {
                            line: Some(line),
                            problem,
                        })?;
                        values.push(&text.unwrap_or_default());
                    }
                }
            }
            Contents::Rows { rows, .. } => values.push_rows(rows, field, is_good)?,
            // A text file has no fields.
            Contents::Text(_) if is_good(0) => values.push(""),
            Contents::Text(_) => {}
        }
        Ok(values)
    }

    /// Appends the values of the rows that `is_good` accepts.
    #[doc(hidden)]
    pub fn push_rows(
        &mut self,
        rows: &RecordBatch,
        field: &FieldPath,
        is_good: impl Fn(usize) -> bool,
    ) -> Result<(), Unordered> {
        let column = column(rows, field);
        let column = column.filter(|column| *column.data_type() != DataType::Null);
        let column = column.map(Column::new);
        for row in (0..rows.num_rows()).filter(|row| is_good(*row)) {
            let value = column.as_ref().filter(|column| column.place(row).is_some());
            match value.map(|column| (column, text_at(column, row))) {
                None => self.push(""),
                Some((_, Some(text))) => self.push(&text),
                Some((column, None)) => {
                    let problem = format!(
                        "column {:?} holds {}, not numbers, dates, times or strings",
                        field.to_string(),
                        column.rows.data_type()
                    );
                    return Err(Unordered {
                        line: None,
                        problem,
                    });
                }
            }
        }
        Ok(())
    }

    /// Appends the values of the next documents.
    #[doc(hidden)]
    pub fn append(&mut self, values: &FieldValues) {
        values.iter().for_each(|value| self.texts.push(value));
        self.forms = self.forms.and(values.forms);
    }

    /// The place of each value in the order in which documents are kept, from 0, by row. Equal values share a place, and
    /// absent ones have the last. All values must be of this kind ([`ValueForms::kind`]), or may be of more kinds as
    /// strings.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`](simgpu::Error::TooManyDocuments) for more values than there are row numbers.
    #[doc(hidden)]
    pub fn places(&self, kind: ValueKind, smallest: bool) -> error::Result<Vec<u32>> {
        let rows = row_number(self.texts.len())?;
        let places = match kind {
            ValueKind::Numbers => {
                // Integers are numbers in less memory.
                let integers = self.places_by(rows, smallest, |text| text.parse::<i64>().ok());
                integers.or_else(|| self.places_by(rows, smallest, Decimal::parse))
            }
            ValueKind::Dates => self.places_by(rows, smallest, instant),
            ValueKind::Strings | ValueKind::Mixed => self.places_by(rows, smallest, Some),
        };
        Ok(places.unwrap_or_default())
    }

    /// The places of the values of `rows` rows by this key; `None` if a value has no key.
    fn places_by<'a, K: Ord + Send>(
        &'a self,
        rows: u32,
        smallest: bool,
        key: impl Fn(&'a str) -> Option<K> + Sync,
    ) -> Option<Vec<u32>> {
        let keyed = (0..rows)
            .into_par_iter()
            .map(|row| (self.texts.get(row as usize), row))
            .filter(|(text, _)| !text.is_empty())
            .map(|(text, row)| Some((key(text)?, row)));
        let keyed = in_parallel(|| {
            let mut keyed: Vec<(K, u32)> = keyed.collect::<Option<_>>()?;
            keyed.par_sort_unstable();
            Some(keyed)
        })?;
        let mut places = vec![u32::MAX; self.texts.len()];
        let mut place = |(place, equal): (u32, &[(K, u32)])| {
            for (_, row) in equal {
                places[*row as usize] = place;
            }
        };
        let groups = keyed.chunk_by(|a, b| a.0 == b.0);
        if smallest {
            (0..).zip(groups).for_each(&mut place);
        } else {
            (0..).zip(groups.rev()).for_each(&mut place);
        }
        Some(places)
    }
}

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum ValueKind {
    Numbers,
    Dates,
    Strings,
    /// As strings, although some are numbers or dates.
    Mixed,
}

/// The usual text of a number, date, time, boolean or string in a table; `None` for another type. Of nulls and of NaN it is
/// empty.
pub(super) fn text_at(column: &Column, row: usize) -> Option<String> {
    let Some(place) = column.place(row) else {
        return Some(String::new());
    };
    if let Some(integer) = column.integer(row) {
        return Some(integer);
    }
    if let Some(text) = column.text(row) {
        return text.ok().map(str::to_owned);
    }
    let scalar = column.scalar(place).filter(Scalar::has_order);
    scalar?.into_text()
}

#[cfg(test)]
mod tests;
