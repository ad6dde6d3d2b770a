//! Adds a field to records: the places of the passages of each. All else of a record stays byte for byte.
//!
//! In JSON a place is a pair of numbers; in Parquet and Arrow the field is a column, a list of `start` and `end`.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{ListBuilder, StructBuilder, UInt32Builder};
use arrow_schema::{DataType, Field, Fields as Columns, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

use super::chunk::{BETWEEN_ELEMENTS, Chunk, Contents, Kept, end_line};
use super::cuts::{Cuts, Fate};
use super::fields::FieldPath;
use super::json;
use super::jsonl;

impl Chunk {
    /// Copies the records that are not dropped, with one fate per record, and adds the field `name` to each.
    ///
    /// # Errors
    /// The number of a record in the chunk, and why it cannot be marked.
    #[doc(hidden)]
    pub fn marked(&self, fates: &[Fate<'_>], name: &str) -> Result<Kept, (usize, String)> {
        let mut marked = Vec::new();
        match &self.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                let lines = fates.iter().zip(jsonl::lines(bytes, *first_number));
                for (i, (fate, line)) in lines.enumerate() {
                    if let Fate::Mark(marks) = fate {
                        let added = mark_json(line.whole, name, marks, &mut marked);
                        added.map_err(|problem| (i, problem))?;
                        end_line(&mut marked);
                    }
                }
                Ok(Kept::Lines(marked))
            }
            Contents::Records(records) if records.header.is_none() => {
                for (i, (fate, span)) in fates.iter().zip(&records.spans).enumerate() {
                    if let Fate::Mark(marks) = fate {
                        if !marked.is_empty() {
                            marked.extend_from_slice(BETWEEN_ELEMENTS);
                        }
                        let added =
                            mark_json(&records.bytes[span.clone()], name, marks, &mut marked);
                        added.map_err(|problem| (i, problem))?;
                    }
                }
                Ok(Kept::Elements(marked))
            }
            Contents::Rows { rows, group, .. } => {
                let rows = mark_rows(rows, fates, name);
                Ok(Kept::Rows(rows.map_err(|problem| (0, problem))?, *group))
            }
            Contents::Records(_) | Contents::Text(_) => {
                Err((0, "records of this format get no field".to_owned()))
            }
        }
    }
}

/// The two numbers of a place.
fn ends_of_place() -> Columns {
    ["start", "end"]
        .map(|name| Field::new(name, DataType::UInt32, false))
        .to_vec()
        .into()
}

fn place_field() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(ends_of_place()), false))
}

/// The column of marks.
pub(super) fn marks_field(name: &str) -> Field {
    Field::new(name, DataType::List(place_field()), false)
}

/// A schema with a column of marks behind all others.
///
/// # Errors
/// What is wrong if it has such a column.
pub(super) fn with_marks(schema: &Schema, name: &str) -> Result<SchemaRef, String> {
    if schema.index_of(name).is_ok() {
        return Err(format!("there is a column \"{name}\" already"));
    }
    let mut fields = schema.fields().to_vec();
    fields.push(Arc::new(marks_field(name)));
    let metadata = schema.metadata().clone();
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// The rows that stay, with one more column.
fn mark_rows(rows: &RecordBatch, fates: &[Fate<'_>], name: &str) -> Result<RecordBatch, String> {
    let numbers = StructBuilder::from_fields(ends_of_place(), 0);
    let mut column = ListBuilder::new(numbers).with_field(place_field());
    for fate in fates {
        let marks = match fate {
            Fate::Mark(marks) => *marks,
            Fate::Cut(_) | Fate::Drop => &[],
        };
        let places = column.values();
        for place in marks {
            for (side, number) in place.iter().enumerate() {
                let numbers = places.field_builder::<UInt32Builder>(side);
                numbers
                    .ok_or("a place has two numbers")?
                    .append_value(*number);
            }
            places.append(true);
        }
        column.append(true);
    }
    let fail = |error: arrow_schema::ArrowError| error.to_string();
    let mut columns = rows.columns().to_vec();
    columns.push(Arc::new(column.finish()));
    let marked = RecordBatch::try_new(with_marks(rows.schema_ref(), name)?, columns);
    let stays: Vec<bool> = fates
        .iter()
        .map(|fate| matches!(fate, Fate::Mark(_)))
        .collect();
    filter_record_batch(&marked.map_err(fail)?, &stays.into()).map_err(fail)
}

/// Appends a record of JSON with one more field, behind all others.
fn mark_json(record: &[u8], name: &str, marks: &Cuts, out: &mut Vec<u8>) -> Result<(), String> {
    let text = std::str::from_utf8(record).map_err(|error| error.to_string())?;
    if json::field(text.trim_ascii(), &FieldPath::from_name(name))?.is_some() {
        return Err(format!("there is a field \"{name}\" already"));
    }
    let inner = text.trim_ascii_end().strip_suffix('}');
    let fields = inner.ok_or("the record is no object")?.trim_ascii_end();
    let json = |error: serde_json::Error| error.to_string();
    out.extend_from_slice(fields.as_bytes());
    // The record has a field at least, that of its text.
    out.push(b',');
    serde_json::to_writer(&mut *out, name).map_err(json)?;
    out.push(b':');
    serde_json::to_writer(&mut *out, marks).map_err(json)?;
    out.extend_from_slice(&record[fields.len()..]);
    Ok(())
}
