//! A column of text, tokens, numbers or ids.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::DataType;

use super::scalar::Scalar;
use super::schema::{EXTENSION, is_text};
use crate::encoding::column_looks_like;
use crate::fields::FieldPath;
use crate::ids::Id;
use crate::json::json_string;

/// The column at a path. A value is null if a struct around it is null.
pub(crate) fn column(rows: &RecordBatch, path: &FieldPath) -> Option<ArrayRef> {
    let (root, inner) = path.segments().split_first()?;
    let mut column = Arc::clone(rows.column_by_name(root)?);
    for name in inner {
        let outer = column.as_struct_opt()?;
        let child = Arc::clone(outer.column_by_name(name)?);
        column = match outer.nulls() {
            None => child,
            Some(nulls) => {
                let is_null: BooleanArray = nulls.iter().map(|valid| Some(!valid)).collect();
                arrow_select::nullif::nullif(&child, &is_null).ok()?
            }
        };
    }
    Some(column)
}

/// A column whose rows are values, or places in a dictionary of values.
pub(crate) struct Column {
    pub(crate) values: ArrayRef,
    /// The place in `values` of each row; `None` if they are the rows.
    places: Option<Vec<usize>>,
    pub(crate) rows: ArrayRef,
    /// Whether arrays of 16 bytes are UUIDs.
    is_uuid: bool,
}

impl Column {
    pub(crate) fn new(rows: ArrayRef) -> Self {
        let dictionary = rows.as_any_dictionary_opt();
        let (values, places) = match dictionary {
            Some(dictionary) if dictionary.values().is_empty() => {
                // All rows are null, so no place is used.
                (Arc::clone(dictionary.values()), Some(Vec::new()))
            }
            Some(dictionary) => (
                Arc::clone(dictionary.values()),
                Some(dictionary.normalized_keys()),
            ),
            None => (Arc::clone(&rows), None),
        };
        Column {
            values,
            places,
            rows,
            is_uuid: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The place of a row's value; `None` if it is null.
    pub(crate) fn place(&self, row: usize) -> Option<usize> {
        let place = match &self.places {
            None => row,
            Some(places) => *places.get(row)?,
        };
        (self.rows.is_valid(row) && self.values.is_valid(place)).then_some(place)
    }

    /// The text of a row, `None` if it is null or of another type; an error says where it is not UTF-8.
    pub(crate) fn text(&self, row: usize) -> Option<Result<&str, String>> {
        let place = self.place(row)?;
        let values = &self.values;
        let bytes = match values.data_type() {
            DataType::Utf8 => return Some(Ok(values.as_string::<i32>().value(place))),
            DataType::LargeUtf8 => return Some(Ok(values.as_string::<i64>().value(place))),
            DataType::Utf8View => return Some(Ok(values.as_string_view().value(place))),
            DataType::Binary => values.as_binary::<i32>().value(place),
            DataType::LargeBinary => values.as_binary::<i64>().value(place),
            DataType::BinaryView => values.as_binary_view().value(place),
            _ => return None,
        };
        Some(std::str::from_utf8(bytes).map_err(|error| {
            let looks_like = column_looks_like(bytes);
            format!("invalid UTF-8 at byte {}{looks_like}", error.valid_up_to())
        }))
    }

    pub(crate) fn integer(&self, row: usize) -> Option<String> {
        macro_rules! value {
            ($integer:ty) => {
                self.values
                    .as_primitive::<$integer>()
                    .value(self.place(row)?)
                    .to_string()
            };
        }
        Some(match self.values.data_type() {
            DataType::Int8 => value!(Int8Type),
            DataType::Int16 => value!(Int16Type),
            DataType::Int32 => value!(Int32Type),
            DataType::Int64 => value!(Int64Type),
            DataType::UInt8 => value!(UInt8Type),
            DataType::UInt16 => value!(UInt16Type),
            DataType::UInt32 => value!(UInt32Type),
            DataType::UInt64 => value!(UInt64Type),
            _ => return None,
        })
    }

    /// The id of a row: a number or a string in its usual text. Messages call the column `name`.
    pub(crate) fn id(&self, row: usize, name: &str) -> Result<Id, String> {
        let Some(place) = self.place(row) else {
            return Ok(Id::None);
        };
        if let Some(integer) = self.integer(row) {
            return Ok(Id::Json(integer));
        }
        match self.text(row).transpose() {
            Ok(Some(text)) => return Ok(Id::Json(json_string(text))),
            Ok(None) => {}
            Err(bad) => return Err(format!("{name} holds {bad}")),
        }
        let unusable = || Id::Unusable(format!("of type {}", self.values.data_type()));
        let id = self.scalar(place).and_then(Scalar::into_id);
        Ok(id.unwrap_or_else(unusable))
    }

    /// The value at a place, if it is neither an integer, a text nor a list.
    pub(crate) fn scalar(&self, place: usize) -> Option<Scalar> {
        Scalar::read(&self.values, place, self.is_uuid)
    }

    /// The texts of a row of a column of lists of strings; null ones are left out.
    pub(crate) fn texts_of_list(&self, row: usize) -> Option<Vec<String>> {
        let list = Column::new(self.list(row)?);
        let rows = 0..list.rows.len();
        let texts = rows.filter_map(|row| Some(list.text(row).transpose().ok()??.to_owned()));
        (list.rows.is_empty() || is_text(list.values.data_type())).then(|| texts.collect())
    }

    /// The items of a row of a column of lists.
    pub(super) fn list(&self, row: usize) -> Option<ArrayRef> {
        let place = self.place(row)?;
        match self.values.data_type() {
            DataType::List(_) => Some(self.values.as_list::<i32>().value(place)),
            DataType::LargeList(_) => Some(self.values.as_list::<i64>().value(place)),
            DataType::FixedSizeList(..) => Some(self.values.as_fixed_size_list().value(place)),
            _ => None,
        }
    }
}

/// The column of ids.
pub(crate) fn id_column(rows: &RecordBatch, path: &FieldPath) -> Option<Column> {
    let mut column = Column::new(column(rows, path)?);
    if let [root] = path.segments() {
        let metadata = rows.schema_ref().field_with_name(root).ok()?.metadata();
        let (key, uuid) = EXTENSION;
        column.is_uuid = metadata.get(key).is_some_and(|name| name == uuid);
    }
    Some(column)
}
