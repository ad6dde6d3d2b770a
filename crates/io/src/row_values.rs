//! The values of some fields of every record, for runs whose records are no documents.

use std::borrow::Cow;

use arrow_array::RecordBatch;

use super::absent_field::{element_problem, not_found};
use super::chunk::{Chunk, Contents, RecordSpans, on_line};
use super::columns::{Column, column, id_column};
use super::csv::is_integer;
use super::fields::ValueField;
use super::ids::Id;
use super::json::{self, json_string};
use super::jsonl::{self, newlines};

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Value<'a> {
    /// The text: of a number in JSON or CSV as written, of a date in a table the usual one.
    #[doc(hidden)]
    pub text: Cow<'a, str>,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    String,
    /// Of CSV, where strings and numbers look the same.
    Untyped,
    Other,
    /// An id of a table, as JSON.
    Id,
    /// A value of a table that is no id: its text says what it is.
    NoId,
    /// A list, as JSON.
    List,
}

impl<'a> Value<'a> {
    fn new(text: impl Into<Cow<'a, str>>, form: Form) -> Self {
        Value {
            text: text.into(),
            form,
        }
    }

    /// Whether it is an integer, and not a string of digits.
    #[doc(hidden)]
    pub fn is_integer(&self) -> bool {
        self.form != Form::String && is_integer(&self.text)
    }

    /// The id that it is.
    #[doc(hidden)]
    pub fn to_id(&self) -> Id {
        match self.form {
            Form::Id => Id::Json(self.text.to_string()),
            Form::NoId => Id::Unusable(self.text.to_string()),
            Form::List => Id::Unusable("a list".to_owned()),
            _ if self.is_integer() => Id::Json(self.text.to_string()),
            Form::String | Form::Untyped => Id::Json(json_string(&self.text)),
            // A number of JSON, as written.
            Form::Other if self.text.starts_with(['t', 'f']) => {
                Id::Unusable("a boolean".to_owned())
            }
            // A number of JSON, as written.
            Form::Other => Id::Json(self.text.to_string()),
        }
    }

    /// The text of the id that it is, a string without its quotes, and whether it is an integer; or what it is, if it is
    /// no id.
    #[doc(hidden)]
    pub fn id_text(&self) -> Result<(Cow<'_, str>, bool), String> {
        match self.form {
            Form::Id if self.text.starts_with('"') => Ok((json::decode(&self.text)?, false)),
            Form::NoId => Err(self.text.to_string()),
            Form::Other if self.text.starts_with(['t', 'f']) => Err("a boolean".to_owned()),
            _ => Ok((Cow::Borrowed(&*self.text), self.is_integer())),
        }
    }

    /// Whether its format says that it is a number, a date or the like.
    #[doc(hidden)]
    pub fn is_typed(&self) -> bool {
        self.form == Form::Other
    }

    /// The texts of a list; of another value, its own.
    #[doc(hidden)]
    pub fn texts(&self) -> Vec<Cow<'_, str>> {
        let texts = self.list().map(|texts| texts.into_iter().map(Cow::Owned));
        texts.map_or_else(|| vec![Cow::Borrowed(&*self.text)], Iterator::collect)
    }

    /// The same as one text, a line each.
    #[doc(hidden)]
    pub fn to_text(&self) -> Cow<'_, str> {
        match self.list() {
            Some(texts) => texts.join("\n").into(),
            None => Cow::Borrowed(&*self.text),
        }
    }

    /// The texts, if it is a list.
    fn list(&self) -> Option<Vec<String>> {
        let is_list = match self.form {
            Form::List => true,
            // CSV has no lists.
            Form::Untyped => self.text.starts_with('['),
            _ => false,
        };
        let list: Vec<serde_json::Value> = is_list
            .then(|| serde_json::from_str(&self.text).ok())
            .flatten()?;
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            value => value.to_string(),
        };
        Some(list.into_iter().map(text).collect())
    }

    /// Whether it is a string or an integer.
    #[doc(hidden)]
    pub fn is_id(&self) -> bool {
        self.form != Form::Other || is_integer(&self.text)
    }
}

/// Receives the line of a record, in formats of lines, and its values in the order of the fields, or what is wrong.
/// A value that is absent, null or empty is `None`.
pub(crate) type EachRecord<'a> = dyn FnMut(Option<u64>, Result<&[Option<Value<'_>>], String>) + 'a;

/// Calls `each` with every record of a chunk, which was read with these fields, in order.
#[doc(hidden)]
pub fn for_each_record(chunk: &Chunk, fields: &[ValueField], each: &mut EachRecord<'_>) {
    match &chunk.contents {
        Contents::Lines {
            bytes,
            first_number,
        } => {
            let names = first_names(fields);
            for line in jsonl::lines(bytes, *first_number) {
                let values = values_of_json(line.record, fields, &names);
                each(Some(line.number), values.as_deref().map_err(Clone::clone));
            }
        }
        Contents::Records(records) => for_each_csv_record(records, fields, each),
        Contents::Rows { rows, .. } => for_each_row(rows, fields, each),
        // Not opened if values are wanted.
        Contents::Text(_) => {}
    }
}

/// The first names of the paths of fields.
fn first_names(fields: &[ValueField]) -> Vec<&str> {
    let paths = fields.iter().map(|field| field.path.segments());
    paths
        .map(|path| path.first().map_or("", |name| name))
        .collect()
}

/// The values of a record, for fields whose paths begin with these names.
fn values_of_json<'a>(
    record: &'a [u8],
    fields: &[ValueField],
    names: &[&str],
) -> Result<Vec<Option<Value<'a>>>, String> {
    // Each field is looked up alone to say what is wrong with a record.
    let members = jsonl::members(record, names);
    let raw = |i: usize, field: &ValueField| match (&members, field.path.segments()) {
        (Some(members), [_]) => Ok(members[i]),
        (Some(members), _) if members[i].is_none() => Ok(None),
        _ => jsonl::raw_of_field(record, &field.path),
    };
    let value = |(i, field): (usize, &ValueField)| {
        let known = raw(i, field)?;
        if known.is_none() && field.is_in_each_record() {
            let record = jsonl::utf_8(record, "record")?;
            let others = (i + 1..fields.len()).filter(|other| {
                fields[*other].is_in_each_record() && raw(*other, &fields[*other]) == Ok(None)
            });
            let others = others.map(|other| &fields[other]);
            return Err(format!(
                "{}{}",
                not_found(record, "field", &field.path, field.parameter),
                field.missing_too("field", others)
            ));
        }
        if let Some(list) = known.filter(|raw| field.takes_lists() && raw.starts_with('[')) {
            return Ok(Some(Value::new(list, Form::List)));
        }
        let value = jsonl::value_of(known, &field.path, field.parameter)?;
        let value = value.filter(|(text, _)| !text.is_empty());
        Ok(value.map(|(text, is_string)| {
            if is_string {
                Value::new(text, Form::String)
            } else {
                Value::new(text, Form::Other)
            }
        }))
    };
    fields.iter().enumerate().map(value).collect()
}

fn for_each_csv_record(records: &RecordSpans, fields: &[ValueField], each: &mut EachRecord<'_>) {
    let mut parser = records.header.as_ref().map(|header| header.parser());
    let names = first_names(fields);
    let (mut line, mut counted) = (records.first_line, 0);
    for span in &records.spans {
        let record = &records.bytes[span.clone()];
        line += newlines(&records.bytes[counted..span.start]);
        counted = span.start;
        let values = match (&records.header, &mut parser) {
            (Some(header), Some(parser)) => {
                let values = header.values(record, fields, parser);
                values.map(|values| {
                    let untyped = |text| Value::new(text, Form::Untyped);
                    values.into_iter().map(|text| text.map(untyped)).collect()
                })
            }
            _ => values_of_json(record, fields, &names)
                .map_err(|problem| on_line(element_problem(&problem), line)),
        };
        each(Some(line), values.as_deref().map_err(Clone::clone));
    }
}

fn for_each_row(rows: &RecordBatch, fields: &[ValueField], each: &mut EachRecord<'_>) {
    let columns = fields.iter().map(|field| {
        let column = if field.is_id() {
            id_column(rows, &field.path)
        } else {
            column(rows, &field.path).map(Column::new)
        };
        // A column of type Null has no value.
        column.filter(|column| !column.rows.data_type().is_null())
    });
    let columns: Vec<Option<Column>> = columns.collect();
    for row in 0..rows.num_rows() {
        let values: Result<Vec<_>, String> = columns
            .iter()
            .zip(fields)
            .map(|(column, field)| match column {
                Some(column) => value_at(column, row, field),
                None => Ok(None),
            })
            .collect();
        each(None, values.as_deref().map_err(Clone::clone));
    }
}

fn value_at<'a>(
    column: &'a Column,
    row: usize,
    field: &ValueField,
) -> Result<Option<Value<'a>>, String> {
    let Some(place) = column.place(row) else {
        return Ok(None);
    };
    let path = &field.path;
    if field.takes_lists()
        && let Some(texts) = column.texts_of_list(row)
    {
        let texts = texts.iter().map(|text| json_string(text));
        let list = format!("[{}]", texts.collect::<Vec<_>>().join(","));
        return Ok(Some(Value::new(list, Form::List)));
    }
    let value = match column.text(row) {
        _ if field.is_id() => {
            return Ok(match column.id(row, &format!("id column \"{path}\""))? {
                Id::Json(id) => Some(Value::new(id, Form::Id)),
                Id::Unusable(what) => Some(Value::new(what, Form::NoId)),
                Id::None => None,
            });
        }
        Some(Ok(text)) => Value::new(text, Form::String),
        Some(Err(bad)) => return Err(format!("column \"{path}\" holds {bad}")),
        None => match other_text(column, row, place) {
            Some(text) => Value::new(text, Form::Other),
            None => {
                return Err(format!(
                    "column \"{path}\" holds {}, not numbers, dates, times or strings",
                    column.rows.data_type()
                ));
            }
        },
    };
    Ok(Some(value).filter(|value| !value.text.is_empty()))
}

/// The usual text of a value that is no string; `None` for a type without one.
fn other_text(column: &Column, row: usize, place: usize) -> Option<String> {
    let integer = column.integer(row);
    integer.or_else(|| column.scalar(place)?.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FieldPath;

    #[test]
    fn values_of_one_reading_are_those_of_each_field() {
        let field = |path: &&str| ValueField {
            path: FieldPath::new(path),
            parameter: ValueField::ITEMS,
            hint: "",
            is_required: false,
        };
        let fields: Vec<ValueField> = ["a", "b.c", "", "b", "é", "a"].iter().map(field).collect();
        for record in [
            r#"{"a": "x\ny", "b": {"c": [1, "2"]}, "\u00e9": 1.50, "z": "a"}"#,
            r#" {"a": 1, "a": "", "b": null, "": true, "ab": 3} "#,
            r#"{"a": {"c": 1}}"#,
            r#"{"b": {"c": {}}}"#,
            r#"{"b": 7}"#,
            r#"{"a": 1} 2"#,
            r#"{"a": 1, "b"}"#,
            r#"[{"a": 1}]"#,
            "3",
            "",
            "{}",
        ] {
            let alone = |field: &ValueField| value_of_json(record.as_bytes(), field);
            let expected: Result<Vec<Option<Value<'_>>>, String> =
                fields.iter().map(alone).collect();
            let values = values_of_json(record.as_bytes(), &fields, &first_names(&fields));
            assert_eq!(values, expected, "{record}");
        }
    }

    /// The value of one field, by its path.
    fn value_of_json<'a>(
        record: &'a [u8],
        field: &ValueField,
    ) -> Result<Option<Value<'a>>, String> {
        match jsonl::raw_of_field(record, &field.path)? {
            Some(list) if list.starts_with('[') => Ok(Some(Value::new(list, Form::List))),
            raw => {
                let value = jsonl::value_of(raw, &field.path, field.parameter)?;
                let value = value.filter(|(text, _)| !text.is_empty());
                let form = |is_string| if is_string { Form::String } else { Form::Other };
                Ok(value.map(|(text, is_string)| Value::new(text, form(is_string))))
            }
        }
    }
}
