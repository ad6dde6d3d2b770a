//! A column of text, tokens, numbers or ids.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTemporalType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

use super::schema::{EXTENSION, UUID_BYTES, is_text};
use crate::csv::is_integer;
use crate::fields::FieldPath;
use crate::ids::Id;
use crate::json::json_string;
use simgpu_base::encoding::column_looks_like;

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
        Ok(usual_text(&self.values, place, self.is_uuid).unwrap_or_else(unusable))
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

/// The id that a value is which is neither an integer nor a text; `None` if its type has no usual text.
fn usual_text(values: &ArrayRef, place: usize, is_uuid: bool) -> Option<Id> {
    Some(match values.data_type() {
        DataType::Float16 => {
            let value = values.as_primitive::<Float16Type>().value(place).to_f32();
            id_of_float(value.is_finite(), format!("{value:?}"))
        }
        DataType::Float32 => {
            let value = values.as_primitive::<Float32Type>().value(place);
            id_of_float(value.is_finite(), format!("{value:?}"))
        }
        DataType::Float64 => {
            let value = values.as_primitive::<Float64Type>().value(place);
            id_of_float(value.is_finite(), format!("{value:?}"))
        }
        DataType::Decimal32(..) => decimal::<Decimal32Type>(values, place),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(values, place),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(values, place),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(values, place),
        DataType::Date32 => {
            let date = values.as_primitive::<Date32Type>().value_as_date(place)?;
            Id::Json(json_string(&date.to_string()))
        }
        DataType::Date64 => {
            let date = values.as_primitive::<Date64Type>().value_as_date(place)?;
            Id::Json(json_string(&date.to_string()))
        }
        DataType::Time32(TimeUnit::Second) => time::<Time32SecondType>(values, place)?,
        DataType::Time32(_) => time::<Time32MillisecondType>(values, place)?,
        DataType::Time64(TimeUnit::Microsecond) => time::<Time64MicrosecondType>(values, place)?,
        DataType::Time64(_) => time::<Time64NanosecondType>(values, place)?,
        DataType::Timestamp(unit, zone) => timestamp(values, place, *unit, zone.is_some())?,
        DataType::FixedSizeBinary(UUID_BYTES) if is_uuid => {
            uuid(values.as_fixed_size_binary().value(place))
        }
        _ => return None,
    })
}

/// A float as a number of JSON; one that is no number is none, as pandas has it.
fn id_of_float(is_finite: bool, text: String) -> Id {
    if is_finite { Id::Json(text) } else { Id::None }
}

/// A decimal number with all its digits: as a number of JSON, 1.50 would lose its end.
fn decimal<T: DecimalType>(values: &ArrayRef, place: usize) -> Id {
    let text = values.as_primitive::<T>().value_as_string(place);
    Id::Json(if is_integer(&text) {
        text
    } else {
        json_string(&text)
    })
}

/// A time of day as other programs print it.
fn time<T: ArrowTemporalType>(values: &ArrayRef, place: usize) -> Option<Id>
where
    i64: From<T::Native>,
{
    let time = values.as_primitive::<T>().value_as_time(place)?;
    Some(Id::Json(json_string(&time.to_string())))
}

/// The 16 bytes of a UUID in its usual form, five groups of digits.
pub(super) fn uuid(bytes: &[u8]) -> Id {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    Id::Json(json_string(&parts.join("-")))
}

/// A date and time of a column whose values count `unit`.
fn timestamp(values: &ArrayRef, place: usize, unit: TimeUnit, has_zone: bool) -> Option<Id> {
    match unit {
        TimeUnit::Second => moment::<TimestampSecondType>(values, place, has_zone),
        TimeUnit::Millisecond => moment::<TimestampMillisecondType>(values, place, has_zone),
        TimeUnit::Microsecond => moment::<TimestampMicrosecondType>(values, place, has_zone),
        TimeUnit::Nanosecond => moment::<TimestampNanosecondType>(values, place, has_zone),
    }
}

/// A date and time as other programs print it.
fn moment<T: ArrowTemporalType>(values: &ArrayRef, place: usize, has_zone: bool) -> Option<Id>
where
    i64: From<T::Native>,
{
    let moment = values.as_primitive::<T>().value_as_datetime(place)?;
    // The values of a column with a time zone are in UTC.
    let offset = if has_zone { "+00:00" } else { "" };
    Some(Id::Json(json_string(&format!("{moment}{offset}"))))
}
